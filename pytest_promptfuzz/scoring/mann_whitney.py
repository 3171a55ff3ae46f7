"""The Mann-Whitney U test: do two methods' figures differ, whatever their distribution?"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, erfc, isfinite, sqrt
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_EXACT = 40
"""Of so many figures together all orders are counted; of more, U is taken for normal."""
_BITS = 40  # hold comb(MOST_EXACT, MOST_EXACT // 2), the most orders that give one sum of ranks


@dataclass(frozen=True, slots=True)
class RankTest:
    """What the test says of two samples.

    Attributes:
        u: Of the first: in how many pairs its figure is the larger, equal ones counted half.
        larger: The same as a share of all pairs, 0 to 1: how probably a figure of the first is the larger. 0.5 is no
            difference.
        p: Two-sided: how often chance alone would part two samples as far.
        exact: Whether all orders were counted, equal figures included.
    """

    u: float
    larger: float
    p: float
    exact: bool


def mann_whitney(first: Sequence[float], second: Sequence[float]) -> RankTest:
    """Compare two independent samples by ranks.

    Args:
        first: Figures of one method, such as queries of each search.
        second: Those of the other, of other prompts; on the same prompts a paired test tells more.

    Raises:
        UsageError: A sample is empty, or holds what is no finite number.

    Source: Mann and Whitney (1947). Of up to 40 figures p is exact, over all orders of the ranks as they are, ties
    included; beyond that normal, with the correction for ties and for continuity.

    >>> mann_whitney([19, 22, 16, 29, 24], [20, 11, 17, 12])
    RankTest(u=17.0, larger=0.85, p=0.1111111111111111, exact=True)
    """
    for sample in (first, second):
        wrong = [each for each in sample if isinstance(each, bool) or not _finite(each)]
        if wrong or not sample:
            said = f"{wrong[0]!r:.40} is no finite number" if wrong else "a sample is empty"
            raise UsageError(f"mann_whitney: {said}; give two samples of numbers.")
    n, m = len(first), len(second)
    doubled, ties = _ranks([*first, *second])
    total = sum(doubled[:n])
    u = (total - n * (n + 1)) / 2
    exact = n + m <= MOST_EXACT
    p = _exact(doubled, n, total) if exact else _normal(u, n, m, ties)
    return RankTest(u, u / (n * m), p, exact)


def _finite(value: object) -> bool:
    return isinstance(value, int | float) and isfinite(value)


def _ranks(values: list[float]) -> tuple[list[int], list[int]]:
    """Twice the rank of each value, equal ones sharing theirs, and how many share each."""
    order = sorted(range(len(values)), key=values.__getitem__)
    doubled = [0] * len(values)
    ties: list[int] = []
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for place in order[start:end]:
            doubled[place] = start + 1 + end
        ties.append(end - start)
        start = end
    return doubled, ties


def _exact(doubled: list[int], n: int, total: int) -> float:
    """Twice the smaller tail of the sum of ``n`` ranks, over all ways to choose them."""
    # ways[k] is a polynomial in the sum of ranks, its coefficients packed into one integer.
    ways = [1] + [0] * n
    for rank in doubled:
        for k in range(n, 0, -1):
            ways[k] += ways[k - 1] << (_BITS * rank)
    mask = (1 << _BITS) - 1
    counts = [ways[n] >> (_BITS * at) & mask for at in range(sum(doubled) + 1)]
    tail = min(sum(counts[: total + 1]), sum(counts[total:]))
    return min(1.0, 2 * tail / comb(len(doubled), n))


def _normal(u: float, n: int, m: int, ties: list[int]) -> float:
    size = n + m
    variance = n * m / 12 * (size + 1 - sum(each**3 - each for each in ties) / (size * (size - 1)))
    if variance <= 0:
        return 1.0  # all figures are equal
    return min(1.0, erfc(max(0.0, abs(u - n * m / 2) - 0.5) / sqrt(2 * variance)))
