"""What breaks go with: of many parts that trials touch, those whose trials break more often than the others do.

Under the hypothesis that no part matters, a trial's answers have nothing to do with what it touches, so that they may
be exchanged between trials. All parts are tested at once with step-down minP (Westfall and Young 1993), each by its own
p, as exact as is cheap: the probability that anything is claimed where nothing matters is at most ``ALPHA``, whatever
parts there are and however they overlap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from pytest_promptfuzz.mutations.rng import Rng, root_key
from pytest_promptfuzz.scoring.intervals import share_interval
from pytest_promptfuzz.scoring.sums import tails_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from pytest_promptfuzz.scoring.intervals import Interval

    Finding = Literal["matters", "beside", "open", "few"]

Part = TypeVar("Part", bound="Hashable")

ALPHA = 0.05
DRAWS = 1999
_MANY = 400  # trials from which half as many draws must do


@dataclass(frozen=True, slots=True)
class Told(Generic[Part]):
    """A trial: what it touches, and how often it broke.

    Attributes:
        touched: The parts that it touches.
        broken: How many of its answers deviate, 0 to ``asked``.
        asked: How many there are, 1 or more.
    """

    touched: frozenset[Part]
    broken: int
    asked: int


@dataclass(frozen=True, slots=True)
class Share:
    """How often answers deviate.

    Attributes:
        trials: How many trials that is over.
        broken: How many of their answers deviate.
        asked: How many answers they have.
    """

    trials: int
    broken: int
    asked: int

    @property
    def share(self) -> float | None:
        """In [0, 1]; ``None`` without a trial."""
        return self.broken / self.asked if self.asked else None

    @property
    def interval(self) -> Interval | None:
        """Wilson's, 95 %, over trials: answers to the same change say less than those to different ones."""
        return share_interval(self.broken / self.asked, self.trials) if self.trials else None

    @classmethod
    def of(cls, trials: Iterable[Told[Part]]) -> Share:
        """Over these trials."""
        chosen = list(trials)
        return cls(len(chosen), sum(each.broken for each in chosen), sum(each.asked for each in chosen))


@dataclass(frozen=True, slots=True)
class Cause(Generic[Part]):
    """A part, or several that the same trials touch, which nothing can tell apart.

    Attributes:
        parts: Which, in the order they were given.
        touching: The trials that touch it.
        others: The trials that do not.
        p: Adjusted for all parts that were tested; 1 where it was not.
        finding: ``matters``; ``beside``: so often touched together with what matters more that nothing shows of its
            own; ``open``: nothing is shown; ``few``: so few trials tell that nothing could be.
        lift: How far the touching trials break more often than by chance, in standard deviations.
    """

    parts: tuple[Part, ...]
    touching: Share
    others: Share
    p: float
    finding: Finding
    lift: float


def causes(
    trials: Sequence[Told[Part]], parts: Sequence[Part], *, seed: int = 0, alpha: float = ALPHA
) -> list[Cause[Part]]:
    """The parts, those that matter first, then those that trials touching them break most often.

    Args:
        trials: What was asked.
        parts: What they may touch, each once.
        seed: Of the permutations.
        alpha: The probability that anything is claimed where nothing matters, in (0, 1).
    """
    groups: dict[int, list[Part]] = {}
    for part in parts:
        mask = sum(1 << place for place, each in enumerate(trials) if part in each.touched)
        groups.setdefault(mask, []).append(part)
    values = _values(trials)
    masks = [mask for mask in groups if smallest_p(values, mask.bit_count()) <= alpha]
    p_values = _adjusted(values, masks, seed) if masks else {}
    found: list[Cause[Part]] = []
    for mask, same in groups.items():
        touching = [each for place, each in enumerate(trials) if mask >> place & 1]
        others = [each for place, each in enumerate(trials) if not mask >> place & 1]
        p = p_values.get(mask, 1.0)
        finding: Finding = "few" if mask not in p_values else "matters" if p <= alpha else "open"
        lift = _lift(values, mask)
        found.append(Cause(tuple(same), Share.of(touching), Share.of(others), p, finding, lift))
    found.sort(key=worst_first)
    return _of_their_own(found, trials, seed, alpha)


