"""How a way of stopping operates: how often it passes what it should not, calls brittle what it should not, and asks.

Computed for a given plan by going through every course that its batches can take, not simulated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from pytest_promptfuzz.scoring.score import Counts
from pytest_promptfuzz.scoring.sequential import AlwaysValid, ProbabilityRatio
from pytest_promptfuzz.scoring.stopping import Stopping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.scoring.stopping import Gate, Stop

_NEGLIGIBLE = 1e-13  # courses less likely than this are left out
_MOST_SHOWN = 256  # trials of a plan whose courses are gone through in well under a second


def stopping(stop: Stop, gate: Gate, *, waits: bool = False) -> Stopping | None:
    """What ``stop=`` means for a plan; ``None`` asks all of it.

    Args:
        stop: The way of stopping.
        gate: What the plan is held against.
        waits: Whether each batch is a round of waiting that nothing else fills.
    """
    allowed = float(gate.allowed)
    if stop == "never":
        return None
    if stop == "sprt":
        return Stopping(gate, ProbabilityRatio(allowed), waits)
    return Stopping(gate, AlwaysValid(allowed) if stop == "sequential" else None, waits)


@dataclass(frozen=True, slots=True)
class Operating:
    """What becomes of prompts of which a given share of mutations breaks.

    Attributes:
        share: Of mutations that deviate, in [0, 1].
        brittle: The probability of the verdict brittle; all others pass.
        asked: How many trials are asked on average.
        batches: In how many batches on average.
    """

    share: float
    brittle: float
    asked: float
    batches: float


def operating(how: Stopping | None, gate: Gate, share: float) -> Operating:
    """What becomes of prompts of which each mutation breaks with a probability of ``share``, the model else steady.

    Args:
        how: The way of stopping; ``None`` asks the whole plan.
        gate: What the plan is held against.
        share: In [0, 1].
    """
    courses: dict[tuple[int, int], list[float]] = {(0, 0): [1.0, 0.0]}  # probability; batches, weighted by it
    waiting = [(0, 0)]
    brittle = asked = batches = 0.0
    while waiting:
        total, deviations = place = heappop(waiting)
        likely, taken = courses.pop(place)
        counts = Counts(equivalent=total - deviations, deviation=deviations)
        found = how.ending(counts) if how is not None else None
        if total == gate.planned:
            found = gate.ending(counts)
        if found is not None:
            asked += likely * total
            batches += taken
            brittle += likely * (found == "brittle")
            continue
        size = how.batch(counts) if how is not None else gate.planned
        for more, probability in _binomial(size, share):
            then = (total + size, deviations + more)
            if then not in courses:
                courses[then] = [0.0, 0.0]
                heappush(waiting, then)
            courses[then][0] += likely * probability
            courses[then][1] += (taken + likely) * probability
    return Operating(share, brittle, asked, batches)


def said_of(how: Stopping, counts: Counts) -> str:
    """In prose, what stopping on this evidence means: its error rates for this plan, beside those of all of it."""
    gate, rule = how.gate, how.rule
    if isinstance(rule, AlwaysValid):
        low, high = rule.interval(counts)
        text = f"the score's interval that holds at every look is [{low:.2f}, {high:.2f}]"
    else:
        text = "the probability ratio suffices"
    text = f"stopped on the evidence after {counts.total} of {gate.planned} trials: {text}"
    if gate.planned > _MOST_SHOWN:
        return text
    allowed = float(gate.allowed)
    broken = ProbabilityRatio(allowed).broken
    passing, failing = operating(how, gate, allowed), operating(how, gate, broken)
    whole = [operating(None, gate, share) for share in (allowed, broken)]
    return (
        f"{text}. Of prompts that lose {allowed:.2f}, {passing.brittle:.0%} are so called brittle "
        f"({whole[0].brittle:.0%} with every trial), of those that lose {broken:.2f}, {1 - failing.brittle:.0%} pass "
        f"({1 - whole[1].brittle:.0%})"
    )


def _binomial(size: int, share: float) -> Iterator[tuple[int, float]]:
    if share in {0.0, 1.0}:
        yield size * int(share), 1.0
        return
    for more in range(size + 1):
        logarithm = math.lgamma(size + 1) - math.lgamma(more + 1) - math.lgamma(size - more + 1)
        probability = math.exp(logarithm + more * math.log(share) + (size - more) * math.log1p(-share))
        if probability > _NEGLIGIBLE:
            yield more, probability
