"""Answers that say there is nothing to give: "None", "N/A", "No dosage is mentioned in the text"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import lexicon
from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.text import Text

_GIVEN = (
    r"(?:mentioned|stated|given|specified|provided|listed|named|found|included|indicated|recorded|disclosed|known|available"
    r"|applicable)"
)
_SOURCE = (
    r"(?:text|document|letter|article|passage|review|message|e-?mail|contract|receipt|invoice|context|report|form|note"
    r"|data|description|conversation|transcript|ticket|content|excerpt|paragraph|source|input|file|post|page)"
)
_IN = rf"(?: (?:in|by|on|from) (?:the|this|your)(?: \w+)? {_SOURCE}| here| anywhere)?"
_BARE = expression(
    rf"(?:none|n/?a|null|nil|unknown|nothing|-|–|—|not {_GIVEN}{_IN}|none {_GIVEN}{_IN}|unspecified|missing"
    rf"|i (?:could not|couldn't|cannot|can't|did not|didn't) find (?:it|this|that|any|one){_IN}"
    r"|keine(?: angaben?)?|nicht (?:angegeben|genannt|bekannt|vorhanden|erwähnt)|unbekannt|aucune?|inconnue?"
    r"|non (?:précisée?|mentionnée?|indiquée?|renseignée?|specificato|indicato|menzionato)|ningun[oa]|desconocid[oa]"
    r"|no (?:especificad|mencionad|indicad)[oa]|nessun[oa]?|sconosciut[oa]|geen|onbekend"
    r"|niet (?:vermeld|opgegeven|bekend))"
)
_SENTENCE = expression(
    rf"no [^.,;:!?]{{1,40}}? (?:is|are|was|were|has been|have been|can be) {_GIVEN}{_IN}"
    rf"|(?:the|this|your)(?: \w+)? {_SOURCE} (?:does not|doesn't|do not|don't) (?:explicitly )?(?:mention|state"
    r"|specify|say|give|name|list|contain|include|provide|indicate)\b[^.;:!?]{0,50}"
    rf"|there (?:is|are) no (?:mention|information|indication|reference|details?)\b[^.;:!?]{{0,50}}"
    rf"|(?:the|its|their|an?) [^.,;:!?]{{1,40}}? (?:is|are|was|were|has|have)(?: not|n't)(?: been)?(?: explicitly)?"
    rf" {_GIVEN}{_IN}(?: in [^.;:!?]{{1,40}})?"
)
_KEY = expression(r"\A[^:\n]{1,40}:\s+(?=\S)")
_LONGEST = 120
_FEW = 3
"""Words from which an answer that says so holds a "not" or a "no"."""


def absent(text: Text) -> str:
    """``barely`` where an answer is nothing but "none" or alike, ``wholly`` where a sentence says so, else ``""``."""
    if len(text.clean) > _LONGEST or (len(text.tokens) > _FEW and lexicon.NEGATORS.isdisjoint(text.tokens)):
        return ""
    said = text.clean.casefold().replace("’", "'").strip(" \t\n.!\"'()[]")
    if _BARE.fullmatch(said) or _BARE.fullmatch(_KEY.sub("", said)):
        return "barely"
    return "wholly" if _SENTENCE.fullmatch(said) else ""


def key(text: Text) -> str:
    """What stands before the colon of a line "key: value", lower-cased; empty where there is none."""
    found = _KEY.match(text.clean)
    return re.sub(r"\W+", " ", found[0].casefold()).strip() if found else ""
