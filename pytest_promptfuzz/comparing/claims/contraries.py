"""Words that exclude each other, each said of the same thing: "full refund", "half of the refund"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import lexicon
from pytest_promptfuzz.comparing.claims.places import around, beside
from pytest_promptfuzz.comparing.guards import choices, polarity
from pytest_promptfuzz.comparing.guards.pair import Finding
from pytest_promptfuzz.comparing.word_lists import when_used
from pytest_promptfuzz.comparing.words import canonical_set

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.reading.answer import Answer, Token

_LOOSE = canonical_set(
    """only all any entire whole sell sold buy purchase give take enter exit before after until together alone twice
    half leave stay must may can receive get send start begin end finish continue stop connect separate live die
    afford affordable cost"""
)
"""Words that a rewording may use for their contraries, as "before" and "after" with the parts turned round."""
_EXCLUDING = when_used(
    lambda: (choices.TRIGGERS | frozenset(polarity.TRIGGERS)) - frozenset(_LOOSE) - lexicon.FUNCTION_WORDS
)
"""Words that may have a contrary."""
_BESIDE = 2
"""Telling words beside both, from which they are said of the same thing."""
_SHORT = 2
"""Other telling words of a short statement: "Decision: reject the return"."""


def contrary(baseline: Answer, response: Answer) -> Finding | None:
    """A word of the baseline whose contrary is said of the same thing in the response, as often denied."""
    gone = (baseline.stems & _EXCLUDING) - response.stems
    come = (response.stems & _EXCLUDING) - baseline.stems
    contraries = {each: {other for other in come if _exclude(each, other)} for each in gone}
    for token in baseline.standing([each for each in gone if contraries[each]]):
        for other in response.standing(contraries[token.stem]):
            if other.telling and _of_the_same(token, other) and _negators(token) == _negators(other):
                return Finding(
                    "opposites", "contradiction", f"{token.text!r} in the baseline became {other.text!r}"
                )
    return None


def _exclude(one: str, two: str) -> bool:
    return two in choices.excluded_by(one) or polarity.opposed(one, two)


def _of_the_same(one: Token, two: Token) -> bool:
    """Whether two words stand by the same ones, or in short statements of which one has a word of the other."""
    if len(around(one) & around(two)) >= _BESIDE:
        return True
    here, there = beside(one), beside(two)
    return min(len(here), len(there)) <= _SHORT and not here.isdisjoint(there)


def _negators(token: Token) -> int:
    """How many there are in the statement: "not full" is what "half" may say."""
    return sum(other.stem in lexicon.NEGATORS for other in token.statement.pieces)
