"""Which places matter: each is masked, or left out, once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.searching.space import with_choice

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from pytest_promptfuzz.searching.searching import Seen
    from pytest_promptfuzz.searching.space import Space, State


def gains(space: Space, start: Seen, how: int) -> Generator[list[State], list[Seen], list[float]]:
    """How much loss masking (or deleting, as ``how`` says) each place alone gains; one question a place."""
    told = yield [with_choice(space.start, place, how) for place in range(len(space))]
    return [seen.loss - start.loss for seen in told]


def ranked(values: Sequence[float]) -> list[int]:
    """Indices of values, the highest first, of equal ones the first."""
    return sorted(range(len(values)), key=lambda each: (-values[each], each))
