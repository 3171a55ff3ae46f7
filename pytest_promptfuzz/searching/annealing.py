"""The equations of beam-annealing search (BASFuzz, S3 of docs/operators.md), each a function.

Losses are in [0, 1], higher is nearer to the goal. Where the paper's text and its equation differ, both are here.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.mutations.rng import Rng

_GRAIN = 1 << 32


def softmax(values: Sequence[float]) -> list[float]:
    """Shares of 1 that grow exponentially with the values."""
    top = max(values, default=0.0)
    weights = [math.exp(each - top) for each in values]
    total = math.fsum(weights)
    return [each / total for each in weights]


def importance(deltas: Sequence[float]) -> list[float]:
    """Eq. 9: how much each word matters, softmax(ΔL)·ΔL, where ΔL is the loss gained by masking it."""
    return [weight * delta for weight, delta in zip(softmax(deltas), deltas, strict=True)]


def acceptance(delta: float, temperature: float) -> float:
    """Eq. 12: the probability to take a candidate whose loss is ``delta`` higher; exp(ΔL/T) where it is no higher."""
    return 1.0 if delta > 0 else math.exp(delta / temperature)


def cooled(initial: float, cooling: float, step: int) -> float:
    """Eq. 13: the temperature at a step, T0 / (1 + γ ln(1 + t))."""
    return initial / (1.0 + cooling * math.log1p(step))


def shares(losses: Sequence[float]) -> list[float]:
    """Eq. 14: losses as shares of their sum; all alike where the sum is 0, for which the equation says 0/0."""
    total = math.fsum(losses)
    if total <= 0:
        return [1.0 / len(losses)] * len(losses) if losses else []
    return [each / total for each in losses]


def entropy(portions: Sequence[float], epsilon: float = 1e-10) -> float:
    """Eq. 15: Shannon's entropy of shares, in nats; ``epsilon`` keeps the logarithm of 0 away."""
    return -math.fsum(each * math.log(each + epsilon) for each in portions)


def widened(width: float, spread: float, *, least: int, most: int, step: float) -> float:
    """Eq. 16 as printed: max(bmin, min(bmax, b·(1 + H/bmax), b + σ)); it never narrows a beam."""
    return max(least, min(most, width * (1 + max(spread, 0.0) / most), width + step))


def adapted(width: float, spread: float, count: int, *, least: int, most: int, step: float) -> float:
    """As the text around Eq. 16 has it: the width goes with the entropy, up or down by at most ``step`` at once.

    Args:
        width: Before.
        spread: The entropy, in nats.
        count: Of how many losses; ln(count) is the most it can be.
        least: bmin.
        most: bmax.
        step: σ.
    """
    full = math.log(count) if count > 1 else 1.0
    wanted = least + (most - least) * min(1.0, max(spread, 0.0) / full)
    return max(least, min(most, width + step, max(width - step, wanted)))


def retention(best: float, losses: Sequence[float]) -> float:
    """Eq. 17: the soft retention probability of the best, exp(L*) / Σ exp(L), at most 1."""
    total = math.fsum(math.exp(each) for each in losses)
    return min(1.0, math.exp(best) / total) if total else 1.0


def elitism(base: float, kept: float) -> float:
    """Eq. 18: with what probability the best goes on, p0 + (1 - p0)·p*."""
    return base + (1.0 - base) * kept


def happens(probability: float, rng: Rng) -> bool:
    """Whether something of this probability happens."""
    return rng.below(_GRAIN) < probability * _GRAIN


def drawn(losses: Sequence[float], count: int, rng: Rng) -> list[int]:
    """Indices of ``count`` of the losses, drawn without replacement with weights exp(L), in the order drawn."""
    left = list(range(len(losses)))
    chosen: list[int] = []
    while left and len(chosen) < count:
        bounds = list(accumulate(math.exp(losses[each]) for each in left))
        point = rng.below(_GRAIN) / _GRAIN * bounds[-1]
        chosen.append(left.pop(min(bisect_right(bounds, point), len(left) - 1)))
    return chosen
