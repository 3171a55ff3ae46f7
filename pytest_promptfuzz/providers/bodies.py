"""What the wire formats share: strict readers of JSON and events, writers of messages, errors for bad requests."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol

from pytest_promptfuzz.errors import TargetError, UsageError
from pytest_promptfuzz.providers.requests import ToolCall, told_kind
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.providers.requests import Request, Response


_SHOWN = 80
_ERROR_KINDS = {
    "rate_limit": "rate-limit",
    "overloaded": "rate-limit",
    "too_many_requests": "rate-limit",
    "timeout": "timeout",
    "authentication": "authentication",
    "permission": "authentication",
    "invalid_api_key": "authentication",
    "not_found": "not-found",
    "invalid": "refused",  # a mutation causes no more than a status 400 or 413
}
# Where the parts of a message have their text; others (thinking, images) say nothing.
_TEXT_OF_PART = {
    "text": "text",
    "output_text": "text",
    "refusal": "refusal",
    "audio": "transcript",
    "output_audio": "transcript",
}
_EVENT_END = expression(r"\r\n\r\n|\n\n|\r\r")
_LINE_END = expression(r"\r\n|\n|\r")
_SURROGATE = expression("[\ud800-\udfff]")


def shown(value: object) -> str:
    """A short description of a value that was not what was expected: its type and its beginning."""
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= _SHOWN else text[:_SHOWN] + '…'}"


def malformed(expected: str, found: object) -> NoReturn:
    """Refuse an answer whose shape is wrong.

    Raises:
        TargetError: Always, kind ``malformed``, naming what was expected and what was there.
    """
    msg = f"The answer is malformed: expected {expected}, found {shown(found)}."
    raise TargetError(msg, kind="malformed")


def not_text(found: str) -> NoReturn:
    """Refuse an answer that is well formed but holds nothing to read.

    Raises:
        TargetError: Always, kind ``not-text``.
    """
    msg = f"The answer is a response that is not text: {found}."
    raise TargetError(msg, kind="not-text")


def clean(text: str) -> str:
    """The text with lone surrogates replaced, so that it can be written as UTF-8 anywhere."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(each) for each in value]
    if isinstance(value, dict):
        return {clean(key): _cleaned(each) for key, each in value.items()}
    return value


def _no_constant(name: str) -> NoReturn:
    msg = f"{name} is not JSON"
    raise ValueError(msg)


def parse_json(text: str | bytes) -> Any:
    """Strict JSON: no ``NaN``, no ``Infinity``, no nesting too deep to walk.

    Raises:
        ValueError: For anything else.
    """
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        msg = "nested too deeply"
        raise ValueError(msg) from None


def mapping(value: object, expected: str) -> dict[str, Any]:
    """The value if it is a JSON object, else ``TargetError``."""
    return value if isinstance(value, dict) else malformed(f"{expected} to be an object", value)


def sequence(value: object, expected: str) -> list[Any]:
    """The value if it is a JSON array, else ``TargetError``."""
    return value if isinstance(value, list) else malformed(f"{expected} to be an array", value)


def string(value: object, expected: str) -> str:
    """The value, cleaned, if it is a string, else ``TargetError``."""
    return clean(value) if isinstance(value, str) else malformed(f"{expected} to be a string", value)


def word(value: object) -> str:
    """A name the provider gives (model, finish reason); empty if it gives none."""
    return clean(value) if isinstance(value, str) else ""


