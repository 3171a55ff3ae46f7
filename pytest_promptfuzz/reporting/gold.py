"""Gold answers in reports: how often answers are as expected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from pytest_promptfuzz.reporting.words import number

if TYPE_CHECKING:
    from pytest_promptfuzz.reporting.model import TestSummary
    from pytest_promptfuzz.scoring.gold import Gold


class WrongReport(TypedDict):
    """The unmutated prompt's first wrong answer of an input, and the gold one."""

    case: int
    expected: Any
    answered: Any


class GoldReport(TypedDict):
    """How often answers are as expected: ``accuracy`` of the unmutated prompt, ``mutated`` under mutation, 0 to 1.

    ``inputs`` have a gold answer; of ``untold`` answers no installed comparison could tell.
    """

    accuracy: float | None
    mutated: float | None
    drop: float | None
    inputs: int
    untold: int
    wrong: list[WrongReport]


def gold_report(found: Gold | None) -> GoldReport | None:
    """As plain data; nothing where no gold answer was given."""
    if found is None:
        return None

    def rounded(share: float | None) -> float | None:
        return None if share is None else round(share, 4)

    return GoldReport(
        accuracy=rounded(found.accuracy),
        mutated=rounded(found.mutated),
        drop=rounded(found.drop),
        inputs=found.inputs,
        untold=found.untold,
        wrong=[
            WrongReport(case=each.case, expected=each.expected, answered=each.answered)
            for each in found.wrong
        ],
    )


def gold_text(report: TestSummary) -> str:
    """For a table: ``1.00/0.88``, of the unmutated prompt and under mutation; nothing without gold answers."""
    gold = report.get("gold")
    return f"{number(gold['accuracy']) or '?'}/{number(gold['mutated']) or '?'}" if gold else ""


def gold_line(report: TestSummary) -> str:
    """A sentence for a test that does not pass; nothing without gold answers."""
    gold = report.get("gold")
    if not gold:
        return ""
    if gold["accuracy"] is None:
        return "No installed comparison can tell whether the answers are as expected."
    mutated = "" if gold["mutated"] is None else f", under mutation {number(gold['mutated'])}"
    text = f"Of the answers to the unmutated prompt {number(gold['accuracy'])} are as expected{mutated}"
    if gold["accuracy"] >= report["threshold"]:
        return f"{text}."
    if gold["accuracy"] == 0:
        return f"{text}: it is wrong without any change."
    return f"{text}: wrong more often than the threshold {number(report['threshold'])} allows, without any change."
