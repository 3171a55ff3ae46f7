"""Small words that carry meaning: where and whither, whose, and when; alone they differ in hardly a letter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing.guards.pair import Finding
from pytest_promptfuzz.comparing.guards.polarity import written
from pytest_promptfuzz.comparing.lexicon import word_set
from pytest_promptfuzz.comparing.words import canonical

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.guards.pair import Pair

_FRAME = 0.6
"""Word similarity from which two statements count as the same with other small words."""


def _tokens(words: str) -> frozenset[str]:
    return frozenset(token for word in words.split() for token in canonical(word))


_PLACES = _tokens(
    """on in under over into onto from to before after with without for against about through between behind beside
    above below inside outside near until during within since toward towards up down off across beneath"""
) | {"out"}
"""Prepositions that say another thing each. Not "of", "at" and "by", which stand for many."""

_ENDS = tuple(
    (_tokens(one), _tokens(two))
    for one, two in (
        ("for with", "against"),
        ("into in inside onto", "out outside off"),
        ("to toward towards into", "from"),
        ("over above", "under below beneath"),
        ("before until", "after since"),
        ("within", "after"),
        ("up", "down"),
        ("with", "without"),
    )
)
_OWNERS = ("my mine", "your yours", "his", "her hers", "our ours", "their theirs", "its")
_OWNER = {token: index for index, words in enumerate(_OWNERS) for token in _tokens(words)}
_TIMES = ("is are am", "was were", "will shall")
_TIME = {token: index for index, words in enumerate(_TIMES) for token in _tokens(words)}
_BESIDE = word_set("a an the of be been")
"""What may stand beside a small word where it changed: "out of", "will be"."""

_SUBJECTS = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
_PERSONS = {form: subject for subject, form in _SUBJECTS.items()} | {
    each: each for each in (*_SUBJECTS, "you")
}


def check(pair: Pair) -> Finding | None:
    """Whether otherwise equal statements differ in where, whose or when, or in who does it to whom."""
    doubt: Finding | None = None
    for side in pair.sides:
        found = _exchanged(side)
        if found:
            return found
        if side.similarity < _FRAME:
            continue
        for gone, come in side.edits:
            found = _turned(side, gone, come)
            if found and found.kind == "contradiction":
                return found
            doubt = doubt or found
    return doubt


def _turned(side: Pair, gone: tuple[str, ...], come: tuple[str, ...]) -> Finding | None:
    one, two = ([token for token in each if token not in _BESIDE] for each in (gone, come))
    if len(one) != 1 or len(two) != 1:
        return None
    old, new = one[0], two[0]
    moved = old not in side.changed[0] or new not in side.changed[1]
    if moved or old == new:
        return None
    for group in (_OWNER, _TIME):
        if old in group and new in group and group[old] != group[new]:
            return _finding(side, old, new, "doubt")
    if old in _PLACES and new in _PLACES:
        opposed = any((old in a and new in b) or (old in b and new in a) for a, b in _ENDS)
        return _finding(side, old, new, "contradiction" if opposed else "doubt")
    return None


def _finding(side: Pair, old: str, new: str, kind: str) -> Finding:
    said = f"{written(side, old)!r} in the baseline became {written(side, new, response=True)!r}"
    return Finding("particles", "contradiction" if kind == "contradiction" else "doubt", said)


def _exchanged(side: Pair) -> Finding | None:
    """The same statement with the persons in each other's place: "he owes me", "I owe him"."""
    one, two = side.middle_a, side.middle_b
    if len(one) != len(two) or one == two:
        return None
    first, second = ([_PERSONS.get(token, token) for token in each] for each in (one, two))
    apart = [index for index, (a, b) in enumerate(zip(first, second, strict=True)) if a != b]
    if len(apart) != 2:
        return None
    here, there = apart
    persons = {first[here], first[there]}
    if persons <= set(_PERSONS.values()) and first[here] == second[there] and first[there] == second[here]:
        return Finding("particles", "contradiction", f"{first[here]!r} and {first[there]!r} changed places")
    return None
