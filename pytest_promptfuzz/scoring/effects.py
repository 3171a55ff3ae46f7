"""What single operators do to the scores of several inputs, and whether models keep their ranks.

Operators are crossed with items: each is held against the others on the same item, so that an item's difficulty
cancels out; several comparisons share one error rate (Holm, *Scandinavian Journal of Statistics* 6, 1979).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, sqrt
from typing import TYPE_CHECKING

from pytest_promptfuzz.scoring.beta import beta_cdf, t_quantile

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

LEVEL = 0.95


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
    plain = {operator: _test(found) for operator, found in compared.items()}
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


def _test(differences: Sequence[float]) -> float:
    """Two-sided: that the mean is 0."""
    mean, error = _mean(differences)
    least = 2.0 ** (1 - len(differences))
    if not mean:
        return 1.0
    if not error:
        return least
    freedom, square = len(differences) - 1, (mean / error) ** 2
    return max(least, beta_cdf(freedom / (freedom + square), freedom / 2, 0.5))
