"""Where lanes and budget are kept; `shared.py` has the ledger that several processes share."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pytest_promptfuzz.running.limits.budget import Budget
from pytest_promptfuzz.running.limits.lane import Lane

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager


class Books(NamedTuple):
    """One lane and the budget, to be read and changed while nobody else does."""

    lane: Lane
    budget: Budget


class Ledger(Protocol):
    """Keeps lanes and budget."""

    def open(self, lane: str) -> AbstractContextManager[Books]:
        """The books of a lane; what is changed in the block is kept."""
        ...

    def close(self) -> None:
        """Release files."""
        ...


class MemoryLedger:
    """For one process."""

    def __init__(self) -> None:
        self._lanes: dict[str, Lane] = {}
        self._budget = Budget()
        self._lock = threading.Lock()

    @contextmanager
    def open(self, lane: str) -> Iterator[Books]:
        """The books of a lane."""
        with self._lock:
            yield Books(self._lanes.setdefault(lane, Lane()), self._budget)

    def close(self) -> None:
        """Nothing to release."""


def runs(process: int) -> bool:
    """Whether a process of this machine runs; where that cannot be asked without harm, it is taken to."""
    if os.name != "posix" or process == os.getpid():
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
