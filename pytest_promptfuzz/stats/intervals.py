"""Confidence intervals of a score whose trials come in clusters, of the adjusted score, and of shares.

The method is Korn and Graubard's for shares in surveys (*Survey Methodology* 24, 1998): the variance of the score, with
its design effect, is turned into the number of independent answers that would know as much, and the binomial
interval (mid-P) is taken at that number. What is added here: the intra-class correlation is shrunk towards a prior,
for a test has few clusters, and half an equivalent and half a deviating answer enter the variance, but not the score,
for what was not seen in 8 trials may still occur. docs/statistics.md has the coverage and what else was tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import exp, lgamma, log, log1p, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


# The incomplete beta function and the quantiles that follow from it, in plain Python.
#
# Method: Lentz's evaluation of the continued fraction (Abramowitz and Stegun 26.5.8; Press et al., *Numerical
# Recipes*, 6.4), and safeguarded Newton steps for the inverse. Good to ten digits for parameters up to 10,000.


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


Estimand = Literal["operators", "operator", "plan"]
Credit = float | Fraction
Credited = Sequence[tuple[str, Credit]]

LEVEL = 0.95
CORRELATION = 0.4  # what trials of one operator are taken to share before any is seen
WEIGHT = 4  # operators' worth of evidence that this prior counts as
UNSEEN = 0.5  # answers of either kind that enter the variance unseen
MOST = 100_000


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a true value lies, as far as the trials tell.

    Attributes:
        low: In [0, 1], at most ``high``.
        high: In [0, 1].
        level: How often such intervals hold the true value, in (0, 1).
        estimand: Of what: ``operators``, the mean over all mutations that operators like these make; ``operator``,
            over all that the only one makes; ``plan``, the mean over these very mutations, however often the
            model is asked.
    """

    low: float
    high: float
    level: float = LEVEL
    estimand: Estimand = "operators"

    def __str__(self) -> str:
        return f"[{self.low:.2f}, {self.high:.2f}]"


class MeanEvidence(NamedTuple):
    """What trials know of a mean.

    Attributes:
        mean: Of the credits, in [0, 1].
        answers: The number of independent yes-or-no answers that know as much.
        freedom: Degrees of freedom of the part of the variance that was estimated between operators.
    """

    mean: float
    answers: float
    freedom: float

    def interval(self, level: float) -> tuple[float, float]:
        """Two-sided, mid-P: the mean of both exact binomial limits' tails, which covers as said on average."""
        tail = (1 - level) / 2
        size = self._at(tail)
        got = self.mean * size
        low = 0.0 if self.mean <= 0 else _mid(got, size, tail)
        high = 1.0 if self.mean >= 1 else _mid(got, size, 1 - tail)
        return low, high

    def least(self, level: float) -> float:
        """One-sided, Clopper and Pearson's: a gate promises that it errs in at most ``1 - level`` of all tests."""
        size = self._at(1 - level)
        got = self.mean * size
        return beta_quantile(1 - level, got, size - got + 1) if got > 0 else 0.0

    def times(self, factor: float) -> MeanEvidence:
        """What as many times the trials would know, had they the same credits and as many times the operators."""
        return MeanEvidence(self.mean, self.answers * factor, self.freedom * factor)

    def _at(self, tail: float) -> float:
        """``answers``, fewer where the design effect itself is uncertain: (z / t)² of them."""
        if self.freedom > MOST:
            return self.answers
        return self.answers * (NormalDist().inv_cdf(1 - tail) / t_quantile(1 - tail, self.freedom)) ** 2


def score_interval(credited: Credited, *, level: float = LEVEL) -> Interval:
    """An interval for Eq. 1 over all mutations that operators like these make.

    Args:
        credited: Operator and credit (0 to 1; mean credit, if it was repeated) of each mutation.
        level: Coverage wanted, in (0, 1).

    Raises:
        ValueError: No credits, or one outside [0, 1], or a level outside (0, 1).
    """
    groups = _groups(credited)
    low, high = evidence(credited).interval(_checked(level))
    return Interval(low, high, level, "operators" if len(groups) > 1 else "operator")


