"""The verdict: what may be said of a prompt, given outcomes that are partly unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pytest_promptfuzz.scoring.score import Counts, bounds, robustness

if TYPE_CHECKING:
    from fractions import Fraction

Verdict = Literal["pass", "brittle", "noisy", "inconclusive"]
Reason = Literal[
    "score-reached",
    "score-below-threshold",
    "too-many-deviations",
    "errors-decide",
    "undecided-decide",
    "not-exercised",
    "not-repeatable",
    "mixed-models",
    "baseline-mixed",
    "baseline-error",
    "budget-spent",
    "nothing-scored",
    "insensitive",
    "no-control",
]


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, why in one word, and why in prose."""

    verdict: Verdict
    reason: Reason
    explanation: str


def decide(counts: Counts, threshold: Fraction, *, max_deviations: int | None = None) -> Judgement:
    """The verdict of one test from its outcomes.

    Trials without an outcome bound it: they are counted all as equivalent, then all as deviations. The same
    verdict both ways is given; otherwise it is inconclusive.
    """
    low, high = bounds(counts)
    score = robustness(counts)
    limit = counts.total if max_deviations is None else max_deviations
    gate = _plain(threshold)
    if not counts.total:
        return Judgement("inconclusive", "nothing-scored", "No trial entered the score.")
    if high < threshold:
        return Judgement(
            "brittle", "score-below-threshold", f"{_score(score)} is below the threshold {gate}."
        )
    if counts.deviation > limit:
        return Judgement(
            "brittle",
            "too-many-deviations",
            f"{_count(counts.deviation, 'deviation')}, and at most {limit} may occur.",
        )
    if low >= threshold and counts.deviation + counts.unknown <= limit:
        return Judgement("pass", "score-reached", _passed(counts, score, gate))
    what = [
        _count(counts.error, "error") if counts.error else "",
        f"{counts.undecided} undecided" if counts.undecided else "",
    ]
    explanation = (
        f"{' and '.join(each for each in what if each)} of {_count(counts.total, 'trial')}: "
        f"the score lies between {_plain(low)} and {_plain(high)}, and the threshold is {gate}."
    )
    return Judgement("inconclusive", "errors-decide" if counts.error else "undecided-decide", explanation)


def _passed(counts: Counts, score: Fraction | None, gate: str) -> str:
    text = f"{_score(score)} reaches the threshold {gate}"
    if counts.deviation:
        text = f"Passed with {_count(counts.deviation, 'deviation')}: {text[0].lower()}{text[1:]}"
    if counts.unknown:
        text += f", also if the {counts.unknown} without an outcome had deviated"
    return text + "."


def _score(score: Fraction | None) -> str:
    return "No trial was decided" if score is None else f"The score {_plain(score)}"


def _plain(number: Fraction) -> str:
    """Two digits, or as many as it takes not to look equal to something it is not."""
    text = f"{float(number):.2f}"
    return text if float(number) == float(text) else f"{float(number):.3f}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
