r"""Whether trials that came out worse than in the base would do so again: a flipped trial is asked more often.

A trial that held in the base and failed now has flipped. Were nothing changed, each of its answers would fail with the
same probability q, which is not known. That it holds at first, fails now and fails r times more then has the
probability (1 - q) q^(r+1), which is largest at q = (r+1)/(r+2):

    p0(r) = 1/(r+2) ((r+1)/(r+2))^(r+1)

With up to j answers that hold among the r, it is at most

    p0(r, j) = max over q of (1 - q) q P(Bin(r, 1 - q) <= j)

and where the base was answered ``held`` times and this run ``failed`` times (``samples=``), all of them alike,

    p0 = max over q of (1 - q)^held q^failed P(Bin(r, 1 - q) <= j).

None of this needs to know q, nor that q is the same for all trials. So the number of trials of n that come out so is,
by chance, no larger than Binomial(n, p0), in distribution. Which of them were asked does not matter: one that was not
asked counts as one that held. Trials are graded by how many answers held, each grade with a score of -log p0(r, j): as
P(score >= s) is bounded for each s, the sum of scores is no larger than that of n independent trials which reach the
bounds, in distribution, and p is read from these.

Trials are looked at a few times, with more answers each time; each look has its own share of the error, so that p is
the least of p/share over all looks.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence


class Look(NamedTuple):
    """A point at which flipped trials are judged.

    Attributes:
        repeats: Answers that each was given by then, the run's own not counted.
        exceptions: How many of them may hold; a trial with more of them shows nothing and is not asked any more.
        share: Of the error.
    """

    repeats: int
    exceptions: int
    share: float


LOOKS = (Look(4, 1, 0.15), Look(8, 2, 0.25), Look(18, 3, 0.6))
"""Chosen with ``benchmarks/regressions.py``. The first suffices where half of eight trials broke for good; the last
proves three of eight, and four of eight among fifty tests."""
MOST_CALLS = 90
"""Answers to the flipped trials of one test: five of them up to the last look."""
MOST_FLIPS = MOST_CALLS // LOOKS[0].repeats
"""Flipped trials of one test that are asked again; the first in the order of its plan."""
FIRST_SHARE, FLIP_SHARE = 0.625, 0.375
"""How a comparison's error is split between the first answers of all trials and the later ones of flipped trials. The
first share keeps five trials that all became worse significant, of one test: (1/2)^5 = 0.625 * 0.05."""
_UNIT = 4  # scores are whole numbers: so many for each factor of e
_STEPS = 90  # of a search for a maximum; each leaves two thirds of the interval


class FlipShape(NamedTuple):
    """What a test's flips are judged by; it must not depend on how trials came out.

    Attributes:
        trials: Of the plans of both runs: as many as could have flipped.
        held: Answers in the base, of each.
        failed: Answers of this run, of each, before any was asked again.
    """

    trials: int
    held: int = 1
    failed: int = 1


@lru_cache(maxsize=512)
def chance(repeats: int, holds: int = 0, *, held: int = 1, failed: int = 1) -> float:
    """How often, at the most, an unchanged trial flips and then holds so seldom; whatever its flakiness.

    Args:
        repeats: Answers after the flip.
        holds: How many of them hold, at the most.
        held: Answers before it, all of which held.
        failed: Answers that are the flip, all of which failed.

    >>> [round(chance(each), 3) for each in (6, 16)], round(chance(8, 1), 3)
    ([0.049, 0.021], 0.084)
    """
    if not holds:
        failing = failed + repeats
        every = held + failing
        return (held / every) ** held * (failing / every) ** failing

    def logarithm(q: float) -> float:
        kept = sum(math.comb(repeats, j) * (1 - q) ** j * q ** (repeats - j) for j in range(holds + 1))
        return held * math.log1p(-q) + failed * math.log(q) + math.log(kept)

    # Every factor is log-concave in q, the last as a beta distribution's: there is one maximum.
    low, high = 1e-9, 1 - 1e-9
    for _ in range(_STEPS):
        third = (high - low) / 3
        if logarithm(low + third) < logarithm(high - third):
            low += third
        else:
            high -= third
    return math.exp(logarithm((low + high) / 2)) * (1 + 1e-12)


def p_of_count(trials: int, flipped: int, p0: float) -> float:
    """P(Binomial(trials, p0) >= flipped): how often so many trials flip for good by chance.

    >>> round(p_of_count(8, 4, chance(6)), 4)
    0.0003
    """
    return math.fsum(
        math.comb(trials, k) * p0**k * (1 - p0) ** (trials - k) for k in range(flipped, trials + 1)
    )


def p_at(look: Look, holds: Sequence[int], shape: FlipShape) -> float:
    """How often chance alone makes trials flip and stay so, at one look, before its share of the error.

    Args:
        look: Which.
        holds: Of each trial that flipped and has the look's answers, how many of these held.
        shape: The test's.
    """
    bounds = _bounds(look, shape)
    scores = [_score(each) for each in bounds]
    reached = sum(scores[each] for each in holds if each <= look.exceptions)
    return _tail(bounds, shape.trials, reached)


def p_of(again: Sequence[Sequence[bool]], shape: FlipShape, looks: Sequence[Look] = LOOKS) -> float:
    """How often chance alone makes trials flip and stay so, over all looks.

    Args:
        again: Of each flipped trial, whether it failed each time that it was asked again, in order.
        shape: The test's.
        looks: When they are looked at.

    >>> p_of([[True] * 4] * 4, FlipShape(8)) < 0.02, p_of([[True, False, False, False]] * 4, FlipShape(8))
    (True, 1.0)
    """
    least = 1.0
    for look in looks:
        holds = [
            sum(not failed for failed in each[: look.repeats]) for each in again if len(each) >= look.repeats
        ]
        least = min(least, p_at(look, holds, shape) / look.share)
    return least


def least_p(shape: FlipShape, flipped: int | None = None, looks: Sequence[Look] = LOOKS) -> float:
    """The smallest p that there can be.

    Args:
        shape: The test's.
        flipped: If so many trials flipped, never hold again, and are asked as often as a test's calls suffice for;
            ``None`` for all trials, and any number of calls.
        looks: When they are looked at.
    """
    if flipped is None:
        every = [(_bounds(look, shape)[0] ** shape.trials, look.share) for look in looks]
        return min(1.0, *(p / share for p, share in every))
    most = min(flipped, shape.trials)
    counts = [min(most, MOST_CALLS // look.repeats) for look in looks]
    return min(
        1.0, *(p_at(look, [0] * count, shape) / look.share for look, count in zip(looks, counts, strict=True))
    )


def needed(shape: FlipShape, alpha: float) -> int | None:
    """How many trials must have flipped for that to be provable; ``None`` where even all are too few.

    >>> needed(FlipShape(8), 0.05 * FLIP_SHARE), needed(FlipShape(8), 0.05 * FLIP_SHARE / 50)
    (3, 4)
    """
    most = min(shape.trials, MOST_FLIPS)
    return next((count for count in range(1, most + 1) if least_p(shape, count) <= alpha), None)


class FlipRequest(NamedTuple):
    """A flipped trial is to be asked so many ``times`` more."""

    flip: int
    times: int


FlipEnd = str
"""Why no more is asked: ``proven``; ``noise``, where more would not prove it; ``calls`` and ``session``, where more
might but the calls of the test or of the session are used up; ``too-few`` flips to prove anything; ``unanswered``;
``new``, where it was not known what to compare the test with while it ran."""


def asking(
    again: Sequence[Sequence[bool]], shape: FlipShape, alpha: float, *, most: int, session: int
) -> Generator[list[FlipRequest], None, FlipEnd]:
    """Ask flipped trials again, look by look, until they prove a drop or cannot any more.

    Yields what is to be asked, one batch a look; the answers are to be added to ``again`` before it goes on. A trial
    that held too often to count at a look is not asked any more.

    Args:
        again: Of each flipped trial, whether it failed each time that it was asked again so far.
        shape: The test's.
        alpha: The error that the test may make, of flips.
        most: Calls that it may take.
        session: Calls that the session may take.
    """
    if least_p(shape, len(again)) > alpha:
        return "too-few"
    if p_of(again, shape) <= alpha:
        return "proven"
    made, alive = 0, list(range(len(again)))
    for look in LOOKS:
        wanted = _affordable(again, alive, look, min(most, session) - made)
        if wanted:
            before = sum(map(len, again))
            yield wanted
            got = sum(map(len, again)) - before
            made += got
            if got < sum(each.times for each in wanted):
                return "proven" if p_of(again, shape) <= alpha else "unanswered"
        if p_of(again, shape) <= alpha:
            return "proven"
        alive = [each for each in alive if again[each][: look.repeats].count(False) <= look.exceptions]
        if least_p(shape, len(alive)) > alpha:
            return "noise"
        if any(len(again[each]) < look.repeats for each in alive):
            return "session" if session < most else "calls"
    return "noise"


def _affordable(
    again: Sequence[Sequence[bool]], alive: Sequence[int], look: Look, left: int
) -> list[FlipRequest]:
    """The answers that a look lacks, of as many trials as the calls suffice for."""
    wanted: list[FlipRequest] = []
    for number in alive:
        missing = look.repeats - len(again[number])
        if missing > left:
            break
        if missing > 0:
            left -= missing
            wanted.append(FlipRequest(number, missing))
    return wanted


@lru_cache(maxsize=512)
def _bounds(look: Look, shape: FlipShape) -> tuple[float, ...]:
    """How often a trial comes out so well or better at most, by how many answers held."""
    return tuple(
        chance(look.repeats, holds, held=shape.held, failed=shape.failed)
        for holds in range(look.exceptions + 1)
    )


def _score(bound: float) -> int:
    return max(1, round(-_UNIT * math.log(bound)))


@lru_cache(maxsize=4096)
def _tail(bounds: tuple[float, ...], trials: int, reached: int) -> float:
    """How often so many independent trials reach a sum of scores, where each reaches its bounds."""
    if reached <= 0:
        return 1.0
    one = [0.0] * reached
    one[0] = 1 - bounds[-1]
    rarer = 0.0
    for bound in bounds:
        if (score := _score(bound)) < reached:
            one[score] += bound - rarer
        rarer = bound
    below = [1.0] + [0.0] * (reached - 1)
    left = trials
    while left:
        if left & 1:
            below = _sums(below, one)
        left >>= 1
        if left:
            one = _sums(one, one)
    return min(1.0, max(1e-15, 1 - math.fsum(below)))


def _sums(first: Sequence[float], second: Sequence[float]) -> list[float]:
    """The distribution of a sum, as far as it is below the length of both."""
    found = [0.0] * len(first)
    for at, chance_ in enumerate(first):
        if chance_:
            for place in range(len(first) - at):
                found[at + place] += chance_ * second[place]
    return found
