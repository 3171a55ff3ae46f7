"""Force: what must be done, what may be, what is certain and what is only possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import lexicon
from pytest_promptfuzz.comparing.guards.pair import Finding
from pytest_promptfuzz.comparing.guards.polarity import written
from pytest_promptfuzz.comparing.word_lists import entries, when_used
from pytest_promptfuzz.comparing.words import canonical, canonical_set

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.comparing.guards.pair import Pair


def _forces_of_words() -> dict[str, frozenset[str]]:
    table: dict[str, frozenset[str]] = {}
    for name, word in entries("forces.tsv", lambda name, word: (name, word)):
        form = canonical(word)
        if len(form) == 1:
            table[form[0]] = table.get(form[0], frozenset()) | {name}
    return table


_FORCES = when_used(_forces_of_words)
_FRAME = 0.55
_EQUAL_FRAME = 0.8
_SPARED = canonical_set(
    """need required necessary obliged obligation mandatory compulsory muss müssen musst verpflichtet erforderlich
    obligé obligée tenu tenue obligado verplicht"""
)
"""Words of duty whose denial leaves one free; to deny another one is to forbid."""
_FREELY = frozenset({"must"})
"""What forbids before its "not" and leaves one free behind it: "must not", "do not have to"."""
_OPPOSED = (
    ("ban", "spared", "leaves open"),
    ("assured", "possible", "holds for possible"),
    ("right", "grace", "leaves open"),
    ("duty", "leave", "leaves open"),
    ("duty", "advice", "only recommends"),
    ("certain", "possible", "holds for possible"),
    ("duty", "possible", "holds for possible"),
)


def forces(tokens: Sequence[str]) -> dict[str, str]:
    """The forces of a statement, each with the word that brings it.

    A denied duty forbids ("must not"), or leaves one free ("need not": ``spared``); denied leave forbids. Other words
    that a negator precedes or follows are left out.
    """
    found: dict[str, str] = {}
    for index, token in enumerate(tokens):
        names = _FORCES.get(token)
        if not names:
            continue
        before = not lexicon.NEGATORS.isdisjoint(tokens[max(0, index - 1) : index])
        after = not lexicon.NEGATORS.isdisjoint(tokens[index + 1 : index + 2])
        if not before and not after:
            for name in names:
                found.setdefault(name, token)
        elif token in _SPARED or (before and token in _FREELY):
            found.setdefault("spared", token)
        elif names & {"duty", "leave"}:
            found.setdefault("ban", token)
    return found


def check(pair: Pair) -> Finding | None:
    """Whether a duty became a choice, or a certainty a possibility."""
    gone, come = pair.changed
    if _FORCES.keys().isdisjoint(gone) and _FORCES.keys().isdisjoint(come):
        return None
    for side in pair.sides:
        found = _statement(side)
        if found:
            return found
    return None


def _statement(side: Pair) -> Finding | None:
    gone, come = side.changed
    if _FORCES.keys().isdisjoint(gone) and _FORCES.keys().isdisjoint(come):
        return None
    if "may" in gone | come and _is_month(side):
        return None
    one, two = forces(side.a.tokens), forces(side.b.tokens)
    if side.similarity < _FRAME:
        return None
    for strong, weak, what in _OPPOSED:
        for here, there, which, response in ((one, two, "response", True), (two, one, "baseline", False)):
            if strong in here and strong not in there and weak in there and weak not in here:
                old = written(side, here[strong], response=not response)
                new = written(side, there[weak], response=response)
                return Finding(
                    "modality",
                    "contradiction",
                    f"the {which} {what} what the other does not: {new!r} for {old!r}",
                )
    for here, there, which, response in ((one, two, "response", True), (two, one, "baseline", False)):
        if (
            "possible" in there
            and not here.keys() & {"possible", "leave"}
            and side.similarity >= _EQUAL_FRAME
        ):
            new = written(side, there["possible"], response=response)
            return Finding("modality", "contradiction", f"only the {which} leaves it uncertain ({new!r})")
    return None


def _is_month(side: Pair) -> bool:
    text = side.a.clean if "may" in side.a.token_set else side.b.clean
    return "May" in text[1:]
