"""The answers of one input, and the credit of every two: the one table that floor and tests are read from.

Answers are known by number: first those to the unmutated prompt, then those to mutations. The credit of a pair is 10
(equivalent), 7 (minor) or 0 (deviation) tenths, and ``None`` where nothing tells.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from pytest_promptfuzz.scoring.score import EQUIVALENT_CREDIT, MINOR_CREDIT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Credit = Callable[[int, int], int | None]

CREDITS = {"equivalent": EQUIVALENT_CREDIT, "minor": MINOR_CREDIT, "deviation": 0}
"""Tenths of credit by outcome; other outcomes have none."""


@dataclass(slots=True)
class Matrix:
    """One input's answers.

    Attributes:
        credit: The credit of two answers by number, one to the unmutated prompt first, else the lower one; asked once
            for each pair.
        baseline: The numbers of the answers to the unmutated prompt; the first is the named baseline.
        mutated: For each mutation the numbers of its answers that are scored.
        repeated: For each mutation that was asked again, the numbers of those answers: they are evidence, not score.
    """

    credit: Credit
    baseline: list[int] = field(default_factory=list)
    mutated: list[list[int]] = field(default_factory=list)
    repeated: dict[int, list[int]] = field(default_factory=dict)
    _known: dict[tuple[int, int], int | None] = field(default_factory=dict)

    def between(self, one: int, other: int) -> int | None:
        """The credit of two answers, whichever is named first; one of the unmutated prompt is what is compared with."""
        pair = (one, other) if one < other else (other, one)
        if pair[1] in self.baseline and pair[0] not in self.baseline:
            pair = pair[1], pair[0]
        try:
            return self._known[pair]
        except KeyError:
            return self._known.setdefault(pair, self.credit(*pair))

    def floor(self) -> Fraction | None:
        """R_bb: the mean credit of two answers to the unmutated prompt; ``None`` with fewer than two."""
        pairs = [
            self.between(one, other)
            for place, one in enumerate(self.baseline)
            for other in self.baseline[:place]
        ]
        return mean(pairs)

    def commonest(self) -> Fraction:
        """The largest mean credit of one answer to the unmutated prompt with all of them, itself among them."""
        return max(map(self._company, self.baseline), default=Fraction(0))

    def usual(self) -> int:
        """The answer to the unmutated prompt that has it."""
        return max(self.baseline, key=lambda one: (self._company(one), -one))

    def _company(self, one: int) -> Fraction:
        found = mean(10 if one == other else self.between(one, other) for other in self.baseline)
        return Fraction(0) if found is None else found

    def kept(self) -> Fraction | None:
        """R_bm: the mean credit of an answer to the unmutated prompt and one to a mutation."""
        return mean(
            self.between(one, other) for answers in self.mutated for other in answers for one in self.baseline
        )

    def agreement(self, numbers: Iterable[int]) -> Fraction | None:
        """The mean credit of the answers to the unmutated prompt with these."""
        return mean(self.between(one, other) for other in numbers for one in self.baseline)


def mean(tenths: Iterable[int | None]) -> Fraction | None:
    """The mean of credits, in [0, 1]; ``None`` where fewer than half of them are known."""
    every = list(tenths)
    known = [each for each in every if each is not None]
    if not known or 2 * len(known) < len(every):
        return None
    return Fraction(sum(known), 10 * len(known))


def floor_of(cases: Sequence[Matrix]) -> Fraction | None:
    """R_bb over several inputs, each of the same weight; ``None`` where it is not known of one."""
    return _over([case.floor() for case in cases])


def adjusted(cases: Sequence[Matrix]) -> Fraction | None:
    """R_adj = min(1, R_bm / R_bb): what is left of the prompt's agreement with itself once it is mutated.

    It recovers 1 − f where a share f of mutations breaks the behaviour, however often the model varies. Both means
    are taken over all inputs before they are divided. ``None`` where the floor is not known, or is 0.
    """
    floor, kept = floor_of(cases), _over([case.kept() for case in cases])
    if floor is None or kept is None or not floor:
        return None
    return min(Fraction(1), kept / floor)


def _over(values: Sequence[Fraction | None]) -> Fraction | None:
    known = [each for each in values if each is not None]
    return sum(known, Fraction(0)) / len(known) if known and len(known) == len(values) else None
