"""English number words from one to one hundred, written and read."""

from __future__ import annotations

_ONES = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
    "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]

MOST = 100
"""The largest number that is written in words."""


def spelled(number: int) -> str:
    """The words for a whole number from 1 to :data:`MOST`: ``thirty-two``.

    Raises:
        ValueError: The number is out of range.
    """
    if not 1 <= number <= MOST:
        raise ValueError(number)
    if number == MOST:
        return "one hundred"
    if number < 20:
        return _ONES[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens - 2] + (f"-{_ONES[ones]}" if ones else "")


_VALUES = {spelled(number): number for number in range(1, MOST + 1)}


def number_in(word: str) -> int | None:
    """The whole number that lower-case words stand for, 1 to :data:`MOST`; ``None`` for anything else."""
    return _VALUES.get(word)
