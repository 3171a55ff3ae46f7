"""Edits over an original text: applied, checked, composed, written as JSON, and shown as a diff by words.

An edit replaces the span ``[start, end)`` of the original by *parts*: literal strings and references
to spans of the original. A plain replacement is one literal; a reordering refers to the segments it moves,
so what they hold is kept by construction.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from pytest_promptfuzz.errors import UsageError, quoted
from pytest_promptfuzz.text.expressions import expression

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


# One change after another as one change: edits over the original that do what two lists of edits do in turn.


class _Stretch(NamedTuple):
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


def _pieces(length: int, edits: Sequence[Edit]) -> list[_Stretch]:
    """The text after ``edits``, piece by piece."""
    pieces: list[_Stretch] = []
    place = position = 0

    def add(part: str | Ref, *, stays: bool) -> None:
        nonlocal place
        if size := _length(part):
            pieces.append(_Stretch(place, part, stays))
            place += size

    for start, end, parts in edits:
        add(Ref(position, start), stays=True)
        for part in parts:
            add(part, stays=False)
        position = end
    add(Ref(position, length), stays=True)
    return pieces


def _between(pieces: Sequence[_Stretch], starts: Sequence[int], start: int, end: int) -> Iterator[_Stretch]:
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
            yield _Stretch(low, cut, piece.stays)


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


# What edits do to a text, for people and for numbers: words touched, and a diff by words.


Sign = Literal["=", "-", "+"]

# Scripts without spaces between words count by character.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = expression(f"([{_UNSPACED}]|[^\\s{_UNSPACED}]+)")
_CHARACTER = expression(f"[{_UNSPACED}]")


class Tokens:
    """The words of a text, by position; where each is, is found when somebody asks.

    Attributes:
        text: The text.
        spaced: Whether all words are parted by white space, as far as writing goes.
    """

    __slots__ = ("_bounds", "_count", "spaced", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.spaced = text.isascii() or _CHARACTER.search(text) is None
        self._count = -1
        self._bounds: list[int] | None = None

    def __len__(self) -> int:
        """How many there are."""
        if self._count < 0:
            self._count = len(self.text.split()) if self.spaced else len(self.starts)
        return self._count

    @property
    def starts(self) -> list[int]:
        """Where each begins, ascending."""
        return self._found()[:-1:2]

    @property
    def ends(self) -> list[int]:
        """Where each ends."""
        return self._found()[1::2]

    def _found(self) -> list[int]:
        if self._bounds is None:
            # Every other piece is a word; adding up lengths is much quicker than asking each match for its span.
            self._bounds = list(accumulate(map(len, _TOKEN.split(self.text))))
        return self._bounds


def kept_refs(edit: Edit) -> frozenset[int]:
    """Which parts of an edit stay in place, seen from the others: the heaviest ascending run of its refs.

    Args:
        edit: Any edit.

    Returns:
        Indices into ``edit.parts``, chosen so that as few characters as possible count as moved.
    """
    low, high, parts = edit
    inside = [
        (index, part[0], part[1])
        for index, part in enumerate(parts)
        if isinstance(part, Ref) and low <= part[0] < part[1] <= high
    ]
    reached = low
    for _, start, end in inside:
        if start < reached:
            break
        reached = end
    else:
        return frozenset([index for index, _, _ in inside])
    before, number = _heaviest_run([(start, end) for _, start, end in inside])
    kept = []
    while number >= 0:
        kept.append(inside[number][0])
        number = before[number]
    return frozenset(kept)


def _heaviest_run(spans: Sequence[tuple[int, int]]) -> tuple[list[int], int]:
    """The heaviest ascending subsequence of spans: for each its predecessor, and the last one (ties: the later)."""
    before = [-1] * len(spans)
    if len(spans) <= 16:  # so few are quicker compared pair by pair
        ends: list[int] = []
        totals: list[int] = []
        for number, (start, end) in enumerate(spans):
            weight, last = 0, -1
            for other, stop in enumerate(ends):
                if stop <= start and totals[other] >= weight:
                    weight, last = totals[other], other
            before[number] = last
            ends.append(end)
            totals.append(weight + end - start)
        heaviest = max(totals)
        return before, len(totals) - 1 - totals[::-1].index(heaviest)
    # A Fenwick tree of prefix maxima: O(k log k).
    places = sorted({end for _, end in spans})
    tree: list[tuple[int, int]] = [(0, -1)] * (len(places) + 1)
    best = (0, -1)
    for number, (start, end) in enumerate(spans):
        reach, found = bisect_right(places, start), (0, -1)
        while reach > 0:
            found = max(found, tree[reach])
            reach &= reach - 1
        before[number] = found[1]
        total = (found[0] + end - start, number)
        best = max(best, total)
        reach = bisect_left(places, end) + 1
        while reach < len(tree):
            tree[reach] = max(tree[reach], total)
            reach += reach & -reach
    return before, best[1]


def removed(edit: Edit) -> list[tuple[int, int]]:
    """The spans of the original that do not stay in place under ``edit``; the bare point for an insertion."""
    if not any(isinstance(part, Ref) for part in edit.parts):
        return [(edit.start, edit.end)]
    kept = kept_refs(edit)
    spans: list[tuple[int, int]] = []
    position = edit.start
    for index, part in enumerate(edit.parts):
        if index in kept and isinstance(part, Ref):
            if part.start > position:
                spans.append((position, part.start))
            position = part.end
    if position < edit.end:
        spans.append((position, edit.end))
    return spans


def touched_words(edits: Iterable[Edit], tokens: Tokens) -> int:
    """How many words of the original the edits change, remove or move; each counts once.

    An insertion touches the word it is made in, and none between words.
    """
    spans: list[tuple[int, int]] = []
    for edit in edits:
        start, end, parts = edit
        if len(parts) == 1 and isinstance(parts[0], str):
            spans.append((start, end))
        else:
            spans += removed(edit)
    return _runs_of_space(spans, tokens.text) if tokens.spaced else _among(spans, tokens)


def _runs_of_space(spans: Iterable[tuple[int, int]], text: str) -> int:
    """How many words ``spans``, in order and apart, overlap, where white space parts them.

    A span holds a part of each word it overlaps, and nothing of others: they are counted without being looked for.
    """
    count = reached = 0
    for start, end in spans:
        if start < end:
            here = len(text[start:end].split())
        else:
            inside = 0 < start < len(text) and not (text[start - 1].isspace() or text[start].isspace())
            here = 1 if inside else 0
        if here:
            count += here
            # The first may be the last of the span before; mostly there is a space between.
            if reached and text.find(" ", reached - 1, start) < 0:
                between = text[reached - 1 : start + 1]
                count -= between.split() == [between]
            reached = end
    return count


def _among(spans: Iterable[tuple[int, int]], tokens: Tokens) -> int:
    """The same by position."""
    starts, ends = tokens.starts, tokens.ends
    count = counted = 0
    for start, end in spans:
        first = bisect_right(ends, start, counted)
        last = bisect_left(starts, end, first)
        if last > first:
            count += last - first
            counted = last
    return count


def word_diff(original: str, edits: Iterable[Edit]) -> list[tuple[Sign, str]]:
    """The change as a person reads it, in whole words.

    Joining the ``=`` and ``-`` pieces gives the original, joining ``=`` and ``+`` the mutated text. Segments that
    move are removed where they stood and added where they went.

    Args:
        original: The text the edits apply to.
        edits: In ascending order, not overlapping.
    """
    diff: list[tuple[Sign, str]] = []
    for run in _whole_words(_runs(original, edits)):
        kept, gone, new = run
        if gone == new:  # white space between segments that moved
            kept, gone, new = kept + gone, "", ""
        if kept and diff and diff[-1][0] == "=":
            kept = diff.pop()[1] + kept
        pieces: tuple[tuple[Sign, str], ...] = (("=", kept), ("-", gone), ("+", new))
        diff += [piece for piece in pieces if piece[1]]
    return diff


def _runs(original: str, edits: Iterable[Edit]) -> list[list[str]]:
    """``[kept, gone, new]`` in turn: what stays, then what is removed after it, then what takes its place."""
    runs: list[list[str]] = [["", "", ""]]

    def keep(text: str) -> None:
        if text:
            if runs[-1][1] or runs[-1][2]:
                runs.append(["", "", ""])
            runs[-1][0] += text

    position = 0
    for edit in edits:
        keep(original[position : edit.start])
        kept = kept_refs(edit)
        position = edit.start
        for index, part in enumerate(edit.parts):
            if isinstance(part, str):
                runs[-1][2] += part
            elif index in kept:
                runs[-1][1] += original[position : part.start]
                keep(original[part.start : part.end])
                position = part.end
            else:
                runs[-1][2] += original[part.start : part.end]
        runs[-1][1] += original[position : edit.end]
        position = edit.end
    keep(original[position:])
    return runs


def _whole_words(runs: list[list[str]]) -> list[list[str]]:
    """Widen each change to the words it lies in."""
    wide: list[list[str]] = [["", "", ""]]
    for number, (kept, gone, new) in enumerate(runs):
        if number:
            gone_before, new_before = wide[-1][1], wide[-1][2]
            if _inside_word(gone_before, kept) or _inside_word(new_before, kept):
                cut = len(kept) - len(kept.lstrip()) or next(
                    (i for i, c in enumerate(kept) if c.isspace()), len(kept)
                )
                wide[-1][1] += kept[:cut]
                wide[-1][2] += kept[:cut]
                kept = kept[cut:]  # noqa: PLW2901 - the rest of the run
        following = runs[number + 1][0] if number + 1 < len(runs) else ""
        head = ""
        if (
            kept
            and (gone or new)
            and (_inside_word(kept, gone or following) or _inside_word(kept, new or following))
        ):
            cut = max((i + 1 for i, c in enumerate(kept) if c.isspace()), default=0)
            kept, head = kept[:cut], kept[cut:]  # noqa: PLW2901 - the rest of the run
        if kept or number == 0:
            wide.append([kept, head + gone, head + new])
        else:
            wide[-1][1] += head + gone
            wide[-1][2] += head + new
    return wide


def _inside_word(left: str, right: str) -> bool:
    return bool(left and right) and not left[-1].isspace() and not right[0].isspace()


# Which words of a prompt a mutation touches, where :mod:`~pytest_promptfuzz.mutations.engine.edits` counts them.


def touched_spans(edits: Iterable[Edit]) -> list[tuple[int, int]]:
    """The spans of the original that edits change, remove or move, ascending; a bare point for an insertion."""
    return [span for edit in edits for span in removed(edit)]


def touched_places(edits: Iterable[Edit], tokens: Tokens) -> list[int]:
    """Which words the edits change, remove or move, by number, ascending.

    An insertion touches the word it is made in, and none between words.
    """
    starts, ends = tokens.starts, tokens.ends
    return sorted({place for span in touched_spans(edits) for place in _places_among(span, starts, ends)})


def touches(span: tuple[int, int], part: tuple[int, int]) -> bool:
    """Whether a span touches a part of the text: they share a character, or it is a point inside."""
    start, end = span
    return part[0] < end and start < part[1] if start < end else part[0] < start < part[1]


def _places_among(span: tuple[int, int], starts: list[int], ends: list[int]) -> Iterator[int]:
    start, end = span
    yield from range(bisect_right(ends, start), bisect_left(starts, end))
