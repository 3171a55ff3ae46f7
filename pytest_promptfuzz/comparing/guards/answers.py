"""What kind of answer it is: a refusal, a yes or a no."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import lexicon
from pytest_promptfuzz.comparing.lexicon import word_set
from pytest_promptfuzz.comparing.tokens import canonical_words
from pytest_promptfuzz.comparing.words import split_words
from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.text import Text

_OPENING = 240
_CLAUSE_END = expression(r"[.;!?]\s|,? (?:but|unless|except|however|although|though)\b")
_TASKS = (
    "help|assist|provide|answer|comply|do that|do this|fulfil|generate|create|write|classify|extract|summari[sz]e"
    "|translate|process|complete|discuss|engage|share|offer|give|support|respond|continue"
)
_SORRY = r"(?:i(?:'m| am)(?: really| very| so)? (?:sorry|afraid)|i apologi[sz]e|unfortunately)"
_UNABLE = r"(?:can(?:'t|not| not)|(?:do|could|wo) ?n't|will not|must decline to|(?:am|'m) (?:unable|not able)(?: to)?)"
# What assistants say when they decline: "As an AI …", "I'm sorry, but I can't …", "I am unable to help …".
_REFUSAL = expression(
    r"\bas an? (?:ai|artificial intelligence|(?:large )?language model)\b"
    rf"|\b{_SORRY}\b[^.!?]{{0,20}}?[,.]?\s*(?:but )?(?:that )?i ?{_UNABLE}"
    rf"|\bi ?{_UNABLE}\s+(?:be able to\s+)?(?:directly\s+)?(?:{_TASKS})"
)
# What every refusal but "As an AI …" holds, found much sooner.
_SPEAKER = expression(r"i ?(?:can|do|could|wo|will|must|am|'m)")
_HINTS = word_set(
    "not sorry afraid unfortunat unfortunate apologiz apologis fortunat fortunate ai language decline declin"
)
_STATED = r"(?=\s*(?:[,.!;:–—-]|\Z)|\s+(?:you|it|the|this|that|we|they|i|he|she|there|sir|please)\b)"
_ANSWER = r"\A(?:answer:\s*)?"
_AGREES = "yeah|yep|yup|affirmative|absolutely|certainly|definitely|of course|sure|correct|true|ja|si|sí|oui"
_DENIES = "no|nope|nah|negative|incorrect|false|(?:absolutely|certainly|definitely|of course) not|nein|non"
_YES = expression(rf"{_ANSWER}(?:yes\b|(?:{_AGREES}){_STATED})", re.IGNORECASE)
_NO = expression(rf"{_ANSWER}(?:{_DENIES}){_STATED}", re.IGNORECASE)


def refuses(text: Text) -> bool:
    """Whether the answer opens by declining to answer, in the words models use for it."""
    if _HINTS.isdisjoint(text.token_set):
        return False
    opening = text.clean[:_OPENING].lower().replace("’", "'")
    return bool(("as a" in opening or _SPEAKER.search(opening)) and _REFUSAL.search(opening))


def polarity(text: Text) -> int:
    """+1 where an answer opens with yes, -1 where it opens with no, 0 where with neither."""
    opening = text.clean[:24]
    first = opening[:1]
    if first not in "yYnNaAcCdDtTiIfFoOsSjJ":
        return 0
    if _NO.match(opening):
        return -1
    return 1 if _YES.match(opening) else 0


_CONDITION = expression(
    r"\b(?:only|unless|except|provided|providing|as long as|if|depends|depending)\b", re.IGNORECASE
)


def conditional(text: Text) -> bool:
    """Whether a yes or no holds under a condition: "Yes, but only on Sundays"."""
    return bool(_CONDITION.search(text.sentences[0] if text.sentences else ""))


def is_bare(text: Text) -> bool:
    """Whether the answer is nothing but its yes or no."""
    return len(text.words) <= 2


def denies(text: Text) -> bool:
    """Whether a negator stands in the answer's first clause."""
    clause = _CLAUSE_END.split(text.clean, maxsplit=1)[0]
    return not lexicon.NEGATORS.isdisjoint(canonical_words(split_words(clause)))
