"""Differences of two texts by words, as difflib finds them, within a bounded number of steps."""

from __future__ import annotations

from difflib import Match, SequenceMatcher
from itertools import accumulate
from typing import TYPE_CHECKING

from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    Opcode = tuple[str, int, int, int, int]


_MOST_STEPS = 1_000_000
_MOST_CELLS = 100_000_000
"""Up to this product of two lengths the difference is taken by the other algorithm, whose table needs a bit a cell."""


class _SpentError(Exception):
    pass


class _Matcher(SequenceMatcher[int]):
    """Matches until its steps are spent: where an item is there often, difflib takes the cube of the length."""

    def __init__(self, one: Sequence[int], other: Sequence[int], *, autojunk: bool) -> None:
        super().__init__(None, one, other, autojunk=autojunk)
        self._left = _MOST_STEPS
        self._length = len(one)
        places: dict[int, list[int]] = self.b2j  # type: ignore[attr-defined]
        self._before = [0, *accumulate(1 + len(places.get(each, ())) for each in one)]

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        """As difflib's, while there are steps left."""
        self._left -= self._before[self._length if ahi is None else ahi] - self._before[alo]
        if self._left < 0:
            raise _SpentError
        return super().find_longest_match(alo, ahi, blo, bhi)


def _numbered(*sequences: Sequence[Hashable]) -> list[list[int]]:
    numbers: dict[Hashable, int] = {}
    return [[numbers.setdefault(each, len(numbers)) for each in items] for items in sequences]


def ratio(before: Sequence[Hashable], after: Sequence[Hashable]) -> float | None:
    """Ratcliff and Obershelp's ratio as difflib has it, 0..1; ``None`` for sequences that would take it too long."""
    one, other = _numbered(before, after)
    try:
        return _Matcher(one, other, autojunk=True).ratio()
    except _SpentError:
        return None


def opcodes(before: Sequence[Hashable], after: Sequence[Hashable]) -> list[Opcode]:
    """How to make ``after`` of ``before``, as ``SequenceMatcher.get_opcodes`` says it, without its junk.

    Sequences that would take it too long are matched by the fewest changes, and very long ones but for what they
    share at both ends.
    """
    one, other = _numbered(before, after)
    try:
        return list(_Matcher(one, other, autojunk=False).get_opcodes())
    except _SpentError:
        pass
    if len(one) * len(other) <= _MOST_CELLS:
        from rapidfuzz.distance import Levenshtein

        return [
            (each.tag, each.src_start, each.src_end, each.dest_start, each.dest_end)
            for each in Levenshtein.opcodes(one, other)
        ]
    most = min(len(one), len(other))
    head = next((n for n in range(most) if one[n] != other[n]), most)
    tail = next((n for n in range(most - head) if one[-1 - n] != other[-1 - n]), most - head)
    ends = len(one) - tail, len(other) - tail
    found: list[Opcode] = [("equal", 0, head, 0, head), ("replace", head, ends[0], head, ends[1])]
    found.append(("equal", ends[0], len(one), ends[1], len(other)))
    return [each for each in found if each[1:3] != each[3:5] or each[1] < each[2]]


# A prompt beside what it was: the words that are others, told without knowing who edited it.


_WORDS = expression(r"\s+|[^\W_]+|[\W_]")
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
