"""The patched transports: what happens to one HTTP request while a trial is watched."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import TargetError
from pytest_promptfuzz.wire import exchange as exchanges
from pytest_promptfuzz.wire.calls import Fault
from pytest_promptfuzz.wire.custom import endpoint_of, line_for
from pytest_promptfuzz.wire.endpoints import is_exempt, is_json, is_model_path
from pytest_promptfuzz.wire.faults import KEEPING
from pytest_promptfuzz.wire.in_flight import passed_on, resent
from pytest_promptfuzz.wire.making import amade, error_answer, made, served
from pytest_promptfuzz.wire.network_guard import following, keep_local, notice
from pytest_promptfuzz.wire.simulating import simulated
from pytest_promptfuzz.wire.streams import CACHE_HEADER, build_response
from pytest_promptfuzz.wire.trace import Passed, Way
from pytest_promptfuzz.wire.unpacking import unpacked_body
from pytest_promptfuzz.wire.watch import Watch, attributed, likely

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from types import ModuleType


# Of a request: the address and the headers of the one that was led here by redirections. httpx hands extensions on.
_LED_FROM = "promptfuzz_led_from"

_UNATTRIBUTED = (
    "A model call came from a thread that had lost its context while several trials ran at once, so it is "
    "not known whose it is. Run the trials in sequence, or start the thread's work with "
    "contextvars.copy_context().run."
)


def patch_sync(library: ModuleType, original: Callable[..., Any]) -> Callable[..., Any]:
    """``HTTPTransport.handle_request`` with model calls watched."""

    def send(transport: Any, request: Any) -> Any:
        with following():
            return original(transport, request)

    @functools.wraps(original)
    def handle_request(self: Any, request: Any) -> Any:
        if not _is_model_call(request):
            _pass(library, request, self)
            return send(self, request)
        watch, others = attributed()
        if watch is None:
            return _refuse(library, request, others) if others else send(self, request)
        content = _plain(library, request, request.read())
        exchange = _begun(watch, request, content)
        if exchange is None:
            keep_local(library, request, self)
            return send(self, request)
        _trace(exchange, content, request, Way(library, self, request, send))
        asked = request
        if exchange.rewritten:
            request, content = resent(library, request, exchange.wire.body)
        early = watch.early.pop((exchange.digest, exchange.nth), None)
        response = early.adopt(exchange, library) if early is not None else None
        if response is None:
            response = _without_network(library, exchange, request, content)
        if response is None:
            response = made(library, exchange, request, content, lambda: send(self, request))
        return _led_on(asked, response)

    return handle_request


def patch_async(
    library: ModuleType, original: Callable[..., Awaitable[Any]]
) -> Callable[..., Awaitable[Any]]:
    """``AsyncHTTPTransport.handle_async_request`` with model calls watched."""

    async def send(transport: Any, request: Any) -> Any:
        with following():
            return await original(transport, request)

    @functools.wraps(original)
    async def handle_async_request(self: Any, request: Any) -> Any:
        if not _is_model_call(request):
            _pass(library, request, self)
            return await send(self, request)
        watch, others = attributed()
        if watch is None:
            return _refuse(library, request, others) if others else await send(self, request)
        content = _plain(library, request, await request.aread())
        exchange = _begun(watch, request, content)
        if exchange is None:
            keep_local(library, request, self)
            return await send(self, request)
        _trace(exchange, content, request, None)
        asked = request
        if exchange.rewritten:
            request, content = resent(library, request, exchange.wire.body)
        response = _without_network(library, exchange, request, content)
        if response is None:
            response = await amade(library, exchange, request, content, lambda: send(self, request))
        return _led_on(asked, response)

    return handle_async_request


def _is_model_call(request: Any) -> bool:
    return is_json(request.headers) and _goes_to_a_model(request)


def _goes_to_a_model(request: Any) -> bool:
    url = request.url
    if request.method != "POST" or is_exempt(url.host, url.port):
        return False
    return is_model_path(url.path) or endpoint_of(str(url)) is not None


def _pass(library: ModuleType, request: Any, transport: Any) -> None:
    """Let through what is no model call, and say of it what should be known."""
    keep_local(library, request, transport)
    url, method, line = request.url, request.method, ""
    port = url.port or (443 if url.scheme == "https" else 80)
    if _goes_to_a_model(request):
        method = "a request that cannot be read"
        if (watch := likely()) is not None:
            passed_on(watch, str(url), request.headers)
    elif method == "POST" and is_json(request.headers):
        line = _endpoint_line(request)
    notice(library.__name__, method, url.host, port, url.path, line)


def _endpoint_line(request: Any) -> str:
    """The line of ``promptfuzz_endpoints`` that would make a request followed; empty where its body cannot be read."""
    try:
        body = json.loads(request.content)
    except Exception:  # noqa: BLE001 - not read yet (the library's RequestNotRead), encoded, or no JSON
        return ""
    return line_for(request.url.host, request.url.path, body) if isinstance(body, dict) else ""


def _plain(library: ModuleType, request: Any, content: bytes) -> bytes:
    """A request's body without its content encoding; as it is where that cannot be undone."""
    try:
        return unpacked_body(library, request.headers.get("content-encoding", ""), content)
    except Exception:  # noqa: BLE001 - the library's DecodingError: whoever reads the body says that it is none
        return content


