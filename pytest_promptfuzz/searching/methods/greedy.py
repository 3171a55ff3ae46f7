"""Greedy searches: over everything, or place by place in the order of importance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_promptfuzz.searching.annealing import softmax
from pytest_promptfuzz.searching.methods.importance import gains, ranked
from pytest_promptfuzz.searching.space import DELETED, MASKED, with_choice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.mutations.rng import Rng
    from pytest_promptfuzz.searching.searching import Asking, Seen
    from pytest_promptfuzz.searching.space import Space


@dataclass(frozen=True, slots=True)
class Beam:
    """Beam search: every change of every state of the beam is asked about, and the best states go on.

    Attributes:
        width: How many go on; 1 is greedy search.
    """

    width: int = 4

    def __call__(self, space: Space, start: Seen, rng: Rng, at_once: int) -> Asking:  # noqa: ARG002 (as all methods)
        """See ``Method``."""
        beam = [space.start]
        for _ in range(len(space)):
            steps = list(
                dict.fromkeys(
                    with_choice(state, place, number)
                    for state in beam
                    for place in range(len(space))
                    if not state[place]
                    for number in choices(space, place)
                )
            )
            told = yield steps
            if not steps:
                return
            beam = [steps[index] for index in ranked([seen.loss for seen in told])[: self.width]]


@dataclass(frozen=True, slots=True)
class Ranked:
    """Greedy search place by place, those first whose deletion (or masking) matters most.

    Attributes:
        how: ``DELETED`` or ``MASKED``.
    """

    how: int = DELETED

    def asks_first(self, space: Space) -> int:
        """How many questions come before any changed prompt."""
        return len(space)

    def __call__(self, space: Space, start: Seen, rng: Rng, at_once: int) -> Asking:  # noqa: ARG002 (as all methods)
        """See ``Method``."""
        values = yield from gains(space, start, self.how)
        yield from one_by_one(space, start, ranked(values))


@dataclass(frozen=True, slots=True)
class Pwws:
    """Probability weighted word saliency (Ren et al. 2019).

    Words are changed in the order of softmax(saliency by masking) times what the best substitute gains.
    """

    def asks_first(self, space: Space) -> int:
        """How many questions come before any changed prompt."""
        return len(space)

    def __call__(self, space: Space, start: Seen, rng: Rng, at_once: int) -> Asking:  # noqa: ARG002 (as all methods)
        """See ``Method``."""
        saliency = yield from gains(space, start, MASKED)
        singles = [(place, number) for place in range(len(space)) for number in choices(space, place)]
        told = yield [with_choice(space.start, place, number) for place, number in singles]
        best: dict[int, tuple[float, int]] = {}
        for (place, number), seen in zip(singles, told, strict=True):
            gain = seen.loss - start.loss
            if place not in best or gain > best[place][0]:
                best[place] = (gain, number)
        weights = softmax(saliency)
        order = ranked([weights[place] * best[place][0] for place in range(len(space))])
        state = space.start
        for place in order:
            state = with_choice(state, place, best[place][1])
            yield [state]


@dataclass(frozen=True, slots=True)
class TextFooler:
    """TextFooler (Jin et al. 2020): by importance of deletion, which counts a flip of the label more.

    At each place the substitutes are asked about in the order of their likeness to the word, so that the first that
    flips the label is the one most alike; otherwise the one with the highest loss is taken, if it gains anything.
    """

    def asks_first(self, space: Space) -> int:
        """How many questions come before any changed prompt."""
        return len(space)

    def __call__(self, space: Space, start: Seen, rng: Rng, at_once: int) -> Asking:  # noqa: ARG002 (as all methods)
        """See ``Method``."""
        told = yield [with_choice(space.start, place, DELETED) for place in range(len(space))]
        # What the other label gains is added where deletion flips (its Eq. 2); with two labels both gains are alike.
        values = [(seen.loss - start.loss) * (2 if seen.reached else 1) for seen in told]
        yield from one_by_one(space, start, ranked(values))


def one_by_one(space: Space, start: Seen, order: Sequence[int]) -> Asking:
    """Take at each place in order the best choice, if it gains anything beside those taken before."""
    state, loss = space.start, start.loss
    for place in order:
        steps = [with_choice(state, place, number) for number in choices(space, place)]
        told = yield steps
        best = ranked([seen.loss for seen in told])[0]
        if told[best].loss > loss:
            state, loss = steps[best], told[best].loss


def choices(space: Space, place: int) -> range:
    """The numbers of the choices at a place."""
    return range(1, len(space.places[place].choices) + 1)
