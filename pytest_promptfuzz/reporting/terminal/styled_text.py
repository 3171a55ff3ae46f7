"""Styled text: lines of ``(text, style)`` pieces, laid out to a width and coloured at the end; the run's header."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pytest_promptfuzz.text.expressions import expression
from pytest_promptfuzz.text.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


Style = Literal[
    "plain", "heading", "good", "warn", "bad", "dim", "label", "removed", "added", "moved", "command", "hang"
]
Piece = tuple[str, Style]
Line = list[Piece]

#: Rows after the first of a line begin at the column where this piece stands.
HANG: Piece = ("", "hang")
MIN_WIDTH = 40
_IN = 4

_SGR: dict[str, str] = {
    "heading": "1",
    "good": "32",
    "warn": "33",
    "bad": "1;31",
    "dim": "2",
    "label": "36",
    "removed": "31;9",
    "added": "32;1",
    "moved": "33",
}
# What colour tells is told by marks where there is none.
_MARKS: dict[str, tuple[str, str]] = {"removed": ("[-", "-]"), "added": ("{+", "+}")}
_TAB = "    "
_OPENED = expression(r"##[A-Za-z]*\Z")
_LONGEST = 12  # letters of such a command, and its signs
# East Asian closing punctuation does not begin a row.
_NEVER_FIRST = frozenset("\u3001\u3002\uff01\uff09\uff0c\uff0e\uff1a\uff1b\uff1f\u300d\u300f\u3011\u30fc")


def named(name: str, said: str, *, style: Style = "plain") -> Line:
    """What is said of something with a long name, a file or a test: later rows stand a little in, not under its end."""
    return [(name[:_IN], "heading"), HANG, (name[_IN:], "heading"), (": ", "heading"), (said, style)]


class _Glyph(NamedTuple):
    """One character with what combines with it: it is never split."""

    text: str
    width: int
    style: Style


@lru_cache(maxsize=4096)
def _columns(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"} or "\u1160" <= character <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def columns(text: str) -> int:
    """How many terminal columns a text without line feeds takes: wide characters 2, combining ones 0.

    >>> columns("日本"), columns("e\u0301")
    (4, 1)
    """
    return len(text) if text.isascii() else sum(_columns(each) for each in text)


def shorten_middle(text: str, width: int) -> str:
    """The text in at most ``width`` columns (at least 1), its middle replaced by ``…`` where it is longer.

    >>> shorten_middle("tests/test_triage.py::test_labels", 20)
    'tests/t…:test_labels'
    """
    if columns(text) <= width:
        return text
    # The end of a node ID tells more than its beginning.
    tail_room = (width - 1) * 2 // 3
    tail = start = len(text)
    used = 0
    while start and used + _columns(text[start - 1]) <= tail_room:
        start -= 1
        used += _columns(text[start])
        # A combining character may not lead: it belongs to what was cut.
        if _columns(text[start]):
            tail = start
    head, taken = 0, 0
    while head < tail and taken + _columns(text[head]) <= width - 1 - columns(text[tail:]):
        taken += _columns(text[head])
        head += 1
    return f"{text[:head]}…{text[tail:]}"


def shorten_start(text: str, width: int) -> str:
    """The end of a text in at most ``width`` columns (at least 1), ``…`` in the place of what stood before it.

    Of a node ID, the function and its parameters are kept, and the path gives way.

    >>> shorten_start("tests/test_triage.py::test_labels", 20)
    '…age.py::test_labels'
    """
    if columns(text) <= width:
        return text
    start = at = len(text)
    used = 0
    while at and used + _columns(text[at - 1]) <= width - 1:
        at -= 1
        used += _columns(text[at])
        # A combining character may not lead: it belongs to what was cut.
        if _columns(text[at]):
            start = at
    return f"…{text[start:]}"


def pad(text: str, width: int, *, right: bool = False) -> str:
    """The text filled with spaces to ``width`` columns; ``right`` aligns it to the right."""
    fill = " " * (width - columns(text))
    return fill + text if right else text + fill


def render(lines: Iterable[Line], *, width: int, color: bool) -> str:
    r"""The lines as text, each row at most ``width`` columns and without white space at its end.

    A row that is too long is broken at a space, else wherever it must be; the rows after the first begin at
    the line's ``HANG`` piece, or under its first character. Line feeds in a piece begin a new row there. A
    line holding a ``command`` is not broken, so that it can be copied. Every piece is made harmless by
    :func:`~pytest_promptfuzz.text.safe_text.safe`.

    Args:
        lines: What to show.
        width: Columns, at least 40: less is taken for 40.
        color: Whether to use ANSI colours; if not, ``[-…-]`` and ``{+…+}`` mark what was removed and added.

    Returns:
        The rows joined by ``\n``, with none at the end.
    """
    room = max(width, MIN_WIDTH)
    return "\n".join(_paint(row, color=color) for line in lines for row in _rows(line, room, color=color))


def _rows(line: Line, width: int, *, color: bool) -> Iterator[Sequence[_Glyph]]:
    cells, hang = _cells(line, color=color)
    if any(style == "command" for _, style in line):
        yield cells
        return
    if hang is None:
        hang = next((index for index, cell in enumerate(cells) if cell.text != " "), 0)
    # A gutter that leaves no room to write in is worse than none.
    indent = min(sum(cell.width for cell in cells[:hang]), width - MIN_WIDTH // 2)
    gutter = [_Glyph(" ", 1, "plain")] * indent
    first = True
    start = 0
    while first or start < len(cells):
        lead: Sequence[_Glyph] = () if first else gutter
        end, following = _break(cells, start, width - len(lead), guard=hang if first else 0)
        yield [*lead, *cells[start:end]]
        start, first = following, False
        if [cell.text for cell in cells[start : start + 2]] == [":", ":"]:
            # A break within a word must not put what a CI log takes for a command at the start of a row.
            cells[start] = cells[start]._replace(text=":\\", width=2)


def _cells(line: Line, *, color: bool) -> tuple[list[_Glyph], int | None]:
    cells: list[_Glyph] = []
    hang: int | None = None
    for text, style in _merged(line):
        if style == "hang":
            hang = len(cells)
            continue
        before, after = _MARKS.get(style, ("", "")) if not color else ("", "")
        shown = before + safe(text).replace("\t", _TAB) + after
        if shown.startswith("[") and _OPENED.search("".join(cell.text for cell in cells[-_LONGEST:])):
            shown = "\\" + shown  # two pieces make what a CI log takes for a command
        for each in shown:
            columns_taken = _columns(each)
            if columns_taken == 0 and each != "\n" and cells and cells[-1].text != "\n":
                last = cells[-1]
                cells[-1] = _Glyph(last.text + each, last.width, last.style)
            else:
                cells.append(_Glyph(each, columns_taken, style))
    return cells, hang


def _merged(line: Line) -> Iterator[Piece]:
    """Neighbours of one style as one piece, so that marks stand around the whole."""
    held: Piece | None = None
    for text, style in line:
        if held and held[1] == style and style != "hang":
            held = (held[0] + text, style)
            continue
        if held:
            yield held
        held = (text, style)
    if held:
        yield held


def _break(cells: list[_Glyph], start: int, room: int, *, guard: int) -> tuple[int, int]:
    """Where the row that begins at ``start`` ends, and where the next begins."""
    used = 0
    chance: tuple[int, int] | None = None
    for index in range(start, len(cells)):
        cell = cells[index]
        if cell.text == "\n":
            return index, index + 1
        if used + cell.width > room and index > start:
            if cell.text == " ":
                return index, _skip_spaces(cells, index)
            return chance if chance and chance[0] > max(start, guard) else (index, index)
        used += cell.width
        if cell.text == " ":
            chance = (index, index + 1)
        elif (
            cell.width == 2
            and not cell.text.isascii()
            and (index + 1 == len(cells) or cells[index + 1].text not in _NEVER_FIRST)
        ):
            chance = (index + 1, index + 1)
    return len(cells), len(cells)


def _skip_spaces(cells: list[_Glyph], index: int) -> int:
    while index < len(cells) and cells[index].text == " ":
        index += 1
    return index


def _paint(row: Sequence[_Glyph], *, color: bool) -> str:
    end = len(row)
    while end and row[end - 1].text == " ":
        end -= 1
    row = row[:end]
    if not color:
        return "".join(cell.text for cell in row)
    out: list[str] = []
    current = ""
    for cell in row:
        wanted = _SGR.get(cell.style, "") if cell.text != " " or current != "" else ""
        if wanted != current:
            out.append(("\x1b[0m" if current else "") + (f"\x1b[{wanted}m" if wanted else ""))
            current = wanted
        out.append(cell.text)
    if current:
        out.append("\x1b[0m")
    return "".join(out)


# The header of a run. Every pytest run with the plugin shows it, so it loads none of what failures need.


_HANG: Piece = ("", "hang")  # text.HANG, without loading what lays text out

_MISSING = {"semantic": "answers are not compared by meaning"}


def header_lines(settings: Mapping[str, Any]) -> list[Line]:
    """What a run will do, in one line, and a line for each thing that is missing.

    Args:
        settings: Any of ``mode``, ``seed``, ``target`` (text, or ``None`` where none is configured), ``judge``
            (likewise, shown where there is one), ``cache`` (the path of the local cache, or ``None``), ``tiers`` (names
            of the similarity tiers at hand), ``semantic`` (what compares meaning), ``entailment`` (what tells whether
            one text follows from another) and ``missing`` (the mend for each tier that is not at hand).
    """
    parts = [f"{key} {settings[key]}" for key in ("mode", "seed") if settings.get(key) is not None]
    if "target" in settings:
        parts.append(f"target {settings['target'] or 'not set'}")
    if settings.get("judge"):
        parts.append(f"judge {settings['judge']}")
    if "cache" in settings:
        parts.append(f"local cache {settings['cache']}" if settings["cache"] else "no local cache")
    if settings.get("tiers"):
        parts.append("comparing by " + " > ".join(settings["tiers"]))
    lines: list[Line] = [[("promptfuzz: ", "label"), _HANG, (", ".join(parts), "plain")]]
    lines.extend(
        [("promptfuzz: ", "label"), _HANG, (f"{name} comparison by {settings[name]}", "plain")]
        for name in ("semantic", "entailment")
        if settings.get(name)
    )
    missing: Mapping[str, str] = settings.get("missing") or {}
    for name, mend in missing.items():
        lines.append(
            [
                ("promptfuzz: ", "label"),
                _HANG,
                (_MISSING.get(name, f"no comparison by {name}"), "warn"),
                (f"{': ' if mend[:1].islower() else '. '}{mend}.", "plain"),
            ]
        )
    return lines
