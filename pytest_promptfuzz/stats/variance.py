"""Where the variance of scores comes from: the model's sampling, inputs, mutations; effects of operators.

The decomposition is Brittlebench's: Var = E_x,p[Var_run] (inference) + Var_x[E_p] (item) + E_x[Var_p] (perturbation),
perturbations nested in items. The estimators are its unbiased counterpart: mean squares equated with what is expected
of them, also where cells are missing or unequal (Henderson's method I; Searle, Casella and McCulloch, *Variance
Components*, 1992, 3.6 and 5.2). A plug-in estimate, the variance of cell means, takes the model's sampling for an
effect of the perturbations.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, isfinite, log, sqrt
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.stats.intervals import beta_cdf, t_quantile

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence


LEVEL = 0.95


class Parts(NamedTuple):
    """A number for each source of variance; ``None`` where the data cannot tell.

    Attributes:
        inference: The same prompt and input asked again.
        item: Between inputs.
        perturbation: Between mutations of one input.
    """

    inference: float | None
    item: float | None
    perturbation: float | None


class Range(NamedTuple):
    """Where a true value lies at 95 %."""

    low: float
    high: float


class Ranges(NamedTuple):
    """The same for each part of :class:`Parts`."""

    inference: Range | None
    item: Range | None
    perturbation: Range | None


@dataclass(frozen=True, slots=True)
class Variance:
    """Where the variance of some scores comes from, in squared units of the scores.

    Attributes:
        raw: The unbiased estimates, which may be negative where an effect is small.
        ranges: Intervals of the parts, by the jackknife over items, at least 0; ``None`` with fewer than 3 items.
        share_range: The interval of :attr:`share`, in [0, 1].
        items: Inputs.
        cells: Pairs of input and mutation that have an answer.
        runs: Answers.
        notes: What cannot be told and why, and what was negative.
    """

    raw: Parts
    ranges: Ranges
    share_range: Range | None
    items: int
    cells: int
    runs: int
    notes: tuple[str, ...] = ()

    @property
    def inference(self) -> float | None:
        """The mean variance of answers to the same prompt, at least 0."""
        return _clipped(self.raw.inference)

    @property
    def item(self) -> float | None:
        """The variance between inputs, at least 0."""
        return _clipped(self.raw.item)

    @property
    def perturbation(self) -> float | None:
        """The mean variance between mutations of an input, at least 0."""
        return _clipped(self.raw.perturbation)

    @property
    def share(self) -> float | None:
        """Brittleness: perturbation over the total, in [0, 1]; ``None`` where a part is unknown or all are 0."""
        return _share([self.raw])

    @property
    def shares(self) -> tuple[float, float, float] | None:
        """Inference, item and perturbation over the total, which add up to 1; ``None`` where :attr:`share` is.

        The last is :attr:`share`. Where a raw estimate is negative, the other two share what is left.
        """
        share, inference, item = self.share, self.inference, self.item
        if share is None or inference is None or item is None:
            return None
        rest = inference + item
        part = (1 - share) / rest if rest else 0.0
        return (inference * part, item * part, share)


def variance_of(
    trials: Iterable[tuple[Hashable, Hashable, float]], *, deterministic: bool = False
) -> Variance:
    """Take the variance of scores apart.

    The model is y = μ + item + perturbation(item) + run, each with a variance of its own, none need be normal.

    Args:
        trials: Input, mutation and score of each answer; the answers of one pair are its runs. Pairs may be
            missing, and have different numbers of runs.
        deterministic: Take it that a pair is always answered the same, as Brittlebench does: its score is the mean
            of its runs, inference has no variance, and the other parts are those of the scores at hand, not
            estimates of what lies behind them. Of a model that is not deterministic, sampling counts as an effect of
            mutations.

    Raises:
        ValueError: No trials, or a score that is no finite number.

    >>> found = variance_of([("a", "x", 1), ("a", "x", 1), ("a", "y", 0), ("a", "y", 0),
    ...                      ("b", "x", 1), ("b", "x", 0), ("b", "y", 1), ("b", "y", 0)])
    >>> found.inference, found.item, found.perturbation
    (0.25, 0.0, 0.125)
    """
    cells: dict[Hashable, dict[Hashable, list[float]]] = {}
    for item, mutation, score in trials:
        if not isfinite(score):
            message = f"The score {score!r} of {mutation!r} on {item!r} is no finite number."
            raise ValueError(message)
        cells.setdefault(item, {}).setdefault(mutation, []).append(float(score))
    if not cells:
        message = "There are no trials whose variance could be taken apart."
        raise ValueError(message)
    rows = [[*row.values()] for row in cells.values()]
    if deterministic:
        return _deterministic([[sum(runs) / len(runs) for runs in row] for row in rows])
    count = sum(len(runs) for row in rows for runs in row)
    centre = sum(score for row in rows for runs in row for score in runs) / count
    sums = [_Sums.of(row, centre) for row in rows]
    whole = _Sums(*map(sum, zip(*sums, strict=True)))
    raw = _estimate(whole)
    left = [
        _estimate(_Sums(*(every - own for every, own in zip(whole, each, strict=True))))
        for each in (sums if len(sums) > 2 else [])
    ]
    ranges = tuple(_variance_range(raw[part], [each[part] for each in left]) for part in range(3))
    share = _jackknife(_raw_share([raw]), [_raw_share([each]) for each in left])
    return Variance(
        raw,
        Ranges(*ranges),
        share and Range(_limited(share.low), _limited(share.high)),
        round(whole.items),
        round(whole.cells),
        count,
        _notes(whole, raw),
    )


class _ItemMoments(NamedTuple):
    """Of one item its number of cells, the mean of their scores, its square, and their variance; they add up."""

    items: float
    cells: float
    mean: float
    square: float
    within: float

    @classmethod
    def of(cls, row: Sequence[float]) -> _ItemMoments:
        mean = sum(row) / len(row)
        return cls(1, len(row), mean, mean**2, sum((score - mean) ** 2 for score in row) / len(row))

    @property
    def parts(self) -> Parts:
        """Var_x[E_p] and E_x[Var_p] of Brittlebench's Eq. 4."""
        item = self.square / self.items - (self.mean / self.items) ** 2 if self.items > 1 else None
        return Parts(0.0, item, self.within / self.items if self.cells > self.items else None)


