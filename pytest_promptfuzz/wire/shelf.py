"""What lies in a local store: read without changing anything, and removed on request."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import StoreError, unstopped
from pytest_promptfuzz.wire.answers import StoredAnswer, decode_answer
from pytest_promptfuzz.wire.damage import connect, newest
from pytest_promptfuzz.wire.store import ResponseStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_ROWS = "SELECT key, value FROM Cache ORDER BY rowid"
_BUSY_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Kept:
    """One entry of a local store.

    Attributes:
        key: Its key; of an entry that is not ours, what stands there as text.
        size: Bytes.
        answer: What is kept; ``None`` where it cannot be used.
        why: Why it cannot.
    """

    key: str
    size: int
    answer: StoredAnswer | None
    why: str = ""


def kept(directory: Path) -> Iterator[Kept]:
    """Every entry of the store in a directory (``.promptfuzz``), the oldest first; none where there is no store.

    Raises:
        StoreError: The database cannot be read to its end.
    """
    database = ResponseStore(directory).path
    try:
        if not database.exists():
            return
        for key, value in _rows(database):
            size = len(value) if isinstance(value, bytes | str) else 0
            if not isinstance(key, str):
                yield Kept(repr(key)[:80], size, None, "the key is not text")
                continue
            try:
                yield Kept(key, size, decode_answer(value))
            except (StoreError, ValueError) as error:
                yield Kept(key, size, None, unstopped(error))
    except (OSError, sqlite3.Error) as error:
        raise StoreError(
            f"The response cache {database} cannot be read to its end ({unstopped(error)}). The next test run begins a "
            "new one with what can be read; `promptfuzz cache clear` removes all of it."
        ) from None


def _rows(database: Path) -> Iterator[tuple[object, object]]:
    try:
        connection = connect(database)
        connection.execute("SELECT 1 FROM Cache LIMIT 1")
    except sqlite3.OperationalError:
        # Without write access SQLite cannot make its shared-memory file; immutable does without one.
        connection = connect(database, options="mode=ro&immutable=1")
    with contextlib.closing(connection):
        yield from connection.execute(_ROWS)


def remove(directory: Path, keys: Iterable[str]) -> int:
    """Take entries out of the store in a directory; how many there were.

    Raises:
        StoreError: The database cannot be written.
    """
    database = ResponseStore(directory).path
    try:
        with contextlib.closing(connect(database, options="mode=rw")) as connection, connection:
            connection.execute(f"PRAGMA busy_timeout = {_BUSY_SECONDS * 1000:.0f}")
            return sum(connection.execute("DELETE FROM Cache WHERE key = ?", (key,)).rowcount for key in keys)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(
            f"The response cache {database} cannot be written ({unstopped(error)}). Nothing was removed."
        ) from None


def clear(directory: Path) -> None:
    """Empty the store in a directory, damaged files that were set aside included.

    Raises:
        StoreError: It cannot be written.
    """
    responses = directory / "responses"
    try:
        if newest(responses) == 1:
            # A run that goes on with the file open keeps what it stores from now on.
            with (
                contextlib.closing(connect(responses / "cache.db", options="mode=rw")) as connection,
                connection,
            ):
                connection.execute(f"PRAGMA busy_timeout = {_BUSY_SECONDS * 1000:.0f}")
                connection.execute("DELETE FROM Cache")
            return
    except FileNotFoundError:
        return
    except (OSError, sqlite3.Error):
        pass  # damaged: the whole of it goes
    try:
        shutil.rmtree(responses)
    except OSError as error:
        raise StoreError(f"{responses} cannot be removed ({error.strerror or error}).") from None
