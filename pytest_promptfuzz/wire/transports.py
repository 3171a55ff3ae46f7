"""The interceptor: patches HTTP transports under the SDKs, and says what becomes of one request of a run."""

from __future__ import annotations

import contextlib
import functools
import importlib.machinery
import importlib.util
import json
import sys
import threading
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_promptfuzz.connections import following, is_exempt
from pytest_promptfuzz.errors import TargetError
from pytest_promptfuzz.files import unpacked_body
from pytest_promptfuzz.providers.custom_protocol import line_for
from pytest_promptfuzz.providers.formats import endpoint_of, is_json, is_model_path, spoken
from pytest_promptfuzz.providers.requests import Request
from pytest_promptfuzz.wire import exchange as exchanges
from pytest_promptfuzz.wire.calls import KEEPING, WireFault
from pytest_promptfuzz.wire.exchange import passed_on, resent
from pytest_promptfuzz.wire.network_guard import (
    guarding,
    keep_local,
    notice,
    patch_aiohttp,
    patch_by_address,
    patch_getaddrinfo,
    patch_gethostbyname,
    patch_loop_connect,
    patch_loop_lookup,
    patch_process,
    patch_putrequest,
    patch_thread,
    patch_tunnel,
    patch_websocket,
)
from pytest_promptfuzz.wire.watch import Watch, attributed, likely

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
    from types import ModuleType

    from pytest_promptfuzz.providers.formats import ConfiguredEndpoint, Steps
    from pytest_promptfuzz.wire.exchange import Exchange
    from pytest_promptfuzz.wire.traces import RequestRoute


# What the simulated model answers in a provider's place: in the provider's protocol, or in a configured one.


NOT_SIMULATED = "not-simulated"


def simulated(
    exchange: Exchange, model: Any, method: str, content: bytes, headers: Mapping[str, str]
) -> tuple[int, Mapping[str, str], bytes]:
    """Status, headers and body of the simulated model's answer.

    Args:
        exchange: The call.
        model: The simulated model.
        method: Of the request.
        content: Its body, without content encoding.
        headers: Its headers.

    Raises:
        TargetError: ``not-simulated``: a configured protocol that does not say where its answers have their text.
    """
    from pytest_promptfuzz.providers.router import answer_http

    if exchange.endpoint is not None:
        return _configured(exchange.endpoint, exchange.wire.body, model, exchange.sample)
    status, given, payload = answer_http(
        method, exchange.path, content, model, headers=dict(headers), sample=exchange.sample
    )
    return status, given, payload if isinstance(payload, bytes) else b"".join(payload)


def _configured(
    endpoint: ConfiguredEndpoint, body: dict[str, Any], model: Any, sample: int
) -> tuple[int, Mapping[str, str], bytes]:
    from pytest_promptfuzz.providers.bodies import compact

    if endpoint.answer is None:
        raise TargetError(
            f"The simulated model does not know where an answer of {endpoint.glob} has its text.",
            kind=NOT_SIMULATED,
        )
    if body.get("stream") is True:
        raise TargetError(f"The simulated model does not stream as {endpoint.glob} does.", kind=NOT_SIMULATED)
    messages = tuple(
        {"role": each.role, "content": "\n".join(each.texts)} for each in spoken(body, more=endpoint.places)
    )
    if not messages:
        raise TargetError(f"The request to {endpoint.glob} holds no text at its paths.", kind=NOT_SIMULATED)
    response = model.answer(Request(messages), sample=sample)
    answer = compact(_holding(response.text, endpoint.answer)).encode()
    return 200, {"content-type": "application/json"}, answer


def _holding(text: str, steps: Steps) -> Any:
    """The smallest JSON value in which a path leads to a text."""
    value: Any = text
    for kind, name in reversed(steps):
        if kind == "key":
            value = {name: value}
        else:
            value = [*[None] * (int(name) if kind == "index" and int(name) > 0 else 0), value]
    return value


# Of a request: the address and the headers of the one that was led here by redirections. httpx hands extensions on.
_LED_FROM = "promptfuzz_led_from"

_UNATTRIBUTED = (
    "A model call came from a thread that had lost its context while several trials ran at once, so it is "
    "not known whose it is. Run the trials in sequence, or start the thread's work with "
    "contextvars.copy_context().run."
)


def patch_sync(library: ModuleType, original: Callable[..., Any]) -> Callable[..., Any]:
    """``HTTPTransport.handle_request`` with model calls watched."""
    from pytest_promptfuzz.wire.live_calls import made
    from pytest_promptfuzz.wire.traces import RequestRoute

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
        _trace(exchange, content, request, RequestRoute(library, self, request, send))
        asked = request
        if exchange.rewritten:
            request, content = resent(library, request, exchange.wire.body)
        early = watch.route.early.pop((exchange.digest, exchange.nth), None)
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
    from pytest_promptfuzz.wire.live_calls import amade

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


def _trace(exchange: exchanges.Exchange, content: bytes, request: Any, way: RequestRoute | None) -> None:
    trace = exchange.watch.route.trace
    if trace is not None and _LED_FROM not in request.extensions:
        body = json.loads(content) if exchange.rewritten else exchange.wire.body
        from pytest_promptfuzz.wire.traces import Passed

        trace.add(Passed(exchange, body, way))


