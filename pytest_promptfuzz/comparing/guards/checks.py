"""All guards in the order in which they are asked; the guards for words of meaning and for fields."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing.guards import names, negations, order, qualifiers, values
from pytest_promptfuzz.comparing.guards.negations import written
from pytest_promptfuzz.comparing.guards.pair import Finding, Pair, contradiction, doubt
from pytest_promptfuzz.comparing.labels import NOUN
from pytest_promptfuzz.comparing.reading import word_lists
from pytest_promptfuzz.comparing.reading.asides import own_words, turns, weighs
from pytest_promptfuzz.comparing.reading.text import analyse
from pytest_promptfuzz.comparing.reading.word_lists import word_set
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pytest_promptfuzz.comparing.reading.text import Text


# What is left: words of meaning in one text without a counterpart in the other.
#
# A known synonym or another form of the word is the same token already, so what remains in an otherwise equal frame
# may be a rewording or a different thing; no similarity measure tells "buyer" from "seller".


FRAME = 0.7
"""Word similarity from which two statements count as the same frame with something put in."""

_FEW = 3
_SAME_FRAME = 0.85


def _abbreviated(words: list[str], short: list[str]) -> bool:
    """Whether the one is the initials of the other: "artificial intelligence" and "AI"."""
    return len(words) > 1 and len(short) == 1 and "".join(word[0] for word in words) == short[0]


def _put_in(side: Pair) -> Finding | None:
    gone, come = side.residue
    if not (gone or come) or _abbreviated(gone, come) or _abbreviated(come, gone):
        return None
    if gone and come:
        old = " ".join(written(side, token) for token in gone[:_FEW])
        new = " ".join(written(side, token, response=True) for token in come[:_FEW])
        return doubt("wording", "word-became", old, new)
    which = "baseline" if gone else "response"
    words = " ".join(written(side, token, response=bool(come)) for token in (gone or come)[:_FEW])
    return doubt("wording", "word-in-one", words, which)


def check_wording(pair: Pair) -> Finding | None:
    """Whether a statement of the same frame holds other words of meaning."""
    if pair.similarity >= _SAME_FRAME:
        found = _put_in(pair)
        if found or not any(pair.changed):
            return found
    for side in pair.sides:
        if side.similarity < FRAME or (not side.only_a and not side.only_b):
            continue
        found = _put_in(side)
        if found and max(map(len, side.residue)) <= _FEW:
            return found
    return None


# Lines such as "Status: shipped": a field that one of the texts leaves out, another label in one.


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


def check_fields(pair: Pair) -> Finding | None:
    """Whether a field of the one text is missing from the other, or a label in it is another one."""
    if ":" not in pair.a.raw or ":" not in pair.b.raw:
        return None
    one, two = pair.a.once(_fields), pair.b.once(_fields)
    if not one or not two:
        return None
    shared = one.keys() & two.keys()
    for key in one:
        if key in shared and _LABEL.fullmatch(key) and _other(one[key], two[key]):
            return contradiction("fields", "field-became", key, one[key], two[key])
    if len(shared) < _FEWEST:
        return None
    for here, there, which in ((one, two, "response"), (two, one, "baseline")):
        missing = [key for key in here if key not in there and key not in _ASIDE]
        if missing and there.keys() <= here.keys():
            return contradiction("fields", "field-missing", missing[0], which)
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
    one, two = (analyse(each).token_set - word_lists.FUNCTION_WORDS for each in (old, new))
    return bool(one and two) and one.isdisjoint(two) and max(len(one), len(two)) <= _MOST_WORDS


CHECKS: dict[str, Callable[[Pair], Finding | None]] = {
    "negation": negations.check_negation,
    "identifiers": values.check_identifiers,
    "numbers": values.check_numbers,
    "choices": qualifiers.check_choices,
    "modality": qualifiers.check_modality,
    "conditions": qualifiers.check_conditions,
    "fields": check_fields,
    "roles": names.check_roles,
    "sequence": order.check_sequence,
    "names": names.check_names,
    "literal": values.check_literal,
    "particles": negations.check_particles,
    "wording": check_wording,
}
"""The guards over a pair of texts, by the names ``Profile.guards`` uses."""


@lru_cache(maxsize=64)
def _checks(names_of_guards: tuple[str, ...]) -> tuple[Callable[[Pair], Finding | None], ...]:
    return tuple(CHECKS[name] for name in names_of_guards if name in CHECKS)


def run(pair: Pair, names_of_guards: Iterable[str]) -> list[Finding]:
    """What the guards find, up to the first contradiction.

    Returns:
        A contradiction, if there is one, is the last and decides; doubts come before it.
    """
    found: list[Finding] = []
    for check in _checks(tuple(names_of_guards)):
        finding = check(pair)
        if finding:
            found.append(finding)
            if finding.kind == "contradiction":
                break
    return found


def check_introductions(one: str, two: str) -> Finding | None:
    """What two introductions announce that is not the same: "the reasons to accept:", "the reasons to reject:".

    An introduction that says nothing of what follows, or that only one answer has, is a courtesy.

    Args:
        one: What leads to the baseline's answer, or to a part of it; empty for nothing.
        two: The same of the response.
    """
    if not one or not two:
        return None
    first, second = own_words(one), own_words(two)
    apart = first.keys() ^ second.keys()
    if not apart or (not (first and second) and not any(turns(form) for form in apart)):
        return None
    found = run(Pair(analyse(one), analyse(two)), _TURNING)
    if found and found[-1].kind == "contradiction":
        return found[-1]
    gone, come = (
        [here[form] for form in here if form not in there]
        for here, there in ((first, second), (second, first))
    )
    if gone and come:
        return doubt("introduction", "introduction-became", gone[0], come[0])
    if any(weighs(form) for form in apart):
        which = "baseline" if gone else "response"
        return doubt("introduction", "only-introduction-says", which, (gone or come)[0])
    return None


_TURNING = ("negation", "choices", "modality")
"""Guards that tell that one introduction announces the contrary of the other."""
