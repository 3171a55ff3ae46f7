"""`Request`, `Response`, `Usage`, `ToolCall` and the `Target` protocol; errors of SDKs as errors of this package."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from pytest_promptfuzz.errors import ConfigurationError, PromptfuzzError, TargetError
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call; ``None`` where the provider does not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool that the model asks for; ``arguments`` is the parsed JSON object."""

    name: str
    arguments: dict[str, Any]
    id: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a model.

    Attributes:
        messages: Chat messages, ``{"role": ..., "content": ...}`` in the OpenAI style; ``system`` included.
        parameters: Anything else for the request body (``temperature``, ``max_tokens``, ``tools`` ...).
    """

    messages: tuple[dict[str, Any], ...]
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Response:
    """What a model answered. ``str(response)`` is its text.

    Attributes:
        text: The answer's text, all text blocks joined.
        tool_calls: Tools the model asks to be called, in order.
        usage: Tokens, where the provider says.
        model: The model as answered by the provider, not as asked for.
        finish_reason: The provider's own word (``stop``, ``end_turn``, ``length``, ``max_tokens`` ...).
        latency: Seconds from request to the end of the answer; 0.0 from the store.
        cached: Whether it came from the store.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    model: str = ""
    finish_reason: str = ""
    latency: float = 0.0
    cached: bool = False

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class WireRequest:
    """An HTTP request as a provider's SDK would send it, built without the SDK.

    Attributes:
        url: Absolute, without credentials; for in-process targets ``promptfuzz://name/version``.
        body: The JSON body.
        headers: Only those that change the answer (``anthropic-version``, ``anthropic-beta``,
            ``openai-beta``).
    """

    url: str
    body: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict)


@runtime_checkable
class Target(Protocol):
    """Something that answers prompts.

    ``prepare`` builds the wire request without importing an SDK; ``parse`` reads a stored or fresh answer
    body; ``send`` and ``asend`` ask, and return the answer's raw JSON body. They raise ``TargetError`` or
    ``ConfigurationError``.
    """

    @property
    def name(self) -> str:
        """How the target is named in options and reports, ``openai:gpt-5-mini``."""
        ...

    def prepare(self, request: Request) -> WireRequest:
        """The wire request, as the SDK would send it."""
        ...

    def parse(self, body: dict[str, Any]) -> Response:
        """The response in a stored or fresh answer body."""
        ...

    def send(self, request: Request) -> dict[str, Any]:
        """Ask, and return the raw answer body."""
        ...

    async def asend(self, request: Request) -> dict[str, Any]:
        """Ask, and return the raw answer body."""
        ...


# What an SDK raises, as one error of ours: a kind, a status, a sentence, and never a key.


_SAID = 300
_SEARCHED = 2000
_DEPTH = 10
LASTING = frozenset({"authentication", "billing"})
"""Kinds that no waiting mends, whatever status says them."""

