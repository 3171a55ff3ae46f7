"""How large a sum of some of many numbers is by chance: the distribution of sampling without replacement."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    Tail = Callable[[int], float]

_MOST = 2_000_000  # steps that an exact distribution may take


def tails_of(values: Sequence[int], sizes: Collection[int]) -> dict[int, Tail]:
    """For each size, the probability that so many of the values, drawn at random, sum up to as much or more.

    Exact where values are 0 or one other (the hypergeometric distribution, Fisher's exact test), or few; the normal
    approximation otherwise.

    Args:
        values: Whole numbers of 0 or more.
        sizes: How many are drawn, each from 1 to one less than there are values.
    """
    if len(set(values) - {0}) <= 1:
        return {size: _looked_up(_two_valued(values, size)) for size in sizes}
    # What is left after drawing some is as well drawn as they are: the smaller part suffices.
    halves = {min(size, len(values) - size) for size in sizes}
    if len(values) * max(halves, default=0) * sum(values) > _MOST:
        return {size: _normal(values, size) for size in sizes}
    ways = _ways(values, halves)
    total = sum(values)
    return {
        size: _looked_up(
            ways[size] if size in ways else {total - each: n for each, n in ways[len(values) - size].items()}
        )
        for size in sizes
    }


def _two_valued(values: Sequence[int], size: int) -> dict[int, int]:
    unit, count = max(values, default=0), sum(map(bool, values))
    rest = len(values) - count
    low, high = max(0, size - rest), min(size, count)
    return {
        unit * each: math.comb(count, each) * math.comb(rest, size - each) for each in range(low, high + 1)
    }


def _ways(values: Sequence[int], sizes: Collection[int]) -> dict[int, dict[int, int]]:
    """For each size, in how many ways each sum comes about."""
    most = max(sizes)
    ways: list[dict[int, int]] = [defaultdict(int) for _ in range(most + 1)]
    ways[0][0] = 1
    for value in values:
        for size in range(most, 0, -1):
            for reached, number in ways[size - 1].items():
                ways[size][reached + value] += number
    return {size: ways[size] for size in sizes}


def _looked_up(ways: Mapping[int, int]) -> Tail:
    total, above = sum(ways.values()), 0
    tail: dict[int, float] = {}
    for reached in sorted(ways, reverse=True):
        above += ways[reached]
        tail[reached] = above / total
    return tail.__getitem__


def _normal(values: Sequence[int], size: int) -> Tail:
    count = len(values)
    mean = sum(values) / count
    square = sum((each - mean) ** 2 for each in values) / count
    deviation = math.sqrt(square * size * (count - size) / (count - 1))
    # Half a unit: a sum is a step, not a point.
    return lambda reached: math.erfc((reached - 0.5 - size * mean) / deviation / math.sqrt(2)) / 2
