"""`FORMATS`: which wire format a URL or body is in, what was answered, and the texts that a request holds."""

from __future__ import annotations

import copy
import re
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import unquote, urlsplit

from pytest_promptfuzz.errors import TargetError
from pytest_promptfuzz.providers.anthropic_messages import ANTHROPIC_MESSAGES
from pytest_promptfuzz.providers.bodies import (
    event_body,
    events,
    mapping,
    parse_json,
    raise_provider_error,
)
from pytest_promptfuzz.providers.openai_chat import OPENAI_CHAT
from pytest_promptfuzz.providers.openai_embeddings import OPENAI_EMBEDDINGS
from pytest_promptfuzz.providers.openai_responses import OPENAI_RESPONSES
from pytest_promptfuzz.providers.wire_format import BodyText

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from pytest_promptfuzz.providers.requests import Response
    from pytest_promptfuzz.providers.wire_format import WireFormat, WordlessAnswer
    from pytest_promptfuzz.text.json_paths import Step

    Steps = tuple[tuple[str, Step], ...]
    Places = Callable[[dict[str, Any]], Iterable[tuple[str, Any, Any, str]]]


FORMATS: tuple[WireFormat, ...] = (OPENAI_CHAT, ANTHROPIC_MESSAGES, OPENAI_RESPONSES, OPENAI_EMBEDDINGS)
"""Every wire format. Of several that could read one thing the first does; errors are told as the first tells them."""

_OTHER_PROVIDER = "compatible"
_ERROR = re.compile(rb'"error"\s*:\s*[{"]')


# Which requests are model calls, in which format, and whose.


def format_of(url: str) -> WireFormat | None:
    """The format that requests to a URL or path speak, by how its path ends; ``None`` where no model is asked."""
    return _format_at(_path(url), FORMATS)


@lru_cache(maxsize=256)
def _format_at(path: str, formats: tuple[WireFormat, ...]) -> WireFormat | None:
    return next(
        (each for each in formats if each.has_words(path) or each.wordless_at(path) is not None), None
    )


def is_model_path(path: str) -> bool:
    """Whether a path is that of a model, on any host."""
    return format_of(path) is not None


def has_text(url: str) -> bool:
    """Whether answers of this URL or path are read as text."""
    return wordless_at(url) is None


def wordless_at(url: str) -> WordlessAnswer | None:
    """What is answered at a URL or path whose answers are no words."""
    path = _path(url)
    return next((found for each in FORMATS if (found := each.wordless_at(path)) is not None), None)


def is_json(headers: Mapping[str, str]) -> bool:
    """Whether a request says that it is JSON, or does not say what it is."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return not kind or kind.endswith("json")


def is_counted(header: str) -> bool:
    """Whether a header, in lower case, is part of what is asked: it chooses a version of the protocol."""
    return header.endswith("-beta") or any(header in each.version_headers for each in FORMATS)


def provider_of(url: str) -> str:
    """``openai`` or ``anthropic`` by host, ``compatible`` for others; an in-process target's own name.

    >>> provider_of("https://api.openai.com/v1/responses"), provider_of("http://localhost/v1/messages")
    ('openai', 'compatible')
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme == "promptfuzz":
        return host
    for each in FORMATS:
        if each.host and (host == each.host or host.endswith("." + each.host)):
            return each.provider
    return _OTHER_PROVIDER


def is_paid(provider: str) -> bool:
    """Whether ``provider_of`` means somebody whose answers may cost something: no in-process target."""
    return provider == _OTHER_PROVIDER or any(provider == each.provider for each in FORMATS)


def host_of(url: str) -> str:
    """The host of a URL, with its port where it has one, without user and password."""
    return urlsplit(url).netloc.rpartition("@")[2].lower()


def limit_headers(kind: str) -> list[tuple[str, str, str]]:
    """The names of the headers that tell of a limit: how much, what is left of it, and when all of it is back.

    Args:
        kind: ``requests`` or ``tokens``.
    """
    patterns = dict.fromkeys(each.limit_headers for each in FORMATS)
    return [
        (
            pattern.format(what="limit", kind=kind),
            pattern.format(what="remaining", kind=kind),
            pattern.format(what="reset", kind=kind),
        )
        for pattern in patterns
    ]


