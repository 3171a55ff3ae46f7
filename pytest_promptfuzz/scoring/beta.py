"""The incomplete beta function and the quantiles that follow from it, in plain Python.

Method: Lentz's evaluation of the continued fraction (Abramowitz and Stegun 26.5.8; Press et al., *Numerical
Recipes*, 6.4), and safeguarded Newton steps for the inverse. Good to ten digits for parameters up to 10,000.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, lgamma, log, log1p, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_TINY = 1e-300
_CLOSE = 1e-12
_STEPS = 200
_NOTHING = 1e-30


def beta_cdf(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b), in [0, 1].

    Args:
        x: In [0, 1]; what lies outside counts as the nearer end.
        a: At least 0; at 0 all mass lies at 0.
        b: At least 0; at 0 all mass lies at 1.
    """
    if x >= 1 or a <= 0:
        return 1.0
    if x <= 0 or b <= 0:
        return 0.0
    front = exp(a * log(x) + b * log1p(-x) - _log_beta(a, b))
    # The fraction converges fast on its own side of the mean only.
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def beta_density(x: float, a: float, b: float) -> float:
    """The density of Beta(a, b) at ``x`` in (0, 1), for positive ``a`` and ``b``."""
    return exp((a - 1) * log(x) + (b - 1) * log1p(-x) - _log_beta(a, b))


def beta_quantile(share: float, a: float, b: float) -> float:
    """Where Beta(a, b) has ``share`` of its mass below, in [0, 1]."""
    return solve(lambda x: beta_cdf(x, a, b) - share, lambda x: beta_density(x, a, b), a / (a + b))


def solve(value: Callable[[float], float], slope: Callable[[float], float], start: float) -> float:
    """The root in [0, 1] of a function that grows: Newton's steps, and halves where one leaves the bracket."""
    low, high, x = 0.0, 1.0, start
    for _ in range(_STEPS):
        off = value(x)
        if off < 0:
            low = x
        else:
            high = x
        steep = slope(x) if 0 < x < 1 else 0.0
        following = x - off / steep if steep > _TINY else -1.0
        if not low < following < high:
            following = (low + high) / 2
        near = abs(following - x) <= _CLOSE * x + _NOTHING
        x = following
        if near:
            break
    return x


@lru_cache(maxsize=1024)
def t_quantile(share: float, freedom: float) -> float:
    """Student's t: ``share`` (0.5 to 1) lies below it at ``freedom`` degrees of freedom (above 0, fractions too)."""
    x = beta_quantile(2 * (1 - share), freedom / 2, 0.5)
    return sqrt(freedom * (1 - x) / x)


def f_quantile(share: float, above: float, below: float) -> float:
    """Fisher's F: ``share`` lies below it, at these degrees of freedom of numerator and denominator."""
    x = beta_quantile(share, above / 2, below / 2)
    return below * x / (above * (1 - x))


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def _fraction(x: float, a: float, b: float) -> float:
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > _TINY else _TINY)
    result = d
    for step in range(1, 5000):
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        for term in (even, odd):
            d = 1 + term * d
            d = 1 / (d if abs(d) > _TINY else _TINY)
            c = 1 + term / c
            c = c if abs(c) > _TINY else _TINY
            result *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return result