def lower_bound(credited: Credited, *, level: float = LEVEL, times: float = 1.0) -> float:
    """What Eq. 1 over all such mutations exceeds at ``level``, one-sided, in [0, 1].

    Args:
        credited: As for :func:`score_interval`.
        level: In (0, 1).
        times: As if there were so many times these mutations, above 0.

    Raises:
        ValueError: As for :func:`score_interval`.
    """
    return evidence(credited).times(times).least(_checked(level))


def plan_interval(repeats: Sequence[Sequence[Credit]], *, level: float = LEVEL) -> Interval:
    """An interval for the mean over these very mutations: only the model's sampling varies.

    Args:
        repeats: The credits of each mutation's repeats; at least one mutation was repeated.
        level: Coverage wanted, in (0, 1).

    Raises:
        ValueError: No mutation has two answers, or one has none, or what :func:`score_interval` refuses.
    """
    cells = [[float(each) for each in _valid(cell)] for cell in repeats]
    within = sum(len(cell) - 1 for cell in cells)
    if not within or not all(cells):
        message = (
            "An interval for the plan itself needs repeats: every mutation answered, and one at least twice."
        )
        raise ValueError(message)
    means = [sum(cell) / len(cell) for cell in cells]
    mean = sum(means) / len(cells)
    total = sum(map(len, cells))
    smooth = (mean * total + UNSEEN) / (total + 2 * UNSEEN)
    squares = sum((each - own) ** 2 for cell, own in zip(cells, means, strict=True) for each in cell)
    # One pair that disagrees enters unseen (it adds a half); and no mutation varies more than all of them together.
    noise = min((squares + UNSEEN) / within, smooth * (1 - smooth))
    variance = noise * sum(1 / len(cell) for cell in cells) / len(cells) ** 2
    found = MeanEvidence(mean, smooth * (1 - smooth) / variance, float(within))
    low, high = found.interval(_checked(level))
    return Interval(low, high, level, "plan")


def share_interval(share: float, total: float, *, level: float = LEVEL) -> Interval:
    """Wilson's interval for a plain share of independent trials (*JASA* 22, 1927).

    Args:
        share: In [0, 1].
        total: Trials, above 0.
        level: Coverage wanted, in (0, 1).

    Raises:
        ValueError: A share, total or level outside its range.
    """
    if total <= 0:
        message = f"A share of {total} trials has no interval: count at least one."
        raise ValueError(message)
    (share,) = map(float, _valid([share]))
    z = NormalDist().inv_cdf((1 + _checked(level)) / 2)
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * sqrt(share * (1 - share) / total + (z / (2 * total)) ** 2)
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return Interval(0.0 if share == 0 else low, 1.0 if share == 1 else high, level, "plan")