def _without_network(library: ModuleType, exchange: exchanges.Exchange, request: Any, content: bytes) -> Any:
    """The answer from the store or the simulated model; ``None`` if the provider has to be asked."""
    from pytest_promptfuzz.wire.live_calls import error_answer, served
    from pytest_promptfuzz.wire.streams import CACHE_HEADER, build_response

    try:
        answer = exchange.stored()
        if answer is not None:
            return served(library, answer)
        refusal = exchange.sealed()
        if refusal is not None:
            return error_answer(library, str(refusal), "promptfuzz_sealed")
        backend = exchange.watch.route.simulated
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
    from pytest_promptfuzz.wire.live_calls import error_answer

    said = note_unattributed(running, str(request.url))
    return error_answer(library, said, "promptfuzz_unattributed")


def note_unattributed(running: Iterable[Watch], url: str) -> str:
    """Let each trial that a call may be of know that it cannot be attributed; what is to be said of it."""
    for watch in running:
        watch.lost_context()
        watch.fault(
            WireFault("unattributed", None, f"{_UNATTRIBUTED} ({watch.settings.redaction.url(url)})", "")
        )
    return _UNATTRIBUTED


# Patching and unpatching the HTTP transports under the SDKs.


_Methods: TypeAlias = tuple[tuple[str, str, "Callable[..., Any]"], ...]
_TRANSPORTS: _Methods = (
    ("HTTPTransport", "handle_request", patch_sync),
    ("AsyncHTTPTransport", "handle_async_request", patch_async),
)
# Class (none: a function of the module), method and patch by module: transports that are followed, and what is noticed.
_METHODS: dict[str, _Methods] = {
    "httpx2": _TRANSPORTS,
    "httpx": _TRANSPORTS,
    "http.client": (
        ("HTTPConnection", "putrequest", patch_putrequest),
        ("HTTPConnection", "set_tunnel", patch_tunnel),
    ),
    "aiohttp.client": (("ClientSession", "_request", patch_aiohttp),),
    "websockets.client": (("ClientProtocol", "__init__", patch_websocket),),
    "threading": (("Thread", "start", patch_thread),),
    "multiprocessing.process": (("BaseProcess", "start", patch_process),),
    "socket": (
        ("", "getaddrinfo", patch_getaddrinfo),
        ("", "gethostbyname", patch_gethostbyname),
        *(("socket", method, patch_by_address) for method in ("connect", "connect_ex", "sendto")),
    ),
    "asyncio.base_events": (("BaseEventLoop", "getaddrinfo", patch_loop_lookup),),
    "asyncio.proactor_events": (("BaseProactorEventLoop", "sock_connect", patch_loop_connect),),
}

_lock = threading.RLock()
_depth = 0
_patched: list[tuple[Any, str, Any, Any]] = []


@contextlib.contextmanager
def intercepting() -> Iterator[None]:
    """Watch model calls for the length of the block, whatever client makes them.

    The transports of httpx2 and httpx are patched on their classes, so clients made before the block are
    seen as well as later ones; a library not yet loaded is patched when somebody imports it. What cannot be
    followed is noticed by the network guard. Blocks may be nested and overlap; the last one to end restores
    everything. Outside ``watching(watch)`` all requests pass through.
    """
    global _depth  # noqa: PLW0603 - the transports are process-wide, so is the count of their patchers
    with _lock:
        _depth += 1
        if _depth == 1:
            for name in _METHODS:
                if name in sys.modules:
                    _patch(name, sys.modules[name])
            sys.meta_path.insert(0, _finder)
    try:
        with guarding():
            yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                sys.meta_path.remove(_finder)
                _restore()


def _patch(name: str, library: ModuleType) -> None:
    for class_name, method, patch in _METHODS[name]:
        holder: Any = getattr(library, class_name, None) if class_name else library
        # Another tool may have put a class of its own there (vcrpy does), which inherits the method.
        homes = holder.__mro__ if isinstance(holder, type) else [holder]
        owner = next((each for each in homes if method in vars(each)), None) if holder is not None else None
        # httpx may be an alias of httpx2: the same class under two names.
        if owner is None or any(each is owner and name == method for each, name, *_ in _patched):
            continue
        original = vars(owner)[method]
        replacement = patch(library, original)
        try:
            setattr(owner, method, replacement)
        except TypeError:  # a class that is written in C: what inherits from it is patched
            owner, original = holder, None
            setattr(owner, method, replacement)
        _patched.append((owner, method, original, replacement))


def _restore() -> None:
    while _patched:
        transport, method, original, replacement = _patched.pop()
        # Somebody who patched over us holds our function, which is inert outside a watch: leave both.
        if transport.__dict__.get(method) is replacement:
            if original is None:
                delattr(transport, method)
            else:
                setattr(transport, method, original)


class _LateImport:
    """Finds nothing itself: lets the others find the library, and patches it once it is loaded."""

    def __init__(self) -> None:
        self._searching = threading.local()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        del path, target
        if name not in _METHODS or getattr(self._searching, "name", None) == name:
            return None
        self._searching.name = name
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._searching.name = None
        if spec is not None and spec.loader is not None:
            spec.loader = _PatchingLoader(spec.loader)  # type: ignore[assignment]  # it delegates
        return spec


class _PatchingLoader:
    """A loader that patches the module it has loaded, and leaves no trace on it."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        with _lock:
            if _depth:
                _patch(module.__name__, module)


_finder: Any = _LateImport()
