"""`Answer`: an answer read once into statements (sentences, items, cells) and their tokens."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain, compress, count, filterfalse
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.comparing.reading.asides import substance
from pytest_promptfuzz.comparing.reading.pieces import pieces
from pytest_promptfuzz.comparing.reading.text import lazy
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterator

    from pytest_promptfuzz.comparing.reading.pieces import Figure, Key, Piece


# The statements of an answer: sentences, list items, table cells, each with what it stands under and beside.


_ITEM = expression(r"\s*(?:[-*+•‣]\s+|\d{1,2}[.)]\s+)")
_NUMBERED = expression(r"(?:step|part|point)\s+\d{1,2}\s*[:.,–-]\s*", 2)
_HEADING = expression(r"#{1,6}\s+")
_RULE = expression(r":?-+:?")
_BOLD_LINE = expression(r"\*\*[^*]{1,60}\*\*:?")
_SENTENCE_END = expression(r"(?<=[.!?])[\"')\]]*\s+(?=[A-Z0-9\"'(*])")
_ABBREVIATION = expression(
    r"\b(?:Dr|Mr|Mrs|Ms|Prof|St|No|e\.g|i\.e|vs|approx|max|min|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec|[A-Z]"
    r"|[ap]\.m)\.\Z"
)
_ABBREVIATION_WITHIN = 8
_LABEL_WITHIN = 60
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "`": None})


def statements(text: str) -> Iterator[tuple[str, str]]:
    r"""The heading (empty for none) and the words of each statement, in order.

    >>> list(statements("## Costs\n| Item | Price |\n|---|---|\n| Tea | 2 € |"))
    [('', 'Costs'), ('Costs', 'Tea: 2 €')]
    """
    heading = ""
    columns: list[str] = []
    for line in text.split("\n"):
        bare = line.strip()
        if not bare:
            continue
        if bare[0] == "|":
            cells = [_undecorated(cell) for cell in bare.strip("|").split("|")]
            if all(not cell or _RULE.fullmatch(cell) for cell in cells):
                continue
            if len(cells) != len(columns):
                columns = cells
            else:
                yield from ((heading, each) for each in _row(columns, cells))
            continue
        columns = []
        item = _ITEM.match(line)
        words = _undecorated(bare)
        if not words:
            continue
        ends_in_colon = words[-1] == ":" and len(words) < _LABEL_WITHIN and not item
        if _HEADING.match(bare) or _BOLD_LINE.fullmatch(bare) or ends_in_colon:
            heading = words.rstrip(":")
            yield "", heading
            continue
        bound = heading if item or line[0] in " \t" else ""
        yield from ((bound, sentence) for sentence in _sentences(words))


def _undecorated(line: str) -> str:
    """A line without list marker, heading marks, emphasis and curly quotes."""
    if not line.isascii() or "`" in line:
        line = line.translate(_QUOTES)
    line = line.replace("**", "").replace("__", "")
    for marker in (_ITEM, _HEADING, _NUMBERED):
        found = marker.match(line)
        if found:
            line = line[found.end() :]
    return line.strip()


def _row(columns: list[str], cells: list[str]) -> Iterator[str]:
    """The cells of a table's row, each with the row's name and its column."""
    name, wide = cells[0], len(cells) > 2
    for column, cell in zip(columns[1:], cells[1:], strict=True):
        if cell:
            yield f"{name} {column.lower()}: {cell}" if wide and column else f"{name}: {cell}"


def _sentences(line: str) -> Iterator[str]:
    start = 0
    for end in _SENTENCE_END.finditer(line):
        if _ABBREVIATION.search(line, max(start, end.start() - _ABBREVIATION_WITHIN), end.start()):
            continue
        yield line[start : end.start()].strip()
        start = end.end()
    rest = line[start:].strip()
    if rest:
        yield rest


_KIND, _KEY, _STEM, _LOW = map(attrgetter, ("kind", "key", "stem", "low"))
_FIGURE, _TELLING, _IS_CAPITAL = map(attrgetter, ("figure", "telling", "is_capital"))


class Token(NamedTuple):
    """A piece of a statement, and where it stands; see ``Piece`` for what it has of that."""

    kind: str
    text: str
    low: str
    stem: str
    figure: Figure | None
    telling: bool
    is_capital: bool
    key: Key
    begins: bool
    statement: Statement
    at: int


class Statement:
    """A sentence, list item, heading or table cell with what it is bound to.

    Attributes:
        text: The words.
        heading: What it stands under; empty for nothing.
        pieces: Its pieces in order.
    """

    def __init__(self, text: str, heading: str) -> None:
        self.text = text
        self.heading = heading
        self.pieces = pieces(text)

    def token(self, at: int) -> Token:
        """The piece at a place, with where it stands."""
        return Token(*self.pieces[at], self, at)

    @lazy
    def tokens(self) -> list[Token]:
        """Its pieces, each with where it stands: ask for all of them only where most are needed."""
        return [Token(*piece, self, at) for at, piece in enumerate(self.pieces)]

    @lazy
    def keys(self) -> frozenset[Key]:
        """The keys of all that is telling in it."""
        return frozenset(map(_KEY, filter(_TELLING, self.pieces)))

    @lazy
    def stems(self) -> frozenset[str]:
        """The stems of all its pieces."""
        return frozenset(map(_STEM, self.pieces))

    @lazy
    def folded(self) -> str:
        """The words on one line, their case folded: the same for statements that are repeated."""
        return " ".join(self.text.split()).casefold()


class Answer:
    """An answer, read.

    Attributes:
        text: As it was given.
        statements: Its statements without courtesies, in order.
        words: Its words in order.
        codes: Its identifiers in order.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        read = (Statement(words, heading) for heading, words in statements(substance(text) or text))
        self.statements = [each for each in read if each.pieces]
        pieces = [*chain.from_iterable([each.pieces for each in self.statements])]
        kinds = [*map(_KIND, pieces)]
        self.words = [*compress(pieces, map("word".__eq__, kinds))]
        self.codes = [*compress(pieces, map("code".__eq__, kinds))]

    def _where(self, has: Callable[[Piece], object]) -> Iterator[Token]:
        """The pieces that have something, each with where it stands."""
        for statement in self.statements:
            for at in compress(count(), map(has, statement.pieces)):
                yield statement.token(at)

    @lazy
    def capitals(self) -> list[Token]:
        """Its words that begin with a capital letter, in order, each with where it stands."""
        return [token for token in self._where(_IS_CAPITAL) if token.kind == "word"]

    @lazy
    def figures(self) -> list[tuple[Token, Figure]]:
        """Its figures in order, each with its token."""
        return [(token, token.figure) for token in self._where(_FIGURE) if token.figure is not None]

    def standing(self, stems: Collection[str]) -> Iterator[Token]:
        """The words of these stems, in order, with where each stands."""
        for statement in self.statements:
            if not statement.stems.isdisjoint(stems):
                for at, piece in enumerate(statement.pieces):
                    if piece.stem in stems and piece.kind == "word":
                        yield statement.token(at)

    @lazy
    def values(self) -> frozenset[Hashable]:
        """What of its figures makes them the same, however they are written."""
        return frozenset([figure.value for _, figure in self.figures])

    @lazy
    def telling(self) -> list[Piece]:
        """The words that say what it is about, in order."""
        return [*filter(_TELLING, self.words)]

    @lazy
    def uncapitalised(self) -> frozenset[str]:
        """Its words that begin with a small letter."""
        return frozenset(map(_LOW, filterfalse(_IS_CAPITAL, self.words)))

    @lazy
    def forms(self) -> frozenset[str]:
        """Every word and identifier, in lower case and as stems."""
        return frozenset(map(_LOW, self.words + self.codes)) | self.stems

    @lazy
    def stems(self) -> frozenset[str]:
        """The stems of its words."""
        return frozenset(map(_STEM, self.words))

    @lazy
    def keys(self) -> frozenset[Key]:
        """The keys of all that is telling in it."""
        return frozenset().union(*[each.keys for each in self.statements])

    @lazy
    def names(self) -> frozenset[str]:
        """Words that begin with a capital letter where a sentence does not ask for one, in lower case."""
        return frozenset(
            [each.low.removesuffix("'s") for each in self.capitals if each.telling and _is_name(each)]
        )


_OPENING_MARKS = frozenset(':.!?|–—(→"')


def _is_name(token: Token) -> bool:
    """Whether no sentence begins with it, or another capital follows: "Halden Robotics"; headings have many."""
    pieces, at = token.statement.pieces, token.at
    before = pieces[at - 1] if at else None
    if before is not None and not (before.kind == "mark" and before.text in _OPENING_MARKS):
        return True
    capitals = [each.kind == "word" and each.is_capital and each.telling for each in pieces[at + 1 : at + 3]]
    return capitals in ([True], [True, False])


@lru_cache(maxsize=2048)
def read(text: str) -> Answer:
    """An answer, read; the same object for the same text, as a baseline meets many responses."""
    return Answer(text)
