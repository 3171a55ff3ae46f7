"""A prompt beside what it was: the words that are others, told without knowing who edited it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.mutations.sequence_diff import opcodes

if TYPE_CHECKING:
    from collections.abc import Sequence

_WORDS = re.compile(r"\s+|[^\W_]+|[\W_]")
_MOST = 2_000
"""Words that are compared one by one; looking for the best way takes the square of it."""


def word_diff(before: str, after: str) -> list[tuple[str, str]]:
    """The change in words: ``("=", kept)``, ``("-", removed)`` and ``("+", added)`` pieces in order.

    >>> word_diff("Name one team.", "Name the team.")
    [('=', 'Name '), ('-', 'one'), ('+', 'the'), ('=', ' team.')]
    """
    one, other = _WORDS.findall(before), _WORDS.findall(after)
    head = _shared(one, other)
    tail = _shared(one[head:][::-1], other[head:][::-1])
    pieces = [("=", "".join(one[:head]))]
    pieces += _between(one[head : len(one) - tail], other[head : len(other) - tail])
    pieces.append(("=", "".join(one[len(one) - tail :])))
    return [each for each in pieces if each[1]]


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))


def _between(one: Sequence[str], other: Sequence[str]) -> list[tuple[str, str]]:
    if max(len(one), len(other)) > _MOST:
        return [("-", "".join(one)), ("+", "".join(other))]
    pieces: list[tuple[str, str]] = []
    for kind, start, end, low, high in opcodes(one, other):
        if kind == "equal":
            pieces.append(("=", "".join(one[start:end])))
        else:
            pieces += [("-", "".join(one[start:end])), ("+", "".join(other[low:high]))]
    return pieces
