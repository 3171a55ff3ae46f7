"""The wire formats, read and written without an SDK: chat completions, Responses, Messages."""

from __future__ import annotations

import base64
import contextlib
import copy
import hashlib
import hmac
import json
import math
import re
import struct
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from pytest_promptfuzz.errors import TargetError
from pytest_promptfuzz.providers import anthropic_messages, openai_chat, openai_responses
from pytest_promptfuzz.providers.bodies import (
    HttpAnswer,
    InvalidBodyError,
    Model,
    compact,
    digest,
    event_body,
    events,
    mapping,
    parse_json,
    positive_integer,
    raise_provider_error,
    require_model,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import ModuleType

    from pytest_promptfuzz.providers.requests import Response

    Places = Callable[[dict[str, Any]], Iterable[tuple[str, Any, Any, str]]]


# Every text that a request carries to a model, whatever its format.


_TOP = ("system", "instructions", "messages", "input", "prompt")
# Where text stands inside messages, items and parts of the three formats. "source", "data": text documents;
# "variables": those of a stored prompt; "output", "content", "parts": tool results and nested parts.
_INSIDE = ("content", "text", "output", "source", "variables", "refusal", "title", "context")
_DEPTH = 12


def request_texts(body: dict[str, Any]) -> tuple[str, ...]:
    """Every human text in a request body of any known format, in order.

    Contents of messages with their parts, ``system``, ``instructions``, ``input``, tool results, text
    documents and the variables of a stored prompt; no names, no tool schemas, no images. A body of any shape
    is read as far as it can be; nothing is raised.

    >>> request_texts({"system": "Be brief.", "messages": [{"role": "user", "content": "Hi"}]})
    ('Be brief.', 'Hi')
    """
    if not isinstance(body, dict):
        return ()
    return tuple(text for key in _TOP for text in _texts(body.get(key), _DEPTH) if text)


def _texts(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth <= 0:
        return
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each, depth - 1)
    elif isinstance(value, dict):
        for key in _INSIDE:
            if key == "variables" and isinstance(value.get(key), dict):
                yield from _texts(list(value[key].values()), depth - 1)
            else:
                yield from _texts(value.get(key), depth - 1)
        if value.get("type") == "text" and "data" in value:
            yield from _texts(value["data"], depth - 1)


__all__ = ["parse_answer", "parse_stream", "reported_error", "request_texts", "stream_begun"]

_ERROR = re.compile(rb'"error"\s*:\s*[{"]')
_FORMATS = (openai_chat, openai_responses, anthropic_messages)


def _format_of(path: str) -> ModuleType | None:
    place = urlsplit(path).path.rstrip("/")
    return next((each for each in _FORMATS if place.endswith(each.PATH)), None)


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
    known = _format_of(path)
    if known is None:
        msg = f"An answer from {urlsplit(path).path!r} is a response that is not text."
        raise TargetError(msg, kind="not-text")
    found: Response = known.parse(mapping(body, "the answer"))
    return found


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
    known = _format_of(path)
    if known is None:
        return None
    body = known.fold(raw)
    if body is None:
        return None
    found: Response = known.parse(body)
    return found


def stream_begun(path: str, raw: bytes) -> bool:
    """Whether whole events from the beginning of a stream hold any of the answer, or more than announce it.

    Args:
        path: The request's path or URL, as for ``parse_answer``; of another kind, any event does.
        raw: The events.

    Raises:
        TargetError: For an error reported before any of the answer, or an event that cannot be read.
    """
    known = _format_of(path)
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
    if _format_of(path) is None or _ERROR.search(raw) is None:
        return None
    body = parse_json(raw)
    try:
        if isinstance(body, dict) and body.get("error"):
            raise_provider_error(body["error"])
    except TargetError as error:
        return error
    return None


# Which HTTP requests are model calls, and whose.


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


# Whose words a request carries: the texts of its messages by role, where they stand, and others in their place.


ROLES = ("system", "user")
# "developer" is what newer OpenAI models call "system".
_ROLE_OF = {"system": "system", "developer": "system", "user": "user"}
_TEXT_PARTS = ("text", "input_text")


@dataclass(frozen=True, slots=True)
class Spoken:
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


@dataclass(frozen=True, slots=True)
class _BodyText:
    """A text in a body: ``owner[key]``."""

    owner: Any
    key: Any
    path: str

    @property
    def text(self) -> str:
        return str(self.owner[self.key])


def spoken(body: dict[str, Any], more: Places | None = None) -> tuple[Spoken, ...]:
    """The messages of a request of any known format that hold words of the system or the user, in order.

    A body of any shape is read as far as it can be; nothing is raised. ``more`` finds texts elsewhere.

    >>> spoken({"system": "Be brief.", "messages": [{"role": "user", "content": "Hi"}]})[0]
    Spoken(role='system', texts=('Be brief.',), paths=('$.system',))
    """
    return tuple(
        Spoken(role, tuple(each.text for each in places), tuple(each.path for each in places))
        for role, places in _messages(body, more)
    )


def respoken(
    body: dict[str, Any], role: str, texts: Mapping[str, str], more: Places | None = None
) -> tuple[dict[str, Any], frozenset[str]]:
    """A body with other texts of one role.

    Args:
        body: A request body; it is not changed.
        role: Whose texts are replaced.
        texts: The new text by the old one, which must be the whole text of a message or part.
        more: Finds texts beside those of the formats.

    Returns:
        The body (a copy, if anything was replaced) and which old texts it held.
    """
    found = {
        each.text
        for said, places in _messages(body, more)
        if said == role
        for each in places
        if each.text in texts
    }
    if not found:
        return body, frozenset()
    changed = copy.deepcopy(body)
    for said, places in _messages(changed, more):
        for each in places if said == role else ():
            each.owner[each.key] = texts.get(each.text, each.text)
    return changed, frozenset(found)


def _messages(body: dict[str, Any], more: Places | None) -> Iterator[tuple[str, list[_BodyText]]]:
    for role, owner, key, path in more(body) if more is not None else ():
        yield role, [_BodyText(owner, key, path)]
    for key, role in (("system", "system"), ("instructions", "system"), ("input", "user")):
        places = _places(body, key, f"$.{key}") if key != "input" or isinstance(body.get(key), str) else []
        if places:
            yield role, places
    for key in ("messages", "input"):
        items = body.get(key)
        for index, item in enumerate(items if isinstance(items, list) else ()):
            said = item.get("role") if isinstance(item, dict) else None
            role_of = _ROLE_OF.get(said) if isinstance(said, str) else None
            places = _places(item, "content", f"$.{key}[{index}].content") if role_of else []
            if role_of and places:
                yield role_of, places


def _places(owner: Mapping[str, Any], key: str, path: str) -> list[_BodyText]:
    content = owner.get(key)
    if isinstance(content, str):
        return [_BodyText(owner, key, path)] if content.strip() else []
    return [
        _BodyText(part, "text", f"{path}[{index}].text")
        for index, part in enumerate(content if isinstance(content, list) else ())
        if isinstance(part, dict) and part.get("type") in _TEXT_PARTS
        if isinstance(part.get("text"), str) and part["text"].strip()
    ]


# The server half of the providers' wire formats: a request body in, an answer body or event stream out.


# OpenAI embeddings, as the server sees them: small, deterministic, and honest about what they measure.
#
# A vector counts words and character trigrams, hashed into its dimensions with a sign (Weinberger et al. 2009,
# "Feature hashing for large scale multitask learning"), and has length 1. Texts that share words are near each
# other; no meaning beyond that is claimed.


DIMENSIONS = 256
WORD = re.compile(r"\w+")


def embed(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """A unit vector of ``dimensions`` floats in [-1, 1]; all zeros for a text without words."""
    features: Counter[str] = Counter()
    for word in WORD.findall(text.casefold()):
        features[word] += 2
        padded = f"<{word}>"
        features.update(padded[start : start + 3] for start in range(len(padded) - 2))
    vector = [0.0] * dimensions
    for feature, count in features.items():
        number = int.from_bytes(hashlib.sha256(feature.encode("utf-8", "surrogatepass")).digest()[:8], "big")
        vector[(number >> 1) % dimensions] += count if number & 1 else -count
    length = math.sqrt(sum(each * each for each in vector))
    return [each / length for each in vector] if length else vector


def answer_embeddings(body: Mapping[str, Any], model: str = "") -> dict[str, Any]:
    """The answer to an embeddings request, in floats or base64 as ``encoding_format`` says.

    Raises:
        InvalidBodyError: No model, or ``input`` that is not a text or a list of texts.
    """
    asked = require_model(body)
    given = body.get("input")
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or not all(isinstance(each, str) for each in texts):
        raise InvalidBodyError(
            "Invalid 'input': expected a text or a non-empty array of texts.", param="input"
        )
    dimensions = positive_integer(body, "dimensions") or DIMENSIONS
    if dimensions > 4096:
        raise InvalidBodyError("Invalid 'dimensions': at most 4096.", param="dimensions")
    data = []
    for index, text in enumerate(texts):
        vector: list[float] | str = embed(text, dimensions)
        if body.get("encoding_format") == "base64":
            vector = base64.b64encode(struct.pack(f"<{dimensions}f", *vector)).decode()
        data.append({"object": "embedding", "index": index, "embedding": vector})
    tokens = sum(math.ceil(len(text) / 4) for text in texts)
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "model": model or asked, "data": data, "usage": usage}


# From an HTTP request to a model's HTTP answer, as the provider whose path it is would give it.


Endpoint = Literal["chat", "responses", "input_tokens", "messages", "count_tokens", "embeddings", "models"]

# Suffixes, since hosts put prefixes of their own before them (/openai/deployments/NAME, /api/v1, ...).
SUFFIXES: tuple[tuple[str, Endpoint], ...] = (
    ("/chat/completions", "chat"),
    ("/responses/input_tokens", "input_tokens"),
    ("/responses", "responses"),
    ("/messages/count_tokens", "count_tokens"),
    ("/messages", "messages"),
    ("/embeddings", "embeddings"),
    ("/models", "models"),
)
FORMATS = {"chat": openai_chat, "responses": openai_responses, "messages": anthropic_messages}
OPENAI_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "invalid_request_error",
    429: "rate_limit_error",
}
ANTHROPIC_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
OPENAI_CODES = {401: "invalid_api_key", 404: "not_found", 429: "rate_limit_exceeded"}


