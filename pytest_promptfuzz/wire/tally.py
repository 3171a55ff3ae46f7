"""What a store counts, and what it has to say: each sentence once."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from pytest_promptfuzz.wire.answers import StoreStats

if TYPE_CHECKING:
    from collections.abc import Callable


class Tally:
    """Counts and announcements of one store, for any number of threads.

    Args:
        warn: Called with each announcement, a sentence.

    Attributes:
        notes: All announcements so far.
    """

    def __init__(self, warn: Callable[[str], None] | None = None) -> None:
        self.notes: list[str] = []
        self._warn = warn
        self._lock = threading.Lock()
        self._hits = self._misses = self._writes = 0

    def looked(self, *, found: bool) -> None:
        """An answer was looked for."""
        with self._lock:
            self._hits += found
            self._misses += not found

    def wrote(self) -> None:
        """An answer was stored."""
        with self._lock:
            self._writes += 1

    def stats(self, entries: int | None) -> StoreStats:
        """The counts, with the number of answers held now; ``None`` where that cannot be told."""
        with self._lock:
            return StoreStats(self._hits, self._misses, self._writes, entries)

    def announce(self, note: str) -> None:
        """Say a sentence, unless it was said."""
        with self._lock:
            if note in self.notes:
                return
            self.notes.append(note)
        if self._warn is not None:
            self._warn(note)
