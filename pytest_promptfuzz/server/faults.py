"""Faults that the local server can play: error statuses, rate limits, broken streams, wrong encodings.

Every fault is plain data. It applies to the first ``times`` requests that match ``when``; ``every=3`` lets it hit
only each third of them.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pytest_promptfuzz.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Base of all faults.

    Attributes:
        times: How many matching requests it hits; ``None`` for all of them.
        when: A text that the request's body must contain, or a predicate on the body's text; ``None`` matches all.
        every: It hits the first matching request and then each ``every``-th.
    """

    name: ClassVar[str] = ""
    times: int | None = 1
    when: str | Callable[[str], bool] | None = None
    every: int = 1

    def __post_init__(self) -> None:
        kind = type(self).__name__
        if self.times is not None and (not _is_integer(self.times) or self.times < 1):
            raise UsageError(
                f"{kind}(times={self.times!r}): give an integer of at least 1, or None for always."
            )
        if not _is_integer(self.every) or self.every < 1:
            raise UsageError(f"{kind}(every={self.every!r}): give an integer of at least 1.")
        after = getattr(self, "after", None)
        if after is not None and (not _is_integer(after) or after < 0):
            raise UsageError(f"{kind}(after={after!r}): give a number of events, 0 or more.")
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if (
                field.name.endswith(("seconds", "retry_after"))
                and value is not None
                and not _is_duration(value)
            ):
                raise UsageError(f"{kind}({field.name}={value!r}): give seconds, 0 or more.")

    def matches(self, body: str) -> bool:
        """Whether a request with this body is one that the fault is meant for."""
        if self.when is None:
            return True
        return self.when in body if isinstance(self.when, str) else bool(self.when(body))


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusFault(Fault):
    """An HTTP error in the provider's shape, with any status of 400 or more.

    Attributes:
        status: The HTTP status.
        message: The provider's message.
    """

    name: ClassVar[str] = "status"
    status: int = 500
    message: str = "The provider refused the request."

    def headers(self) -> dict[str, str]:
        """Headers that go with the error."""
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimited(StatusFault):
    """429; ``retry_after`` seconds go into the Retry-After header, ``None`` leaves it out."""

    name: ClassVar[str] = "rate-limit"
    status: int = 429
    message: str = "Rate limit reached for requests."
    retry_after: float | None = None

    def headers(self) -> dict[str, str]:
        """``Retry-After`` in whole seconds, and the header with milliseconds that both SDKs prefer."""
        if self.retry_after is None:
            return {}
        return {"retry-after": f"{self.retry_after:g}", "retry-after-ms": f"{self.retry_after * 1000:g}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerError(StatusFault):
    """A failure on the provider's side: 500 unless ``status`` says 502, 503, 529."""

    name: ClassVar[str] = "server-error"
    message: str = "The server had an error while processing your request."


@dataclass(frozen=True, slots=True, kw_only=True)
class Unauthorized(StatusFault):
    """401: the key is wrong."""

    name: ClassVar[str] = "unauthorized"
    status: int = 401
    message: str = "Incorrect API key provided."


@dataclass(frozen=True, slots=True, kw_only=True)
class Forbidden(StatusFault):
    """403: the key may not use this model."""

    name: ClassVar[str] = "forbidden"
    status: int = 403
    message: str = "Your key does not have permission to use this model."


@dataclass(frozen=True, slots=True, kw_only=True)
class NotFound(StatusFault):
    """404: there is no such model."""

    name: ClassVar[str] = "not-found"
    status: int = 404
    message: str = "The model does not exist or you do not have access to it."


@dataclass(frozen=True, slots=True, kw_only=True)
class BadRequest(StatusFault):
    """400: the provider refuses the request."""

    name: ClassVar[str] = "bad-request"
    status: int = 400
    message: str = "Invalid request."


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped(Fault):
    """The connection is closed before any answer."""

    name: ClassVar[str] = "dropped"


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedMidBody(Fault):
    """The connection is reset in the middle of the answer's body, or after so many events of a stream.

    Attributes:
        after: Events of a stream that come before it; ``None`` is all but two, so that some of the answer came.
    """

    name: ClassVar[str] = "dropped-mid-body"
    after: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Slow(Fault):
    """The answer comes whole, but ``seconds`` late."""

    name: ClassVar[str] = "slow"
    seconds: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Malformed(Fault):
    """Status 200 and JSON that does not parse; in a stream, an event that does not."""

    name: ClassVar[str] = "malformed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncated(Fault):
    """Content-Length promises more than the body holds; a stream ends in good order, but before its last events.

    Attributes:
        after: Events of a stream that come before its end; ``None`` is all but two, so that some of the answer came.
    """

    name: ClassVar[str] = "truncated"
    after: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Overloaded(Fault):
    """Status 200, and then an error in the place of the answer, or of the rest of a stream.

    Attributes:
        label: The error's type in the provider's words: ``overloaded_error``, ``rate_limit_error``, ``server_error``.
        message: The provider's message.
        after: Events of a stream that come before it; ``None`` is all but two, so that some of the answer came.
    """

    name: ClassVar[str] = "overloaded"
    label: str = "overloaded_error"
    message: str = "Overloaded"
    after: int | None = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentTypeHtml(Fault):
    """Status 200 and a web page, as from a captive portal or a misdirected proxy."""

    name: ClassVar[str] = "html"
    page: str = "<!doctype html><title>Sign in</title><h1>Please sign in to the network</h1>"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongEncoding(Fault):
    """The answer comes as it is, but ``Content-Encoding`` names an encoding that it does not have."""

    name: ClassVar[str] = "wrong-encoding"
    encoding: str = "gzip"


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncatedGzip(Fault):
    """The answer is compressed with gzip, and half of that comes, in good order."""

    name: ClassVar[str] = "truncated-gzip"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongCharset(Fault):
    """The answer holds bytes that are not UTF-8: a stream in each of its events, and in its middle otherwise."""

    name: ClassVar[str] = "wrong-charset"


@dataclass(frozen=True, slots=True, kw_only=True)
class Empty(Fault):
    """Status 200 and nothing else: no body, or a stream without an event."""

    name: ClassVar[str] = "empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherForm(Fault):
    """A whole answer where a stream was asked for, and a stream where a whole answer was."""

    name: ClassVar[str] = "other-form"


KINDS: dict[str, type[Fault]] = {
    each.name: each
    for each in (
        StatusFault,
        RateLimited,
        ServerError,
        Unauthorized,
        Forbidden,
        NotFound,
        BadRequest,
        Dropped,
        DroppedMidBody,
        Slow,
        Malformed,
        Truncated,
        Overloaded,
        ContentTypeHtml,
        WrongEncoding,
        TruncatedGzip,
        WrongCharset,
        Empty,
        OtherForm,
    )
}
NUMBERS = {"times", "every", "status", "seconds", "retry_after", "after"}


def parse_fault(text: str) -> Fault:
    """The fault written as on the command line: ``rate-limit:times=2,retry-after=1``.

    ``times=always`` hits every request. Commas separate settings, so ``when`` cannot contain one.

    Raises:
        UsageError: An unknown fault or setting, or a value of the wrong type, with the nearest that exists.

    >>> parse_fault("slow:seconds=0.5")
    Slow(times=1, when=None, every=1, seconds=0.5)
    """
    name, _, settings = text.partition(":")
    kind = KINDS.get(name.strip())
    if kind is None:
        raise UsageError(
            f"--fault {text}: no fault is called {name.strip()!r}. {nearest(name.strip(), KINDS)}"
        )
    known = {field.name for field in dataclasses.fields(kind)}
    values: dict[str, object] = {}
    for setting in filter(None, (part.strip() for part in settings.split(","))):
        option, equals, value = setting.partition("=")
        field = option.strip().replace("-", "_")
        if field not in known:
            names = [each.replace("_", "-") for each in known]
            raise UsageError(
                f"--fault {text}: {kind.name} has no {option.strip()!r}. {nearest(option, names)}"
            )
        if not equals or not value.strip():
            raise UsageError(f"--fault {text}: write {option.strip()}=VALUE.")
        values[field] = _value(text, field, value.strip())
    return kind(**values)  # type: ignore[arg-type]


def _value(text: str, field: str, value: str) -> object:
    if field not in NUMBERS:
        return value
    if field == "times" and value == "always":
        return None
    try:
        return float(value) if field in {"seconds", "retry_after"} else int(value)
    except ValueError:
        raise UsageError(f"--fault {text}: {field.replace('_', '-')}={value!r} is not a number.") from None


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_duration(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")
