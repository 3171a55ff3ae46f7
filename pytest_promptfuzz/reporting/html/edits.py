"""What a mutation changed in its prompt, as the terminal explains it: words, moves, reorderings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.reporting.diff import Change, Move, Reorder, explain
from pytest_promptfuzz.reporting.html.parts import MOST_CHARACTERS, cut
from pytest_promptfuzz.reporting.words import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.reporting.diff import Shown
    from pytest_promptfuzz.reporting.html.markup import Node

_CONTEXT = 60
_MOST_PLACES = 12
_MOST_PARTS = 30
_TAGS = {"-": "del", "+": "ins"}


def changed(diff: Iterable[Sequence[str]]) -> Node:
    """The places that changed with their neighbourhood, moves as moves."""
    shown = explain(diff, context=_CONTEXT)
    made: list[Node] = [_shown(each) for each in shown[:_MOST_PLACES]]
    rest = len(shown) - _MOST_PLACES
    if rest > 0:
        made.append(["p.dim", f"… and {count(rest, 'more place')} changed"])
    return ["div.changed", *(made or [["p.dim", "(unchanged)"]])]


def whole(diff: Iterable[Sequence[str]]) -> Node:
    """The whole prompt with what changed in it."""
    pieces: list[Node] = []
    room = MOST_CHARACTERS
    for kind, text in diff:
        if room <= 0:
            pieces.append(["span.cut", " … the rest is not shown"])
            break
        shown = cut(text, room)
        room -= len(text)
        pieces += [[_TAGS[kind], *shown]] if kind in _TAGS else shown
    return ["pre.text", {"dir": "auto"}, *pieces]


def _shown(each: Shown) -> Node:
    if isinstance(each, Change):
        return [
            "p.change",
            {"dir": "auto"},
            *([_TAGS[kind], text] if kind in _TAGS else _context(text) for kind, text in each.pieces),
        ]
    return _move(each) if isinstance(each, Move) else _reorder(each)


def _context(text: str) -> str:
    """A stretch between two changes may be as long as it likes."""
    return text if len(text) <= 4 * _CONTEXT else f"{text[: 2 * _CONTEXT]} … {text[-2 * _CONTEXT :]}"


def _move(move: Move) -> Node:
    def place(after: str) -> list[Node]:
        return ["after “", ["bdi", after], "”"] if after else ["at the start"]

    return [
        "div.change",
        ["p", ["span.label", "moved "], ["bdi.moved", *cut(move.text, 600)]],
        ["p.dim", "stood ", *place(move.was_after), "; stands ", *place(move.now_after)],
    ]


def _reorder(reorder: Reorder) -> Node:
    rest = len(reorder.segments) - _MOST_PARTS
    parts: list[Node] = [
        ["li", ["span.label", f"{place} "], ["bdi.moved", *cut(text, 300)]]
        for place, text in reorder.segments[:_MOST_PARTS]
    ]
    if rest > 0:
        parts.append(["li.dim", f"… and {count(rest, 'more part')}"])
    return [
        "div.change",
        ["p", ["span.label", "reordered "], "the parts in their new order, numbered as they were before"],
        ["ul.reordered", *parts],
    ]