def _deterministic(rows: Sequence[Sequence[float]]) -> Variance:
    """The parts of the variance of a matrix of scores, items × mutations, without any other noise."""
    items = [_ItemMoments.of(row) for row in rows]
    whole = _ItemMoments(*map(sum, zip(*items, strict=True)))
    left = [
        _ItemMoments(*(every - own for every, own in zip(whole, each, strict=True))).parts
        for each in (items if len(items) > 2 else [])
    ]
    ranges = [_variance_range(whole.parts[at], [each[at] for each in left]) for at in (1, 2)]
    share = _jackknife(_raw_share([whole.parts]), [_raw_share([each]) for each in left])
    cells = round(whole.cells)
    return Variance(
        whole.parts,
        Ranges(None, *ranges),
        share and Range(_limited(share.low), _limited(share.high)),
        len(items),
        cells,
        cells,
    )


def brittleness(variances: Iterable[Variance]) -> float | None:
    """Summed perturbation variance over summed total variance (Brittlebench), of a model or a benchmark.

    Args:
        variances: One for each test. The raw estimates are summed, so that what is clipped does not add up.

    Returns:
        In [0, 1]; ``None`` where a part of any is not identifiable, there are none, or nothing varies.
    """
    return _share([each.raw for each in variances])


class _Sums(NamedTuple):
    """What the mean squares need: of one item, and, as all of it adds up, of several."""

    items: float
    cells: float
    runs: float
    total: float  # of the scores, less the mean of all
    within: float  # squares within cells
    between: float  # squares of cell means about the item's mean, by runs
    level: float  # the square of the item's mean, by runs
    cells_squared: float  # squares of the cells' numbers of runs
    cells_over: float  # the same, over the item's runs
    runs_squared: float

    @classmethod
    def of(cls, rows: Sequence[Sequence[float]], centre: float) -> _Sums:
        runs = sum(map(len, rows))
        total = sum(score - centre for row in rows for score in row)
        within = between = 0.0
        for row in rows:
            mean = sum(score - centre for score in row) / len(row)
            within += sum((score - centre - mean) ** 2 for score in row)
            between += len(row) * (mean - total / runs) ** 2
        squared = sum(len(row) ** 2 for row in rows)
        return cls(
            1, len(rows), runs, total, within, between, total**2 / runs, squared, squared / runs, runs**2
        )


