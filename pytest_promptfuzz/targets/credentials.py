"""Which credential a recorded address may be sent: recordings come from a repository, their addresses are no orders."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from pytest_promptfuzz.errors import ConfigurationError
from pytest_promptfuzz.targets.anthropic import AnthropicTarget
from pytest_promptfuzz.targets.openai import OpenAITarget

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
