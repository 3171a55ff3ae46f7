"""The smallest part of a failing change that still fails: which of its edits are needed.

Found by divide and conquer (QuickXplain, Junker 2004), which asks about 2k log(n/k) times for k needed edits of n, and
then held to be 1-minimal: leaving out any one of them passes. Where what fails is not monotone (edits that mend each
other), divide and conquer may miss; delta debugging (ddmin, Zeller and Hildebrandt 2002) goes on from the smallest set
that is known to fail.

Nothing is asked here: generators yield the sets of edits that are to be tried, and are sent whether each fails *in the
same way* as the whole change did. Another failure counts as none, so that the result is no other failure's.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from pytest_promptfuzz.searching.asked import Asked, BudgetSpent

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from pytest_promptfuzz.searching.asked import Parts

    Steps = Generator[list[Parts], list[bool], Parts]

_ON_THE_WAY = 0.05  # error of a decision that the end is checked for
_AT_THE_END = 0.002  # of those that the result rests on
_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Shrunk:
    """What is needed of a change.

    Attributes:
        kept: Places of the edits that are needed, ascending.
        minimal: Whether leaving out any one of them was seen to pass.
        calls: How often was asked.
    """

    kept: tuple[int, ...]
    minimal: bool
    calls: int


def shrinking(count: int, *, asked: Asked | None = None) -> Generator[list[Parts], list[bool], Shrunk]:
    """Which of ``count`` edits a failure needs.

    Yields the sets to be tried, all that can be tried at once in a batch, some of them more than once where answers
    vary; it is to be sent whether each failed in the same way.

    Args:
        count: How many edits the failing change has, 1 or more. That no edit at all passes is taken for granted.
        asked: What is known, how far answers vary, and how much may be asked; by default nothing varies.
    """
    asked = Asked() if asked is None else asked
    whole = frozenset(range(count))
    best = whole
    try:
        (fails,) = yield from asked.ask([whole], _AT_THE_END)
        if not fails:
            return Shrunk(tuple(sorted(whole)), minimal=False, calls=asked.calls)
        found = yield from _explained(asked, frozenset(), sorted(whole), grown=False)
        for _ in range(_ROUNDS):
            (fails,) = yield from asked.ask([found], _AT_THE_END)
            if fails:
                best = found
                smaller = yield from _smaller(asked, best)
                if smaller is None:
                    return Shrunk(tuple(sorted(best)), minimal=True, calls=asked.calls)
                found = smaller
            else:
                found = yield from _ddmin(asked, asked.smallest() or whole)
    except BudgetSpent:
        smallest = asked.smallest(_ON_THE_WAY)
        best = best if smallest is None or len(best) <= len(smallest) else smallest
    return Shrunk(tuple(sorted(best)), minimal=False, calls=asked.calls)


def _explained(asked: Asked, kept: Parts, rest: Sequence[int], *, grown: bool) -> Steps:
    """The parts of ``rest`` that are needed beside ``kept`` (QuickXplain). ``grown``: ``kept`` may suffice now."""
    if grown:
        (fails,) = yield from asked.ask([kept], _ON_THE_WAY)
        if fails:
            return frozenset()
    if len(rest) == 1:
        return frozenset(rest)
    first, second = rest[: len(rest) // 2], rest[len(rest) // 2 :]
    of_second = yield from _explained(asked, kept | frozenset(first), second, grown=True)
    of_first = yield from _explained(asked, kept | of_second, first, grown=bool(of_second))
    return of_first | of_second


def _smaller(asked: Asked, parts: Parts) -> Generator[list[Parts], list[bool], Parts | None]:
    """The parts without one of them, if that fails as well; ``None`` where each is needed."""
    without = [parts - {each} for each in sorted(parts) if len(parts) > 1]
    told = yield from asked.ask(without, _AT_THE_END)
    return next((each for each, fails in zip(without, told, strict=True) if fails), None)


def _ddmin(asked: Asked, parts: Parts) -> Steps:
    """A part of a failing set that fails and cannot do without any of its chunks, down to single edits."""
    chunks = 2
    while len(parts) > 1:
        chunks = min(chunks, len(parts))
        ordered = sorted(parts)
        bounds = [len(ordered) * number // chunks for number in range(chunks + 1)]
        subsets = [frozenset(ordered[low:high]) for low, high in pairwise(bounds)]
        found = yield from _first(asked, subsets)
        if found is not None:
            parts, chunks = found, 2
            continue
        found = yield from _first(asked, [parts - each for each in subsets] if chunks > 2 else [])
        if found is not None:
            parts, chunks = found, max(chunks - 1, 2)
            continue
        if chunks == len(parts):
            break
        chunks *= 2
    return parts


def _first(asked: Asked, sets: Sequence[Parts]) -> Generator[list[Parts], list[bool], Parts | None]:
    """The first of these sets that fails."""
    for each in sets:
        (fails,) = yield from asked.ask([each], _ON_THE_WAY)
        if fails:
            return each
    return None
