"""``shrink``: the smallest part of a mutation that still breaks the answer in the same way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.edits import apply_edits
from pytest_promptfuzz.mutations.mutation import Mutation, severity_of
from pytest_promptfuzz.searching.asked import Asked, BudgetSpent
from pytest_promptfuzz.searching.atoms import by_characters, by_words, is_move, smaller_moves
from pytest_promptfuzz.searching.shrinking import shrinking

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from pytest_promptfuzz.mutations.edits import Edit

    Texts = Generator[list[str], list[bool], "Smallest"]


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
        texts = next(steps)
        while True:
            texts = steps.send([fails(text) for text in texts])
    except StopIteration as stop:
        found: Smallest = stop.value
        return found


def shrunk(mutation: Mutation, *, queries: int, flip: float = 0.0) -> Texts:
    """As ``shrink``, for whoever asks several at once: yields the texts of a batch, is sent whether each fails."""
    original = mutation.original
    asked = Asked(flip=flip, most=queries)
    kept, minimal = yield from _needed(original, by_words(mutation.edits, original), (), asked)
    if minimal:
        try:
            for edit in list(kept):
                yield from _made_smaller(original, kept, kept.index(edit), queries, asked)
        except BudgetSpent:
            minimal = False
    return Smallest(_of(mutation, kept), minimal, asked.calls)


def _needed(
    original: str, edits: Sequence[Edit], beside: Sequence[Edit], asked: Asked
) -> Generator[list[str], list[bool], tuple[list[Edit], bool]]:
    """Those of the edits that are needed beside others, and whether each is known to be."""
    steps = shrinking(len(edits), asked=asked)
    try:
        sets = next(steps)
        while True:
            chosen = [sorted([*beside, *(edits[place] for place in parts)]) for parts in sets]
            sets = steps.send((yield [apply_edits(original, each) for each in chosen]))
    except StopIteration as stop:
        return [edits[place] for place in stop.value.kept], stop.value.minimal


def _made_smaller(
    original: str, kept: list[Edit], place: int, queries: int, asked: Asked
) -> Generator[list[str], list[bool], None]:
    """Put a smaller edit in the place of one, if the failure needs no more; ``kept`` and ``asked.calls`` are changed.

    Raises:
        BudgetSpent: There may be a smaller one that was not asked for.
    """
    others = kept[:place] + kept[place + 1 :]
    if not is_move(kept[place]):
        atoms = by_characters(kept[place], original)
        if len(atoms) > 1:
            inner = Asked(flip=asked.flip, most=queries - asked.calls)
            found, minimal = yield from _needed(original, atoms, others, inner)
            asked.calls += inner.calls
            if not minimal:
                raise BudgetSpent
            kept[place : place + 1] = found
        return
    moves = smaller_moves(kept[place])
    # Each move is a set of one of its own: what the others failed says nothing of it.
    for move in moves:
        inner = Asked(flip=asked.flip, most=queries - asked.calls)
        steps = inner.ask([frozenset([0])], 0.01)
        try:
            wanted = next(steps)
            while True:
                text = apply_edits(original, sorted([*others, move]))
                wanted = steps.send((yield [text for _ in wanted]))
        except StopIteration as stop:
            (fails,) = stop.value
        finally:
            asked.calls += inner.calls
        if fails:
            kept[place] = move
            return


def _of(mutation: Mutation, edits: Sequence[Edit]) -> Mutation:
    """The mutation with these edits; as much less severe as it changes less."""
    rate = mutation.change_rate
    declared = min(1.0, 2 * mutation.severity / (1 + rate))
    smaller = replace(mutation, edits=tuple(sorted(edits)))
    return replace(smaller, severity=severity_of(declared, smaller.change_rate))
