"""A search's find made smaller within its edits: fewer characters of a word, a move of fewer segments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.searching.asked import BudgetSpent
from pytest_promptfuzz.searching.shrink import shrunk

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from pytest_promptfuzz.evaluating.tried import Known
    from pytest_promptfuzz.mutations.mutation import Mutation
    from pytest_promptfuzz.running.run import Run, Step

    Asking = Generator[list[Step], list[Run], list[bool]]


def smaller(
    known: Known,
    ask: Callable[[Sequence[Mutation]], Asking],
    *,
    allows: Callable[[Mutation], bool],
    queries: int,
    repeats: int,
) -> Generator[list[Step], list[Run], tuple[str, bool]]:
    """Shrink what a search found, and ask what is left as often as the find was before it is believed.

    Args:
        known: The find.
        ask: Makes runs, and tells of each whether it reaches the goal in the same way.
        allows: Whether a change may be asked about.
        queries: How many runs may be made.
        repeats: How often more what is left is asked.

    Returns:
        The text of the smallest change, the find's own where nothing smaller holds, and whether no smaller one does.
    """
    whole = known.mutation
    told = {whole.text: True}
    left = queries - repeats

    def answered(mutations: Sequence[Mutation]) -> Asking:
        nonlocal left
        new = list({each.text: each for each in mutations if each.text not in told and allows(each)}.values())
        if len(new) > left:
            raise BudgetSpent
        left -= len(new)
        for each, reached in zip(new, (yield from ask(new)) if new else [], strict=True):
            told[each.text] = reached
        return [told.get(each.text, False) for each in mutations]

    steps = shrunk(whole, known=(known.reached, known.asked))
    try:
        wanted = next(steps)
        while True:
            try:
                reached = yield from answered(wanted)
            except BudgetSpent as spent:
                wanted = steps.throw(spent)
            else:
                wanted = steps.send(reached)
    except StopIteration as stop:
        found = stop.value
    if found.mutation.text == whole.text:
        return whole.text, found.minimal
    again = (yield from ask([found.mutation] * repeats)) if repeats else []
    holds = 2 * (1 + sum(again)) > 1 + len(again)
    return (found.mutation.text, found.minimal) if holds else (whole.text, False)
