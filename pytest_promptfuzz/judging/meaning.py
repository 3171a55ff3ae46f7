"""Embeddings and entailment, asked once for each text or pair; vectors kept on disk; checks of a model."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import shutil
import sys
import threading
import zlib
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, runtime_checkable

from pytest_promptfuzz.comparing.meaning import (
    LABELS,
    SURE_AT,
    Case,
    Embedder,
    Entailment,
    Label,
    Verdict,
    nine_cases,
)
from pytest_promptfuzz.data.tables import entries
from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.files import make_directory
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.wording.sentences import sentence

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_promptfuzz.wire.watch import Watch


# Vectors on disk, beside the stored answers, so that a second run loads no model.


_TABLE = (
    "CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB, cut INTEGER, checksum INTEGER) "
    "WITHOUT ROWID"
)
_READ = "SELECT vector, cut, checksum FROM vectors WHERE key = ?"
_WRITE = "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)"
_BUSY_SECONDS = 30.0


class Embedded(NamedTuple):
    """What is known of a text: its vector in single precision, and whether the model read its beginning only."""

    vector: array[float]
    cut: bool


class Vectors(Protocol):
    """Keeps what is known of texts, by key. It raises nothing: what cannot be kept is computed again."""

    def read(self, keys: Iterable[str]) -> dict[str, Embedded]:
        """What is kept under the keys; those without an entry are left out."""
        ...

    def write(self, entries: Mapping[str, Embedded]) -> None:
        """Keep all of it."""
        ...


@dataclass(frozen=True, slots=True)
class VectorFile:
    """Vectors in ``<directory>/vectors``, in single precision, for any number of threads and processes.

    A file that cannot be read or written is announced once, and the run goes on without it. Nothing is opened between
    two uses.

    Args:
        directory: The project's ``.promptfuzz``.
        warn: Called with an announcement, a sentence.
    """

    directory: Path
    warn: Callable[[str], None]

    def read(self, keys: Iterable[str]) -> dict[str, Embedded]:
        """What is kept under the keys; a damaged entry is left out."""
        found: dict[str, Embedded] = {}
        if not _file(self.directory).exists():
            return found
        with self._announcing(), self._opened() as connection:
            for key in keys:
                row = connection.execute(_READ, (key,)).fetchone()
                entry = _entry(*row) if row is not None else None
                if entry is not None:
                    found[key] = entry
        return found

    def write(self, entries: Mapping[str, Embedded]) -> None:
        """Keep vectors."""
        rows = [(key, *_row(entry)) for key, entry in entries.items()]
        with self._announcing():
            make_directory(self.directory)
            _file(self.directory).parent.mkdir(mode=0o700, exist_ok=True)
            with self._opened() as connection, connection:
                connection.execute(_TABLE)
                connection.executemany(_WRITE, rows)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        import sqlite3

        with contextlib.closing(sqlite3.connect(_file(self.directory), timeout=_BUSY_SECONDS)) as connection:
            yield connection

    @contextlib.contextmanager
    def _announcing(self) -> Iterator[None]:
        import sqlite3

        try:
            yield
        except (sqlite3.Error, OSError) as error:
            file = _file(self.directory)
            with _lock:
                if file in _announced:
                    return
                _announced.add(file)
            self.warn(sentence(Note.of("calls:vectors-unusable", path=file, error=error)))


_announced: set[Path] = set()
_lock = threading.Lock()


def vectors_size(directory: Path) -> int:
    """How many bytes the vectors of a project take."""
    try:
        return _file(directory).stat().st_size
    except OSError:
        return 0


def clear_vectors(directory: Path) -> None:
    """Remove the vectors of a project.

    Raises:
        StoreError: They cannot be removed.
    """
    folder = _file(directory).parent
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"{folder} cannot be removed ({error.strerror or error}).") from None


def _file(directory: Path) -> Path:
    return directory / "vectors" / "vectors.db"


def _row(entry: Embedded) -> tuple[bytes, int, int]:
    numbers = entry.vector[:]
    if sys.byteorder == "big":
        numbers.byteswap()
    data = numbers.tobytes()
    return data, int(entry.cut), _checksum(data, int(entry.cut))


def _entry(data: object, cut: object, checksum: object) -> Embedded | None:
    """What a row holds; ``None`` where it is damaged."""
    if (
        not isinstance(data, bytes)
        or cut not in {0, 1}
        or len(data) % 4
        or checksum != _checksum(data, int(bool(cut)))
    ):
        return None
    numbers = array("f", data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return Embedded(numbers, bool(cut)) if numbers and all(map(math.isfinite, numbers)) else None


def _checksum(data: bytes, cut: int) -> int:
    return zlib.crc32(data, cut)


_MOST_VECTORS = 4096
"""Vectors in memory: of MiniLM 7 MB."""


@runtime_checkable
class AskingEmbedder(Protocol):
    """An embedder that makes model calls, which belong to a test."""

    @property
    def name(self) -> str:
        """As of any embedder."""
        ...

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """As of any embedder."""
        ...

    def under(self, watch: Watch) -> Embedder:
        """The same for one test, whose calls are seen by ``watch``."""
        ...


class CachedEmbedder:
    """An embedder that embeds each text once.

    Args:
        embedder: Whose vectors are kept, in single precision.
        vectors: Where they are kept beyond this process; ``None`` for nowhere.
    """

    def __init__(self, embedder: Embedder, vectors: Vectors | None = None) -> None:
        self._embedder = embedder
        self._vectors = vectors
        self._known: dict[str, Embedded] = {}

    @property
    def name(self) -> str:
        """The name of the embedder within."""
        return self._embedder.name

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """One vector for each text; the embedder within is asked once, for all whose vector is not known."""
        keys = [self._key(text) for text in texts]
        unknown = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if unknown and self._vectors is not None:
            self._known.update(self._vectors.read(unknown))
            unknown = {key: text for key, text in unknown.items() if key not in self._known}
        if unknown:
            found = self._embedder.embed(list(unknown.values()))
            fresh = {
                # In the precision in which it is kept, so that a second run computes with the same numbers.
                key: Embedded(array("f", vector), self._cuts(text))
                for (key, text), vector in zip(unknown.items(), found, strict=True)
            }
            self._known.update(fresh)
            if self._vectors is not None:
                self._vectors.write(fresh)
        vectors: list[Sequence[float]] = [self._known[key].vector for key in keys]
        for key in list(self._known)[: max(0, len(self._known) - _MOST_VECTORS)]:
            del self._known[key]
        return vectors

    def truncates(self, text: str) -> bool:
        """Whether the embedder within cuts the text off."""
        known = self._known.get(self._key(text))
        return self._cuts(text) if known is None else known.cut

    def _cuts(self, text: str) -> bool:
        ask = getattr(self._embedder, "truncates", None)
        return bool(ask(text)) if callable(ask) else False

    def _key(self, text: str) -> str:
        parts = (self.name, getattr(self._embedder, "stamp", ""), text)
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


# Which texts a comparison would embed: found by comparing without a model, to embed them all at once.


class TextCollector:
    """Stands in for an embedder, and takes down what it is asked for. Its vectors say nothing.

    Args:
        name: Of the embedder.

    Attributes:
        texts: What it was asked for, each once and in order.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.texts: dict[str, None] = {}

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """As many vectors as texts, all alike."""
        self.texts.update(dict.fromkeys(texts))
        return [[0.0]] * len(texts)


