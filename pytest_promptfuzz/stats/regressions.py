"""Whether one run of a test is worse than another, or its answers drifted, by more than noise: paired tests.

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
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, comb
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from pytest_promptfuzz.stats.scores import CREDITS

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Hashable, Mapping, Sequence

    from pytest_promptfuzz.stats.scores import TrialOutcome


ALPHA = 0.05
"""How often a run may be called worse than another though nothing changed; likewise better."""
_MOST = 200  # pairs that differ whose signs are still counted exactly


class CreditDifference(NamedTuple):
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


def paired(differences: Sequence[int]) -> CreditDifference:
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
        return CreditDifference(net, _below(net + half, spread), _below(half - net, spread))
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
    return CreditDifference(net, worse / total, better / total, tuple(levels), levels[0])


def unpaired(before: Sequence[int], now: Sequence[int]) -> CreditDifference | None:
    """Runs that made other trials: whether which run had which credits is chance.

    Args:
        before: The credits of the earlier run's trials, in tenths.
        now: Of the later one's.

    Returns:
        ``None`` where one of them has no trial.
    """
    from pytest_promptfuzz.stats.significance import tails_of

    if not before or not now:
        return None
    net = sum(now) / len(now) - sum(before) / len(before)
    lost = [10 - each for each in (*before, *now)]
    if not any(lost):
        return CreditDifference(0.0, 1.0, 1.0, (1.0,), 1.0)
    tails = tails_of(lost, {len(before), len(now)})
    # As much lost in the earlier run is as little lost in the later one.
    p_worse = tails[len(now)](sum(10 - each for each in now))
    p_better = tails[len(before)](sum(10 - each for each in before))
    lost.sort(reverse=True)
    least = min(tails[size](sum(lost[:size])) for size in tails)
    return CreditDifference(net, min(1.0, p_worse), min(1.0, p_better), least=least)


def adjusted(found: Mapping[str, CreditDifference], *, worse: bool) -> dict[str, float]:
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


# Two runs of one test, trial by trial: did it become worse, by more than chance?
#
# The exact sign test over the trials whose credits differ (McNemar's, where credits are 0 or 1): were both runs alike,
# a trial that differs would be worse today as often as better.


Key = TypeVar("Key", bound="Hashable")


@dataclass(frozen=True, slots=True)
class Paired:
    """How the trials of a run compare with the same trials of a run before.

    Attributes:
        worse: With less credit today.
        better: With more.
        same: With the same.
        before: Eq. 1 over these trials as they were then, 0 to 1.
        unknown: Without an outcome today, though they had one.
        alpha: What p is held against.
    """

    worse: int
    better: int
    same: int
    before: Fraction = Fraction(1)
    unknown: int = 0
    alpha: float = 0.05

    @classmethod
    def of(
        cls, before: Mapping[Key, TrialOutcome], today: Mapping[Key, TrialOutcome], *, alpha: float
    ) -> Paired:
        """Pair trials by what names them; those that only one run made, or that had no outcome before, are left out."""
        worse = better = same = unknown = tenths = 0
        for key, outcome in today.items():
            was, now = CREDITS.get(before.get(key, "error")), CREDITS.get(outcome)
            if was is None:
                continue
            tenths += was
            worse += now is not None and now < was
            better += now is not None and now > was
            same += now == was
            unknown += now is None
        pairs = worse + better + same + unknown
        return cls(worse, better, same, Fraction(tenths, 10 * max(1, pairs)), unknown, alpha)

    @property
    def pairs(self) -> int:
        """Trials that both runs made."""
        return self.worse + self.better + self.same + self.unknown

    @property
    def p(self) -> float:
        """How often chance alone makes at least so many of the trials that differ worse."""
        return _p(self.worse, self.better)

    @property
    def least(self) -> float:
        """The smallest p that so many pairs can give, were all of them worse."""
        return 0.5**self.pairs

    @property
    def is_worse(self) -> bool:
        """Whether today is worse by more than chance, whatever the trials without an outcome are."""
        return _p(self.worse, self.better + self.unknown) <= self.alpha

    @property
    def may_be_worse(self) -> bool:
        """Whether it would be, were the trials without an outcome worse."""
        return _p(self.worse + self.unknown, self.better) <= self.alpha

    def lasting(self, score: Fraction) -> Paired:
        """The same, with as many worse trials as today's score leaves once what did not come again is taken off it.

        Args:
            score: Today's, of what came again when it was asked again, in [0, 1].
        """
        net = ceil((self.before - score) * self.pairs)
        worse = max(0, min(self.worse, self.better + net))
        return replace(self, worse=worse, same=self.same + self.worse - worse)


def _p(worse: int, better: int) -> float:
    differ = worse + better
    return float(Fraction(sum(comb(differ, each) for each in range(worse, differ + 1)), 2**differ))


# Whether answers of today are others than those that were accepted: a decision about noise, and what is said of it.
#
# Both are draws of one distribution where nothing changed, so that "then" and "now" are labels that may be exchanged
# within each input. Answers are looked at up to three times, with 1, 4 and 8 of today; the error is split over the
# looks at which so many could show anything.


Kind = Literal["model", "prompt", "comparator"]


"""How often a test whose model is as it was may be said to have another."""
LOOKS = (1, 4, 8)
"""Answers of today, to each input, at each look."""
_SHARES = {1: 0.2, 4: 0.5, 8: 0.3}
_HOPELESS = 0.5  # a p above which more answers are not worth their calls
_CALLS = 47  # asked at least, even if the test itself made fewer


@dataclass(frozen=True, slots=True)
class Drift:
    """One way in which a test is not what its snapshot says; ``reporting.model.DriftReport`` describes the fields."""

    kind: Kind
    policy: str
    message: str
    before: Any = None
    after: Any = None
    case: int | None = None
    p: float | None = None
    undecided: bool = False
    diff: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class Beside:
    """The answers of one input, then and now.

    Attributes:
        between: The credit of two of them by number, in tenths; ``None`` where nothing tells.
        then: The numbers of those that were accepted.
        now: Those of today, in the order in which they came.
    """

    between: Callable[[int, int], int | None]
    then: Sequence[int]
    now: list[int] = field(default_factory=list)

    def agrees(self) -> bool | None:
        """Whether today's first answer is like one that was accepted; ``None`` where nothing tells."""
        known = [self.between(each, self.now[0]) for each in self.then]
        told = [each for each in known if each is not None]
        return any(told) if told else None


