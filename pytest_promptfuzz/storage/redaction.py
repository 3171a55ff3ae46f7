"""Redaction: credentials are hidden in headers, URLs, bodies, streams and messages before anything is kept."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass, field, replace
from itertools import accumulate, repeat
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlencode, urlsplit, urlunsplit

from pytest_promptfuzz.errors import ConfigurationError, TargetError, UsageError
from pytest_promptfuzz.storage.secrets import (
    HEADERS,
    HIDDEN,
    LISTED,
    RULES,
    SECRET_HEADER,
    SHORT,
    VERSIONS,
    SecretRules,
    hidden_in_short,
    place_of,
    way_to,
    ways_to_items,
)
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pytest_promptfuzz.providers.requests import Response

    Redactor = Callable[[str, str], str]
    """A project's own: takes a text and the name of the field it stands in (empty where it has none)."""
    Place = tuple[Any, Any]
    Track = tuple[object, ...]

    class Reader(Protocol):
        """Reads an answer body."""

        def __call__(self, body: bytes, *, streamed: bool) -> Response | None:
            """The response, if it is text; raises ``TargetError`` or ``ValueError`` where the body is no answer."""
            ...


# Long enough to be a credential; a shorter one would also be found inside ordinary words.
_SHORTEST_VALUE = 8
_DEFAULT_PORTS = {"http": 80, "https": 443}
_EXPRESSION = expression(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")

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
    rules: SecretRules = RULES
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
        text = self._hidden(text)
        for redactor in self.redactors:
            text = _passed(redactor, text, name)
        return text

    def source(self, text: str) -> str:
        """The same of lines of Python, whose expressions (``api_key = os.environ.get(...)``) hold no secret."""
        return self._hidden(text, lambda text, start, end: not _is_expression(text, start, end))

    def _hidden(self, text: str, wanted: Callable[[str, int, int], bool] | None = None) -> str:
        for value in self._needles:
            text = text.replace(value, HIDDEN)
        short = wanted is None and len(text) <= SHORT
        text = hidden_in_short(self.rules, text) if short else self.rules.hidden(text, wanted)
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
        found += self.rules.spans(text)
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
            # Most texts stand where no credential does, which is known once for all texts of a name.
            if way and place_of(self.rules.fields, way, names) and self.rules.member(way, value, asked=names):
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
            listed = self.rules.fields and any(isinstance(each, str) for each in value)
            ways = ways_to_items(way, value) if listed else repeat(way, len(value))
            return [self._json(each, to, names, texts) for each, to in zip(value, ways, strict=True)]
        return value

    def _way_to(self, way: tuple[str, ...], owner: Mapping[str, Any], name: str) -> tuple[str, ...]:
        # Few fields are named by another, as in {"name": "password", "value": …}.
        if not self.rules.fields or (name != "value" and not (way and way[-1] in HEADERS)):
            return (*way, name)
        return way_to(way, owner, name)

    def request(
        self, url: str, headers: Mapping[str, str], body: dict[str, Any]
    ) -> tuple[str, dict[str, str], dict[str, Any]]:
        """A request's URL, headers and body, redacted."""
        return self.url(url), self.json(dict(headers)), self.json(body)

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
            f"{name!r:.40}: {error}. Fix it in the conftest.py that offers it in pytest_promptfuzz_redactors."
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


# Secrets in streamed answers: hidden where they stand, also where one is spread over several events.


_EVENT_END = expression(r"(\r\n\r\n|\n\n|\r\r)")
_LINE_END = expression(r"\r\n|\n|\r")
# What each event says of itself: told apart by it, or the same in all of them. It is no piece of a longer text.
_TELLS_APART = ("type", "index", "output_index", "content_index", "summary_index", "item_id")
_ENVELOPE = frozenset(
    {
        *_TELLS_APART,
        "id",
        "object",
        "model",
        "role",
        "name",
        "call_id",
        "status",
        "finish_reason",
        "stop_reason",
        "system_fingerprint",
        "service_tier",
        "obfuscation",
    }
)


def hidden_in_stream(text: str, redaction: Redaction) -> str:
    """A stream of server-sent events without its secrets; the same text where it holds none.

    The pieces of one text (a choice, a block, the arguments of a tool call) are read together, over all events. A
    secret is hidden in the event in which it begins, and cut out of those in which it goes on, so that the
    events stay what they were: a stream that SDKs read. Token probabilities, which spell the text out once more,
    are left out where anything was hidden.

    Args:
        text: The stream.
        redaction: What is hidden.
    """
    parts = _EVENT_END.split(text)
    events = [_data(block) for block in parts[::2]]
    changed = False
    for event in events:  # fields that repeat what was asked: tools with their headers
        hidden = redaction.json(event[0], names=False, texts=False)
        changed |= hidden != event[0]
        event[0] = hidden
    tracks: dict[Track, list[Place]] = {}
    for event in events:
        for track, place in _texts(event):
            tracks.setdefault(track, []).append(place)
    for places in tracks.values():
        changed |= _hide(places, redaction)
    if not changed:
        return text
    for number, event in enumerate(events):
        if event[0] is not None:
            parts[2 * number] = _block(parts[2 * number], without_probabilities(event[0]))
    return "".join(parts)


def without_probabilities(value: Any) -> Any:
    """A JSON value without token probabilities, which would spell out what is hidden elsewhere."""
    if isinstance(value, dict):
        return {
            name: ([] if isinstance(each, list) else None)
            if name in {"logprobs", "top_logprobs"}
            else without_probabilities(each)
            for name, each in value.items()
        }
    return [without_probabilities(each) for each in value] if isinstance(value, list) else value


def _data(block: str) -> list[Any]:
    """What an event holds, in a list of one, so that it can be replaced: JSON, a text, or nothing."""
    lines = [line[5:].removeprefix(" ") for line in _LINE_END.split(block) if line.startswith("data:")]
    data = "\n".join(lines)
    if not lines or data.strip() == "[DONE]":
        return [None]
    try:
        return [json.loads(data)]
    except (ValueError, RecursionError):
        return [data]


def _block(block: str, value: Any) -> str:
    """An event with other data."""
    data = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    kept = [line for line in _LINE_END.split(block) if not line.startswith("data:")]
    return "\n".join([*kept, *(f"data: {line}" for line in data.split("\n"))])


def _texts(event: list[Any]) -> Iterator[tuple[Track, Place]]:
    """Every text of an event, with what it is a piece of."""
    value = event[0]
    apart = tuple(value.get(name) for name in _TELLS_APART) if isinstance(value, dict) else ()
    yield from _walk(event, 0, (str(apart),))


def _walk(owner: Any, key: Any, track: Track) -> Iterator[tuple[Track, Place]]:
    value = owner[key]
    if isinstance(value, str):
        # An envelope's text is a track of its own: each piece is looked at alone.
        yield (*track, id(owner), key) if key in _ENVELOPE else track, (owner, key)
    elif isinstance(value, dict):
        for name in value:
            yield from _walk(value, name, (*track, name))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            number = each.get("index", index) if isinstance(each, dict) else index
            yield from _walk(value, index, (*track, str(number)))


def _hide(places: Sequence[Place], redaction: Redaction) -> bool:
    """Hide the secrets in the texts of a track, read as one; whether there were any."""
    pieces = [owner[key] for owner, key in places]
    whole = "".join(pieces)
    if redaction.redactors:
        name = next((key for _, key in places if isinstance(key, str)), "")
        if (hidden := redaction.text(whole, name)) == whole:
            return False
        # What a project's function made has no places in the text that it was given: the first event says it all.
        for number, (owner, key) in enumerate(places):
            owner[key] = "" if number else hidden
        return True
    spans = redaction.spans(whole)
    if not spans:
        return False
    first = 0  # of the spans that have not ended yet
    for (owner, key), piece, end in zip(places, pieces, accumulate(map(len, pieces)), strict=True):
        begin = end - len(piece)
        kept, at = "", begin
        while first < len(spans) and spans[first][1] <= begin:
            first += 1
        for number in range(first, len(spans)):
            start, stop = spans[number]
            if start >= end:
                break
            kept += piece[at - begin : max(start, begin) - begin] + (HIDDEN if start >= begin else "")
            at = min(stop, end)
        owner[key] = kept + piece[at - begin :]
    return True


# What of an answer may be stored: no secret, and no refusal for longer than its test.


_REFUSALS = frozenset({"refusal", "content_filter"})
_REFUSAL_FIELD = expression(r'"refusal"\s*:\s*"[^"]')  # inside a text its quotes would be escaped


def is_refusal(text: str, response: Response | None) -> bool:
    """Whether the provider refused to answer, which it may not do tomorrow."""
    return (response is not None and response.finish_reason in _REFUSALS) or bool(_REFUSAL_FIELD.search(text))


def storable(
    text: str, redaction: Redaction, url: str, read: Reader, *, streamed: bool
) -> tuple[str | None, str]:
    """The body to store, secrets hidden, ``None`` if it may not be; and what the person must know of that.

    Args:
        text: The body of the answer.
        redaction: What is hidden.
        url: Where it came from, redacted.
        read: Reads a body as the answer that it is.
        streamed: Whether it is a stream of events.
    """
    try:
        hidden = _hidden(text, redaction, streamed=streamed)
        clean = not streamed or _is_clean(hidden, redaction, read)
    except RecursionError:
        return None, f"An answer from {url} is nested too deeply to be searched for keys and was not stored."
    if not clean:
        return None, f"A streamed answer from {url} holds something like a key and was not stored."
    return hidden, "" if hidden == text else _HIDDEN.format(url=url)


def _hidden(text: str, redaction: Redaction, *, streamed: bool) -> str:
    if streamed:
        return hidden_in_stream(text, redaction)
    value = json.loads(text)
    hidden = redaction.json(value, names=False)
    return text if hidden == value else json.dumps(without_probabilities(hidden), separators=(",", ":"))


def _is_clean(body: str, redaction: Redaction, read: Reader) -> bool:
    """Whether a stream can be read, and neither it nor what it says holds anything to hide."""
    if redaction.text(body) != body:
        return False
    try:
        response = read(body.encode("utf-8"), streamed=True)
    except (TargetError, ValueError):
        return False
    said = [] if response is None else [response.text, *(each.arguments for each in response.tool_calls)]
    return redaction.json(said, names=False) == said


_HIDDEN = (
    "An answer from {url} holds something like a key; it was stored with that hidden, so a replay "
    "differs there."
)
