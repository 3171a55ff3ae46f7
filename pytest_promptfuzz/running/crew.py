"""Threads that work while there is work, and end with it: what blocks cannot share one event loop."""

from __future__ import annotations

import threading
from collections import deque
from typing import Protocol

from pytest_promptfuzz.clocks import monotonic

GRACE = 0.3
"""Seconds that work under way is given to come to its end when the crew stops."""


class Errand(Protocol):
    """Something to be done once, in a thread."""

    def make(self) -> None:
        """Do it; raises nothing."""
        ...

    def abandon(self) -> None:
        """Nobody waits any longer: whatever comes of it is to change nothing."""
        ...


class Crew:
    """Runs errands, the first that came first, each in one of a few daemon threads.

    No thread outlives the last errand, so there is nothing to close after an ordinary end.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queue: deque[Errand] = deque()
        self._under_way: dict[threading.Thread, Errand | None] = {}

    def add(self, errand: Errand, limit: int) -> None:
        """Have an errand run, as soon as fewer than ``limit`` are under way."""
        with self._lock:
            self._queue.append(errand)
            if len(self._under_way) >= limit:
                return
            thread = threading.Thread(target=self._work, name="promptfuzz-speculation", daemon=True)
            self._under_way[thread] = None
            thread.start()

    def stop(self) -> None:
        """Begin nothing more, give what is under way a moment, and abandon the rest."""
        with self._lock:
            self._queue.clear()
            threads = [*self._under_way]
        end = monotonic() + GRACE
        for thread in threads:
            thread.join(max(0.0, end - monotonic()))
        with self._lock:
            for errand in filter(None, self._under_way.values()):
                errand.abandon()

    def _work(self) -> None:
        thread = threading.current_thread()
        while True:
            with self._lock:
                if not self._queue:
                    del self._under_way[thread]
                    return
                errand = self._under_way[thread] = self._queue.popleft()
            errand.make()
