"""How far several raters agree on the same items: exact agreement, kappa, Krippendorff's alpha, Spearman, bias.

Each figure has a 95 % interval: exact agreement Wilson's, over items; the mean difference Student's; all others the
percentile bootstrap over items (Efron and Tibshirani, *An Introduction to the Bootstrap*, 1993, 13), drawn by a seed.
Where all ratings agree, no resample differs, and a bootstrap interval has no width.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import sqrt
from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_promptfuzz.randomness import Rng, root_key
from pytest_promptfuzz.stats.agreement import weighted_kappa
from pytest_promptfuzz.stats.intervals import LEVEL, share_interval, t_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_promptfuzz.stats.agreement import KappaWeights

    Unit = tuple[int | None, ...]
    """The ratings of one item, a place for each rater."""


AlphaLevel = Literal["nominal", "ordinal", "interval"]
RESAMPLES = 1000
LEAST_RESAMPLES = 100
"""With fewer in which a figure can be told, its interval is not known."""


class AgreementFigure(NamedTuple):
    """A figure and its 95 % interval; ``None`` for ends that cannot be told."""

    value: float
    low: float | None = None
    high: float | None = None


class RaterAgreement(NamedTuple):
    """How far raters agree; ``None`` for what cannot be told, as kappa where all ratings are alike.

    Attributes:
        raters: Their names, at least two.
        items: With ratings of at least two of them.
        ratings: Of these items, in all.
        exact: The share of pairs of ratings that are equal.
        kappa: Weighted kappa; of several raters the mean over their pairs (Light 1971).
        alpha: Krippendorff's, over all raters.
        spearman: The rank correlation; of several raters the mean over their pairs.
        difference: The mean of the first rater's ratings less the second's; of two raters only.
    """

    raters: tuple[str, ...]
    items: int
    ratings: int
    exact: AgreementFigure | None
    kappa: AgreementFigure | None
    alpha: AgreementFigure | None
    spearman: AgreementFigure | None
    difference: AgreementFigure | None


def agreement_of(
    ratings: Mapping[str, Mapping[str, int]],
    *,
    weights: KappaWeights = "quadratic",
    level: AlphaLevel = "ordinal",
    categories: Sequence[int] = (1, 2, 3),
    seed: int = 0,
) -> RaterAgreement:
    """How far raters agree.

    Args:
        ratings: By rater, the rating of each item; items may be missing.
        weights: Of disagreements in kappa.
        level: Of measurement, for alpha.
        categories: All ratings there are, in order.
        seed: Of the bootstrap.

    Raises:
        ValueError: Fewer than two raters, or a rating that is none of the categories.
    """
    if len(ratings) < 2:
        raise ValueError("agreement needs two raters")
    names = sorted({item for each in ratings.values() for item in each})
    rows: list[Unit] = [tuple(each.get(name) for each in ratings.values()) for name in names]
    units = [row for row in rows if len(row) - row.count(None) > 1]

    def kappa(drawn: Sequence[Unit]) -> float | None:
        return _mean_of_pairs(drawn, lambda pairs: weighted_kappa(pairs, categories, weights))

    def alpha(drawn: Sequence[Unit]) -> float | None:
        return krippendorff_alpha(drawn, level)

    def rho(drawn: Sequence[Unit]) -> float | None:
        return _mean_of_pairs(drawn, spearman)

    resamples = _resamples(units, seed)
    return RaterAgreement(
        tuple(ratings),
        len(units),
        sum(len(unit) - unit.count(None) for unit in units),
        _exact(units),
        _bootstrapped(kappa, units, resamples),
        _bootstrapped(alpha, units, resamples),
        _bootstrapped(rho, units, resamples),
        _difference(units) if len(ratings) == 2 else None,
    )


def krippendorff_alpha(units: Iterable[Sequence[int | None]], level: AlphaLevel = "ordinal") -> float | None:
    """``1 - D_observed / D_expected`` over the coincidences of ratings; ratings may be missing.

    Args:
        units: For each item, the ratings of all raters in any order; ``None`` where there is none.
        level: Of measurement: ``nominal`` counts disagreements, ``ordinal`` weighs them by the ratings between,
            ``interval`` by squared distance.

    Returns:
        1 for full agreement, 0 for chance; ``None`` where there is nothing to disagree about.

    Source: Krippendorff, *Content Analysis*, 2004, 11.3; Computing Krippendorff's Alpha-Reliability, 2011.

    >>> krippendorff_alpha([(1, 1), (2, 2), (1, 2), (2, 2)], "nominal")
    0.5333333333333333
    """
    weights: dict[tuple[int, int], float] = {}
    for unit, count in Counter(
        tuple(sorted(each for each in unit if each is not None)) for unit in units
    ).items():
        for one, other in combinations(unit, 2):
            weight = count / (len(unit) - 1)
            for pair in ((one, other), (other, one)):
                weights[pair] = weights.get(pair, 0.0) + weight
    margins: dict[int, float] = {}
    for (one, _), weight in weights.items():
        margins[one] = margins.get(one, 0.0) + weight
    total = sum(margins.values())
    distance = _distance(margins, level)
    expected = sum(
        margins[one] * margins[other] * distance(one, other) for one in margins for other in margins
    )
    if not expected:
        return None
    observed = sum(weight * distance(*pair) for pair, weight in weights.items())
    return 1 - (total - 1) * observed / expected


def _distance(margins: Mapping[int, float], level: AlphaLevel) -> Callable[[int, int], float]:
    """The squared difference of two ratings."""
    if level == "nominal":
        return lambda one, other: float(one != other)
    if level == "interval":
        return lambda one, other: float((one - other) ** 2)
    ordered = sorted(margins)
    found = {
        (one, other): (
            sum(margins[each] for each in ordered if min(one, other) <= each <= max(one, other))
            - (margins[one] + margins[other]) / 2
        )
        ** 2
        for one in ordered
        for other in ordered
    }
    return lambda one, other: found[one, other]


def spearman(pairs: Sequence[tuple[int, int]]) -> float | None:
    """Spearman's rank correlation; ties share their mean rank. ``None`` where one side is all the same."""
    if not pairs:
        return None
    one, two = _ranks([a for a, _ in pairs]), _ranks([b for _, b in pairs])
    middle = (len(pairs) + 1) / 2
    top = sum((one[a] - middle) * (two[b] - middle) for a, b in pairs)
    scatter = sum((one[a] - middle) ** 2 for a, _ in pairs) * sum((two[b] - middle) ** 2 for _, b in pairs)
    return top / sqrt(scatter) if scatter else None


