"""What the writers of all formats share: a request's messages and parameters as plain JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_promptfuzz.errors import UsageError

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
