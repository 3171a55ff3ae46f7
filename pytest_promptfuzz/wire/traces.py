"""`Trace`: the requests of a run in order, and the transports they used, kept open for calls made early."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from types import ModuleType

    from pytest_promptfuzz.providers.requests import Response, WireRequest
    from pytest_promptfuzz.wire.calls import CallOrder


class OngoingCall(Protocol):
    """A call of a run, as those see it that go along with it: an ``exchange.Exchange``.

    Attributes:
        wire: The request.
        digest: ``request_digest`` of it.
        nth: Which identical request of the run, from 0.
        order: Where it stands in the program of its run.
        response: The answer as read, once there is one.
    """

    wire: WireRequest
    digest: str
    nth: int
    order: CallOrder
    response: Response | None


class EarlyCall(Protocol):
    """A call that was made before its run asks: a ``live_calls.Early``."""

    def adopt(self, exchange: Any, library: ModuleType) -> Any:
        """The library's response, for the exchange that asks now; ``None`` if it has to make the call itself."""
        ...


class RequestRoute(NamedTuple):
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

    exchange: OngoingCall
    body: dict[str, Any]
    way: RequestRoute | None

    @property
    def key(self) -> tuple[str, int]:
        """Digest, and index among identical requests of the run."""
        return self.exchange.digest, self.exchange.nth


class _Kept:
    """Stands for the ``close`` of a transport that is kept open.

    Attributes:
        by: How many keep it open: calls made for one test may outlast it, and the next test use the same transport.
        closed: Whether the application has closed it.
    """

    def __init__(self) -> None:
        self.by = 0
        self.closed = False

    def __call__(self, *_: object) -> None:
        self.closed = True


_lock = threading.Lock()


class Borrowing:
    """Transports of the application, kept open: one that it closes meanwhile is closed when all have given it back.

    An application may make a client for each run, and closes it, or forgets it, when the run is over.

    Attributes:
        more: Whether transports that are used from now on are borrowed, too.
    """

    def __init__(self) -> None:
        self.more = True
        self._transports: dict[int, tuple[Any, _Kept]] = {}

    def borrow(self, transport: Any) -> None:
        """Keep a transport open."""
        with _lock:
            if not self.more or id(transport) in self._transports:
                return
            kept = vars(transport).get("close")
            if not isinstance(kept, _Kept):
                kept = transport.close = transport.__exit__ = _Kept()
            kept.by += 1
            self._transports[id(transport)] = transport, kept

    def give_back(self, but: Collection[Any] = ()) -> None:
        """Leave all transports to the application again, but for some."""
        stay = {id(each) for each in but}
        closed: list[Any] = []
        with _lock:
            for name in [each for each in self._transports if each not in stay]:
                transport, kept = self._transports.pop(name)
                kept.by -= 1
                if kept.by:
                    continue
                del transport.close, transport.__exit__
                if kept.closed:
                    closed.append(transport)
        for transport in closed:
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
