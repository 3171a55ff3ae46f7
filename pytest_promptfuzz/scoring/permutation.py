"""Whether mutations change the answers: a permutation test within inputs.

Under the hypothesis that a mutation changes nothing, the answers to the unmutated prompt and those to mutations of one
input are draws of one distribution, so that their labels may be exchanged. The statistic is R_bb − R_bm, summed over
the inputs. The k · n pairs are never taken for independent.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_promptfuzz.mutations.rng import Rng, root_key
from pytest_promptfuzz.scoring.labellings import MOST, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.scoring.labellings import Between

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
