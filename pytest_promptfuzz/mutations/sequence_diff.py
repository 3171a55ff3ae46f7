"""What two sequences share, as difflib finds it, within a bounded number of steps."""

from __future__ import annotations

from difflib import Match, SequenceMatcher
from itertools import accumulate
from typing import TYPE_CHECKING

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