def _estimate(of: _Sums) -> Parts:
    """Mean squares equated with their expectations; ``None`` where there are no degrees of freedom."""
    inference = of.within / (of.runs - of.cells) if of.runs > of.cells else None
    if of.cells <= of.items:
        return Parts(inference, None, None)
    square = of.between / (of.cells - of.items)
    weight = (of.runs - of.cells_over) / (of.cells - of.items)
    perturbation = None if inference is None else (square - inference) / weight
    if of.items <= 1:
        return Parts(inference, None, perturbation)
    outer = (of.level - of.total**2 / of.runs) / (of.items - 1)
    # With one run a cell, the mean square between mutations is the sum of what cannot be told apart.
    noise, inside = (square, 0.0) if inference is None or perturbation is None else (inference, perturbation)
    inside *= (of.cells_over - of.cells_squared / of.runs) / (of.items - 1)
    weight = (of.runs - of.runs_squared / of.runs) / (of.items - 1)
    return Parts(inference, (outer - noise - inside) / weight, perturbation)


def _variance_range(whole: float | None, left: Sequence[float | None]) -> Range | None:
    """On the scale of logarithms, where a variance is about symmetric, unless an estimate is not above 0."""
    if whole is None or None in left:
        return None
    known = [each for each in left if each is not None]
    if min([whole, *known]) > 0:
        found = _jackknife(log(whole), [log(each) for each in known])
        return found and Range(exp(found.low), exp(found.high))
    found = _jackknife(whole, known)
    return found and Range(max(0.0, found.low), max(0.0, found.high))


def _jackknife(whole: float | None, left: Sequence[float | None]) -> Range | None:
    """Leaving out one item at a time (Arvesen 1969: it needs no normal distribution), t at one item fewer."""
    known = [each for each in left if each is not None]
    if whole is None or not left or len(known) < len(left):
        return None
    count = len(known)
    mean = sum(known) / count
    centre = whole + (count - 1) * (whole - mean)
    error = sqrt((count - 1) / count * sum((each - mean) ** 2 for each in known))
    half = t_quantile((1 + LEVEL) / 2, count - 1) * error
    return Range(centre - half, centre + half)


def _raw_share(parts: Sequence[Parts]) -> float | None:
    total = perturbation = 0.0
    for each in parts:
        if each.inference is None or each.item is None or each.perturbation is None:
            return None
        perturbation += each.perturbation
        total += each.inference + each.item + each.perturbation
    return perturbation / total if total > 0 else None


def _share(parts: Sequence[Parts]) -> float | None:
    found = _raw_share(parts)
    return None if found is None else _limited(found)


def _limited(number: float) -> float:
    return min(1.0, max(0.0, number))


def _clipped(number: float | None) -> float | None:
    return None if number is None else max(0.0, number)


def _notes(of: _Sums, raw: Parts) -> tuple[str, ...]:
    notes = []
    if of.runs == of.cells:
        notes.append(
            "The variance of perturbations is not identifiable: with one run of each mutation on each input, it cannot "
            "be told from the model's sampling. Ask at least twice (samples=2)."
        )
    elif of.cells == of.items:
        notes.append("The variance of perturbations is not identifiable: no input has two mutations.")
    if of.items == 1:
        notes.append("The variance of items is not identifiable: there is one input.")
    notes += [
        f"The estimate of the {name} variance is negative ({value:.4f}): it is shown as 0."
        for name, value in zip(Parts._fields, raw, strict=True)
        if value is not None and value < 0
    ]
    return tuple(notes)


# What single operators do to the scores of several inputs, and whether models keep their ranks.
#
# Operators are crossed with items: each is held against the others on the same item, so that an item's difficulty
# cancels out; several comparisons share one error rate (Holm, *Scandinavian Journal of Statistics* 6, 1979).


@dataclass(frozen=True, slots=True)
class Effect:
    """What one operator does, against the others on the same items.

    Attributes:
        operator: Its name.
        mean: Its mean score less that of the others, over the items where both occur; below 0 it does harm.
        low: Of the interval; all operators' intervals hold together at 95 % (Bonferroni), or more.
        high: Of the interval.
        items: On how many items it was compared.
        p: That it does nothing, adjusted for the number of operators (Holm).
    """

    operator: str
    mean: float
    low: float
    high: float
    items: int
    p: float


