"""JSON as files of what was have it."""

from __future__ import annotations

import json
from typing import Any

from pytest_promptfuzz.expressions import expression

_NUMBERS = expression(
    r"\[\n\s+((?:-?\d[\d.e+-]*|\[[-\d.e+, \[\]]*\])(?:,\n\s+(?:-?\d[\d.e+-]*|\[[-\d.e+, \[\]]*\]))*)\n\s+\]"
)
_ROWS = expression(r",\n\s+")


def as_text(value: Any) -> str:
    """JSON on one row as people read it, or in ASCII where it holds what UTF-8 cannot."""
    return _readable(value, separators=(",", ":"))


def encoded(value: Any, *, indent: int | None = None) -> bytes:
    """The same as bytes, or indented; without a line feed at its end."""
    text = as_text(value) if indent is None else _numbers_together(_readable(value, indent=indent))
    return text.encode("utf-8")


def _readable(value: Any, **layout: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, **layout)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, **layout)
    return text


def _numbers_together(text: str) -> str:
    """Indented JSON whose lists of numbers, and lists of these, stand on one row; no text holds a line feed there."""
    while (shorter := _NUMBERS.sub(lambda found: f"[{_ROWS.sub(', ', found[1])}]", text)) != text:
        text = shorter
    return text
