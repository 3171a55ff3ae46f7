"""The gate of a session: every live call waits here for its turn, and is tried again from here."""

from __future__ import annotations

import itertools
import threading
from random import Random
from typing import TYPE_CHECKING

from pytest_promptfuzz.clocks import monotonic
from pytest_promptfuzz.running.limits.budget import Caps
from pytest_promptfuzz.running.limits.ledger import MemoryLedger
from pytest_promptfuzz.running.limits.settings import Settings
from pytest_promptfuzz.running.limits.ticket import Queue, Ticket

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_promptfuzz.running.limits.budget import Budget
    from pytest_promptfuzz.running.limits.ledger import Ledger
    from pytest_promptfuzz.wire.gate import Outgoing

_LONG = 2.0  # seconds of waiting that are worth a line
_SELDOM = 5.0  # and a line is not worth more than that


class Limits:
    """The ``Gate`` of a session; safe to use from threads, event loops and, with a shared ledger, processes.

    Calls of one host and model leave in the order in which they came.

    Args:
        settings: What a person has set.
        ledger: Where lanes and budget are kept; by default in memory.
        clock: Seconds, monotonic, of all processes that share the ledger.
        told: Takes a sentence for whoever looks on, when calls begin to wait for a while.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        ledger: Ledger | None = None,
        clock: Callable[[], float] = monotonic,
        told: Callable[[str], object] | None = None,
    ) -> None:
        self.settings = settings if settings is not None else Settings()
        self.ledger: Ledger = ledger if ledger is not None else MemoryLedger()
        self.clock = clock
        self.rng = Random()  # noqa: S311 - jitter: it changes no result, and must differ between processes
        self.stopped = False
        self._told = told
        self._silent_until = 0.0
        self._lock = threading.Lock()
        self._queues: dict[str, Queue] = {}
        self._numbers = itertools.count()

    def enter(self, outgoing: Outgoing) -> Ticket:
        """The passage of one call."""
        lane = f"{outgoing.host}/{outgoing.model}"
        with self._lock:
            queue = self._queues.setdefault(lane, Queue())
            return Ticket(self, queue, lane, outgoing, next(self._numbers))

    def spares(self, calls: Sequence[Outgoing]) -> bool:
        """Whether the budget holds twice what calls may take at the most; always without a budget."""
        caps = self.settings.caps
        if caps == Caps():
            return True
        tokens, cost = 0.0, 0.0
        for each in calls:
            tokens += each.size + (each.bound or 0)
            price = self.settings.prices.of(each.model, each.url) if caps.cost is not None else None
            if caps.cost is not None and price is None:
                return False
            cost += price.cost(each.size, each.bound or 0) if price is not None else 0.0
        return self.budget().holds(caps, 2 * len(calls), 2 * tokens, 2 * cost)

    def waits(self, lane: str, seconds: float, why: str = "its limits", *, since: float = 0.0) -> None:
        """Calls of a lane wait, ``since`` seconds so far; of a long wait whoever looks on is told, not every time."""
        now = self.clock()
        if self._told is None or max(seconds, since) < _LONG or now < self._silent_until:
            return
        self._silent_until = now + max(seconds, _SELDOM)
        before = f", {since:.0f} s so far" if since >= _LONG else ""
        self._told(f"waiting {max(1, round(seconds))} s for {lane} ({why}{before})")

    def budget(self) -> Budget:
        """What was spent so far."""
        with self.ledger.open("") as books:
            return books.budget

    def stop(self) -> None:
        """Let nobody wait any longer: the session was interrupted."""
        self.stopped = True

    def close(self) -> None:
        """Release files."""
        self.ledger.close()
