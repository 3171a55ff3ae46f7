"""Where something stands: the telling words around it, and those of its whole statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.reading.answer import Token
    from pytest_promptfuzz.comparing.reading.pieces import Key

_REACH = 4
"""Words on each side."""
_STOPS = frozenset(".:;!?()|–—")
_MOST_OF_IT = 0.5
"""Share of a statement's telling words from which another one speaks of the same."""


def around(token: Token) -> set[Key]:
    """The keys of what is telling within four words, in the same clause."""
    found: set[Key] = set()
    pieces = token.statement.pieces
    for side in (pieces[token.at + 1 :], reversed(pieces[: token.at])):
        passed = 0
        for other in side:
            if (other.kind == "mark" and other.text in _STOPS) or passed == _REACH:
                break
            if other.telling:
                found.add(other.key)
            passed += other.kind != "mark"
    return found


def same_place(one: Token, two: Token) -> bool:
    """Whether two tokens of two answers stand by the same telling word, or in statements of much the same words."""
    if around(one) & around(two):
        return True
    here, there = beside(one), beside(two)
    smaller = min(len(here), len(there))
    return smaller > 0 and len(here & there) >= _MOST_OF_IT * smaller


def beside(token: Token) -> frozenset[Key]:
    """The keys of what is telling in the rest of its statement."""
    return token.statement.keys - {token.key}
