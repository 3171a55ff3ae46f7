"""Gates: what a score must show for a test to pass.

``point`` holds the score itself against the threshold (``scoring.verdict``). ``confident`` holds what the score exceeds
at 95 %, one-sided: a test passes only if its mutations prove as much.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from pytest_promptfuzz.scoring.repeats import ALONE
from pytest_promptfuzz.scoring.verdict import Judgement, decide, plain

if TYPE_CHECKING:
    from fractions import Fraction

    from pytest_promptfuzz.scoring.repeats import Evidence
    from pytest_promptfuzz.scoring.sampled import Sampled
    from pytest_promptfuzz.scoring.score import Counts

GateName = Literal["point", "confident"]
GATES: tuple[GateName, ...] = ("point", "confident")


def decide_at(
    gate: GateName,
    counts: Counts,
    threshold: Fraction,
    *,
    max_deviations: int | None = None,
    evidence: Evidence = ALONE,
    sampled: Sampled | None = None,
) -> Judgement:
    """The verdict of one test at a gate.

    Args:
        gate: Which.
        counts: As for :func:`~pytest_promptfuzz.scoring.verdict.decide`.
        threshold: What the score, or its lower bound, must reach.
        max_deviations: More deviations are brittle whatever the score.
        evidence: What repeated answers show.
        sampled: What the score was made of; ``None`` while only failing is looked for.
    """
    found = decide(counts, threshold, max_deviations=max_deviations, evidence=evidence)
    if gate == "confident" and found.verdict == "pass" and sampled is not None:
        return _confident(found, counts, threshold, sampled)
    return found


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
            f"{passed.explanation} The gate 'confident' would be passed but for the {counts.unknown} without an "
            f"outcome: if they had deviated, {_lower(_exceeds(least, gate, reaches=False))}.",
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
    return f"What it exceeds at 95 %, {int(least * 100) / 100:.2f}, {verb} {gate}"


def _mend(sampled: Sampled, threshold: float) -> str:
    needed = sampled.needed(threshold)
    if needed is not None and needed > len(sampled.credits):
        return f"If they go on as these did, it takes about {needed} mutations."
    if sampled.floor is not None and sampled.floor < 1:
        return "Ask the unmutated prompt more often (baseline_runs=), or have the model vary less."
    return "A score this close to the threshold is not told from it by more mutations: mend the prompt."


def _lower(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]
