"""What operators see of a prompt is what the plain definitions say, however it is found."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.mutations.analysis.draft import Draft
from pytest_promptfuzz.mutations.engine.edits import Tokens, insert, replace, touched_words
from pytest_promptfuzz.text.languages import language_of

GLUED = "0-9A-Z_a-z\x00\u00aa-\u1fff\u2c00-\ud7ff\uf900-\uffff\U00010000-\U0010ffff'’/@\\\\-"
PIECES = st.sampled_from(
    [*" \n\t.,'’-/@\\_7é—\u00a0👍日", "don't", "don’t", "'tis", "users'", "a'b'c", "e-mail", "The", "UI"]
)
TEXTS = (st.text() | st.lists(PIECES | st.text(max_size=3), max_size=30).map("".join)).filter(
    lambda t: "\x00" not in t
)


@given(TEXTS)
def test_words_are_runs_of_ascii_letters_that_nothing_glues_to_others(text: str) -> None:
    plain = []
    for run in re.finditer(f"[{GLUED}]+", text):
        inner = run[0].strip("'’")
        if re.fullmatch("[A-Za-z]+(?:['’][A-Za-z]+)?", inner):
            start = run.start() + run[0].index(inner)
            plain.append((start, start + len(inner), inner, inner.lower().replace("’", "'")))
    assert [tuple(word) for word in Draft(text, []).words] == plain


@given(TEXTS, st.lists(st.integers(0, 60), min_size=2, max_size=12, unique=True))
def test_each_word_that_edits_touch_counts_once(text: str, bounds: list[int]) -> None:
    ends = sorted(min(bound, len(text)) for bound in bounds)
    spans = [*zip(ends[::2], ends[1::2], strict=False)]
    character = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    words = [match.span() for match in re.finditer(f"[{character}]|[^\\s{character}]+", text)]
    touched = {word for word in words for low, high in spans if word[1] > low and word[0] < high}
    tokens = Tokens(text)
    edits = [insert(low, "x") if low == high else replace(low, high, "x") for low, high in spans]
    assert touched_words(edits, tokens) == len(touched)
    assert (len(tokens), [*zip(tokens.starts, tokens.ends, strict=True)]) == (len(words), words)


def test_numbers_of_list_items_are_given_up_to_those_who_touch_them() -> None:
    text = "Do 3 things:\n1. Read 2 pages\n  12) Stop\n"
    draft = Draft(text, [match.span() for match in re.finditer(r"\d+", text)])
    assert [text[start:end] for start, end in draft.protected()] == ["3", "1", "2", "12"]
    assert [text[start:end] for start, end in draft.protected(("list-marker",))] == ["3", "2"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Write the answer to this.", "en"),
        ("Don't write the answer to this.", "en"),
        ("la casa de la abuela y el perro", "es"),
        ("the1la the_la la los del", "es"),
        ("m'a l'a t'a le", "fr"),
        ("", "und"),
        ("12 + 3", "und"),
    ],
)
def test_languages(text: str, language: str) -> None:
    assert language_of(text) == language


def test_abbreviations_and_initials_end_no_sentence() -> None:
    text = "Please ask Dr. Smith or J. Doe about approx. Monday. Keep the response. Then stop."
    sentences = Draft(text, []).sentences
    assert [text[each.start : each.end] for each in sentences] == [
        "Please ask Dr. Smith or J. Doe about approx. Monday.",
        "Keep the response.",
        "Then stop.",
    ]