def endpoint(path: str) -> Endpoint | None:
    """Which endpoint a path (query string allowed) is; ``None`` for one that is no model's."""
    bare = path.split("?", 1)[0].rstrip("/")
    for suffix, name in SUFFIXES:
        if bare.endswith(suffix):
            return name
    return "models" if "/models/" in bare else None


def answer_http(
    method: str,
    path: str,
    body: bytes,
    model: Model,
    *,
    headers: Mapping[str, str] | None = None,
    key: str | None = None,
    sample: int = 0,
) -> HttpAnswer:
    """Answer one HTTP request from ``model``. Never raises for a bad request: that is an answer as well.

    Args:
        method: ``POST``, or ``GET`` for the list of models.
        path: Path with or without a query; its ending says which endpoint is meant.
        body: The raw request body.
        model: Who answers.
        headers: The request's headers, names in any case; they matter to the shape of errors and to ``key``.
        key: The only API key let in; ``None`` lets everyone in.
        sample: How many identical requests were answered before this one.

    Returns:
        Status, headers (``content-type``, ``x-request-id``) and the payload: bytes, or an iterator of
        server-sent events if the body asks to ``stream``. Errors (400, 401, 404, 405) are shaped as
        the provider's.
    """
    lower = {name.lower(): value for name, value in (headers or {}).items()}
    name = endpoint(path)
    anthropic = name in {"messages", "count_tokens"} or "anthropic-version" in lower
    if key is not None and not _let_in(lower, key):
        return error_answer(401, "Incorrect API key provided.", anthropic=anthropic)
    if name is None:
        return error_answer(404, f"Invalid URL ({method} {path.split('?', 1)[0]})", anthropic=anthropic)
    if name == "models":
        return _models(method, path, model, anthropic=anthropic)
    if method != "POST":
        return error_answer(405, f"Method {method} is not allowed here, use POST.", anthropic=anthropic)
    try:
        return _answer(name, _parse(body), model, sample)
    except InvalidBodyError as error:
        return error_answer(400, str(error), anthropic=anthropic, param=error.param)


