"""The layout of a prompt: its lines and what kind they are, its paragraphs and sentences.

Read off the text with protected parts blanked, so a code fence or a slot that spans lines is one line here, and a
full stop inside a quotation ends no sentence.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.casing import LETTER
from pytest_promptfuzz.mutations.lexicon.table import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

LineKind = Literal["blank", "prose", "bullet", "number", "heading", "lead", "field", "table", "block"]


class Line(NamedTuple):
    """One line of the text, without its line break.

    Attributes:
        start: Where it begins.
        end: Where it ends, before the line break.
        kind: ``blank``; ``prose``; ``bullet`` or ``number`` (a list item); ``heading`` (``# ...``); ``lead`` (ends
            with a colon and introduces what follows); ``field`` (``Review: ...``); ``table``; ``block`` (nothing but
            protected text and punctuation: a slot, a fence, a tag).
        indent: Characters of white space before it.
        content: Where the text after indent and marker begins.
        section: Number of the message it lies in.
    """

    start: int
    end: int
    kind: LineKind
    indent: int
    content: int
    section: int


class Sentence(NamedTuple):
    """A sentence, with its closing punctuation and without the white space around it.

    Attributes:
        start: Where it begins.
        end: Where it ends.
        paragraph: Number of the run of prose lines, or of the single line, that it lies in.
        kind: The kind of that line.
    """

    start: int
    end: int
    paragraph: int
    kind: LineKind


_make = tuple.__new__  # what `Line(...)` does, without a Python frame in between

_LINE = expression(
    r"[ \t]*(?:(?P<bullet>[-*+•‣◦][ \t]+)|(?P<number>\d{1,3}[.)][ \t]+)|(?P<heading>\#{1,6}[ \t]+))?"
)
_FIELD = expression(
    r"(?:\*\*)?" + LETTER.pattern + r"[^\s:.!?]*(?: [^\s:.!?]+){0,2}(?:\*\*)?:(?:\*\*)?(?=[ \t\x00])"
)
# Begins with a character class, which the engine looks for ten times faster than for an alternation.
_END = expression("[.!?…。！？\n][.!?…。！？]*[\"'”’)\\]」』）]*")
_OPENS = expression("[ \t]*(?:\r?(?:\n|$)|(?<=[ \t])(?![a-zß-öø-ÿ]))")
_NEW_LINE = expression("[ \t]*[A-ZÀ-Þ]")
_ABBREVIATIONS = words(
    """
    e.g i.e etc vs mr mrs ms dr prof st no nos fig figs inc ltd co corp approx dept est eq sec ch vol pp p al jr
    sr ca cf resp incl excl min max avg
    """
)
_LONG = max(map(len, _ABBREVIATIONS)) + 1  # letters before a full stop that are no abbreviation


def sections_of(length: int, walls: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The ranges between ``walls``, those that hold something."""
    position = 0
    for start, end in walls:
        if start > position:
            yield position, start
        position = end
    if position < length:
        yield position, length


def lines_of(text: str, free: str, walls: Sequence[tuple[int, int]]) -> tuple[Line, ...]:
    """The lines of ``text``.

    Args:
        text: The prompt's text.
        free: The same with protected characters blanked.
        walls: Spans that part its sections (the borders of chat messages).
    """
    lines: list[Line] = []
    for section, (first, last) in enumerate(sections_of(len(text), walls)):
        start = first
        while start <= last:
            stop = free.find("\n", start, last)
            end = stop if stop >= 0 else last
            bare = end - 1 if end > start and text[end - 1] == "\r" else end
            lines.append(_line(text, free, start, bare, section))
            if stop < 0:
                break
            start = stop + 1
    return tuple(lines)


def in_sections(lines: Iterable[Line]) -> list[list[Line]]:
    """The lines of each section."""
    return [list(group) for _, group in groupby(lines, key=attrgetter("section"))]