def _path(url: str) -> str:
    """The path of a URL, or a path, without query and slash at its end; of any text, since servers are sent any."""
    _, scheme, rest = url.partition("://")
    path = "/" + rest.partition("/")[2] if scheme else url
    return path.partition("?")[0].partition("#")[0].rstrip("/")


def _worded(url: str) -> WireFormat | None:
    """The format of a URL or path whose answers are words."""
    path = _path(url)
    return next((each for each in FORMATS if each.has_words(path)), None)


# What is answered.


def parse_answer(path: str, body: dict[str, Any]) -> Response:
    """The response in an answer body.

    Args:
        path: The request's path or URL; its end tells the format (``/chat/completions``, ``/responses``,
            ``/messages``).
        body: The answer's JSON body.

    Raises:
        TargetError: ``malformed`` or ``not-text``, naming what was there instead; the provider's own error,
            where the body reports one; ``not-text`` for a path of another kind (embeddings).
    """
    known = _worded(path)
    if known is None:
        msg = f"An answer from {urlsplit(path).path!r} is a response that is not text."
        raise TargetError(msg, kind="not-text")
    return known.parse(mapping(body, "the answer"))


def parse_shape(body: Mapping[str, Any]) -> Response | None:
    """The response in an answer that came from anywhere, by what it holds; ``None`` where it is of no known format.

    Raises:
        TargetError: As ``parse_answer``.
    """
    known = _shape(body)
    return None if known is None else known.parse(dict(body))


def _shape(body: Mapping[str, Any]) -> WireFormat | None:
    return next(
        (each for each in FORMATS if each.answer_field and isinstance(body.get(each.answer_field), list)),
        None,
    )


def known_call_fields(url: str, body: object) -> tuple[str, ...] | None:
    """The JSON paths of what is new with each call in an answer, or an event of a stream, and says nothing.

    Args:
        url: Where it came from. Where the URL tells no format, as that of a proxy may not, the body does.
        body: The answer or event.

    Returns:
        The paths; ``None`` where the format is not known.
    """
    found = format_of(url)
    if found is None and isinstance(body, dict):
        try:
            found = _shape(body) if parse_shape(body) is not None else None
        except TargetError:
            return None
    return None if found is None else found.call_fields


def parse_stream(path: str, raw: bytes) -> Response | None:
    """The response in a streamed answer (server-sent events).

    Args:
        path: The request's path or URL, as for ``parse_answer``.
        raw: All bytes of the stream, decompressed.

    Returns:
        The response, or ``None`` if the stream did not come to its end (``[DONE]``, ``response.completed``,
        ``message_stop``) or the path is of another kind.

    Raises:
        TargetError: As ``parse_answer``, and for an error reported in the stream.
    """
    known = _worded(path)
    body = None if known is None else known.fold(raw)
    return None if known is None or body is None else known.parse(body)


def stream_begun(path: str, raw: bytes) -> bool:
    """Whether whole events from the beginning of a stream hold any of the answer, or more than announce it.

    Args:
        path: The request's path or URL, as for ``parse_answer``; of another kind, any event does.
        raw: The events.

    Raises:
        TargetError: For an error reported before any of the answer, or an event that cannot be read.
    """
    known = _worded(path)
    for data in events(raw):
        if known is None or data.strip() == "[DONE]" or not known.announces(event_body(data)):
            return True
    return False


def reported_error(path: str, raw: bytes) -> TargetError | None:
    """The provider's error that a whole body reports in the place of an answer; ``None`` where it reports none.

    Args:
        path: The request's path or URL, as for ``parse_answer``; of another kind, none is known.
        raw: The body, decompressed.

    Raises:
        ValueError: It is not JSON.
    """
    if _worded(path) is None or _ERROR.search(raw) is None:
        return None
    body = parse_json(raw)
    try:
        if isinstance(body, dict) and body.get("error"):
            raise_provider_error(body["error"])
    except TargetError as error:
        return error
    return None


