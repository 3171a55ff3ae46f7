"""One change after another as one change: edits over the original that do what two lists of edits do in turn."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.mutations.edits import Edit, Ref

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class _Piece(NamedTuple):
    """A stretch of a changed text: where it begins there, what it is, and whether no edit has touched it."""

    start: int
    part: str | Ref
    stays: bool

    @property
    def end(self) -> int:
        return self.start + _length(self.part)


def compose_edits(original: str, first: Sequence[Edit], second: Sequence[Edit]) -> tuple[Edit, ...]:
    """The edits that do at once what ``first`` and then ``second`` do.

    A protected span that both leave whole is whole in the result: it is never torn into several references.

    Args:
        original: The text that ``first`` applies to.
        first: In ascending order, not overlapping; offsets count characters of ``original``.
        second: Likewise; offsets count characters of the text after ``first``.

    Returns:
        Edits over ``original``, without those that would put back what stands there.

    >>> compose_edits("ab", [Edit(1, 1, ("-",))], [Edit(1, 3, (Ref(2, 3), Ref(1, 2)))])
    (Edit(start=2, end=2, parts=('-',)),)
    """
    if not first:
        return tuple(second)
    if not second:
        return tuple(first)
    pieces = _pieces(len(original), first)
    starts = [piece.start for piece in pieces]
    length = pieces[-1].end if pieces else 0
    edits: list[Edit] = []
    parts: list[str | Ref] = []
    reached = 0

    def close(end: int) -> None:
        """Everything since the last stretch that stays is one edit, up to ``end`` of the original."""
        if parts or reached < end:
            made = _trimmed(reached, end, parts)
            if made is not None:
                edits.append(made)
            parts.clear()

    position = 0
    for start, end, new in (*second, Edit(length, length, ())):
        for piece in _between(pieces, starts, position, start):
            if piece.stays and isinstance(piece.part, Ref):
                close(piece.part.start)
                reached = piece.part.end
            else:
                parts.append(piece.part)
        for part in new:
            if isinstance(part, str):
                parts.append(part)
            else:
                parts += [piece.part for piece in _between(pieces, starts, *part)]
        position = end
    close(len(original))
    return tuple(_needed(original, edits))


def map_spans(spans: Sequence[tuple[int, int]], edits: Sequence[Edit]) -> list[tuple[int, int]]:
    """Where protected spans stand in the text after ``edits``.

    Args:
        spans: ``(start, end)`` in the original.
        edits: Over the original, in ascending order, not overlapping.

    Returns:
        A place for each span, in the order of ``spans``: a reordering may have turned them round. What an operator
        built to do so has changed is all that stands in its place, so it may be empty, and two may overlap.
    """
    length = max((end for _, end in spans), default=0)
    pieces = _pieces(max([length, *(edit.end for edit in edits)]), edits)
    refs = sorted((part.start, part.end, start) for start, part, _ in pieces if isinstance(part, Ref))
    begins = [begin for begin, _, _ in refs]
    furthest: list[tuple[int, int, int]] = []  # of the references so far, the one that reaches furthest
    for ref in refs:
        furthest.append(ref if not furthest or ref[1] > furthest[-1][1] else furthest[-1])
    places: list[tuple[int, int]] = []
    for start, end in spans:
        index = bisect_right(begins, start) - 1
        begin, stop, place = furthest[index] if index >= 0 else (0, -1, 0)
        if end <= stop:
            places.append((place + start - begin, place + end - begin))
        else:
            places.append(_replaced(start, end, edits))
    return places


def _replaced(start: int, end: int, edits: Sequence[Edit]) -> tuple[int, int]:
    """What stands for ``[start, end)``, which edits have changed: their replacements and what lies between."""
    shift = 0
    low: int | None = None
    high = end
    for edit in edits:
        if edit.start >= end and low is not None:
            break
        size = sum(map(_length, edit.parts))
        if edit.end > start and edit.start < end:
            low = min(start, edit.start) + shift if low is None else low
            high = max(end, edit.end) + shift + size - (edit.end - edit.start)
        shift += size - (edit.end - edit.start)
    return (start + shift, end + shift) if low is None else (low, high)


def _length(part: str | Ref) -> int:
    return len(part) if isinstance(part, str) else part.end - part.start


def _pieces(length: int, edits: Sequence[Edit]) -> list[_Piece]:
    """The text after ``edits``, piece by piece."""
    pieces: list[_Piece] = []
    place = position = 0

    def add(part: str | Ref, *, stays: bool) -> None:
        nonlocal place
        if size := _length(part):
            pieces.append(_Piece(place, part, stays))
            place += size

    for start, end, parts in edits:
        add(Ref(position, start), stays=True)
        for part in parts:
            add(part, stays=False)
        position = end
    add(Ref(position, length), stays=True)
    return pieces


def _between(pieces: Sequence[_Piece], starts: Sequence[int], start: int, end: int) -> Iterator[_Piece]:
    """The pieces of ``[start, end)``, the outer ones cut to it."""
    for index in range(max(0, bisect_right(starts, start) - 1), bisect_left(starts, end)):
        piece = pieces[index]
        low, high = max(start, piece.start), min(end, piece.end)
        if low < high:
            skip, size = low - piece.start, high - low
            part = piece.part
            cut = (
                part[skip : skip + size]
                if isinstance(part, str)
                else Ref(part.start + skip, part.start + skip + size)
            )
            yield _Piece(low, cut, piece.stays)


def _trimmed(start: int, end: int, parts: Iterable[str | Ref]) -> Edit | None:
    """An edit with neighbouring parts joined, without the references that only put back its head or tail."""
    joined: list[str | Ref] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, str) and isinstance(last, str):
            joined[-1] = last + part
        elif isinstance(part, Ref) and isinstance(last, Ref) and last.end == part.start:
            joined[-1] = Ref(last.start, part.end)
        else:
            joined.append(part)
    if joined and isinstance(joined[0], Ref) and joined[0].start == start and joined[0].end <= end:
        start = joined.pop(0).end  # type: ignore[union-attr]  # it is a Ref: looked at above
    if joined and isinstance(joined[-1], Ref) and joined[-1].end == end and joined[-1].start >= start:
        end = joined.pop().start  # type: ignore[union-attr]  # likewise
    return Edit(start, end, tuple(joined)) if joined or start < end else None


def _needed(original: str, edits: Sequence[Edit]) -> Iterator[Edit]:
    """The edits that change the text; one that segments leave or enter is kept, whatever it looks like."""
    away = [
        (edit, part)
        for edit in edits
        for part in edit.parts
        if isinstance(part, Ref) and not (edit.start <= part.start and part.end <= edit.end)
    ]
    for edit in edits:
        if edit.replacement(original) != original[edit.start : edit.end] or any(
            home is edit or (part.start < edit.end and part.end > edit.start) for home, part in away
        ):
            yield edit
