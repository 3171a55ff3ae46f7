"""Whether a verdict on part of a plan is the verdict on all of it, with what is known of the model's noise."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from pytest_promptfuzz.scoring.verdict import decide

if TYPE_CHECKING:
    from pytest_promptfuzz.scoring.repeats import Evidence
    from pytest_promptfuzz.scoring.score import Counts
    from pytest_promptfuzz.scoring.stopping import Stopping


def settled(how: Stopping, counts: Counts, evidence: Evidence) -> bool:
    """Whether the rest of the plan need not be asked.

    It need not where the verdict stays the same were the rest as good, or as bad, as it can be: also when what was seen
    is adjusted for noise. Where a rule said that the evidence suffices, it need not if the verdict is the rule's.

    Args:
        how: When to stop.
        counts: Of the trials asked.
        evidence: What repeated answers show.
    """
    gate = how.gate
    left = gate.planned - counts.total
    if not left:
        return True
    found = how.ending(counts)
    if found is not None and gate.ending(counts) is None:
        verdict = decide(
            counts, gate.threshold, max_deviations=gate.max_deviations, evidence=evidence
        ).verdict
        return verdict == found
    best = replace(counts, equivalent=counts.equivalent + left)
    worst = replace(counts, deviation=counts.deviation + left)
    verdicts = {
        decide(
            rest,
            gate.threshold,
            max_deviations=gate.max_deviations,
            evidence=_with_rest(
                evidence, Fraction(counts.total, gate.planned), bad=left if rest is worst else 0
            ),
        ).verdict
        for rest in (best, worst)
    }
    return len(verdicts) == 1 and (gate.by_score or "pass" not in verdicts)


def _with_rest(evidence: Evidence, part: Fraction, *, bad: int) -> Evidence:
    """The evidence were the rest of the plan asked, and kept all or lost all.

    Args:
        evidence: Of the part that was asked.
        part: How much of the plan that is.
        bad: How many of the rest deviate: all or none.
    """
    kept = 0 if bad else 1 - part

    def whole(score: Fraction | None) -> Fraction | None:
        return None if score is None else part * score + kept

    return replace(
        evidence,
        adjusted=whole(evidence.adjusted),
        confirmed=whole(evidence.confirmed),
        lasting=evidence.lasting + bad,
    )
