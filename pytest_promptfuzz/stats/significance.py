"""Whether mutations change the answers: a permutation test within inputs; McNemar's test; Mann-Whitney.

Under the hypothesis that a mutation changes nothing, the answers to the unmutated prompt and those to mutations of one
input are draws of one distribution, so that their labels may be exchanged. The statistic is R_bb − R_bm, summed over
the inputs. The k · n pairs are never taken for independent.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from math import comb, erfc, isfinite, sqrt
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.randomness import Rng, root_key

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    Between = Callable[[int, int], int | None]
    Tail = Callable[[int], float]


# One input's answers under every labelling: how many of them give which difference, counted without going through all.
#
# Answers that no labelling can tell apart are put together, so that only how many of each kind are labelled as the
# unmutated prompt's matters. Kinds without credit between them contribute independently of each other: what each can
# contribute is added up, kind by kind.


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


def p_value(cases: Sequence[Labelled], *, seed: int = 0, enough: float = 0.0, both: bool = False) -> float:
    """The probability of a statistic as large as the one seen, or larger, were the labels exchangeable.

    Exact where alike answers leave few kinds of labellings; otherwise (1 + #≥) / (1 + B) over B random labellings,
    ended early where p is clearly above ``enough``.

    Args:
        cases: The inputs; one with fewer than two unmutated answers, or no mutated one, tells nothing.
        seed: Of the random labellings.
        enough: The p below which the answer matters.
        both: Whether the groups are alike, so that the statistic is R_bb + R_mm − 2 R_bm.
    """
    tables = [
        Table.of(case.between, case.baseline, case.mutated, both=both) for case in cases if _tells(case)
    ]
    if not tables:
        return 1.0
    whole = math.lcm(*(table.unit for table in tables))
    scales = [whole // table.unit for table in tables]
    seen = sum(table.value(range(table.k)) * scale for table, scale in zip(tables, scales, strict=True))
    joint = _joint(tables, scales)
    if joint is None:
        return _drawn(tables, scales, seen, seed, enough)
    return sum(weight for value, weight in joint.items() if value >= seen) / sum(joint.values())


def _tells(case: Labelled) -> bool:
    return len(case.baseline) >= 2 and len(case.mutated) >= 1


def _joint(tables: Sequence[Table], scales: Sequence[int]) -> dict[int, int] | None:
    """The distribution of the sum; ``None`` where it has too many values."""
    joint: dict[int, int] = {0: 1}
    for table, scale in zip(tables, scales, strict=True):
        each = table.distribution()
        if each is None or len(joint) * len(each) > MOST:
            return None
        added: dict[int, int] = defaultdict(int)
        for value, weight in joint.items():
            for other, times in each.items():
                added[value + other * scale] += weight * times
        joint = added
    return joint


def _drawn(tables: Sequence[Table], scales: Sequence[int], seen: int, seed: int, enough: float) -> float:
    rng = Rng(root_key(seed, ""), "permutation")
    above = drawn = 0
    while drawn < _DRAWS:
        for _ in range(_BATCH):
            value = 0
            for table, scale in zip(tables, scales, strict=True):
                value += table.value(_chosen(rng, len(table.credits), table.k)) * scale
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


# The Mann-Whitney U test: do two methods' figures differ, whatever their distribution?


MOST_EXACT = 40
"""Of so many figures together all orders are counted; of more, U is taken for normal."""
MOST_FLIPPED = 2_000_000
"""Up to so many cases times answers that differ, all ways in which cases may change sides are counted."""
_BITS = 40  # hold comb(MOST_EXACT, MOST_EXACT // 2), the most orders that give one sum of ranks


@dataclass(frozen=True, slots=True)
class RankTest:
    """What the test says of two samples.

    Attributes:
        u: Of the first: in how many pairs its figure is the larger, equal ones counted half.
        larger: The same as a share of all pairs, 0 to 1: how probably a figure of the first is the larger. 0.5 is no
            difference.
        p: Two-sided: how often chance alone would part two samples as far.
        exact: Whether all orders were counted, equal figures included.
    """

    u: float
    larger: float
    p: float
    exact: bool


def mcnemar(differences: Sequence[int]) -> float:
    """The two-sided p-value of McNemar's test: whether two things are right equally often on the same cases.

    Answers of one case need not be independent, so that whole cases change sides. With one answer a case it is
    McNemar's exact test. It is exact up to ``MOST_FLIPPED``, and by the normal distribution above.

    Args:
        differences: Of each case, on how many answers only the first is right, less on how many only the second is.

    Source: McNemar, Psychometrika 12 (1947), by the binomial distribution instead of chi-square; Durkalski et al.,
    Statistics in Medicine 22 (2003), for several answers a case.

    >>> mcnemar([1] * 8 + [-1]), mcnemar([0])
    (0.0390625, 1.0)
    >>> round(mcnemar([2] * 8 + [-1]), 4)
    0.0078
    """
    steps = sorted(abs(each) for each in differences if each)
    seen, whole = abs(sum(differences)), sum(steps)
    if not seen:
        return 1.0
    if len(steps) * whole > MOST_FLIPPED:
        return erfc(seen / sqrt(2 * sum(each**2 for each in steps)))
    chances = [1.0]  # of each sum of those cases that are on the second's side
    for step in steps:
        stay, move = [*chances, *[0.0] * step], [*[0.0] * step, *chances]
        chances = [(one + other) / 2 for one, other in zip(stay, move, strict=True)]
    return min(1.0, sum(each for at, each in enumerate(chances) if abs(whole - 2 * at) >= seen))


def mann_whitney(first: Sequence[float], second: Sequence[float]) -> RankTest:
    """Compare two independent samples by ranks.

    Args:
        first: Figures of one method, such as queries of each search.
        second: Those of the other, of other prompts; on the same prompts a paired test tells more.

    Raises:
        UsageError: A sample is empty, or holds what is no finite number.

    Source: Mann and Whitney (1947). Of up to 40 figures p is exact, over all orders of the ranks as they are, ties
    included; beyond that normal, with the correction for ties and for continuity.

    >>> mann_whitney([19, 22, 16, 29, 24], [20, 11, 17, 12])
    RankTest(u=17.0, larger=0.85, p=0.1111111111111111, exact=True)
    """
    for sample in (first, second):
        wrong = [each for each in sample if isinstance(each, bool) or not _finite(each)]
        if wrong or not sample:
            said = f"{wrong[0]!r:.40} is no finite number" if wrong else "a sample is empty"
            raise UsageError(f"mann_whitney: {said}; give two samples of numbers.")
    n, m = len(first), len(second)
    doubled, ties = _ranks([*first, *second])
    total = sum(doubled[:n])
    u = (total - n * (n + 1)) / 2
    exact = n + m <= MOST_EXACT
    p = _exact(doubled, n, total) if exact else _normal(u, n, m, ties)
    return RankTest(u, u / (n * m), p, exact)


def _finite(value: object) -> bool:
    return isinstance(value, int | float) and isfinite(value)


def _ranks(values: list[float]) -> tuple[list[int], list[int]]:
    """Twice the rank of each value, equal ones sharing theirs, and how many share each."""
    order = sorted(range(len(values)), key=values.__getitem__)
    doubled = [0] * len(values)
    ties: list[int] = []
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for place in order[start:end]:
            doubled[place] = start + 1 + end
        ties.append(end - start)
        start = end
    return doubled, ties


def _exact(doubled: list[int], n: int, total: int) -> float:
    """Twice the smaller tail of the sum of ``n`` ranks, over all ways to choose them."""
    # ways[k] is a polynomial in the sum of ranks, its coefficients packed into one integer.
    ways = [1] + [0] * n
    for rank in doubled:
        for k in range(n, 0, -1):
            ways[k] += ways[k - 1] << (_BITS * rank)
    mask = (1 << _BITS) - 1
    counts = [ways[n] >> (_BITS * at) & mask for at in range(sum(doubled) + 1)]
    tail = min(sum(counts[: total + 1]), sum(counts[total:]))
    return min(1.0, 2 * tail / comb(len(doubled), n))


def _normal(u: float, n: int, m: int, ties: list[int]) -> float:
    size = n + m
    variance = n * m / 12 * (size + 1 - sum(each**3 - each for each in ties) / (size * (size - 1)))
    if variance <= 0:
        return 1.0  # all figures are equal
    return min(1.0, erfc(max(0.0, abs(u - n * m / 2) - 0.5) / sqrt(2 * variance)))


# How large a sum of some of many numbers is by chance: the distribution of sampling without replacement.


_MOST = 2_000_000  # steps that an exact distribution may take


def tails_of(values: Sequence[int], sizes: Collection[int]) -> dict[int, Tail]:
    """For each size, the probability that so many of the values, drawn at random, sum up to as much or more.

    Exact where values are 0 or one other (the hypergeometric distribution, Fisher's exact test), or few; the normal
    approximation otherwise.

    Args:
        values: Whole numbers of 0 or more.
        sizes: How many are drawn, each from 1 to one less than there are values.
    """
    if len(set(values) - {0}) <= 1:
        return {size: _looked_up(_two_valued(values, size)) for size in sizes}
    # What is left after drawing some is as well drawn as they are: the smaller part suffices.
    halves = {min(size, len(values) - size) for size in sizes}
    if len(values) * max(halves, default=0) * sum(values) > _MOST:
        return {size: _normal_tail(values, size) for size in sizes}
    ways = _ways(values, halves)
    total = sum(values)
    return {
        size: _looked_up(
            ways[size] if size in ways else {total - each: n for each, n in ways[len(values) - size].items()}
        )
        for size in sizes
    }


def _two_valued(values: Sequence[int], size: int) -> dict[int, int]:
    unit, count = max(values, default=0), sum(map(bool, values))
    rest = len(values) - count
    low, high = max(0, size - rest), min(size, count)
    return {
        unit * each: math.comb(count, each) * math.comb(rest, size - each) for each in range(low, high + 1)
    }


def _ways(values: Sequence[int], sizes: Collection[int]) -> dict[int, dict[int, int]]:
    """For each size, in how many ways each sum comes about."""
    most = max(sizes)
    ways: list[dict[int, int]] = [defaultdict(int) for _ in range(most + 1)]
    ways[0][0] = 1
    for value in values:
        for size in range(most, 0, -1):
            for reached, number in ways[size - 1].items():
                ways[size][reached + value] += number
    return {size: ways[size] for size in sizes}


def _looked_up(ways: Mapping[int, int]) -> Tail:
    total, above = sum(ways.values()), 0
    tail: dict[int, float] = {}
    for reached in sorted(ways, reverse=True):
        above += ways[reached]
        tail[reached] = above / total
    return tail.__getitem__


def _normal_tail(values: Sequence[int], size: int) -> Tail:
    count = len(values)
    mean = sum(values) / count
    square = sum((each - mean) ** 2 for each in values) / count
    deviation = math.sqrt(square * size * (count - size) / (count - 1))
    # Half a unit: a sum is a step, not a point.
    return lambda reached: math.erfc((reached - 0.5 - size * mean) / deviation / math.sqrt(2)) / 2
