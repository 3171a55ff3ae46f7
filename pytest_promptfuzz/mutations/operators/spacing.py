"""Operators on white space."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.casing import LETTER
from pytest_promptfuzz.mutations.edits import Edit, edits_at, insert, replace
from pytest_promptfuzz.mutations.fields import inside
from pytest_promptfuzz.mutations.layout import ends_abbreviation
from pytest_promptfuzz.mutations.operator import operator
from pytest_promptfuzz.mutations.written import written

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.layout import Line
    from pytest_promptfuzz.mutations.rng import Rng

# The space comes first, for the quick search.
_SINGLE = expression(r" (?<=\S )(?=\S)")
_BETWEEN_WORDS = expression(r" (?<=[^\s\d)] )(?=[^\s\d])")  # a program may look for "5 mg" or "A) "
_MARK = expression(r"[,;.!?](?=\s|$)")  # a colon is a part of the label before it
_CLOSED = (".", "!", "?", ":", ";", "。", "\x00")
_CODE_INDENT = 4  # columns of white space that make a line code to markdown
_LISTED = frozenset(["bullet", "number"])
_INSIDE_MARK = expression("[,;](?= )")
_BRACKETED = expression(r"(?<![^\s])\(([^()\n\x00]+)\)(?=[\s.,;:!?]|$)")
_WIDE = expression(
    "[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]"
)  # scripts without spaces, and full-width signs
_FEWEST_WORDS = 4  # of a line that is prose and no label or verse
_LONG = 60
_MARGIN = 20
_CODE = expression(r"[={}<>|\\]|;\s*$|\(\)")  # never seen in prose: such a line may be code
_COLON_AHEAD = expression(r"[^\s:]*(?:[ ][^\s:]+){0,3}:")


@operator(
    "double-space",
    dimension="lexical",
    severity=0.1,
    preserves="yes",
    surface=True,
    sources=("S1", "S2", "S4"),
    example=("Classify {text}", "Classify  {text}"),
    trusted=True,
)
def double_space(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Some spaces between words doubled (a third of them)."""
    places = [match.end() for match in _SINGLE.finditer(draft.free)]
    return edits_at(rng.draws(places, 0.33), lambda place: insert(place, " "))


