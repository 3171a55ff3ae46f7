"""Notes become sentences; numbers stand with their nouns."""

from __future__ import annotations

import pytest

from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.wording.sentences import counted, sentence


def test_a_note_within_a_note_is_worded_first() -> None:
    models = Note.of("evaluations:two-models", asked="gpt-5", answered=["gpt-5-a", "gpt-5-b"])
    note = Note.of("evaluations:mixed-models", models=models)
    assert sentence(note) == "gpt-5 answered as gpt-5-a and as gpt-5-b: they cannot be compared."


def test_what_is_in_words_stays() -> None:
    assert sentence("The store did not take an answer.") == "The store did not take an answer."
    ended = Note.of("evaluations:shrinking-ended", why="the budget is spent")
    assert sentence(ended) == "shrinking ended early: the budget is spent"


@pytest.mark.parametrize("code", ["evaluations:no-such-finding", "nowhere:asks-less"])
def test_a_code_without_a_sentence_is_an_error(code: str) -> None:
    with pytest.raises((AttributeError, ModuleNotFoundError)):
        sentence(Note.of(code))


@pytest.mark.parametrize(
    ("relation", "shown"),
    [
        ("format", "2 kept, 1 kept but for minor differences, 1 broken"),
        ("must-change", "2 changed as it must, 1 minor, 1 unchanged"),
    ],
)
def test_outcomes_under_other_relations_are_named_by_what_they_mean(relation: str, shown: str) -> None:
    outcomes = {"equivalent": 2, "minor": 1, "deviation": 1, "undecided": 0}
    note = Note.of("evaluations:not-in-the-score", relation=relation, outcomes=outcomes)
    assert sentence(note) == f"not in the score: {shown} under the relation {relation!r}"


@pytest.mark.parametrize(
    ("amount", "noun", "shown"),
    [
        (0, "call", "0 calls"),
        (1, "query", "1 query"),
        (2, "query", "2 queries"),
        (2, "day", "2 days"),
        (1200, "entry", "1,200 entries"),
    ],
)
def test_numbers_agree_with_nouns(amount: int, noun: str, shown: str) -> None:
    assert counted(amount, noun) == shown