def _ranks(values: Sequence[int]) -> dict[int, float]:
    """The mean rank of each value, from 1."""
    ranks: dict[int, float] = {}
    below = 0
    for value, count in sorted(Counter(values).items()):
        ranks[value] = below + (count + 1) / 2
        below += count
    return ranks


def _pairs(units: Iterable[Unit], one: int, other: int) -> list[tuple[int, int]]:
    return [(a, b) for unit in units if (a := unit[one]) is not None and (b := unit[other]) is not None]


def _mean_of_pairs(
    units: Sequence[Unit], figure: Callable[[list[tuple[int, int]]], float | None]
) -> float | None:
    raters = range(len(units[0]) if units else 0)
    found = [figure(_pairs(units, one, other)) for one, other in combinations(raters, 2)]
    known = [each for each in found if each is not None]
    return sum(known) / len(known) if known else None


def _exact(units: Sequence[Unit]) -> AgreementFigure | None:
    """Pairs of one item are not independent: the interval is that of as many pairs as there are items."""
    if not units:
        return None
    raters = range(len(units[0]))
    pairs = [pair for one, other in combinations(raters, 2) for pair in _pairs(units, one, other)]
    share = sum(one == two for one, two in pairs) / len(pairs)
    span = share_interval(share, len(units))
    return AgreementFigure(share, span.low, span.high)


def _difference(units: Sequence[Unit]) -> AgreementFigure | None:
    differences = [one - two for one, two in _pairs(units, 0, 1)]
    if not differences:
        return None
    count = len(differences)
    mean = sum(differences) / count
    if count == 1:
        return AgreementFigure(mean)
    error = sqrt(sum((each - mean) ** 2 for each in differences) / (count - 1) / count)
    half = t_quantile((1 + LEVEL) / 2, count - 1) * error
    return AgreementFigure(mean, mean - half, mean + half)


def _resamples(units: Sequence[Unit], seed: int) -> list[list[Unit]]:
    rng = Rng(root_key(seed, "raters"), "bootstrap")
    size = len(units)
    return [[units[rng.below(size)] for _ in units] for _ in range(RESAMPLES)] if size > 1 else []


def _bootstrapped(
    figure: Callable[[Sequence[Unit]], float | None],
    units: Sequence[Unit],
    resamples: Sequence[Sequence[Unit]],
) -> AgreementFigure | None:
    value = figure(units)
    if value is None:
        return None
    drawn = sorted(each for resample in resamples if (each := figure(resample)) is not None)
    if len(drawn) < LEAST_RESAMPLES:
        return AgreementFigure(value)
    tail = (1 - LEVEL) / 2
    return AgreementFigure(value, _quantile(drawn, tail), _quantile(drawn, 1 - tail))


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Between the two nearest, by distance."""
    place = share * (len(ordered) - 1)
    at = int(place)
    above = ordered[min(at + 1, len(ordered) - 1)]
    return ordered[at] + (place - at) * (above - ordered[at])
