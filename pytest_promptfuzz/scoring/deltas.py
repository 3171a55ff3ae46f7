"""ΔContent, ΔQuality and Overall: how often content changes, and how often the quality changes with it.

Source: S2 of docs/operators.md, the enterprise benchmark.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

SAME = 3
"""The rating of answers that say the same; 2 and 1 are content that changed."""


def content_delta(ratings: Sequence[int]) -> Fraction | None:
    """The share of pairs whose content changed: those rated below 3; ``None`` without pairs.

    >>> content_delta([3] * 50 + [2] * 30 + [1] * 20)
    Fraction(1, 2)
    """
    return Fraction(sum(each < SAME for each in ratings), len(ratings)) if ratings else None


def quality_delta(changed: Iterable[bool]) -> Fraction:
    """Of the pairs whose content changed, the share in which any measure of quality changed, either way.

    Defined as 1 where no content changed: there is nothing in which quality could have stayed.

    >>> quality_delta([True] * 15 + [False] * 35), quality_delta([])
    (Fraction(3, 10), Fraction(1, 1))
    """
    each = list(changed)
    return Fraction(sum(each), len(each)) if each else Fraction(1)


def overall(content: Fraction, quality: Fraction) -> Fraction:
    """``1 - ΔContent · ΔQuality``, in [0, 1].

    >>> float(overall(Fraction(1, 2), Fraction(3, 10)))
    0.85
    """
    return 1 - content * quality


@dataclass(frozen=True, slots=True)
class Graded:
    """One pair of answers: how its content was rated, and which measures of quality changed.

    Attributes:
        rating: 3, 2 or 1.
        changed: By measure, whether the two answers were graded differently; empty where content is the same.
    """

    rating: int
    changed: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Deltas:
    """The aggregates over pairs of answers.

    Attributes:
        pairs: How many there are.
        shifted: Those whose content changed.
        changed: Those of them whose quality changed as well.
        content: ΔContent, 0..1.
        quality: ΔQuality, 0..1; 1 where no content changed.
        overall: 1 - ΔContent · ΔQuality, 0..1.
        by_measure: In how many pairs each measure changed.
    """

    pairs: int
    shifted: int
    changed: int
    content: Fraction
    quality: Fraction
    overall: Fraction
    by_measure: Mapping[str, int]

    @classmethod
    def of(cls, pairs: Iterable[Graded]) -> Deltas | None:
        """Over pairs of answers; ``None`` without any."""
        graded = list(pairs)
        content = content_delta([each.rating for each in graded])
        if content is None:
            return None
        shifted = [each for each in graded if each.rating < SAME]
        changed = [any(each.changed.values()) for each in shifted]
        quality = quality_delta(changed)
        measures = dict.fromkeys(name for each in shifted for name in each.changed)
        return cls(
            pairs=len(graded),
            shifted=len(shifted),
            changed=sum(changed),
            content=content,
            quality=quality,
            overall=overall(content, quality),
            by_measure={name: sum(each.changed.get(name, False) for each in shifted) for name in measures},
        )