def count(value: object) -> int | None:
    """A number of tokens; ``None`` if the provider does not say."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def entries(value: object, expected: str) -> list[dict[str, Any]]:
    """The objects of a JSON array, else ``TargetError``; what is null or empty is none."""
    return [mapping(each, expected) for each in sequence(value or [], expected) if each is not None]


def optional(value: object, expected: str) -> str:
    """The value, cleaned, if it is a string; empty for null; else ``TargetError``."""
    return "" if value is None else string(value, expected)


def said(content: object, expected: str) -> str | None:
    """The text of a message's content: a text, one part or several; ``None`` where there is none at all.

    Parts that hold no text, thinking for one, are left out; the others are joined without a separator.

    Raises:
        TargetError: Kind ``malformed``, for anything else.
    """
    if content is None or isinstance(content, str):
        return None if content is None else clean(content)
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return string(content, expected)
    texts: list[str] = []
    for each in content:
        if isinstance(each, str):
            texts.append(clean(each))
        elif each is not None:
            part = mapping(each, f"a part of {expected}")
            key = _TEXT_OF_PART.get(word(part.get("type")) or "text", "")
            if key in part:
                texts.append(optional(part[key], f"a part's {key}"))
    return "".join(texts) if texts else None


def tool_calls(name: object, arguments: object, call_id: object) -> list[ToolCall]:
    """A tool call, its arguments given as JSON text or as an object; none where it has neither name nor argument.

    Args:
        name: The tool's name.
        arguments: JSON text of an object (empty text, ``null`` or ``None``: no arguments), or the object.
        call_id: The provider's id, if it has one.

    Raises:
        TargetError: Kind ``malformed``, for arguments that are not a JSON object.
    """
    called = optional(name, "a tool call's name")
    value = arguments
    if isinstance(value, str):
        try:
            value = parse_json(value) if value.strip() else {}
        except ValueError:
            malformed(f"the arguments of tool call {called!r} to be JSON", arguments)
    if value is None or value == []:
        value = {}
    value = _cleaned(mapping(value, f"the arguments of tool call {called!r}"))
    if not called.strip() and all(each in (None, "") for each in value.values()):
        return []
    return [ToolCall(name=called, arguments=value, id=word(call_id))]


def raise_provider_error(error: object) -> NoReturn:
    """Refuse an error that a provider reports inside a 200 answer or a stream.

    Args:
        error: ``{"type"|"code": ..., "message": ...}``, or whatever stood in its place.

    Raises:
        TargetError: Always; ``server`` unless the provider's own word says otherwise.
    """
    body = error if isinstance(error, dict) else {"message": error}
    label = " ".join(str(body[key]) for key in ("type", "code") if body.get(key))
    said = clean(str(body.get("message") or "no message"))[:300]
    kind = next((ours for theirs, ours in _ERROR_KINDS.items() if theirs in label.lower()), "server")
    kind = told_kind(f"{label} {said}", limited=kind == "rate-limit") or kind
    msg = f"The provider reported an error in its answer ({label or 'no type'}): {said}"
    raise TargetError(msg, kind=kind)


def events(raw: bytes) -> Iterator[str]:
    """The data of each complete server-sent event, in order; an unfinished last one is left out.

    Source of the format: the HTML standard, "Server-sent events".
    """
    text = raw.decode("utf-8", "replace").removeprefix("\ufeff")
    *blocks, unfinished = _EVENT_END.split(text)
    if unfinished.strip() in {"data: [DONE]", "data:[DONE]"}:
        # Some servers leave out the blank line after their last word.
        blocks.append(unfinished.strip())
    for block in blocks:
        data = [line[5:].removeprefix(" ") for line in _LINE_END.split(block) if line.startswith("data:")]
        if data:
            yield "\n".join(data)


def event_body(data: str) -> dict[str, Any]:
    """One event's JSON object.

    Raises:
        TargetError: Kind ``malformed``, for anything else; the provider's own, for ``{"error": ...}``, and for an
            error that has no such key (``{"object": "error", "message": ...}`` or ``{"code": 429, "message": ...}``).
    """
    try:
        body = parse_json(data)
    except ValueError:
        malformed("a streamed event to be JSON", data)
    body = mapping(body, "a streamed event")
    if body.get("error") and body.get("type") in (None, "error"):
        raise_provider_error(body["error"])
    bare = body.get("code") and isinstance(body.get("message"), str) and not {"type", "choices"} & body.keys()
    if bare or body.get("object") == "error":
        raise_provider_error(body)
    return body


# What the writers of all formats share: a request's messages and parameters as plain JSON.


_CALL_OPTIONS = {
    "stream": "answers are asked for whole",
    "stream_options": "answers are asked for whole",
    "timeout": "give timeout= to the target",
    "max_retries": "give max_retries= to the target",
    "extra_query": "give base_url= to the target",
    "model": "the target names the model",
    "messages": "they are the prompt",
    "input": "it is the prompt",
}


def plain_json(value: Any, where: str) -> Any:
    """The value as JSON holds it: tuples as lists, everything else as it is.

    Args:
        value: Any value.
        where: The path to the value, for the error.

    Raises:
        UsageError: For a value that JSON cannot hold, naming its path and type.
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        msg = f"{where} is {value!r}, which JSON cannot hold. Use a finite number."
        raise UsageError(msg)
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                msg = f"{where} has the key {key!r} of type {type(key).__name__}. Use strings as keys."
                raise UsageError(msg)
        return {key: plain_json(each, f"{where}[{key!r}]") for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [plain_json(each, f"{where}[{index}]") for index, each in enumerate(value)]
    msg = (
        f"{where} is of type {type(value).__name__}, which JSON cannot hold. Use text, numbers, lists, dicts."
    )
    raise UsageError(msg)


def plain_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A request's parameters as plain JSON, ``extra_body`` merged into them as the SDKs do.

    Raises:
        UsageError: For a value that JSON cannot hold, or a name that is no parameter of the body.
    """
    merged: dict[str, Any] = {}
    for name, value in parameters.items():
        if name == "extra_headers":
            continue
        if name in _CALL_OPTIONS and not (name == "stream" and value is False):
            msg = f"{name}= is not a parameter of a request: {_CALL_OPTIONS[name]}."
            raise UsageError(msg)
        merged[name] = plain_json(value, f"parameter {name!r}")
    extra = merged.pop("extra_body", None)
    if extra is not None:
        if not isinstance(extra, dict):
            msg = f"parameter 'extra_body' is of type {type(extra).__name__}. Give a dict of body parameters."
            raise UsageError(msg)
        merged.update(extra)
    return merged


def plain_messages(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A request's messages as plain JSON.

    Raises:
        UsageError: For no messages, a message that is not a mapping, or a value that JSON cannot hold.
    """
    if not messages:
        msg = "The request holds no messages. Give a prompt, or at least one message."
        raise UsageError(msg)
    plain = []
    for index, message in enumerate(messages):
        if not isinstance(message, Mapping):
            msg = (
                f"Message {index} is of type {type(message).__name__}. "
                'Write {"role": "user", "content": "..."} for each message.'
            )
            raise UsageError(msg)
        found = plain_json(message, f"message {index}")
        if not _are_calls(found.get("tool_calls")):
            msg = (
                f"Message {index} has tool_calls of another shape. "
                'Write [{"id": ..., "type": "function", "function": {"name": ..., "arguments": "{...}"}}].'
            )
            raise UsageError(msg)
        plain.append(found)
    return plain


def _are_calls(calls: Any) -> bool:
    if calls is None:
        return True
    return isinstance(calls, list) and all(
        isinstance(each, dict) and isinstance(each.get("function", {}), dict) for each in calls
    )


def parts_of(content: Any) -> list[dict[str, Any]]:
    """A message's content as a list of parts: text becomes one text part, strings within a list too.

    Raises:
        UsageError: For a content that is neither text nor a list of parts.
    """
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        msg = f"A message's content is of type {type(content).__name__}. Use text, or a list of parts."
        raise UsageError(msg)
    parts: list[dict[str, Any]] = []
    for part in content:
        if isinstance(part, str):
            parts.append({"type": "text", "text": part})
        elif isinstance(part, dict):
            parts.append(part)
        else:
            msg = f'A message part is of type {type(part).__name__}. Write {{"type": "text", "text": "..."}}.'
            raise UsageError(msg)
    return parts


# What the wire formats ask of a model, and the small tools that all of them share.


PIECE = expression(r"\s*\S+\s*\Z|\s*\S+")


class Model(Protocol):
    """Anything that answers a request; ``SimulatedModel`` does."""

    def answer(self, request: Request, *, sample: int = 0) -> Response:
        """The answer to one request; ``sample`` numbers repeats of the same request from 0."""
        ...


class HttpAnswer(NamedTuple):
    """An HTTP answer: status, headers, and a payload, whole (bytes) or streamed (an iterator of bytes)."""

    status: int
    headers: dict[str, str]
    payload: bytes | Iterator[bytes]


class InvalidBodyError(Exception):
    """A request body that the provider would answer with status 400.

    Args:
        message: What is wrong, in a sentence.
        param: The field that is wrong, ``messages[0].role``.
    """

    def __init__(self, message: str, *, param: str | None = None) -> None:
        super().__init__(message)
        self.param = param


def require_model(body: Mapping[str, Any]) -> str:
    """The model asked for; raises ``InvalidBodyError`` without one."""
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise InvalidBodyError("you must provide a model parameter", param="model")
    return model


def require_list(body: Mapping[str, Any], name: str) -> list[Any]:
    """A required, non-empty array of the body; raises ``InvalidBodyError`` otherwise."""
    value = body.get(name)
    if value is None:
        raise InvalidBodyError(f"Missing required parameter: '{name}'.", param=name)
    if not isinstance(value, list) or not value:
        raise InvalidBodyError(f"Invalid '{name}': expected a non-empty array.", param=name)
    return value


def require_object(value: object, where: str) -> dict[str, Any]:
    """``value`` as a JSON object; raises ``InvalidBodyError`` naming ``where`` otherwise."""
    if not isinstance(value, dict):
        raise InvalidBodyError(f"Invalid '{where}': expected an object.", param=where)
    return value


def positive_integer(body: Mapping[str, Any], name: str) -> int | None:
    """An optional field that must be an integer of at least 1."""
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidBodyError(f"Invalid '{name}': expected an integer of at least 1.", param=name)
    return value


def digest(body: Mapping[str, Any], length: int = 24) -> str:
    """Hexadecimal digits that depend on the body alone, for identifiers that replay the same."""
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def call_id(prefix: str, body: Mapping[str, Any], index: int) -> str:
    """The identifier of the ``index``-th tool call of the answer to ``body``."""
    return f"{prefix}{digest(body, 20)}{index:02d}"


def pieces(text: str) -> Iterator[str]:
    """``text`` in word-sized pieces, as a model streams it; joined they are ``text`` again."""
    if not text:
        return
    end = 0
    for match in PIECE.finditer(text):
        end = match.end()
        yield match.group()
    if end < len(text):
        yield text[end:]


def halves(text: str) -> Iterator[str]:
    """``text`` in two pieces, so that a reader of partial JSON is put to work."""
    middle = len(text) // 2
    for part in (text[:middle], text[middle:]):
        if part:
            yield part


def compact(value: object) -> str:
    """JSON without spaces, in ASCII, so that any text can be sent, lone surrogates included."""
    return json.dumps(value, separators=(",", ":"))


def event(data: Mapping[str, Any], name: str | None = None) -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {compact(data)}\n\n".encode()
