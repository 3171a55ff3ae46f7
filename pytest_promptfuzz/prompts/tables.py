"""Tables in Markdown: a row of heads, a row of dashes, and the rows under it; their cells are data."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.prompts.words import Found

_TABLE = expression(
    r"^[ \t]*\|[^\n]*\n[ \t]*\|[ \t]*:?-[-:| \t]*\|?[ \t]*\r?$(?:\n[ \t]*\|[^\n]*)*", re.MULTILINE
)


def table_spans(text: str) -> list[Found]:
    """The tables of ``text`` from first bar to last, kind ``table``; rows begin with a bar."""
    if "|" not in text or "-" not in text:
        return []
    return [
        (m.start() + len(table) - len(table.lstrip()), m.start() + len(table.rstrip()), "table")
        for m in _TABLE.finditer(text)
        for table in (m[0],)
    ]