def _begun(watch: Watch, request: Any, content: bytes) -> exchanges.Exchange | None:
    """The exchange of a request; of one that was led here by a redirection, that of the request before it.

    So a recording holds the answer under what the application asks, and a replay finds it there.
    """
    led_from = request.extensions.get(_LED_FROM)
    url, headers = (str(request.url), request.headers) if led_from is None else led_from
    exchange = exchanges.begin(watch, url, headers, content)
    if exchange is not None and led_from is not None:
        watch.led_on(exchange.digest, exchange.nth)
    return exchange


def _led_on(request: Any, response: Any) -> Any:
    """The response; where it is a redirection, the request that follows it will know where it comes from."""
    if response.status_code in KEEPING:
        request.extensions.setdefault(_LED_FROM, (str(request.url), request.headers))
    return response


def _trace(exchange: exchanges.Exchange, content: bytes, request: Any, way: Way | None) -> None:
    trace = exchange.watch.trace
    if trace is not None and _LED_FROM not in request.extensions:
        body = json.loads(content) if exchange.rewritten else exchange.wire.body
        trace.add(Passed(exchange, body, way))


def _without_network(library: ModuleType, exchange: exchanges.Exchange, request: Any, content: bytes) -> Any:
    """The answer from the store or the simulated model; ``None`` if the provider has to be asked."""
    try:
        answer = exchange.stored()
        if answer is not None:
            return served(library, answer)
        refusal = exchange.sealed()
        if refusal is not None:
            return error_answer(library, str(refusal), "promptfuzz_sealed")
        backend = exchange.watch.simulated
        if backend is None:
            return None
        status, given, body = simulated(exchange, backend.model, request.method, content, request.headers)
    except TargetError as error:
        exchange.refused(error)
        return error_answer(library, str(exchange.error), "promptfuzz_refused")
    except BaseException as error:
        exchange.failed(error)
        raise
    exchange.answered(status, given.get("content-type", ""), body)
    return build_response(library, status, {**given, CACHE_HEADER: "simulated"}, body)


def _refuse(library: ModuleType, request: Any, running: tuple[Watch, ...]) -> Any:
    """Answer a call that cannot be attributed: no SDK repeats it, and each trial it may be of says so."""
    said = note_unattributed(running, str(request.url))
    return error_answer(library, said, "promptfuzz_unattributed")


def note_unattributed(running: Iterable[Watch], url: str) -> str:
    """Let each trial that a call may be of know that it cannot be attributed; what is to be said of it."""
    for watch in running:
        watch.lost_context()
        watch.fault(Fault("unattributed", None, f"{_UNATTRIBUTED} ({watch.redaction.url(url)})", ""))
    return _UNATTRIBUTED
