"""`Text`: an answer cleaned and made ready for comparison; of very long texts, the parts in which they differ."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from itertools import compress, count
from operator import ne
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pytest_promptfuzz.comparing.comparison import Comparison, Observation, Tier
from pytest_promptfuzz.comparing.reading import word_lists
from pytest_promptfuzz.comparing.reading.words import canonical_tokens, words_in
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence


# Attributes worked out when first asked for.


T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801  # reads as the built-in property does
    """``functools.cached_property`` without the lock of Python 3.10 and 3.11, dearer than most features."""

    def __init__(self, find: Callable[[Any], T]) -> None:
        self._find = find
        self._name = find.__name__
        self.__doc__ = find.__doc__

    def __get__(self, owner: Any, kind: type) -> T:
        """The value, which from then on stands in the object itself."""
        value = self._find(owner)
        setattr(owner, self._name, value)  # into the object's ``__dict__`` it would go by way of making one
        return value


_FENCE = expression(r"\A\s*```[\w+-]*[ \t]*\n(.*?)\n?[ \t]*```\s*\Z", re.DOTALL)
_EMPHASIS = expression(r"(?<!\w)(\*{1,3}|_{1,3}|`)(?=\S)(.{1,400}?)(?<=\S)\1(?!\w)")
_MARKER = expression(r"^[ \t]*(?:[-*+•][ \t]+|\d{1,3}[.)][ \t]+|#{1,6}[ \t]+|>[ \t]?)", re.MULTILINE)
_STOP = expression(r"[.!?…;。！？\n]+[\"')\]]*")
_ABBREVIATION = expression(r"(?:^|[\s(])(?:[A-Z]|Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|vs|etc|No|e\.g|i\.e)$")
_NEAR = 5
"""Characters before a full stop in which an abbreviation stands."""
_QUOTES = str.maketrans("“”„«»‘’‚", '"""""\'\'\'')
_EDGES = " \t\r\n.!?,;:\"'`…。"


def strip_fence(text: str) -> str:
    """The inside of a text that is one fenced code block; any other text as it is."""
    if "```" not in text:
        return text
    found = _FENCE.match(text)
    return found[1] if found else text


# What an answer is written in: SQL, or a programming language.


_COMMENTS = expression(r"\A(?:\s+|--[^\n]*\n|/\*.*?\*/)*", re.DOTALL)
_SHOUTED = expression(
    r"(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|CREATE|ALTER|DROP|MERGE INTO|EXPLAIN)\s+\S"
)
_SECOND = expression(r"\b(?:from|into|set|table|values|as\s*\(|where|view|index|limit)\b", re.IGNORECASE)
_COLUMN = r"[\w.*\"`]+(?:\s*\([^)]*\))?(?:\s+as\s+\w+)?"
# In lower case an English sentence may begin so: "select the file from the menu" is no query.
_QUIET = expression(
    rf"select\s+(?:distinct\s+)?{_COLUMN}(?:\s*,\s*{_COLUMN})*\s+from\s+[\w\"`(]"
    r"|insert\s+into\s+\S+\s*(?:\(|values|select)|update\s+\S+\s+set\s+\S+\s*=|delete\s+from\s+\S+\s*(?:where\s|;|\Z)"
    r"|with\s+\w+\s+as\s*\(|create\s+(?:table|view|index)\s|alter\s+table\s|drop\s+table\s",
    re.IGNORECASE,
)
_STARTS = expression(
    r"^\s*(?:def \w+\(|class \w+[(:]|import \w+|from [\w.]+ import "
    r"|function\s*\w*\(|(?:const|let|var) \w+ ?=|#include|public |package \w)",
    re.MULTILINE,
)
_LANGUAGE = expression(
    r"\A\s*```(?:python|py|javascript|js|typescript|ts|java|c|cpp|csharp|cs|go|rust|ruby|php|swift|kotlin|bash|sh|r|scala)"
    r"[ \t]*\n",
    re.IGNORECASE,
)


