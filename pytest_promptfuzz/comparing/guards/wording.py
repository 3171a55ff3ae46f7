"""What is left: words of meaning in one text without a counterpart in the other.

A known synonym or another form of the word is the same token already, so what remains in an otherwise equal frame
may be a rewording or a different thing; no similarity measure tells "buyer" from "seller".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import lexicon
from pytest_promptfuzz.comparing.guards.pair import Finding
from pytest_promptfuzz.comparing.guards.polarity import written
from pytest_promptfuzz.comparing.stated import NOUN
from pytest_promptfuzz.comparing.tokens import canonical_words
from pytest_promptfuzz.expressions import expression

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


def _other_value(pair: Pair) -> Finding | None:
    """Another value in a line such as "Status: shipped", whose values are labels."""
    if ":" not in pair.a.clean or ":" not in pair.b.clean or not (pair.only_a and pair.only_b):
        return None
    one, two = _FIELD.fullmatch(pair.a.clean), _FIELD.fullmatch(pair.b.clean)
    if not one or not two or one["key"].casefold() != two["key"].casefold():
        return None
    gone, come = pair.residue
    content = pair.b.token_set - lexicon.FUNCTION_WORDS
    if not come or content & set(_tokens_of(one["value"])) or max(len(gone), len(come)) > _FEW:
        return None
    return Finding("wording", "contradiction", f"{one['value']!r} in the baseline became {two['value']!r}")


_FIELD = expression(
    rf"(?P<key>(?:[\w'’]{{1,20}} )?{NOUN}(?: (?:of|for|der|des|du|de la|del|della|van|do|da) [\w'’ ]{{1,40}})?) ?: "
    r"(?P<value>[^\n:.,;]{1,60})\.?",
    re.IGNORECASE,
)


def _tokens_of(value: str) -> list[str]:
    return [token for token in canonical_words(value) if token not in lexicon.FUNCTION_WORDS]


def check(pair: Pair) -> Finding | None:
    """Whether a statement of the same frame holds other words of meaning."""
    other = _other_value(pair)
    if other:
        return other
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
