"""How many mutations each part of a plan gets."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache


@lru_cache(maxsize=256)
def largest_remainder(total: int, weights: tuple[float, ...]) -> tuple[int, ...]:
    """``total`` shared out in proportion to ``weights`` (Hamilton's method); earlier parts win ties.

    Args:
        total: How many there are, 0 or more.
        weights: Not negative, at least one above zero.

    >>> largest_remainder(8, (40, 30, 30))
    (3, 3, 2)
    """
    exact = [Fraction(weight) for weight in weights]
    whole = sum(exact)
    quotas = [total * weight / whole for weight in exact]
    shares = [math.floor(quota) for quota in quotas]
    by_remainder = sorted(range(len(weights)), key=lambda i: (shares[i] - quotas[i], i))
    for index in by_remainder[: total - sum(shares)]:
        shares[index] += 1
    return tuple(shares)
