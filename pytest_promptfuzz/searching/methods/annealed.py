"""Beam-annealing search, as BASFuzz publishes it (S3 of docs/operators.md, Algorithm 1), each part switchable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pytest_promptfuzz.searching.annealing import (
    acceptance,
    adapted,
    cooled,
    drawn,
    elitism,
    entropy,
    happens,
    importance,
    retention,
    shares,
    widened,
)
from pytest_promptfuzz.searching.methods.greedy import choices
from pytest_promptfuzz.searching.methods.importance import gains, ranked
from pytest_promptfuzz.searching.space import MASKED, with_choice

if TYPE_CHECKING:
    from collections.abc import Generator

    from pytest_promptfuzz.mutations.rng import Rng
    from pytest_promptfuzz.searching.searching import Asking, Seen
    from pytest_promptfuzz.searching.space import Space, State

    Scored = tuple[State, float]


@dataclass(frozen=True, slots=True)
class BeamAnnealing:
    """Beam-annealing search. The defaults are the published ones (Table 1).

    Attributes:
        order: Places in the order of importance by masking (``"importance"``, Eq. 9), or as they stand (``"text"``).
        accept: A candidate is accepted by its loss against that of the unchanged prompt (``"original"``, Eq. 12 as
            printed, by which late rounds hardly ever reject), of the state it was made of (``"parent"``), or always.
        temperature: T0, above 0.
        cooling: γ of Eq. 13; 0 keeps the temperature.
        width: b0.
        least: bmin.
        most: bmax.
        step: σ.
        adapt: How the beam's width goes with the entropy: Eq. 16 as ``"printed"``, which only widens; ``"both"`` ways,
            as the text has it; or ``"fixed"``.
        elite: p0 of Eq. 18; ``None`` leaves elitism out.
        fill: The rest of the beam: ``"soft"`` sampling without replacement, or the ``"best"``.
        restarts: How often more the places are gone through, from the beam as it then is; the paper goes once.
    """

    order: Literal["importance", "text"] = "importance"
    accept: Literal["original", "parent", "always"] = "original"
    temperature: float = 1.0
    cooling: float = 0.3
    width: int = 2
    least: int = 2
    most: int = 6
    step: float = 1.0
    adapt: Literal["printed", "both", "fixed"] = "printed"
    elite: float | None = 0.9
    fill: Literal["soft", "best"] = "soft"
    restarts: int = 0

    def asks_first(self, space: Space) -> int:
        """How many questions come before any changed prompt."""
        return len(space) if self.order == "importance" else 0

    def __call__(self, space: Space, start: Seen, rng: Rng, at_once: int) -> Asking:  # noqa: ARG002 (as all methods)
        """See ``Method``."""
        order = list(range(len(space)))
        if self.order == "importance":
            order = ranked(importance((yield from gains(space, start, MASKED))))
        beam: list[Scored] = [(space.start, start.loss)]
        best, width = beam[0], float(self.width)
        for step, place in enumerate(order * (1 + self.restarts)):
            taken = yield from self._accepted(space, beam, place, start, rng, step)
            if not taken:
                continue
            best = max([best, *taken], key=lambda each: each[1])
            width = self._width(width, taken)
            beam = self._next(taken, best, round_half_up(width), rng)

    def _accepted(
        self, space: Space, beam: list[Scored], place: int, start: Seen, rng: Rng, step: int
    ) -> Generator[list[State], list[Seen], list[Scored]]:
        """The candidates of a place that annealing lets into the temporary beam (Eq. 10 to 13)."""
        made = {
            with_choice(state, place, number): loss
            for state, loss in beam
            for number in choices(space, place)
        }
        temperature = cooled(self.temperature, self.cooling, step)
        taken = []
        told = yield list(made)
        for (state, parent), seen in zip(made.items(), told, strict=True):
            against = start.loss if self.accept == "original" else parent
            if self.accept == "always" or happens(acceptance(seen.loss - against, temperature), rng):
                taken.append((state, seen.loss))
        return taken

    def _width(self, width: float, taken: list[Scored]) -> float:
        if self.adapt == "fixed":
            return width
        losses = [loss for _, loss in taken]
        spread = entropy(shares(losses))
        if self.adapt == "printed":
            return widened(width, spread, least=self.least, most=self.most, step=self.step)
        return adapted(width, spread, len(losses), least=self.least, most=self.most, step=self.step)

    def _next(self, taken: list[Scored], best: Scored, width: int, rng: Rng) -> list[Scored]:
        """The next beam: the best so far, perhaps, and others of the temporary beam (Eq. 17 and 18)."""
        kept: list[Scored] = []
        losses = [loss for _, loss in taken]
        if self.elite is not None and happens(elitism(self.elite, retention(best[1], losses)), rng):
            kept.append(best)
            taken = [each for each in taken if each[0] != best[0]]
            losses = [loss for _, loss in taken]
        wanted = width - len(kept)
        chosen = drawn(losses, wanted, rng) if self.fill == "soft" else ranked(losses)[:wanted]
        return kept + [taken[index] for index in chosen]


def round_half_up(width: float) -> int:
    """A width as a number of states: a width that grows by less than 1 must not be cut down for ever."""
    return int(width + 0.5)
