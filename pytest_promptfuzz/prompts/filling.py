"""The values that fill a prompt's slots, and where they stand in the filled text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.prompts.messages import SEPARATOR

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.prompts.messages import Piece
    from pytest_promptfuzz.prompts.slots import Slots

Values: TypeAlias = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Filling:
    """What a filled prompt knows of its slots.

    Attributes:
        names: The slots of its template.
        values: What was put into them.
        inputs: Where the values stand in the filled text ``(start, end)``, ascending; empty once it is mutated.
    """

    names: tuple[str, ...]
    values: Values
    inputs: tuple[tuple[int, int], ...] = ()

    def check(self, values: Values, prompt: str) -> None:
        """Refuse other values than the prompt was filled with.

        Raises:
            UsageError: They differ; ``prompt`` names the prompt.
        """
        for name in (*self.values, *values):
            if name not in values or name not in self.values or values[name] != self.values[name]:
                given = repr(values[name]) if name in values else "nothing"
                raise UsageError(
                    f"{prompt} was filled with {name}={self.values.get(name)!r:.80}, and a run of the test gives it "
                    f"{given:.80}. To mutate the input, every run must fill the prompt with the same values, once."
                )

    def mutated(self) -> Filling:
        """The same of a mutated text."""
        return replace(self, inputs=())


def filled(
    template: Slots, text: str, pieces: Iterable[Piece], values: Values, prompt: str
) -> tuple[list[str], list[list[tuple[int, int]]]]:
    """The text of each piece with its slots filled, and where the values stand in it.

    Raises:
        UsageError: A value is missing, or has no slot; ``prompt`` names the prompt.
    """
    template.check(values, prompt)
    found = [template.fill(text[piece.start : piece.end], values) for piece in pieces]
    return [text for text, _ in found], [marks for _, marks in found]


def placed(texts: Sequence[str], marks: Sequence[Sequence[tuple[int, int]]]) -> tuple[tuple[int, int], ...]:
    """Where values stand in the texts joined, from where they stand in each."""
    found: list[tuple[int, int]] = []
    position = 0
    for text, those in zip(texts, marks, strict=True):
        found += [(position + start, position + end) for start, end in those]
        position += len(text) + len(SEPARATOR)
    return tuple(found)
