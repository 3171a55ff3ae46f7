"""An estimate of token counts, and cutting a text at one."""

from __future__ import annotations

import math

CHARACTERS = 4
"""Characters a token; about the mean of English text in the tokenizers of large models."""


def count(text: str) -> int:
    """Estimated tokens of a text: a quarter of its characters, rounded up; 0 for none."""
    return math.ceil(len(text) / CHARACTERS)


def cut(text: str, limit: int) -> tuple[str, bool]:
    """The text's first ``limit`` tokens, and whether anything was cut."""
    return (text, False) if count(text) <= limit else (text[: limit * CHARACTERS], True)
