"""Two answers side by side, with the words marked in which they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.reporting.answers import plain_text, shared
from pytest_promptfuzz.reporting.html.parts import cut
from pytest_promptfuzz.reporting.safe import show_white

if TYPE_CHECKING:
    from pytest_promptfuzz.reporting.html.markup import Node

LIMIT = 6_000
"""Characters of an answer that are compared and shown."""
_MARGIN = 200  # characters shown before the first difference of two long answers
# Scripts that do not part words by blanks are compared by characters.
_WORDS = expression(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]|\w+|\s+|[^\w\s]")


def answer(value: Any) -> str:
    """An answer as text; JSON is laid out."""
    try:
        return plain_text(value)
    except ValueError:  # a number of more digits than Python writes
        return "(a value that cannot be written)"


def beside(baseline: Any, response: Any, names: tuple[str, str] = ("baseline", "response")) -> Node:
    """The baseline's answer on the left, the response on the right; or what else they are named."""
    one, other = answer(baseline), answer(response)
    if one == other:
        return [
            "div.sides",
            _side(names[0], [*cut(one, LIMIT)]),
            ["div.side", ["p.label", names[1]], ["p.same", "the same, word for word"]],
        ]
    start = 0
    if max(len(one), len(other)) > LIMIT:
        start = max(0, shared(one, other) - _MARGIN)
        start = start if start > _MARGIN else 0
    lead: list[Node] = [["span.cut", f"… {start:,} characters the same … "]] if start else []
    left, right = _marked(one[start : start + LIMIT], other[start : start + LIMIT])
    return [
        "div.sides",
        _side(names[0], [*lead, *left, *_rest(one, start)]),
        _side(names[1], [*lead, *right, *_rest(other, start)]),
    ]


def _rest(text: str, start: int) -> list[Node]:
    rest = len(text) - start - LIMIT
    return [["span.cut", f" … {rest:,} more characters are not shown"]] if rest > 0 else []


def _side(name: str, children: list[Node]) -> Node:
    return ["div.side", ["p.label", name], ["pre.text", {"dir": "auto"}, *children]]


def _marked(one: str, other: str) -> tuple[list[Node], list[Node]]:
    """Both texts in pieces; a piece that the other lacks is marked."""
    from rapidfuzz.distance import LCSseq

    mine, theirs = _WORDS.findall(one), _WORDS.findall(other)
    left: list[tuple[bool, str]] = []
    right: list[tuple[bool, str]] = []
    for step in LCSseq.opcodes(mine, theirs):
        same = step.tag == "equal"
        for pieces, words, start, end in (
            (left, mine, step.src_start, step.src_end),
            (right, theirs, step.dest_start, step.dest_end),
        ):
            _add(pieces, same, "".join(words[start:end]))
    return _nodes(left), _nodes(right)


def _add(pieces: list[tuple[bool, str]], same: bool, text: str) -> None:
    """What differs on both sides of a blank is one piece."""
    if not text:
        return
    if not same and len(pieces) > 1 and pieces[-1][0] and not pieces[-1][1].strip() and not pieces[-2][0]:
        blank = pieces.pop()[1]
        pieces[-1] = (False, pieces[-1][1] + blank + text)
    elif pieces and pieces[-1][0] == same:
        pieces[-1] = (same, pieces[-1][1] + text)
    else:
        pieces.append((same, text))


def _nodes(pieces: list[tuple[bool, str]]) -> list[Node]:
    return [text if same else ["mark", text if text.strip() else show_white(text)] for same, text in pieces]
