"""What targets behind an SDK have in common: prepare without it, ask through it."""

from __future__ import annotations

import copy
import importlib
import inspect
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from pytest_promptfuzz.errors import ConfigurationError, TargetError, UsageError, nearest
from pytest_promptfuzz.targets.addresses import address
from pytest_promptfuzz.targets.clients import Clients, retried_below
from pytest_promptfuzz.targets.direct import apost, http_library
from pytest_promptfuzz.targets.failures import failure, hide
from pytest_promptfuzz.targets.formats import parse_answer
from pytest_promptfuzz.targets.formats.reading import parse_json
from pytest_promptfuzz.targets.headers import changes_answers, extra_headers
from pytest_promptfuzz.targets.model import Request, WireRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from typing_extensions import Self

    from pytest_promptfuzz.targets.addresses import Address
    from pytest_promptfuzz.targets.model import Response

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
    path: ClassVar[str]
    example: ClassVar[str]
    key_variable: ClassVar[str]
    custom_headers_variable: ClassVar[str]
    base_url_variable: ClassVar[str]
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
        given = os.environ.get(self.base_url_variable, "").strip()
        return address(given or self.default_base_url, self.base_url_variable)

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
            headers={key: headers[key] for key in sorted(headers) if changes_answers(key)},
        )

    def parse(self, body: dict[str, Any]) -> Response:
        """The response in a stored or fresh answer body.

        Raises:
            TargetError: ``malformed``, ``not-text``, or the provider's own error.
        """
        return parse_answer(self.path, body)

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

    def close(self) -> None:
        """Close the connections; the next call opens them anew."""
        self._clients.close()

    def _given(self) -> dict[str, Any]:
        return self._bound.settings if self._bound is not None else self._settings()

    # What a provider's class says.

    def _build(self, request: Request) -> dict[str, Any]:
        raise NotImplementedError

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
        key = self._given_key(self.key_variable)
        if key is None:
            msg = (
                f"Target {self.name!r} needs a key, and {self.key_variable} is not set. "
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
        lines = os.environ.get(self.custom_headers_variable, "").split("\n")
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
