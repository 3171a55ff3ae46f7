"""Options of a question: their order and labels, and answers compared by the labels that they had before."""

from __future__ import annotations

from itertools import islice

import pytest
from mutation_samples import draft_of

from pytest_promptfuzz import Prompt, evaluate
from pytest_promptfuzz.comparing.option_labels import with_labels_before
from pytest_promptfuzz.mutations.engine.edits import apply_edits
from pytest_promptfuzz.mutations.engine.planner import plan
from pytest_promptfuzz.mutations.engine.registry import find
from pytest_promptfuzz.mutations.operators.options import labels_before, options_in
from pytest_promptfuzz.randomness import Rng, root_key

CITY = """Which city is the capital of France?
A) Rome
B) Paris
C) London
D) Berlin

Answer with A, B, C or D. Give the letter only."""
BOOK = """Choose the one correct answer.

Who wrote the book?

(1) a teacher from Leeds
(2) a doctor from York

Your answer:"""


def made_by(operator: str, text: str, most: int = 12) -> list[str]:
    each = find(operator)
    draft = draft_of(text)
    found = islice(each.proposals(draft, Rng(root_key(3, text), each.id)), most)
    return [apply_edits(text, edits) for edits in found]


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        (CITY, "ABCD"),
        (BOOK, "12"),
        ("Which one?\na. red\nb. blue\nc. green", "abc"),
        ("What is it?\n  A: a cat\n  B: a dog\nAnswer:", "AB"),
        ("Pick the best option.\n\nA) one\n\nB) two", "AB"),
    ],
)
def test_options_are_read(text: str, labels: str) -> None:
    assert "".join(each.label for each in options_in(text)) == labels


@pytest.mark.parametrize(
    "text",
    [
        "Follow these steps:\n1. wash\n2. dry",
        "Which is it?\n\n## Notes\n1. Use British spelling.\n2. Keep the greeting.",
        "Write questions with four options.\n\n1. Use letters.\n2. Mark the right one.",
        "Answer by these rules:\n1. be brief\n2. be kind",
        "Which one?\nA) red",
        "Which one?\nB) red\nC) blue",
        "Which one?\nA) red\nC) blue",
        "Which one?\nA) red\nB) red",
        "Which one?\nA) red\nB) blue\n\nAnswer: A\n\nWhich one?\nA) cat\nB) dog\n\nAnswer:",
        "Dear A,\nB. Smith wrote.",
    ],
)
def test_other_lists_are_no_options(text: str) -> None:
    assert options_in(text) == ()


def test_texts_change_places_and_labels_stay() -> None:
    made = made_by("option-shuffle", CITY)
    assert len(set(made)) > 5
    for each in made:
        assert each != CITY
        assert [option.label for option in options_in(each)] == [*"ABCD"]
        assert sorted(each.split()) == sorted(CITY.split())


@pytest.mark.parametrize("last", ["None of the above", "Both A and B", "All of these options of the above"])
def test_options_that_speak_of_others_keep_their_place(last: str) -> None:
    text = CITY.replace("Berlin", last)
    assert made_by("option-shuffle", text) == []
    assert bool(made_by("option-labels", text)) == ("Both" not in last)


def test_labels_change_wherever_they_are_named() -> None:
    made = made_by("option-labels", CITY)
    assert made[0] == (
        "Which city is the capital of France?\n1. Rome\n2. Paris\n3. London\n4. Berlin\n\n"
        "Answer with 1, 2, 3 or 4. Give the number only."
    )
    assert len(made) == len(set(made)) == 6
    assert any("(A) Rome" in each and "Answer with A, B, C or D. Give the letter" in each for each in made)
    assert any("iv. Berlin" in each and "Answer with i, ii, iii or iv." in each for each in made)
    assert any("a) Rome" in each and "A city" not in each for each in made_by("option-labels", CITY))
    article = CITY.replace("Give the letter only.", "A city is a place. Reply with one letter (A-D).")
    assert made_by("option-labels", article)[0].endswith("A city is a place. Reply with one number (1-4).")


def test_elimination_is_told_where_options_stand() -> None:
    made = made_by("process-of-elimination", BOOK)
    assert made[0].startswith("Choose the one correct answer. Rule out the wrong options first.\n\nWho wrote")
    assert len(made) == 5
    assert made_by("process-of-elimination", "Classify the ticket.\n\n{ticket}") == []


def test_a_mutation_knows_what_labels_stood_for() -> None:
    (made,) = plan(CITY, 1, operators="option-shuffle", seed=2).mutations
    assert made.relation == "renaming"
    before = labels_before(made)
    old = {CITY[each.text : each.end]: each.label for each in options_in(CITY)}
    new = {made.text[each.text : each.end]: each.label for each in options_in(made.text)}
    assert before == {new[text]: label for text, label in old.items()}
    assert before != dict(zip("ABCD", "ABCD", strict=True))
    (other,) = plan(CITY, 1, operators="double-space").mutations
    assert labels_before(other) == {}


BEFORE = {"1": "A", "2": "B", "3": "C"}


@pytest.mark.parametrize(
    ("answer", "restored"),
    [
        ("2", "B"),
        (" (2) ", " (B) "),
        ("2) Paris", "B) Paris"),
        ("The answer is 3.", "The answer is C."),
        ("Answer: **1**", "Answer: **A**"),
        ("1, 3", "A, C"),
        ("Of the 3 cities, Paris has 2 rivers, so option 2 is right.", "Of the 3 cities, Paris has 2 rivers, so option B is right."),
        ({"answer": "2", "reason": "it has 2 rivers"}, {"answer": "B", "reason": "it has 2 rivers"}),
        ({"answer": 2}, {"answer": "B"}),
        (["1", "2"], ["A", "B"]),
        ("4", "4"),
        (True, True),
        (None, None),
    ],
)  # fmt: skip
def test_answers_get_their_labels_back(answer: object, restored: object) -> None:
    assert with_labels_before(answer, BEFORE) == restored


def test_letters_of_words_are_no_labels() -> None:
    back = {"A": "C", "C": "A"}
    assert (
        with_labels_before("A city in France. The answer is C.", back) == "A city in France. The answer is A."
    )
    assert with_labels_before("A", back) == "C"


def knows(prompt: str) -> str:
    """A model that knows the capital, whatever its label."""
    return next(each.label for each in options_in(prompt) if prompt[each.text : each.end] == "Paris")


def always_second(prompt: str) -> str:
    """A model that takes the second option, whatever it says."""
    return options_in(prompt)[1].label


@pytest.mark.parametrize("operator", ["option-shuffle", "option-labels"])
def test_a_model_that_knows_is_robust_and_right(operator: str) -> None:
    result = evaluate(Prompt(CITY), knows, mutations={operator: 4}, controls=0, expected="B")
    assert {trial.outcome for trial in result.trials} == {"equivalent"}
    assert result.gold is not None
    assert result.gold.mutated == 1


def test_a_model_that_looks_at_places_is_found_out() -> None:
    result = evaluate(Prompt(CITY), always_second, mutations={"option-shuffle": 6}, controls=0, expected="B")
    moved = [trial for trial in result.trials if labels_before(trial.mutation)["B"] != "B"]
    assert moved
    assert all(trial.outcome == "deviation" for trial in moved)
    assert result.gold is not None
    assert result.gold.accuracy == 1
    assert result.gold.mutated is not None
    assert result.gold.mutated < 1