def looks_like_query(text: str) -> bool:
    """Whether a text is an SQL statement, fenced or not."""
    query = strip_fence(text)
    query = query[_COMMENTS.match(query).end() :]  # type: ignore[union-attr]  # matches at least nothing
    return bool(_QUIET.match(query)) or (bool(_SHOUTED.match(query)) and bool(_SECOND.search(query)))


def looks_like_program(text: str) -> bool:
    """Whether an answer is mostly program text."""
    return bool(_LANGUAGE.match(text)) or bool(_STARTS.match(strip_fence(text)))


def clean(text: str) -> str:
    """A text without what only decorates it: fences, emphasis, list markers, curly quotes; Unicode NFC."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).translate(_QUOTES)
    if "```" in text:
        text = strip_fence(text)
    if "*" in text or "_" in text or "`" in text:
        text = _EMPHASIS.sub(r"\2", text)
        text = _EMPHASIS.sub(r"\2", text)
    text = text.strip()
    if "\n" in text or text[:1] in "-*+•#>" or text[:1].isdigit():
        text = _MARKER.sub("", text)
    return text


NORMALISERS = ("case", "space", "punctuation", "markup")
"""What may be set aside before two texts are held to be equal."""


def kept_apart(first: str, second: str, normalisers: Collection[str]) -> list[str]:
    """What texts that are equal once normalised differ in that these normalisers leave as it is.

    >>> kept_apart("Refund", "refund.", ("space", "punctuation", "markup"))
    ['case']
    """
    if _normalised(first, normalisers) == _normalised(second, normalisers):
        return []
    return [
        name
        for name in NORMALISERS
        if name not in normalisers
        and len(
            {_normalised(text, [each for each in NORMALISERS if each != name]) for text in (first, second)}
        )
        > 1
    ]


def _normalised(text: str, normalisers: Collection[str]) -> str:
    text = clean(text) if "markup" in normalisers else unicodedata.normalize("NFC", text)
    if "case" in normalisers:
        text = text.casefold()
    if "space" in normalisers:
        text = " ".join(text.split())
    return text.strip(_EDGES) if "punctuation" in normalisers else text


def _sentences(text: str) -> list[str]:
    # In most texts each sentence ends in a full stop, and a response has most of its baseline's.
    pieces = text.removesuffix(".").split(". ")
    if all(map(_is_sentence, pieces)):
        return pieces
    found: list[str] = []
    start = 0
    for match in _STOP.finditer(text):
        at, end = match.span()
        if end < len(text) and not text[end].isspace() and text[end - 1] not in "\n。！？":
            continue
        if end - at == 1 and text[at] == "." and _ABBREVIATION.search(text, max(start, at - _NEAR), at):
            continue
        found.append(text[start:at].strip())
        start = end
    found.append(text[start:].strip())
    return [sentence for sentence in found if sentence]


@lru_cache(maxsize=8192)
def _is_sentence(piece: str) -> bool:
    """Whether what stands between two full stops is one sentence, and the stop behind it ends that sentence."""
    return (
        piece.strip() == piece != ""
        and not _STOP.search(piece)
        and not _ABBREVIATION.search(piece, max(0, len(piece) - _NEAR))
    )


def _is_plain(text: str) -> bool:
    """Whether a text is one sentence without anything that ``clean`` takes away."""
    return text.isascii() and not ("*" in text or "_" in text or "`" in text) and _is_sentence(text)


class Text:
    """One answer and what the tiers ask of it.

    Attributes:
        raw: As given.
        clean: Without decoration, see ``clean``.
        sentences: The sentences, list items and lines.
        tokens: Canonical words, see ``tokens.canonical_words``.
        token_set: The distinct tokens.
    """

    def __init__(self, raw: str) -> None:
        self.raw = raw
        if raw[:1].isalpha() and ". " not in raw and _is_plain(raw):
            self.clean, self.sentences = raw, [raw]  # a sentence of a text, as many are asked for
        else:
            self.clean = clean(raw)
            self.sentences = _sentences(self.clean)
        self.tokens = canonical_tokens(self.sentences)
        self.token_set = frozenset(self.tokens)
        self._known: dict[Callable[[Text], Any], Any] = {}

    def once(self, read: Callable[[Text], T]) -> T:
        """What ``read`` makes of this text, worked out once however many texts it is compared with."""
        known: T | None = self._known.get(read)
        if known is None:
            known = self._known[read] = read(self)
        return known

    @lazy
    def repeats(self) -> dict[str, int]:
        """How often each token stands there that stands there more than once."""
        return {token: count for token, count in Counter(self.tokens).items() if count > 1}

    @lazy
    def words(self) -> list[str]:
        """The lower-cased words as they are written."""
        return words_in(self.sentences)

    @lazy
    def normalised(self) -> str:
        """Case-folded, white space collapsed, quotes and punctuation at the ends removed."""
        return " ".join(self.clean.casefold().split()).strip(_EDGES)

    @lazy
    def content(self) -> list[str]:
        """Tokens that carry meaning: neither function words nor negators."""
        return [
            token
            for token in self.tokens
            if token not in word_lists.FUNCTION_WORDS and token not in word_lists.NEGATORS
        ]

    @lazy
    def parts(self) -> list[Text]:
        """The sentences, each made ready in turn."""
        if len(self.sentences) <= 1:
            return [self]
        return [analyse(sentence) for sentence in self.sentences]

    def parts_without(self, others: set[str]) -> list[Text]:
        """The sentences that are not among others, each made ready."""
        return [analyse(sentence) for sentence in self.sentences if sentence not in others]


@lru_cache(maxsize=4096)
def analyse(raw: str) -> Text:
    """The text, made ready; the same object for the same text, as a baseline meets many responses."""
    return Text(raw)


# Texts too long to be compared word by word: what they share at both ends is set aside.


LIMIT = 60_000
"""Characters up to which two texts are compared whole: some 10,000 words."""

_CONTEXT = 300
_BOUNDARY = expression(r"[.!?\n]\s")


def where_they_differ(first: str, second: str) -> tuple[str, str] | None:
    """The parts in which two long texts differ, each with about 300 characters around.

    Returns:
        ``None`` where the parts are themselves longer than ``LIMIT``.
    """
    start = _shared(first, second)
    end = _shared(first[start:][::-1], second[start:][::-1])
    start = _sentence_start(first, max(0, start - _CONTEXT))
    end = max(0, end - _CONTEXT)
    one, two = first[start : len(first) - end], second[start : len(second) - end]
    return (one, two) if max(len(one), len(two)) <= LIMIT else None


def _shared(first: str, second: str) -> int:
    """How many characters two texts share at the start; found by halving, as comparing slices is fast."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _sentence_start(text: str, at: int) -> int:
    """The first beginning of a sentence from ``at`` on, or of a word."""
    if not at:
        return 0
    found = _BOUNDARY.search(text, at, at + _CONTEXT // 2)
    if found:
        return found.end()
    space = text.find(" ", at, at + _CONTEXT // 2)
    return space + 1 if space >= 0 else at


def undecided(first: str, second: str) -> Comparison:
    """The answer for texts that differ in too many places."""
    observed = Observation("too-long", len(first), len(second))
    return Comparison("undecided", None, "too-long", observed, (Tier("exact", 0.0),))


def said_of_parts(found: Comparison) -> Comparison:
    """A comparison of the parts that differ, said to be one."""
    return found.but(explanation=Observation("in-long-answers", found.observed))


def shared_ends(first: Sequence[str], second: Sequence[str]) -> tuple[int, int]:
    """How many tokens two sequences share at the start, and how many of the others at the end."""
    most = min(len(first), len(second))
    start = next(compress(count(), map(ne, first, second)), most)
    end = next(compress(count(), map(ne, reversed(first), reversed(second))), most)
    return start, min(end, most - start)
