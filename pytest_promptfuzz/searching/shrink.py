"""``shrink``: the smallest part of a mutation that still breaks the answer in the same way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.mutation import Mutation, severity_of
from pytest_promptfuzz.searching.asked import Asked, BudgetSpent
from pytest_promptfuzz.searching.atoms import by_characters, by_words, is_move, smaller_moves
from pytest_promptfuzz.searching.shrinking import shrinking

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from pytest_promptfuzz.mutations.edits import Edit

    Mutations = Generator[list[Mutation], list[bool], "Smallest"]
    Edits = Generator[list[list[Edit]], list[bool], tuple[list[Edit], bool]]


@dataclass(frozen=True, slots=True)
class Smallest:
    """What is left of a mutation that breaks an answer.

    Attributes:
        mutation: It, with no more edits than are needed, each as small as could be found.
        minimal: Whether leaving out any one of its edits was seen to break nothing.
        calls: How often was asked.
    """

    mutation: Mutation
    minimal: bool
    calls: int


def shrink(
    mutation: Mutation, fails: Callable[[str], bool], *, queries: int = 200, flip: float = 0.0
) -> Smallest:
    """The smallest part of a mutation that still fails.

    Its edits are taken apart word by word; those that are not needed are left out, and those that are become as small
    as they can: fewer characters, a smaller move.

    Args:
        mutation: A mutation that breaks an answer.
        fails: Whether a prompt breaks it *in the same way*: a function that asks the model and looks at the answer.
            Another failure must count as none, or the result may be that failure's.
        queries: How often it may be called, 1 or more. What is smallest by then is the result.
        flip: How often ``fails`` misleads, since the model rolls dice, in [0, 0.5). Above 0 it is asked the same
            again until it is told, with a probability ratio test.

    Raises:
        UsageError: ``queries`` or ``flip`` is out of range, or the mutation has no edits.
    """
    if isinstance(queries, bool) or not isinstance(queries, int) or queries < 1:
        raise UsageError(f"shrink: queries={queries!r} must be a whole number of 1 or more.")
    if isinstance(flip, bool) or not isinstance(flip, (int, float)) or not 0 <= flip < 0.5:
        raise UsageError(
            f"shrink: flip={flip!r} must be a number from 0 to below 0.5, the share of answers that mislead."
        )
    if not mutation.edits:
        raise UsageError("shrink: the mutation has no edits, so there is nothing to leave out.")
    steps = shrunk(mutation, queries=queries, flip=flip)
    try:
        wanted = next(steps)
        while True:
            wanted = steps.send([fails(each.text) for each in wanted])
    except StopIteration as stop:
        found: Smallest = stop.value
        return found


def shrunk(
    mutation: Mutation,
    *,
    queries: int | None = None,
    flip: float = 0.0,
    known: tuple[int, int] = (0, 0),
) -> Mutations:
    """As ``shrink``, for whoever asks several at once: yields the mutations of a batch, is sent whether each fails.

    Where no more can be asked, ``BudgetSpent`` is thrown into it; the smallest part known to fail is what it returns.

    Args:
        mutation: As for ``shrink``.
        queries: As for ``shrink``; ``None`` sets no limit.
        flip: As for ``shrink``.
        known: How often the whole mutation failed, and how often it was asked, before.
    """
    original = mutation.original
    respells = mutation.dimension != "semantic"
    asked = Asked(flip=flip, most=queries)
    atoms = by_words(mutation.edits, original)
    failed, times = known
    for each in range(times):
        asked.learn(frozenset(range(len(atoms))), fails=each < failed)
    steps = _needed(atoms, asked)
    kept, minimal = yield from _as_mutations(mutation, steps)
    if minimal:
        try:
            for edit in list(kept):
                place = kept.index(edit)
                smaller = _made_smaller(original, kept, place, queries, asked, respells=respells)
                kept, minimal = yield from _as_mutations(mutation, smaller)
                if not minimal:
                    break
        except BudgetSpent:
            minimal = False
    return Smallest(_of(mutation, kept), minimal, asked.calls)


def _as_mutations(
    mutation: Mutation, steps: Edits
) -> Generator[list[Mutation], list[bool], tuple[list[Edit], bool]]:
    """Batches of edits as mutations; that no more can be asked is told to where they come from."""
    try:
        batch = next(steps)
        while True:
            try:
                told = yield [_of(mutation, each) for each in batch]
            except BudgetSpent as spent:
                batch = steps.throw(spent)
            else:
                batch = steps.send(told)
    except StopIteration as stop:
        found: tuple[list[Edit], bool] = stop.value
        return found


def _needed(
    edits: Sequence[Edit], asked: Asked, before: Sequence[Edit] = (), after: Sequence[Edit] = ()
) -> Edits:
    """Those of the edits that are needed between others, and whether each is known to be.

    All stay in the order that they have: of two that insert at one place it says which comes first.
    """
    steps = shrinking(len(edits), asked=asked)
    try:
        sets = next(steps)
        while True:
            try:
                told = yield [[*before, *(edits[place] for place in sorted(parts)), *after] for parts in sets]
            except BudgetSpent as spent:
                sets = steps.throw(spent)
            else:
                sets = steps.send(told)
    except StopIteration as stop:
        return [edits[place] for place in stop.value.kept], stop.value.minimal


def _made_smaller(
    original: str, kept: list[Edit], place: int, queries: int | None, asked: Asked, *, respells: bool
) -> Edits:
    """The edits with a smaller one in the place of one, if the failure needs no more; whether there is none smaller.

    ``asked.calls`` is changed.

    Raises:
        BudgetSpent: There may be a smaller move that was not asked for.
    """
    before, after = kept[:place], kept[place + 1 :]
    left = None if queries is None else queries - asked.calls
    if not is_move(kept[place]):
        atoms = by_characters(kept[place], original, respells=respells)
        if len(atoms) == 1:
            return kept, True
        inner = Asked(flip=asked.flip, most=left)
        found, minimal = yield from _needed(atoms, inner, before, after)
        asked.calls += inner.calls
        # All of a word's characters are the word.
        smaller = found if len(found) < len(atoms) else [kept[place]]
        return [*before, *smaller, *after], minimal
    # Each move is a set of one of its own: what the others failed says nothing of it.
    for move in smaller_moves(kept[place]):
        inner = Asked(flip=asked.flip, most=None if queries is None else queries - asked.calls)
        steps = inner.ask([frozenset([0])], 0.01)
        try:
            wanted = next(steps)
            while True:
                wanted = steps.send((yield [[*before, move, *after] for _ in wanted]))
        except StopIteration as stop:
            (fails,) = stop.value
        finally:
            asked.calls += inner.calls
        if fails:
            return [*before, move, *after], True
    return kept, True


def _of(mutation: Mutation, edits: Sequence[Edit]) -> Mutation:
    """The mutation with these edits; as much less severe as it changes less."""
    rate = mutation.change_rate
    declared = min(1.0, 2 * mutation.severity / (1 + rate))
    smaller = replace(mutation, edits=tuple(edits))
    return replace(smaller, severity=severity_of(declared, smaller.change_rate))
