"""The parts that a change is made of: edits taken apart, first by words, then by characters, and moves made smaller."""

from __future__ import annotations

from heapq import nsmallest
from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.edits import Edit, Ref, reorder
from pytest_promptfuzz.mutations.edits import replace as replaced
from pytest_promptfuzz.mutations.sequence_diff import opcodes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_WORD = expression(r"\s+|\w+|[^\w\s]")
_LETTER = expression(r"[^\W\d_]")
_MOST_MOVES = 24  # of one reordering that are tried
_FEW = 30  # segments, of which all moves are ranked


def is_move(edit: Edit) -> bool:
    """Whether an edit moves what the original holds; such an edit is no sum of smaller ones."""
    return any(isinstance(part, Ref) for part in edit.parts)


def by_words(edits: Iterable[Edit], original: str) -> list[Edit]:
    """The edits, each word's change one of its own; together they are the same change."""
    return [atom for edit in edits for atom in _parted(edit, original, _WORD.findall)]


def by_characters(edit: Edit, original: str, *, respells: bool = True) -> list[Edit]:
    """One edit, each run of changed characters one of its own.

    Args:
        edit: What is taken apart.
        original: The text it changes.
        respells: Whether a part of a word's change is a change of the same kind, as it is of a typo. It is none where a
            word takes another's place: half a synonym is no word at all.
    """
    before, after = original[edit.start : edit.end], edit.replacement(original)
    reworded = _LETTER.search(before) and _LETTER.search(after) and before.casefold() != after.casefold()
    return [edit] if reworded and not respells else _parted(edit, original, list)


def _parted(edit: Edit, original: str, split: Callable[[str], list[str]]) -> list[Edit]:
    if is_move(edit):
        return [edit]
    before, after = split(original[edit.start : edit.end]), split(edit.replacement(original))
    atoms: list[Edit] = []
    reached = edit.start
    for tag, low, high, new_low, new_high in opcodes(before, after):
        end = reached + sum(map(len, before[low:high]))
        if tag != "equal":
            atoms.append(replaced(reached, end, "".join(after[new_low:new_high])))
        reached = end
    return atoms or [edit]


def smaller_moves(edit: Edit) -> list[Edit]:
    """Moves that move less than a reordering does, those that move least first.

    Each puts one segment elsewhere, or lets two change places, among the places that the reordering has; what stands
    between them stays where it is. Empty where the edit is no plain reordering of segments.
    """
    segments = moved_segments(edit)
    if not segments:
        return []
    places = sorted(segments)
    order = [places.index(each) for each in segments]
    length = len(order)
    if length > _FEW:  # two neighbours that change places are the smallest moves, and enough
        sizes = [end - start for start, end in places]
        nearest = nsmallest(
            _MOST_MOVES, range(length - 1), key=lambda low: (sizes[low] + sizes[low + 1], -low)
        )
        return [reorder(places, [*range(low), low + 1, low, *range(low + 2, length)]) for low in nearest]
    found = {tuple(each): None for each in _single_moves(length)}
    found.pop(tuple(range(length)), None)
    found.pop(tuple(order), None)
    ranked = sorted(found, key=lambda each: (_moved(each, places), each))
    return [reorder(places, each) for each in ranked[:_MOST_MOVES]]


def moved_segments(edit: Edit) -> list[tuple[int, int]] | None:
    """The segments that change places, in their new order; ``None`` where something else is done to them."""
    refs = [part for part in edit.parts if isinstance(part, Ref)]
    spans = sorted(refs)
    ends = [edit.start, *(span.end for span in spans)]
    if len(refs) != len(edit.parts) or ends != [*(span.start for span in spans), edit.end]:
        return None
    return [(ref.start, ref.end) for ref, span in zip(refs, spans, strict=True) if ref != span]


def _single_moves(length: int) -> Iterator[list[int]]:
    for one in range(length):
        for other in range(length):
            order = list(range(length))
            if one < other:
                order[one], order[other] = order[other], order[one]
                yield list(order)
            if one != other:
                order = list(range(length))
                order.insert(other, order.pop(one))
                yield order


def _moved(order: Sequence[int], places: Sequence[tuple[int, int]]) -> tuple[int, int, int]:
    """How many segments stand in another place, how far these are apart, and how many characters they have."""
    moved = [place for place, index in enumerate(order) if place != index]
    return len(moved), moved[-1] - moved[0], sum(places[place][1] - places[place][0] for place in moved)
