"""JSON in answers: found, compared by value, likened by keys, types and depth."""

from __future__ import annotations

import ast
import json
import re
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.comparing.text import strip_fence
from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCK = expression(r"```(?:json)?[ \t]*\n(.*?)```", re.DOTALL | re.IGNORECASE)
_MAX_STARTS = 20
_LONGEST_LITERAL = 100_000
_DECODER = json.JSONDecoder()


class _Missing:
    """No JSON was found; ``None`` is a JSON value."""


MISSING = _Missing()


def parse(text: str) -> Any:
    """The object or array that a text is, fenced or not; ``MISSING`` where it is anything else."""
    stripped = strip_fence(text).strip()
    if not stripped or stripped[0] not in "{[" or stripped[-1] not in "}]":
        return MISSING
    try:
        return json.loads(stripped)
    except (ValueError, RecursionError):
        return MISSING


def spans(text: str) -> Iterator[tuple[int, int, Any]]:
    """Where an object or array stands in a text, and its value; what is empty or a mere ``[1]`` is a mark of prose."""
    at = 0
    for _ in range(_MAX_STARTS):
        start = min((place for place in (text.find("{", at), text.find("[", at)) if place >= 0), default=-1)
        if start < 0:
            return
        try:
            value, at = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = text.rfind("}") + 1
            value = _literal(text[start:end]) if text[start] == "{" else MISSING
            at = start + 1 if value is MISSING else end
        if isinstance(value, dict) or (isinstance(value, list) and value):
            yield start, at, value


def embedded(text: str) -> Any:
    """The only object or array that stands within prose; ``MISSING`` where there is none, or more than one."""
    found = [value for block in _BLOCK.findall(text) if (value := parse(block)) is not MISSING]
    found = found or [value for _, _, value in spans(text)]
    if found:
        return found[0] if len(found) == 1 else MISSING
    return _literal(text)


def _literal(text: str) -> Any:
    """An object or array written as Python writes it, with single quotes and ``True``."""
    stripped = strip_fence(text).strip()
    if (
        not stripped
        or stripped[0] not in "{["
        or stripped[-1] not in "}]"
        or len(stripped) > _LONGEST_LITERAL
    ):
        return MISSING
    try:
        value = ast.literal_eval(stripped)
        return json.loads(json.dumps(value)) if isinstance(value, (dict, list)) else MISSING
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return MISSING


def keys(value: Any, path: str = "") -> set[tuple[str, str]]:
    """Every place in a value and the type that stands there; places in lists are not told apart."""
    here = {
        (
            path,
            "number"
            if isinstance(value, (int, float)) and not isinstance(value, bool)
            else type(value).__name__,
        )
    }
    if isinstance(value, dict):
        for key, item in value.items():
            here |= keys(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            here |= keys(item, f"{path}[]")
    return here


def depth(value: Any) -> int:
    """How deep objects and arrays are nested; 0 for a scalar."""
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth, value), default=0)
    return 0


def similarity(first: Any, second: Any) -> float:
    """Likeness of shape, 0..1: mean of the shared places with their types (Jaccard) and the ratio of depths."""
    one, two = keys(first), keys(second)
    deepest = max(depth(first), depth(second))
    shallow = min(depth(first), depth(second))
    return (len(one & two) / len(one | two) + (shallow / deepest if deepest else 1.0)) / 2
