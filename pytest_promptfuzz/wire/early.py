"""A model call that is made before the run that needs it asks, and handed to it when it does.

The call goes out the way an earlier call of the application went: through the same transport, to the same URL, with the
same headers. What was seen of it becomes part of what the run's watch saw, as if the run had made it.
"""

from __future__ import annotations

import functools
import json
import threading
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.wire import exchange as exchanges
from pytest_promptfuzz.wire.adopting import adopt
from pytest_promptfuzz.wire.endpoints import host_of
from pytest_promptfuzz.wire.faults import NEVER_SENT
from pytest_promptfuzz.wire.gate import Outgoing, output_bound
from pytest_promptfuzz.wire.in_flight import resent
from pytest_promptfuzz.wire.making import made
from pytest_promptfuzz.wire.prepared import prepared
from pytest_promptfuzz.wire.sending import read_whole
from pytest_promptfuzz.wire.streams import streams_of
from pytest_promptfuzz.wire.watch import watching

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

    from pytest_promptfuzz.wire.exchange import Exchange
    from pytest_promptfuzz.wire.trace import Way
    from pytest_promptfuzz.wire.watch import Watch

_LOOK = 0.5


class Early:
    """A call that is made early.

    Args:
        way: How it goes out.
        body: What is asked.
        watch: What sees this call, and no other.
        digest: The ``request_digest`` of it.
        nth: The index that it will have among identical requests of its run.
        answered: Called in the thread that made the call, before a run can have its answer.

    Attributes:
        watch: As above.
        adopted: Whether a run has taken it over.
    """

    def __init__(
        self,
        way: Way,
        body: dict[str, Any],
        watch: Watch,
        digest: str,
        nth: int,
        answered: Callable[[Exchange], None],
    ) -> None:
        self.watch = watch
        self.adopted = False
        self._way = way
        self._body = body
        self._answered = answered
        for _ in range(nth):
            watch.reserve(digest)
        self._exchange: Exchange | None = None
        self._done: Future[Any] = Future()
        self._once = threading.Lock()

    @property
    def outgoing(self) -> Outgoing:
        """What a gate is told of it before it is made; how many words it has is not counted."""
        url, model = str(self._way.request.url), self._body.get("model")
        return Outgoing(
            url=self.watch.redaction.url(url),
            host=host_of(url),
            model=model if isinstance(model, str) else "",
            size=len(json.dumps(self._body)),
            bound=output_bound(self._body),
            words=0,
        )

    @property
    def sent(self) -> bool:
        """Whether it was made, or is being made."""
        if self._done.cancelled() or not (self._done.running() or self._done.done()):
            return False
        return not self.refused

    @property
    def refused(self) -> bool:
        """Whether it was not let out."""
        return any(fault.kind in NEVER_SENT for fault in self.watch.unrecovered())

    def cancel(self) -> None:
        """Do not make it, if it is not begun."""
        self._done.cancel()

    def abandon(self) -> None:
        """Keep nothing of what it is answered from now on: the store may be closed before."""
        self.watch.store = self.watch.tape = None

    def make(self) -> None:
        """Make it, in this thread; one that was begun is left alone."""
        if not self._once.acquire(blocking=False) or not self._done.set_running_or_notify_cancel():
            return
        try:
            with watching(self.watch):
                response = self._response()
        except Exception as error:  # noqa: BLE001 - it is for the run that asks
            self._end(self._done.set_exception, error)
        except BaseException as error:
            self._done.set_exception(error)
            raise
        else:
            self._end(self._done.set_result, response)

    def _end(self, settle: Callable[[Any], None], outcome: Any) -> None:
        try:
            self.watch.claims.release_all()
            if self._exchange is not None:
                self._answered(self._exchange)
        finally:
            settle(outcome)  # whatever became of that: a run may wait for it

    def _response(self) -> Any:
        library = self._way.library
        request, content = resent(library, self._way.request, self._body)
        timeout = request.extensions.get("timeout")
        if isinstance(timeout, dict):
            # Several calls may wait for a connection here, where the application makes one at a time.
            request.extensions = {**request.extensions, "timeout": {**timeout, "pool": None}}
        exchange = self._exchange = exchanges.begin(self.watch, str(request.url), request.headers, content)
        if exchange is None:
            return None
        response = made(
            library, exchange, request, content, lambda: self._way.original(self._way.transport, request)
        )
        raw, failure = read_whole(response)
        response.stream = (
            streams_of(library).broken(raw, failure) if failure is not None else library.ByteStream(raw)
        )
        return response

    def adopt(self, exchange: Exchange, library: ModuleType) -> Any:
        """The library's response, for the run that asks now; waited for. ``None`` if it has to make the call itself.

        Args:
            exchange: The run's call.
            library: The HTTP library it is made with.

        Raises:
            Exception: What making the call raised.
        """
        if library is not self._way.library:
            return None
        exchange.sending()
        try:
            self.make()  # what is not begun is not waited for
            while not wait([self._done], timeout=_LOOK).done:
                pass
        except BaseException as error:
            exchange.failed(error)
            raise
        if self._done.cancelled() or self.refused:
            return None
        failure = self._done.exception()
        if failure is not None and not isinstance(failure, Exception):
            return None
        self.adopted = True
        adopt(exchange.watch, self.watch, exchange.order)
        if self._exchange is not None:
            exchange.response = self._exchange.response
        expected = prepared.get()
        if expected is not None and self.watch.calls:
            expected.seconds = self.watch.calls[-1].seconds
        if self.watch.unrecovered() or not self.watch.calls:
            exchange.release()
        if failure is not None:
            raise failure
        return self._done.result()

    def then(self, do: Callable[[], None]) -> None:
        """Have something done when it has ended or was cancelled, at once if it has."""
        self._done.add_done_callback(lambda _: do())


def when_ended(calls: Sequence[Early], do: Callable[[], None]) -> None:
    """Have something done when all calls have ended or were cancelled, at once if they have."""
    left, lock = [*calls], threading.Lock()

    def ended(call: Early) -> None:
        with lock:
            left.remove(call)
            last = not left
        if last:
            do()

    for each in calls:
        each.then(functools.partial(ended, each))
    if not calls:
        do()