def effects_of(trials: Iterable[tuple[Hashable, str, float]]) -> tuple[Effect, ...]:
    """The effects of operators, the most harmful first.

    A difference is taken on each item between the operator's mean score and the mean of the other operators' mean
    scores; t over the items. No p-value is below 2^(1 − items), the least that flipping the differences' signs can
    give. Beside a harmful operator, harmless ones are above the rest.

    Args:
        trials: Input, operator and score of each answer. Operators may be missing from items.

    Returns:
        One for each operator that shares at least two items with others.

    Raises:
        ValueError: A score that is no finite number.
    """
    scores: dict[Hashable, dict[str, list[float]]] = {}
    for item, operator, score in trials:
        if not isfinite(score):
            message = f"The score {score!r} of {operator!r} on {item!r} is no finite number."
            raise ValueError(message)
        scores.setdefault(item, {}).setdefault(operator, []).append(float(score))
    differences: dict[str, list[float]] = {}
    for row in scores.values():
        means = {operator: sum(found) / len(found) for operator, found in row.items()}
        for operator, mean in means.items():
            if len(means) > 1:
                rest = (sum(means.values()) - mean) / (len(means) - 1)
                differences.setdefault(operator, []).append(mean - rest)
    compared = {operator: found for operator, found in differences.items() if len(found) > 1}
    plain = {operator: mean_test(found) for operator, found in compared.items()}
    adjusted = dict(zip(plain, holm(list(plain.values())), strict=True))
    effects = []
    for operator, found in compared.items():
        mean, error = _mean(found)
        half = error * t_quantile(1 - (1 - LEVEL) / 2 / len(compared), len(found) - 1)
        effects.append(Effect(operator, mean, mean - half, mean + half, len(found), adjusted[operator]))
    return tuple(sorted(effects, key=lambda each: (each.mean, each.operator)))


def holm(values: Sequence[float]) -> list[float]:
    """P-values that keep one error rate over all of them, in the order given, each in [0, 1].

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted = [0.0] * len(values)
    reached = 0.0
    for rank, at in enumerate(sorted(range(len(values)), key=lambda at: values[at])):
        reached = max(reached, min(1.0, (len(values) - rank) * values[at]))
        adjusted[at] = reached
    return adjusted


def rank_stability(before: Mapping[str, float], after: Mapping[str, float]) -> float | None:
    """Spearman's correlation of models' ranks before and after one perturbation; ties share their mean rank.

    Args:
        before: Each model's score.
        after: The same models' scores under the perturbation.

    Returns:
        In [-1, 1]; ``None`` where all models are tied on one side.

    Raises:
        ValueError: Other models, or fewer than two.
    """
    if before.keys() != after.keys() or len(before) < 2:
        lone = sorted(before.keys() ^ after.keys())
        message = f"Ranks need the same models twice, at least two; only once: {', '.join(lone) or 'none'}."
        raise ValueError(message)
    models = list(before)
    one, two = _ranks([before[each] for each in models]), _ranks([after[each] for each in models])
    middle = (len(models) + 1) / 2
    top = sum((a - middle) * (b - middle) for a, b in zip(one, two, strict=True))
    scatter = sum((a - middle) ** 2 for a in one) * sum((b - middle) ** 2 for b in two)
    return top / sqrt(scatter) if scatter else None


def _ranks(values: Sequence[float]) -> list[float]:
    """1 for the lowest; equal values share the mean of their ranks."""
    return [
        sum(other < each for other in values) + (sum(other == each for other in values) + 1) / 2
        for each in values
    ]


def _mean(numbers: Sequence[float]) -> tuple[float, float]:
    """The mean and its standard error."""
    count = len(numbers)
    mean = sum(numbers) / count
    return mean, sqrt(sum((each - mean) ** 2 for each in numbers) / (count - 1) / count)


def mean_test(differences: Sequence[float]) -> float:
    """The two-sided p-value of a mean of 0, by t over at least two differences.

    It is at least 2^(1 − n), the least that flipping the signs of n differences can give.
    """
    mean, error = _mean(differences)
    least = 2.0 ** (1 - len(differences))
    if not mean:
        return 1.0
    if not error:
        return least
    freedom, square = len(differences) - 1, (mean / error) ** 2
    return max(least, beta_cdf(freedom / (freedom + square), freedom / 2, 0.5))