def _line(text: str, free: str, start: int, end: int, section: int) -> Line:
    if start == end:
        return _make(Line, (start, end, "blank", 0, start, section))
    first = free[start]
    if first.isascii() and first.isalpha():  # most lines: without indent or marker
        return _make(Line, (start, end, _worded(free[start:end].rstrip()), 0, start, section))
    match = _LINE.match(text, start, end)
    assert match is not None  # every part of the pattern is optional
    content = match.end()
    marker = match.lastgroup
    indent = (match.start(marker) if marker else content) - start
    if marker and (
        "\x00" in free[content - 2 : content] or (marker != "number" and "\x00" in free[start:content])
    ):
        marker, content = None, start + indent  # the marker is part of something protected
    rest = free[content:end].rstrip()
    kind: LineKind
    if marker == "bullet":
        kind = "bullet"
    elif marker == "number":
        kind = "number"
    elif not rest:
        kind = "blank"
    elif marker == "heading":
        kind = "heading"
    elif rest[0] == "|":
        kind = "table"
    elif not LETTER.search(rest):
        kind = "block"
    else:
        kind = _worded(rest)
    return Line(start, end, kind, indent, content, section)


def _worded(rest: str) -> LineKind:
    """The kind of a line of words without a marker."""
    if rest.endswith((":", ":**", "：")):
        return "lead"
    return "field" if ":" in rest and _FIELD.match(rest) else "prose"


def paragraphs_of(lines: Sequence[Line]) -> Iterator[tuple[int, int, LineKind]]:
    """Runs of prose lines of one section, and every other line that holds words: ``(start, end, kind)``."""
    open_from = -1
    previous: Line | None = None
    for line in lines:
        joins = previous is not None and line.section == previous.section and line.indent == previous.indent
        if open_from >= 0 and previous is not None and not (line.kind == "prose" and joins):
            yield open_from, previous.end, "prose"
            open_from = -1
        if line.kind == "prose":
            if open_from < 0:
                open_from = line.content
        elif line.kind in {"bullet", "number", "heading", "field", "lead"}:
            yield line.content, line.end, line.kind
        previous = line
    if open_from >= 0 and previous is not None:
        yield open_from, previous.end, "prose"


def sentences_of(text: str, free: str, lines: Sequence[Line]) -> tuple[Sentence, ...]:
    """The sentences of prose paragraphs, list items, headings, fields and leads, in order."""
    found: list[Sentence] = []
    for number, (start, end, kind) in enumerate(paragraphs_of(lines)):
        cuts: list[tuple[int, int]] = []
        position = start
        for match in _END.finditer(free, start, end):
            at, stop = match.span()
            mark = free[at]
            if mark == "\n":
                if not _NEW_LINE.match(free, at + 1, end):
                    continue
            elif (mark in ".!?…" and not _OPENS.match(free, stop, end)) or (
                stop == at + 1 and mark == "." and ends_abbreviation(text, at)
            ):
                continue
            cuts.append((position, stop))
            position = stop
        cuts.append((position, end))
        for first, last in cuts:
            piece = text[first:last].rstrip()
            bare = piece.lstrip()
            if bare:
                first += len(piece) - len(bare)  # noqa: PLW2901 - narrowed to the sentence
                found.append(_make(Sentence, (first, first + len(bare), number, kind)))
    return tuple(found)


def ends_abbreviation(text: str, stop: int) -> bool:
    """Whether the full stop at ``stop`` belongs to an abbreviation or an initial."""
    if stop >= _LONG and text[stop - _LONG : stop].isalpha():
        return False
    word = text[max(0, stop - 12) : stop].rsplit(None, 1)[-1:]
    bare = word[0].lstrip("(\"'“‘").lower() if word else ""
    return bare in _ABBREVIATIONS or (len(bare) == 1 and LETTER.match(bare) is not None)


class LineIndex:
    """The lines of a section, found by position and past the blank ones.

    Attributes:
        lines: In order; at least one.
    """

    __slots__ = ("_after", "_before", "_starts", "lines")

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = lines
        self._starts = [line.start for line in lines]
        self._before: list[Line | None] = []
        self._after: list[Line | None] = []
        last: Line | None = None
        for line in lines:
            self._before.append(last)
            last = line if line.kind != "blank" else last
        last = None
        for line in reversed(lines):
            self._after.append(last)
            last = line if line.kind != "blank" else last
        self._after.reverse()

    def number(self, position: int) -> int:
        """The number of the line that ``position`` lies in."""
        return max(0, bisect_right(self._starts, position) - 1)

    def before(self, number: int) -> Line | None:
        """The last line before that one that is not blank."""
        return self._before[number]

    def after(self, number: int) -> Line | None:
        """The first line after that one that is not blank."""
        return self._after[number]
