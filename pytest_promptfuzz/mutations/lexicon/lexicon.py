"""What a lexicon is to the operators that replace words: ours by default, any other when it is named."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_promptfuzz.mutations.lexicon.synonyms import Entry

PartOfSpeech: TypeAlias = Literal["noun", "verb", "adjective", "adverb"]
Kind: TypeAlias = Literal["synonym", "near", "wider", "narrower"]

KINDS: tuple[Kind, ...] = ("synonym", "near", "wider", "narrower")
"""What can be asked of a lexicon: the same sense, almost the same, a wider one (hypernym), a narrower one (hyponym)."""


class Lexicon(Protocol):
    """Words that may stand for a word. Pure: the same question always gets the same answer, in the same order.

    Every method takes a lemma in lower case (``query``, ``follow up``), its part of speech and an ISO 639-1 code, and
    gives lemmas in lower case, the best first, with spaces in phrases; an empty sequence where it knows none. A lexicon
    is asked once for each word of a prompt, so answers should be kept in memory.
    """

    @property
    def name(self) -> str:
        """In kebab-case: part of the names of the operators made with it."""

    @property
    def version(self) -> str:
        """Changes whenever an answer does."""

    def synonyms(self, lemma: str, pos: PartOfSpeech, language: str) -> Sequence[str]:
        """Words of the same sense."""

    def near(self, lemma: str, pos: PartOfSpeech, language: str) -> Sequence[str]:
        """Words of almost the same sense."""

    def wider(self, lemma: str, pos: PartOfSpeech, language: str) -> Sequence[str]:
        """Hypernyms: ``vehicle`` of ``car``."""

    def narrower(self, lemma: str, pos: PartOfSpeech, language: str) -> Sequence[str]:
        """Hyponyms: ``car`` of ``vehicle``."""


class TableLexicon:
    """A lexicon of tables: for each kind and part of speech, lemmas and what may stand for them.

    Args:
        name: See :class:`Lexicon`.
        version: See :class:`Lexicon`.
        language: ISO 639-1 code of its words; questions for another get nothing.
        tables: By kind and part of speech; what is left out is empty.
    """

    def __init__(
        self,
        name: str,
        version: str,
        language: str,
        tables: Mapping[tuple[Kind, PartOfSpeech], Mapping[str, Sequence[str]]],
    ) -> None:
        self.name = name
        self.version = version
        self.language = language
        self.tables = tables

    def _ask(self, kind: Kind, lemma: str, pos: PartOfSpeech, language: str) -> Sequence[str]:
        if language != self.language:
            return ()
        return self.tables.get((kind, pos), {}).get(lemma, ())

    def synonyms(self, lemma: str, pos: PartOfSpeech, language: str) -> Sequence[str]:
        """Words of the same sense."""
        return self._ask("synonym", lemma, pos, language)

    def near(self, lemma: str, pos: PartOfSpeech, language: str) -> Sequence[str]:
        """Words of almost the same sense."""
        return self._ask("near", lemma, pos, language)

    def wider(self, lemma: str, pos: PartOfSpeech, language: str) -> Sequence[str]:
        """Words of a wider sense."""
        return self._ask("wider", lemma, pos, language)

    def narrower(self, lemma: str, pos: PartOfSpeech, language: str) -> Sequence[str]:
        """Words of a narrower sense."""
        return self._ask("narrower", lemma, pos, language)


@cache
def own_lexicon() -> Lexicon:
    """The lexicon that comes with the package: English only, for the vocabulary of prompts, checked by hand."""
    from pytest_promptfuzz.mutations.lexicon.senses import narrower, near, wider
    from pytest_promptfuzz.mutations.lexicon.synonyms import entries

    tables: dict[tuple[Kind, PartOfSpeech], Mapping[str, Sequence[str]]] = {}
    kinds: tuple[tuple[Kind, Mapping[PartOfSpeech, Mapping[str, Entry]]], ...] = (
        ("synonym", entries()),
        ("near", near()),
        ("wider", wider()),
        ("narrower", narrower()),
    )
    for kind, by_pos in kinds:
        for pos, table in by_pos.items():
            tables[kind, pos] = {head: entry.alternatives for head, entry in table.items()}
    return TableLexicon("own", "2", "en", tables)
