"""`Draft`: a prompt as operators see it: free and protected text, words, lines, paragraphs and sentences.

Everything is found once, when the first operator asks for it, and shared by all of them.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from functools import cached_property, lru_cache
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from pytest_promptfuzz.mutations.engine.edits import Tokens
from pytest_promptfuzz.text.expressions import CASED, LETTER, expression, words
from pytest_promptfuzz.text.languages import language_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.prompts.spans import Span


# The layout of a prompt: its lines and what kind they are, its paragraphs and sentences.
#
# Read off the text with protected parts blanked, so a code fence or a slot that spans lines is one line here, and a
# full stop inside a quotation ends no sentence.


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


T = TypeVar("T")
# what `Word(...)` does, without a Python frame in between

BLANK = "\x00"
"""What stands for a protected character in :attr:`Draft.free`. Prompts hold no NUL of their own."""

# What glues a word to its neighbours, so that it is a part of something else: digits, hyphens, other scripts, protected
# text. In ASCII each becomes a control character, an apostrophe stays, and what is neither nor a letter is a space.
_GLUE = frozenset("0123456789_\x00/@\\-")
_SPACED = bytes(
    code if chr(code).isalpha() or chr(code) == "'" else 1 if chr(code) in _GLUE else 32
    for code in range(128)
).ljust(256)
_FOREIGN = expression("[\u00aa-\u1fff\u2c00-\ud7ff\uf900-\uffff\U00010000-\U0010ffff]+")
_APOSTROPHE = expression("[A-Za-z]+'[A-Za-z]+|[A-Za-z]+")


class Word(NamedTuple):
    """A word of ASCII letters in free text, with an apostrophe at most (``don't``); parts of compounds are none.

    Attributes:
        start: Where it begins in the text.
        end: Where it ends.
        form: As written.
        lower: In lower case, its apostrophe straight.
    """

    start: int
    end: int
    form: str
    lower: str


class Draft:
    """One prompt, as operators see it.

    Attributes:
        text: The prompt's text.
        spans: Protected spans ``(start, end)``, ascending.
        walls: Those of them that nothing may move across: borders of messages, and messages not ours to change.
        kinds: What each of ``spans`` is (``number``, ``code`` …); empty where nobody said, and then none of them is
            open to the operators that are built to touch one.
        free: ``text`` with each protected character replaced by :data:`BLANK`, so that offsets agree and a pattern
            over it cannot match inside a protected span.
    """

    def __init__(
        self,
        text: str,
        spans: Sequence[tuple[int, int]],
        *,
        walls: Iterable[tuple[int, int]] = (),
        kinds: Sequence[str] = (),
    ) -> None:
        self._known: dict[object, Any] = {}
        self.text = text
        self.spans = tuple(spans)
        self.walls = tuple(walls)
        self.kinds = tuple(kinds)
        pieces: list[str] = []
        gaps: list[tuple[int, int]] = []
        position = 0
        for start, end in spans:
            if start > position:
                pieces.append(text[position:start])
                gaps.append((position, start))
            pieces.append(BLANK * (end - start))
            position = end
        if position < len(text):
            pieces.append(text[position:])
            gaps.append((position, len(text)))
        self.free = "".join(pieces)
        self.gaps = tuple(gaps)

    @cached_property
    def tokens(self) -> Tokens:
        """Every word of the text, protected or not: what a change rate is a share of."""
        return Tokens(self.text)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """The English-looking words of the free text, in order."""
        free = self.free
        found: list[Word] = []
        start = 0
        # A split by built-ins and a plain loop: a tenth of a plan's time went into looking for words by expression.
        for form in _spaced(free).split(" "):
            end = start + len(form)
            if form.isalpha():
                found.append(_make(Word, (start, end, form, form.lower())))
            elif "'" in form:
                # It may be a quotation mark: at the edges it belongs to no word.
                inner = form.strip("'")
                if _APOSTROPHE.fullmatch(inner):
                    first = start + form.index(inner)
                    last = first + len(inner)
                    found.append(_make(Word, (first, last, free[first:last], inner.lower())))
            start = end + 1
        return tuple(found)

    @cached_property
    def language(self) -> str:
        """The likeliest language of the free text as an ISO 639-1 code, or ``und`` when nothing tells."""
        return language_of(self.free)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The lines of the text, each with what kind it is."""
        return lines_of(self.text, self.free, self.walls)

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences of its prose lines, headings and list items."""
        return sentences_of(self.text, self.free, self.lines)

    @cached_property
    def starts(self) -> frozenset[int]:
        """Where its sentences begin."""
        return frozenset([sentence.start for sentence in self.sentences])

    @cached_property
    def has_case(self) -> bool:
        """Whether any free letter has another case."""
        return CASED.search(self.free) is not None

    def protected(self, touches: Sequence[str] = ()) -> tuple[tuple[int, int], ...]:
        """The protected spans that an operator may not change.

        Args:
            touches: What it is built to change: kinds of span, whose spans are then left out; ``list-marker`` gives
                up the numbers of list items.
        """
        if not touches:
            return self.spans
        kept = self.spans
        if self.kinds:
            kept = tuple(span for span, kind in zip(kept, self.kinds, strict=True) if kind not in touches)
        if "list-marker" in touches:
            markers = [
                (line.start + line.indent, line.content) for line in self.lines if line.kind == "number"
            ]
            kept = tuple(span for span in kept if not _within(span, markers))
        return kept

    def of_kind(self, *kinds: str) -> list[tuple[int, int]]:
        """The protected spans of these kinds, in order; none where no kinds are known."""
        return [span for span, kind in zip(self.spans, self.kinds, strict=False) if kind in kinds]

    def once(self, find: Callable[[Draft], T]) -> T:
        """What ``find`` makes of this draft, computed once and shared by the operators that need it."""
        known: T | None = self._known.get(find)
        if known is None:
            known = self._known[find] = find(self)
        return known

    def is_free(self, start: int, end: int) -> bool:
        """Whether ``[start, end)`` holds no protected character."""
        return BLANK not in self.free[start:end]


def draft_of(prompt: Prompt) -> Draft:
    """A prompt as operators see it; what they found in it is kept for the next plan of the same prompt."""
    return _draft_of(prompt.text, prompt.spans)


@lru_cache(maxsize=4)
def _draft_of(text: str, spans: tuple[Span, ...]) -> Draft:
    return Draft(
        text,
        [(start, end) for start, end, _ in spans],
        walls=[(start, end) for start, end, kind in spans if kind in {"separator", "message"}],
        kinds=[kind for _, _, kind in spans],
    )


def _within(span: tuple[int, int], markers: list[tuple[int, int]]) -> bool:
    """Whether one of ``markers``, which are in order and apart, holds ``span``."""
    index = bisect_right(markers, (span[0], sys.maxsize)) - 1
    return index >= 0 and span[1] <= markers[index][1]


def _spaced(free: str) -> str:
    """``free`` with what is in no word as a space, and what glues words together as a control character."""
    if free.isascii():
        return free.encode().translate(_SPACED).decode()
    known = _FOREIGN.sub(lambda run: "_" * len(run[0]), free.replace("’", "'"))
    return known.encode("ascii", "replace").translate(_SPACED).decode()


# What the sentences of a draft say: each in lower case and word by word, read once for all who ask.


TOKENS = expression("[a-z]+")
BOUND = expression("\\b(?:above|below) (?=\x00)")  # "above $50" is no place

# ASCII letters in lower case, and a space for everything else: splitting that is quicker than a search for words.
_LOWER_SPACED = bytes(ord(chr(code).lower()) if chr(code).isalpha() else 32 for code in range(128)).ljust(256)


# what `Said(...)` does, without a Python frame in between


class Said(NamedTuple):
    """A sentence in lower case.

    Attributes:
        text: The whole of it.
        tokens: The runs of ``a`` to ``z`` in it; one empty one if there are none.
        free: The same with its protected parts blanked.
        plain: The tokens of that, without an ``above`` or ``below`` that names no place; may be empty.
    """

    text: str
    tokens: list[str]
    free: str
    plain: list[str]


def tokens_of(text: str) -> list[str]:
    """The runs of ``a`` to ``z`` in a text in lower case."""
    return text.encode().translate(_LOWER_SPACED).decode().split() if text.isascii() else TOKENS.findall(text)


def heard(draft: Draft) -> frozenset[str]:
    """The runs of ``a`` to ``z`` in the whole text in lower case, protected or not.

    An expression that needs a word finds nothing where it is not among them. Ask for it with ``draft.once(heard)``.
    """
    text = draft.text
    return frozenset(draft.once(_spaced_text).split() if text.isascii() else TOKENS.findall(text.lower()))


def _spaced_text(draft: Draft) -> str:
    """An ASCII text in lower case with a space for whatever is no letter."""
    return draft.text.encode().translate(_LOWER_SPACED).decode()


def said(draft: Draft) -> tuple[Said, ...]:
    """What each of the draft's sentences says, in their order. Ask for it with ``draft.once(said)``."""
    text, free = draft.text, draft.free
    if not text.isascii():
        return tuple(
            [_read(text[start:end].lower(), free[start:end].lower()) for start, end, _, _ in draft.sentences]
        )
    text, free = text.lower(), free.lower()
    spaced = draft.once(_spaced_text)
    found: list[Said] = []
    for start, end, _, _ in draft.sentences:
        whole, blanked = text[start:end], free[start:end]
        tokens = spaced[start:end].split() or [""]
        found.append(_make(Said, (whole, tokens, blanked, tokens if blanked == whole else _plain(blanked))))
    return tuple(found)


def said_at(draft: Draft) -> dict[int, Said]:
    """What each sentence says, by where it begins. Ask for it with ``draft.once(said_at)``."""
    return {sentence.start: own for sentence, own in zip(draft.sentences, draft.once(said), strict=True)}


def _read(whole: str, blanked: str) -> Said:
    tokens = tokens_of(whole) or [""]
    return Said(whole, tokens, blanked, tokens if blanked == whole else _plain(blanked))


def _plain(blanked: str) -> list[str]:
    bound = "above \x00" in blanked or "below \x00" in blanked
    return tokens_of(BOUND.sub("", blanked) if bound else blanked)