_BAD_REQUEST = frozenset({400, 413})
_STATUS_KINDS = {
    401: "authentication",
    402: "billing",
    403: "authentication",
    404: "not-found",
    407: "connection",
    408: "timeout",
    # A conflict that passes: both SDKs try it again.
    409: "server",
    429: "rate-limit",
    504: "timeout",
    # Anthropic's "overloaded".
    529: "rate-limit",
}
_MENDS = {
    "authentication": "Check the key and what it may do.",
    "billing": "Check the account's credit and its limits of spending.",
    "refused": "Check the base URL, the model and what the account may do.",
    "not-found": "Check the model's name and the base URL.",
    "rate-limit": "Ask for fewer calls at once, or raise the account's limit.",
    "bad-request": "Check the parameters of the request.",
    "connection": "Check the network and the base URL.",
    "timeout": "Raise timeout=, or ask for shorter answers.",
}
# Providers repeat keys in their messages, shortened or starred.
_KEY_LIKE = expression(r"\b(?:sk|pk|rk|key|AIza)[-_]?[\w*.…-]*[\d*…][\w*.…-]{5,}|Bearer\s+\S+", re.IGNORECASE)
_CONTROL = expression(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


# What providers say of an account that has run dry, in the words of their codes, types and messages: some do so with a
# 400. Gemini says "exceeded your current quota" of a limit by the minute too: with a 429 that is not final.
_DRY = expression(
    r"insufficient[_ -]?(?:quota|credits?|balance|funds?)|credit balance|(?:run |is |are )?out of credits?\b"
    r"|(?:any|enough|no|not enough|more) credits\b|credits? (?:are |have been )?(?:exhausted|used up|expired)"
    r"|billing[_ ](?:hard[_ ]limit|not[_ ]active|disabled)"
    r"|check your billing|requires billing|billing to be enabled|enable billing|payment (?:is )?required|add a payment"
    r"|(?:trial|subscription|plan) (?:has |is )?(?:expired|ended|inactive|cancell?ed)|no active (?:subscription|plan)"
    r"|spend(?:ing)?[_ ]limit|exceeded_current_quota_error"
    r"|usage limits?\. you will regain|blocked_api_access|arrearage|account ?overdue"
    r"|\u6b20\u8d39|\u4f59\u989d\u4e0d\u8db3",
    re.IGNORECASE,
)
_QUOTA = expression(
    r"exceeded your (?:\w+ )?(?:current |monthly |daily )?quota|quota[_ ]?exceeded|ServiceQuotaExceeded"
    r"|specified api usage limits|key limit exceeded",
    re.IGNORECASE,
)
_KEY = expression(
    r"(?:incorrect|invalid|wrong|expired|missing|revoked|unknown)[_ ](?:x-)?api[_ -]?key"
    r"|api[_ -]?key (?:is |was |has )?(?:not valid|not found|invalid|incorrect|expired|missing|revoked|been revoked)"
    r"|api_key_invalid|unrecognizedclient|expiredtoken|(?:invalid|incomplete)signature|accessdenied"
    r"|security token[^.]{0,40}(?:invalid|expired)|(?:access )?token (?:has |is )?expired|credential is only authorized"
    r"|location is not supported|unsupported_country|not (?:supported|available) in your (?:country|region|location)"
    r"|access_terminated|account is not active"
    r"|(?:account|organi[sz]ation|project)[_ ](?:has been |is |was )?"
    r"(?:suspended|deactivated|disabled|restricted|archived)"
    r"|account is in good standing",
    re.IGNORECASE,
)
_BUSY = expression(
    r"throttling(?:exception)?\b|too[ _]?many[ _]?requests|rate[ _-]?limit[ _-](?:exceeded|error|reached)"
    r"|overloaded_error|(?:is |currently |temporarily )overloaded",
    re.IGNORECASE,
)


def status_kind(status: int, said: str = "") -> str:
    """The kind of a ``TargetError`` for an HTTP status of 400 or more.

    Only a 400 and a 413 may be the mutation's doing (``bad-request``), and these not where the provider speaks of the
    account, its key or its load.

    Args:
        status: The HTTP status.
        said: The body, or the provider's message.

    >>> status_kind(429), status_kind(503), status_kind(409), status_kind(422)
    ('rate-limit', 'server', 'server', 'refused')
    >>> status_kind(400, "Your credit balance is too low to access the Anthropic API.")
    'billing'
    """
    if status >= 500:
        return _STATUS_KINDS.get(status, "server")
    kind = _STATUS_KINDS.get(status) or ("bad-request" if status in _BAD_REQUEST else "refused")
    if kind in {"bad-request", "rate-limit", "authentication"}:
        return told_kind(said, limited=kind == "rate-limit") or kind
    return kind


def told_kind(said: str, *, limited: bool = False) -> str:
    """What a provider's words say of account, key or load, whatever the status: a kind, or nothing.

    Args:
        said: Code, type and message, or the whole body.
        limited: Whether the status says already that it is for a limit.
    """
    said = said[:_SEARCHED]
    if _DRY.search(said) or (not limited and _QUOTA.search(said)):
        return "billing"
    if not limited and _KEY.search(said):
        return "authentication"
    return "rate-limit" if not limited and _BUSY.search(said) else ""


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
        kind = status_kind(status, f"{getattr(error, 'body', '')} {said}")
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
