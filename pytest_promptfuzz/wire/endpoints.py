"""Which HTTP requests are model calls, and whose."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# By the end of the path: hosts put prefixes of their own before it (/v1, /openai/deployments/NAME, /api/v1).
# Add a path here, and its reader to targets/formats, to teach the wire another protocol.
TEXTLESS_PATHS = ("/embeddings", "/messages/count_tokens", "/responses/compact", "/responses/input_tokens")
MODEL_PATHS = ("/chat/completions", "/responses", "/messages", *TEXTLESS_PATHS)
# Addresses of models in protocols that are followed only where their endpoints are configured (wire.custom).
_OTHER_PATHS = re.compile(
    r"/completions$|/realtime$|:(generateContent|streamGenerateContent|rawPredict|streamRawPredict)$"
    r"|/model/[^/]+/(invoke|converse)[\w-]*$"
)

_PROVIDERS = {"openai.com": "openai", "anthropic.com": "anthropic"}


_exempt: set[tuple[str, int]] = set()


@contextlib.contextmanager
def exempt(host: str, port: int) -> Iterator[None]:
    """Let requests to an address be no model calls: a proxy of ours listens there, and what it sends is seen."""
    _exempt.add((host, port))
    try:
        yield
    finally:
        _exempt.discard((host, port))


def is_exempt(host: str, port: int | None) -> bool:
    """Whether what is sent to an address is seen where it goes on."""
    return (host, port) in _exempt


def is_model_path(path: str) -> bool:
    """Whether a path is that of a model, on any host: it ends with one of ``MODEL_PATHS``."""
    return path.rstrip("/").endswith(MODEL_PATHS)


def is_other_model_path(path: str) -> bool:
    """Whether a path is that of a model whose protocol is none of ours: Gemini's, Bedrock's, realtime, completions.

    >>> is_other_model_path("/model/amazon.nova-lite-v1:0/converse"), is_other_model_path("/v1/responses")
    (True, False)
    """
    return _OTHER_PATHS.search(path) is not None


def is_json(headers: Mapping[str, str]) -> bool:
    """Whether a request says that it is JSON, or does not say what it is."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return not kind or kind.endswith("json")


def has_text(path: str) -> bool:
    """Whether answers of this path are read as text."""
    return not path.rstrip("/").endswith(TEXTLESS_PATHS)


def provider_of(url: str) -> str:
    """``openai`` or ``anthropic`` by host, ``compatible`` for others; an in-process target's own name.

    >>> provider_of("https://api.openai.com/v1/responses"), provider_of("http://localhost/v1/messages")
    ('openai', 'compatible')
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme == "promptfuzz":
        return host
    for domain, provider in _PROVIDERS.items():
        if host == domain or host.endswith("." + domain):
            return provider
    return "compatible"


def host_of(url: str) -> str:
    """The host of a URL, with its port where it has one, without user and password."""
    return urlsplit(url).netloc.rpartition("@")[2].lower()
