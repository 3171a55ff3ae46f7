"""Making one model call: it is sent through its gate, and its answer is accounted for when it ends."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from pytest_promptfuzz.errors import TargetError
from pytest_promptfuzz.wire.beginning import STREAM
from pytest_promptfuzz.wire.custom import endpoint_of
from pytest_promptfuzz.wire.endpoints import is_model_path
from pytest_promptfuzz.wire.faults import KEEPING
from pytest_promptfuzz.wire.sending import Sent, asend, send
from pytest_promptfuzz.wire.streams import CACHE_HEADER, breaks_in, build_response, streams_of
from pytest_promptfuzz.wire.unpacking import unpacked_body

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import ModuleType

    from pytest_promptfuzz.wire.answers import StoredAnswer
    from pytest_promptfuzz.wire.exchange import Exchange


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
    if status in KEEPING and (is_model_path(urlsplit(there).path) or endpoint_of(there) is not None):
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
