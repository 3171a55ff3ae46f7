"""What answers so far say each choice does, as if effects added up: a guess that tells what to ask next.

A choice at a place does what any change does, what changing this place does, and something of its own. All three are
taken for draws from normal distributions, and what is left of an answer for noise: Bayesian linear regression on the
log-odds of the loss. What could be true, given the answers, is drawn exactly: something drawn without them, mended by
what they say of it (Matheron's rule). An answer that says no more than the label is a bound; what it leaves open is
drawn as well (Albert and Chib 1993).
"""

from __future__ import annotations

import math
from itertools import accumulate, pairwise
from operator import mul
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.mutations.rng import Rng
    from pytest_promptfuzz.searching.searching import Seen
    from pytest_promptfuzz.searching.space import Space, State

_LEAST = 1e-4  # losses nearer to 0 or 1 are taken for that near
_FEWEST, _MOST = 48, 128  # answers that count: two for each choice; then the older half is forgotten
_GRAIN = 1 << 24
_NORMAL = NormalDist()
_SAFE = 1e-9

# In units of what an answer may differ; found on the sentences for tuning of benchmarks/search.
_MEAN = 0.2  # what a change does on average
_ANY = 0.3  # standard deviation of that
_PLACE = 1.0  # of what changing a place does beyond it
_OWN = 0.7  # of what a choice does beyond that
_NOISE = 0.5
_GOAL = 1.0  # where the label flips, if answers say no more than the label


class _Answer(NamedTuple):
    """What a prompt was answered.

    Attributes:
        places: Where it is changed.
        choices: What stands there, as places in the list of all choices.
        seen: The answer.
        told: Its distance from the start's, in log-odds of the loss.
        spread: How far it may be from the start, as a variance, before answers are known.
    """

    places: frozenset[int]
    choices: frozenset[int]
    seen: Seen
    told: float
    spread: float