def smallest_p(values: Sequence[int], touching: int) -> float:
    """The least p that a part could have which so many trials touch, whatever their answers, in (0, 1]."""
    ranked = sorted(values, reverse=True)
    if not 0 < touching < len(ranked):
        return 1.0
    last = ranked[touching - 1]
    ways = math.comb(ranked.count(last), ranked[:touching].count(last))
    return ways / math.comb(len(ranked), touching)


def _values(trials: Sequence[Told[Part]]) -> list[int]:
    """The share of each trial's answers that deviate, as whole numbers of one unit."""
    unit = math.lcm(*(each.asked for each in trials)) if trials else 1
    return [each.broken * (unit // each.asked) for each in trials]


def _lift(values: Sequence[int], mask: int) -> float:
    count, touching = len(values), mask.bit_count()
    if not 0 < touching < count:
        return 0.0
    mean = sum(values) / count
    square = sum((each - mean) ** 2 for each in values) / count
    if not square:
        return 0.0
    seen = sum(each for place, each in enumerate(values) if mask >> place & 1)
    return (seen - touching * mean) / math.sqrt(square * touching * (count - touching) / (count - 1))


def _adjusted(values: Sequence[int], masks: Sequence[int], seed: int) -> dict[int, float]:
    """By part, the p of "it does not matter", adjusted for all of them; each touched by some trials and not by all."""
    draws = DRAWS if len(values) <= _MANY else DRAWS // 2
    rng = Rng(root_key(seed, ""), "causes")
    tails = tails_of(values, {mask.bit_count() for mask in masks})
    raw: list[list[float]] = [[] for _ in masks]
    told = [(mask, tails[mask.bit_count()], found) for mask, found in zip(masks, raw, strict=True)]
    for number in range(draws + 1):  # the first is what was seen: all are exchangeable under the hypothesis
        levels = _levels(values if not number else rng.shuffled(values))
        for mask, tail, found in told:
            found.append(tail(sum(step * (mask & level).bit_count() for step, level in levels)))
    order = sorted(zip(masks, raw, strict=True), key=lambda each: (each[1][0], -_lift(values, each[0])))
    least = [2.0] * (draws + 1)
    adjusted: list[float] = []
    for _, found in reversed(order):
        least = list(map(min, least, found))
        adjusted.append(sum(each <= found[0] for each in least) / (draws + 1))
    reached = accumulate(reversed(adjusted), max)
    return {mask: p for (mask, _), p in zip(order, reached, strict=True)}


def _levels(values: Sequence[int]) -> list[tuple[int, int]]:
    """Values by trial as sums of steps: ``(step, the trials that reach it)``, trials as the bits of a number."""
    places: dict[int, int] = {}
    for place, value in enumerate(values):
        if value:
            places[value] = places.get(value, 0) | 1 << place
    levels: list[tuple[int, int]] = []
    reaching, above = 0, 0
    for value in sorted(places, reverse=True):
        if reaching:
            levels.append((above - value, reaching))
        reaching |= places[value]
        above = value
    if reaching:
        levels.append((above, reaching))
    return levels


def _of_their_own(
    found: list[Cause[Part]], trials: Sequence[Told[Part]], seed: int, alpha: float
) -> list[Cause[Part]]:
    """Say ``beside`` of what shows nothing of its own in the trials that touch nothing which matters more."""
    ahead: set[Part] = set()
    told: list[Cause[Part]] = []
    for each in found:
        if each.finding != "matters":
            told.append(each)
            continue
        rest = [trial for trial in trials if not trial.touched & ahead]
        if ahead and not _shows(each, rest, seed, alpha):
            told.append(replace(each, finding="beside"))
            continue
        ahead.update(each.parts)
        told.append(each)
    return sorted(told, key=worst_first)


def _shows(cause: Cause[Part], trials: Sequence[Told[Part]], seed: int, alpha: float) -> bool:
    values = _values(trials)
    mask = sum(1 << place for place, each in enumerate(trials) if cause.parts[0] in each.touched)
    if smallest_p(values, mask.bit_count()) > alpha:
        return False
    return _adjusted(values, [mask], seed)[mask] <= alpha


_ORDER = {"matters": 0, "beside": 1, "open": 2, "few": 3}


def worst_first(cause: Cause[Part]) -> tuple[int, float]:
    """What matters before what may not, and each by how far it breaks answers."""
    return _ORDER[cause.finding], -cause.lift
