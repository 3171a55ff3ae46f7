"""Gates: what a score must show for a test to pass.

``point`` holds the score itself against the threshold (``scoring.verdict``). ``confident`` holds what the score exceeds
at 95 %, one-sided: a test passes only if its mutations prove as much. ``no-worse`` is ``point``, and besides holds the
trials against those of a run before: a test that became worse fails, whatever its score.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from pytest_promptfuzz.scoring.repeats import ALONE
from pytest_promptfuzz.scoring.verdict import Judgement, decide, plain

if TYPE_CHECKING:
    from pytest_promptfuzz.scoring.paired import Paired
    from pytest_promptfuzz.scoring.repeats import Evidence
    from pytest_promptfuzz.scoring.sampled import Sampled
    from pytest_promptfuzz.scoring.score import Counts

GateName = Literal["point", "confident", "no-worse"]
GATES: tuple[GateName, ...] = ("point", "confident", "no-worse")


def decide_at(
    gate: GateName,
    counts: Counts,
    threshold: Fraction,
    *,
    max_deviations: int | None = None,
    evidence: Evidence = ALONE,
    sampled: Sampled | None = None,
    paired: Paired | None = None,
) -> Judgement:
    """The verdict of one test at a gate.

    Args:
        gate: Which.
        counts: As for :func:`~pytest_promptfuzz.scoring.verdict.decide`.
        threshold: What the score, or its lower bound, must reach.
        max_deviations: More deviations are brittle whatever the score.
        evidence: What repeated answers show.
        sampled: What the score was made of; ``None`` while only failing is looked for.
        paired: The trials beside those of a run before; ``None`` where there is none.
    """
    found = decide(counts, threshold, max_deviations=max_deviations, evidence=evidence)
    if gate == "confident" and found.verdict == "pass" and sampled is not None:
        return _confident(found, counts, threshold, sampled)
    if gate == "no-worse" and paired is not None and tells(paired):
        if paired.before < threshold:  # what was accepted then is not asked for now
            found = decide(counts, Fraction(0), max_deviations=max_deviations, evidence=evidence)
            then = f"The stored run's score {plain(paired.before)} was below the threshold {plain(threshold)} as well."
            if found.verdict == "pass":
                found = Judgement("pass", "no-worse", then)
        return _no_worse(found, counts, evidence, paired) if found.verdict == "pass" else found
    return found


def tells(paired: Paired) -> bool:
    """Whether so many pairs could show that a run is worse."""
    return paired.least <= paired.alpha


def _no_worse(passed: Judgement, counts: Counts, evidence: Evidence, paired: Paired) -> Judgement:
    """A pass, unless the trials came out worse than before: by more than chance, and today by more than noise."""
    said = _compared(paired)
    if not paired.is_worse:
        if paired.may_be_worse:
            return Judgement(
                "inconclusive",
                "errors-decide" if counts.error else "undecided-decide",
                f"{said}. {_trials(paired.unknown)} without an outcome could change that.",
            )
        return replace(passed, explanation=f"{passed.explanation} {said}; that is no more than chance.")
    lasting = paired if evidence.confirmed is None else paired.lasting(evidence.confirmed)
    if evidence.p is None or (evidence.significant and lasting.is_worse):
        noise = "" if evidence.p is None else " and more than the model's own noise"
        return Judgement("brittle", "worse-than-before", f"{said}; that is more than chance{noise}.")
    noise = f"{said}. Asked again, no more of them than chance explains came out worse."
    if not evidence.significant:
        noise = f"{said}. But today the mutations do no more than the model's own noise."
    return replace(passed, explanation=f"{passed.explanation} {noise}")


def _compared(paired: Paired) -> str:
    return (
        f"Of {_trials(paired.pairs)} that the stored run has as well, {paired.worse} came out worse and "
        f"{paired.better} better"
    )


def _trials(number: int) -> str:
    return "1 trial" if number == 1 else f"{number} trials"


def _confident(passed: Judgement, counts: Counts, threshold: Fraction, sampled: Sampled) -> Judgement:
    """A pass, if it is sure enough; trials without an outcome count as deviations, then not at all."""
    gate, limit = plain(threshold), float(threshold)
    least = sampled.least()
    if least >= limit:
        return replace(passed, explanation=f"{passed.explanation} {_exceeds(least, gate)} as well.")
    if counts.unknown and sampled.least(at_worst=False) >= limit:
        return Judgement(
            "inconclusive",
            "errors-decide" if counts.error else "undecided-decide",
            f"{passed.explanation} The gate is 'confident', and {_trials(counts.unknown)} without an outcome decide: "
            f"if they had deviated, {_lower(_exceeds(least, gate, reaches=False))}.",
        )
    return Judgement(
        "inconclusive",
        "not-confident",
        f"{passed.explanation} But {_lower(_exceeds(least, gate, reaches=False))}, and the gate is 'confident'. "
        f"{_mend(sampled, limit)}",
    )


def _exceeds(least: float, gate: str, *, reaches: bool = True) -> str:
    verb = "reaches" if reaches else "does not reach"
    # Rounded down: 0.849 must not read as 0.85.
    return f"The score's lower bound at 95 %, {int(least * 100) / 100:.2f}, {verb} {gate}"


def _mend(sampled: Sampled, threshold: float) -> str:
    needed = sampled.needed(threshold)
    if needed is not None:
        return f"About {needed} mutations are enough if the others do as these did."
    if sampled.floor is not None and sampled.floor < 1:
        return "Ask the unmutated prompt more often (baseline_runs=), or have the model vary less."
    return "The score is so close to the threshold that more mutations do not help: mend the prompt."


def _lower(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]
