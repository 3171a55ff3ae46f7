"""A WordNet database as a lexicon, read in its own format (wndb(5WN)): Debian's ``wordnet-base``, or any copy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_promptfuzz.mutations.analysis.lexicon import TableLexicon

if TYPE_CHECKING:
    from pytest_promptfuzz.mutations.analysis.lexicon import Kind, PartOfSpeech

FOLDER = Path("/usr/share/wordnet")
_FILES: dict[PartOfSpeech, str] = {"noun": "noun", "verb": "verb", "adjective": "adj", "adverb": "adv"}
_POINTERS: dict[Kind, frozenset[str]] = {
    "synonym": frozenset(),
    "near": frozenset("&^"),  # similar to, see also
    "wider": frozenset("@"),
    "narrower": frozenset("~"),
}
SENSES = 2
"""How many senses of a word are asked, the most frequent first: later ones are mostly not what a sentence means."""


class Database:
    """The index and the synsets of one part of speech."""

    def __init__(self, folder: Path, name: str) -> None:
        self._data = (folder / f"data.{name}").read_bytes()
        self._senses: dict[str, tuple[int, ...]] = {}
        for line in (folder / f"index.{name}").read_text("utf-8").splitlines():
            if not line.startswith(" "):
                fields = line.split()
                # The last fields are the offsets of the synsets, as many as the third field says.
                offsets = fields[len(fields) - int(fields[2]) :]
                self._senses[fields[0].replace("_", " ")] = tuple(map(int, offsets))

    def lemmas(self) -> Iterator[str]:
        return iter(self._senses)

    def senses(self, lemma: str) -> tuple[int, ...]:
        """Offsets of the synsets of a lemma, the most frequent sense first."""
        return self._senses.get(lemma, ())

    def synset(self, offset: int) -> tuple[list[str], list[tuple[str, int]]]:
        """The words of a synset in lower case, and its semantic pointers within this part of speech."""
        fields = self._data[offset : self._data.index(b" | ", offset)].decode().split()
        count = int(fields[3], 16)
        words = [fields[4 + 2 * number] for number in range(count)]
        start = 5 + 2 * count
        kind = "a" if fields[2] == "s" else fields[2]
        pointers = [
            (symbol, int(target))
            for symbol, target, pos, which in zip(
                *(fields[start + number :: 4] for number in range(4)), strict=False
            )
            if pos == kind and which == "0000"
        ]
        # An adjective may say where it stands: galore(ip).
        return [word.partition("(")[0].replace("_", " ").lower() for word in words], pointers


class Answers(Mapping[str, tuple[str, ...]]):
    """What a database says of a lemma, looked up when it is asked for."""

    def __init__(self, database: Database, pointers: frozenset[str], senses: int) -> None:
        self._database = database
        self._pointers = pointers
        self._most = senses

    def __getitem__(self, lemma: str) -> tuple[str, ...]:
        database = self._database
        offsets = database.senses(lemma)
        if not offsets:
            raise KeyError(lemma)
        found: dict[str, None] = {}
        for offset in offsets[: self._most]:
            words, pointers = database.synset(offset)
            if self._pointers:
                targets = [target for symbol, target in pointers if symbol in self._pointers]
                words = [word for target in targets for word in database.synset(target)[0]]
            found |= dict.fromkeys(words)
        found.pop(lemma, None)
        return tuple(found)

    def __iter__(self) -> Iterator[str]:
        return self._database.lemmas()

    def __len__(self) -> int:
        return sum(1 for _ in self._database.lemmas())


@cache
def wordnet(folder: Path = FOLDER, senses: int = SENSES) -> TableLexicon:
    """The lexicon of a WordNet database.

    Raises:
        SystemExit: It is not there.
    """
    if not (folder / "data.noun").exists():
        raise SystemExit(
            f"no WordNet in {folder}: apt-get install wordnet-base, or give its folder by --wordnet"
        )
    databases = {pos: Database(folder, name) for pos, name in _FILES.items()}
    tables = {
        (kind, pos): Answers(database, pointers, senses)
        for kind, pointers in _POINTERS.items()
        for pos, database in databases.items()
    }
    return TableLexicon("wordnet", "3.0", "en", tables)
