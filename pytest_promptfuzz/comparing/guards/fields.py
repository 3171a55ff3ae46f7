"""Lines such as "Status: shipped": a field that one of the texts leaves out, another label in one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import lexicon
from pytest_promptfuzz.comparing.guards.pair import Finding
from pytest_promptfuzz.comparing.lexicon import word_set
from pytest_promptfuzz.comparing.stated import NOUN
from pytest_promptfuzz.comparing.text import analyse
from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.guards.pair import Pair
    from pytest_promptfuzz.comparing.text import Text

_FIELD = expression(r"\s*(?P<key>[^\W\d_][\w'’ /-]{0,40}?) ?[:=]\s+(?P<value>\S[^\n]{0,80})")
_LABEL = expression(
    rf"(?:[\w'’]{{1,20}} )?{NOUN}(?: (?:of|for|der|des|du|de la|del|della|van|do|da) [\w'’ ]{{1,40}})?",
    re.IGNORECASE,
)
_BREAK = expression(r"\n+|;\s")
_ASIDE = word_set(
    "note notes comment comments reason reasons explanation confidence source sources remark remarks"
)
_FEWEST = 2
_MOST_WORDS = 3


def check(pair: Pair) -> Finding | None:
    """Whether a field of the one text is missing from the other, or a label in it is another one."""
    if ":" not in pair.a.raw or ":" not in pair.b.raw:
        return None
    one, two = pair.a.once(_fields), pair.b.once(_fields)
    if not one or not two:
        return None
    shared = one.keys() & two.keys()
    for key in one:
        if key in shared and _LABEL.fullmatch(key) and _other(one[key], two[key]):
            return Finding(
                "fields", "contradiction", f"{key}: {one[key]!r} in the baseline became {two[key]!r}"
            )
    if len(shared) < _FEWEST:
        return None
    for here, there, which in ((one, two, "response"), (two, one, "baseline")):
        missing = [key for key in here if key not in there and key not in _ASIDE]
        if missing and there.keys() <= here.keys():
            return Finding("fields", "contradiction", f"the field {missing[0]!r} is missing from the {which}")
    return None


def _fields(text: Text) -> dict[str, str]:
    """The fields of a text that holds nothing else, in order; none where a line is no field."""
    found: dict[str, str] = {}
    for part in _BREAK.split(re.sub(r"[*`]|^[ \t]*[-•][ \t]+", "", text.raw.strip(), flags=re.MULTILINE)):
        field = _FIELD.fullmatch(part.strip())
        if not field or field["key"].casefold() in found:
            return {}
        found[field["key"].casefold()] = field["value"].strip(" .;")
    return found


def _other(old: str, new: str) -> bool:
    """Whether two values are labels that have no word of meaning in common."""
    one, two = (analyse(each).token_set - lexicon.FUNCTION_WORDS for each in (old, new))
    return bool(one and two) and one.isdisjoint(two) and max(len(one), len(two)) <= _MOST_WORDS
