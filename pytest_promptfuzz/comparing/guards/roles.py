"""Who did what to whom: two parties that changed places around a verb."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import lexicon
from pytest_promptfuzz.comparing.claims.arrangement import arranged
from pytest_promptfuzz.comparing.guards.pair import Finding
from pytest_promptfuzz.comparing.guards.polarity import opposed, written
from pytest_promptfuzz.comparing.lexicon import word_set
from pytest_promptfuzz.comparing.reading.answer import read
from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.comparing.guards.pair import Pair

_BE = word_set("is are was were be been being get gets got gotten")


_NUMBERED = expression(r"(?<!\S)1[.)]\s+\S")
"""The first item of a numbered list, which the guard of sequences reads."""


def check(pair: Pair) -> Finding | None:
    """Whether two parties changed places."""
    if pair.similarity > 0.999 or (pair.similarity < 0.4 and (pair.only_a or pair.only_b)):
        return None
    if not frozenset(pair.middle_a).isdisjoint(pair.middle_b) and not _NUMBERED.search(pair.a.raw):
        exchanged = arranged(read(pair.a.raw), read(pair.b.raw)).exchanged()
        if exchanged:
            return Finding("roles", "contradiction", "{!r} and {!r} changed places".format(*exchanged))
    if pair.middle_a and pair.middle_b:
        for side in pair.sides:
            found = _declined(side) or _stood_in(side)
            if found:
                return found
    if "by" not in pair.only_a and "by" not in pair.only_b:
        return None
    for side in pair.sides:
        turned = _turned(side.a.tokens, side.b.tokens)
        if turned:
            first, second = (written(side, each) for each in turned)
            return Finding("roles", "contradiction", f"{first!r} and {second!r} changed places")
    return None


def _declined(side: Pair) -> Finding | None:
    """Who does what to whom in German: the article says it, wherever the noun stands."""
    if _CASES.isdisjoint(side.a.token_set) or _CASES.isdisjoint(side.b.token_set):
        return None
    if not (side.only_a | side.only_b) <= _ARTICLES_ABROAD or not _PASSIVE.isdisjoint(side.a.token_set):
        return None
    here, there = _cases(side.a.tokens), _cases(side.b.tokens)
    for noun, article in here.items():
        if {article, there.get(noun)} in ({"der", "den"}, {"der", "dem"}):
            said = f"{article} {written(side, noun)} became {there[noun]} {written(side, noun)}"
            return Finding("roles", "contradiction", said)
    return None


_CASES = frozenset({"der", "den", "dem"})
_ARTICLES_ABROAD = word_set("der die das den dem des ein eine einen einem einer")
_PASSIVE = word_set("wird werden wurde wurden worden")


def _cases(tokens: Sequence[str]) -> dict[str, str]:
    """The nouns that follow an article of their own, each with it."""
    return {noun: article for article, noun in pairwise(tokens) if article in _CASES and noun not in _CASES}


def _stood_in(side: Pair) -> Finding | None:
    """One of two opposite parties does what the other one does in the other text: "the landlord pays", "the tenant"."""
    if side.similarity < _EQUAL:
        return None
    for gone, come in side.edits:
        old, new = _meaningful(gone), _meaningful(come)
        if len(old) == 1 == len(new) and opposed(old[0], new[0]):
            said = (
                f"{written(side, old[0])!r} in the baseline became {written(side, new[0], response=True)!r}"
            )
            return Finding("roles", "contradiction", said)
    return None


_EQUAL = 0.8
"""Likeness of two statements from which one is the other with a word replaced."""


def _turned(a: Sequence[str], b: Sequence[str]) -> tuple[str, str] | None:
    """Active against passive with the parties as they stood: "A bought B" and "A was bought by B"."""
    if ("by" in a) == ("by" in b):
        return None
    active, passive = (b, a) if "by" in a else (a, b)
    at = len(passive) - 1 - list(reversed(passive)).index("by")
    after = _meaningful(passive[at + 1 :])
    if at < 2 or not after:
        return None
    verb = passive[at - 1]
    if verb not in active or not _BE & set(passive[max(0, at - 4) : at]):
        return None
    before = _meaningful(passive[: at - 1])
    place = list(active).index(verb)
    subject, target = _meaningful(active[:place]), _meaningful(active[place + 1 :])
    if before and after[0] in target and before[-1] in subject and after[0] not in subject:
        return before[-1], after[0]
    return None


def _meaningful(tokens: Sequence[str]) -> list[str]:
    return [token for token in tokens if token not in lexicon.FUNCTION_WORDS]
