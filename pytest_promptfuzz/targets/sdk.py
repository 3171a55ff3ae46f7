"""`SdkTarget`: what targets behind a provider's SDK share: clients, base URLs, headers, calls without the SDK."""

from __future__ import annotations

import copy
import importlib
import inspect
import json
import os
import threading
import weakref
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from pytest_promptfuzz.errors import ConfigurationError, TargetError, UsageError, nearest
from pytest_promptfuzz.providers.bodies import parse_json
from pytest_promptfuzz.providers.formats import is_counted
from pytest_promptfuzz.providers.requests import Request, WireRequest, failure, hide

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping
    from contextlib import AbstractAsyncContextManager

    from typing_extensions import Self

    from pytest_promptfuzz.providers.requests import Response
    from pytest_promptfuzz.providers.wire_format import WireFormat


# The SDK clients of one target: shared while they serve, closed when they no longer do.


retried_below: ContextVar[bool] = ContextVar("promptfuzz_retried_below", default=False)
"""Whether failed calls are tried again below the SDK, which is then to leave it at that."""


_held: ContextVar[tuple[_Hold, ...]] = ContextVar("promptfuzz_held", default=())
"""What keeps asynchronous clients between the calls that this context makes."""


@dataclass(slots=True)
class _Lease:
    client: Any
    settings: object
    users: int = 0


@dataclass(slots=True)
class _Hold:
    clients: Clients
    ended: bool = False


class Clients:
    """The clients of one target.

    One synchronous client serves all threads (the SDKs' clients are thread-safe) until ``close()``, or until
    the target is collected. An asynchronous client belongs to one event loop, and nothing tells a library
    when a loop is about to end; so calls of one loop that overlap share a client, and the last closes it, or the end
    of ``held()``, for calls that do not overlap.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._current: _Lease | None = None
        self._finalizer: weakref.finalize[..., Any] | None = None
        self._leases: Any = None

    def sync(self, settings: object, make: Callable[[], Any]) -> Any:
        """The synchronous client made with these settings; one with others is closed.

        Args:
            settings: What the client depends on (key, URL); compared by value.
            make: Makes the client.
        """
        with self._lock:
            if self._current is None or self._current.settings != settings:
                self._drop()
                self._current = _Lease(make(), settings)
                self._finalizer = weakref.finalize(self, self._current.client.close)
            return self._current.client

    def close(self) -> None:
        """Close the synchronous client; the next call makes another."""
        with self._lock:
            self._drop()

    def _drop(self) -> None:
        if self._finalizer is not None:
            self._finalizer()
        self._current = self._finalizer = None

    @asynccontextmanager
    async def lease(self, settings: object, make: Callable[[], Any]) -> AsyncIterator[Any]:
        """An asynchronous client of the running loop, for one call.

        Args:
            settings: What the client depends on (key, URL); compared by value.
            make: Makes the client.
        """
        # Both SDKs stand on anyio; it is there whenever a client can be made.
        from anyio.lowlevel import RunVar

        with self._lock:
            if self._leases is None:
                self._leases = RunVar("promptfuzz-client", None)
        lease = self._leases.get()
        if lease is None or lease.settings != settings:
            await _close_idle(lease)
            lease = _Lease(make(), settings)
            self._leases.set(lease)
        lease.users += 1
        try:
            yield lease.client
        finally:
            lease.users -= 1
            if self._leases.get() is not lease:
                await _close_idle(lease)
            elif not self._is_held():
                await self._leave()

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Keep the running loop's client between the calls of this block, which are made in its context."""
        hold = _Hold(self)
        token = _held.set((*_held.get(), hold))
        try:
            yield
        finally:
            _held.reset(token)
            hold.ended = True  # for calls that were cancelled and are not over yet, in contexts of their own
            if self._leases is not None and not self._is_held():
                await self._leave()

    def _is_held(self) -> bool:
        return any(each.clients is self and not each.ended for each in _held.get())

    async def _leave(self) -> None:
        """Close the running loop's client if it serves nobody."""
        lease = self._leases.get()
        if lease is not None and not lease.users:
            self._leases.set(None)
            await _close_idle(lease)


