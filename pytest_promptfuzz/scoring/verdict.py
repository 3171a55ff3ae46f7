"""The verdict: what may be said of a prompt, given outcomes that are partly unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pytest_promptfuzz.scoring.repeats import ALONE, ENOUGH, Evidence
from pytest_promptfuzz.scoring.score import Counts, bounds, robustness

if TYPE_CHECKING:
    from fractions import Fraction

Verdict = Literal["pass", "brittle", "noisy", "inconclusive"]
Reason = Literal[
    "score-reached",
    "adjusted-reached",
    "not-repeated",
    "score-below-threshold",
    "too-many-deviations",
    "noise-floor",
    "not-significant",
    "not-confident",
    "no-worse",
    "worse-than-before",
    "pinned",
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
    "counterexample-found",
    "none-found",
    "interrupted",
]


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, why in one word, and why in prose."""

    verdict: Verdict
    reason: Reason
    explanation: str


def decide(
    counts: Counts,
    threshold: Fraction,
    *,
    max_deviations: int | None = None,
    evidence: Evidence = ALONE,
) -> Judgement:
    """The verdict of one test from its outcomes, and from what is known of the model's noise.

    Trials without an outcome, not asked ones included, bound it: they are counted all as equivalent, then all as
    deviations. The same verdict both ways is given; otherwise it is inconclusive.

    Where the noise floor is known, the adjusted score is held against the threshold. A test that was asked again is
    brittle only if the difference is significant. Without such evidence, "brittle" says no more than that the
    outcomes are too few.

    Args:
        counts: Outcomes of the trials that are scored.
        threshold: What the score must reach.
        max_deviations: More deviations are brittle whatever the score.
        evidence: What repeated answers show.
    """
    low, high = bounds(counts)
    score = robustness(counts)
    limit = counts.total + counts.not_needed if max_deviations is None else max_deviations
    gate = plain(threshold)
    if not counts.total:
        return Judgement("inconclusive", "nothing-scored", "No trial entered the score.")
    few = counts.deviation <= limit
    if high < threshold or not few:
        return _below(counts, threshold, evidence, few=few, limit=limit)
    if low >= threshold and counts.deviation + counts.unknown + counts.not_needed <= limit:
        if evidence.adjusted is not None and evidence.adjusted < threshold and not counts.unknown:
            return _below(counts, threshold, evidence, few=few, limit=limit)
        return Judgement("pass", "score-reached", _passed(counts, score, gate))
    between = f"the score lies between {plain(low)} and {plain(high)}"
    explanation = f"{_open(counts)}: {between}, and the threshold is {gate}."
    return Judgement("inconclusive", "errors-decide" if counts.error else "undecided-decide", explanation)


def _below(counts: Counts, threshold: Fraction, evidence: Evidence, *, few: bool, limit: int) -> Judgement:
    """The verdict where the raw outcomes are too bad: are they more than noise?"""
    gate, adjusted, low = plain(threshold), evidence.adjusted, bounds(counts)[0]
    reason: Reason = "score-below-threshold" if few else "too-many-deviations"
    said = f"{_score(robustness(counts))} is below the threshold {gate}"
    if low >= threshold and adjusted is not None:
        said = (
            f"The score adjusted for noise, {plain(adjusted)}, is below the threshold {gate}. The plain score reaches "
            "it, but the first answer to the unmutated prompt, which it is of, may be an odd one"
        )
    if not few:
        said = f"{_count(counts.deviation, 'deviation')}; this test allows {limit}"
    floor, asked = _floor(evidence), _asked(evidence)
    lasting = counts.deviation if evidence.p is None else evidence.lasting
    if evidence.p is None:
        return Judgement("brittle", reason, f"{said}.")  # for all that is known; it is asked again
    enough = adjusted is not None and adjusted >= threshold and lasting <= limit
    if evidence.significant and not enough and (few or lasting > limit):
        besides = ""
        if few and adjusted is not None and low < threshold:
            besides = f"; adjusted for noise it is {plain(adjusted)}"
        return Judgement("brittle", reason, f"{said}{besides}. {asked} The difference is more than noise.")
    if evidence.highest is not None and evidence.highest < threshold:
        return Judgement(
            "noisy",
            "noise-floor",
            f"{said}, but {floor}: the model varies too widely to tell.",
        )
    if enough and adjusted is not None and evidence.answers >= ENOUGH:
        return Judgement(
            "pass",
            "adjusted-reached",
            f"Adjusted for noise, the score {plain(adjusted)} reaches the threshold {gate}: {_lower(said)}, and "
            f"{floor}.",
        )
    confirmed = evidence.confirmed
    back = evidence.later is not None and evidence.later < threshold
    if confirmed is not None and confirmed >= threshold and lasting <= limit and not back:
        return Judgement(
            "pass",
            "not-repeated",
            f"{said}, but what differed hardly came again. {asked} Counting the later answers, the score is "
            f"{plain(confirmed)}.",
        )
    return Judgement(
        "inconclusive",
        "not-significant",
        f"{said}, but that may be noise: {floor}. {asked}{_too_few(evidence)}",
    )


def _passed(counts: Counts, score: Fraction | None, gate: str) -> str:
    text = f"{_score(score)} reaches the threshold {gate}"
    if counts.deviation:
        text = f"Passed with {_count(counts.deviation, 'deviation')}: {text[0].lower()}{text[1:]}"
    if counts.unknown:
        text += f", even if the {_count(counts.unknown, 'trial')} without an outcome had deviated"
    return text + "."


def _open(counts: Counts) -> str:
    """How many trials have no outcome, as a clause."""
    of = f"of {_count(counts.total, 'trial')}"
    errors = f"{counts.error} {of} ended in an error" if counts.error else ""
    undecided = f"{counts.undecided}{'' if errors else f' {of}'} {_is(counts.undecided)} undecided"
    return " and ".join(each for each in (errors, undecided if counts.undecided else "") if each)


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def _score(score: Fraction | None) -> str:
    return "No trial was decided" if score is None else f"The score {plain(score)}"


def plain(number: Fraction) -> str:
    """Two digits, or as many as it takes not to look equal to something it is not."""
    text = f"{float(number):.2f}"
    return text if float(number) == float(text) else f"{float(number):.3f}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _floor(evidence: Evidence) -> str:
    if evidence.floor is None:
        return "how far the unmutated prompt agrees with itself is not known"
    return f"the unmutated prompt agrees with itself {plain(evidence.floor)} ({evidence.baselines} answers)"


def _asked(evidence: Evidence) -> str:
    more = f" and {evidence.repeats} more to the mutations that differed" if evidence.repeats else ""
    answers = _count(evidence.baselines, "answer")
    return f"The plugin asked again and has {answers} to the unmutated prompt{more}."


def _too_few(evidence: Evidence) -> str:
    """That no answers of this number could be significant, where that is so; p itself stands in the report."""
    if evidence.least is None or evidence.least <= evidence.alpha:
        return ""
    return " So few answers cannot show that a difference is more than noise."


def _lower(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]
