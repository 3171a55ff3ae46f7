"""Our default: change every place at once, learn from each answer what helps, and give up what is not needed.

Other methods ask what one word does before they change two. Here a question changes all places, so that ten questions
have seen ten choices of each; what each does is worked out from all answers together (``Additive``), and the next
question takes the choices that look best, with as much chance as is left in doubt (Thompson sampling). Where answers
say no more than the label, it draws on. What reaches the goal this way changes far too much: pruning gives that up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_promptfuzz.searching.additive import Additive
from pytest_promptfuzz.searching.methods.greedy import choices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.mutations.rng import Rng
    from pytest_promptfuzz.searching.searching import Asking, Seen
    from pytest_promptfuzz.searching.space import Space, State

_PATIENCE = 60  # draws in a row that give nothing new, before the space counts as used up
_GRAIN = 1 << 24


@dataclass(frozen=True, slots=True)
class Sweep:
    """Sweep search.

    Attributes:
        sweeps: How many questions go round the choices of all places before what was learnt says which are asked.
        doubt: How much chance there is in choosing, in standard deviations of what is known of a choice.
    """

    sweeps: int = 4
    doubt: float = 1.0

    def __call__(self, space: Space, start: Seen, rng: Rng, at_once: int) -> Asking:
        """See ``Method``."""
        learned = Additive(start.loss)
        had = {space.start}
        turns = [rng.shuffled(choices(space, place)) for place in range(len(space))]
        told_apart = False
        number = 0
        while True:
            batch: list[State] = []
            patience = _PATIENCE
            while len(batch) < at_once and patience:
                if number < self.sweeps:
                    state = tuple(each[number % len(each)] for each in turns)
                elif told_apart:
                    state = self._likely(space, learned, rng, doubt=self.doubt * (1 + _PATIENCE - patience))
                else:
                    state = self._random(space, rng)
                number += 1
                state = self._held(space, state, learned, rng)
                if state in had or not space.allowed(state):
                    patience -= 1
                    continue
                had.add(state)
                batch.append(state)
            if not batch:
                return
            for state, seen in zip(batch, (yield batch), strict=True):
                learned.learn(state, seen.loss)
                told_apart = told_apart or seen.loss != start.loss
            learned.fit()

    def _likely(self, space: Space, learned: Additive, rng: Rng, *, doubt: float) -> State:
        """The choices that look best, each as lucky as its doubt allows."""
        spread = doubt * learned.spread
        state = []
        for place in range(len(space)):
            scores = [0.0] + [
                learned.effect(place, number)
                + spread * _normal(rng) / math.sqrt(1 + learned.times(place, number))
                for number in choices(space, place)
            ]
            state.append(max(range(len(scores)), key=scores.__getitem__))
        return tuple(state)

    def _random(self, space: Space, rng: Rng) -> State:
        return tuple(rng.choice(choices(space, place)) for place in range(len(space)))

    def _held(self, space: Space, state: State, learned: Additive, rng: Rng) -> State:
        """A state within the limits: places as they look helpful, others at random, as many as may change."""
        if space.most >= len(space.original.split()) or space.words(state) <= space.most:
            return state
        ranked = sorted(
            rng.shuffled([place for place, number in enumerate(state) if number]),
            key=lambda place: -learned.effect(place, state[place]),
        )
        return fitted(space, state, ranked)


def fitted(space: Space, state: State, order: Sequence[int]) -> State:
    """The choices of a state at the places in order, as far as the limits let them."""
    kept = space.start
    for place in order:
        more = (*kept[:place], state[place], *kept[place + 1 :])
        if space.words(more) <= space.most:
            kept = more
    return kept


def _normal(rng: Rng) -> float:
    """A draw of about the standard normal distribution: twelve uniform ones, less their mean."""
    return math.fsum(rng.below(_GRAIN) for _ in range(12)) / _GRAIN - 6.0
