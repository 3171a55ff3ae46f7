"""How far the adjusted score can be trusted: R_adj = min(1, R_bm / R_bb), where both means were estimated.

The interval joins that of R_bm over operators with what the answers to the unmutated prompt leave open (Zou and Donner,
*Statistics in Medicine* 27, 2008: distances to the limits add as squares). The error of R_bb is that of a U-statistic,
for pairs of k answers are not independent; what the same answers do to R_bm is taken off, for most of it cancels out.
"""

from __future__ import annotations

from math import exp, sqrt
from typing import TYPE_CHECKING

from pytest_promptfuzz.scoring.beta import t_quantile
from pytest_promptfuzz.scoring.intervals import LEVEL, Interval, lower_bound, score_interval

if TYPE_CHECKING:
    from pytest_promptfuzz.scoring.intervals import Credit, Credited

_FAR = 20.0  # e to the 20th is beyond every score


def adjusted_interval(
    credited: Credited, *, floor: Credit, answers: int, inputs: int = 1, level: float = LEVEL
) -> Interval:
    """An interval for R_adj, over all mutations that operators like these make.

    Args:
        credited: Operator and mean credit of each mutation, with all answers to the unmutated prompt, of all inputs.
        floor: R_bb, the mean credit of two answers to the unmutated prompt, above 0.
        answers: To the unmutated prompt, for each input; at least 2.
        inputs: With answers of their own.
        level: Coverage wanted, in (0, 1).

    Raises:
        ValueError: A floor that is 0 or below, fewer than 2 answers, or what
            :func:`~pytest_promptfuzz.scoring.intervals.score_interval` refuses.
    """
    agreed = _agreed(floor, answers, inputs)
    kept = score_interval(credited, level=level)
    mean = sum(float(credit) for _, credit in credited) / len(credited)
    ratio = mean / agreed
    half = _half(agreed, answers, inputs, (1 + level) / 2)
    below = ratio * half
    above = ratio * (exp(min(half, _FAR)) - 1)  # a ratio whose lower half is uncertain is skewed upwards
    low = ratio - sqrt(((mean - kept.low) / agreed) ** 2 + below**2)
    high = ratio + sqrt(((kept.high - mean) / agreed) ** 2 + above**2)
    # R_bb is at most 1, so that R_adj is at least R_bm.
    return Interval(min(1.0, max(kept.low, low)), min(1.0, high), level, kept.estimand)


def adjusted_lower_bound(
    credited: Credited,
    *,
    floor: Credit,
    answers: int,
    inputs: int = 1,
    level: float = LEVEL,
    times: float = 1.0,
) -> float:
    """What R_adj over all such mutations exceeds at ``level``, one-sided, in [0, 1].

    Args:
        credited: As for :func:`adjusted_interval`.
        floor: Likewise.
        answers: Likewise.
        inputs: Likewise.
        level: In (0, 1).
        times: As if there were so many times these mutations, above 0.

    Raises:
        ValueError: As for :func:`adjusted_interval`.
    """
    agreed = _agreed(floor, answers, inputs)
    kept = lower_bound(credited, level=level, times=times)
    mean = sum(float(credit) for _, credit in credited) / len(credited)
    below = mean / agreed * _half(agreed, answers, inputs, level)
    return min(1.0, max(kept, mean / agreed - sqrt(((mean - kept) / agreed) ** 2 + below**2)))


def _agreed(floor: Credit, answers: int, inputs: int) -> float:
    agreed = float(floor)
    if not 0 < agreed <= 1 or answers < 2 or inputs < 1:
        message = f"A floor of {agreed:g} from {answers} answers adjusts nothing: two or more must be there and agree."
        raise ValueError(message)
    return agreed


def _half(floor: float, answers: int, inputs: int, share: float) -> float:
    """The half width of the floor's interval, relative to it, up to the quantile of ``share``."""
    freedom = inputs * (answers - 1)
    return t_quantile(share, freedom) * _error(floor, answers, inputs, freedom)


def _error(floor: float, answers: int, inputs: int, freedom: int) -> float:
    """The relative standard error that k answers to the unmutated prompt bring into the ratio.

    With ζ1 = A^1.5 − A² (a dominant answer, the others all different: the largest for this agreement A) and
    ζ2 = A (1 − A), the U-statistic R_bb has the variance [4 (k − 2) ζ1 + 2 ζ2] / (k (k − 1)) (Hoeffding 1948); R_bm
    has ζ1 / k of it, with which it is correlated, so that ζ1 / k + (2 ζ2 − 4 ζ1) / (k (k − 1)) is left. One answer
    that agrees with none enters A unseen.
    """
    agreement = floor * freedom / (freedom + 1)
    first, second = agreement**1.5 - agreement**2, agreement * (1 - agreement)
    variance = first / answers + (2 * second - 4 * first) / (answers * (answers - 1))
    return sqrt(max(0.0, variance) / inputs) / agreement
