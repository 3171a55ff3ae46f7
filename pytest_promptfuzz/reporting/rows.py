"""Rows with a label: what failures are made of, and a mutation's diff as such rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.reporting.diff import Change, Move, Reorder, explain
from pytest_promptfuzz.reporting.safe import safe
from pytest_promptfuzz.reporting.text import HANG, Line, Piece, Style
from pytest_promptfuzz.reporting.words import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.reporting.diff import Shown

MOST_CHANGES = 3  # changed places of one prompt shown in full
MOST_SEGMENTS = 6
NEW_ORDER = "the new order; the numbers show the old one"
LABEL = 10
INDENT = "   "
LABELLED = len(INDENT) + LABEL + 1
"""Columns before what a row says."""


def row(label: str, pieces: Sequence[Piece], *, indent: str = INDENT) -> Line:
    """A row: its label, then what it says."""
    return [(indent, "plain"), (label.ljust(LABEL) + " ", "label"), HANG, *pieces]


def diff_lines(diff: Iterable[Sequence[str]], *, label: str = "prompt") -> list[Line]:
    """A mutation's diff under a label: the changed places with their neighbourhood, moves as moves."""
    lines: list[Line] = []
    shown = explain(diff)
    for each in shown[:MOST_CHANGES]:
        lines += _shown(each, label if not lines else "")
    rest = len(shown) - MOST_CHANGES
    if rest > 0:
        lines.append(row("", [(f"… and {count(rest, 'more place')} changed", "dim")]))
    return lines or [row(label, [("(unchanged)", "dim")])]


def _shown(each: Shown, label: str) -> list[Line]:
    if isinstance(each, Change):
        styles: dict[str, Style] = {"=": "plain", "-": "removed", "+": "added"}
        return [row(label, [(text, styles[kind]) for kind, text in each.pieces])]
    if isinstance(each, Move):
        return _move(each, label)
    return _reorder(each, label)


def _move(move: Move, label: str) -> list[Line]:
    def place(after: str) -> str:
        return f"after “{after}”" if after else "at the start"

    return [
        row(label, [("moved: ", "label"), (_short(move.text), "moved")]),
        row("", [(f"stood {place(move.was_after)}; stands {place(move.now_after)}", "plain")]),
    ]


def _reorder(reorder: Reorder, label: str) -> list[Line]:
    lines = [row(label, [("reordered: ", "label"), (NEW_ORDER, "plain")])]
    for place, text in reorder.segments[:MOST_SEGMENTS]:
        lines.append(row("", [(f"{place:>2}  ", "label"), HANG, (_short(text), "moved")]))
    rest = len(reorder.segments) - MOST_SEGMENTS
    if rest > 0:
        lines.append(row("", [(f"… and {count(rest, 'more part')}", "dim")]))
    return lines


def _short(text: str, limit: int = 100) -> str:
    flat = safe(text).replace("\n", "⏎")
    return flat if len(flat) <= limit else f"{flat[: limit // 2]} … {flat[-limit // 2 :]}"
