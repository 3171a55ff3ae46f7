"""What operators see of a prompt: its text with the protected parts blanked, its words and its layout.

Everything is found once, when the first operator asks for it, and shared by all of them.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.casing import CASED
from pytest_promptfuzz.mutations.languages import language_of
from pytest_promptfuzz.mutations.layout import Line, Sentence, lines_of, sentences_of
from pytest_promptfuzz.mutations.measuring import Tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_promptfuzz.prompts.prompt import Prompt

T = TypeVar("T")
_make = tuple.__new__  # what `Word(...)` does, without a Python frame in between

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
    """A prompt as operators see it."""
    spans = prompt.spans
    return Draft(
        prompt.text,
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
