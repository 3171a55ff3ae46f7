"""What the readers of all formats share: hostile values in, plain text or one clear error out."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NoReturn

from pytest_promptfuzz.errors import TargetError
from pytest_promptfuzz.targets.failures import told_kind
from pytest_promptfuzz.targets.model import ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterator

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
_EVENT_END = re.compile(r"\r\n\r\n|\n\n|\r\r")
_LINE_END = re.compile(r"\r\n|\n|\r")
_SURROGATE = re.compile("[\ud800-\udfff]")


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
