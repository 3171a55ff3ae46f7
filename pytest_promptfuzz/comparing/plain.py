"""Values as plain JSON-able data: what a test returned, ready to be compared and stored."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import json
import math
import pathlib
import uuid
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.targets.model import Response
from pytest_promptfuzz.wire.paths import child

_DEPTH = 100
_BITS = 13_950  # about 4,200 digits: Python writes and reads numbers of 4,300
_HALVES = expression("[\ud800-\udbff][\udc00-\udfff]")


def plain(value: Any) -> Any:
    """A value as strings, numbers, booleans, ``None``, lists and dictionaries with string keys.

    Dataclasses and pydantic models become dictionaries, enums their value; dates, times, ``Decimal``, ``UUID`` and
    paths become strings; tuples become lists, sets sorted lists. A ``Response`` with tool calls becomes
    ``{"text": ..., "tool_calls": [{"name": ..., "arguments": ...}]}``, without them its text.

    A text is as it was given, but that two halves of one character which were joined (as an application does
    with what is streamed to it) are that character, as they are once they were written to a file and read back.

    Raises:
        UsageError: Something in it is none of these; the message names its path and type.
    """
    if type(value) is str:
        return whole(value)
    return _plain(value, "$", 0)


def whole(text: str) -> str:
    """The text with each high surrogate that a low one follows as the character that they are together."""
    if text.isascii() or _HALVES.search(text) is None:
        return text
    return _HALVES.sub(lambda found: found[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)


def _plain(value: Any, path: str, depth: int) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if depth > _DEPTH:
        raise UsageError(
            f"the value at {path} is nested deeper than {_DEPTH} levels, or contains itself; return a flatter value"
        )
    if isinstance(value, enum.Enum):
        return _plain(value.value, path, depth + 1)
    if isinstance(value, str):
        return whole(str(value))
    if isinstance(value, int):
        if value.bit_length() > _BITS:
            raise UsageError(
                f"the value at {path} is a whole number of more than 4,200 digits, which Python does not write as"
                " text; return a string instead"
            )
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise UsageError(
                f"the value at {path} is {value!r}, which JSON cannot hold; return None or a string instead"
            )
        return float(value)
    if isinstance(value, Response):
        return _response(value, path, depth)
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, (decimal.Decimal, uuid.UUID, pathlib.PurePath)):
        return str(value)
    return _container(value, path, depth)


def _container(value: Any, path: str, depth: int) -> Any:
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise UsageError(
                    f"the key {key!r} at {path} is of type {type(key).__name__}; JSON objects have string keys"
                )
        return {whole(str(key)): _plain(item, child(path, key), depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)]
    if isinstance(value, AbstractSet):
        items = [_plain(item, f"{path}[*]", depth + 1) for item in value]
        return sorted(items, key=lambda item: json.dumps(item, sort_keys=True, ensure_ascii=False))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            each.name: _plain(getattr(value, each.name), child(path, each.name), depth + 1)
            for each in dataclasses.fields(value)
        }
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return _plain(dump(mode="json"), path, depth + 1)
    raise UsageError(
        f"the value at {path} is of type {type(value).__name__}, which cannot be compared; return text, a Response, "
        "or something JSON-able (dict, list, number, dataclass, pydantic model)"
    )


def _response(value: Response, path: str, depth: int) -> Any:
    if not value.tool_calls:
        return value.text
    calls = [
        {
            "name": call.name,
            "arguments": _plain(call.arguments, f"{path}.tool_calls[{index}].arguments", depth + 1),
        }
        for index, call in enumerate(value.tool_calls)
    ]
    return {"text": value.text, "tool_calls": calls}


def text_of(value: Any) -> str:
    """A plain value as one text, for whoever compares texts only: a text as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=1)
