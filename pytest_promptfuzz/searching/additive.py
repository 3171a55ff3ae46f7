"""What answers so far say each choice does, as if effects added up: a guess that tells what to ask next."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_promptfuzz.searching.space import State

_LEAST = 1e-4  # losses nearer to 0 or 1 are taken for that near
_RIDGE = 0.3
_PASSES = 4
_WINDOW = 256  # answers that are fitted; a longer search forgets the oldest


class Additive:
    """Effects of choices on the log-odds of the loss, by ridge regression (coordinate descent).

    The loss of the unchanged prompt is exact, so that an effect is that of making the change.

    Args:
        start: The loss of the unchanged prompt, in [0, 1].
    """

    def __init__(self, start: float) -> None:
        self._start = _log_odds(start)
        self._rows: list[tuple[tuple[tuple[int, int], ...], float]] = []
        self._effects: dict[tuple[int, int], float] = {}
        self._times: dict[tuple[int, int], int] = {}
        self.spread = 1.0

    def learn(self, state: State, loss: float) -> None:
        """Take down the loss of a state."""
        row = tuple((place, number) for place, number in enumerate(state) if number)
        for each in row:
            self._times[each] = self._times.get(each, 0) + 1
        self._rows.append((row, _log_odds(loss) - self._start))

    def fit(self) -> None:
        """Work out the effects; they start where they were. ``spread`` becomes the size of a usual one."""
        rows = self._rows[-_WINDOW:]
        where: dict[tuple[int, int], list[int]] = {}
        rest = []
        for index, (row, target) in enumerate(rows):
            for each in row:
                where.setdefault(each, []).append(index)
            rest.append(target - math.fsum(self._effects.get(each, 0.0) for each in row))
        for _ in range(_PASSES):
            for each, indices in where.items():
                before = self._effects.get(each, 0.0)
                total = math.fsum(rest[index] + before for index in indices)
                after = total / (len(indices) + _RIDGE)
                self._effects[each] = after
                for index in indices:
                    rest[index] += before - after
        known = [each * each for each in self._effects.values()]
        self.spread = math.sqrt(math.fsum(known) / len(known)) if known else 1.0

    def effect(self, place: int, number: int) -> float:
        """What a choice at a place is thought to do; 0 where nothing is known."""
        return self._effects.get((place, number), 0.0)

    def times(self, place: int, number: int) -> int:
        """How often a choice was asked about."""
        return self._times.get((place, number), 0)


def _log_odds(loss: float) -> float:
    held = min(max(loss, _LEAST), 1 - _LEAST)
    return math.log(held / (1 - held))