class Additive:
    """Effects of choices, as far as answers tell; before the first draw none is known.

    Args:
        space: Whose choices.
        start: What the unchanged prompt was answered.

    Attributes:
        telling: Whether answers tell more than the label.
    """

    def __init__(self, space: Space, start: Seen) -> None:
        self.telling = False
        self._start = start
        ends = list(accumulate((len(place.choices) for place in space.places), initial=0))
        self._ranges = list(pairwise(ends))  # of each place's choices in the list of all
        self._place_of = [place for place, (low, high) in enumerate(self._ranges) for _ in range(low, high)]
        self._answers: list[_Answer] = []
        self._factor: list[
            list[float]
        ] = []  # of the answers' covariance, the lower triangle by rows (Cholesky)
        self._hidden: list[
            float
        ] = []  # how far each prompt is thought to be from the start, where only labels tell
        self._effects = [0.0] * ends[-1]
        self._most = min(max(_FEWEST, 2 * ends[-1]), _MOST)

    def learn(self, state: State, seen: Seen) -> None:
        """Take down an answer."""
        if len(self._answers) >= self._most:
            kept = self._answers[self._most // 2 :]
            self._answers, self._factor, self._hidden = [], [], []
            for each in kept:
                self._add(each)
        changed = [(place, number) for place, number in enumerate(state) if number > 0]
        answer = _Answer(
            frozenset(place for place, _ in changed),
            frozenset(self._ranges[place][0] + number - 1 for place, number in changed),
            seen,
            _log_odds(seen.loss) - _log_odds(self._start.loss),
            (_ANY * len(changed)) ** 2 + (_PLACE**2 + _OWN**2) * len(changed),
        )
        self._add(answer)
        self.telling = self.telling or (seen.loss != self._start.loss and not seen.reached)

    def _add(self, answer: _Answer) -> None:
        line = self._forward([_covariance(answer, other) for other in self._answers])
        line.append(math.sqrt(answer.spread + _NOISE**2 - sum(map(mul, line, line))))
        self._factor.append(line)
        self._answers.append(answer)
        self._hidden.append(_GOAL + _NOISE if answer.seen.reached else 0.0)

    def draw(self, rng: Rng | None, doubt: float = 1.0) -> None:
        """Draw effects that could be the true ones.

        Args:
            rng: What draws; ``None`` for the likeliest effects.
            doubt: How far from the likeliest, in standard deviations of what could be true.
        """
        usual = _MEAN + _normal(rng, _ANY * doubt)
        at_places = [usual + _normal(rng, _PLACE * doubt) for _ in self._ranges]
        effects = [at_places[place] + _normal(rng, _OWN * doubt) for place in self._place_of]
        scale, told = self._told()
        missed = [
            y - sum(map(effects.__getitem__, answer.choices)) - _normal(rng, _NOISE * doubt)
            for y, answer in zip(told, self._answers, strict=True)
        ]
        shared = 0.0
        by_place = [0.0] * len(self._ranges)
        for weight, answer in zip(self._backward(self._forward(missed)), self._answers, strict=True):
            shared += weight * len(answer.places)
            for place in answer.places:
                by_place[place] += weight
            for choice in answer.choices:
                effects[choice] += _OWN**2 * weight
        by_place = [_ANY**2 * shared + _PLACE**2 * each for each in by_place]
        self._effects = [
            scale * (by_place[place] + each) for place, each in zip(self._place_of, effects, strict=True)
        ]
        if not self.telling:
            means = [sum(map(self._effects.__getitem__, answer.choices)) for answer in self._answers]
            self._hidden = [
                mean + _NOISE * _beyond((_GOAL - mean) / _NOISE, answer.seen.reached, rng)
                for mean, answer in zip(means, self._answers, strict=True)
            ]

    def _told(self) -> tuple[float, list[float]]:
        """The unit of effects, and how far each answer is from the start's in it."""
        if not self.telling:
            return 1.0, self._hidden
        told = [answer.told for answer in self._answers]
        scale = math.sqrt(sum(map(mul, told, told)) / sum(answer.spread for answer in self._answers))
        return scale, [each / scale for each in told] if scale else told

    def _forward(self, values: Sequence[float]) -> list[float]:
        """What the factor makes these values of."""
        solved: list[float] = []
        for line, value in zip(self._factor, values, strict=True):
            solved.append((value - sum(map(mul, line, solved))) / line[-1])
        return solved

    def _backward(self, values: Sequence[float]) -> list[float]:
        """What the transposed factor makes these values of."""
        left = list(values)
        solved: list[float] = []
        for line in reversed(self._factor):
            last = left.pop() / line[-1]
            solved.append(last)
            left = [value - each * last for value, each in zip(left, line, strict=False)]
        return solved[::-1]

    @property
    def needed(self) -> float:
        """How far a prompt must get, at least: farther than any that did not reach the goal."""
        if not self.telling:
            return _GOAL
        return max((answer.told for answer in self._answers if not answer.seen.reached), default=0.0)

    def effect(self, place: int, number: int) -> float:
        """What a choice at a place does, as drawn last."""
        return self._effects[self._ranges[place][0] + number - 1] if number > 0 else 0.0

    def best(self, place: int) -> int:
        """The choice at a place that does most, as drawn last; 0 where none helps."""
        low, high = self._ranges[place]
        effects = self._effects[low:high]
        most = max(effects)
        return 1 + effects.index(most) if most > 0 else 0


def _covariance(one: _Answer, other: _Answer) -> float:
    """How two prompts' distances from the start go together."""
    return (
        _ANY**2 * len(one.places) * len(other.places)
        + _PLACE**2 * len(one.places & other.places)
        + _OWN**2 * len(one.choices & other.choices)
    )


def _normal(rng: Rng | None, deviation: float) -> float:
    """A draw of a normal distribution around 0; 0 where nothing draws."""
    if rng is None:
        return 0.0
    return deviation * _NORMAL.inv_cdf((rng.below(_GRAIN) + 0.5) / _GRAIN)


def _beyond(bound: float, above: bool, rng: Rng | None) -> float:
    """A draw of the standard normal distribution above or below a bound; its median there where nothing draws."""
    below = _NORMAL.cdf(bound)
    low, high = (below, 1.0) if above else (0.0, below)
    share = 0.5 if rng is None else (rng.below(_GRAIN) + 0.5) / _GRAIN
    return _NORMAL.inv_cdf(min(max(low + share * (high - low), _SAFE), 1 - _SAFE))


def _log_odds(loss: float) -> float:
    held = min(max(loss, _LEAST), 1 - _LEAST)
    return math.log(held / (1 - held))
