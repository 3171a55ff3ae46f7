"""Our default: change every place at once, learn from each answer what helps, and give up what is not needed.

Other methods ask what one word does before they change two. Here a question changes many places, so that ten questions
have seen ten choices of each; what each does is worked out from all answers together (``Additive``), and the next
question takes at each place the choice that is best in one of the ways in which it could be (Thompson sampling). What
reaches the goal this way changes far too much: pruning gives that up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_promptfuzz.searching.additive import Additive
from pytest_promptfuzz.searching.methods.greedy import choices
from pytest_promptfuzz.searching.space import with_choice

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_promptfuzz.mutations.rng import Rng
    from pytest_promptfuzz.searching.searching import Asking, Seen
    from pytest_promptfuzz.searching.space import Space, State

_PATIENCE = (
    80  # steps away from what was asked before that lead nowhere new, before the space counts as used up
)


@dataclass(frozen=True, slots=True)
class Sweep:
    """Sweep search.

    Attributes:
        sweeps: How many questions go round the choices of all places before what was learnt says which are asked.
        doubt: How far what is drawn may be from what is likeliest, in standard deviations of what could be true.
        unsure: The same where answers tell no more than the label.
    """

    sweeps: int = 2
    doubt: float = 0.4
    unsure: float = 1.0

    def __call__(self, space: Space, start: Seen, rng: Rng, at_once: int) -> Asking:
        """See ``Method``."""
        learned = Additive(space, start)
        had = {space.start}
        turns = [rng.shuffled(choices(space, place)) for place in range(len(space))]
        alone = _alone(space, rng)
        number = swept = 0
        while True:
            batch: list[State] = []
            while len(batch) < at_once:
                single = next(alone, None) if number % 2 else None
                number += 1
                if single is not None:
                    state = single
                elif swept < self.sweeps:
                    state = tuple(each[swept % len(each)] for each in turns)
                else:
                    learned.draw(rng, self.doubt if learned.telling else self.unsure)
                    state = tuple(learned.best(place) for place in range(len(space)))
                swept += single is None
                fresh = self._new(space, state, learned, rng, had)
                if fresh is None:
                    break
                had.add(fresh)
                batch.append(fresh)
            if not batch:
                return
            for state, seen in zip(batch, (yield batch), strict=True):
                learned.learn(state, seen)

    def _new(self, space: Space, state: State, learned: Additive, rng: Rng, had: set[State]) -> State | None:
        """The state within the limits, or one near it that was not asked about before."""
        for _ in range(_PATIENCE):
            held = self._held(space, self._roomy(space, state, rng), learned, rng)
            if held not in had and space.allowed(held):
                return held
            place = rng.below(len(space))
            state = with_choice(state, place, rng.below(len(space.places[place].choices) + 1))
        return None

    def _roomy(self, space: Space, state: State, rng: Rng) -> State:
        """A state whose choices do not clash: every other one keeps changes of the text at large, the others words."""
        if not space.crowded:
            return state
        order = rng.shuffled(range(len(space)))
        if rng.below(2):
            order.sort(key=lambda place: not space.places[place].wide)
        return space.settled(state, order)

    def _held(self, space: Space, state: State, learned: Additive, rng: Rng) -> State:
        """A state within the limits: places as they look helpful, others at random, as many as may change."""
        if space.most >= len(space.original.split()) or space.words(state) <= space.most:
            return state
        ranked = sorted(
            rng.shuffled([place for place, number in enumerate(state) if number]),
            key=lambda place: -learned.effect(place, state[place]),
        )
        return fitted(space, state, ranked)


def _alone(space: Space, rng: Rng) -> Iterator[State]:
    """Each change of the text at large by itself: beside others it would have little room, and there are few."""
    singles = [(place, number) for place in space.wide for number in choices(space, place)]
    for place, number in rng.shuffled(singles):
        yield with_choice(space.start, place, number)


def fitted(space: Space, state: State, order: Sequence[int]) -> State:
    """The choices of a state at the places in order, as far as the limits let them."""
    kept = space.start
    for place in order:
        more = (*kept[:place], state[place], *kept[place + 1 :])
        if space.words(more) <= space.most:
            kept = more
    return kept
