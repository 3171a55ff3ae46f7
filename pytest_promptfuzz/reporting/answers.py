"""Answers, short enough to be read: JSON laid out, long equal beginnings left out, the rest counted."""

from __future__ import annotations

import json
from typing import Any

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.reporting.safe import safe, show_white

MOST_CHARACTERS = 600
MOST_ROWS = 12
_ONE_ROW = 60
_MARGIN = 40  # characters shown before the first and after the last difference of two long answers


def answer_text(value: Any, *, limit: int = MOST_CHARACTERS) -> str:
    r"""A plain JSON-able value as a person wants to read it, safe for a terminal.

    Args:
        value: Text (a text that is a JSON object or array is laid out as such) or any JSON-able value.
        limit: The most characters shown; the rest is counted.

    >>> answer_text('{"a": 1}')
    '{"a": 1}'
    >>> answer_text("")
    '(empty text)'
    """
    return _clip(plain_text(value), limit)


def answer_pair(baseline: Any, response: Any, *, limit: int = MOST_CHARACTERS) -> tuple[str, str]:
    """Two answers to be read against each other: of long ones, what they share at either end is left out."""
    one, other = plain_text(baseline), plain_text(response)
    if min(len(one), len(other)) <= limit // 2 or one == other:
        return _clip(one, limit), _clip(other, limit)
    head = shared(one, other)
    tail = shared(one[head:][::-1], other[head:][::-1])
    start = max(0, head - _MARGIN)
    start = max(one.rfind(" ", 0, start), one.rfind("\n", 0, start)) + 1
    end = max(0, tail - _MARGIN)
    return _window(one, start, end, limit), _window(other, start, end, limit)


def answer_rows(baseline: Any, response: Any, room: int) -> tuple[str, str]:
    """Two answers, each in one row of at most ``room`` characters; of long ones, where they begin to differ."""
    one, other = (_ROWS.sub("⏎", safe(plain_text(each, row=10**9))) for each in (baseline, response))
    head = shared(one, other)
    start = max(0, head - room // 4) if max(len(one), len(other)) > room and head > room // 2 else 0
    return _row(one, start, room), _row(other, start, room)


_ROWS = expression(r"\s*\n\s*")


def _row(text: str, start: int, room: int) -> str:
    text = f"…{text[start:]}" if start else text
    return text if len(text) <= room else f"{text[: room - 1]}…"


def shared(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (mine, theirs) in pairs if mine != theirs), min(len(one), len(other)))


def _window(text: str, start: int, end: int, limit: int) -> str:
    before = f"(… {start:,} characters the same) " if start > limit // 6 else ""
    after = f" (… {end:,} characters the same)" if end > limit // 6 else ""
    return before + _clip(text[start if before else 0 : len(text) - end if after else None], limit) + after


def plain_text(value: Any, *, row: int = _ONE_ROW) -> str:
    """A plain JSON-able value as text, whole and not yet safe; JSON of more than ``row`` characters is laid out."""
    if value is None:
        return "(nothing)"
    if not isinstance(value, str):
        return _json(value, row)
    if not value:
        return "(empty text)"
    if not value.strip():
        return f"{show_white(value)} (white space only)"
    text = value.strip()
    # Only what cannot be prose: a lone number or a quoted word stays as the model wrote it.
    if text[0] + text[-1] in {"{}", "[]"} and len(text) <= 100_000:
        try:
            return _json(json.loads(text), row)
        except (ValueError, RecursionError):
            return value
    return value


def _json(value: Any, room: int) -> str:
    row = json.dumps(value, ensure_ascii=False, default=str)
    return row if len(row) <= room else json.dumps(value, ensure_ascii=False, indent=2, default=str)


def _clip(text: str, limit: int) -> str:
    rows = text.split("\n")
    short = "\n".join(rows[:MOST_ROWS])
    rest = len(rows) - MOST_ROWS
    if len(short) > limit or rest <= 0:
        return safe(text, limit=limit)
    return f"{safe(short)}\n… (+{rest:,} row{'s' if rest > 1 else ''})"
