"""Claims on answers in flight: of all that would ask the same at once, one asks, and the others wait for its answer."""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING, Protocol

from pytest_promptfuzz.clocks import monotonic

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_promptfuzz.wire.answers import AnswerStore, StoredAnswer

PATIENCE = 600.0
"""Seconds after which a call is made although somebody else seems to make it: as long as an SDK waits for an answer."""
_FIRST_LOOK = 0.01
_BETWEEN_LOOKS = 0.25


class Claim(Protocol):
    """The right to ask for what a store keeps under one key."""

    def take(self) -> bool:
        """Whether it is ours now; where nothing can be claimed, it is."""
        ...

    def release(self) -> None:
        """Let others ask; what is not held stays as it is."""
        ...


def claim_in(store: AnswerStore, key: str) -> Claim | None:
    """The claim on an answer; ``None`` from a store that knows none."""
    begin: Callable[[str], Claim] | None = getattr(store, "claim", None)
    return None if begin is None else begin(key)


class Both:
    """Two claims as one: the second is asked for by the holder of the first alone."""

    def __init__(self, first: Claim, second: Claim) -> None:
        self._first = first
        self._second = second
        self._has_first = False

    def take(self) -> bool:
        """Whether both are ours now."""
        self._has_first = self._has_first or self._first.take()
        return self._has_first and self._second.take()

    def release(self) -> None:
        """Give both back."""
        self._second.release()
        self._first.release()
        self._has_first = False


class Claims:
    """What one run has claimed. Safe to use from several threads."""

    def __init__(self) -> None:
        self._held: dict[str, Claim] = {}
        self._lock = threading.Lock()

    def turn(self, key: str, claim: Claim | None, look: Callable[[], StoredAnswer | None]) -> Turn:
        """The turn of a call whose answer is kept under ``key``."""
        if claim is not None:
            with self._lock:
                self._held[key] = claim
        return Turn(claim, look, functools.partial(self.release, key))

    def release(self, key: str) -> None:
        """The call is over: its answer is stored, or there is none."""
        if self._held:
            with self._lock:
                claim = self._held.pop(key, None)
            if claim is not None:
                claim.release()

    def release_all(self) -> None:
        """The run is over, whatever became of its calls."""
        for key in list(self._held):
            self.release(key)


class Turn:
    """One call's turn to be made.

    Args:
        claim: What has to be had first; ``None`` for nothing.
        look: Looks for the answer once more.
        release: Gives the claim back.

    Attributes:
        answer: What somebody else was answered meanwhile: the call is not made.
    """

    def __init__(
        self, claim: Claim | None, look: Callable[[], StoredAnswer | None], release: Callable[[], None]
    ) -> None:
        self.answer: StoredAnswer | None = None
        self._claim = claim
        self._look = look
        self._release = release
        self._until = monotonic() + PATIENCE
        self._pause = _FIRST_LOOK

    def delay(self) -> float:
        """Seconds to sleep before asking this again; 0.0 once the call is to be made, or ``answer`` is there."""
        if self._claim is None:
            return 0.0
        over = self._claim.take() or monotonic() > self._until
        # Also after it was taken: whoever had it before may have stored an answer since we last looked.
        self.answer = self._look()
        if self.answer is not None:
            self._release()
        elif not over:
            pause, self._pause = self._pause, min(self._pause * 1.5, _BETWEEN_LOOKS)
            return pause
        self._claim = None
        return 0.0
