"""The requests of a run in order and the ways they went, kept open while calls of ours may go the same way."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from types import ModuleType

    from pytest_promptfuzz.wire.exchange import Exchange


class Way(NamedTuple):
    """How a request of the application goes out.

    Attributes:
        library: The HTTP library.
        transport: The application's transport.
        request: The application's request; it holds credentials.
        original: The transport's function that sends a request.
    """

    library: ModuleType
    transport: Any
    request: Any
    original: Callable[[Any, Any], Any]


@dataclass(frozen=True, slots=True)
class Passed:
    """One request of a run.

    Attributes:
        exchange: The call.
        body: The request's body as the application wrote it.
        way: How it goes out; ``None`` where that is not known, or needs an event loop.
    """

    exchange: Exchange
    body: dict[str, Any]
    way: Way | None

    @property
    def key(self) -> tuple[str, int]:
        """Digest, and index among identical requests of the run."""
        return self.exchange.digest, self.exchange.nth


class Borrowing:
    """Transports of the application, kept open: one that it closes meanwhile is closed when it is given back.

    An application may make a client for each run, and closes it, or forgets it, when the run is over.

    Attributes:
        more: Whether transports that are used from now on are borrowed, too.
    """

    def __init__(self) -> None:
        self.more = True
        self._lock = threading.Lock()
        self._transports: dict[int, Any] = {}
        self._closed: set[int] = set()

    def borrow(self, transport: Any) -> None:
        """Keep a transport open."""
        name = id(transport)
        with self._lock:
            if not self.more or name in self._transports:
                return
            self._transports[name] = transport

        def close(*_: object) -> None:
            self._closed.add(name)

        transport.close = transport.__exit__ = close

    def give_back(self, but: Collection[Any] = ()) -> None:
        """Leave all transports to the application again, but for some."""
        kept = {id(each) for each in but}
        with self._lock:
            given = {name: each for name, each in self._transports.items() if name not in kept}
            for name in given:
                del self._transports[name]
        for name, transport in given.items():
            del transport.close, transport.__exit__
            if name in self._closed:
                self._closed.discard(name)
                transport.close()


@dataclass(slots=True)
class Trace:
    """The requests of a run.

    Attributes:
        borrowing: Keeps their transports open.
        passed: The requests in order.
    """

    borrowing: Borrowing
    passed: list[Passed] = field(default_factory=list)

    def add(self, passed: Passed) -> None:
        """Add a request."""
        self.passed.append(passed)
        if passed.way is not None:
            self.borrowing.borrow(passed.way.transport)
