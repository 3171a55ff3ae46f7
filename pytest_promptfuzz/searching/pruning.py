"""Giving up what a found state does not need: fewer places changed, until each that is left is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.searching.asked import Asked
from pytest_promptfuzz.searching.shrinking import shrinking

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from pytest_promptfuzz.mutations.rng import Rng
    from pytest_promptfuzz.searching.additive import Additive
    from pytest_promptfuzz.searching.searching import Seen
    from pytest_promptfuzz.searching.space import State

    Tried = Generator[list[State], list[Seen], State]

_DOUBT = (
    0.4  # of what choices do, in standard deviations, so that guesses differ; it grows with each that misses
)
_MANY = 10  # more changes than that are halved before any is guessed
_MISSES = 40  # guesses in a row that miss, before changes are given up one by one


def pruning(state: State, learned: Additive, rng: Rng) -> Tried:
    """Make a state that reaches the goal as small as it can be.

    First the choices that help most, whether or not they are in it, as few as ought to reach the goal; then each
    change that is left is given up in turn, the least helpful first. Every answer teaches what to try next. Yields
    states to be tried, is sent what came of each, and returns a state whose every change is needed.

    Args:
        state: What reaches the goal.
        learned: What choices are thought to do.
        rng: What draws, so that guesses differ.
    """
    misses = _MISSES
    if _size(state) > _MANY:
        state = yield from _halved(state, learned)
        misses = (
            _MISSES if learned.telling else _MANY
        )  # where answers say no more than the label, guesses are poor
    while True:
        kept = yield from _guessed(state, learned, rng, misses)
        kept = yield from _without(kept, learned)
        if _size(kept) == _size(state):
            return kept
        state = kept


def _halved(state: State, learned: Additive) -> Tried:
    """What is needed of a state, by divide and conquer: about 2k log2(n/k) questions for k of n changes."""
    learned.draw(None)
    changed = [place for place, number in enumerate(state) if number]
    places = sorted(changed, key=lambda place: (-learned.effect(place, state[place]), place))
    asked = Asked()
    asked.learn(frozenset(range(len(places))), fails=True)
    steps = shrinking(len(places), asked=asked)

    def only(parts: Iterable[int]) -> State:
        kept = {places[part] for part in parts}
        return tuple(number if place in kept else 0 for place, number in enumerate(state))

    try:
        sets = next(steps)
        while True:
            told = yield [only(parts) for parts in sets]
            for parts, seen in zip(sets, told, strict=True):
                learned.learn(only(parts), seen)
            sets = steps.send([seen.reached for seen in told])
    except StopIteration as stop:
        return only(stop.value.kept)


def _guessed(state: State, learned: Additive, rng: Rng, most: int) -> Tried:
    """A smaller state of the choices that help most, if one is found before too many guesses miss."""
    misses = 0
    tried = {state}
    while misses < most:
        learned.draw(rng if misses else None, _DOUBT * (1 + misses / 10))
        guess = _guess(state, learned)
        if guess in tried or not any(guess):
            misses += 1
            continue
        tried.add(guess)
        if (yield from _asked([guess], learned)):
            state, misses = guess, 0
        else:
            misses += 1
    return state


def _guess(state: State, learned: Additive) -> State:
    """The fewest of the most helpful choices that ought to reach the goal, but fewer than a state has."""
    best = [learned.best(place) for place in range(len(state))]
    effects = [(learned.effect(place, number), place, number) for place, number in enumerate(best)]
    kept = [0] * len(state)
    left = learned.needed
    for effect, place, number in sorted(effects, key=lambda each: (-each[0], each[1]))[: _size(state) - 1]:
        if number:
            kept[place] = number
            left -= effect
            if left <= 0:
                break
    return tuple(kept)


def _without(state: State, learned: Additive) -> Tried:
    """A state of which no change can be given up."""
    smaller = True
    while smaller and _size(state) > 1:
        smaller = False
        learned.draw(None)
        changed = [place for place, number in enumerate(state) if number]
        for place in sorted(changed, key=lambda each: (learned.effect(each, state[each]), -each)):
            if _size(state) > 1 and (
                yield from _asked([without := (*state[:place], 0, *state[place + 1 :])], learned)
            ):
                state = without
                smaller = True
    return state


def _asked(states: list[State], learned: Additive) -> Generator[list[State], list[Seen], bool]:
    (seen,) = yield states
    learned.learn(states[0], seen)
    return seen.reached


def _size(state: State) -> int:
    return sum(number != 0 for number in state)
