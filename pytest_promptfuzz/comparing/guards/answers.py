"""What kind of answer it is: a yes or a no, bare or under a condition."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import lexicon
from pytest_promptfuzz.comparing.lexicon import word_set
from pytest_promptfuzz.comparing.tokens import canonical_words
from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.text import Text

_CLAUSE_END = expression(r"[.;!?]\s|,? (?:but|unless|except|however|although|though)\b")
_STATED = r"(?=\s*(?:[,.!;:–—-]|\Z)|\s+(?:you|it|the|this|that|we|they|i|he|she|there|sir|please)\b)"
_ANSWER = r"\A(?:answer:\s*)?"
_AGREES = "yeah|yep|yup|affirmative|absolutely|certainly|definitely|of course|sure|correct|true|ja|si|sí|oui"
_DENIES = (
    "no|nope|nah|negative|incorrect|false|(?:absolutely|certainly|definitely|of course) not"
    "|not at all|by no means|nein|non"
)
LABELS = word_set("negative incorrect false affirmative correct true")
"""What says yes or no to a question, and is a label elsewhere."""
_YES = expression(rf"{_ANSWER}(?:yes\b|(?:{_AGREES}){_STATED})", re.IGNORECASE)
_NO = expression(rf"{_ANSWER}(?:{_DENIES}){_STATED}", re.IGNORECASE)


def polarity(text: Text) -> int:
    """+1 where an answer opens with yes, -1 where it opens with no, 0 where with neither, or with both."""
    return 0 if _BOTH.match(text.clean) else _opening(text.clean[:24])


_LINK = r"\b[ ,]{0,2}(?:and|or|but)(?: also)?\b[ ,]{0,2}"
_BOTH = expression(rf"{_ANSWER}(?:yes{_LINK}no|no{_LINK}yes)(?=\s*(?:[,.!;:–—-]|\Z))", re.IGNORECASE)


@lru_cache(maxsize=4096)
def _opening(text: str) -> int:
    if _NO.match(text):
        return -1
    return 1 if _YES.match(text) else 0


_CONDITION = expression(
    r"\b(?:only|unless|except|provided|providing|as long as|if|depends|depending)\b", re.IGNORECASE
)


def conditional(text: Text) -> bool:
    """Whether a yes or no holds under a condition: "Yes, but only on Sundays"."""
    return bool(_CONDITION.search(text.sentences[0] if text.sentences else ""))


_VERDICT = expression(
    r"\A(?:(?:the|this|that|your)\s+)?(?:statement|claim|assertion|sentence|answer|assumption|it|this|that)(?:\s+(?:above|given))?"
    r"(?:\s+is|['’]s|\s+would\s+be|\s+was)\s+(?P<not>not\s+)?(?:clearly\s+|in\s+fact\s+|actually\s+)?"
    r"(?:(?P<yes>true|correct|right|accurate)|false|incorrect|wrong|untrue|inaccurate)\W*\Z",
    re.IGNORECASE,
)


def verdict(text: Text) -> int:
    """+1 where an answer is "The statement is true." or alike, -1 where it says that it is false, else 0."""
    found = _VERDICT.match(text.clean)
    if not found:
        return 0
    return 1 if bool(found["yes"]) != bool(found["not"]) else -1


def is_bare(text: Text) -> bool:
    """Whether the answer is nothing but its yes or no: "Yes.", "No, it does not."."""
    return len(text.words) <= _FEW or (len(text.words) <= _ECHO and _ECHOES.issuperset(text.tokens))


_FEW = 2
_ECHO = 5
_ECHOES = word_set(
    """yes no not it they you we i he she this that there is are was were do does did can could will would should must
    may might has have had am at all by means"""
)
"""What a yes or a no repeats of the question without saying anything of its own."""


def denies(text: Text) -> bool:
    """Whether a negator stands in the answer's first clause."""
    clause = _CLAUSE_END.split(text.clean, maxsplit=1)[0]
    return not lexicon.NEGATORS.isdisjoint(canonical_words(clause))