@operator(
    "trailing-space",
    dimension="lexical",
    severity=0.1,
    preserves="yes",
    surface=True,
    sources=("S1", "S4"),
    example=("Classify {text}", "Classify {text}  "),
    trusted=True,
)
def trailing_space(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """One to four spaces at the end of some lines (half of them)."""
    places = [
        line.end for line in draft.lines if line.kind != "blank" and not draft.text[line.end - 1].isspace()
    ]
    return edits_at(rng.draws(places, 0.5), lambda place: insert(place, " " * (1 + rng.below(4))))


@operator(
    "extra-newlines",
    dimension="lexical",
    severity=0.1,
    preserves="yes",
    surface=True,
    sources=("S1", "S4"),
    example=("Classify {text}", "Classify {text}\n"),
    trusted=True,
)
def extra_newlines(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """One or two more line breaks after some lines that end a sentence or an item (a third of them)."""
    places: list[int] = []
    for line, following in zip(draft.lines, (*draft.lines[1:], None), strict=False):
        last = following is None or following.section != line.section
        wrapped = line.kind == "prose" and not draft.free[line.start : line.end].rstrip().endswith(_CLOSED)
        if last or (line.kind not in {"blank", "table"} and not wrapped):
            places.append(line.end)
    newline = "\r\n" if "\r\n" in draft.free else "\n"
    return edits_at(rng.draws(places, 0.33), lambda place: insert(place, newline * (1 + rng.below(2))))


@operator(
    "space-before-punctuation",
    dimension="lexical",
    severity=0.2,
    version=2,
    preserves="yes",
    surface=True,
    sources=("S2", "S4"),
    example=("Classify the ticket.", "Classify the ticket ."),
    trusted=True,
)
def space_before_punctuation(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """A space before some punctuation marks that end a word, not colons (half of them); not in data and templates."""
    kept = draft.once(written)
    places = [
        match.start()
        for match in _MARK.finditer(draft.free)
        if LETTER.match(draft.free[match.start() - 1 : match.start()])
        and (match.group() != "." or not ends_abbreviation(draft.text, match.start()))
        and not inside(kept, match.start())
    ]
    return edits_at(rng.draws(places, 0.5), lambda place: insert(place, " "))


def _spaces(draft: Draft) -> list[int]:
    """Where a single space stands between words in lines whose spacing says nothing."""
    text, free = draft.text, draft.free
    found: list[int] = []
    for line in draft.once(_flowing):
        found += [
            match.start()
            for match in _BETWEEN_WORDS.finditer(text, line.content, line.end)
            if free[match.start()] == " "
        ]
    return found


def _flowing(draft: Draft) -> tuple[Line, ...]:
    """Lines whose spacing says nothing: not of a table, of indented code, or of ``key: value`` under another."""
    lines = draft.lines
    found: list[Line] = []
    listed = False  # whether a list is open, so that its indented lines are no code
    for number, line in enumerate(lines):
        kind = line.kind
        if kind in _LISTED:
            listed = True
        elif kind != "blank" and not line.indent:
            listed = False
        if kind in {"blank", "table", "block"} or draft.text.find("\t", line.start, line.end) >= 0:
            continue
        if (line.indent >= _CODE_INDENT and not listed) or _CODE.search(draft.free, line.content, line.end):
            continue
        if kind == "field" and (
            line.indent
            or (number and lines[number - 1].kind == "field")
            or (number + 1 < len(lines) and lines[number + 1].kind == "field")
        ):
            continue
        found.append(line)
    return tuple(found)


@operator(
    "space-runs",
    dimension="lexical",
    severity=0.2,
    preserves="yes",
    surface=True,
    sources=("S2", "S4"),
    example=("Classify {text}", "Classify    {text}"),
    trusted=True,
)
def space_runs(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Some spaces between words turned into runs of two to six (a tenth of them); not in tables, code and data."""
    places = draft.once(_spaces)
    return edits_at(rng.draws(places, 0.1), lambda place: insert(place, " " * (1 + rng.below(5))))


@operator(
    "tabs",
    dimension="lexical",
    severity=0.2,
    preserves="yes",
    surface=True,
    sources=("S2", "S4"),
    example=("Classify {text}", "Classify\t{text}"),
    trusted=True,
)
def tabs(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Some spaces between words, and indents of items, turned into tabs (a tenth); not in tables, code and data."""
    places = draft.once(_spaces)
    indents = [
        line.start
        for line in draft.once(_flowing)
        if line.indent >= _CODE_INDENT
        and line.kind in _LISTED
        and draft.free.startswith(" " * _CODE_INDENT, line.start)
    ]
    if indents:
        places = sorted([*places, *indents])
    wide = frozenset(indents)
    return edits_at(
        rng.draws(places, 0.1),
        lambda place: replace(place, place + (_CODE_INDENT if place in wide else 1), "\t"),
    )


def _joints(draft: Draft) -> list[Edit]:
    """The line breaks inside paragraphs, each with what replaces it; lines that stand for themselves keep theirs."""
    free = draft.free
    joints: list[Edit] = []
    for line, following in pairwise(draft.lines):
        if line.kind != "prose" or following.kind != "prose" or line.section != following.section:
            continue
        if line.indent or following.indent or not draft.is_free(line.end, following.start):
            continue
        if _CODE.search(free, line.start, following.end):
            continue
        here, there = free[line.start : line.end], free[following.start : following.end]
        wide = _WIDE.match(here[-1]) is not None and _WIDE.match(there[0]) is not None
        if not wide:
            if here[-1].isspace() or not LETTER.match(there[0]) or here[-1] in ":-\\\x00":
                continue  # two spaces or a backslash are a line break to markdown
            if min(len(here.split()), len(there.split())) < _FEWEST_WORDS:
                continue
            if here[-1] not in ".!?,;…" and not there[0].islower():
                continue
        joints.append(replace(line.end, following.start, "" if wide else " "))
    return joints


@operator(
    "join-lines",
    dimension="lexical",
    severity=0.2,
    preserves="conditional",
    surface=True,
    sources=("S2", "S4"),
    example=(
        "Read the message of the customer\nand answer it in French.",
        "Read the message of the customer and answer it in French.",
    ),
    trusted=True,
    default=False,
)
def join_lines(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Lines of a paragraph joined (all, then half); not items, tables, code or lines that stand for themselves."""
    return rng.all_then_some(_joints(draft))


_MOST_SPACES = 200
"""Spaces looked at on either side: where none of them will do, no line break will."""


def _break_in(draft: Draft, line: Line, rng: Rng, newline: str) -> Edit | None:
    """A line break at a random space of a long line, where what follows cannot be read as the start of something."""
    free = draft.free
    first, last = line.start + _MARGIN, line.end - _MARGIN
    drawn = first + rng.below(last - first)
    for begin, end in ((drawn, last), (first, drawn)):
        place = free.find(" ", begin, end)
        for _ in range(_MOST_SPACES):
            if place < 0:
                break
            before, after = free[place - 1], free[place + 1]
            if (
                LETTER.match(after)
                and (LETTER.match(before) or before == ",")
                and not (before.isupper() and after.isupper())  # keywords
                and not _COLON_AHEAD.match(free, place + 1, line.end)
            ):
                return replace(place, place + 1, newline)
            place = free.find(" ", place + 1, end)
    return None


@operator(
    "wrap-lines",
    dimension="lexical",
    severity=0.1,
    preserves="yes",
    surface=True,
    sources=("S2", "S4"),
    example=(
        "Read the message of the customer below and answer it in French.",
        "Read the message of the customer\nbelow and answer it in French.",
    ),
    trusted=True,
)
def wrap_lines(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """A line break between two words of some long lines of prose (half); not in items, fields, tables and code."""
    lines = [
        line
        for line in draft.once(_flowing)
        if line.kind == "prose" and line.end - line.start >= _LONG and not line.indent
    ]
    newline = "\r\n" if "\r\n" in draft.free else "\n"
    return edits_at(rng.draws(lines, 0.5), lambda line: _break_in(draft, line, rng, newline))


def _surrounded(draft: Draft) -> list[list[Edit]]:
    """Marks inside sentences, and round brackets, each with the spaces they can take."""
    text, free = draft.text, draft.free
    kept = draft.once(written)
    found: list[list[Edit]] = []
    for line in draft.once(_flowing):
        for match in _INSIDE_MARK.finditer(free, line.content, line.end):
            place = match.start()
            before, after = free[place - 1 : place], free[place + 2 : place + 3]
            if not (LETTER.match(before) or before == ")") or not LETTER.match(after):
                continue
            if inside(kept, place):
                continue
            found.append([insert(place, " ")])
        for match in _BRACKETED.finditer(free, line.content, line.end):
            inner = match.group(1)
            if (
                LETTER.match(inner[0])
                and LETTER.match(inner[-1])
                and text[match.end() : match.end() + 1] != ":"
                and not inside(kept, match.start())
            ):
                found.append([insert(match.start() + 1, " "), insert(match.end() - 1, " ")])
    found.sort()
    return found


@operator(
    "space-around-punctuation",
    dimension="lexical",
    severity=0.2,
    version=2,
    preserves="yes",
    surface=True,
    sources=("S2", "S4"),
    example=("Read it, then answer (briefly).", "Read it, then answer ( briefly )."),
    trusted=True,
    default=False,
)
def space_around_punctuation(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """A space before some commas and semicolons in sentences, and inside round brackets (half); not in templates."""
    for places in rng.draws(_surrounded(draft), 0.5):
        yield sorted(edit for edits in places for edit in edits)
