"""Vectors on disk, beside the stored answers, so that a second run loads no model."""

from __future__ import annotations

import contextlib
import math
import shutil
import sqlite3
import sys
import threading
import zlib
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pytest_promptfuzz.errors import StoreError, unstopped
from pytest_promptfuzz.wire.folder import make_directory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

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
        with contextlib.closing(sqlite3.connect(_file(self.directory), timeout=_BUSY_SECONDS)) as connection:
            yield connection

    @contextlib.contextmanager
    def _announcing(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            file = _file(self.directory)
            with _lock:
                if file in _announced:
                    return
                _announced.add(file)
            self.warn(
                f"The vectors of compared texts in {file} cannot be used ({unstopped(error)}); they are computed anew. "
                "Mend its permissions, or remove it."
            )


_announced: set[Path] = set()
_lock = threading.Lock()


def size(directory: Path) -> int:
    """How many bytes the vectors of a project take."""
    try:
        return _file(directory).stat().st_size
    except OSError:
        return 0


def clear(directory: Path) -> None:
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
