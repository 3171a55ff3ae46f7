"""A live model call: sent through its gate, tried again, accounted for when its answer ends; calls made early."""

from __future__ import annotations

import functools
import json
import threading
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin

from pytest_promptfuzz.clocks import asleep, sleep
from pytest_promptfuzz.errors import TargetError
from pytest_promptfuzz.files import unpacked_body
from pytest_promptfuzz.providers.formats import endpoint_of, host_of, is_model_path, output_bound
from pytest_promptfuzz.providers.requests import LASTING, status_kind
from pytest_promptfuzz.wire import exchange as exchanges
from pytest_promptfuzz.wire.calls import KEEPING, NEVER_SENT, STREAM, Outgoing, may_pass, status_of_kind
from pytest_promptfuzz.wire.exchange import prepared, resent
from pytest_promptfuzz.wire.streams import (
    CACHE_HEADER,
    Beginning,
    breaks_in,
    build_response,
    is_stream,
    reported_in,
    streams_of,
    unpacked,
)
from pytest_promptfuzz.wire.watch import adopt, watching

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from concurrent.futures import Future
    from types import ModuleType

    from pytest_promptfuzz.storage.answers import StoredAnswer
    from pytest_promptfuzz.storage.claims import Turn
    from pytest_promptfuzz.wire.calls import Passage
    from pytest_promptfuzz.wire.exchange import Exchange
    from pytest_promptfuzz.wire.traces import RequestRoute
    from pytest_promptfuzz.wire.watch import Watch


# Sending a model call through its gate: waiting, asking, asking again.
#
# What an SDK does above is told when to stop: the last failure carries ``x-should-retry: false``, and an SDK that asks
# again after a lost connection gets the same exception without a call.


_RETRY_COUNT = "x-stainless-retry-count"


class Sent(NamedTuple):
    """What came of a call: a whole answer, a stream that has begun, or the refusal to send it.

    Attributes:
        response: The library's response; ``None`` if the gate refused.
        raw: The body as it came; ``None`` for a stream, of which no more than the beginning is read.
        failure: What cut the body short.
        beginning: The stream, to be read from its beginning.
        refusal: Why the call was not made.
        answer: What somebody else was answered who made the same call meanwhile: it was not made.
    """

    response: Any
    raw: bytes | None = None
    failure: Exception | None = None
    beginning: Beginning | None = None
    refusal: TargetError | None = None
    answer: StoredAnswer | None = None


def send(exchange: Exchange, request: Any, size: int, original: Callable[[], Any]) -> Sent:
    """Make a call in a thread of its own, or the main one.

    Args:
        exchange: The call.
        request: The library's request; its headers tell whether an SDK repeats itself.
        size: Bytes of its body.
        original: Sends it once, and returns the library's response, not yet read.
    """
    exchange.refuse_repeat(asked_again=_repeated(request))
    passage = _passage(exchange, size)
    while True:
        turn = exchange.watch.turn(exchange.digest, exchange.nth, exchange.looked_up)
        try:
            while (delay := _delay(turn, passage)) > 0:
                sleep(delay)
        except TargetError as error:
            return _refused(exchange, error)
        except BaseException as error:
            _interrupted(exchange, passage, error)
            raise
        if turn.answer is not None:
            return Sent(None, answer=turn.answer)
        exchange.sending()
        raw: bytes | None = None
        failure: Exception | None = None
        beginning: Beginning | None = None
        try:
            response = original()
            if is_stream(response):
                beginning = _beginning(exchange, response)
                beginning.read()
                failure = beginning.failure
            else:
                raw, failure = read_whole(response)
        except Exception as error:
            if _again(exchange, passage, error):
                continue
            exchange.gave_up(error)
            raise
        except BaseException as error:
            _interrupted(exchange, passage, error)
            raise
        again = (
            _again(exchange, passage, failure)
            if failure is not None
            else _ask_again(exchange, passage, response, raw, beginning)
        )
        if not again:
            return Sent(response, raw, failure, beginning)
        if beginning is not None:
            beginning.close()


async def asend(exchange: Exchange, request: Any, size: int, original: Callable[[], Awaitable[Any]]) -> Sent:
    """As ``send``, in an event loop of asyncio or trio."""
    exchange.refuse_repeat(asked_again=_repeated(request))
    passage = _passage(exchange, size)
    while True:
        turn = exchange.watch.turn(exchange.digest, exchange.nth, exchange.looked_up)
        try:
            while (delay := _delay(turn, passage)) > 0:
                await asleep(delay)
        except TargetError as error:
            return _refused(exchange, error)
        except BaseException as error:
            _interrupted(exchange, passage, error)
            raise
        if turn.answer is not None:
            return Sent(None, answer=turn.answer)
        exchange.sending()
        raw: bytes | None = None
        failure: Exception | None = None
        beginning: Beginning | None = None
        try:
            response = await original()
            if is_stream(response):
                beginning = _beginning(exchange, response)
                await beginning.aread()
                failure = beginning.failure
            else:
                raw, failure = await _aread(response)
        except Exception as error:
            if _again(exchange, passage, error):
                continue
            exchange.gave_up(error)
            raise
        except BaseException as error:
            _interrupted(exchange, passage, error)
            raise
        again = (
            _again(exchange, passage, failure)
            if failure is not None
            else _ask_again(exchange, passage, response, raw, beginning)
        )
        if not again:
            return Sent(response, raw, failure, beginning)
        if beginning is not None:
            await beginning.aclose()


