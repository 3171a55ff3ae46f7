"""What an SDK raises, as one error of ours: a kind, a status, a sentence, and never a key."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import ConfigurationError, PromptfuzzError, TargetError

if TYPE_CHECKING:
    from collections.abc import Iterable

_SAID = 300
_SEARCHED = 2000
_DEPTH = 10
_STATUS_KINDS = {
    401: "authentication",
    402: "authentication",
    403: "authentication",
    404: "not-found",
    408: "timeout",
    # A conflict that passes: both SDKs try it again.
    409: "server",
    429: "rate-limit",
    # Anthropic's "overloaded".
    529: "rate-limit",
}
_MENDS = {
    "authentication": "Check the key and what it may do.",
    "not-found": "Check the model's name and the base URL.",
    "rate-limit": "Ask for fewer calls at once, or raise the account's limit.",
    "bad-request": "Check the parameters of the request.",
    "connection": "Check the network and the base URL.",
    "timeout": "Raise timeout=, or ask for shorter answers.",
}
# Providers repeat keys in their messages, shortened or starred.
_KEY_LIKE = re.compile(r"\b(?:sk|pk|rk|key|AIza)[-_]?[\w*.…-]*[\d*…][\w*.…-]{5,}|Bearer\s+\S+", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


def status_kind(status: int) -> str:
    """The kind of a ``TargetError`` for an HTTP status of 400 or more."""
    return _STATUS_KINDS.get(status) or ("server" if status >= 500 else "bad-request")


def hide(text: str, secrets: Iterable[str]) -> str:
    """The text on one line, at most 300 characters, without the secrets and without what looks like a key."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "***")
    text = _CONTROL.sub(" ", _KEY_LIKE.sub("***", text[:_SEARCHED])).strip()
    return text if len(text) <= _SAID else text[:_SAID] + "…"


def failure(error: Exception, *, name: str, host: str, retries: int, secrets: Iterable[str]) -> Exception:
    """The error to raise for one that an SDK raised.

    Args:
        error: What the SDK raised; read by its shape, so that neither SDK is imported here.
        name: The target's name.
        host: Where the call went.
        retries: How often the SDK was allowed to try again.
        secrets: Keys that no message may show.

    Returns:
        A ``TargetError`` for what happened on the wire, a ``ConfigurationError`` for what the SDK refuses
        before that, an error of this package that passed through the SDK, or the error itself if it is
        none of these.
    """
    ours = _ours(error)
    if ours is not None:
        return ours
    classes = {each.__name__ for each in type(error).__mro__}
    status = getattr(error, "status_code", None)
    said = hide(_message(error), secrets)
    again = f" after up to {retries} retries" if retries else ""
    found: PromptfuzzError
    if isinstance(status, int) and "APIStatusError" in classes:
        kind = status_kind(status)
        tried = again if kind in {"rate-limit", "server", "timeout"} else ""
        mend = _MENDS.get(kind, "The provider has a problem; try again later.")
        msg = f"{name}: {host} answered {status}{tried}: {said} {mend}"
        return TargetError(msg, kind=kind, status=status)
    if classes & {"APITimeoutError", "TimeoutException"}:
        return TargetError(
            f"{name}: no answer from {host} in time{again}. {_MENDS['timeout']}", kind="timeout"
        )
    if classes & {"APIConnectionError", "TransportError"}:
        msg = f"{name}: the connection to {host} failed{again}: {said}. {_MENDS['connection']}"
        return TargetError(msg, kind="connection")
    if classes & {"APIResponseValidationError", "DecodingError"}:
        return TargetError(f"{name}: the answer of {host} is malformed: {said}", kind="malformed")
    if isinstance(error, Warning):
        found = ConfigurationError(f"{name}: the SDK warns, and warnings are errors here: {said}")
    elif classes & {"OpenAIError", "AnthropicError", "HTTPError", "InvalidURL"}:
        found = ConfigurationError(f"{name}: the SDK refuses the call: {said}")
    else:
        return error
    return found


def _ours(error: BaseException) -> PromptfuzzError | None:
    # What sits below the SDK (a store that has no answer to replay) arrives wrapped as a lost connection.
    cause: BaseException | None = error
    for _ in range(_DEPTH):
        if cause is None or isinstance(cause, PromptfuzzError):
            return cause
        cause = cause.__cause__ or cause.__context__
    return None


def _message(error: Exception) -> str:
    body = getattr(error, "body", None)
    if isinstance(body, dict):
        inner = body.get("error")
        inner = inner if isinstance(inner, dict) else body
        said = inner.get("message")
        if isinstance(said, str) and said:
            return said
    causes = [str(error)]
    cause = error.__cause__
    while cause is not None and len(causes) < 3:
        if str(cause) and str(cause) not in causes:
            causes.append(str(cause))
        cause = cause.__cause__
    return " ".join(causes)