# What a request says: every text, and those of one role, with others in their place.


class Spoken(NamedTuple):
    """One message of a request, or a field that stands for one (``system``, ``instructions``, ``input``).

    Attributes:
        role: ``system`` or ``user``.
        texts: Its texts, one for each part; tool results are nobody's words.
        paths: The JSON path of each text in the body.
    """

    role: str
    texts: tuple[str, ...]
    paths: tuple[str, ...]

    def only(self, wanted: Callable[[str], bool]) -> Spoken:
        """The same message with those of its texts whose path is wanted."""
        kept = [pair for pair in zip(self.texts, self.paths, strict=True) if wanted(pair[1])]
        return Spoken(self.role, tuple(text for text, _ in kept), tuple(path for _, path in kept))


def request_texts(body: dict[str, Any], url: str = "") -> tuple[str, ...]:
    """Every human text in a request body of any known format, in order.

    Contents of messages with their parts, ``system``, ``instructions``, ``input``, tool results, text
    documents and the variables of a stored prompt; no names, no tool schemas, no images. A body of any shape
    is read as far as it can be; nothing is raised.

    Args:
        body: The body.
        url: Where it goes, if that is known: the URL's own format reads its fields then.

    >>> request_texts({"system": "Be brief.", "messages": [{"role": "user", "content": "Hi"}]})
    ('Be brief.', 'Hi')
    """
    if not isinstance(body, dict):
        return ()
    found: list[str] = []
    for form, part in [*_readings(body, url)]:
        found += form.texts(part)
    return tuple(filter(None, found))


class ConfiguredEndpoint(Protocol):
    """A model with a protocol of its own: ``custom_protocol.Endpoint``."""

    @property
    def glob(self) -> str:
        """Of host and path."""
        ...

    @property
    def answer(self) -> Steps | None:
        """The JSON path of the answer's text; ``None`` are the usual places."""
        ...

    def places(self, body: dict[str, Any]) -> Iterator[tuple[str, Any, Any, str]]:
        """Role, owner, key and JSON path of each text of a request."""
        ...

    def read(self, body: Any) -> Response:
        """The response in an answer."""
        ...

    def read_stream(self, raw: bytes) -> Response:
        """The response in a stream."""
        ...


class RequestSummary(NamedTuple):
    """What a request is, for whoever counts and compares calls.

    Attributes:
        texts: As ``request_texts``.
        provider: As ``provider_of``.
        host: As ``host_of``.
        paid: As ``is_paid`` of the provider.
        endpoint: What was configured of the URL, if anything.
    """

    texts: tuple[str, ...]
    provider: str
    host: str
    paid: bool
    endpoint: ConfiguredEndpoint | None


def summary_of(url: str, body: dict[str, Any]) -> RequestSummary:
    """What the request to a URL with this body is; texts that are configured are among those that it holds."""
    provider, endpoint = provider_of(url), endpoint_of(url)
    host, paid = host_of(url), is_paid(provider)
    texts = request_texts(body, url)
    if endpoint is not None:
        more = [owner[key] for _, owner, key, _ in endpoint.places(body)]
        texts = tuple(dict.fromkeys((*texts, *more)))
    return RequestSummary(texts, provider, host, paid, endpoint)


# Models with a protocol of their own: what is configured of them.


_configured: tuple[ConfiguredEndpoint, ...] = ()


def configure(endpoints: Iterable[ConfiguredEndpoint]) -> tuple[ConfiguredEndpoint, ...]:
    """Take these endpoints for models from now on, and no others.

    Returns:
        Those that were taken for models before.
    """
    global _configured  # the transports are process-wide, and so is what they look for
    before, _configured = _configured, tuple(endpoints)
    return before


def endpoint_of(url: str) -> ConfiguredEndpoint | None:
    """The configured endpoint of a URL; the first that matches."""
    if not _configured:
        return None
    parts = urlsplit(url)
    places = {(parts.hostname or "") + path.rstrip("/") for path in (parts.path, unquote(parts.path))}
    return next(
        (each for each in _configured for place in places if fnmatchcase(place, each.glob.rstrip("/"))), None
    )


