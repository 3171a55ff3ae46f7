"""Edits over an original text: the one representation of a change.

An edit replaces the span ``[start, end)`` of the original by *parts*: literal strings and references
to spans of the original. A plain replacement is one literal; a reordering refers to the segments it moves,
so what they hold is kept by construction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from pytest_promptfuzz.errors import UsageError, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

T = TypeVar("T")


class Ref(NamedTuple):
    """A span ``[start, end)`` of the original text, in characters."""

    start: int
    end: int


class Edit(NamedTuple):
    """Replace ``original[start:end]`` by ``parts``; offsets count characters of the original."""

    start: int
    end: int
    parts: tuple[str | Ref, ...]

    def replacement(self, original: str) -> str:
        """The text that takes the place of ``original[start:end]``."""
        return "".join(p if isinstance(p, str) else original[p.start : p.end] for p in self.parts)


# Operators make dozens of edits for a mutation. This is what `Edit(...)` does, without a Python frame in between.
_make = tuple.__new__


def replace(start: int, end: int, text: str) -> Edit:
    """An edit that puts ``text`` in the place of ``[start, end)``."""
    return _make(Edit, (start, end, (text,)))


def insert(position: int, text: str) -> Edit:
    """An edit that puts ``text`` before the character at ``position``."""
    return _make(Edit, (position, position, (text,)))


def edits_at(draws: Iterable[Iterable[T]], edit: Callable[[T], Edit | None]) -> Iterator[list[Edit]]:
    """For each draw of places the edits at them; ``edit`` gives ``None`` where there is none after all."""
    for places in draws:
        yield [each for each in map(edit, places) if each is not None]


def reorder(segments: Sequence[tuple[int, int]], order: Sequence[int]) -> Edit:
    """An edit that puts ``segments`` in a new order and leaves what lies between them where it is.

    Args:
        segments: Spans ``[start, end)`` in ascending order, not overlapping.
        order: A permutation of ``range(len(segments))``: which segment stands in each place.

    >>> apply_edits("a, b", [reorder([(0, 1), (3, 4)], [1, 0])])
    'b, a'
    """
    parts: list[str | Ref] = []
    reached = segments[0][0]
    for (start, end), index in zip(segments, order, strict=True):
        if reached < start:
            parts.append(_make(Ref, (reached, start)))
        parts.append(_make(Ref, segments[index]))
        reached = end
    return Edit(segments[0][0], reached, tuple(parts))


def apply_edits(original: str, edits: Iterable[Edit]) -> str:
    """The text after the edits, which are in ascending order and do not overlap."""
    pieces: list[str] = []
    position = 0
    for start, end, parts in edits:
        pieces.append(original[position:start])
        if len(parts) == 1 and isinstance(parts[0], str):
            pieces.append(parts[0])
        else:
            pieces += [part if isinstance(part, str) else original[part[0] : part[1]] for part in parts]
        position = end
    pieces.append(original[position:])
    return "".join(pieces)


def check_edits(
    edits: Sequence[Edit],
    length: int,
    spans: Iterable[tuple[int, int]] = (),
    *,
    source: str = "edits",
    text: str = "",
) -> None:
    """Refuse edits that cannot be applied or that would damage a protected span.

    Args:
        edits: What is checked.
        length: Characters in the original.
        spans: Protected spans ``(start, end)`` of the original, ascending. Each must stand in the result exactly
            once: where it was, or whole inside one ``Ref``.
        source: What made the edits, for the message.
        text: The original, for the message; without it the message has offsets only.

    Raises:
        UsageError: Edits out of range, overlapping or out of order, parts of another type, or a protected span
            lost, torn or doubled.
    """
    position = 0
    refs: list[Ref] = []
    for number, edit in enumerate(edits):
        where = f"{source}: edit {number} ({edit.start}, {edit.end})"
        if not 0 <= edit.start <= edit.end <= length:
            raise UsageError(f"{where} lies outside the text of {length} characters.")
        if edit.start < position or (number and edit[:2] == edits[number - 1][:2]):
            raise UsageError(
                f"{where} overlaps or precedes the edit before it; give edits in ascending order."
            )
        position = edit.end
        for part in edit.parts:
            if isinstance(part, Ref):
                if not 0 <= part.start <= part.end <= length:
                    raise UsageError(
                        f"{where} refers to {tuple(part)}, outside the text of {length} characters."
                    )
                refs.append(part)
            elif not isinstance(part, str):
                raise UsageError(f"{where} has a part of type {type(part).__name__}; parts are str or Ref.")
    for start, end in spans:
        _check_span(edits, refs, start, end, source, text[start:end])


def _check_span(
    edits: Sequence[Edit], refs: Sequence[Ref], start: int, end: int, source: str, shown: str
) -> None:
    """One protected span stands in the result once and whole."""
    touched = any(
        (edit.start < end and edit.end > start) if edit.start < edit.end else start < edit.start < end
        for edit in edits
    )
    whole = sum(ref.start <= start and ref.end >= end for ref in refs)
    torn = any(
        ref.start < end and ref.end > start and not (ref.start <= start and ref.end >= end) for ref in refs
    )
    if torn or whole + (not touched) != 1:
        what = "tears" if torn else "loses" if touched and not whole else "doubles"
        at = f"{quoted(shown)} at ({start}, {end})" if shown else f"({start}, {end})"
        raise UsageError(f"{source} {what} the protected span {at}; move it whole with one Ref or leave it.")


def edits_to_json(edits: Iterable[Edit]) -> list[list[object]]:
    """Edits as JSON: ``[start, end, [text or [start, end], ...]]`` each."""
    return [[e.start, e.end, [p if isinstance(p, str) else list(p) for p in e.parts]] for e in edits]


def edits_from_json(data: object) -> tuple[Edit, ...]:
    """The edits that :func:`edits_to_json` wrote.

    Raises:
        UsageError: The data has another shape.
    """
    try:
        return tuple(_edit_from_json(each) for each in data)  # type: ignore[attr-defined]  # what is no list ends below
    except (TypeError, ValueError) as error:
        raise UsageError(f"Stored edits are not a list of [start, end, parts]: {data!r:.80}.") from error


def _edit_from_json(data: Sequence[object]) -> Edit:
    start, end, parts = data
    if not isinstance(parts, list):
        raise TypeError(parts)
    return Edit(_offset(start), _offset(end), tuple(p if isinstance(p, str) else _ref(p) for p in parts))


def _ref(data: Sequence[object]) -> Ref:
    start, end = data
    return Ref(_offset(start), _offset(end))


def _offset(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(value)
    return value
