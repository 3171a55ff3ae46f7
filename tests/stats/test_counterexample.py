"""A counterexample can be written down and read again; what is no counterexample is named."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_promptfuzz import Counterexample, Prompt, UsageError, mutate
from pytest_promptfuzz.reporting.model import counterexample_report

PROMPT = "Rate the urgency of the ticket as high, medium or low. Answer with one word."


def counterexample(**given: Any) -> Counterexample:
    made: dict[str, Any] = {
        "mutation": mutate(PROMPT, 1, operators=["upper-case"])[0],
        "trial": "0123456789ab",
        "case": 2,
        "baseline": "high",
        "answer": {"text": "low", "tool_calls": []},
        "failure": "the label changed: high, low",
        "minimal": True,
        "calls": 17,
        "repeats": (3, 4),
    }
    return Counterexample(**(made | given))


def test_what_is_written_is_read_again() -> None:
    first = counterexample()
    again = Counterexample.from_json(json.loads(json.dumps(first.to_json())))
    assert again == first
    assert again.id == first.mutation.id


def test_the_prompt_can_be_given_and_must_be_the_same() -> None:
    stored = counterexample().to_json()
    assert Counterexample.from_json(stored, source=Prompt(PROMPT)).mutation.source == Prompt(PROMPT)
    with pytest.raises(UsageError, match="another prompt"):
        Counterexample.from_json(stored, source=Prompt(f"{PROMPT} Please."))


def test_a_report_holds_what_is_stored_and_the_change() -> None:
    found = counterexample()
    report = json.loads(json.dumps(counterexample_report(found)))
    assert Counterexample.from_json(report) == found
    assert report["id"] == found.id
    assert "".join(text for kind, text in report["diff"] if kind != "-") == report["prompt"]
    assert "".join(text for kind, text in report["diff"] if kind != "+") == PROMPT


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"mutation": "x"}, "mutation is a mapping"),
        ({"trial": 7}, "trial is a str, not 7"),
        ({"failure": None}, "failure is a str"),
        ({"minimal": 1}, "minimal is a bool, not 1"),
        ({"case": -1}, "case is a whole number"),
        ({"case": True}, "case is a whole number"),
        ({"calls": 1.5}, "calls is a whole number"),
        ({"repeats": [1]}, r"repeats are \[failed, asked\]"),
        ({"repeats": "12"}, r"repeats are \[failed, asked\]"),
        ({"repeats": [1, "2"]}, "repeats is a whole number"),
        ({"repeats": [3, 2]}, "failed 3 of 2 times"),
    ],
)
def test_what_is_damaged_is_named(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Counterexample.from_json(counterexample().to_json() | given)


def test_what_is_no_mapping_or_lacks_a_field_is_named() -> None:
    with pytest.raises(UsageError, match="is a mapping, not list"):
        Counterexample.from_json([])  # type: ignore[arg-type]
    stored = counterexample().to_json()
    del stored["answer"], stored["calls"]
    with pytest.raises(UsageError, match="lacks answer, calls"):
        Counterexample.from_json(stored)
