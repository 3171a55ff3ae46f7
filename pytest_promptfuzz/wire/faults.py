"""What went wrong on the wire, in the words of ``TargetError.kind``."""

from __future__ import annotations

import json
import re

_SHOWN = 300

KEEPING = frozenset({307, 308})
"""Redirections that keep method and body."""

_PROXY_REFUSES = 407

_BY_KIND = {
    "bad-request": 400,
    "authentication": 401,
    "billing": 402,
    "not-found": 404,
    "refused": 422,
    "rate-limit": 429,
    "timeout": 504,
}

# By name, through the bases: the classes are httpx's or httpx2's, and we import neither.
_BY_CLASS = {
    "TimeoutException": "timeout",
    "TimeoutError": "timeout",
    "DecodingError": "malformed",
    "UnicodeError": "malformed",
    "TransportError": "connection",
    "OSError": "connection",
}
# Of the transport's own errors, those that another try meets again.
_LASTING = {"UnsupportedProtocol", "LocalProtocolError", "DecodingError", "TooManyRedirects"}

NEVER_SENT = frozenset(
    {
        "budget",
        "unpriced",
        "not-allowed",
        "not-simulated",
        "not-recorded",
        "sealed",
        "unattributed",
        "interrupted",
    }
)
"""Kinds of faults of calls that did not leave."""


def status_of_kind(kind: str) -> int:
    """The HTTP status of a failure that a provider reports inside an answer of status 200.

    >>> status_of_kind("rate-limit"), status_of_kind("server")
    (429, 500)
    """
    return _BY_KIND.get(kind, 500)


def kind_of_exception(error: BaseException) -> str:
    """The kind of an exception that a transport raised: ``timeout``, ``malformed`` or ``connection``."""
    for each in type(error).__mro__:
        if each.__name__ in _BY_CLASS:
            return _BY_CLASS[each.__name__]
    return "connection"


def may_pass(error: BaseException) -> bool:
    """Whether what a transport raised may be gone the next time: not a mistake, and not a certificate."""
    names = {each.__name__ for each in type(error).__mro__}
    if not names & {"TransportError", "OSError"} or names & _LASTING:
        return False
    return "CERTIFICATE" not in str(error).upper()


def describe_exception(error: BaseException, url: str = "") -> str:
    """An exception as a sentence: its class, what it says, and what may mend it.

    Args:
        error: What the transport raised.
        url: What was asked: where a proxy stands before it, that is said.
    """
    said = " ".join(str(error).split())
    name = type(error).__name__
    text = f"{name}: {said[:_SHOWN]}" if said else name
    if "CERTIFICATE_VERIFY_FAILED" in said:
        return f"{text}. If the certificate is to be trusted, let SSL_CERT_FILE name a file with it."
    proxy = _proxy_before(url) if kind_of_exception(error) == "connection" else ""
    return f"{text} (by way of the proxy that {proxy} names)" if proxy else text


def _proxy_before(url: str) -> str:
    """The environment variable that names a proxy for this address; empty where none does."""
    import os
    from urllib.parse import urlsplit
    from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]  # it is there, undocumented

    parts = urlsplit(url)
    if not parts.hostname or proxy_bypass_environment(parts.hostname):
        return ""
    names = (f"{parts.scheme}_proxy", "all_proxy")
    return next((each for name in names for each in (name.upper(), name) if os.environ.get(each)), "")


def describe_page(body: bytes) -> str:
    """A web page in the place of a model's answer, as a sentence; empty for what is none.

    >>> describe_page(b"<!doctype html><title>Sign in</title>")[:48]
    "The answer is a web page, 'Sign in', and no JSON"
    """
    start = body[:4000].lstrip()
    if not start[:200].lower().startswith((b"<!doctype html", b"<html")):
        return ""
    title = re.search(rb"<title[^>]*>(.{1,80}?)</title>", start, re.IGNORECASE | re.DOTALL)
    named = f", {' '.join(title[1].decode('utf-8', 'replace').split())!r}," if title else ""
    return (
        f"The answer is a web page{named} and no JSON: a proxy or the network's sign-in page may answer in the model's "
        "place, or the base URL be wrong."
    )


def describe_status(status: int, body: bytes, url: str = "") -> str:
    """An error answer as a sentence: the status and the provider's own message, or which proxy refused.

    Args:
        status: The HTTP status.
        body: Of the answer.
        url: What was asked.
    """
    if status == _PROXY_REFUSES:
        proxy = _proxy_before(url)
        named = f" that {proxy} names" if proxy else ""
        return f"HTTP {status}: the proxy{named} asks for a user and a password."
    if page := describe_page(body):
        return f"HTTP {status}: {page}"
    said = body.decode("utf-8", "replace")
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        error = value.get("error", value)
        if isinstance(error, dict):
            error = error.get("message", error)
        said = error if isinstance(error, str) else said
    said = " ".join(said.split())
    return f"HTTP {status}: {said[:_SHOWN]}" if said else f"HTTP {status}"