# Whether one text follows from another: the protocol, the nine cases of both directions, pairs that are asked once.


_MOST_VERDICTS = 16384
"""Verdicts in memory; each takes about half a kilobyte, its key included."""


class CachedEntailment:
    """Asks each pair once.

    Args:
        entailment: Whose verdicts are kept, in single precision.
        kept: Where they are kept beyond this process, beside the vectors of texts; ``None`` for nowhere.
    """

    def __init__(self, entailment: Entailment, kept: Vectors | None = None) -> None:
        self._entailment = entailment
        self._kept = kept
        self._known: dict[str, Verdict] = {}

    @property
    def name(self) -> str:
        """The name of the model within."""
        return self._entailment.name

    @property
    def stamp(self) -> str:
        """The stamp of the model within."""
        return self._entailment.stamp

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        """A verdict for each pair; the model within is asked once, for all whose verdict is not known."""
        stamp = self.stamp
        keys = [self._key(stamp, pair) for pair in pairs]
        found = {key: self._known[key] for key in keys if key in self._known}
        unknown = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in found}
        if unknown and self._kept is not None:
            read = {key: _verdict(entry) for key, entry in self._kept.read(unknown).items()}
            found.update((key, verdict) for key, verdict in read.items() if verdict is not None)
            unknown = {key: pair for key, pair in unknown.items() if key not in found}
        if unknown:
            said = self._entailment.scores(list(unknown.values()))
            # In the precision in which they are kept, so that a second run decides by the same numbers.
            fresh = {key: _entry_of(each) for key, each in zip(unknown, said, strict=True)}
            found.update((key, _of_entry(entry)) for key, entry in fresh.items())
            if self._kept is not None:
                self._kept.write(fresh)
        self._known.update(found)
        for key in list(self._known)[: max(0, len(self._known) - _MOST_VERDICTS)]:
            self._known.pop(key, None)
        return [found[key] for key in keys]

    def _key(self, stamp: str, pair: tuple[str, str]) -> str:
        parts = json.dumps(["entailment", self.name, stamp, *pair])
        return hashlib.sha256(parts.encode()).hexdigest()


