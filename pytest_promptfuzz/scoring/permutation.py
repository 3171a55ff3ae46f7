"""Whether mutations change the answers: a permutation test within inputs.

Under the hypothesis that a mutation changes nothing, the answers to the unmutated prompt and those to mutations of one
input are draws of one distribution, so that their labels may be exchanged. The statistic is R_bb − R_bm, summed over
the inputs. The k · n pairs are never taken for independent.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from pytest_promptfuzz.mutations.rng import Rng, root_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Between = Callable[[int, int], int | None]

_MOST_EXACT = 20_000  # labellings, after alike answers were put together, that are still counted one by one
_DRAWS = 20_000
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Labelled:
    """The answers of one input that the test is over.

    Attributes:
        between: The credit of two of them, in tenths.
        baseline: The numbers of those to the unmutated prompt.
        mutated: The numbers of those to mutations.
    """

    between: Between
    baseline: tuple[int, ...]
    mutated: tuple[int, ...]


def smallest_p(cases: Sequence[Labelled]) -> float:
    """The least p that the test could give with so many answers, whatever they are: one labelling among all."""
    logarithm = sum(
        math.log(math.comb(len(case.baseline) + len(case.mutated), len(case.mutated)))
        for case in cases
        if _tells(case)
    )
    return math.exp(-logarithm)


def p_value(cases: Sequence[Labelled], *, seed: int = 0, enough: float = 0.0) -> float:
    """The probability of a statistic as large as the one seen, or larger, were the labels exchangeable.

    Exact where alike answers leave few labellings; otherwise (1 + #≥) / (1 + B) over B random labellings, ended
    early where p is clearly above ``enough``.

    Args:
        cases: The inputs; one with fewer than two unmutated answers, or no mutated one, tells nothing.
        seed: Of the random labellings.
        enough: The p below which the answer matters.
    """
    tables = [_Table.of(case) for case in cases if _tells(case)]
    if not tables:
        return 1.0
    seen = sum((table.seen for table in tables), Fraction(0))
    distributions = [table.distribution() for table in tables]
    joint = _joint([each for each in distributions if each is not None])
    if joint is not None and all(each is not None for each in distributions):
        total = sum(joint.values())
        return sum(weight for value, weight in joint.items() if value >= seen) / total
    return _drawn(tables, float(seen), seed, enough)


def _tells(case: Labelled) -> bool:
    return len(case.baseline) >= 2 and len(case.mutated) >= 1


@dataclass(frozen=True, slots=True)
class _Table:
    """One input's credits as numbers; pairs of which nothing is known count as agreeing, whatever their labels."""

    credits: tuple[tuple[int, ...], ...]
    k: int
    groups: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, case: Labelled) -> _Table:
        numbers = [*case.baseline, *case.mutated]

        def credit(one: int, other: int) -> int:
            found = case.between(one, other) if one != other else 10
            return 10 if found is None else found

        rows = tuple(tuple(credit(one, other) for other in numbers) for one in numbers)
        return cls(rows, len(case.baseline), _alike(rows))

    @property
    def n(self) -> int:
        return len(self.credits) - self.k

    @property
    def seen(self) -> Fraction:
        return self.statistic(range(self.k))

    def statistic(self, chosen: Sequence[int]) -> Fraction:
        """R_bb − R_bm with these answers labelled as the baseline's."""
        within = sum(self.credits[one][other] for one in chosen for other in chosen if other < one)
        rows = sum(sum(self.credits[one]) - 10 for one in chosen)
        return self._of(within, rows - 2 * within)

    def _of(self, within: int, across: int) -> Fraction:
        pairs, others = self.k * (self.k - 1) // 2, self.k * self.n
        return Fraction(within * others - across * pairs, 10 * pairs * others)

    def distribution(self) -> dict[Fraction, int] | None:
        """How many labellings give which statistic; ``None`` where there are too many kinds of them."""
        kinds = math.prod(len(group) + 1 for group in self.groups)
        if kinds > _MOST_EXACT:
            return None
        first = [group[0] for group in self.groups]
        inner = [self.credits[group[0]][group[1]] if len(group) > 1 else 0 for group in self.groups]
        rows = [sum(self.credits[each]) - 10 for each in first]
        found: dict[tuple[int, int], int] = defaultdict(int)
        for counts in _splits([len(group) for group in self.groups], self.k):
            weight = math.prod(
                math.comb(len(group), count) for group, count in zip(self.groups, counts, strict=True)
            )
            there = [place for place, count in enumerate(counts) if count]
            within = sum(inner[each] * counts[each] * (counts[each] - 1) // 2 for each in there)
            within += sum(
                self.credits[first[one]][first[other]] * counts[one] * counts[other]
                for place, one in enumerate(there)
                for other in there[:place]
            )
            across = sum(rows[each] * counts[each] for each in there) - 2 * within
            found[within, across] += weight
        distribution: dict[Fraction, int] = defaultdict(int)
        for sums, weight in found.items():
            distribution[self._of(*sums)] += weight
        return dict(distribution)


def _alike(rows: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Answers that no labelling can tell apart: of equal credit with every other, and with each other."""
    groups: list[list[int]] = []
    for new in range(len(rows)):
        for group in groups:
            first = group[0]
            others = all(
                rows[new][each] == rows[first][each] for each in range(len(rows)) if each not in (new, first)
            )
            if others and (len(group) == 1 or rows[new][first] == rows[first][group[1]]):
                group.append(new)
                break
        else:
            groups.append([new])
    return tuple(tuple(group) for group in groups)


def _splits(sizes: Sequence[int], total: int) -> Iterator[tuple[int, ...]]:
    """Every way to take ``total`` from groups of these sizes."""
    if len(sizes) == 1:
        if total <= sizes[0]:
            yield (total,)
        return
    rest = sum(sizes[1:])
    for count in range(max(0, total - rest), min(sizes[0], total) + 1):
        for others in _splits(sizes[1:], total - count):
            yield (count, *others)


def _joint(distributions: Sequence[dict[Fraction, int]]) -> dict[Fraction, int] | None:
    """The distribution of the sum; ``None`` where it has too many values."""
    joint: dict[Fraction, int] = {Fraction(0): 1}
    for each in distributions:
        if len(joint) * len(each) > _MOST_EXACT:
            return None
        added: dict[Fraction, int] = defaultdict(int)
        for value, weight in joint.items():
            for other, times in each.items():
                added[value + other] += weight * times
        joint = dict(added)
    return joint


def _drawn(tables: Sequence[_Table], seen: float, seed: int, enough: float) -> float:
    rng = Rng(root_key(seed, ""), "permutation")
    seen -= 1e-9  # sums of floats: equal is at least as large
    above = drawn = 0
    while drawn < _DRAWS:
        for _ in range(_BATCH):
            value = 0.0
            for table in tables:
                value += float(table.statistic(_chosen(rng, len(table.credits), table.k)))
            above += value >= seen
        drawn += _BATCH
        # Twenty such labellings more than p may have: no further draw would make it small.
        if above > 20 + 2 * enough * drawn:
            break
    return (1 + above) / (1 + drawn)


def _chosen(rng: Rng, total: int, count: int) -> list[int]:
    numbers = list(range(total))
    for place in range(count):
        other = place + rng.below(total - place)
        numbers[place], numbers[other] = numbers[other], numbers[place]
    return numbers[:count]