def smallest_n(
    threshold: Credit, *, level: float = LEVEL, gate: str = "confident", each: int = 1
) -> int | None:
    """The fewest mutations at which a gate can pass, all of them being equivalent.

    Args:
        threshold: Of the score, in [0, 1].
        level: Of the lower bound, in (0, 1).
        gate: ``confident`` passes where :func:`lower_bound` reaches the threshold; every other gate at one mutation.
        each: Mutations of each operator.

    Returns:
        ``None`` where no number of mutations is enough: at a threshold of 1.

    >>> smallest_n(0.85), smallest_n(0.85, each=2), smallest_n(0.85, gate="point")
    (19, 27, 1)
    """
    (least,) = map(float, _valid([threshold]))
    if gate != "confident" or least <= 0:
        return 1
    if least >= 1:
        return None

    def enough(size: int) -> bool:
        return lower_bound([(str(number // each), 1) for number in range(size)], level=level) >= least

    high = 1
    while not enough(high):
        high *= 2
        if high > MOST:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def evidence(credited: Credited) -> MeanEvidence:
    """What the credits of mutations in clusters know of their mean.

    Args:
        credited: As for :func:`score_interval`.

    Raises:
        ValueError: No credits, or one outside [0, 1].
    """
    groups = _groups(credited)
    if len(groups) == 1:
        # A lone operator is the population: its mutations are what was sampled.
        groups = [[each] for each in groups[0]]
    count = sum(map(len, groups))
    effect = design_effect(groups)
    mean, square = _moments(groups)
    middle, variance = _smooth(mean, square, count / effect)
    clustered = (effect - 1) / effect
    freedom = (len(groups) - 1) / clustered**2 if clustered else float("inf")
    return MeanEvidence(mean, count / effect * middle * (1 - middle) / variance, freedom)


def design_effect(groups: Sequence[Sequence[float]]) -> float:
    """How many times the variance of independent trials that of clustered ones is, at least 1 (Kish 1965).

    Args:
        groups: The credits of each operator's trials; at least two operators, or one trial each.
    """
    count = sum(map(len, groups))
    size = sum(len(group) ** 2 for group in groups) / count
    if size <= 1:
        return 1.0
    return 1 + (size - 1) * _correlation(groups, _smooth(*_moments(groups), count)[1])


def _moments(groups: Sequence[Sequence[float]]) -> tuple[float, float]:
    """The means of the credits and of their squares."""
    count = sum(map(len, groups))
    return sum(map(sum, groups)) / count, sum(each * each for group in groups for each in group) / count


def _smooth(mean: float, square: float, count: float) -> tuple[float, float]:
    """Mean and variance of one credit, had half an equivalent and half a deviating trial been seen as well."""
    total = count + 2 * UNSEEN
    middle = (mean * count + UNSEEN) / total
    return middle, (square * count + UNSEEN) / total - middle * middle


def _correlation(groups: Sequence[Sequence[float]], variance: float) -> float:
    """The intra-class correlation by mean squares (Donner 1986), with :data:`WEIGHT` operators' worth of prior."""
    count, between_freedom = sum(map(len, groups)), len(groups) - 1
    within_freedom = count - len(groups)
    mean = sum(map(sum, groups)) / count
    means = [sum(group) / len(group) for group in groups]
    between = sum(len(group) * (own - mean) ** 2 for group, own in zip(groups, means, strict=True))
    within = sum((each - own) ** 2 for group, own in zip(groups, means, strict=True) for each in group)
    size = (count - sum(len(group) ** 2 for group in groups) / count) / between_freedom
    expected = variance * (1 + (size - 1) * CORRELATION)
    between = (between + WEIGHT * expected) / (between_freedom + WEIGHT)
    prior = WEIGHT * (size - 1)
    within = (within + prior * variance * (1 - CORRELATION)) / (within_freedom + prior)
    return min(1.0, max(0.0, (between - within) / (between + (size - 1) * within)))


def _groups(credited: Credited) -> list[list[float]]:
    if not credited:
        message = "There are no credits to make an interval of."
        raise ValueError(message)
    found: dict[str, list[float]] = {}
    for (operator, _), credit in zip(credited, _valid(each for _, each in credited), strict=True):
        found.setdefault(operator, []).append(float(credit))
    return list(found.values())


def _valid(numbers: Iterable[Credit]) -> list[Credit]:
    found = list(numbers)
    for each in found:
        if not 0 <= each <= 1:
            message = f"{each!r} is no credit or share: they lie between 0 and 1."
            raise ValueError(message)
    return found


def _checked(level: float) -> float:
    if not 0 < level < 1:
        message = f"level={level!r} is no coverage: write a number between 0 and 1, such as 0.95."
        raise ValueError(message)
    return level


def _mid(got: float, size: float, share: float) -> float:
    """Where the mid-P tail of ``got`` of ``size`` is ``share``; both may be fractions."""
    lost = size - got
    scale = lgamma(size + 1) - lgamma(got + 1) - lgamma(lost + 1)

    def tail(x: float) -> float:
        here = exp(scale + got * log(x) + lost * log1p(-x))
        return beta_cdf(x, got, lost + 1) - here / 2 - share

    def slope(x: float) -> float:
        upper = beta_density(x, got, lost + 1) if got > 0 else 0.0
        lower = beta_density(x, got + 1, lost) if lost > 0 else 0.0
        return (upper + lower) / 2

    return solve(tail, slope, (got + 0.5) / (size + 1))


# How far the adjusted score can be trusted: R_adj = min(1, R_bm / R_bb), where both means were estimated.
#
# The interval joins that of R_bm over operators with what the answers to the unmutated prompt leave open (Zou and
# Donner, *Statistics in Medicine* 27, 2008: distances to the limits add as squares). The error of R_bb is that of a
# U-statistic, for pairs of k answers are not independent; what the same answers do to R_bm is taken off, for most of it
# cancels out.


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
            :func:`~pytest_promptfuzz.stats.intervals.score_interval` refuses.
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
