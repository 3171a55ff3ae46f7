"""An answer read once: its statements, and what each of their tokens is."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import lexicon
from pytest_promptfuzz.comparing.lexicon import word_set
from pytest_promptfuzz.comparing.reading.asides import substance
from pytest_promptfuzz.comparing.reading.statements import statements
from pytest_promptfuzz.comparing.values.figures import Figure, Piece, pieces
from pytest_promptfuzz.comparing.word_lists import when_used
from pytest_promptfuzz.comparing.words import canonical

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

Key = tuple[str, object]
"""What makes two tokens the same in two texts."""

_GENERAL = word_set(
    """get give take make do go come keep become put set let seem need want say tell note mean happen include please
    follow provide use have contain case thing way part point item kind sort type number amount total result reason
    detail information fact key summary overview answer conclusion short long brief bottom line recommendation advice
    suggestion decision verdict would can could may might shall should must only even still already yet instead
    although though whereas unless whether once until before after every all some most many much more less few several
    first second third next last finally final whose how why against toward towards across along see find look like
    rather quite too simply exactly itself himself herself themselves mr mrs ms dr e.g i.e etc without because
    per plus not one two his him her hers its"""
)
_FUNCTION = lexicon.FUNCTION_WORDS | lexicon.NEGATORS
_GENERAL_STEMS = when_used(lambda: _GENERAL | {form[0] for form in map(canonical, _GENERAL) if form})


class Token:
    """A word, a figure, an identifier or a mark of a statement.

    Attributes:
        kind: ``word``, ``figure``, ``code`` (an identifier), ``sign`` or ``mark``.
        text: As it is written.
        low: In lower case.
        stem: Its canonical form, see ``words.canonical``; of an identifier its lower case.
        figure: The figure, where it is one.
        statement: The statement it stands in.
        at: Its place there.
        telling: Whether it says what the statement is about: neither a function word, a negator nor a general word.
    """

    __slots__ = ("at", "figure", "kind", "low", "statement", "stem", "telling", "text")

    def __init__(self, piece: Piece, stem: str, statement: Statement, at: int) -> None:
        self.kind = piece.kind
        self.text = piece.text
        self.low = piece.low
        self.stem = stem
        self.figure: Figure | None = piece.figure
        self.statement = statement
        self.at = at
        self.telling = self.kind in {"figure", "code"} or (
            self.kind == "word" and len(stem) > 1 and not (stem in _FUNCTION or stem in _GENERAL_STEMS)
        )

    @property
    def key(self) -> Key:
        """What it is the same by; of a figure, whatever its notation."""
        figure = self.figure
        if figure is None:
            return self.kind, self.stem
        if figure.measure == "date":
            return "date", figure.day[1:] if figure.day[1] else figure.day[0]
        return "figure", figure.amount

    @property
    def is_capital(self) -> bool:
        """Whether it begins with a capital letter."""
        return self.text[0].isupper()


class Statement:
    """A sentence, list item, heading or table cell with what it is bound to.

    Attributes:
        text: The words.
        heading: What it stands under; empty for nothing.
        tokens: Its tokens in order.
    """

    __slots__ = ("heading", "text", "tokens")

    def __init__(self, text: str, heading: str) -> None:
        self.text = text
        self.heading = heading
        self.tokens: list[Token] = []
        for piece in pieces(text):
            for stem in _stems(piece):
                self.tokens.append(Token(piece, stem, self, len(self.tokens)))


def _stems(piece: Piece) -> tuple[str, ...]:
    if piece.kind == "word":
        word = piece.low.removesuffix("'s")
        return canonical(word) or (word,)
    return (piece.low,)


class Answer:
    """An answer, read.

    Attributes:
        text: As it was given.
        statements: Its statements without courtesies, in order.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        bare = substance(text) or text
        self.statements = [
            each for each in (Statement(words, heading) for heading, words in statements(bare)) if each.tokens
        ]

    def _of_kind(self, kind: str) -> list[Token]:
        return [token for each in self.statements for token in each.tokens if token.kind == kind]

    @cached_property
    def words(self) -> list[Token]:
        """Its words in order."""
        return self._of_kind("word")

    @cached_property
    def figures(self) -> list[tuple[Token, Figure]]:
        """Its figures in order, each with its token."""
        return [(token, token.figure) for token in self._of_kind("figure") if token.figure is not None]

    @cached_property
    def codes(self) -> list[Token]:
        """Its identifiers in order."""
        return self._of_kind("code")

    @cached_property
    def telling(self) -> list[Token]:
        """The words that say what it is about, in order."""
        return [token for token in self.words if token.telling]

    @cached_property
    def forms(self) -> frozenset[str]:
        """Every word and identifier, in lower case and as stems."""
        return frozenset(form for token in (*self.words, *self.codes) for form in (token.low, token.stem))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its words."""
        return frozenset(token.stem for token in self.words)

    @cached_property
    def keys(self) -> frozenset[Hashable]:
        """The keys of all that is telling in it."""
        return frozenset(token.key for each in self.statements for token in each.tokens if token.telling)

    @cached_property
    def names(self) -> frozenset[str]:
        """Words that begin with a capital letter where a sentence does not ask for one, in lower case."""
        return frozenset(_names(self.statements))


_OPENING_MARKS = frozenset(':.!?|–—(→"')


def _names(given: list[Statement]) -> Iterator[str]:
    for statement in given:
        before: Token | None = None
        for token in statement.tokens:
            if token.kind == "word" and token.is_capital and token.telling:
                opens = before is None or (before.kind == "mark" and before.text in _OPENING_MARKS)
                if not opens or _goes_on(statement, token):
                    yield token.low.removesuffix("'s")
            before = token


def _goes_on(statement: Statement, token: Token) -> bool:
    """Whether another capital follows a capital at the start: "Halden Robotics"; headings have many."""
    following = statement.tokens[token.at + 1 : token.at + 3]
    capitals = [each.kind == "word" and each.is_capital and each.telling for each in following]
    return capitals in ([True], [True, False])


@lru_cache(maxsize=2048)
def read(text: str) -> Answer:
    """An answer, read; the same object for the same text, as a baseline meets many responses."""
    return Answer(text)
