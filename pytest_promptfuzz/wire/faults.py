"""What went wrong on the wire, in the words of ``TargetError.kind``."""

from __future__ import annotations

import json

_SHOWN = 300

_BY_STATUS = {
    400: "bad-request",
    401: "authentication",
    403: "authentication",
    404: "not-found",
    408: "timeout",
    413: "bad-request",
    422: "bad-request",
    429: "rate-limit",
    504: "timeout",
    409: "server",  # a conflict that passes: both SDKs try it again
    529: "rate-limit",  # Anthropic: overloaded
}

_BY_KIND = {
    "bad-request": 400,
    "authentication": 401,
    "not-found": 404,
    "rate-limit": 429,
    "timeout": 504,
}

# By name, through the bases: the classes are httpx's or httpx2's, and we import neither.
_BY_CLASS = {
    "TimeoutException": "timeout",
    "TimeoutError": "timeout",
    "DecodingError": "malformed",
    "TransportError": "connection",
    "OSError": "connection",
}
# Of the transport's own errors, those that another try meets again.
_LASTING = {"UnsupportedProtocol", "LocalProtocolError", "DecodingError", "TooManyRedirects"}

NEVER_SENT = frozenset({"budget", "unpriced", "not-allowed", "not-simulated", "interrupted"})
"""Kinds of faults of calls that did not leave."""


def kind_of_status(status: int) -> str:
    """The kind of an HTTP status of 400 or above.

    >>> kind_of_status(429), kind_of_status(503), kind_of_status(409)
    ('rate-limit', 'server', 'server')
    """
    return _BY_STATUS.get(status, "server" if status >= 500 else "bad-request")


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


def describe_exception(error: BaseException) -> str:
    """An exception as a sentence: its class and what it says."""
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said[:_SHOWN]}" if said else type(error).__name__


def describe_status(status: int, body: bytes) -> str:
    """An error answer as a sentence: the status and the provider's own message."""
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
