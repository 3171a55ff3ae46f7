"""Whether one search is better than another on the same sentences: paired bootstrap, exact McNemar, Holm.

>>> holm([0.01, 0.04, 0.03])
[0.03, 0.06, 0.06]
>>> mcnemar([True] * 6 + [False], [False] * 6 + [True])
0.125
>>> mcnemar([True, False], [True, False])
1.0
"""

from __future__ import annotations

import math
from random import Random
from statistics import mean
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Difference(NamedTuple):
    """Mean of the paired differences, and its interval.

    Attributes:
        mean: First minus second.
        low: Lower end of the interval.
        high: Upper end.
    """

    mean: float
    low: float
    high: float


def bootstrap(
    first: Sequence[float], second: Sequence[float], *, rounds: int = 4000, level: float = 0.95, seed: int = 0
) -> Difference:
    """The mean difference over sentences drawn anew, with an interval of percentiles.

    Args:
        first: A number for each sentence, of several seeds their mean.
        second: The same of the other search, in the same order.
        rounds: How often is drawn.
        level: How much of what was drawn the interval holds.
        seed: Of the drawing.

    >>> bootstrap([1, 1, 1, 1], [0, 0, 0, 0])
    Difference(mean=1, low=1.0, high=1.0)
    >>> low, high = bootstrap([1, 0] * 50, [0, 1] * 50)[1:]
    >>> -0.25 < low < -0.15 < 0.15 < high < 0.25
    True
    """
    differences = [a - b for a, b in zip(first, second, strict=True)]
    # Most sentences end alike: only how many of each difference were drawn matters.
    values = sorted(set(differences))
    counts = [differences.count(each) for each in values]
    rng = Random(seed)
    total = len(differences)
    drawn = sorted(math.fsum(rng.choices(values, counts, k=total)) / total for _ in range(rounds))
    tail = (1 - level) / 2
    return Difference(mean(differences), drawn[int(tail * rounds)], drawn[math.ceil((1 - tail) * rounds) - 1])


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> float:
    """Two-sided p of as uneven a split of the sentences on which only one of two searches succeeds, exact."""
    only = sum(a and not b for a, b in zip(first, second, strict=True))
    other = sum(b and not a for a, b in zip(first, second, strict=True))
    pairs = only + other
    tail = sum(math.comb(pairs, each) for each in range(min(only, other) + 1))
    return min(1.0, 2 * tail / 2**pairs)


def holm(values: Sequence[float]) -> list[float]:
    """P-values adjusted so that the chance of any false one among them keeps to the level (Holm 1979)."""
    order = sorted(range(len(values)), key=lambda each: values[each])
    adjusted = [0.0] * len(values)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(values) - rank) * values[index]))
        adjusted[index] = highest
    return adjusted
