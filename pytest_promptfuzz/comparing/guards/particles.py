"""Small words that carry meaning: where and whither, whose, and when; alone they differ in hardly a letter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import lexicon
from pytest_promptfuzz.comparing.guards.pair import Finding
from pytest_promptfuzz.comparing.guards.polarity import written
from pytest_promptfuzz.comparing.lexicon import word_set
from pytest_promptfuzz.comparing.word_lists import when_used
from pytest_promptfuzz.comparing.words import canonical_set

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.guards.pair import Pair

_FRAME = 0.6
"""Word similarity from which two statements count as the same with other small words."""

_SHORT_FRAME = 0.4
"""The same of statements as short as "I doubt it" and "I am sure of it"."""


_PLACES = canonical_set(
    """on in under over into onto from to before after with without for against about through between behind beside
    above below inside outside near until during within since toward towards up down off out across beneath"""
)
"""Prepositions that say another thing each. Not "of", "at" and "by", which stand for many."""

_ENDS = tuple(
    (canonical_set(one), canonical_set(two))
    for one, two in (
        ("for with", "against"),
        ("into in inside onto", "out outside off"),
        ("to toward towards into", "from"),
        ("over above", "under below beneath"),
        ("before until", "after since"),
        ("within", "after"),
        ("up", "down"),
    )
)
_OWNERS = ("my mine", "your yours", "his", "her hers", "our ours", "their theirs", "its")
_OWNER = when_used(
    lambda: {token: index for index, words in enumerate(_OWNERS) for token in canonical_set(words)}
)
_TIMES = ("is are am", "was were", "will shall")
_TIME = when_used(
    lambda: {token: index for index, words in enumerate(_TIMES) for token in canonical_set(words)}
)
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
        found = _exchanged(side) or _compared(side) or _narrowed(side) or _doubted(side)
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
    if old == new:
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


def _compared(side: Pair) -> Finding | None:
    """A comparison turned round: "the A380 carries more than the 747", "the 747 carries more than the A380"."""
    one, two = side.a.tokens, side.b.tokens
    if one.count("than") != 1 or two.count("than") != 1 or any(side.changed):
        return None
    first, second = _sides_of_than(one), _sides_of_than(two)
    if not first[1] or len(first[0]) == 0 or first == second:
        return None
    subject, other = first[0][: len(second[1])], first[1]
    if subject == second[1] and second[0][: len(other)] == other and subject != other:
        said = f"{written(side, subject[0])!r} and {written(side, other[0])!r} changed places around 'than'"
        return Finding("particles", "contradiction", said)
    return None


def _sides_of_than(tokens: list[str]) -> tuple[list[str], list[str]]:
    at = tokens.index("than")
    before, behind = (
        [each for each in part if each not in _LIGHT] for part in (tokens[:at], tokens[at + 1 :])
    )
    return before, behind


def _narrowed(side: Pair) -> Finding | None:
    """A statement of some alone: "only managers may", "almost all", against one of all of them."""
    one, two = side.middle_a, side.middle_b
    if bool(one) == bool(two):
        return None
    longer, which = (side.a, "baseline") if one else (side.b, "response")
    extra = one or two
    if len(extra) != 1:
        return None
    tokens, at, word = longer.tokens, side.start, extra[0]
    following = tokens[at + 1] if at + 1 < len(tokens) else ""
    subject = word == "only" and not at and len(tokens) > _SHORTEST
    nearly = word in _NEARLY and following in _WHOLE
    if subject or nearly:
        said = f"{written(side, word, response=which == 'response')!r} is in the {which} only"
        return Finding("particles", "contradiction", said)
    return None


def _doubted(side: Pair) -> Finding | None:
    """A doubt for what is held to be so: "I doubt that", "I am sure that"."""
    if side.similarity < _SHORT_FRAME or not lexicon.NEGATORS.isdisjoint((*side.middle_a, *side.middle_b)):
        return None
    for gone, come in side.edits:
        for doubting, sure in ((gone, come), (come, gone)):
            if not _DOUBTS.isdisjoint(doubting) and not _SURE.isdisjoint(sure):
                return Finding(
                    "particles", "contradiction", "what one of the texts doubts the other is sure of"
                )
    return None


_LIGHT = word_set("a an the")
_SHORTEST = 3
_NEARLY = canonical_set("almost nearly virtually practically")
_WHOLE = canonical_set("all every everyone everybody everything each none nobody nothing")
_DOUBTS = canonical_set("doubt doubts doubted")
_SURE = canonical_set(
    "sure certain confident convinced believe believes know knows think thinks positive expect trust"
)
