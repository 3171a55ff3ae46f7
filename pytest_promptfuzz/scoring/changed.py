"""Two runs of one test: is one worse than the other by more than noise?

Were nothing changed, the two answers to one mutation would be draws of one distribution: which of them came first would
be chance. So the difference of each trial's credits has either sign equally often, and all signs together give the
exact distribution of their sum (a paired permutation test). Answers that one mutation was given several times are
flipped together. Runs that made other trials, since the prompt was changed, have no pairs: then the credits of both are
redistributed among the runs (a two-sample permutation test).

Both hold only where both runs' answers were compared with the same baseline answer: another baseline shifts all trials
of its input at once. Who calls leaves such inputs out.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_promptfuzz.scoring.sums import tails_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ALPHA = 0.05
"""How often a run may be called worse than another though nothing changed; likewise better."""
_MOST = 200  # pairs that differ whose signs are still counted exactly


@dataclass(frozen=True, slots=True)
class Difference:
    """The credits of two runs of one test, and how likely noise alone makes them differ so.

    Attributes:
        net: The later run's credits less the earlier one's, in tenths; of unpaired runs, the difference of their means.
        p_worse: How often noise alone makes the later run worse by as much or more.
        p_better: How often it makes it better by as much or more.
        levels: Every value that either p could have had with these credits, in order; empty where they are too many.
        least: The smallest of them, or less.
    """

    net: float
    p_worse: float
    p_better: float
    levels: tuple[float, ...] = ()
    least: float = 0.0

    def p(self, *, worse: bool) -> float:
        """One of the two."""
        return self.p_worse if worse else self.p_better

    def reached(self, p: float) -> float:
        """How often noise makes the test's own p so small or smaller: the largest value it can have up to ``p``."""
        if not self.levels:
            return p if p >= self.least else 0.0
        place = bisect_left(self.levels, p * (1 + 1e-9))
        return self.levels[place - 1] if place else 0.0


def paired(differences: Sequence[int]) -> Difference:
    """Trials that both runs made.

    Args:
        differences: Of the credits of each, later less earlier, in tenths; answers to one mutation added up.

    >>> paired([-10, -10, -10, -10, -10, 0, 0, 0]).p_worse
    0.03125
    """
    sizes = [abs(each) for each in differences if each]
    net = sum(differences)
    if len(sizes) > _MOST:
        spread = math.sqrt(sum(each * each for each in sizes))
        half = math.gcd(*sizes)  # of a step between two sums
        return Difference(net, _below(net + half, spread), _below(half - net, spread))
    ways = _signed(sizes)
    total = 2 ** len(sizes)
    levels: list[float] = []
    below = worse = better = 0
    for reached in sorted(ways):
        if reached >= net:
            better += ways[reached]
        below += ways[reached]
        if reached <= net:
            worse = below
        levels.append(below / total)
    return Difference(net, worse / total, better / total, tuple(levels), levels[0])


def unpaired(before: Sequence[int], now: Sequence[int]) -> Difference | None:
    """Runs that made other trials: whether which run had which credits is chance.

    Args:
        before: The credits of the earlier run's trials, in tenths.
        now: Of the later one's.

    Returns:
        ``None`` where one of them has no trial.
    """
    if not before or not now:
        return None
    net = sum(now) / len(now) - sum(before) / len(before)
    lost = [10 - each for each in (*before, *now)]
    if not any(lost):
        return Difference(0.0, 1.0, 1.0, (1.0,), 1.0)
    tails = tails_of(lost, {len(before), len(now)})
    # As much lost in the earlier run is as little lost in the later one.
    p_worse = tails[len(now)](sum(10 - each for each in now))
    p_better = tails[len(before)](sum(10 - each for each in before))
    lost.sort(reverse=True)
    least = min(tails[size](sum(lost[:size])) for size in tails)
    return Difference(net, min(1.0, p_worse), min(1.0, p_better), least=least)


def adjusted(found: Mapping[str, Difference], *, worse: bool) -> dict[str, float]:
    """The p of each of several tests as it is among all of them: Holm's procedure, for p that come in steps.

    The probability that any test unchanged has so small a p is at most the sum of what each can reach. A test in which
    few trials differ cannot reach a small p at all, and one in which none differs takes no part: it costs the others
    nothing (Tarone).

    Args:
        found: Of each test.
        worse: Whether it is asked who is worse; otherwise, who is better.
    """
    order = sorted(found, key=lambda name: found[name].p(worse=worse))
    result: dict[str, float] = {}
    least = 0.0
    for place, name in enumerate(order):
        p = found[name].p(worse=worse)
        if least < 1:
            least = max(least, min(1.0, p + sum(found[other].reached(p) for other in order[place + 1 :])))
        result[name] = least
    return result


def _signed(sizes: Sequence[int]) -> dict[int, int]:
    """In how many of all ways to give them signs the sizes have each sum."""
    ways = {0: 1}
    for size, count in sorted(Counter(sizes).items()):
        added: Counter[int] = Counter()
        for negative in range(count + 1):
            times, step = math.comb(count, negative), size * (count - 2 * negative)
            for reached, number in ways.items():
                added[reached + step] += number * times
        ways = dict(added)
    return ways


def _below(value: float, spread: float) -> float:
    return math.erfc(-value / spread / math.sqrt(2)) / 2
