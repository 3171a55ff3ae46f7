"""Words that exclude each other, each said of the same thing: "full refund", "half of the refund"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import lexicon
from pytest_promptfuzz.comparing.claims.negations import denials
from pytest_promptfuzz.comparing.claims.places import around
from pytest_promptfuzz.comparing.guards.choices import excluded_by
from pytest_promptfuzz.comparing.guards.pair import Finding
from pytest_promptfuzz.comparing.guards.polarity import opposed
from pytest_promptfuzz.comparing.words import canonical_set

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.reading.answer import Answer, Token

_LOOSE = canonical_set(
    """only all any entire whole sell sold buy purchase give take enter exit before after until together alone twice
    half leave stay must may can receive get send start begin end finish continue stop connect separate live die
    afford affordable cost"""
)
"""Words that a rewording may use for their contraries, as "before" and "after" with the parts turned round."""
_BESIDE = 2
"""Telling words beside both, from which they are said of the same thing."""


def contrary(baseline: Answer, response: Answer) -> Finding | None:
    """A word of the baseline whose contrary stands by the same telling word in the response."""
    denied: set[Token] | None = None
    only_after = [token for token in response.words if token.stem not in baseline.stems and token.telling]
    for token in baseline.words:
        if token.stem in response.stems or token.stem in _LOOSE or token.stem in lexicon.FUNCTION_WORDS:
            continue
        exclusive = excluded_by(token.stem)
        for other in only_after:
            if other.stem in _LOOSE or not (other.stem in exclusive or opposed(token.stem, other.stem)):
                continue
            if len(around(token) & around(other)) < _BESIDE:
                continue
            if denied is None:
                denied = {
                    each for answer in (baseline, response) for one in denials(answer) for each in one.ahead
                }
            if (token in denied) == (other in denied):
                return Finding(
                    "opposites", "contradiction", f"{token.text!r} in the baseline became {other.text!r}"
                )
    return None
