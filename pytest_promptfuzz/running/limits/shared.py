"""Lanes and budget in a file that the processes of one run share."""

from __future__ import annotations

import json
import sqlite3
import threading
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.running.limits.budget import Budget, Reserved
from pytest_promptfuzz.running.limits.lane import Flying, Lane, Level
from pytest_promptfuzz.running.limits.ledger import Books, MemoryLedger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_BUSY_SECONDS = 20.0
_BUDGET = "budget"


class SharedLedger:
    """For the processes of one run on one machine: a small SQLite file, gone with the run.

    Where the file cannot be used, each process goes on with books of its own, and says so.

    Args:
        path: The file; its folder is made.
        warn: Called once with what keeps the books from being shared.
    """

    def __init__(self, path: Path, warn: Callable[[str], object]) -> None:
        self._path = path
        self._warn = warn
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._alone: MemoryLedger | None = None

    @contextmanager
    def open(self, lane: str) -> Iterator[Books]:
        """The books of a lane."""
        with self._lock:
            books = self._read(lane) if self._alone is None else None
            if books is not None:
                try:
                    yield books
                finally:
                    self._write(lane, books)
                return
        if self._alone is not None:
            with self._alone.open(lane) as own:
                yield own

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _read(self, lane: str) -> Books | None:
        try:
            connection = self._connect()
            if connection.in_transaction:  # somebody was interrupted in the middle of it
                connection.rollback()
            connection.execute("BEGIN IMMEDIATE")
            asked = "SELECT name, value FROM books WHERE name IN (?, ?)"
            rows = dict(connection.execute(asked, (lane, _BUDGET)))
            return Books(
                _lane(json.loads(rows.get(lane, "{}"))), _budget(json.loads(rows.get(_BUDGET, "{}")))
            )
        except (sqlite3.Error, OSError, ValueError, TypeError, AttributeError) as error:
            self._part(error)
            return None

    def _write(self, lane: str, books: Books) -> None:
        kept = [(lane, json.dumps(asdict(books.lane))), (_BUDGET, json.dumps(asdict(books.budget)))]
        try:
            connection = self._connect()
            connection.executemany("REPLACE INTO books VALUES (?, ?)", kept)
            connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            self._part(error)

    def _part(self, error: Exception) -> None:
        self._alone = MemoryLedger()
        self._warn(
            f"{self._path} cannot be used ({error}), so limits and budget hold for each process by itself, not for "
            "all of them together."
        )

    def _connect(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            connection = sqlite3.connect(
                self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            # Of no use after the run, so it need not survive a crash of the machine.
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("PRAGMA journal_mode = MEMORY")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS books (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID"
            )
            self._connection = connection
        return self._connection


def _lane(value: dict[str, Any]) -> Lane:
    lane = Lane(**value)
    lane.flying = {name: Flying(**each) for name, each in value.get("flying", {}).items()}
    lane.levels = {name: Level(**each) for name, each in value.get("levels", {}).items()}
    return lane


def _budget(value: dict[str, Any]) -> Budget:
    budget = Budget(**value)
    budget.reserved = {name: Reserved(**each) for name, each in value.get("reserved", {}).items()}
    return budget
