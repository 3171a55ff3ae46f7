"""What similarity of meaning must not pass: words that decide an answer and stand in one of the texts only.

An embedding holds "must" and "may", "known" and "no known", Monday and Tuesday to be nearly the same. Where the texts
differ in such a word and no guard could tell what it does there, they may be close, but not equivalent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import lexicon
from pytest_promptfuzz.comparing.guards.choices import DECIDING as _CHOICES
from pytest_promptfuzz.comparing.guards.conditions import CONDITIONS
from pytest_promptfuzz.comparing.guards.modality import forces
from pytest_promptfuzz.comparing.guards.polarity import TRIGGERS as _POLARITY
from pytest_promptfuzz.comparing.guards.polarity import written
from pytest_promptfuzz.comparing.lexicon import word_set
from pytest_promptfuzz.comparing.tokens import MONTH_TOKENS
from pytest_promptfuzz.comparing.word_lists import when_used
from pytest_promptfuzz.comparing.words import canonical, canonical_set

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.guards.pair import Pair
    from pytest_promptfuzz.comparing.text import Text

_DECIDING = when_used(lambda: (_CHOICES | lexicon.NEGATORS) - lexicon.FUNCTION_WORDS | CONDITIONS)
_COMMON = canonical_set("get give take")
_SCALES = when_used(lambda: _POLARITY - _DECIDING - lexicon.FUNCTION_WORDS - _COMMON)
_TOGETHER = frozenset({"leave", "possible", "certain", "assured", "right", "grace", "ban", "spared"})
"""What "can" and "may" say alike, what a tense may say as well, and what only counts against its opposite."""


_OF_DEGREE = word_set(
    """very highly extremely somewhat slightly mostly partly partially semi rather quite fairly strongly
    weakly mildly possible potential possibly potentially probable probably likely suspected not non un
    almost nearly low high medium more less most least anything far false fake pseudo free pre ex anti former"""
)
DEGREES = when_used(lambda: _OF_DEGREE | {canonical(word)[0] for word in _OF_DEGREE})
"""What makes another thing of the word behind it."""


_ARTICLES = word_set("der die das den dem des ein eine einen einem einer")


def _ordered(text: Text) -> list[str]:
    return sorted(token for token in text.content if token not in _ARTICLES)


_RESTRICTING = when_used(lambda: (_DECIDING | DEGREES) - MONTH_TOKENS)


def restricts(tokens: list[str]) -> bool:
    """Whether a word among tokens may turn or narrow what it is added to: a negator, a degree, a condition."""
    return any(token in _RESTRICTING for token in tokens)


def forced(pair: Pair) -> str | None:
    """What only one of two texts says is a duty, allowed, possible or sure; ``None`` where both say the same."""
    one, two = (forces(text.tokens).keys() - _TOGETHER for text in (pair.a, pair.b))
    return f"only one of the answers says what is {min(one ^ two)}" if one != two else None


def at_stake(pair: Pair) -> str | None:
    """What two texts differ in that decides an answer; ``None`` where they differ in nothing of the kind."""
    gone, come = pair.changed
    for tokens, others, which in ((gone, pair.only_b, "baseline"), (come, pair.only_a, "response")):
        for token in sorted(tokens):
            # What may have taken the place of one end of a scale is the other end, by a word that is not known here.
            if (
                token in _DECIDING
                or token[0].isdigit()
                or (token in _SCALES and others - lexicon.FUNCTION_WORDS - _COMMON)
            ):
                return f"{written(pair, token, response=which == 'response')!r} is in the {which} only"
    if forced(pair):
        return forced(pair)
    declined = not _ARTICLES.isdisjoint(pair.only_a | pair.only_b) and _ordered(pair.a) == _ordered(pair.b)
    if len(set(pair.a.tokens)) > 1 and (pair.a.token_set == pair.b.token_set or declined):
        return "the words stand in another order"
    return None
