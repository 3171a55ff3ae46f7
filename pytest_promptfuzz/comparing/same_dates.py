"""Days that two texts write otherwise: "4 de julio de 2025" and "04/07/2025"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing.dates import read_dates
from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from datetime import datetime

    from pytest_promptfuzz.comparing.text import Text

_DAY = expression(
    r"(?<![\w./-])(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2\d{4}"
    r"|\d{1,2}(?:st|nd|rd|th|er|º|\.)?\s(?:of\s|de\s)?[^\W\d_]{3,12}\.?,?\s(?:de\s|del\s)?\d{4}"
    r"|[^\W\d_]{3,12}\.?\s\d{1,2}(?:st|nd|rd|th)?,?\s\d{4})(?![\w/-]|\.\d)"
)
_IN_DIGITS = expression(r"\d[/.-]\d{1,2}[/.-]\d")


def in_digits(text: Text) -> bool:
    """Whether a text may write a day in digits."""
    return bool(_IN_DIGITS.search(text.clean))


def days(text: str, other: str) -> list[tuple[datetime, int, int]]:
    """The days of a text and where each stands; of one that could be either of two days, the one the other text has.

    Args:
        text: What is read.
        other: What it is compared with.
    """
    there = {day for found in _DAY.finditer(other) for day in read_dates(found[0])}
    result = []
    for found in _DAY.finditer(text):
        read = read_dates(found[0])
        if read:
            result.append((next((day for day in read if day in there), read[0]), *found.span()))
    return result
