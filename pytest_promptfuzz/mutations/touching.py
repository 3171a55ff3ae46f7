"""Which words of a prompt a mutation touches, where :mod:`~pytest_promptfuzz.mutations.measuring` counts them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from pytest_promptfuzz.mutations.measuring import removed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_promptfuzz.mutations.edits import Edit
    from pytest_promptfuzz.mutations.measuring import Tokens


def touched_spans(edits: Iterable[Edit]) -> list[tuple[int, int]]:
    """The spans of the original that edits change, remove or move, ascending; a bare point for an insertion."""
    return [span for edit in edits for span in removed(edit)]


def touched_places(edits: Iterable[Edit], tokens: Tokens) -> list[int]:
    """Which words the edits change, remove or move, by number, ascending.

    An insertion touches the word it is made in, and none between words.
    """
    starts, ends = tokens.starts, tokens.ends
    return sorted({place for span in touched_spans(edits) for place in _among(span, starts, ends)})


def touches(span: tuple[int, int], part: tuple[int, int]) -> bool:
    """Whether a span touches a part of the text: they share a character, or it is a point inside."""
    start, end = span
    return part[0] < end and start < part[1] if start < end else part[0] < start < part[1]


def _among(span: tuple[int, int], starts: list[int], ends: list[int]) -> Iterator[int]:
    start, end = span
    yield from range(bisect_right(ends, start), bisect_left(starts, end))