def _delay(turn: Turn, passage: Passage | None) -> float:
    """Seconds to wait: for whoever asks the same, then for the gate; 0.0 once neither keeps the call back."""
    delay = turn.delay()
    if delay > 0 or passage is None:
        return delay
    if turn.answer is not None:
        passage.left()
        return 0.0
    return passage.delay()


def read_whole(response: Any) -> tuple[bytes, Exception | None]:
    """The body of a response as it came, and what cut it short."""
    chunks: list[bytes] = []
    try:
        for chunk in response.stream:
            chunks.append(chunk)  # noqa: PERF402 - what came before a failure is needed as well
    except Exception as error:  # noqa: BLE001 - tried again, or handed on to the reader, whatever it is
        return b"".join(chunks), error
    finally:
        response.stream.close()
    return b"".join(chunks), None


async def _aread(response: Any) -> tuple[bytes, Exception | None]:
    chunks: list[bytes] = []
    try:
        async for chunk in response.stream:
            chunks.append(chunk)  # noqa: PERF401 - what came before a failure is needed as well
    except Exception as error:  # noqa: BLE001 - tried again, or handed on to the reader, whatever it is
        return b"".join(chunks), error
    finally:
        await response.stream.aclose()
    return b"".join(chunks), None


def _beginning(exchange: Exchange, response: Any) -> Beginning:
    # Nobody but a gate decides on another try, and of another's format nothing is known.
    known = exchange.watch.route.gate is not None and exchange.endpoint is None
    return Beginning(response, exchange.path if known else None)


def _passage(exchange: Exchange, size: int) -> Passage | None:
    gate = exchange.watch.route.gate
    if gate is None:
        return None
    body = exchange.wire.body
    model = body.get("model")
    exchange.passage = gate.enter(
        Outgoing(
            url=exchange.url,
            host=host_of(exchange.wire.url),
            model=model if isinstance(model, str) else "",
            size=size,
            bound=output_bound(body),
            words=sum(map(len, exchange.summary.texts)),
        )
    )
    return exchange.passage


def _repeated(request: Any) -> bool:
    """Whether an SDK says that it makes this request once more."""
    headers: Mapping[str, str] = request.headers
    return headers.get(_RETRY_COUNT, "0") != "0"


def _refused(exchange: Exchange, error: TargetError) -> Sent:
    exchange.refused(error)
    return Sent(None, refusal=exchange.error)


def _interrupted(exchange: Exchange, passage: Passage | None, error: BaseException) -> None:
    if passage is not None:
        passage.left()
    exchange.failed(error)


def _again(exchange: Exchange, passage: Passage | None, error: Exception) -> bool:
    if passage is None or not passage.failed(passing=may_pass(error)):
        return False
    exchange.failed(error)
    exchange.again()
    return True


def _ask_again(
    exchange: Exchange, passage: Passage | None, response: Any, raw: bytes | None, beginning: Beginning | None
) -> bool:
    """Whether an answer is a failure that is tried again; the last failure tells the SDK to leave it at that."""
    if passage is None:
        return False
    status = response.status_code
    if beginning is not None:
        reported = beginning.reported
    else:
        reported = reported_in(response, raw or b"", exchange.path) if exchange.endpoint is None else None
    if reported is not None:
        # Not by its status, which was sent before the provider knew.
        again = (
            passage.failed(passing=True)
            if reported.kind == "connection"
            else passage.answered(
                status_of_kind(reported.kind), response.headers, lasting=reported.kind in LASTING
            )
        )
        if again:
            exchange.refused(reported)
            exchange.again()
        return again
    said = unpacked(response, raw or b"") if status >= 400 else b""
    lasting = status >= 400 and status_kind(status, said.decode("utf-8", "replace")) in LASTING
    if passage.answered(status, response.headers, lasting=lasting):
        exchange.answered(status, "", said)
        exchange.again()
        return True
    if status >= 400:
        response.headers["x-should-retry"] = "false"
    elif raw is None:
        passage.begun()
    return False


def made(
    library: ModuleType, exchange: Exchange, request: Any, content: bytes, original: Callable[[], Any]
) -> Any:
    """The library's response to a call that is made now; a streamed one is accounted for as it is read.

    Args:
        library: The HTTP library.
        exchange: The call.
        request: The library's request.
        content: Its body.
        original: Sends it once, and returns the response, not yet read.

    Raises:
        Exception: Whatever ``original`` raised the last time.
    """
    sent = send(exchange, request, len(content), original)
    if sent.beginning is not None:
        exchange.begun()
        sent.response.stream = streams_of(library).tee(
            sent.beginning, _stream_end(library, exchange, sent.response)
        )
        return sent.response
    return _whole(library, exchange, sent)


