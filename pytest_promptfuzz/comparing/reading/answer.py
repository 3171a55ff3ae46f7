"""An answer read once: its statements, and what each of their tokens is."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain, compress, count, filterfalse
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.comparing.lazy import lazy
from pytest_promptfuzz.comparing.reading.asides import substance
from pytest_promptfuzz.comparing.reading.pieces import pieces
from pytest_promptfuzz.comparing.reading.statements import statements

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterator

    from pytest_promptfuzz.comparing.reading.pieces import Key, Piece
    from pytest_promptfuzz.comparing.values.figures import Figure


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
