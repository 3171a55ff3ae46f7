"""What must never be stored, shown or hashed: credentials in headers, URLs, bodies and messages."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlencode, urlsplit, urlunsplit

from pytest_promptfuzz.errors import ConfigurationError, UsageError
from pytest_promptfuzz.wire.secrets import (
    HIDDEN,
    LISTED,
    RULES,
    SECRET_HEADER,
    VERSIONS,
    Rules,
    way_to,
    ways_to_items,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Redactor = Callable[[str, str], str]
    """A project's own: takes a text and the name of the field it stands in (empty where it has none)."""

# Long enough to be a credential; a shorter one would also be found inside ordinary words.
_SHORTEST_VALUE = 8
_DEFAULT_PORTS = {"http": 80, "https": 443}
_EXPRESSION = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")

_Json = TypeVar("_Json")


@dataclass(frozen=True, slots=True)
class Redaction:
    """What counts as a secret here.

    Attributes:
        patterns: Regular expressions of the user's own, searched in every text; whole matches are hidden.
        values: Literal strings to hide, for example the credential this very request carries, also in base64 and
            encoded for an address. Those shorter than eight characters are ignored.
        redactors: Functions of the user's own, which every text passes, after all else is hidden in it.
        rules: The version of the list of what a credential looks like.
    """

    patterns: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    redactors: tuple[Redactor, ...] = ()
    rules: Rules = RULES
    _compiled: tuple[re.Pattern[str], ...] = field(init=False, repr=False, compare=False, default=())
    _needles: tuple[str, ...] = field(init=False, repr=False, compare=False, default=())

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
        object.__setattr__(self, "values", _longest_first(long_enough))
        needles = {form for value in long_enough for form in _forms(value)}
        object.__setattr__(self, "_needles", _longest_first(needles))

    def with_values(self, values: tuple[str, ...]) -> Redaction:
        """The same, hiding ``values`` too."""
        return replace(self, values=(*self.values, *values)) if values else self

    def under(self, version: int) -> Redaction:
        """What an earlier version of the rules hid from keys: the same patterns, and nothing else of today's.

        A version that is not known is taken for today's; ``why_not`` says of its entries what is wrong.
        """
        rules = VERSIONS.get(version, RULES)
        return self if rules is self.rules else Redaction(self.patterns, rules=rules)

    def text(self, text: str, name: str = "") -> str:
        """``text`` with everything that looks like a credential replaced by ``[redacted]``.

        Args:
            text: Any.
            name: The field it stands in, for the project's own redactors.
        """
        text = self._hidden(text, lambda *_: True)
        for redactor in self.redactors:
            text = _passed(redactor, text, name)
        return text

    def source(self, text: str) -> str:
        """The same of lines of Python, whose expressions (``api_key = os.environ.get(...)``) hold no secret."""
        return self._hidden(text, lambda text, start, end: not _is_expression(text, start, end))

    def _hidden(self, text: str, wanted: Callable[[str, int, int], bool]) -> str:
        for value in self._needles:
            text = text.replace(value, HIDDEN)
        for each in self.rules.all(text):
            pieces, at = [], 0
            for start, end in each.spans(text):
                if not each.named or wanted(text, start, end):
                    pieces += [text[at:start], HIDDEN]
                    at = end
            if pieces:
                text = "".join([*pieces, text[at:]])
        for pattern in self._compiled:
            text = pattern.sub(HIDDEN, text)
        return text

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where in ``text`` something looks like a credential: ``[start, end)`` in order, none touching another."""
        found = [
            (each.start(), each.end())
            for value in self._needles
            for each in re.finditer(re.escape(value), text)
        ]
        found += [span for each in self.rules.all(text) for span in each.spans(text)]
        found += [each.span() for pattern in self._compiled for each in pattern.finditer(text)]
        joined: list[tuple[int, int]] = []
        for start, end in sorted(each for each in found if each[0] < each[1]):
            if joined and start <= joined[-1][1]:
                joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
            else:
                joined.append((start, end))
        return joined

    def json(self, value: _Json, *, names: bool = True, texts: bool = True) -> _Json:
        """A JSON value with its texts redacted.

        Args:
            value: Anything ``json.loads`` can return.
            names: Also hide every text that stands under a key such as ``api_key`` or ``password``. Off for
                answers, whose tool arguments must come back as the model gave them: there what stands under such
                a key is hidden where it looks like a credential, too.
            texts: Also look into texts under other names.
        """
        hidden: Any = self._json(value, (), names, texts)
        return hidden  # type: ignore[no-any-return]  # the same JSON type comes back

    def _json(self, value: Any, way: tuple[str, ...], names: bool, texts: bool) -> Any:
        if isinstance(value, str):
            if way and self.rules.member(way, value, asked=names):
                return HIDDEN
            return (
                self.text(value, next((each for each in reversed(way) if each != LISTED), ""))
                if texts
                else value
            )
        if isinstance(value, dict):
            return {
                self.text(name) if texts else name: self._json(
                    each, self._way_to(way, value, name), names, texts
                )
                for name, each in value.items()
            }
        if isinstance(value, (list, tuple)):
            ways = ways_to_items(way, value) if self.rules.fields else repeat(way)
            return [self._json(each, to, names, texts) for each, to in zip(value, ways, strict=False)]
        return value

    def _way_to(self, way: tuple[str, ...], owner: Mapping[str, Any], name: str) -> tuple[str, ...]:
        return way_to(way, owner, name) if self.rules.fields else (*way, name)

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Headers with lower-case names, credentials hidden."""
        return {
            name.lower(): HIDDEN if SECRET_HEADER.search(name.lower()) else self.text(value, name.lower())
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
            (name, self.text(value, name))
            for name, value in parse_qsl(parts.query, keep_blank_values=True)
            if not self.rules.drops(name)
        )
        return urlunsplit((scheme, host, self.text(parts.path), urlencode(query, errors="replace"), ""))


