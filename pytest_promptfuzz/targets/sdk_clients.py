"""The targets behind SDKs: OpenAI, OpenAI Responses, compatible servers, embeddings, Anthropic; their keys."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from pytest_promptfuzz.errors import ConfigurationError, UsageError
from pytest_promptfuzz.providers.anthropic_messages import ANTHROPIC_MESSAGES
from pytest_promptfuzz.providers.openai_chat import OPENAI_CHAT
from pytest_promptfuzz.providers.openai_embeddings import OPENAI_EMBEDDINGS
from pytest_promptfuzz.providers.openai_embeddings import PATH as EMBEDDINGS_PATH
from pytest_promptfuzz.providers.openai_responses import OPENAI_RESPONSES
from pytest_promptfuzz.providers.requests import Request
from pytest_promptfuzz.targets.sdk import SdkTarget, SdkVariables
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_promptfuzz.providers.wire_format import WireFormat
    from pytest_promptfuzz.targets.sdk import Address


# What the SDK reads beside the key.
_ACCOUNT = {"openai-organization": "OPENAI_ORG_ID", "openai-project": "OPENAI_PROJECT_ID"}


class OpenAITarget(SdkTarget):
    """``openai:MODEL``: chat completions.

    The environment is the SDK's own: ``OPENAI_API_KEY``, ``OPENAI_BASE_URL``.
    """

    scheme = "openai"
    sdk = "openai"
    wire_format: ClassVar[WireFormat] = OPENAI_CHAT
    path = wire_format.path
    example = "openai:gpt-5-mini"
    variables: ClassVar[SdkVariables] = SdkVariables(
        "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_CUSTOM_HEADERS"
    )
    default_base_url = "https://api.openai.com/v1"

    def _method(self, client: Any) -> Callable[..., Any]:
        create: Callable[..., Any] = client.chat.completions.with_raw_response.create
        return create

    def _sdk_headers(self, settings: dict[str, Any]) -> dict[str, str] | None:
        headers = {
            "authorization": f"Bearer {settings['api_key']}",
            "accept": "application/json",
            "content-type": "application/json",
            "user-agent": "pytest-promptfuzz",
        }
        for header, variable in _ACCOUNT.items():
            if os.environ.get(variable):
                headers[header] = os.environ[variable]
        own = settings.get("default_headers", {})
        return headers | self._custom_headers() | {name.lower(): value for name, value in own.items()}

    def _client(self, sdk: Any, settings: dict[str, Any], *, asynchronous: bool) -> Any:
        make = sdk.AsyncOpenAI if asynchronous else sdk.OpenAI
        return make(**settings, timeout=self.timeout)


class OpenAIResponsesTarget(OpenAITarget):
    """``openai-responses:MODEL``: the Responses API; otherwise as ``OpenAITarget``."""

    scheme = "openai-responses"
    wire_format = OPENAI_RESPONSES
    path = wire_format.path
    example = "openai-responses:gpt-5-mini"

    def _method(self, client: Any) -> Callable[..., Any]:
        create: Callable[..., Any] = client.responses.with_raw_response.create
        return create


# Any server that speaks OpenAI's chat completions: Ollama, vLLM, LM Studio, Azure, a gateway.


_NAME = expression(r"(?P<model>[^@].*?)@(?P<url>[a-z][a-z0-9+.-]*://.*)", re.IGNORECASE | re.DOTALL)


class CompatibleTarget(OpenAITarget):
    """``compatible:MODEL@BASE_URL``: chat completions of another server, through OpenAI's SDK.

    Examples: ``compatible:llama3.2@http://localhost:11434/v1`` (Ollama),
    ``compatible:my-deployment@https://NAME.openai.azure.com/openai/v1`` (Azure).

    The key is optional: ``api_key=``, else ``PROMPTFUZZ_API_KEY``, else for hosts under ``azure.com``
    ``AZURE_OPENAI_API_KEY``. ``OPENAI_API_KEY`` is never sent to another host. The base URL may carry Azure's
    ``?api-version=...``.
    """

    scheme = "compatible"
    example = "compatible:llama3.2@http://localhost:11434/v1"
    variables = OpenAITarget.variables._replace(key="PROMPTFUZZ_API_KEY")

    def __init__(self, model: str, *, base_url: str, **options: Any) -> None:
        super().__init__(model, base_url=base_url, **options)

    @classmethod
    def from_name(cls, name: str, **options: Any) -> CompatibleTarget:
        """The target that ``compatible:MODEL@BASE_URL`` means.

        Options are those of the class; ``base_url=`` may stand in for the part after ``@``.

        Raises:
            UsageError: If the model or the URL is missing.
        """
        rest = name.partition(":")[2]
        found = _NAME.fullmatch(rest)
        if found:
            return cls(found["model"], **{"base_url": found["url"], **options})
        if rest and not rest.startswith("@") and options.get("base_url"):
            return cls(rest, **options)
        msg = f"Target 'compatible' needs a model and a base URL. Write {cls.example!r}."
        raise UsageError(msg)

    @property
    def name(self) -> str:
        """How the target is named in options and reports, ``compatible:MODEL@BASE_URL``."""
        return f"compatible:{self.model}@{self.address()}"

    def _settings(self) -> dict[str, Any]:
        where = self.address()
        settings: dict[str, Any] = {"base_url": where.base, "default_query": dict(where.query)}
        azure = _is_azure(where)
        key = self._given_key(self.variables.key, *(["AZURE_OPENAI_API_KEY"] if azure else []))
        # The SDK insists on a key; servers without one ignore it.
        settings["api_key"] = key or "not-needed"
        if key and azure:
            # Azure takes a resource's key in a header of its own.
            settings["default_headers"] = {"api-key": key}
        return settings


def _is_azure(where: Address) -> bool:
    return where.host.endswith(".azure.com")


# Embeddings of OpenAI and of servers that speak its protocol, as targets: asked, stored and limited like any other.


_HOW = "Write 'openai:text-embedding-3-small' or 'compatible:MODEL@URL'"


class OpenAIEmbeddingsTarget(OpenAITarget):
    """``openai:MODEL`` for embeddings.

    The messages of a request are the texts; the response's text is a JSON list of their vectors.
    """

    wire_format = OPENAI_EMBEDDINGS
    path = EMBEDDINGS_PATH
    example = "openai:text-embedding-3-small"
    encoding = "base64"

    def _build(self, request: Request) -> dict[str, Any]:
        parameters = {"encoding_format": self.encoding, **request.parameters}
        return self.wire_format.build_body(Request(request.messages, parameters), self.model)

    def _method(self, client: Any) -> Callable[..., Any]:
        create: Callable[..., Any] = client.embeddings.with_raw_response.create
        return create


class CompatibleEmbeddings(OpenAIEmbeddingsTarget, CompatibleTarget):
    """``compatible:MODEL@URL`` for embeddings, in floats: not every server knows the shorter form."""

    example = "compatible:nomic-embed-text@http://localhost:11434/v1"
    encoding = "float"


def embeddings(name: str) -> OpenAIEmbeddingsTarget:
    """The target that a name means.

    Raises:
        UsageError: It is none of a provider with embeddings, or names no model.
    """
    scheme = name.strip().partition(":")[0]
    if scheme == "openai":
        found = OpenAIEmbeddingsTarget.from_name(name.strip())
    elif scheme == "compatible":
        found = CompatibleEmbeddings.from_name(name.strip())
    else:
        raise UsageError(f"{name!r} names no provider of embeddings. {_HOW}.")
    return found  # type: ignore[return-value]  # from_name makes what it is called on


# Anthropic through its SDK: Messages.


API_VERSION = "2026-10-21"
"""Sent as ``anthropic-version`` with every request, whatever the installed SDK says by itself, so that an
update of the SDK invalidates no recording."""

# Any of these makes the SDK find credentials of its own (profiles, workload identity).
_OTHER_CREDENTIALS = ("ANTHROPIC_PROFILE", "ANTHROPIC_FEDERATION_RULE_ID")


class AnthropicTarget(SdkTarget):
    """``anthropic:MODEL``: Messages.

    The environment is the SDK's own: ``ANTHROPIC_API_KEY`` (or ``ANTHROPIC_AUTH_TOKEN``,
    ``ANTHROPIC_PROFILE``, workload identity), ``ANTHROPIC_BASE_URL``. The API insists on ``max_tokens``: 1024
    unless the request says otherwise. System messages are lifted to ``system``.
    """

    scheme = "anthropic"
    sdk = "anthropic"
    wire_format = ANTHROPIC_MESSAGES
    path = "/v1" + wire_format.path
    example = "anthropic:claude-sonnet-4-5"
    variables = SdkVariables("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS")
    default_base_url = "https://api.anthropic.com"

    def _version_headers(self) -> dict[str, str]:
        return {"anthropic-version": self._custom_headers().get("anthropic-version", API_VERSION)}

    def _settings(self) -> dict[str, Any]:
        where = self.address()
        settings: dict[str, Any] = {"base_url": where.base, "default_query": dict(where.query)}
        key = self._given_key(self.variables.key)
        token = None if key else self._given_key("ANTHROPIC_AUTH_TOKEN")
        if key:
            settings["api_key"] = key
        elif token:
            settings["auth_token"] = token
        elif not any(os.environ.get(each) for each in _OTHER_CREDENTIALS):
            settings["api_key"] = self._key()
        return settings

    def _method(self, client: Any) -> Callable[..., Any]:
        create: Callable[..., Any] = client.messages.with_raw_response.create
        return create

    def _client(self, sdk: Any, settings: dict[str, Any], *, asynchronous: bool) -> Any:
        make = sdk.AsyncAnthropic if asynchronous else sdk.Anthropic
        return make(**settings, timeout=self.timeout)


# Which credential a recorded address may be sent: recordings come from a repository, their addresses are no orders.


_DEFAULT_PORTS = {"http": 80, "https": 443}
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_ANY_MODEL = "model"


def credentials_for(url: str, allowed: frozenset[str] = frozenset()) -> dict[str, str]:
    """The headers that a request to ``url`` carries its credential in.

    OpenAI's and Anthropic's keys go where the environment says that these answer (``OPENAI_BASE_URL``,
    ``ANTHROPIC_BASE_URL``), and nowhere else; ``PROMPTFUZZ_API_KEY`` (under azure.com ``AZURE_OPENAI_API_KEY``) goes to
    hosts that are allowed. This machine may be asked without any.

    Args:
        url: The recorded address.
        allowed: Hosts that may be asked besides, as they stand in the address, with their port.

    Raises:
        ConfigurationError: The host may not be asked, or its key is not set.
    """
    parts = urlsplit(url)
    if _origin(url) == _origin(str(OpenAITarget(_ANY_MODEL).address())):
        return {"authorization": f"Bearer {_key('OPENAI_API_KEY', parts.netloc)}"}
    if _origin(url) == _origin(str(AnthropicTarget(_ANY_MODEL).address())):
        if token := os.environ.get("ANTHROPIC_AUTH_TOKEN"):
            return {"authorization": f"Bearer {token}"}
        return {"x-api-key": _key("ANTHROPIC_API_KEY", parts.netloc)}
    local = parts.hostname in _LOCAL
    if parts.netloc.lower() not in allowed:
        if local:
            return {}
        raise ConfigurationError(
            f"{parts.netloc} is neither where OpenAI nor where Anthropic answers, so it is sent nothing; --host "
            f"{parts.netloc} allows it."
        )
    if parts.scheme != "https" and not local:
        raise ConfigurationError(f"{parts.netloc} is recorded without https, so no key is sent there.")
    if (parts.hostname or "").endswith(".azure.com"):
        return {"api-key": _key("AZURE_OPENAI_API_KEY", parts.netloc)}
    key = os.environ.get("PROMPTFUZZ_API_KEY")
    return {"authorization": f"Bearer {key}"} if key else {}


def _key(variable: str, host: str) -> str:
    key = os.environ.get(variable)
    if not key:
        raise ConfigurationError(f"{host} needs a key; set {variable}.")
    return key


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = -1
    return parts.scheme, (parts.hostname or "").lower(), port or _DEFAULT_PORTS.get(parts.scheme)
