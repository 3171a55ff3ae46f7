"""Answers that do not answer: refusals in the words models use for them, platitudes, questions asked back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing.lexicon import word_set
from pytest_promptfuzz.comparing.word_lists import alternatives
from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.text import Text

_OPENING = 240
_MOST = 60
"""Words up to which an answer may be nothing but an evasion."""

_HINTS = word_set(
    """sorry afraid unfortunat unfortunate apologiz apologis fortunat fortunate ai language decline declin deny no
    rather leider nicht pas désolé siento non dispiace spijt niet helaas against beyond outsid hard best violat
    impossible kein keine keinen prefer no não desculpe lamento infelizmente"""
)
_OF_ONESELF = frozenset({"not", "only"})
"""Words of a refusal where the answer speaks of itself: "I cannot", "I can only"."""


_REFUSAL = expression(lambda: alternatives("refusals.tsv", "plain"))
_SOFT_REFUSAL = expression(lambda: alternatives("refusals.tsv", "soft"))
_EVASION = expression(lambda: alternatives("refusals.tsv", "evasive"))


def declines(text: Text) -> str:
    """``plainly`` where an answer opens by declining, ``softly`` where less so or in another language, else ``""``."""
    tokens = text.token_set
    if _HINTS.isdisjoint(tokens) and ("i" not in tokens or _OF_ONESELF.isdisjoint(tokens)):
        return ""
    opening = text.clean[:_OPENING].lower().replace("’", "'")
    if _REFUSAL.search(opening):
        return "plainly"
    return "softly" if _SOFT_REFUSAL.search(opening) else ""


def evades(text: Text) -> bool:
    """Whether an answer may say nothing: it asks back, or names what one could consider."""
    if len(text.tokens) > _MOST:
        return False
    return bool(_EVASION.search(text.clean.lower().replace("’", "'")))
