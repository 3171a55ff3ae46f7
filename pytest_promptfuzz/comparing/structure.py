"""The shape of a text: sentences, list items, headings, code blocks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.text import Text

_BULLET = expression(r"^[ \t]*[-*+•][ \t]+\S", re.MULTILINE)
_NUMBERED = expression(r"^[ \t]*\d{1,3}[.)][ \t]+\S", re.MULTILINE)
_HEADING = expression(r"^#{1,6}[ \t]+\S", re.MULTILINE)


def shape(text: Text) -> tuple[int, int, int, int]:
    """How many sentences, list items, headings and fenced blocks a text has."""
    raw = text.raw
    if "\n" not in raw:
        return len(text.sentences), 0, 0, 0
    return (
        len(text.sentences),
        len(_BULLET.findall(raw)) + len(_NUMBERED.findall(raw)),
        len(_HEADING.findall(raw)),
        raw.count("```") // 2,
    )


def similarity(first: Text, second: Text) -> float:
    """Likeness of shape, 0..1: the mean ratio of the counts that at least one of the texts has."""
    ratios = [
        min(one, two) / max(one, two)
        for one, two in zip(shape(first), shape(second), strict=True)
        if one or two
    ]
    return sum(ratios) / len(ratios) if ratios else 1.0
