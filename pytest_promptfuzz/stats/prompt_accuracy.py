"""The distribution of accuracy over many prompts, from some of their answers: after PromptEval (Polo et al., 2024).

Each of many prompts could be asked of each input. From a balanced part of these cells a Rasch model is fitted: the
logit of the chance of a right answer is the prompt's effect plus the input's, both normal, so that a prompt with few
answers is drawn towards the others. PromptEval takes the answers that were not asked at their expectation, which makes
the distribution narrower than it is. Here they are drawn from the model, with its effects and their spread, again and
again: the mean of a quantile over these draws estimates it, and the middle 95 % of them are its interval.

Assumed is that effects add on the logit scale, and that given them, answers are independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, log1p, pi, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.randomness import Rng, root_key

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence


SHARES = (0.05, 0.5, 0.95)
"""The quantiles that are estimated."""
FEWEST_PROMPTS = 4
FEWEST_ANSWERS = 3
"""Of one prompt, below which its effect would be the model's assumption alone."""

_DRAWS = 400
_GROUPS = 50  # of inputs that are equally hard: more make no difference
_MEAN_SPREAD = 3.0  # prior standard deviation of the mean logit
_PROMPT_SPREADS = (0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
_INPUT_SPREADS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_NORMAL = NormalDist()


class EstimatedFigure(NamedTuple):
    """A figure with its 95 % interval; without one where nothing is estimated."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class PromptAccuracy:
    """How accuracy is distributed over prompts, all of which are asked of all inputs.

    Attributes:
        prompts: How many there are.
        inputs: How many there are.
        asked: The share of the answers that is known; where it is 1 all figures are exact.
        mean: Of the prompts' accuracies.
        quantiles: Of the prompts' accuracies, for each of ``SHARES``.
    """

    prompts: int
    inputs: int
    asked: float
    mean: EstimatedFigure
    quantiles: tuple[EstimatedFigure, ...]


def prompt_accuracy(
    answers: Mapping[tuple[Hashable, Hashable], float],
    reference: Mapping[Hashable, float] | None = None,
    *,
    seed: int = 0,
) -> PromptAccuracy:
    """The distribution of accuracy over prompts.

    Args:
        answers: By prompt and input, whether the answer is right: 1 or 0, or the share of several runs.
        reference: The same by input for one more prompt, which all inputs were asked with, and which tells how hard
            they are; it is not part of the distribution.
        seed: Of the draws.

    Raises:
        UsageError: There are too few prompts, inputs or answers to estimate anything.
    """
    reference = reference or {}
    prompts = list(dict.fromkeys(prompt for prompt, _ in answers))
    inputs = list(dict.fromkeys([*(given for _, given in answers), *reference]))
    _check(answers, prompts, inputs)
    asked = len(answers) / (len(prompts) * len(inputs))
    rows = _rows(answers, reference, prompts, inputs)
    if asked == 1:
        exact = _figures([sum(answer for _, answer in row) / len(inputs) for row in rows[1:]])
        return PromptAccuracy(
            len(prompts),
            len(inputs),
            asked,
            EstimatedFigure(exact[0]),
            tuple(map(EstimatedFigure, exact[1:])),
        )
    rng = Rng(root_key(seed, f"{len(prompts)} prompts, {len(inputs)} inputs"), "prompt-accuracy")
    drawn = [_figures(each) for each in _drawn_accuracies(rows, len(inputs), rng)]
    mean, *quantiles = (_estimated(each) for each in zip(*drawn, strict=True))
    return PromptAccuracy(len(prompts), len(inputs), asked, mean, tuple(quantiles))


def _check(
    answers: Mapping[tuple[Hashable, Hashable], float],
    prompts: Sequence[Hashable],
    inputs: Sequence[Hashable],
) -> None:
    if len(prompts) < FEWEST_PROMPTS or len(inputs) < FEWEST_ANSWERS:
        raise UsageError(
            f"{len(prompts)} prompts × {len(inputs)} inputs have answers; an estimate takes {FEWEST_PROMPTS} × "
            f"{FEWEST_ANSWERS}"
        )
    counts = dict.fromkeys(prompts, 0)
    for prompt, _ in answers:
        counts[prompt] += 1
    few = min(counts, key=lambda prompt: counts[prompt])
    if counts[few] < FEWEST_ANSWERS:
        raise UsageError(
            f"{few} has {counts[few]} of {len(inputs)} answers; an estimate takes {FEWEST_ANSWERS} of each prompt"
        )


_Rows = list[list[tuple[int, float]]]
"""By prompt, the reference first: the numbers of the inputs that were asked, and their answers."""


def _rows(
    answers: Mapping[tuple[Hashable, Hashable], float],
    reference: Mapping[Hashable, float],
    prompts: Sequence[Hashable],
    inputs: Sequence[Hashable],
) -> _Rows:
    places = {given: number for number, given in enumerate(inputs)}
    numbers = {prompt: number for number, prompt in enumerate(prompts, 1)}
    rows: _Rows = [[] for _ in range(1 + len(prompts))]
    rows[0] = [(places[given], answer) for given, answer in reference.items()]
    for (prompt, given), answer in answers.items():
        rows[numbers[prompt]].append((places[given], answer))
    return rows


def _figures(accuracies: Sequence[float]) -> list[float]:
    """The mean and the quantiles of some prompts' accuracies."""
    order = sorted(accuracies)
    return [sum(order) / len(order), *(quantile(order, share) for share in SHARES)]


def quantile(order: Sequence[float], share: float) -> float:
    """A quantile of numbers in order, between two of them in proportion (type 7 of Hyndman and Fan, 1996)."""
    place = share * (len(order) - 1)
    below = min(int(place), len(order) - 2) if len(order) > 1 else 0
    above = order[below + 1] if len(order) > 1 else order[0]
    return order[below] + (place - below) * (above - order[below])


def _estimated(draws: Sequence[float]) -> EstimatedFigure:
    order = sorted(draws)
    return EstimatedFigure(sum(order) / len(order), quantile(order, 0.025), quantile(order, 0.975))


# The model: its most likely effects for given spreads (Newton's method), and how likely the spreads are (Laplace).


class _Fit(NamedTuple):
    """Effects of prompts and inputs, and how they scatter around the most likely ones.

    Attributes:
        prompts: The most likely effects, the reference's first.
        inputs: Likewise.
        factor: The lower Cholesky factor of the precision of the prompts' effects.
        links: By input, what its effect has in common with each prompt's: the weight of that answer.
        precisions: Of the inputs' effects, those of the prompts given.
        evidence: The logarithm of how likely the answers are under these spreads.
    """

    prompts: list[float]
    inputs: list[float]
    factor: list[list[float]]
    links: list[list[tuple[int, float]]]
    precisions: list[float]
    evidence: float


class _Spreads(NamedTuple):
    """The standard deviations of effects."""

    prompts: float
    inputs: float

    def pull(self, effects: Sequence[float]) -> list[float]:
        """The prior precision matrix of the prompts' effects, times these effects."""
        shared = self.shared(len(effects) - 1) * sum(effects[1:])
        return [
            effects[0] / _MEAN_SPREAD**2,
            *((each - shared) / self.prompts**2 for each in effects[1:]),
        ]

    def shared(self, count: int) -> float:
        """By how much the prior precision of effects is less for their mean, which may be anything."""
        return _MEAN_SPREAD**2 / (self.prompts**2 + count * _MEAN_SPREAD**2)

    def log_precision(self, prompts: int, inputs: int) -> float:
        """The logarithm of the determinant of the prior precision."""
        variance = self.prompts**2
        return -(
            (prompts - 1) * log(variance)
            + log(variance + prompts * _MEAN_SPREAD**2)
            + inputs * log(self.inputs**2)
        )


def _fitted(rows: _Rows, spreads: _Spreads, start: tuple[list[float], list[float]]) -> _Fit:
    """The most likely effects under some spreads, from a start near them."""
    prompts, inputs = list(start[0]), list(start[1])
    for _ in range(50):
        slopes, links, weights = _slopes(rows, prompts, inputs)
        precisions = [1 / spreads.inputs**2 + sum(weight for _, weight in each) for each in links]
        to_prompts = [slope - pull for slope, pull in zip(slopes[0], spreads.pull(prompts), strict=True)]
        to_inputs = [slope - each / spreads.inputs**2 for slope, each in zip(slopes[1], inputs, strict=True)]
        factor = _cholesky(_precision(weights, links, precisions, spreads))
        steps = _steps(factor, links, precisions, to_prompts, to_inputs)
        most = max(abs(each) for part in steps for each in part)
        damped = min(1.0, 2.0 / most) if most else 1.0
        prompts = [each + damped * step for each, step in zip(prompts, steps[0], strict=True)]
        inputs = [each + damped * step for each, step in zip(inputs, steps[1], strict=True)]
        if most < 1e-3:
            break
    penalty = sum(a * b for a, b in zip(prompts, spreads.pull(prompts), strict=True))
    penalty += sum(each * each for each in inputs) / spreads.inputs**2
    determinant = 2 * sum(log(row[-1]) for row in factor) + sum(map(log, precisions))
    prior = spreads.log_precision(len(prompts) - 1, len(inputs))
    evidence = _likelihood(rows, prompts, inputs) + (prior - determinant - penalty) / 2
    return _Fit(prompts, inputs, factor, links, precisions, evidence)


def _slopes(
    rows: _Rows, prompts: Sequence[float], inputs: Sequence[float]
) -> tuple[tuple[list[float], list[float]], list[list[tuple[int, float]]], list[float]]:
    """The gradient of the likelihood, the answers' weights by input, and their sums by prompt."""
    of_prompts, of_inputs = [0.0] * len(prompts), [0.0] * len(inputs)
    links: list[list[tuple[int, float]]] = [[] for _ in inputs]
    weights = [0.0] * len(prompts)
    for number, row in enumerate(rows):
        for given, answer in row:
            chance = _chance(prompts[number] + inputs[given])
            weight = chance * (1 - chance)
            of_prompts[number] += answer - chance
            of_inputs[given] += answer - chance
            weights[number] += weight
            links[given].append((number, weight))
    return (of_prompts, of_inputs), links, weights


def _precision(
    weights: Sequence[float],
    links: Sequence[Sequence[tuple[int, float]]],
    precisions: Sequence[float],
    spreads: _Spreads,
) -> list[list[float]]:
    """The precision of the prompts' effects, whatever the inputs' are: its lower triangle (a Schur complement)."""
    own, shared = 1 / spreads.prompts**2, spreads.shared(len(weights) - 1) / spreads.prompts**2
    matrix = [[-shared if column else 0.0 for column in range(row)] for row in range(len(weights))]
    for number, weight in enumerate(weights):
        matrix[number].append(weight + (own - shared if number else 1 / _MEAN_SPREAD**2))
    for each, precision in zip(links, precisions, strict=True):
        for place, (one, weight) in enumerate(each):
            for other, others in each[: place + 1]:
                matrix[one][other] -= weight * others / precision
    return matrix


def _cholesky(matrix: list[list[float]]) -> list[list[float]]:
    """The lower factor of a positive definite matrix, of which the lower triangle is given."""
    factor: list[list[float]] = []
    for row, given in enumerate(matrix):
        made: list[float] = []
        for column in range(row):
            other = factor[column]
            made.append((given[column] - sum(map(_times, made, other))) / other[column])
        made.append(sqrt(max(given[row] - sum(each * each for each in made), 1e-12)))
        factor.append(made)
    return factor


def _times(one: float, other: float) -> float:
    return one * other


def _steps(
    factor: list[list[float]],
    links: Sequence[Sequence[tuple[int, float]]],
    precisions: Sequence[float],
    to_prompts: Sequence[float],
    to_inputs: Sequence[float],
) -> tuple[list[float], list[float]]:
    """A step of Newton's method for all effects."""
    pulled = list(to_prompts)
    for each, precision, slope in zip(links, precisions, to_inputs, strict=True):
        for number, weight in each:
            pulled[number] -= weight * slope / precision
    solved: list[float] = []
    for number, row in enumerate(factor):
        solved.append((pulled[number] - sum(map(_times, row, solved))) / row[-1])
    prompts = _back(factor, solved)
    inputs = [
        (slope - sum(weight * prompts[number] for number, weight in each)) / precision
        for each, precision, slope in zip(links, precisions, to_inputs, strict=True)
    ]
    return prompts, inputs


def _back(factor: list[list[float]], values: Sequence[float]) -> list[float]:
    """What the transposed factor makes of the solution is ``values``."""
    left = list(values)
    for number in range(len(factor) - 1, -1, -1):
        row = factor[number]
        solved = left[number] = left[number] / row[-1]
        for column in range(number):
            left[column] -= row[column] * solved
    return left


def _chance(logit: float) -> float:
    return 1 / (1 + exp(-logit)) if logit > -700 else 0.0


def _likelihood(rows: _Rows, prompts: Sequence[float], inputs: Sequence[float]) -> float:
    total = 0.0
    for number, row in enumerate(rows):
        for given, answer in row:
            logit = prompts[number] + inputs[given]
            total += answer * logit - (log1p(exp(-abs(logit))) + max(logit, 0.0))
    return total


# Draws of what was not asked.


def _likely_fits(rows: _Rows, inputs: int) -> list[tuple[float, _Fit]]:
    """Fits under several spreads of prompts, with the chance of each; the spread of inputs is the most likely one."""
    start = ([0.0] * len(rows), [0.0] * inputs)
    found = [_fitted(rows, _Spreads(0.5, each), start) for each in _INPUT_SPREADS]
    best = max(range(len(found)), key=lambda number: found[number].evidence)
    begun = found[best]
    fits = []
    for spread in _PROMPT_SPREADS:
        fit = _fitted(rows, _Spreads(spread, _INPUT_SPREADS[best]), (begun.prompts, begun.inputs))
        # Spreads are half-normal with a scale of 1 logit, and the steps between them grow with them.
        fits.append((fit.evidence + log(spread) - spread**2 / 2, fit))
    most = max(each for each, _ in fits)
    whole = sum(exp(each - most) for each, _ in fits)
    return [(exp(each - most) / whole, fit) for each, fit in fits]


class _Scale(NamedTuple):
    """What makes up for scatter on the logit scale, which draws chances to a half.

    What scatters with variance v has the mean chance of a logit that is smaller by the root of 1 + πv/8 (MacKay, 1992).

    Attributes:
        middle: The prompts' mean effect.
        prompts: What prompts' distances from it are multiplied by.
        inputs: Effects of inputs that, when they scatter, have the chances of the most likely effects.
    """

    middle: float
    prompts: float
    inputs: list[float]

    @classmethod
    def of(cls, fit: _Fit) -> _Scale:
        """That of a fit."""
        middle = sum(fit.prompts[1:]) / (len(fit.prompts) - 1)
        scatter = sum(1 / row[-1] ** 2 for row in fit.factor[1:]) / (len(fit.factor) - 1)
        factors = [sqrt(1 + pi * (1 / precision + scatter) / 8) for precision in fit.precisions]
        inputs = [(middle + each) * factor - middle for each, factor in zip(fit.inputs, factors, strict=True)]
        return cls(middle, sum(factors) / len(factors), inputs)


def _drawn_accuracies(rows: _Rows, inputs: int, rng: Rng) -> list[list[float]]:
    """The accuracies of all prompts, as often as is drawn."""
    found = []
    fits = _likely_fits(rows, inputs)
    scales = [_Scale.of(fit) for _, fit in fits]
    reached, place = fits[0][0], 0
    for number in range(_DRAWS):
        while place < len(fits) - 1 and (number + 0.5) / _DRAWS > reached:
            place += 1
            reached += fits[place][0]
        found.append(_drawn(rows, fits[place][1], scales[place], rng))
    return found


def _drawn(rows: _Rows, fit: _Fit, scale: _Scale, rng: Rng) -> list[float]:
    """One draw: effects, and with them the answers that were not asked."""
    shifts = _back(fit.factor, [_normal(rng) for _ in fit.prompts])
    prompts = [
        scale.middle + scale.prompts * (each + shift - scale.middle)
        for each, shift in zip(fit.prompts, shifts, strict=True)
    ]
    inputs = [
        each
        - sum(weight * shifts[number] for number, weight in links) / precision
        + _normal(rng) / sqrt(precision)
        for each, links, precision in zip(scale.inputs, fit.links, fit.precisions, strict=True)
    ]
    groups = _groups(inputs)
    found = []
    for effect, row in zip(prompts[1:], rows[1:], strict=True):
        expected = spread = 0.0
        for size, given in groups:
            chance = _chance(effect + given)
            expected += size * chance
            spread += size * chance * (1 - chance)
        for given_at, _ in row:
            chance = _chance(effect + inputs[given_at])
            expected -= chance
            spread -= chance * (1 - chance)
        unasked = len(inputs) - len(row)
        right = expected + sqrt(max(spread, 0.0)) * _normal(rng)
        right = min(max(right, 0.0), float(unasked))
        found.append((sum(answer for _, answer in row) + right) / len(inputs))
    return found


def _groups(inputs: Sequence[float]) -> list[tuple[int, float]]:
    """Inputs of like effects, how many they are and their mean effect."""
    order = sorted(inputs)
    count = min(_GROUPS, len(order))
    parts = [order[len(order) * at // count : len(order) * (at + 1) // count] for at in range(count)]
    return [(len(each), sum(each) / len(each)) for each in parts]


def _normal(rng: Rng) -> float:
    return _NORMAL.inv_cdf((rng.below(1 << 32) + 0.5) / (1 << 32))
