"""Operators on white space, and on punctuation that carries no meaning."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from pytest_promptfuzz.data.english_words import IMPERATIVES
from pytest_promptfuzz.mutations.analysis.draft import ends_abbreviation
from pytest_promptfuzz.mutations.analysis.spared_text import inside, written
from pytest_promptfuzz.mutations.engine.edits import Edit, edits_at, insert, replace
from pytest_promptfuzz.mutations.engine.operator import operator
from pytest_promptfuzz.text.expressions import LETTER, expression, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.mutations.analysis.draft import Draft, Line, Sentence
    from pytest_promptfuzz.randomness import Rng


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


# Operators on punctuation that carries no meaning of its own.


_MARKS = expression(r"[-–—'’.…]+")
_OTHER = {"'": "’", "’": "'", "-": "–", "--": "—", "---": "—", "–": "-", "—": "--", "...": "…", "…": "..."}
_COMMA = expression(r",(?= ([^\W\d_]+['’]?[^\W\d_]*))")
# A comma before one of these parts clauses and no items of a list.
_JOINING = words(
    """
    and but or so then which who whose because please while whereas although though if when unless using including such
    since as where until rather even especially however instead either you we i they it he she do don't does is are
    """
)
# A sentence that begins with one of these has its first comma after the opening clause.
_OPENING = words(
    """
    if when for in after before once given based as while to please first next finally then otherwise also however note
    unless since although though because with without until where whenever instead now here using during at on from
    """
)
# What follows a negation may lie in its scope or not, by the comma alone ("Do not guess, and ask").
_NEGATION = expression(
    r"\b(?:not|never|no|none|nothing|without|cannot|avoid|refrain|unless|except)\b|n['’]t\b"
    r"|\b(?:all|any|every)\w* but\b",
    re.IGNORECASE,
)
_CLAUSE = expression(r"(?<=[^\W\d_]) (?=(because|but|although|whereas|unless|and)(?= ))")


@operator(
    "drop-terminal-punctuation",
    dimension="lexical",
    severity=0.2,
    preserves="yes",
    sources=("S1", "S2"),
    example=("Classify the ticket.", "Classify the ticket"),
    trusted=True,
)
def drop_terminal_punctuation(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """The full stop at the end of paragraphs and list items dropped (all of them, then some)."""
    sentences = draft.sentences
    places = [
        replace(sentence.end - 1, sentence.end, "")
        for sentence, following in zip(sentences, (*sentences[1:], None), strict=False)
        if (following is None or following.paragraph != sentence.paragraph)
        and sentence.end - sentence.start > 1
        and draft.free[sentence.end - 1] in ".!。"
        and draft.free[sentence.end - 2] not in ".!?"
    ]
    return rng.all_then_some(places)


@operator(
    "typographic-punctuation",
    dimension="lexical",
    severity=0.2,
    preserves="yes",
    sources=("S2",),
    example=("Don't guess - ask...", "Don’t guess – ask…"),
    trusted=True,
    cue=lambda draft: _MARKS.search(draft.free) is not None,
)
def typographic_punctuation(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Straight apostrophes, dashes and dots turned typographic and the other way (all of them, then some)."""
    places = [
        replace(*match.span(), _OTHER[match.group()])
        for match in _MARKS.finditer(draft.free)
        if match.group() in _OTHER and _typeset(draft.free, *match.span())
    ]
    return rng.all_then_some(places)


def _typeset(free: str, start: int, end: int) -> bool:
    """Whether the mark is an apostrophe in a word, a dash between words, or the dots of an ellipsis."""
    mark = free[start]
    if mark in ".…":
        return True
    if mark in "'’":
        return _letters(free[max(0, start - 1) : start] + free[end : end + 1])
    around = free[max(0, start - 2) : start] + free[end : end + 2]
    return around[1:3] == "  " and _letters(around[:1] + around[3:])


def _letters(pair: str) -> bool:
    return len(pair) == 2 and all(map(LETTER.match, pair))


def _scope(free: str, sentence: Sentence) -> int:
    """Where the first negation of a sentence stands, or its end."""
    match = _NEGATION.search(free, sentence.start, sentence.end)
    return match.start() if match else sentence.end


def _loose_marks(draft: Draft) -> list[int]:
    """Commas between clauses, and full stops between sentences: a reader needs none of them.

    Commas of lists stay, and all next to protected text.
    """
    free = draft.free
    found: list[int] = []
    for sentence in draft.sentences:
        commas = [
            match
            for match in _COMMA.finditer(free, sentence.start, sentence.end)
            if LETTER.match(free[match.start() - 1 : match.start()])
        ]
        opens = (
            len(commas) == 1
            and free.count(",", sentence.start, sentence.end) == 1
            and free[sentence.start : sentence.end].split(" ", 1)[0].lower() in _OPENING
        )
        scope = _scope(free, sentence)
        found += [
            match.start()
            for match in commas
            if match.start() < scope and (opens or match.group(1).lower() in _JOINING)
        ]
    for sentence, following in pairwise(draft.sentences):
        mark = sentence.end - 1
        if (
            sentence.paragraph == following.paragraph
            and free[mark] in ".!"
            and LETTER.match(free[mark - 1 : mark])
            and free[following.start].isupper()
            and not ends_abbreviation(draft.text, mark)
            and _scope(free, sentence) > mark
        ):
            found.append(mark)
    return sorted(found)


@operator(
    "remove-punctuation",
    dimension="lexical",
    severity=0.3,
    preserves="conditional",
    languages=("en",),
    sources=("S1", "S2", "TextAttack"),
    example=("If it is late, apologise.", "If it is late apologise."),
    trusted=True,
    default=False,
)
def remove_punctuation(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Some commas between clauses and full stops between sentences left out (half of them)."""
    return edits_at(rng.draws(_loose_marks(draft), 0.5), lambda place: replace(place, place + 1, ""))


def _room_for_marks(draft: Draft) -> list[tuple[int, int, tuple[str, ...]]]:
    """Ends of sentences whose mark can be doubled, and places before a clause that can take a comma."""
    free = draft.free
    found: list[tuple[int, int, tuple[str, ...]]] = []
    for sentence in draft.sentences:
        end = sentence.end - 1
        before, mark = free[end - 1 : end], free[end]
        if sentence.start < end and LETTER.match(before):
            if mark == "." and not ends_abbreviation(draft.text, end):
                found.append((end, end + 1, ("!", "...", "..")))
            elif mark in "!?":
                found.append((end, end + 1, (mark * 2, mark * 3)))
        for match in _CLAUSE.finditer(free, sentence.start, _scope(free, sentence)):
            place = match.start()
            word, following = match.group(1), free[match.end() : match.end() + 20].split(" ", 2)[1:2]
            if word == "and" and not (following and following[0].lower() in IMPERATIVES):
                continue  # it joins items
            found.append((place, place, (",",)))
    return sorted(found)


@operator(
    "add-punctuation",
    dimension="lexical",
    severity=0.2,
    preserves="conditional",
    sources=("S1", "S2", "TextAttack"),
    example=("Sort the tickets.", "Sort the tickets!"),
    trusted=True,
    default=False,
)
def add_punctuation(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Some marks at the end of sentences doubled or made an exclamation, and commas put before clauses (half)."""
    for places in rng.draws(_room_for_marks(draft), 0.5):
        yield [replace(start, end, rng.choice(marks)) for start, end, marks in places]
