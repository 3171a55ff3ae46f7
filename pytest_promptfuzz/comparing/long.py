"""Texts too long to be compared word by word: what they share at both ends is set aside."""

from __future__ import annotations

from dataclasses import replace
from itertools import compress, count
from operator import ne
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing.comparison import Comparison, Tier
from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Sequence

LIMIT = 60_000
"""Characters up to which two texts are compared whole: some 10,000 words."""

_CONTEXT = 300
_BOUNDARY = expression(r"[.!?\n]\s")


def where_they_differ(first: str, second: str) -> tuple[str, str] | None:
    """The parts in which two long texts differ, each with about 300 characters around.

    Returns:
        ``None`` where the parts are themselves longer than ``LIMIT``.
    """
    start = _shared(first, second)
    end = _shared(first[start:][::-1], second[start:][::-1])
    start = _sentence_start(first, max(0, start - _CONTEXT))
    end = max(0, end - _CONTEXT)
    one, two = first[start : len(first) - end], second[start : len(second) - end]
    return (one, two) if max(len(one), len(two)) <= LIMIT else None


def _shared(first: str, second: str) -> int:
    """How many characters two texts share at the start; found by halving, as comparing slices is fast."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _sentence_start(text: str, at: int) -> int:
    """The first beginning of a sentence from ``at`` on, or of a word."""
    if not at:
        return 0
    found = _BOUNDARY.search(text, at, at + _CONTEXT // 2)
    if found:
        return found.end()
    space = text.find(" ", at, at + _CONTEXT // 2)
    return space + 1 if space >= 0 else at


def undecided(first: str, second: str) -> Comparison:
    """The answer for texts that differ in too many places."""
    explanation = (
        f"the answers are too long to be compared word by word ({len(first):,} and {len(second):,} characters) and "
        "differ in many places; return the part that matters from the test"
    )
    return Comparison("undecided", None, "too-long", explanation, (Tier("exact", 0.0),))


def said_of_parts(found: Comparison) -> Comparison:
    """A comparison of the parts that differ, said to be one."""
    return replace(found, explanation=f"in long answers, equal elsewhere: {found.explanation}")


def shared_ends(first: Sequence[str], second: Sequence[str]) -> tuple[int, int]:
    """How many tokens two sequences share at the start, and how many of the others at the end."""
    most = min(len(first), len(second))
    start = next(compress(count(), map(ne, first, second)), most)
    end = next(compress(count(), map(ne, reversed(first), reversed(second))), most)
    return start, min(end, most - start)
