"""Gold answers: how often answers are as expected, without mutation and with it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


ROBUST_BUT_WRONG = "robust but wrong"
"""How the note begins of a test that passes with answers that are not as expected."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """An unmutated prompt's answer that is not as expected.

    Attributes:
        case: Of which input, from 0.
        expected: As plain data.
        answered: Likewise, by the first answer that was wrong.
    """

    case: int
    expected: Any
    answered: Any


@dataclass(frozen=True, slots=True)
class Marked:
    """The answers of one input, held against the gold answer: ``None`` where no comparison could tell."""

    case: int
    expected: Any
    baseline: Sequence[tuple[bool | None, Any]]
    mutated: Sequence[bool | None]


@dataclass(frozen=True, slots=True)
class Gold:
    """How often answers are as expected. Each input has the same weight.

    Attributes:
        accuracy: Of the answers to the unmutated prompt, 0 to 1; ``None`` where none could be told.
        mutated: Of the answers to mutations that must not matter, likewise.
        inputs: With a gold answer.
        untold: Answers of which no installed comparison could tell.
        wrong: Inputs whose unmutated prompt was answered wrongly at least once, in order.
    """

    accuracy: float | None
    mutated: float | None
    inputs: int
    untold: int = 0
    wrong: tuple[Wrong, ...] = ()

    @classmethod
    def of(cls, marked: Iterable[Marked]) -> Gold:
        """Of the answers of all inputs."""
        every = list(marked)
        plain = [[right for right, _ in each.baseline] for each in every]
        return cls(
            _accuracy(plain),
            _accuracy([each.mutated for each in every]),
            len(every),
            sum(right is None for one in (*plain, *(each.mutated for each in every)) for right in one),
            tuple(
                Wrong(
                    each.case, each.expected, next(value for right, value in each.baseline if right is False)
                )
                for each in every
                if any(right is False for right, _ in each.baseline)
            ),
        )

    @property
    def drop(self) -> float | None:
        """By how much mutations lower the accuracy; negative where they raise it."""
        if self.accuracy is None or self.mutated is None:
            return None
        return self.accuracy - self.mutated


def _accuracy(inputs: Iterable[Sequence[bool | None]]) -> float | None:
    shares = [
        Fraction(sum(map(bool, known)), len(known))
        for each in inputs
        if (known := [right for right in each if right is not None])
    ]
    return float(sum(shares, Fraction(0)) / len(shares)) if shares else None