def error_answer(status: int, message: str, *, anthropic: bool, param: str | None = None) -> HttpAnswer:
    """An error in the shape of the OpenAI or the Anthropic API."""
    request_id = f"req_{digest({'status': status, 'message': message})}"
    shape: dict[str, Any]
    if anthropic:
        kind = ANTHROPIC_TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")
        shape = {"type": "error", "error": {"type": kind, "message": message}, "request_id": request_id}
    else:
        kind = OPENAI_TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
        shape = {
            "error": {"message": message, "type": kind, "param": param, "code": OPENAI_CODES.get(status)}
        }
    return _json(status, shape, request_id)


def _answer(name: Endpoint, body: dict[str, Any], model: Model, sample: int) -> HttpAnswer:
    if name == "embeddings":
        return _json(200, answer_embeddings(body, _version(model)))
    if name == "count_tokens":
        response = model.answer(anthropic_messages.read_request(body, counting=True))
        return _json(200, {"input_tokens": response.usage.input_tokens or 0})
    if name == "input_tokens":
        response = model.answer(openai_responses.read_request(body))
        counted = {"object": "response.input_tokens", "input_tokens": response.usage.input_tokens or 0}
        return _json(200, counted)
    form = FORMATS[name]
    request = form.read_request(body)
    response = model.answer(request, sample=sample)
    if body.get("stream"):
        headers = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
        headers["x-request-id"] = f"req_{digest(body)}"
        return HttpAnswer(200, headers, form.stream_answer(response, body))
    return _json(200, form.encode_answer(response, body), f"req_{digest(body)}")