class RunEvidence(NamedTuple):
    """What the answers say.

    Attributes:
        changed: Whether they are others; ``None`` where so few cannot tell, or nothing can.
        p: That noise alone makes them differ so; ``None`` where nothing was tested.
        case: The place of the input that shows it most.
        undecided: Whether it is ``None`` since nothing tells the answers to that input apart: more would not help.
    """

    changed: bool | None
    p: float | None = None
    case: int = 0
    undecided: bool = False


def compared(
    cases: Sequence[Beside], *, more: bool, made: int = 0, seed: int = 0, alpha: float = ALPHA
) -> Generator[int, None, RunEvidence]:
    """Say whether answers changed.

    Yields how many answers of today each input is to have; they are to be added before it goes on. A run that came to
    nothing is left out.

    Args:
        cases: The inputs of one test, each with an answer of today at least.
        more: Whether more may be asked.
        made: The calls that the test made by itself: it is asked no more than twice as many.
        seed: Of random labellings.
        alpha: The error that may be made.
    """
    agree = [each.agrees() for each in cases]
    if all(agree):
        return RunEvidence(changed=False)
    blind = None if None not in agree else RunEvidence(None, case=agree.index(None), undecided=True)
    if blind is not None and False not in agree:
        return blind
    told = yield from _tested(cases, agree.index(False), more=more, made=made, seed=seed, alpha=alpha)
    # An input whose answers nobody can tell apart is not taken for one that is answered as before.
    return told if told.changed or blind is None else blind


def _tested(
    cases: Sequence[Beside], worst: int, *, more: bool, made: int, seed: int, alpha: float
) -> Generator[int, None, RunEvidence]:
    """The same, where the first answer to an input, ``worst``, is none of those that were accepted."""
    from pytest_promptfuzz.stats.significance import Labelled, p_value

    if any(len(each.then) < 2 for each in cases):
        return RunEvidence(None)
    have = min(len(each.now) for each in cases)
    looks = _affordable(cases, made) if more else [min(have, LOOKS[-1])]
    shares = _shares(cases, looks, alpha)
    p: float | None = None
    for look, share in shares.items():
        if min(len(each.now) for each in cases) < look:
            yield look
        if not all(each.now for each in cases):
            return RunEvidence(None, p, worst)
        labelled = [Labelled(each.between, tuple(each.then), tuple(each.now[:look])) for each in cases]
        p = p_value(labelled, seed=seed, enough=share, both=True)
        if p <= share:
            return RunEvidence(changed=True, p=p, case=worst)
        if p > _HOPELESS:
            return RunEvidence(changed=False, p=p, case=worst)
    return RunEvidence(False if shares else None, p, worst)


def _affordable(cases: Sequence[Beside], made: int) -> list[int]:
    limit = max(_CALLS, made)
    return [look for look in LOOKS if sum(max(0, look - len(each.now)) for each in cases) <= limit]


def _shares(cases: Sequence[Beside], looks: Sequence[int], alpha: float) -> dict[int, float]:
    """The error that may be made at each look which could show anything; the others are left out."""
    usable = {look: _SHARES.get(look, 1.0) for look in looks}
    while usable:
        whole = sum(usable.values())
        shares = {look: alpha * part / whole for look, part in usable.items()}
        unable = {look: ratio for look, share in shares.items() if (ratio := _least(cases, look) / share) > 1}
        if not unable:
            return shares
        del usable[max(unable, key=lambda look: unable[look])]  # what it had may be enough for the next
    return {}


def _least(cases: Sequence[Beside], look: int) -> float:
    """The least p there can be: one labelling of all, or two where both groups are of one size."""
    logarithm = 0.0
    for each in cases:
        then = len(each.then)
        logarithm += math.log(math.comb(then + look, look) / (2 if then == look else 1))
    return math.exp(-logarithm)
