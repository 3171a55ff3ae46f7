"""The prompt in another language, and the answer asked for in another."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mutation_samples import TRIAGE, draft_of

from pytest_promptfuzz.comparing.answer_language import requested_language
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.engine.edits import apply_edits, check_edits
from pytest_promptfuzz.mutations.engine.planner import plan
from pytest_promptfuzz.mutations.engine.registry import builtin
from pytest_promptfuzz.mutations.operators.translation import cross_lingual, translations
from pytest_promptfuzz.prompts.messages import read_translations
from pytest_promptfuzz.prompts.prompt import Prompt
from pytest_promptfuzz.prompts.spans import protected_spans
from pytest_promptfuzz.randomness import Rng, root_key

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_promptfuzz.mutations.engine.operator import Operator

EIGHT = ("es", "fr", "fr-ca", "de", "nl", "it", "ja", "pt-br")

SOURCE = (
    'Sort the ticket below into BILLING, SHIPPING or OTHER. Answer in at most 20 words, and write "none" if the ticket'
    " is empty.\n\nTicket: {ticket}"
)
IN = {
    "es": (
        "Clasifica el siguiente ticket en BILLING, SHIPPING u OTHER. Responde con 20 palabras como máximo y escribe"
        ' "none" si el ticket está vacío.\n\nTicket: {ticket}'
    ),
    "fr": (
        "Classe le ticket ci-dessous dans BILLING, SHIPPING ou OTHER. Réponds en 20 mots au plus, et écris"
        ' "none" si le ticket est vide.\n\nTicket : {ticket}'
    ),
    "fr-CA": (
        "Classez le billet ci-dessous dans BILLING, SHIPPING ou OTHER. Répondez en 20 mots au maximum et écrivez"
        ' "none" si le billet est vide.\n\nBillet : {ticket}'
    ),
    "de": (
        "Ordne das folgende Ticket einer der Klassen BILLING, SHIPPING oder OTHER zu. Antworte mit höchstens 20 Wörtern"
        ' und schreibe "none", wenn das Ticket leer ist.\n\nTicket: {ticket}'
    ),
    "nl": (
        "Deel het onderstaande ticket in bij BILLING, SHIPPING of OTHER. Antwoord in hoogstens 20 woorden en schrijf"
        ' "none" als het ticket leeg is.\n\nTicket: {ticket}'
    ),
    "it": (
        "Classifica il ticket seguente in BILLING, SHIPPING o OTHER. Rispondi con 20 parole al massimo e scrivi"
        ' "none" se il ticket è vuoto.\n\nTicket: {ticket}'
    ),
    "ja": (
        '次のチケットをBILLING、SHIPPING、OTHERのいずれかに分類してください。20語以内で答え、チケットが空の場合は"none"と'
        "書いてください。\n\nチケット: {ticket}"
    ),
    "pt-BR": (
        "Classifique o ticket abaixo em BILLING, SHIPPING ou OTHER. Responda com no máximo 20 palavras e escreva"
        ' "none" se o ticket estiver vazio.\n\nTicket: {ticket}'
    ),
}


def made_by(each: Operator, text: str, *, seeds: int = 2, most: int = 10) -> list[str]:
    draft = draft_of(text)
    # "20 words" is protected as one, and its words are what a translation translates.
    spans = [
        s[:2] for s in protected_spans(text) if "number" not in each.touches or s.kind not in each.touches
    ]
    found: dict[str, None] = {}
    for seed in range(seeds):
        for edits in islice(each.proposals(draft, Rng(root_key(seed, text), each.id)), most):
            check_edits(edits, len(text), spans, source=each.name)
            found[apply_edits(text, edits)] = None
    return list(found)


def test_a_translation_is_the_whole_prompt_and_keeps_what_is_protected() -> None:
    operators = translations(IN)
    assert [each.name for each in operators] == [f"translated-{tag.lower()}" for tag in IN]
    for each, (tag, text) in zip(operators, IN.items(), strict=True):
        assert made_by(each, SOURCE) == [text]
        assert requested_language((each.id,)) == tag
        assert (each.dimension, each.relation, each.preserves) == ("multilingual", "language", "conditional")
    made = plan(SOURCE, 8, operators=operators).mutations
    assert {m.text for m in made} == set(IN.values())
    assert made[0].prompt.format(ticket="T1").endswith("T1")


def test_the_answers_language_can_be_another() -> None:
    (each,) = translations({"es": IN["es"]}, answer_language="en")
    assert each.name == "translated-es-answer-in-en"
    assert made_by(each, SOURCE) == [IN["es"]]
    assert requested_language((each.id,)) == "en"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("{ticket}", "ticket"), r"translation for 'es' has lost '\{ticket\}'"),
        (("20", "veinte"), "has lost '20'"),
        (("BILLING", "FACTURACIÓN"), "has lost 'BILLING'"),
        (('"none"', "none"), "has lost '\"none\"'"),
        (("20 ", "120 "), "has lost '20'"),
        (("{ticket}", "{boleto}"), r"has lost '\{ticket\}'"),
        (("u OTHER", "u OTHERS"), "has lost 'OTHER'"),
        (("Ticket: {ticket}", "Ticket: {ticket} {extra}"), "the slot 'extra', which the prompt has not"),
    ],
)
def test_a_translation_that_lost_something_is_refused(change: tuple[str, str], message: str) -> None:
    assert change[0] in IN["es"]
    (each,) = translations({"es": IN["es"].replace(*change)})
    with pytest.raises(UsageError, match=message):
        made_by(each, SOURCE)


def test_all_that_was_lost_is_named() -> None:
    text = IN["es"].replace("{ticket}", "ticket").replace('"none"', "nada").replace("BILLING", "X")
    (each,) = translations({"es": text})
    with pytest.raises(UsageError) as caught:
        made_by(each, SOURCE)
    said = str(caught.value)
    assert all(repr(lost) in said for lost in ("{ticket}", '"none"', "BILLING"))
    assert ": each must stand there as often" in said


@pytest.mark.parametrize("marks", ["„none“", "«none»", "« none »", "“none”", "「none」"])
def test_a_quotation_may_stand_in_the_marks_of_its_language(marks: str) -> None:
    (each,) = translations({"es": IN["es"].replace('"none"', marks)})
    assert made_by(each, SOURCE) == [IN["es"]], "with the quotation as the prompt has it"


def test_a_file_that_lost_something_is_named(tmp_path: Path) -> None:
    (tmp_path / "triage.es.txt").write_text(IN["es"].replace("{ticket}", "ticket"), encoding="utf-8")
    pattern = str(tmp_path / "triage.{language}.txt")
    named = re.escape(repr(pattern.replace("{language}", "es")))
    with pytest.raises(UsageError, match=rf"The translation for 'es' in {named} has lost '\{{ticket\}}'"):
        plan(SOURCE, 1, operators=translations(pattern))
    (tmp_path / "triage.es.txt").write_text(" ", encoding="utf-8")
    with pytest.raises(UsageError, match=rf"in {named} is empty"):
        translations(pattern)


def test_a_number_within_a_quotation_is_no_other_number() -> None:
    source = 'Write "12 done" after step 12.'
    assert made_by(*translations({"de": 'Schreibe "12 done" nach Schritt 12.'}), source)
    with pytest.raises(UsageError, match="has lost '12'"):
        made_by(*translations({"de": 'Schreibe "12 done" nach dem Schritt.'}), source)
    counted = 'Write "12 done" after 12 words.'
    assert made_by(*translations({"de": 'Schreibe "12 done" nach 12 Wörtern.'}), counted)
    with pytest.raises(UsageError, match="has lost '12'"):
        made_by(*translations({"de": 'Schreibe "12 done" nach den Wörtern.'}), counted)


def test_a_number_in_the_other_style_is_named() -> None:
    (each,) = translations(
        {"de": "Fasse den Text in 2 Sätzen zusammen und nenne den Zins von 1,5 %.\n\n{text}"}
    )
    with pytest.raises(UsageError, match=r"has lost '1\.5 %'.* it has '1,5 %' instead"):
        made_by(each, "Summarize the text in 2 sentences and name the rate of 1.5 %.\n\n{text}")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({}, "there are no translations"),
        ({"es": " "}, "translation for 'es' is empty"),
        ({"spanish": "Hola"}, "'spanish' is no language"),
        ({"zz": "Hola"}, "'zz' is no language"),
        ({"es": 3}, "translation for 'es' is an int"),
        ({"es": "a\0b"}, "NUL"),
        ({"es": IN["de"]}, "translation for 'es' reads as 'de'"),
        ({"ja": IN["de"]}, "translation for 'ja' reads as 'de'"),
        ({"es": IN["es"], "ES": IN["es"]}, "'es' is given twice"),
        (["es"], "give a mapping"),
    ],
)
def test_translations_that_cannot_be_used(source: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        translations(source)


def test_a_bad_answer_language() -> None:
    with pytest.raises(UsageError, match="'french' is no language"):
        translations(IN, answer_language="french")


def test_a_chat_is_translated_message_by_message() -> None:
    chat = Prompt.from_messages(
        [
            {"role": "system", "content": "You sort mails into WORK and HOME."},
            {"role": "assistant", "content": "Hello."},
            {"role": "user", "content": "The mail is: {mail}"},
        ]
    )
    spanish = [
        {"role": "system", "content": "Tú clasificas los correos en WORK y HOME."},
        {"role": "user", "content": "El correo es: {mail}"},
    ]
    (mutation,) = plan(chat, 1, operators=translations({"es": spanish})).mutations
    messages = mutation.prompt.messages
    assert [each["content"] for each in messages] == [spanish[0]["content"], "Hello.", spanish[1]["content"]]
    with pytest.raises(UsageError, match="has 1 text and the prompt 2"):
        plan(chat, 1, operators=translations({"es": spanish[:1]}))
    with pytest.raises(UsageError, match="has 2 texts and the prompt 1"):
        plan(SOURCE, 1, operators=translations({"es": spanish}))


def test_a_prompt_in_its_own_language_is_no_mutation() -> None:
    (each,) = translations({"en": SOURCE})
    assert made_by(each, SOURCE) == []


def test_translations_from_files(tmp_path: Path) -> None:
    for tag, text in IN.items():
        (tmp_path / f"triage.{tag}.txt").write_text(text, encoding="utf-8")
    (tmp_path / "triage.notes.txt").write_text("x", encoding="utf-8")
    pattern = str(tmp_path / "triage.{language}.txt")
    assert read_translations(pattern) == dict(sorted(IN.items()))
    assert [each.name for each in translations(pattern)] == [
        f"translated-{tag.lower()}" for tag in sorted(IN)
    ]
    assert [*read_translations(tmp_path / "triage.{language}.txt", ["de", "fr-CA"])] == ["de", "fr-CA"]
    with pytest.raises(UsageError, match=r"no prompt file .*triage\.pl\.txt"):
        read_translations(pattern, ["pl"])
    (tmp_path / "triage.pl.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match=r"triage\.pl\.txt' is not UTF-8"):
        read_translations(pattern)
    with pytest.raises(UsageError, match="no files"):
        read_translations(str(tmp_path / "other.{language}.txt"))
    with pytest.raises(UsageError, match=r"\{language\} once"):
        read_translations(str(tmp_path / "triage.txt"))


ANSWERS = [
    # operator, prompt, one of its mutations
    ("es", "Name the capital of France.", "Name the capital of France. Answer in Spanish."),
    ("fr", "Summarize the text.\n\nText: {text}", "Summarize the text. Answer in French.\n\nText: {text}"),
    ("fr-ca", "Summarize the text.", "Summarize the text. Answer in Canadian French."),
    ("pt-br", "Summarize the text.", "Summarize the text. Answer in Brazilian Portuguese."),
    (
        "de",
        "Classify the ticket as URGENT or NORMAL and say why.\n\nTicket: {t}",
        "Classify the ticket as URGENT or NORMAL and say why. Answer in German; keep the labels as they are.\n\nTicket: {t}",
    ),
    (
        "nl",
        "Extract the names as JSON.\n\nText: {t}",
        "Extract the names as JSON. Answer in Dutch; keep the keys as they are.\n\nText: {t}",
    ),
    ("it", "Summarize the text. Respond in English.", "Summarize the text. Respond in Italian."),
    (
        "en",
        "Fasse den folgenden Text in 2 Sätzen zusammen.\n\nText: {text}",
        "Fasse den folgenden Text in 2 Sätzen zusammen. Antworte auf Englisch.\n\nText: {text}",
    ),
    (
        "fr",
        "Fasse den folgenden Text zusammen. Antworte nur auf Deutsch.\n\nText: {text}",
        "Fasse den folgenden Text zusammen. Antworte nur auf Französisch.\n\nText: {text}",
    ),
    (
        "es",
        "次の文章を要約してください。\n\n{text}",
        "次の文章を要約してください。スペイン語で答えてください。\n\n{text}",
    ),
    (
        "ja",
        "Résume le texte suivant en 3 phrases.\n\n{texte}",
        "Résume le texte suivant en 3 phrases. Réponds en japonais.\n\n{texte}",
    ),
]
KEPT = [
    (
        "it",
        'List the open questions. If there are none, write "all clear".\n\n{minutes}',
        "Answer in Italian; keep the quoted texts as they are.",
    ),
    (
        "es",
        "Decide about the refund. Write REFUND or name the reason.\n\nOrder: {order}",
        "keep the labels as they are.",
    ),
    (
        "de",
        "Rédigez une réponse au courriel. Terminez par « Bien cordialement ».\n\nCourriel : {{ courriel }}",
        "Réponds en allemand; garde les textes entre guillemets tels quels.\n\nCourriel",
    ),
    (
        "es",
        "Beantworte die Frage. Wenn die Antwort fehlt, schreibe »nicht bekannt«.\n\nFrage: {frage}",
        "Antworte auf Spanisch; lass die Texte in Anführungszeichen unverändert.",
    ),
    (
        "nl",
        'Return JSON with the keys "grade" (one of "right", "wrong") and "hint". If it is empty, answer "wrong".',
        "keep the labels, keys and quoted texts as they are.",
    ),
]
WORDLESS = [
    "Given the schema below, write one PostgreSQL query. Return only the SQL.\n\nQuestion: How many orders are open?",
    "Convert the question into SQL for the table employees(id, name).\n\nQ: {question}\nSQL:",
    "Convert the meter readings to CSV with the header date,meter,kwh. Do not round.\n\n2026-03-01 Main 10482.5\n\nCSV:",
    "Turn the notes into tasks.\n\n• Call the bank\n• Buy milk\n\nDon't change the wording.",
    "Tidy my notes up. You'll find lots of typos; they're fine, don't fix them.",
    "Shorten the paragraph. Use British spelling (colour, organise).\n\nParagraph: {paragraph}",
    (
        "Please pull the following details out of the letter: policy_number, holder_name. Put each field on its own line as"
        " name: value.\n\nLetter:\n{letter}"
    ),
    (
        "Answer with a single word.\n\nQ: Which planet is closest to the Sun?\nA: Mercury\n\nQ: How many sides has a heptagon?\nA: 7"
        "\n\nQ: {question}\nA:"
    ),
    (
        "Assign a priority to the report.\n\n- P1: all is down\n- P2: one feature is down\n\nOutput the priority and nothing else."
        "\n\nReport:\n{{ report }}"
    ),
    "Find all persons in the article. Names must be copied verbatim from the article.\n\nArticle: {article}",
    "Count how often the letter r occurs. Reply with one digit.\n\nWord: {word}",
    "Write a bash one-liner that counts files.",
    "Please edit the paragraph for clarity.\n\n{paragraph}",
    "You help customers.\n\n# What you must not do\nDo not give advice. Never ask for a PIN.",
    "Lies das Protokoll und gib für jeden Beschluss eine Zeile aus.\n\nBeispiel:\nTOP 3; Anstrich; 11; 4\n\nProtokoll: {text}",
    "次のメモをもとに、断りのメールを書いてください。\n\n条件:\n・敬語を使い、200字以内にまとめる\n\nメモ: {memo}",
    "Corrige las faltas de ortografía del texto.\n\nTexto: {t}",
    "Écris un poème de huit vers.",
    # The answer is copied, wholly or in part.
    'Extract the object and the time as JSON with the keys "object" and "time". The words of the\npassenger should be kept.',
    'Names must be replaced by "Person A". Apart from that, the text must not be changed by the tool.\n\n{interview}',
    "Shorten the minutes. Keep the words as they are.\n\n{minutes}",
    "Answer with JSON with the keys who and what. Retain the customer's exact wording.\n\n{message}",
    "Find the clause about rent. Quote the sentence that says it.\n\n{lease}",
    "Say what she wants, in her own words.\n\n{letter}",
    "Answer the question. Never paraphrase the handbook.\n\n{handbook}",
    "Fasse den Brief zusammen. Der Ton darf nicht verändert werden.\n\nBrief: {brief}",
    # The answer is a label.
    "Classify the ticket as URGENT or NORMAL.\n\nTicket: {t}",
    "Classify the ticket as URGENT or NORMAL. Do not explain your choice.\n\nTicket: {t}",
    "Choose exactly one label:\n\n- WITHIN\n- OVER\n\nDo not comment on your choice.\n\nAccount: {account}",
    "Sort the mail into work or private. Return only the label.\n\nMail: {mail}",
    "Klassifiziere das Ticket als DRINGEND oder NORMAL.\n\nTicket: {ticket}",
    # A verb begins no Japanese sentence.
    "Suggest a dinner. Begin each sentence with a verb.\n\n{ingredients}",
]
NO_ANSWER = [
    ("fr", "Answer in Russian. Name the city.\n\n{text}"),
    ("it", "Fasse den Text auf Polnisch zusammen.\n\nText: {text}"),
    ("de", "Résume le texte en arabe.\n\nTexte : {texte}"),
    ("it", "Summarize the article. Do not translate titles.\n\nArticle: {article}"),
    ("fr", "Translate the message into French: {text}"),
    ("fr", "Answer in the language of the question."),
    ("fr", "Résume le texte suivant en 3 phrases.\n\n{texte}"),
    ("es", "Name the city. The reader speaks German."),
    ("de", "{text}"),
    ("de", "Wyślij odpowiedź: {text}"),
]


@pytest.mark.parametrize(("tag", "before", "after"), ANSWERS)
def test_the_answer_is_asked_for_in_a_language(tag: str, before: str, after: str) -> None:
    if tag == "en":
        (each,) = cross_lingual({"de": before}, answer_languages=["en"])
    else:
        each = builtin()[f"answer-in-{tag}"]
    assert after in made_by(each, before)


@pytest.mark.parametrize(("tag", "text"), NO_ANSWER)
def test_nothing_where_a_language_is_told_already(tag: str, text: str) -> None:
    assert made_by(builtin()[f"answer-in-{tag}"], text) == []


@pytest.mark.parametrize(("tag", "before", "added"), KEPT)
def test_what_the_answer_must_hold_is_said_to_stay(tag: str, before: str, added: str) -> None:
    assert any(added in text for text in made_by(builtin()[f"answer-in-{tag}"], before))


@pytest.mark.parametrize("text", WORDLESS)
@pytest.mark.parametrize("tag", ["it", "pt-br"])
def test_nothing_where_the_words_of_the_answer_are_fixed(tag: str, text: str) -> None:
    assert made_by(builtin()[f"answer-in-{tag}"], text) == []


@pytest.mark.parametrize(
    "text",
    [
        'Describe the weather. Do not write "alert".',
        "Keep the answer under 50 words. Use your own words and a friendly tone. Explain the rule.",
        "Explain the text. The text should be kept short.",
        "Keep the number of words below 40. Explain the rule.",
        'Return JSON with the keys "grade" (one of "right", "wrong") and "hint". No other text is allowed.',
        "Review the code below and explain what is wrong with it.\n\n```python\nx = 1\n```",
        "Rate the essay and say why. Only the arguments count.\n\nEssay: {essay}",
    ],
)
def test_prose_is_asked_for_without_more_ado(text: str) -> None:
    assert any("Answer in Italian" in each for each in made_by(builtin()["answer-in-it"], text))


def test_the_eight_are_built_in_and_never_used_unasked() -> None:
    for tag in EIGHT:
        each = builtin()[f"answer-in-{tag}"]
        assert (each.dimension, each.relation) == ("multilingual", "language")
        assert not each.by_default
        assert requested_language((each.id,)).lower() == tag
        assert len(made_by(each, "Summarize the text.")) >= 3
        for text in made_by(each, TRIAGE):
            assert text.count("POSITIVE, NEGATIVE, or NEUTRAL") == 1
            assert "English" not in text


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("spanish", "Did you mean 'answer-in-es'"), ("spansh", "Did you mean 'answer-in-es'"),
        ("español", "Did you mean 'answer-in-es'"), ("Canadian-French", "Did you mean 'answer-in-fr-ca'"),
        ("fr_CA", "Did you mean 'answer-in-fr-ca'"), ("brazilian-portugese", "Did you mean 'answer-in-pt-br'"),
        ("klingon", "one for each of de, en, es, fr, fr-ca, it, ja, nl, pt, pt-br"), ("sp", "one for each of de, en"),
        ("english", "Did you mean .answer-in-en."),
    ],
)  # fmt: skip
def test_an_unknown_language_of_the_answer_gets_a_hint(name: str, hint: str) -> None:
    with pytest.raises(UsageError, match=hint):
        plan("Name the city.", 1, operators=[f"answer-in-{name}"])


def test_cross_lingual_is_n_by_n() -> None:
    prompts = {"en": SOURCE, **IN}
    every = cross_lingual(prompts)
    assert len(every) == 81
    assert len({each.name for each in every}) == 81
    texts = {each.name: made_by(each, SOURCE, seeds=1, most=1) for each in every}
    assert all(len(found) == 1 for found in texts.values())
    assert len({found[0] for found in texts.values()}) == 81
    (german,) = texts["translated-de-answer-in-fr"]
    assert german == IN["de"].replace(
        "leer ist.",
        "leer ist. Antworte auf Französisch; lass die Labels und Texte in Anführungszeichen unverändert.",
    )
    (english,) = texts["translated-en-answer-in-ja"]
    assert english.startswith(
        SOURCE.partition("\n")[0] + " Answer in Japanese; keep the labels and quoted texts as they are.\n"
    )
    assert {requested_language((each.id,)) for each in every} == set(prompts)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"prompts": {}}, "no translations"),
        ({"prompts": {"en": "Summarize it."}, "answer_languages": []}, "answer_languages"),
        ({"prompts": {"en": "Summarize it."}, "answer_languages": "fr"}, "answer_languages"),
        ({"prompts": {"en": "Summarize it."}, "answer_languages": ["pl"]}, "'pl' .*es, fr, fr-CA"),
        ({"prompts": {"en": "Summarize it."}, "answer_languages": ["fr", "fr"]}, "twice"),
    ],
)
def test_cross_lingual_arguments(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        cross_lingual(**arguments)


def test_cross_lingual_refuses_a_prompt_that_names_a_language() -> None:
    (each,) = cross_lingual({"es": "Traduce el texto al alemán: {t}"}, answer_languages=["fr"])
    with pytest.raises(UsageError, match="prompt for 'es' names a language already"):
        made_by(each, "Translate the text into German: {t}")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["{a}", "{b}", "12", "3.5", '"yes"', "https://a.b/c"]), max_size=6),
    st.lists(st.sampled_from(["und", "der Text", "\n\n", "bitte.", "für"]), min_size=1, max_size=6),
)
def test_any_order_of_protected_parts_is_kept(parts: list[str], words: list[str]) -> None:
    before = "Read the text and write " + " and then ".join(["it", *parts])
    after = " ".join([*words, *reversed(parts)])
    if not after.strip():
        return
    (each,) = translations({"de": after})
    assert made_by(each, before) == [after]