async def amade(
    library: ModuleType,
    exchange: Exchange,
    request: Any,
    content: bytes,
    original: Callable[[], Awaitable[Any]],
) -> Any:
    """As ``made``, in an event loop of asyncio or trio."""
    sent = await asend(exchange, request, len(content), original)
    if sent.beginning is not None:
        exchange.begun()
        sent.response.stream = streams_of(library).async_tee(
            sent.beginning, _stream_end(library, exchange, sent.response)
        )
        return sent.response
    return _whole(library, exchange, sent)


def served(library: ModuleType, answer: StoredAnswer) -> Any:
    """A stored answer as the library's transport would return it."""
    headers = {"content-type": answer.content_type, CACHE_HEADER: "hit"}
    return build_response(library, answer.status, headers, answer.body.encode("utf-8"))


def _whole(library: ModuleType, exchange: Exchange, sent: Sent) -> Any:
    """Judge a body that was read to its end, and give the reader exactly what came."""
    if sent.answer is not None:
        return served(library, sent.answer)
    if sent.refusal is not None:
        return error_answer(library, str(sent.refusal), "promptfuzz_refused")
    response, raw = sent.response, sent.raw or b""
    if sent.failure is not None:
        exchange.gave_up(sent.failure)
        response.stream = streams_of(library).broken(raw, sent.failure)
        return response
    response.stream = library.ByteStream(raw)
    away = _led_away(exchange, response)
    if away:
        exchange.refused(TargetError(away, kind="malformed", status=response.status_code))
        return response
    body = _decode(library, exchange, response, raw)
    if isinstance(body, TargetError):  # the application's library would unpack it all
        return error_answer(library, str(body), "promptfuzz_refused")
    if body is not None:
        exchange.answered(response.status_code, response.headers.get("content-type", ""), body)
    return response


def _led_away(exchange: Exchange, response: Any) -> str:
    """What is wrong with a redirection, if nobody follows it: the model has to be asked the same where it leads."""
    status = response.status_code
    if not 300 <= status < 400:
        return ""
    location = response.headers.get("location", "")
    if not location:
        return f"HTTP {status}: a redirection that does not say where to."
    there = urljoin(exchange.wire.url, location)
    shown = exchange.redaction.url(there)
    if status in KEEPING and (is_model_path(there) or endpoint_of(there) is not None):
        return (
            f"HTTP {status}: a redirection to {shown}, which the HTTP client does not follow, or which leads round "
            "in a circle."
        )
    return (
        f"HTTP {status}: a redirection to {shown}, where no model is asked: a proxy or the "
        "network's sign-in page may answer in the model's place, or the base URL be wrong."
    )


def _decode(library: ModuleType, exchange: Exchange, response: Any, raw: bytes) -> bytes | TargetError | None:
    """The decoded body; what is wrong with one that is too large, nothing for one that is broken."""
    try:
        return unpacked_body(library, response.headers.get("content-encoding", ""), raw)
    except TargetError as error:
        exchange.refused(error)
        return exchange.error or error
    except Exception as error:  # noqa: BLE001 - the library's DecodingError, a class we cannot name here
        exchange.gave_up(error)
        return None


def _stream_end(
    library: ModuleType, exchange: Exchange, response: Any
) -> Callable[[bytes, BaseException | None, bool], None]:
    def ended(raw: bytes, error: BaseException | None, early: bool) -> None:
        if error is not None:
            exchange.failed(error)
            return
        if not early:
            body = _decode(library, exchange, response, raw)
            if isinstance(body, bytes):
                exchange.answered(response.status_code, STREAM, body)
            return
        body, broken = breaks_in(library, response.headers.get("content-encoding", ""), raw)
        if broken is not None:  # the reader met it, too
            exchange.failed(broken)
        elif exchange.ended(body):
            exchange.answered(response.status_code, STREAM, body)
        else:
            exchange.left()

    return ended


def error_answer(library: ModuleType, message: str, kind: str) -> Any:
    """An answer of ours that no SDK repeats."""
    body = json.dumps({"error": {"message": message, "type": kind}}).encode()
    headers = {"content-type": "application/json", "x-should-retry": "false"}
    return build_response(library, 400, headers, body)


# A model call that is made before the run that needs it asks, and handed to it when it does.
#
# The call goes out the way an earlier call of the application went: through the same transport, to the same URL, with
# the same headers. What was seen of it becomes part of what the run's watch saw, as if the run had made it.


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
        way: RequestRoute,
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
        from concurrent.futures import Future

        self._done: Future[Any] = Future()
        self._once = threading.Lock()

    @property
    def outgoing(self) -> Outgoing:
        """What a gate is told of it before it is made; how many words it has is not counted."""
        url, model = str(self._way.request.url), self._body.get("model")
        return Outgoing(
            url=self.watch.settings.redaction.url(url),
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
        self.watch.settings.store = self.watch.settings.tape = None

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
            self.watch.unclaim()
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
        from concurrent.futures import wait

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
