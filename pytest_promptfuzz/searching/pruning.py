"""Giving up what a found state does not need: fewer places changed, until each that is left is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from pytest_promptfuzz.searching.space import State

    Tried = Generator[list[State], list[bool], State]


def pruning(state: State, effect: Callable[[int], float]) -> Tried:
    """Make a state that reaches the goal as small as it can be.

    The changes that help most are kept first, as few as reach the goal (about log2 k questions for k changes); then
    each that is left is given up in turn, the least helpful first. Yields states to be tried, is sent whether each
    reaches the goal, and returns one whose every change is needed.

    Args:
        state: What reaches the goal.
        effect: How much the change at a place is thought to help; any order will do, a good one saves questions.
    """
    ranked = sorted(
        (place for place, number in enumerate(state) if number), key=lambda each: (-effect(each), each)
    )

    def only(places: list[int]) -> State:
        kept = set(places)
        return tuple(number if place in kept else 0 for place, number in enumerate(state))

    low, high = 0, len(ranked)  # the first `low` are known, or thought, not to suffice; the first `high` do
    while high - low > 1:
        middle = (low + high) // 2
        (reaches,) = yield [only(ranked[:middle])]
        low, high = (low, middle) if reaches else (middle, high)
    kept = ranked[:high]
    smaller = True
    while smaller and len(kept) > 1:
        smaller = False
        for place in reversed(kept):
            (reaches,) = yield [only([each for each in kept if each != place])]
            if reaches:
                kept.remove(place)
                smaller = True
    return only(kept)