async def _close_idle(lease: _Lease | None) -> None:
    """Close a client that serves nobody any longer."""
    from anyio import CancelScope

    if lease is not None and not lease.users:
        with CancelScope(shield=True):
            await lease.client.close()


# A call below the SDK: its request, through the HTTP library that it stands on, without loading the SDK.
#
# What the SDK raises is raised here under the same names, so that ``providers.requests.failure`` reads both alike.


# As the SDKs have them.
_CONNECTIONS = {"max_connections": 1000, "max_keepalive_connections": 100, "keepalive_expiry": 5.0}


class APIStatusError(Exception):
    """The provider answered with an error."""

    def __init__(self, status: int, raw: bytes) -> None:
        text = raw.decode("utf-8", "replace").strip()
        self.status_code = status
        self.body: Any = text
        try:
            self.body = json.loads(text)
        except ValueError:
            super().__init__(f"Error code: {status}")
        else:
            super().__init__(f"Error code: {status} - {self.body}")


class APIConnectionError(Exception):
    """No answer came."""


class APITimeoutError(APIConnectionError):
    """No answer came in time."""


class _Client:
    """An HTTP client that is closed as the SDKs' clients are."""

    def __init__(self, library: Any, timeout: float) -> None:
        limits = library.Limits(**_CONNECTIONS)
        self.http = library.AsyncClient(timeout=timeout, limits=limits, follow_redirects=True)

    async def close(self) -> None:
        await self.http.aclose()


def http_library() -> Any:
    """The HTTP library that the SDKs of today stand on; ``None`` where it is not installed."""
    try:
        return importlib.import_module("httpx2")
    except ImportError:
        return None


async def apost(
    clients: Clients,
    library: Any,
    url: str,
    headers: Mapping[str, str],
    body: Mapping[str, Any],
    timeout: float,
) -> tuple[int, bytes]:
    """Post a JSON body; status and body of the answer.

    Args:
        clients: Where overlapping calls of one loop find the same client.
        library: From :func:`http_library`.
        url: Absolute.
        headers: All but those of every HTTP request.
        body: The JSON object.
        timeout: Seconds for one step of the exchange.

    Raises:
        APIStatusError: The answer's status is 400 or more.
        APIConnectionError: There is none.
    """
    content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    async with clients.lease(("direct", timeout), lambda: _Client(library, timeout)) as client:
        try:
            answer = await client.http.post(url, headers=dict(headers), content=content)
        except library.TimeoutException as error:
            raise APITimeoutError("Request timed out.") from error
        except library.TransportError as error:
            raise APIConnectionError("Connection error.") from error
        if answer.status_code >= 400:
            raise APIStatusError(answer.status_code, answer.content)
        return answer.status_code, answer.content


# Headers that a caller adds to requests.


def extra_headers(request: Request, name: str) -> dict[str, str]:
    """The headers that a request to the target ``name`` adds, names in lower case.

    Raises:
        UsageError: They are no dict of strings.
    """
    given = request.parameters.get("extra_headers") or {}
    if not isinstance(given, dict) or not all(
        isinstance(each, str) for pair in given.items() for each in pair
    ):
        msg = f"extra_headers= of a request to {name!r} is not a dict of strings."
        raise UsageError(msg)
    return {key.lower(): value for key, value in given.items()}


# Base URLs: where a model answers, checked, and without credentials.


_DEFAULT_PORTS = {"http": 80, "https": 443}
_QUERY_ALLOWED = frozenset({"api-version"})


class Address(NamedTuple):
    """A base URL taken apart: ``base`` has no query and no slash at its end."""

    base: str
    query: tuple[tuple[str, str], ...]
    host: str

    def url(self, path: str) -> str:
        """The absolute URL of a path under this base, as the SDKs make it."""
        return self.base + path + ("?" + urlencode(self.query) if self.query else "")

    def __str__(self) -> str:
        return self.url("")


