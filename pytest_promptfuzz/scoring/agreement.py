"""How far ratings of the same things agree: the share that is equal, and weighted kappa."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two ratings of one thing agree, over many things.

    Attributes:
        equal: Pairs of ratings that are equal.
        pairs: All pairs of ratings.
        kappa: Weighted kappa, -1 to 1; ``None`` where chance alone would make them agree, as of ratings that are all
            the same.
    """

    equal: int
    pairs: int
    kappa: float | None

    @property
    def share(self) -> float | None:
        """The share of pairs that are equal, 0..1; ``None`` without pairs."""
        return self.equal / self.pairs if self.pairs else None

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, int]], categories: Sequence[int] = (1, 2, 3)) -> Agreement:
        """Over pairs of ratings, each of a thing by two raters, in two orders or at two times."""
        both = list(pairs)
        return cls(sum(one == two for one, two in both), len(both), weighted_kappa(both, categories))


def weighted_kappa(pairs: Sequence[tuple[int, int]], categories: Sequence[int] = (1, 2, 3)) -> float | None:
    """Cohen's kappa with quadratic weights: ``1 - Σ w·observed / Σ w·expected``, ``w = (i - j)² / (k - 1)²``.

    Args:
        pairs: What the first and the second rater said of each thing.
        categories: All ratings there are, in order; their ranks are weighted, not their values.

    Returns:
        1.0 for full agreement, 0.0 for what chance would make, below for less; ``None`` where the expected
        disagreement is 0: no pairs, or each rater always said the same one thing.

    Raises:
        ValueError: A rating is none of the categories.

    Source: Cohen, Weighted kappa, Psychological Bulletin 70 (1968).

    >>> weighted_kappa([(1, 1), (2, 2), (3, 3), (3, 2)])
    0.8
    """
    rank = {category: place for place, category in enumerate(categories)}
    if any(rating not in rank for pair in pairs for rating in pair):
        raise ValueError(f"ratings must be among {list(categories)}")
    firsts = [rank[one] for one, _ in pairs]
    seconds = [rank[two] for _, two in pairs]
    # The weights' common divisor and the number of pairs cancel out: all is whole numbers up to the last division.
    observed = len(pairs) * sum((one - two) ** 2 for one, two in zip(firsts, seconds, strict=True))
    expected = sum(
        (one - two) ** 2 * firsts.count(one) * seconds.count(two)
        for one in set(firsts)
        for two in set(seconds)
    )
    return 1 - observed / expected if expected else None
