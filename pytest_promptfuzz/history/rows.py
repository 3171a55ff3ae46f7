"""JSON as files of what was have it."""

from __future__ import annotations

from typing import Any

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.files import to_json

_NUMBERS = expression(
    r"\[\n\s+((?:-?\d[\d.e+-]*|\[[-\d.e+, \[\]]*\])(?:,\n\s+(?:-?\d[\d.e+-]*|\[[-\d.e+, \[\]]*\]))*)\n\s+\]"
)
_ROWS = expression(r",\n\s+")


def as_text(value: Any) -> str:
    """JSON on one row as people read it: see ``files.to_json``."""
    return to_json(value, separators=(",", ":"))


def encoded(value: Any, *, indent: int | None = None) -> bytes:
    """The same as bytes, or indented; without a line feed at its end."""
    text = as_text(value) if indent is None else _numbers_together(to_json(value, indent=indent))
    return text.encode("utf-8")


def _numbers_together(text: str) -> str:
    """Indented JSON whose lists of numbers, and lists of these, stand on one row; no text holds a line feed there."""
    while (shorter := _NUMBERS.sub(lambda found: f"[{_ROWS.sub(', ', found[1])}]", text)) != text:
        text = shorter
    return text