def _longest_first(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(values, key=lambda value: (-len(value), value)))


def _forms(value: str) -> set[str]:
    """A value as it is, in base64, and encoded for an address."""
    raw = value.encode("utf-8", "surrogatepass")
    encoded = {base64.b64encode(raw).decode(), base64.urlsafe_b64encode(raw).decode()}
    quoted = {quote(raw, safe=""), quote_plus(raw)}
    return {value, *quoted, *encoded, *(each.rstrip("=") for each in encoded)}


def _passed(redactor: Redactor, text: str, name: str) -> str:
    """What a project's function makes of a text.

    Raises:
        ConfigurationError: It raised, or returned something else; nothing is stored then.
    """
    who = getattr(redactor, "__qualname__", type(redactor).__name__)
    try:
        changed = redactor(text, name)
    except Exception as error:
        raise ConfigurationError(
            f"The redactor {who} raised {type(error).__name__} for a text of {len(text):,} characters under the name "
            f"{name!r:.40}: {error}. Mend it in the conftest.py that offers it in pytest_promptfuzz_redactors."
        ) from error
    if not isinstance(changed, str):
        raise ConfigurationError(
            f"The redactor {who} returned {type(changed).__name__} for a text; return the text, changed or not."
        )
    return changed


def without_credentials(url: str) -> str:
    """Scheme, host, port and path of an address as they were written: without user, password and parameters.

    >>> without_credentials("redis://:s3cr3t@host:6379/0?ttl=30d")
    'redis://host:6379/0'
    """
    scheme, separator, rest = url.partition("://")
    # A password may hold any character before its end, if it was not encoded.
    place = rest.rpartition("@")[2].partition("?")[0].partition("#")[0]
    return f"{scheme}{separator}{place}"


def _is_expression(text: str, start: int, end: int) -> bool:
    """Whether what follows ``api_key =`` in a line of Python is a name, an attribute or a call: not in quotes."""
    before = text[text.rfind("\n", 0, start) + 1 : start]
    outside = not (before.count("'") % 2 or before.count('"') % 2)
    return (
        outside
        and before.rstrip().endswith(("=", ":"))
        and _EXPRESSION.fullmatch(text[start:end]) is not None
    )


def credentials(headers: Mapping[str, str], url: str = "") -> tuple[str, ...]:
    """The credentials a request carries, bare.

    Of headers a bearer token without ``Bearer`` and cookies one by one; of the URL the password and secret query
    parameters.
    """
    found: list[str] = []
    for name, value in headers.items():
        if not SECRET_HEADER.search(name.lower()):
            continue
        found.append(value)
        if "cookie" in name.lower():
            found += [each.partition("=")[2].strip() for each in value.split(";")]
        elif " " in value.strip():
            scheme, _, rest = value.strip().partition(" ")
            found.append(rest.strip())
            found += _basic(rest.strip()) if scheme.lower() == "basic" else []
    parts = urlsplit(url)
    found += [unquote(parts.password or "")]
    found += [value for name, value in parse_qsl(parts.query) if RULES.drops(name)]
    return tuple(each for each in found if each)


def _basic(encoded: str) -> list[str]:
    """The password in what follows ``Basic``, and with its user."""
    try:
        said = base64.b64decode(encoded, validate=True).decode("utf-8")
    except ValueError:
        return []
    return [said, said.partition(":")[2]]


DEFAULT = Redaction()


def redact_text(text: str, redaction: Redaction = DEFAULT) -> str:
    """Hide what looks like a key: ``sk-…``, ``sk-ant-…``, ``AIza…``, ``Bearer …``, configured patterns.

    >>> redact_text("use sk-proj-abcdefgh12345678 here")
    'use [redacted] here'
    """
    return redaction.text(text)
