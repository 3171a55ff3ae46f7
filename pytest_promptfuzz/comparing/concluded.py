"""The label that a short answer ends up with, where it mentions others on the way: "…, hence: exchange."."""

from __future__ import annotations

import re

from pytest_promptfuzz.comparing.lexicon import word_set
from pytest_promptfuzz.expressions import expression

_LABEL = r"(?P<label>[^\W_][\w-]{0,30}(?: [\w-]{1,30}){0,2}?)"
_EDGE = "[*_\"'`“”]{0,3}"
_END = rf"{_EDGE}[ \t]{{0,3}}(?:\Z|[.!\n;])"
_FITS = (
    r"(?:is|would be|seems|remains)[ ](?:the[ ]|an?[ ])?(?:clearly[ ])?(?:much[ ])?"
    r"(?:right|correct|best|better|proper|appropriate|fitting|suitable|most[ ]\w+|more[ ]\w+)"
    r"(?:[ ](?:label|category|class|choice|fit|answer|one|option|match|here))?"
    r"|fits[ ](?:best|better|most)|(?:suits|matches)[ ](?:it[ ])?(?:best|better)|applies|it[ ]is"
)
_FORMS = (
    # What follows "hence:" is given, whatever stands before it.
    expression(
        r"(?:\b(?:hence|so|therefore|thus|ergo|consequently|accordingly|conclusion|in conclusion|final answer)[ ]?:"
        r"|\b(?:hence|therefore|thus|ergo|consequently|accordingly),?(?= )|→|=>|⇒)"
        rf"[ \t]{{0,3}}(?:(?:it is|it's|this is) )?(?:an? |the )?{_EDGE}{_LABEL}{_END}",
        re.IGNORECASE,
    ),
    expression(
        rf"(?:\A|[,;:.][ ])(?:(?:but|yet|though|however|and|so|the)[ ,]{{1,2}})?{_EDGE}{_LABEL}{_EDGE}[ ]"
        rf"(?:{_FITS})\b{_END}",
        re.IGNORECASE,
    ),
    # "Shipping (the customer mentions billing)", "Exchange. The customer first asked for a refund."
    expression(
        rf"\A{_EDGE}(?P<label>[^\W\d_][\w-]{{0,30}}(?: [\w-]{{1,30}})?){_EDGE} "
        r"[(\[]\S{1,30} [^()\[\]\n]{1,200}[)\]](?=\W{0,3}\Z|[.;] )"
    ),
    expression(rf"\A{_EDGE}(?P<label>[^\W\d_][\w-]{{0,30}}){_EDGE}\.{_EDGE} (?=\S{{1,30}} \S{{1,30}} \S)"),
)
_NONE = word_set(
    """yes no not none sure ok okay well hello hi hey thanks certainly absolutely right correct true false indeed
    maybe perhaps i we you he she they it this that these those there here what how so my your done understood got
    great good alright unclear unknown because since and or but if answer label category reason result note summary"""
)


def concluded(text: str) -> str | None:
    """The label that an answer draws as its conclusion; ``None`` where it draws none, or several.

    >>> concluded("The customer asks for a refund, hence: exchange.")
    'exchange'
    """
    if "\n" in text.strip():
        return None
    for form in _FORMS:
        found = {match["label"].casefold() for match in form.finditer(text)}
        found = {each for each in found if _NONE.isdisjoint(each.split())}
        if found:
            return found.pop() if len(found) == 1 else None
    return None


def joined(key: tuple[str, ...], at: int, tokens: list[str]) -> bool:
    """Whether a label stands beside another that is given with it: "billing and shipping".

    Args:
        key: The label's tokens.
        at: Where they stand.
        tokens: Those of the answer.
    """
    end = at + len(key)
    behind = tokens[end : end + 1] == ["and"] and end + _SECOND >= len(tokens) > end + 1
    ahead = end == len(tokens) and at > 1 and tokens[at - 1] == "and"
    return behind or ahead


_SECOND = 3
"""Tokens at an answer's end in which "and" and another label stand."""
