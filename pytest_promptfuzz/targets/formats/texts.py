"""Every text that a request carries to a model, whatever its format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

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
