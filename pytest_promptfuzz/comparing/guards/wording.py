"""What is left: words of meaning in one text without a counterpart in the other.

A known synonym or another form of the word is the same token already, so what remains in an otherwise equal frame
may be a rewording or a different thing; no similarity measure tells "buyer" from "seller".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing.guards.pair import Finding
from pytest_promptfuzz.comparing.guards.polarity import written

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.guards.pair import Pair

FRAME = 0.7
"""Word similarity from which two statements count as the same frame with something put in."""

_FEW = 3
_SAME_FRAME = 0.85


def _abbreviated(words: list[str], short: list[str]) -> bool:
    """Whether the one is the initials of the other: "artificial intelligence" and "AI"."""
    return len(words) > 1 and len(short) == 1 and "".join(word[0] for word in words) == short[0]


def _put_in(side: Pair) -> Finding | None:
    gone, come = side.residue
    if not (gone or come) or _abbreviated(gone, come) or _abbreviated(come, gone):
        return None
    if gone and come:
        old = " ".join(written(side, token) for token in gone[:_FEW])
        new = " ".join(written(side, token, response=True) for token in come[:_FEW])
        return Finding("wording", "doubt", f"{old!r} in the baseline became {new!r}")
    where = "baseline" if gone else "response"
    words = " ".join(written(side, token, response=bool(come)) for token in (gone or come)[:_FEW])
    return Finding("wording", "doubt", f"{words!r} is in the {where} only")


def check(pair: Pair) -> Finding | None:
    """Whether a statement of the same frame holds other words of meaning."""
    if pair.similarity >= _SAME_FRAME:
        found = _put_in(pair)
        if found or not any(pair.changed):
            return found
    for side in pair.sides:
        if side.similarity < FRAME or (not side.only_a and not side.only_b):
            continue
        found = _put_in(side)
        if found and max(map(len, side.residue)) <= _FEW:
            return found
    return None
