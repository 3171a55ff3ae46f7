"""A prompt and its mutation in two columns."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING, cast

from pytest_promptfuzz.reporting.diff import show_edges
from pytest_promptfuzz.reporting.safe import safe
from pytest_promptfuzz.reporting.text import Line, columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_promptfuzz.reporting.text import Piece, Style

_GAP = " | "
_MOST_SAME = 12  # unchanged lines in a row that are shown
_CONTEXT = 3  # of more, those at either end
_STYLES: dict[str, Style] = {"=": "plain", "-": "removed", "+": "added"}
_MARKS = {"=": ("", ""), "-": ("[-", "-]"), "+": ("{+", "+}")}
_RUN = re.compile(r"\n|[^\S\n]+|\S+")


def twin_lines(diff: Sequence[tuple[str, str]], *, width: int, color: bool, role: str = "") -> list[Line]:
    """The original on the left and what became of it on the right, wrapped to half the width each.

    Args:
        diff: ``("=" | "-" | "+", text)`` pieces in order, as :meth:`Mutation.diff` gives them.
        width: Columns for both, at least 40.
        role: Of the message of a chat that it is, to head the columns.
        color: Whether colour tells what was removed and added; marks do where it does not.
    """
    room = (width - len(_GAP)) // 2
    lines: list[Line] = [
        _row([(f"{role} original".strip(), "heading")], [(f"{role} mutated".strip(), "heading")], room)
    ]
    same: list[list[Line]] = []
    for part in _parts(diff):
        left = _wrapped(_side(part, "-", color=color), room)
        right = _wrapped(_side(part, "+", color=color), room)
        rows = [_row(one, other, room) for one, other in zip_longest(left, right, fillvalue=cast("Line", []))]
        if all(kind == "=" for kind, _ in part):
            same.append(rows)
            continue
        lines += _shortened(same)
        same = []
        lines += rows
    return lines + _shortened(same)


def _row(left: Line, right: Line, room: int) -> Line:
    used = sum(columns(text) for text, _ in left)
    return [*left, (" " * (room - used) + _GAP.rstrip(), "dim"), (" ", "plain"), *right]


def _shortened(same: list[list[Line]]) -> list[Line]:
    """Lines that no edit touches; the inner ones of many are counted instead."""
    if len(same) <= _MOST_SAME:
        return [row for rows in same for row in rows]
    left_out = len(same) - 2 * _CONTEXT
    return [
        *(row for rows in same[:_CONTEXT] for row in rows),
        [(f"… {left_out:,} lines are the same …", "dim")],
        *(row for rows in same[-_CONTEXT:] for row in rows),
    ]


def _parts(diff: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """The diff cut at the line breaks that both sides share, so that what follows one stands side by side again."""
    part: list[tuple[str, str]] = []
    for kind, text in diff:
        head, *rest = text.split("\n") if kind == "=" else [text]
        part.append((kind, head))
        for each in rest:
            yield part
            part = [(kind, each)]
    if any(text for _, text in part):
        yield part


def _side(diff: Iterable[tuple[str, str]], sign: str, *, color: bool) -> Iterator[Piece]:
    """One side of a diff; the white space of a change is made visible."""
    for kind, text in diff:
        if kind == "=":
            yield safe(text).replace("\t", "    "), "plain"
        elif kind == sign:
            shown = safe(show_edges(text))
            before, after = _MARKS[kind]
            yield (shown, _STYLES[kind]) if color else (before + shown + after, "plain")


def _wrapped(pieces: Iterable[Piece], room: int) -> list[Line]:
    """The pieces in rows of at most ``room`` columns, broken at a space, else wherever it must be."""
    rows: list[Line] = [[]]
    used = 0
    for text, style in pieces:
        for run in _RUN.findall(text):
            if run == "\n":
                rows.append([])
                used = 0
                continue
            if used + columns(run) > room and used:
                rows.append([])
                used = 0
                if run.isspace():
                    continue
            for part in _cut(run, room):
                if used + columns(part) > room:
                    rows.append([])
                    used = 0
                rows[-1].append((part, style))
                used += columns(part)
    return rows


def _cut(run: str, room: int) -> Iterator[str]:
    """A word that is wider than a row, in parts that are not."""
    start, used = 0, 0
    for index, character in enumerate(run):
        wide = columns(character)
        if used + wide > room:
            yield run[start:index]
            start, used = index, 0
        used += wide
    yield run[start:]