def _entry_of(verdict: Verdict) -> Embedded:
    return Embedded(
        array("f", (verdict.entailment, verdict.neutral, verdict.contradiction)), verdict.truncated
    )


def _of_entry(entry: Embedded) -> Verdict:
    entailment, neutral, contradiction = entry.vector
    return Verdict(entailment, neutral, contradiction, entry.cut)


def _verdict(entry: Embedded) -> Verdict | None:
    """What is kept of a pair; ``None`` where it is no verdict."""
    numbers = entry.vector
    if len(numbers) != len(LABELS) or not all(0 <= each <= 1 for each in numbers):
        return None
    return _of_entry(entry) if math.isclose(math.fsum(numbers), 1, abs_tol=1e-3) else None


# How often an entailment model errs on pairs of claims that come with the package: ``promptfuzz model check``.


_FILE: Final = "judging/entailment_pairs.tsv"


@dataclass(frozen=True, slots=True)
class ClaimPair:
    """Two claims, and what follows from what.

    Attributes:
        kind: What the pair tests: ``numbers``, ``negation``, ``roles``, ``quantifiers``, ``paraphrase``, ``modality``
            or ``dates``.
        forward: Whether the second follows from the first.
        backward: Whether the first follows from the second.
        first: A claim.
        second: Another.
    """

    kind: str
    forward: Label
    backward: Label
    first: str
    second: str

    @property
    def case(self) -> Case:
        """What both directions say together."""
        return nine_cases(_certain(self.forward), _certain(self.backward))


@dataclass(frozen=True, slots=True)
class KindErrors:
    """What a model made of the pairs of one kind.

    Attributes:
        kind: The kind, or ``all``.
        pairs: How many there are; each has two directions.
        wrong_directions: Directions with another label than the right one.
        different: Pairs that do not say the same.
        passed: Of those, how many the model calls equivalent.
        same: Pairs that say the same.
        condemned: Of those, how many the model calls a deviation.
        undecided: Pairs that are left undecided and should not be.
    """

    kind: str
    pairs: int
    wrong_directions: int
    different: int
    passed: int
    same: int
    condemned: int
    undecided: int


def claim_pairs() -> list[ClaimPair]:
    """The pairs of the package."""
    return entries(_FILE, ClaimPair)


def check_entailment(entailment: Entailment, *, sure_at: float = SURE_AT) -> list[KindErrors]:
    """Ask a model about every pair, both ways.

    Args:
        entailment: The model.
        sure_at: The probability below which a direction counts as neutral.

    Returns:
        Its errors by kind, in the order of the file, and those of all kinds at the end.

    Raises:
        ConfigurationError: The model cannot be loaded, or what it says is no verdict.
    """
    pairs = claim_pairs()
    asked = [(each.first, each.second) for each in pairs] + [(each.second, each.first) for each in pairs]
    said = entailment.scores(asked)
    answers = list(zip(pairs, said[: len(pairs)], said[len(pairs) :], strict=True))
    kinds = dict.fromkeys(each.kind for each in pairs)
    found = [_errors(kind, [each for each in answers if each[0].kind == kind], sure_at) for kind in kinds]
    return [*found, _errors("all", answers, sure_at)]


def _errors(kind: str, answers: Sequence[tuple[ClaimPair, Verdict, Verdict]], sure_at: float) -> KindErrors:
    cases = [(pair.case, nine_cases(one, two, sure_at=sure_at)) for pair, one, two in answers]
    different = [said for right, said in cases if right != "equivalent"]
    same = [said for right, said in cases if right == "equivalent"]
    return KindErrors(
        kind,
        pairs=len(answers),
        wrong_directions=sum(
            (one.label(sure_at) != pair.forward) + (two.label(sure_at) != pair.backward)
            for pair, one, two in answers
        ),
        different=len(different),
        passed=different.count("equivalent"),
        same=len(same),
        condemned=same.count("deviation"),
        undecided=sum(said == "undecided" != right for right, said in cases),
    )


def _certain(label: Label) -> Verdict:
    return Verdict(float(label == "entailment"), float(label == "neutral"), float(label == "contradiction"))
