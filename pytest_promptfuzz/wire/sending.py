"""Sending a model call through its gate: waiting, asking, asking again.

What an SDK does above is told when to stop: the last failure carries ``x-should-retry: false``, and an SDK that asks
again after a lost connection gets the same exception without a call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.clocks import asleep, sleep
from pytest_promptfuzz.errors import TargetError
from pytest_promptfuzz.targets.failures import LASTING, status_kind
from pytest_promptfuzz.wire.beginning import Beginning, is_stream, reported_in, unpacked
from pytest_promptfuzz.wire.endpoints import host_of
from pytest_promptfuzz.wire.faults import may_pass, status_of_kind
from pytest_promptfuzz.wire.gate import Outgoing, output_bound

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from pytest_promptfuzz.wire.answers import StoredAnswer
    from pytest_promptfuzz.wire.claims import Turn
    from pytest_promptfuzz.wire.exchange import Exchange
    from pytest_promptfuzz.wire.gate import Passage

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
    known = exchange.watch.gate is not None and exchange.endpoint is None
    return Beginning(response, exchange.path if known else None)


def _passage(exchange: Exchange, size: int) -> Passage | None:
    gate = exchange.watch.gate
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
            words=sum(map(len, exchange.texts)),
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
