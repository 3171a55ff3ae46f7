"""Conditions and exceptions: what holds always in one text and under a condition in the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import lexicon
from pytest_promptfuzz.comparing.guards.pair import Finding
from pytest_promptfuzz.comparing.guards.polarity import written
from pytest_promptfuzz.comparing.lexicon import word_set

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.guards.pair import Pair

CONDITIONS = word_set(
    """if unless only except until whether provided wenn falls sofern nur außer bis si seulement sauf solo sólo
    salvo excepto se tranne als tenzij alleen behalve"""
)
"""Words that bring a condition, an exception or a limit."""

_BINDING = word_set(
    "if unless except wenn falls sofern nur außer seulement sauf sólo salvo excepto tranne tenzij behalve"
)
_ELSEWHERE = word_set(
    "when whenever once after until while in should who whose which for with without by but only not"
)
"""What may say in the other text what a condition says in the first."""
_POLITE = word_set(
    "like wish want prefer need have necessari possibl applic appropri any so not in desir requir ever at"
)
_FEWEST = 3


def check(pair: Pair) -> Finding | None:
    """Whether one text is the other one and a condition."""
    gone, come = pair.changed
    if _BINDING.isdisjoint(gone) and _BINDING.isdisjoint(come):
        return None
    for side in pair.sides:
        found = _added(side)
        if found:
            return found
    return None


def _added(side: Pair) -> Finding | None:
    less, more = side.residue
    if bool(less) == bool(more):
        return None
    response = bool(more)
    short, long = (side.a, side.b) if response else (side.b, side.a)
    words = (_BINDING & long.token_set) - short.token_set
    if len(words) != 1 or len(short.content) < _FEWEST:
        return None
    (word,) = words
    at = long.tokens.index(word)
    following = [
        token for token in long.tokens[at + 1 :] if token not in {"you", "i", "it", "is", "this", "that"}
    ]
    if not following or following[0] in _POLITE or not _BINDING.isdisjoint(short.token_set):
        return None
    extra = lexicon.FUNCTION_WORDS | set(more or less)
    if not _ELSEWHERE.isdisjoint(short.token_set - long.token_set) or not extra.issuperset(following[:1]):
        return None
    which = "response" if response else "baseline"
    return Finding(
        "conditions",
        "contradiction",
        f"only the {which} puts a condition on what both say ({written(side, word, response=response)!r})",
    )