def address(url: str, source: str) -> Address:
    """Check a base URL and take it apart.

    Args:
        url: An absolute http or https URL.
        source: Where it was given (an option, a variable), for the error.

    Raises:
        UsageError: For anything else, and for a URL with a password or a key in it, which would end up in
            recordings and reports. The error shows neither.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    if parts.scheme not in _DEFAULT_PORTS or not host:
        shown = f", {url!r}," if "@" not in url and "?" not in url else ""
        msg = (
            f"The base URL of {source}{shown} is not an http or https URL. Write 'http://localhost:11434/v1'."
        )
        raise UsageError(msg)
    if parts.username is not None or parts.password is not None:
        msg = f"The base URL of {source} holds a user name or password. Give keys by environment variable."
        raise UsageError(msg)
    query = tuple(parse_qsl(parts.query, keep_blank_values=True))
    refused = sorted({name for name, _ in query} - _QUERY_ALLOWED)
    if refused or parts.fragment:
        what = ", ".join(refused) if refused else "a fragment"
        msg = f"The base URL of {source} carries {what}; only 'api-version' may stand in its query."
        raise UsageError(msg)
    place = f"[{host}]" if ":" in host else host
    if port is not None and port != _DEFAULT_PORTS[parts.scheme]:
        place = f"{place}:{port}"
    return Address(f"{parts.scheme}://{place}{parts.path.rstrip('/')}", query, host)


DEFAULT_TIMEOUT = 60.0  # seconds for one attempt
DEFAULT_RETRIES = 4

_OPTIONS = ("api_key", "base_url", "max_retries", "parameters", "timeout")


# Arguments of the SDKs' methods that are no keys of the body.
_NOT_IN_BODY = {"extra_headers", "extra_query", "extra_body", "timeout", "user_profile_id", "workspace_id"}


class _Bound(NamedTuple):
    """What a target had from the environment when it was bound."""

    address: Address
    settings: dict[str, Any]
    headers: dict[str, str]


class SdkVariables(NamedTuple):
    """The environment variables that an SDK reads: its key, base URL and additional headers."""

    key: str
    base_url: str
    custom_headers: str


class SdkTarget:
    """A model behind a provider's SDK; see ``OpenAITarget``, ``AnthropicTarget``, ``CompatibleTarget``.

    Args:
        model: The provider's name of the model.
        base_url: Where it answers; by default what the SDK's own environment variable says, else the
            provider.
        api_key: The key; by default from the SDK's own environment variable, read when a call is made.
        timeout: Seconds for one attempt, more than 0.
        max_retries: How often the SDK tries again after 408, 409, 429, 5xx and lost connections, 0 or more. In a
            session, whose limits try again below the SDK, it counts for nothing.
        parameters: Body parameters of every request (``temperature`` ...); a request's own win.

    Raises:
        UsageError: For an empty model name, or an argument of the wrong type or out of range.
    """

    scheme: ClassVar[str]
    sdk: ClassVar[str]
    wire_format: ClassVar[WireFormat]
    path: ClassVar[str]
    example: ClassVar[str]
    variables: ClassVar[SdkVariables]
    default_base_url: ClassVar[str]

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        max_retries: int = DEFAULT_RETRIES,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(model, str) or not model.strip() or not model.isprintable():
            msg = (
                f"Target {self.scheme!r} names no model. Write '{self.scheme}:MODEL', as in {self.example!r}."
            )
            raise UsageError(msg)
        self.model = model.strip()
        if (
            isinstance(timeout, bool)
            or not isinstance(timeout, (int, float))
            or not 0 < timeout < float("inf")
        ):
            msg = f"timeout={timeout!r} of target {self.name!r} is not a number of seconds above 0."
            raise UsageError(msg)
        if isinstance(max_retries, bool) or not isinstance(max_retries, int) or max_retries < 0:
            msg = f"max_retries={max_retries!r} of target {self.name!r} is not a whole number of 0 or more."
            raise UsageError(msg)
        self.timeout = float(timeout)
        self.max_retries = max_retries
        self.parameters = dict(parameters or {})
        self._base_url = None if base_url is None else address(base_url, f"target {self.scheme!r}")
        self._api_key = api_key
        self._clients = Clients()
        self._bound: _Bound | None = None

    @classmethod
    def from_name(cls, name: str, **options: Any) -> SdkTarget:
        """The target that a name such as ``openai:gpt-5-mini`` means; options as for the class.

        Raises:
            UsageError: For an option that the class does not take, and as the class does.
        """
        for option in options:
            if option not in _OPTIONS:
                msg = f"Target {cls.scheme!r} has no option {option!r}. {nearest(option, _OPTIONS)}"
                raise UsageError(msg)
        return cls(name.partition(":")[2], **options)

    @property
    def name(self) -> str:
        """How the target is named in options and reports, ``openai:gpt-5-mini``."""
        return f"{self.scheme}:{self.model}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def address(self) -> Address:
        """Where the model answers, the environment as it is now.

        Raises:
            UsageError: If the environment variable holds no usable URL.
        """
        if self._bound is not None:
            return self._bound.address
        if self._base_url is not None:
            return self._base_url
        given = os.environ.get(self.variables.base_url, "").strip()
        return address(given or self.default_base_url, self.variables.base_url)

    def bound(self) -> Self:
        """The target with address, key and headers as the environment has them now, whatever it has later.

        Raises:
            UsageError: The environment holds no usable URL.
            ConfigurationError: There is no key.
        """
        target = copy.copy(self)
        target._bound = _Bound(self.address(), self._settings(), self._custom_headers())  # noqa: SLF001 - a copy
        return target

    def bound_like(self, other: object) -> bool:
        """Whether another bound target asks the same model at the same address, with the same key and headers."""
        return type(self) is type(other) and vars(self) == vars(other)

    def prepare(self, request: Request) -> WireRequest:
        """The wire request, as the SDK would send it; needs neither the SDK nor a key.

        Raises:
            UsageError: For messages or parameters that cannot be sent.
        """
        headers = {**self._custom_headers(), **self._version_headers(), **extra_headers(request, self.name)}
        return WireRequest(
            url=self.address().url(self.path),
            body=self._build(Request(request.messages, {**self.parameters, **request.parameters})),
            headers={key: headers[key] for key in sorted(headers) if is_counted(key)},
        )

    def parse(self, body: dict[str, Any]) -> Response:
        """The response in a stored or fresh answer body.

        Raises:
            TargetError: ``malformed``, ``not-text``, or the provider's own error.
        """
        return self.wire_format.parse(body)

    def send(self, request: Request) -> dict[str, Any]:
        """Ask, and return the raw answer body.

        Raises:
            UsageError: For a request that cannot be sent.
            ConfigurationError: If the key or the SDK is missing.
            TargetError: For what went wrong on the wire.
        """
        wire = self.prepare(request)
        settings = {**self._given(), "max_retries": 0 if retried_below.get() else self.max_retries}
        sdk = self._import()
        try:
            client = self._clients.sync(settings, lambda: self._client(sdk, settings, asynchronous=False))
            create = self._method(client)
            answer = create(**self._arguments(create, wire, request))
        except Exception as error:
            self._translate(error, settings)
            raise
        return self._body(answer.http_response.content, answer.http_response.status_code, settings)

    async def asend(self, request: Request) -> dict[str, Any]:
        """Ask without blocking the event loop, and return the raw answer body; otherwise as ``send``.

        Where the SDK would add nothing (its retries are made below it), the call is made without loading it.
        """
        wire = self.prepare(request)
        settings = {**self._given(), "max_retries": 0 if retried_below.get() else self.max_retries}
        headers = self._sdk_headers(settings) if retried_below.get() else None
        library = http_library() if headers is not None else None
        sdk = self._import() if library is None else None
        try:
            if library is not None and headers is not None:
                headers |= extra_headers(request, self.name)
                status, raw = await apost(self._clients, library, wire.url, headers, wire.body, self.timeout)
                return self._body(raw, status, settings)
            made = self._clients.lease(settings, lambda: self._client(sdk, settings, asynchronous=True))
            async with made as client:
                create = self._method(client)
                answer = await create(**self._arguments(create, wire, request))
        except Exception as error:
            self._translate(error, settings)
            raise
        return self._body(answer.http_response.content, answer.http_response.status_code, settings)

    @contextmanager
    def client(self) -> Iterator[Any]:
        """The SDK's client for what is no model call (files, batches); it tries nothing again. Fails as ``send``."""
        settings = {**self._settings(), "max_retries": 0}
        with self._client(self._import(), settings, asynchronous=False) as client:
            try:
                yield client
            except Exception as error:
                self._translate(error, settings)
                raise

    def held_connections(self) -> AbstractAsyncContextManager[None]:
        """Keep the connections of the running event loop between calls, until the block ends."""
        return self._clients.held()

    def close(self) -> None:
        """Close the connections; the next call opens them anew."""
        self._clients.close()

    def _given(self) -> dict[str, Any]:
        return self._bound.settings if self._bound is not None else self._settings()

    # What a provider's class says.

    def _build(self, request: Request) -> dict[str, Any]:
        return self.wire_format.build_body(request, self.model)

    def _method(self, client: Any) -> Callable[..., Any]:
        """The SDK's method that asks, in the variant that hands out the raw answer."""
        raise NotImplementedError

    def _client(self, sdk: Any, settings: dict[str, Any], *, asynchronous: bool) -> Any:
        raise NotImplementedError

    def _version_headers(self) -> dict[str, str]:
        return {}

    def _sdk_headers(self, settings: dict[str, Any]) -> dict[str, str] | None:  # noqa: ARG002 - others do
        """The headers that the SDK sends, but for what names itself; ``None`` if only the SDK can tell."""
        return None

    def _settings(self) -> dict[str, Any]:
        """What the client is made with: key and URL.

        Raises:
            ConfigurationError: If there is no key.
        """
        where = self.address()
        return {"api_key": self._key(), "base_url": where.base, "default_query": dict(where.query)}

    # What all share.

    def _key(self) -> str:
        key = self._given_key(self.variables.key)
        if key is None:
            msg = (
                f"Target {self.name!r} needs a key, and {self.variables.key} is not set. "
                f"Set it, or use a target without a key ('simulated', 'compatible:MODEL@URL')."
            )
            raise ConfigurationError(msg)
        return key

    def _given_key(self, *variables: str) -> str | None:
        sources = [("api_key=", self._api_key), *((each, os.environ.get(each)) for each in variables)]
        for source, value in sources:
            key = (value or "").strip()
            if not key:
                continue
            # A header cannot carry anything else, and the HTTP library would repeat the key in its error.
            if not (key.isascii() and key.isprintable()):
                msg = f"The key of target {self.name!r}, from {source}, holds characters that no key has."
                raise ConfigurationError(msg)
            return key
        return None

    def _import(self) -> Any:
        try:
            return importlib.import_module(self.sdk)
        except ImportError as error:
            msg = (
                f"Target {self.name!r} needs the package {self.sdk!r}, which cannot be imported ({error}). "
                f"Install it: pip install 'pytest-promptfuzz[{self.sdk}]'"
            )
            raise ConfigurationError(msg) from None

    def _arguments(self, create: Callable[..., Any], wire: WireRequest, request: Request) -> dict[str, Any]:
        known = set(inspect.signature(create).parameters) - _NOT_IN_BODY
        named = {key: value for key, value in wire.body.items() if key in known}
        # What this version of the SDK has no argument for still goes into the body.
        others = {key: value for key, value in wire.body.items() if key not in known}
        headers = {**self._version_headers(), **extra_headers(request, self.name)}
        return {
            **named,
            "extra_body": others or None,
            "extra_headers": headers or None,
            "timeout": self.timeout,
        }

    def _custom_headers(self) -> dict[str, str]:
        if self._bound is not None:
            return self._bound.headers
        lines = os.environ.get(self.variables.custom_headers, "").split("\n")
        pairs = (line.partition(":") for line in lines if ":" in line)
        return {name.strip().lower(): value.strip() for name, _, value in pairs}

    def _secrets(self, settings: dict[str, Any]) -> list[str]:
        return [value for key, value in settings.items() if key in {"api_key", "auth_token"} and value]

    def _translate(self, error: Exception, settings: dict[str, Any]) -> None:
        found = failure(
            error,
            name=self.name,
            host=self.address().host,
            retries=settings["max_retries"],
            secrets=self._secrets(settings),
        )
        if found is not error:
            # The SDK's own error holds the request, and that the key.
            raise found from None

    def _body(self, raw: bytes, status: int, settings: dict[str, Any]) -> dict[str, Any]:
        try:
            body = parse_json(raw)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            start = hide(raw[:80].decode("utf-8", "replace"), self._secrets(settings))
            msg = (
                f"{self.name}: the answer of {self.address().host} is malformed: "
                f"expected a JSON object, found {start!r}."
            )
            raise TargetError(msg, kind="malformed", status=status)
        return body