def places_of(url: str) -> Places | None:
    """What finds texts where an endpoint was configured to have them; ``None`` where none was."""
    endpoint = endpoint_of(url)
    return None if endpoint is None else endpoint.places


def texts_of(url: str, body: dict[str, Any]) -> tuple[str, ...]:
    """Every text of a request to a URL, in the places of the known formats and in those that are configured."""
    return summary_of(url, body).texts


def spoken(body: dict[str, Any], url: str = "", more: Places | None = None) -> tuple[Spoken, ...]:
    """The messages of a request of any known format that hold words of the system or the user, in order.

    A body of any shape is read as far as it can be; nothing is raised.

    Args:
        body: The body.
        url: As for ``request_texts``.
        more: Finds texts beside those of the formats.

    >>> spoken({"system": "Be brief.", "messages": [{"role": "user", "content": "Hi"}]})[0]
    Spoken(role='system', texts=('Be brief.',), paths=('$.system',))
    """
    found = _more_messages(body, more)
    for form, part in _readings(body, url):
        found += form.messages(part)
    return tuple(
        Spoken(role, tuple(each.text for each in texts), tuple(each.path for each in texts))
        for role, texts in found
        if texts
    )


def respoken(
    body: dict[str, Any], role: str, texts: Mapping[str, str], url: str = "", more: Places | None = None
) -> tuple[dict[str, Any], frozenset[str]]:
    """A body with other texts of one role.

    Args:
        body: A request body; it is not changed.
        role: Whose texts are replaced.
        texts: The new text by the old one, which must be the whole text of a message or part.
        url: As for ``request_texts``.
        more: Finds texts beside those of the formats.

    Returns:
        The body (a copy, if anything was replaced) and which old texts it held.
    """
    said = {text for each in spoken(body, url, more) if each.role == role for text in each.texts}
    found = said & texts.keys()
    if not found:
        return body, frozenset()
    changed = copy.deepcopy(body)

    def replace(messages: Iterable[tuple[str, list[BodyText]]]) -> None:
        for speaker, places in messages:
            for each in places if speaker == role else ():
                each.owner[each.key] = texts.get(each.text, each.text)

    replace(_more_messages(changed, more))
    for form, part in _readings(changed, url):
        replace(form.messages(part))
        changed.update(part)  # a text that is a field itself
    return changed, frozenset(found)


def output_bound(body: Mapping[str, Any]) -> int | None:
    """The most output tokens that a request allows, over all the choices it asks for; ``None`` without a bound.

    >>> output_bound({"max_tokens": 100, "n": 2}), output_bound({"model": "any"})
    (200, None)
    """
    fields = {field for each in FORMATS for field in each.bounds}
    bounds = [count for field in fields if (count := _count(body.get(field)))]
    return min(bounds) * (_count(body.get("n")) or 1) if bounds else None


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _readings(body: dict[str, Any], url: str) -> Iterator[tuple[WireFormat, dict[str, Any]]]:
    """Each field of a body that holds texts, in a body of its own, and the format that reads it.

    A field of the URL's own format is read by that, any other by the first format that knows it: hosts add fields of
    other formats to their own. What the system says comes first.
    """
    for field, form in _readers(format_of(url) if url else None, FORMATS).items():
        if field in body:
            yield form, {field: body[field]}


@lru_cache(maxsize=64)
def _readers(own: WireFormat | None, formats: tuple[WireFormat, ...]) -> dict[str, WireFormat]:
    """Which format reads each field."""
    known = formats if own is None else (own, *formats)
    fields = [field for each in formats for field in each.system_fields]
    fields += [field for each in formats for field in each.fields]
    return {
        field: next(each for each in known if field in each.system_fields or field in each.fields)
        for field in fields
    }


def _more_messages(body: dict[str, Any], more: Places | None) -> list[tuple[str, list[BodyText]]]:
    places = more(body) if more is not None else ()
    return [(role, [BodyText(owner, key, path)]) for role, owner, key, path in places]
