"""Gold answers of evaluations: accuracy, drop, and what is robust but wrong."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_promptfuzz import Session, UsageError, evaluate
from pytest_promptfuzz.reporting.model import report_test
from pytest_promptfuzz.storage.answers import MemoryStore

PROMPT = """Is the ticket about billing, shipping or login? Answer with one word only.

Ticket:
{ticket}"""
TICKETS = {"charged": "I was charged twice.", "parcel": "My parcel is lost.", "login": "I cannot log in."}
RIGHT = {"charged": "billing", "parcel": "shipping", "login": "login"}


class Application:
    """Answers by the ticket; another word where the prompt is among the ``lost``, counted for each ticket."""

    def __init__(self, answers: dict[str, Any], *lost: int) -> None:
        self.answers, self.lost = answers, lost
        self.seen: dict[str, list[str]] = {}

    def __call__(self, prompt: str) -> Any:
        words = " ".join(prompt.split()).lower()
        name = next(name for name, ticket in TICKETS.items() if ticket.lower() in words)
        seen = self.seen.setdefault(name, [])
        if prompt not in seen:
            seen.append(prompt)
        return "nothing" if seen.index(prompt) in self.lost else self.answers[name]


def found(answers: dict[str, Any], *lost: int, **settings: Any) -> Any:
    given = {
        "inputs": TICKETS,
        "mutations": 8,
        "session": Session(store=MemoryStore()),
        "controls": 0,
        **settings,
    }
    return evaluate(PROMPT, Application(answers, *lost), **given)


def test_robust_and_right_has_nothing_to_say() -> None:
    result = found(RIGHT, expected=RIGHT)
    assert (result.verdict, result.gold.accuracy, result.gold.mutated, result.gold.drop) == ("pass", 1, 1, 0)
    assert not any("expected" in note for note in result.notes)
    assert found(RIGHT).gold is None


def test_robust_but_wrong_is_the_first_note_and_changes_no_verdict() -> None:
    wrong = {**RIGHT, "parcel": "billing", "login": "billing"}
    result = found(wrong, expected=RIGHT)
    assert (result.verdict, result.score, round(result.gold.accuracy, 2)) == ("pass", 1.0, 0.33)
    assert result.notes[0] == (
        "robust but wrong: 33.3 % of the answers are as expected, with and without mutations "
        "(input 'parcel': 'billing', expected 'shipping' and 1 more)"
    )
    gold = report_test(result, test="t")["gold"]
    assert gold is not None
    assert (gold["accuracy"], gold["drop"], gold["inputs"]) == (0.3333, 0.0, 3)
    assert [each["case"] for each in gold["wrong"]] == [1, 2]


def test_the_drop_is_of_the_mutations_alone() -> None:
    result = found(RIGHT, 3, 4, expected=RIGHT, threshold=0.7, stop="never")
    assert result.gold.accuracy == 1
    assert result.gold.mutated == pytest.approx(0.75)
    assert result.gold.drop == pytest.approx(0.25)
    assert result.notes[0] == "100 % of the answers are as expected without mutations, 75 % with mutations"


def test_a_few_wrong_inputs_are_said_without_alarm() -> None:
    result = found({**RIGHT, "login": "billing"}, expected=RIGHT, threshold=0.5)
    assert result.verdict == "pass"
    assert result.notes[0].startswith("66.7 % of the answers are as expected, with and without mutations")


def test_prose_around_a_label_and_json_written_otherwise_are_right() -> None:
    prose = {name: f"The answer is {label}." for name, label in RIGHT.items()}
    assert found(prose, expected=RIGHT).gold.accuracy == 1
    answers = {name: f'```json\n{{"kind": "{label}",  "sure": true}}\n```' for name, label in RIGHT.items()}
    gold = {name: {"sure": True, "kind": label} for name, label in RIGHT.items()}
    assert found(answers, expected=gold).gold.accuracy == 1
    assert (
        found(answers, expected={**gold, "login": {"kind": "billing", "sure": True}}).gold.wrong[0].case == 2
    )


def test_a_number_is_right_however_it_is_written_and_a_minor_variation_is_not() -> None:
    answers = {"charged": "The answer is 42.", "parcel": "41", "login": "42"}
    result = found(answers, expected=42)
    assert (round(result.gold.accuracy, 2), [each.case for each in result.gold.wrong]) == (0.67, [1])
    noted = dict.fromkeys(
        RIGHT, 'Here: ```json\n{"kind": "billing"}\n```'
    )  # of which the comparison says "minor"
    minor = found(noted, expected={name: {"kind": "billing"} for name in RIGHT})
    assert minor.gold.accuracy == 0


def test_a_schema_that_answers_keep_is_nothing_to_the_gold_answer() -> None:
    answers = dict.fromkeys(RIGHT, '{"kind": "billing"}')
    schema = {"type": "object", "properties": {"kind": {"enum": ["billing", "other"]}}}
    result = found(answers, expected={name: {"kind": "shipping"} for name in RIGHT}, schema=schema)
    assert (result.verdict, result.gold.accuracy) == ("pass", 0)


def test_one_for_all_a_list_and_inputs_without_one() -> None:
    same = dict.fromkeys(RIGHT, "billing")
    assert found(same, expected="billing").gold.inputs == 3
    listed = found(RIGHT, inputs=list(TICKETS.values()), expected=["billing", None, "shipping"])
    assert (listed.gold.inputs, listed.gold.accuracy) == (2, 0.5)
    assert listed.gold.wrong[0].case == 2
    partly = found(RIGHT, expected={"parcel": "shipping"})
    assert (partly.gold.inputs, partly.gold.accuracy) == (1, 1)


def test_what_no_comparison_can_tell_is_said() -> None:
    def application(prompt: str) -> str:
        del prompt
        return (
            "We looked into the matter at length and came to think that somebody ought to do something soon."
        )

    result = evaluate(
        "Sum up what the support team thinks.",
        application,
        task="generation",
        expected="After long thought, they believe that action by someone is needed before long.",
        session=Session(store=MemoryStore()),
        controls=0,
    )
    assert (result.verdict, result.gold.accuracy) == ("pass", None)
    assert result.gold.untold == 9
    assert "no installed comparison can tell whether the answers are as expected" in result.notes[0]


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ({"parcle": "shipping"}, r"expected= has no input 'parcle'\. Did you mean 'parcel'\?"),
        (["billing"], r"expected= holds 1 gold answer for 3 inputs; give one for each"),
        (object(), r"expected= cannot be compared: .*object"),
    ],
)
def test_gold_answers_that_do_not_fit_are_refused(expected: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        found(RIGHT, expected=expected)
    with pytest.raises(UsageError, match="expected= is a mapping, and inputs= a list"):
        found(RIGHT, inputs=list(TICKETS.values()), expected=RIGHT)


@pytest.mark.parametrize(
    ("expected", "answer", "right"),
    [
        ("B", "Option A is wrong, since it never rains.\nThe answer is (B).", True),
        ("B", "Option A is wrong.\nThe answer is (C), not B.", False),
        ("B", "A is wrong because it never rains.\n\nB", True),
        ("42", "We have 6 and 7, and 6*7=42. Final answer: 42 dollars", True),
        (18, "She sells 9 eggs at $2, which is $18.\n#### $18", True),
        (18, "She sells 9 eggs at $2, which is $18.\n#### $16", False),
        ("1,200", r"So it is \boxed{1200}.", True),
        ("yes", "It rains, and she has no umbrella. Therefore, yes.", True),
        ("Paris", "London is in England.\n**Answer:** Paris", True),
    ],
)
def test_what_reasoning_comes_to_is_the_answer(expected: Any, answer: str, right: bool) -> None:
    result = evaluate(
        "Think step by step, then answer the question: what is it?",
        lambda prompt: answer,
        expected=expected,
        session=Session(store=MemoryStore()),
        controls=0,
        mutations=1,
    )
    assert (result.gold.accuracy, result.gold.mutated) == (right, right)
