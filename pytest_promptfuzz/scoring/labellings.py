"""One input's answers under every labelling: how many of them give which difference, counted without going through all.

Answers that no labelling can tell apart are put together, so that only how many of each kind are labelled as the
unmutated prompt's matters. Kinds without credit between them contribute independently of each other: what each can
contribute is added up, kind by kind.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Between = Callable[[int, int], int | None]

MOST = 20_000
"""Kinds of labellings of answers that hang together, and sums of several parts, that are still counted."""


@dataclass(frozen=True, slots=True)
class Table:
    """Credits as numbers; pairs of which nothing is known count as agreeing, whatever their labels.

    Values are R_bb − R_bm as whole numbers, to be divided by :attr:`unit`.

    Attributes:
        credits: Of every two answers in tenths, those to the unmutated prompt first; 10 with themselves.
        k: How many of them are to the unmutated prompt.
        sums: Of each answer's credits with all others.
        both: Whether values are R_bb + R_mm − 2 R_bm, but for what is the same under all labels: neither group is the
            one that is to agree with itself.
    """

    credits: tuple[tuple[int, ...], ...]
    k: int
    sums: tuple[int, ...]
    both: bool = False

    @classmethod
    def of(
        cls, between: Between, baseline: Sequence[int], mutated: Sequence[int], *, both: bool = False
    ) -> Table:
        """The table of these answers, by number."""
        numbers = [*baseline, *mutated]
        rows = [[10] * len(numbers) for _ in numbers]
        for place, one in enumerate(numbers):
            for other in range(place):
                found = between(one, numbers[other])
                rows[place][other] = rows[other][place] = 10 if found is None else found
        return cls(tuple(map(tuple, rows)), len(baseline), tuple(sum(row) - 10 for row in rows), both)

    @property
    def n(self) -> int:
        """How many are to mutations."""
        return len(self.credits) - self.k

    @property
    def unit(self) -> int:
        """What a difference of 1 is as a value."""
        return 10 * self._pairs * self._others * (self._other_pairs if self.both else 1)

    @property
    def _pairs(self) -> int:
        return self.k * (self.k - 1) // 2

    @property
    def _others(self) -> int:
        return self.k * self.n

    @property
    def _other_pairs(self) -> int:
        """Pairs of answers to mutations; of one answer there is none, and nothing to be added."""
        return self.n * (self.n - 1) // 2 or 1

    def value(self, chosen: Sequence[int]) -> int:
        """Of these answers labelled as the unmutated prompt's."""
        within = 0
        for place, one in enumerate(chosen):
            row = self.credits[one]
            for other in chosen[:place]:
                within += row[other]
        return self._of(within, sum(self.sums[one] for one in chosen))

    def _of(self, within: int, whole: int) -> int:
        """Of the credits within the chosen answers, and of all credits they have with others."""
        between = whole - 2 * within
        if not self.both:
            return within * self._others - between * self._pairs
        # The credits that are left, of pairs of the other answers, are all there are but these.
        rest = -(within + between) if self.n > 1 else 0
        return (
            within * self._others * self._other_pairs
            + rest * self._pairs * self._others
            - 2 * between * self._pairs * self._other_pairs
        )

    def distribution(self) -> dict[int, int] | None:
        """How many labellings give which value; ``None`` where they are too many to count."""
        found: dict[tuple[int, int], int] = {(0, 0): 1}
        left = len(self.credits)
        for part in _parts(alike(self.credits), self.credits):
            options = self._contributions(part)
            if options is None or len(found) * len(options) > 5 * MOST:
                return None
            left -= sum(map(len, part))
            added: dict[tuple[int, int], int] = defaultdict(int)
            for (chosen, value), weight in found.items():
                for (more, other), times in options.items():
                    if chosen + more <= self.k <= chosen + more + left:
                        added[chosen + more, value + other] += weight * times
            found = added
        return {value: weight for (_, value), weight in found.items()}

    def _contributions(self, part: Sequence[Sequence[int]]) -> dict[tuple[int, int], int] | None:
        """In how many ways these groups of alike answers can give how many chosen ones, and which value."""
        if math.prod(len(group) + 1 for group in part) > MOST:
            return None
        first = [group[0] for group in part]
        inner = [self.credits[group[0]][group[1]] if len(group) > 1 else 0 for group in part]
        found: dict[tuple[int, int], int] = defaultdict(int)
        for counts in _splits([len(group) for group in part], self.k):
            weight, within, whole = 1, 0, 0
            for place, count in enumerate(counts):
                if count:
                    row = self.credits[first[place]]
                    weight *= math.comb(len(part[place]), count)
                    within += inner[place] * count * (count - 1) // 2
                    within += sum(row[first[other]] * count * counts[other] for other in range(place))
                    whole += self.sums[first[place]] * count
            found[sum(counts), self._of(within, whole)] += weight
        return found


def alike(rows: Sequence[Sequence[int]]) -> list[list[int]]:
    """Answers that no labelling can tell apart: of equal credit with every other, and with each other."""
    groups: list[list[int]] = []
    known: dict[tuple[int, ...], list[int]] = {}
    for new, row in enumerate(rows):
        # With itself an answer has the credit that it has with its like, whatever that is.
        keys = [(*row[:new], credit, *row[new + 1 :]) for credit in sorted({*row})]
        group = next((known[key] for key in keys if key in known), None)
        if group is None:
            groups.append(group := [])
        group.append(new)
        for key in keys:
            known.setdefault(key, group)
    return groups


def _parts(groups: Sequence[list[int]], rows: Sequence[Sequence[int]]) -> list[list[list[int]]]:
    """The groups that hang together by credits between them, those of other parts having none with them."""
    parts: list[list[list[int]]] = []
    for group in groups:
        row = rows[group[0]]
        linked = [part for part in parts if any(row[other[0]] for other in part)]
        parts = [part for part in parts if part not in linked]
        parts.append([*(each for part in linked for each in part), group])
    return parts


def _splits(sizes: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    """Every way to take at most ``most`` from groups of these sizes."""
    if not sizes:
        yield ()
        return
    for count in range(min(sizes[0], most) + 1):
        for others in _splits(sizes[1:], most - count):
            yield (count, *others)
