"""The label set of a prompt, as the prompt itself announces it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.prompts.spans import labels, protected_spans

CASES = [
    ("Classify the sentiment as POSITIVE, NEGATIVE, or NEUTRAL.", ["POSITIVE", "NEGATIVE", "NEUTRAL"]),
    ("Classify the sentiment of the review as positive or negative: {review}", ["positive", "negative"]),
    ("Answer with one of: billing, technical, other", ["billing", "technical", "other"]),
    (
        "Choose one of these categories: billing, technical issue, other.",
        ["billing", "technical issue", "other"],
    ),
    ("Is it either spam or ham?", ["spam", "ham"]),
    ("labels: - no list", []),
    ("Labels:\n- billing\n- shipping\n\nTicket: {t}", ["billing", "shipping"]),
    (
        "Sort it into one of the following categories:\n\n1. Refund\n2. Exchange\n3. Other\n",
        ["Refund", "Exchange", "Other"],
    ),
    (
        "Use one of these labels:\n- **billing**: money matters\n- **tech**: it does not work\n- other (anything else)\n",
        ["billing", "tech", "other"],
    ),
    ("Reply 'yes' or 'no'.", ["yes", "no"]),
    ("Answer yes or no.", ["yes", "no"]),
    ("Répondez uniquement par oui ou non.", ["oui", "non"]),
    ("Antwoord uitsluitend met ja of nee.", ["ja", "nee"]),
    ("Responda somente com sim ou não.", ["sim", "não"]),
    ("Rispondi soltanto sì o no.", ["sì", "no"]),
    ("Answer with yes or no, followed by one sentence.", ["yes", "no"]),
    ("Answer with yes or no first. Explain it then.", ["yes", "no"]),
    ("Choose red or green followed by a reason.", ["red", "green"]),
    ("Answer with first or second.", ["first", "second"]),
    ("Respond with exactly one word: low, medium, or high.", ["low", "medium", "high"]),
    ("Categories: billing / technical / other", ["billing", "technical", "other"]),
    ("The category must be billing, technical or account.", ["billing", "technical", "account"]),
    ("Possible labels are spam, ham and unsure.", ["spam", "ham", "unsure"]),
    ("Determine the priority (low/medium/high) of the ticket.", ["low", "medium", "high"]),
    ("Decide whether the claim is true or false.", ["true", "false"]),
    ("Classify these emails into spam, promotions, and personal.", ["spam", "promotions", "personal"]),
    ("Is this review positive or negative?", ["positive", "negative"]),
    ("Choose between approve and reject.", ["approve", "reject"]),
    ("Route the ticket to billing, sales or support.", ["billing", "sales", "support"]),
    ("Label each message as spam or not spam.", ["spam", "not spam"]),
    ('Return {"sentiment": "positive|negative|neutral"}', ["positive", "negative", "neutral"]),
    ("Allowed values: `open`, `closed`, `pending`.", ["open", "closed", "pending"]),
    ("Antworte mit einem von: gut, schlecht, neutral.", ["gut", "schlecht", "neutral"]),
    ("Klassifiziere die Bewertung als positiv, negativ oder neutral.", ["positiv", "negativ", "neutral"]),
    ("Classez ce message comme positif, négatif ou neutre.", ["positif", "négatif", "neutre"]),
    ("Clasifica el mensaje como positivo, negativo o neutro.", ["positivo", "negativo", "neutro"]),
    ("Puoi classificare il testo come buono, cattivo o misto?", ["buono", "cattivo", "misto"]),
    ("Classe l'avis comme positif, négatif ou mixte.", ["positif", "négatif", "mixte"]),
    ("CLASSIFY THE TICKET AS BILLING, TECHNICAL, OR OTHER.", ["BILLING", "TECHNICAL", "OTHER"]),
    ("Classify the headline into World, Sports, or Sci/Tech.", ["World", "Sports", "Sci/Tech"]),
    ("Respond with ACCEPT if it is valid, otherwise respond with REJECT.", ["ACCEPT", "REJECT"]),
    ("Categories:\n- billing: invoices, refunds\n- technical: errors or crashes\n", ["billing", "technical"]),
    ("Rate it on a scale of 1, 2 or 3.", ["1", "2", "3"]),
    ("请将以下评论分类为正面、负面或中性。", ["正面", "负面", "中性"]),
    ("次のレビューを肯定、否定、中立のいずれかに分類してください。", ["肯定", "否定", "中立"]),
    # Where a cue announces the labels, capitals elsewhere are none.
    ("Classify as billing or technical. We run AWS, GCP, or bare metal.", ["billing", "technical"]),
    # no labels
    ("Return the name, the date and the amount.", []),
    ("Summarize the text in three sentences, or fewer if it is short.", []),
    ("Explain it as quickly and accurately as you can.", []),
    ("Mark it as done and notify the team.", []),
    ("Follow these rules:\n- Be brief.\n- Avoid jargon.\n", []),
    ("Return the following fields:\n- name\n- date\n", []),
    ('Return {"label": "x", "values": [1, 2]} only.', []),
    ('Read {"note": "one of a1, b2 or c3"} first.', []),
    ("Answer in French. Keep it short, friendly and clear.", []),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[text[:40] or "empty" for text, _ in CASES])
def test_labels(text: str, expected: list[str]) -> None:
    assert labels(text) == tuple(expected)


@pytest.mark.parametrize(("words", "expected"), [(131, ("red", "blue", "green")), (132, ())])
def test_a_cue_reaches_400_characters_far(words: int, expected: tuple[str, ...]) -> None:
    assert labels("Classify" + " it" * words + " into red, blue or green.") == expected


def test_a_label_has_four_words_at_most() -> None:
    assert labels("Labels: very long blue label, other.") == ("very long blue label", "other")
    assert labels("Labels: extremely very long blue label, other.") == ()


def test_a_dozen_labels_stand_as_a_whole() -> None:
    names = [f"label {n}" for n in range(12)]
    text = f"Answer with one of: {', '.join(names)}. Mind the label 11x here and the label of it; but label 7 too."
    assert labels(text) == tuple(names)
    found = [text[s.start : s.end] for s in protected_spans(text) if s.kind == "label"]
    assert found == [*names, "label 7"]


LABEL = st.text(alphabet="bcdfgklmnprtvz", min_size=3, max_size=9)


@given(st.lists(LABEL, min_size=2, max_size=6, unique=True), st.sampled_from([", ", " / ", " | "]))
def test_every_label_of_a_list_is_found_and_protected_everywhere(names: list[str], joint: str) -> None:
    text = f"Answer with one of: {joint.join(names)}. If unsure, say {names[0].capitalize()}."
    assert labels(text) == tuple(names)
    covered = [text[s.start : s.end].lower() for s in protected_spans(text)]
    assert covered == [*names, names[0]]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Choose from: good, bad, ugly.", ("good", "bad", "ugly")),
        ("Pick one: red, green", ("red", "green")),
        ("Kies uit: positief, negatief, neutraal.", ("positief", "negatief", "neutraal")),
        ("Wähle aus: rot, grün, blau.", ("rot", "grün", "blau")),
        ("Scegli tra: rosso, verde, blu", ("rosso", "verde", "blu")),
        ("Stimmung bestimmen: positiv, negativ oder gemischt.", ("positiv", "negativ", "gemischt")),
        ("Valeurs autorisées : positif, négatif, mitigé.", ("positif", "négatif", "mitigé")),
        ("Indica el sentimiento: positivo, negativo o neutro.", ("positivo", "negativo", "neutro")),
        ("Sentimento da avaliação: positivo, negativo ou misto?", ("positivo", "negativo", "misto")),
        ("Select the rows that match this: name, age, city.", ()),
        ("Pick what you like best in the shop: pears, plums.", ()),
    ],
)
def test_lists_after_verbs_of_choosing_and_nouns_of_other_languages(text, found):
    assert labels(text) == found
