"""JSON as files of what was have it."""

from __future__ import annotations

import json
from typing import Any

from pytest_promptfuzz.expressions import expression

_NUMBERS = expression(
    r"\[\n\s+((?:-?\d[\d.e+-]*|\[[-\d.e+, \[\]]*\])(?:,\n\s+(?:-?\d[\d.e+-]*|\[[-\d.e+, \[\]]*\]))*)\n\s+\]"
)
_ROWS = expression(r",\n\s+")


def encoded(row: Any, *, indent: int | None = None) -> bytes:
    """JSON as people read it, or in ASCII where it holds what UTF-8 cannot; without a line feed at its end."""
    text = json.dumps(row, ensure_ascii=False, indent=indent)
    try:
        return _numbers_together(text).encode("utf-8")
    except UnicodeEncodeError:
        return _numbers_together(json.dumps(row, indent=indent)).encode("ascii")


def _numbers_together(text: str) -> str:
    """Indented JSON whose lists of numbers, and lists of these, stand on one row; no text holds a line feed there."""
    while (shorter := _NUMBERS.sub(lambda found: f"[{_ROWS.sub(', ', found[1])}]", text)) != text:
        text = shorter
    return text
