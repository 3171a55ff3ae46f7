"""Damaged and read-only cache files: superseded, salvaged, read without writing."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import threading
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.wire.answers import decode_answer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_CLAIM_SECONDS = 40.0
_WORK = "mending"
_ENTRIES = "SELECT key, value FROM Cache WHERE raw = 1 AND mode = 1 ORDER BY rowid "


def generation(responses: Path, number: int) -> Path:
    """The directory of one generation of a store: a damaged database stays where it is, and the next begins beside it.

    It is never renamed, because processes that have it open would mistake the next one's journal for its own.
    """
    return responses if number == 1 else responses / str(number)


def begun(responses: Path, number: int) -> bool:
    """Whether a generation exists; one that may not be looked at does not."""
    return os.path.exists(generation(responses, number))  # noqa: PTH110 - Path.exists raises PermissionError


def newest(responses: Path) -> int:
    """The number of the generation in use, from 1."""
    number = 1
    while begun(responses, number + 1):
        number += 1
    return number


@contextlib.contextmanager
def claim(responses: Path) -> Iterator[None]:
    """Hold the right to mend a store: one process at a time. What a dead process held is free.

    Raises:
        StoreError: Another process has held it for too long.
        OSError: The directory cannot be written.
    """
    lock = responses / "lock"
    with contextlib.closing(
        sqlite3.connect(lock, timeout=_CLAIM_SECONDS, isolation_level=None)
    ) as connection:
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            raise StoreError(
                f"another process has been mending it for too long, or {lock}: {error}"
            ) from None
        yield


@contextlib.contextmanager
def next_generation(responses: Path, number: int) -> Iterator[Path]:
    """A directory to fill, which becomes generation ``number`` when it is done, or vanishes if that fails.

    Call it under :func:`claim`; the database in it must be closed again.
    """
    work = responses / _WORK
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(mode=0o700)
    try:
        yield work
        work.rename(generation(responses, number))
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise


def is_being_mended(responses: Path) -> bool:
    """Whether somebody is salvaging, or died of it: what is written meanwhile may be missed."""
    return os.path.exists(responses / _WORK)  # noqa: PTH110 - Path.exists raises PermissionError


def is_sound(database: Path) -> bool:
    """Whether SQLite finds the file's structure whole; what entries hold has checksums of its own."""
    try:
        with contextlib.closing(connect(database)) as connection:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchall() == [("ok",)])
    except (sqlite3.Error, OSError):
        return False


def salvage(database: Path) -> Iterator[tuple[str, bytes]]:
    """The entries of a damaged database that can be read and pass their checksum, each once.

    A scan ends at the first bad page; one from each end reaches everything around a single one.
    """
    seen: set[str] = set()
    for order in ("ASC", "DESC"):
        with (
            contextlib.suppress(sqlite3.Error, OSError),
            contextlib.closing(connect(database)) as connection,
        ):
            for key, value in connection.execute(_ENTRIES + order):
                if not isinstance(key, str) or key in seen:
                    continue
                with contextlib.suppress(StoreError, ValueError):
                    decode_answer(value)
                    seen.add(key)
                    yield key, value


def connect(database: Path, *, options: str = "mode=ro") -> sqlite3.Connection:
    """Open a database file that exists.

    Raises:
        OSError: It does not exist.
        sqlite3.Error: It cannot be opened.
    """
    if not database.exists():
        raise FileNotFoundError(database)
    return sqlite3.connect(f"{database.absolute().as_uri()}?{options}", uri=True, check_same_thread=False)


class ReadOnly:
    """Reads a cache whose directory cannot be written.

    Raises:
        OSError: There is no such file.
        sqlite3.Error: It is no cache.
    """

    def __init__(self, database: Path) -> None:
        # Without write access SQLite cannot make its shared-memory file; immutable does without one.
        self._connection = connect(database, options="mode=ro&immutable=1")
        self._lock = threading.Lock()
        try:
            len(self)
        except sqlite3.Error:
            self.close()
            raise

    def get(self, key: str) -> object:
        """The value under ``key`` as stored, which need not be bytes, or ``None``."""
        with self._lock:
            rows = self._connection.execute(
                "SELECT value FROM Cache WHERE key = ? AND raw = 1 AND mode = 1", (key,)
            ).fetchall()
        return rows[0][0] if rows else None

    def __len__(self) -> int:
        with self._lock:
            return int(self._connection.execute("SELECT COUNT(*) FROM Cache").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