def _parse(body: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidBodyError("We could not parse the JSON body of your request.") from None
    if not isinstance(parsed, dict):
        raise InvalidBodyError("The JSON body of the request must be an object.")
    return parsed


def _let_in(headers: Mapping[str, str], key: str) -> bool:
    given = (
        headers.get("x-api-key")
        or headers.get("api-key")
        or headers.get("authorization", "").removeprefix("Bearer ")
    )
    return hmac.compare_digest(given.encode(), key.encode())


def _models(method: str, path: str, model: Model, *, anthropic: bool) -> HttpAnswer:
    if method != "GET":
        return error_answer(405, f"Method {method} is not allowed here, use GET.", anthropic=anthropic)
    name = _version(model) or "model"
    if anthropic:
        entry: dict[str, Any] = {
            "type": "model",
            "id": name,
            "display_name": name,
            "created_at": "1970-01-01T00:00:00Z",
        }
        whole: dict[str, Any] = {"data": [entry], "has_more": False, "first_id": name, "last_id": name}
    else:
        entry = {"id": name, "object": "model", "created": 0, "owned_by": "pytest-promptfuzz"}
        whole = {"object": "list", "data": [entry]}
    asked = path.split("?", 1)[0].rstrip("/").rpartition("/models")[2].strip("/")
    if not asked:
        return _json(200, whole)
    if asked != name:
        return error_answer(404, f"The model '{asked}' does not exist.", anthropic=anthropic)
    return _json(200, entry)


def _version(model: Model) -> str:
    return str(getattr(model, "version", ""))


def _json(status: int, value: object, request_id: str = "") -> HttpAnswer:
    headers = {"content-type": "application/json"}
    if request_id:
        headers["x-request-id"] = request_id
        headers["request-id"] = request_id
    return HttpAnswer(status, headers, compact(value).encode())
