"""Typos, misspellings, scanner damage, look-alikes: readable, and never another word or a damaged instruction.

The inputs and what is expected of them were written down before the operators were.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import islice

import pytest
from hypothesis import HealthCheck, given, settings
from mutation_samples import PROMPTS, TEXTS, draft_of

from pytest_promptfuzz.data.english_words import (
    AZERTY,
    FREQUENT,
    HOMOPHONES,
    MISSPELLINGS,
    NEAR,
    PROMPT_WORDS,
    QWERTY,
    QWERTZ,
)
from pytest_promptfuzz.mutations.engine.edits import apply_edits, check_edits
from pytest_promptfuzz.mutations.engine.registry import builtin
from pytest_promptfuzz.prompts.spans import logic_spans
from pytest_promptfuzz.randomness import Rng, root_key

TYPOS = (
    "keyboard-typo", "transposition-typo", "omission-typo", "insertion-typo", "doubling-typo", "azerty-typo",
    "qwertz-typo",
)  # fmt: skip
SPELLED = (*TYPOS, "misspelling", "ocr", "homoglyph", "leetspeak")
NAMES = (*SPELLED, "homophone")
DEFAULT = {
    "keyboard-typo",
    "transposition-typo",
    "omission-typo",
    "insertion-typo",
    "doubling-typo",
    "misspelling",
}


def made(name: str, text: str, *, seeds: int = 30, most: int = 6, intensity: float | None = None) -> set[str]:
    """Everything an operator makes of ``text`` within some seeds; each is safe for what is protected."""
    draft = draft_of(text)
    found = set()
    for seed in range(seeds):
        rng = Rng(root_key(seed, text), name, intensity=intensity)
        for edits in islice(builtin()[name].proposals(draft, rng), most):
            check_edits(edits, len(text), draft.spans, source=name)
            found.add(apply_edits(text, edits))
    return found


MAKES = [
    ("omission-typo", "Sort the items.", {"Sort the itms.", "Sort the iems."}),
    ("insertion-typo", "Sort the items.", {"Sort the itrems.", "Sort the itenms."}),
    ("doubling-typo", "Sort the items.", {"Sort the itemms.", "Sort the ittems."}),
    ("azerty-typo", "Read the message.", {"Read the mezsage.", "Read the messqge."}),
    ("azerty-typo", "Veuillez classer la demande suivante dans la liste.",
     {"Veuillez classer la demande suivznte dans la liste."}),
    ("qwertz-typo", "Summarize the story.", {"Summatize the story.", "Summarize the stofy."}),
    ("qwertz-typo", "Bitte fasse die wichtigsten Punkte in der Tabelle zusammen.",
     {"Bitte fasse die wichtugsten Punkte in der Tabelle zusammen."}),
    ("misspelling", "Separate the relevant sentences.",
     {"Seperate the relevant sentences.", "Separate the relevent sentences.", "Separate the relevant sentances."}),
    ("misspelling", "Write when you received it.", {"Write when you recieved it."}),
    ("misspelling", "THE CATEGORIES", {"THE CATAGORIES"}),
    ("ocr", "Summarize the article.", {"Surnmarize the article.", "Summarize the artide."}),
    ("homoglyph", "Describe the scene.", {"Dеscribe the scene.", "Describe the sсene.", "Describe the scеne."}),
    ("homophone", "Write their names and your answer.", {"Write there names and your answer.",
                                                         "Write their names and you're answer."}),
    ("homophone", "Say if it's late.", {"Say if its late."}),
    ("leetspeak", "Read the message.", {"Read the m3ssage.", "Read the me5sage.", "Read the m3ss4ge."}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "some"), MAKES)
def test_what_is_made(name: str, text: str, some: set[str]) -> None:
    found = made(name, text, seeds=100, most=20)
    assert some <= found, found


LOGIC = (
    "Never write before reading; answer without quoting unless either nobody or everyone asks, exactly once, at least"
    " twice, always within limits, otherwise avoid, ignore or exclude it, except until neither cannot."
)
NOTHING = [
    *(
        (name, "Never write before or without {x} unless otherwise.".replace("write ", ""))
        for name in SPELLED
    ),
    *((name, "Okafor:\n{x}") for name in SPELLED),
    *((name, "Label: {x}\nSentiment: {y}") for name in SPELLED),
    ("misspelling", "Ask Ms Recieve."),
    ("homophone", "Write no more than four words to two readers, right by the sum."),
    ("homophone", "Know whether the weather is not new."),
    ("homophone", "Cite the sources except for one site."),
    ("homophone", "Their role: {x}\nYour course: {y}"),
    ("leetspeak", "Is it so?"),
    ("homoglyph", "Is it so?"),
    ("ocr", "次の文章を要約してください。"),
    ("omission-typo", "Is it so?"),
    ("omission-typo", "Lies die Texte genau durch und antworte dann mit einem Wort."),
    ("azerty-typo", "Lies die Texte genau durch und antworte dann mit einem Wort."),
    ("qwertz-typo", "Lisez le texte avec soin et répondez avec un mot dans la langue du texte."),
]


@pytest.mark.parametrize(("name", "text"), NOTHING)
def test_nothing_rather_than_harm(name: str, text: str) -> None:
    assert made(name, text, seeds=10) == set()


def words_of(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:['’][^\W_]+)?", text)


@pytest.mark.parametrize("name", NAMES)
def test_logic_and_binding_words_are_never_hit(name: str) -> None:
    logic = [LOGIC[start:end] for start, end, _ in logic_spans(LOGIC)]
    assert len(logic) > 15
    found = made(name, LOGIC, seeds=60, most=12)
    assert found or name == "homophone"
    for after in found:
        left = [after[start:end] for start, end, _ in logic_spans(after)]
        assert left == logic
        assert {"avoid", "ignore", "exclude", "always", "exactly", "once", "twice", "within"} <= set(
            words_of(after)
        )


@pytest.mark.parametrize("name", SPELLED)
def test_nothing_hit_becomes_another_word(name: str) -> None:
    text = (
        "Three quiet angles form trails from public county courses; desert diaries planned filing, hoping to notice"
        " messages, later dinners, better writing, causal items, singing, scared horses, change and stating reasons."
    )
    before = words_of(text)
    found = made(name, text, seeds=80, most=15)
    assert len(found) > 20 or name in {"misspelling", "ocr"}
    wrong = {word.lower() for after in found for word in words_of(after) if word not in before}
    assert wrong
    assert not wrong & (FREQUENT | NEAR | PROMPT_WORDS)
    assert not wrong & {
        "quite", "quit", "angels", "trial", "trials", "pubic", "country", "coarses", "dessert", "dairies", "planed",
        "filling", "hopping", "massages", "latter", "letter", "diners", "sinners", "bitter", "butter", "casual",
        "signing", "sacred", "chance", "starting", "seasons",
    }  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@given(text=TEXTS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_logic_and_protected_text_survive_whatever_the_prompt(name: str, text: str) -> None:
    draft = draft_of(text)
    logic = [text[a:b].lower() for a, b, _ in logic_spans(text) if draft.is_free(a, b)]
    own = {word.lower for word in draft.words}
    for edits in islice(builtin()[name].proposals(draft, Rng(root_key(1, text), name)), 4):
        check_edits(edits, len(text), draft.spans, source=name)
        after = apply_edits(text, edits)
        assert after != text
        left = [after[start:end].lower() for start, end, _ in logic_spans(after)]
        assert all(left.count(word) >= logic.count(word) for word in logic)
        if name != "homophone":
            for word in draft_of(after).words:
                assert word.lower in own or word.lower not in FREQUENT


@pytest.mark.parametrize("name", NAMES)
def test_default_plans_draw_on_typos_and_misspellings(name: str) -> None:
    assert builtin()[name].preserves == "conditional"
    assert builtin()[name].by_default == (name in DEFAULT)


@pytest.mark.parametrize("name", NAMES)
def test_labels_numbers_and_first_letters_stay(name: str) -> None:
    for text in PROMPTS:
        for after in made(name, text, seeds=8, most=4):
            kept = re.findall(r"(?<![A-Za-z])\d+(?![A-Za-z])", text)
            assert re.findall(r"(?<![A-Za-z])\d+(?![A-Za-z])", after) == kept
            if name in SPELLED:
                firsts = [word[0].lower() for word in words_of(text)]
                assert [word[0].lower() for word in words_of(after)] == firsts or "’" in after


def test_tables_hold_what_they_promise() -> None:
    assert len(MISSPELLINGS) >= 300
    known = FREQUENT | NEAR | PROMPT_WORDS
    for right, wrong in MISSPELLINGS.items():
        assert right != wrong
        assert wrong not in known, wrong
        assert not logic_spans(wrong)
    assert MISSPELLINGS["separately"] == "seperately"
    assert MISSPELLINGS["received"] == "recieved"
    for word, other in HOMOPHONES.items():
        assert not logic_spans(f"{word} {other}"), word
        assert not {word, other} & {
            "for",
            "four",
            "two",
            "one",
            "won",
            "write",
            "right",
            "know",
            "no",
            "knot",
            "buy",
            "by",
            "sum",
            "some",
        }
    for keys in (QWERTY, AZERTY, QWERTZ):
        assert sorted(keys) == sorted("abcdefghijklmnopqrstuvwxyz")
        assert all(a in keys[b] for a, around in keys.items() for b in around)
    assert "z" in AZERTY["a"]
    assert "z" in QWERTZ["t"]


def test_look_alikes_are_old_letters_of_other_scripts() -> None:
    text = "Compare every single example because previous versions expose jagged vocabulary."
    new = {c for after in made("homoglyph", text, seeds=80, most=20) for c in after if not c.isascii()}
    assert len(new) >= 8
    for letter in new:
        assert unicodedata.category(letter) == "Ll"
        assert unicodedata.name(letter).startswith(("CYRILLIC", "GREEK"))
        assert unicodedata.ucd_3_2_0.name(letter)


def test_digits_of_leetspeak_and_ocr_stand_between_letters() -> None:
    text = (
        "Summarize the customer's message about the latest software release without opinions on the contents."
    )
    for name in ("leetspeak", "ocr"):
        found = made(name, text, seeds=60, most=10, intensity=1.0)
        assert any(re.search(r"\d", after) for after in found)
        for after in found:
            assert not re.search(r"(?<![A-Za-z])\d|\d(?![A-Za-z])", after), after


def test_intensity_counts_words() -> None:
    text = "Summarize the customer's message about the latest software release in plain language."
    for name in ("keyboard-typo", "homoglyph", "misspelling", "doubling-typo"):
        for after in made(name, text, intensity=2):
            changed = sum(a != b for a, b in zip(text.split(), after.split(), strict=True))
            assert 1 <= changed <= 2


def test_names_and_heads_are_left_alone() -> None:
    text = (
        "Customer name: Okafor\n\nTell Lindqvist about the metformin that Okafor bought yesterday in Hamburg."
    )
    for name in SPELLED:
        for after in made(name, text, seeds=30):
            assert after.startswith("Customer name: Okafor")
            assert {"Lindqvist", "metformin", "Hamburg."} <= set(after.split())


def test_inflections_of_other_languages_stay() -> None:
    french = (
        "Veuillez indiquer les consignes suivantes dans la liste des documents avec les formules complexes."
    )
    german = "Bitte formulieren sie die wichtigsten Angaben mit einfachen und verschiedenen Begriffen in der Tabelle."
    for name, text in (("azerty-typo", french), ("qwertz-typo", german)):
        found = made(name, text, seeds=100, most=12)
        assert len(found) > 40
        for after in found:
            for old, new in zip(text.split(), after.split(), strict=True):
                assert old == new or (len(old) >= 8 and old[-2:] == new[-2:]), new


DATA = [
    ("keyboard-typo", "Write it in plain words.\nCustomer message:\n{x}", {"message"}),
    ("misspelling", "They wrote the WHOLE MESSAGE in capitals", {"WHOLE", "MESSAGE"}),
    ("misspelling", "Write notes.\n\n### Security\n\nWrite them with care.", {"Security"}),
    ("random-case", "Write notes.\n\n### Security\n\nWrite them with care.", {"Security"}),
    ("homophone", "Read the rows.\n2026-01-01\tMain\tWeek\nTell your friends.", {"Main", "Week"}),
    ("keyboard-typo", "Return an object with the keys artist, title and language. Write it in plain words.", {"artist", "title", "language"}),
    ("keyboard-typo", "Columns below are listed.\ndate,number,message\nWrite about them.", {"number", "message"}),
    ("omission-typo", 'Write about the table and set material="unknown" there.', {"material"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "kept"), DATA)
def test_names_keywords_and_data_stay(name: str, text: str, kept: set[str]) -> None:
    for after in made(name, text, seeds=60, most=12):
        assert kept <= set(words_of(after)), after
