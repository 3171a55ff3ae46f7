"""Answers to a task about programs that are no whole program: refusals, sentences, a program cut off."""

from __future__ import annotations

import re

from pytest_promptfuzz.comparing import code
from pytest_promptfuzz.comparing.guards import refusals
from pytest_promptfuzz.comparing.text import analyse
from pytest_promptfuzz.expressions import expression


def cut_off(whole: str, start: str) -> bool:
    """Whether a program is the beginning of another one and breaks off within a statement, a string or a bracket."""
    begun = start.rstrip()
    if not begun or len(begun) >= len(whole.rstrip()) or not whole.startswith(begun):
        return False
    if code.python_form(whole) is not None:
        return code.python_form(begun) is None
    return bool(_DANGLING.search(begun)) or any(
        begun.count(left) > begun.count(right) for left, right in ("()", "[]", "{}")
    )


def declines(text: str) -> bool:
    """Whether an answer declines to give a program: a refusal, and no program that prints one."""
    return (
        bool(refusals.declines(analyse(text)))
        and code.python_tree(text) is None
        and not code.looks_like(text)
    )


def is_prose(text: str) -> bool:
    """Whether an answer to a task about programs is a sentence about one."""
    return len(text.split()) >= _SENTENCE and bool(_PROSE.match(text.strip())) and not code.looks_like(text)


_DANGLING = expression(
    r"(?:\b(?:by|where|and|or|from|select|on|join|set|values|in|not)|[=,+(\[{&|<>])\Z", re.IGNORECASE
)
"""What no program in any language ends with."""
_SENTENCE = 4
_PROSE = expression(r"\A[A-Z\"'`][^{};=<>\n]*[.!?]\Z")
