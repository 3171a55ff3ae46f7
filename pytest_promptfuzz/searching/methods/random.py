"""Random search: what any other method must beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_promptfuzz.searching.methods.greedy import choices

if TYPE_CHECKING:
    from pytest_promptfuzz.mutations.rng import Rng
    from pytest_promptfuzz.searching.searching import Asking, Seen
    from pytest_promptfuzz.searching.space import Space, State

_PATIENCE = 200  # draws in a row that give nothing new, before the space counts as used up


@dataclass(frozen=True, slots=True)
class Random:
    """Each query changes a random number of random places at random."""

    def __call__(self, space: Space, start: Seen, rng: Rng, at_once: int) -> Asking:  # noqa: ARG002 (learns nothing)
        """See ``Method``."""
        places = range(len(space))
        had = {space.start}
        patience = _PATIENCE
        batch: list[State] = []
        while patience:
            changed = set(rng.sample(places, 1 + rng.below(len(space))))
            state = tuple(rng.choice(choices(space, place)) if place in changed else 0 for place in places)
            if space.crowded:
                state = space.settled(state, rng.shuffled(places))
            if state in had or not space.allowed(state):
                patience -= 1
                continue
            had.add(state)
            patience = _PATIENCE
            batch.append(state)
            if len(batch) == at_once:
                yield batch
                batch = []
        if batch:
            yield batch
