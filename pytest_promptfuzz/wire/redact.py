"""What must never be stored, shown or hashed: credentials in headers, URLs, bodies and messages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.wire.secrets import BEARER, SHAPES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

HIDDEN = "[redacted]"

# Long enough to be a credential; a shorter one would also be found inside ordinary words.
_SHORTEST_VALUE = 8
_DEFAULT_PORTS = {"http": 80, "https": 443}

_SECRET_NAMES = frozenset(
    {
        "authorization",
        "proxy-authorization",
        "x-api-key",
        "api-key",
        "apikey",
        "x-goog-api-key",
        "ocp-apim-subscription-key",
        "subscription-key",
        "cookie",
        "set-cookie",
        "access-token",
        "refresh-token",
        "id-token",
        "client-secret",
        "secret",
        "password",
        "passwd",
        "openai-api-key",
        "anthropic-api-key",
    }
)
# In a query these short names are credentials (Google's ``key=``, signed URLs); in a body they are ordinary
# words.
_SECRET_QUERY = _SECRET_NAMES | {
    "key",
    "token",
    "auth",
    "sig",
    "signature",
    "x-amz-signature",
    "x-amz-security-token",
    "code",
}
_SECRET_HEADER = re.compile(r"authorization|cookie|(^|-)(api-?key|token|secret|signature)$|subscription-key")

_SHAPES = re.compile("|".join(f"(?:{shape})" for shape in SHAPES.values()))

_EXPRESSION = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")

_Json = TypeVar("_Json")


@dataclass(frozen=True, slots=True)
class Redaction:
    """What counts as a secret here.

    Attributes:
        patterns: Regular expressions of the user's own, searched in every text; whole matches are hidden.
        values: Literal strings to hide, for example the credential this very request carries. Those shorter
            than eight characters are ignored.
    """

    patterns: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    _compiled: tuple[re.Pattern[str], ...] = field(init=False, repr=False, compare=False, default=())

    def __post_init__(self) -> None:
        compiled = []
        for pattern in self.patterns:
            try:
                each = re.compile(pattern)
            except re.error as error:
                raise UsageError(
                    f"The redaction pattern {pattern!r} is not a regular expression: {error}. "
                    "Escape special characters with a backslash."
                ) from None
            if each.search("") is not None:
                raise UsageError(
                    f"The redaction pattern {pattern!r} matches the empty text, so it would hide everything. "
                    "Write one that needs at least one character."
                )
            compiled.append(each)
        object.__setattr__(self, "_compiled", tuple(compiled))
        long_enough = {value for value in self.values if len(value) >= _SHORTEST_VALUE}
        object.__setattr__(self, "values", tuple(sorted(long_enough, key=lambda value: (-len(value), value))))

    def with_values(self, values: tuple[str, ...]) -> Redaction:
        """The same, hiding ``values`` too."""
        return Redaction(self.patterns, (*self.values, *values)) if values else self

    def text(self, text: str) -> str:
        """``text`` with everything that looks like a credential replaced by ``[redacted]``."""
        return self._text(text, lambda match: match[1] + HIDDEN)

    def source(self, text: str) -> str:
        """The same of lines of Python, whose expressions (``api_key = os.environ.get(...)``) hold no secret."""
        return self._text(text, lambda match: match[0] if _is_expression(match) else match[1] + HIDDEN)

    def _text(self, text: str, named: Callable[[re.Match[str]], str]) -> str:
        for value in self.values:
            text = text.replace(value, HIDDEN)
        text = BEARER.sub(named, _SHAPES.sub(HIDDEN, text))
        for pattern in self._compiled:
            text = pattern.sub(HIDDEN, text)
        return text

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where in ``text`` something looks like a credential: ``[start, end)`` in order, none touching another."""
        found = [
            (each.start(), each.end())
            for value in self.values
            for each in re.finditer(re.escape(value), text)
        ]
        found += [each.span() for pattern in (_SHAPES, *self._compiled) for each in pattern.finditer(text)]
        found += [each.span(2) for each in BEARER.finditer(text)]
        joined: list[tuple[int, int]] = []
        for start, end in sorted(each for each in found if each[0] < each[1]):
            if joined and start <= joined[-1][1]:
                joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
            else:
                joined.append((start, end))
        return joined

    def json(self, value: _Json, *, names: bool = True) -> _Json:
        """A JSON value with its texts redacted.

        Args:
            value: Anything ``json.loads`` can return.
            names: Also hide every text that stands under a key such as ``api_key`` or ``password``. Off for
                answers, whose tool arguments must come back as the model gave them.
        """
        hidden: Any = self._json(value, names)
        return hidden  # type: ignore[no-any-return]  # the same JSON type comes back

    def _json(self, value: Any, names: bool) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {
                self.text(name): HIDDEN if names and _is_secret(name, each) else self._json(each, names)
                for name, each in value.items()
            }
        if isinstance(value, (list, tuple)):
            return [self._json(each, names) for each in value]
        return value

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Headers with lower-case names, credentials hidden."""
        return {
            name.lower(): HIDDEN if _SECRET_HEADER.search(name.lower()) else self.text(value)
            for name, value in headers.items()
        }

    def url(self, url: str) -> str:
        """The URL in canonical form, without anything secret.

        Scheme and host are in lower case; user, password, fragment, default port and secret query parameters
        are removed; the other parameters are sorted.
        """
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        if ":" in host:
            host = f"[{host}]"
        try:
            port = parts.port
        except ValueError:
            port = None
        scheme = parts.scheme.lower()
        if port is not None and port != _DEFAULT_PORTS.get(scheme):
            host = f"{host}:{port}"
        query = sorted(
            (name, self.text(value))
            for name, value in parse_qsl(parts.query, keep_blank_values=True)
            if not _is_secret_parameter(name)
        )
        return urlunsplit((scheme, host, self.text(parts.path), urlencode(query), ""))


def without_credentials(url: str) -> str:
    """Scheme, host, port and path of an address as they were written: without user, password and parameters.

    >>> without_credentials("redis://:s3cr3t@host:6379/0?ttl=30d")
    'redis://host:6379/0'
    """
    scheme, separator, rest = url.partition("://")
    # A password may hold any character before its end, if it was not encoded.
    place = rest.rpartition("@")[2].partition("?")[0].partition("#")[0]
    return f"{scheme}{separator}{place}"


def _is_expression(match: re.Match[str]) -> bool:
    """Whether what follows ``api_key =`` in a line of Python is a name, an attribute or a call: not in quotes."""
    before = match.string[match.string.rfind("\n", 0, match.start(2)) + 1 : match.start(2)]
    outside = not (before.count("'") % 2 or before.count('"') % 2)
    return outside and before.rstrip().endswith(("=", ":")) and _EXPRESSION.fullmatch(match[2]) is not None


def _is_secret_parameter(name: str) -> bool:
    return name.lower().replace("_", "-") in _SECRET_QUERY


def _is_secret(name: str, value: Any) -> bool:
    return isinstance(value, str) and name.lower().replace("_", "-") in _SECRET_NAMES


def credentials(headers: Mapping[str, str], url: str = "") -> tuple[str, ...]:
    """The credentials a request carries, bare.

    Of headers a bearer token without ``Bearer`` and cookies one by one; of the URL the password and secret query
    parameters.
    """
    found: list[str] = []
    for name, value in headers.items():
        if not _SECRET_HEADER.search(name.lower()):
            continue
        found.append(value)
        if "cookie" in name.lower():
            found += [each.partition("=")[2].strip() for each in value.split(";")]
        elif " " in value.strip():
            found.append(value.strip().partition(" ")[2].strip())
    parts = urlsplit(url)
    found += [unquote(parts.password or "")]
    found += [value for name, value in parse_qsl(parts.query) if _is_secret_parameter(name)]
    return tuple(each for each in found if each)


DEFAULT = Redaction()


def redact_text(text: str, redaction: Redaction = DEFAULT) -> str:
    """Hide what looks like a key: ``sk-…``, ``sk-ant-…``, ``AIza…``, ``Bearer …``, configured patterns.

    >>> redact_text("use sk-proj-abcdefgh12345678 here")
    'use [redacted] here'
    """
    return redaction.text(text)
