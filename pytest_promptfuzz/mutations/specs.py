"""Operators as they are written: ``keyboard-typo``, ``keyboard-typo:3``, ``keyboard-typo:20%+double-space``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.mutations import registry
from pytest_promptfuzz.mutations.compound import compound
from pytest_promptfuzz.mutations.intensity import read_intensity
from pytest_promptfuzz.mutations.mutation import DIMENSIONS
from pytest_promptfuzz.mutations.operator import Operator

if TYPE_CHECKING:
    from collections.abc import Sequence


def find(text: str) -> Operator:
    """The operator that ``text`` names.

    Args:
        text: A name, with or without its version (``@1``) and an intensity (``:3`` places, ``:20%`` of them); several
            joined by ``+`` are applied in that order.

    Raises:
        UsageError: There is no such operator, not in that version, or not with that intensity.
    """
    if "+" not in text:
        return _one(text, text)
    return compound([_one(each, text) for each in text.split("+")])


def compose(*operators: str | Operator, name: str | None = None) -> Operator:
    """Operators applied one after the other, as one operator.

    Args:
        operators: Two or more, in order of application: operators, or how they are written.
        name: How the composition is called, in kebab-case; its parts joined by ``+`` unless it is given.

    Raises:
        UsageError: One of them does not exist, or they do not go together: two relations, or no common language.

    >>> compose("keyboard-typo:2", "double-space").id
    'keyboard-typo@1:2+double-space@1'
    """
    for each in operators:
        if each in DIMENSIONS:
            raise UsageError(f"compose: {each!r} is a dimension; a composition takes operators.")
    return compound([find(each) if isinstance(each, str) else _checked(each) for each in operators], name)


def _checked(value: object) -> Operator:
    if not isinstance(value, Operator):
        raise UsageError(f"compose: {value!r:.80} is {type(value).__name__}; give operators or their names.")
    return value


def _one(text: str, whole: str) -> Operator:
    within = "" if text == whole else f" in {whole!r}"
    name, colon, intensity = text.strip().partition(":")
    if not name:
        raise UsageError(f"operators: a name is missing{within or f' in {text!r}'}; write A or A+B.")
    if name in DIMENSIONS and (within or colon):
        what = "a composition takes" if within else "an intensity belongs to"
        raise UsageError(f"operators: {name!r}{within} is a dimension; {what} operators.")
    found = _named(name, within)
    return found.at(read_intensity(intensity, f"operators: {text.strip()!r}{within}")) if colon else found


_ANSWER_IN = "answer-in-"


def _language_hint(name: str, known: Sequence[str]) -> str:
    """What to write for an ``answer-in-`` of an unknown language: near letters are no near language."""
    if not name.startswith(_ANSWER_IN):
        return ""
    from pytest_promptfuzz.mutations.answer_languages import code_named

    codes = {each.removeprefix(_ANSWER_IN) for each in known if each.startswith(_ANSWER_IN)}
    asked = name.removeprefix(_ANSWER_IN).replace("_", "-").lower()
    found = asked if asked in codes else code_named(asked)
    if found in codes:
        return f"Did you mean {_ANSWER_IN + found!r}?"
    return f"There is one for each of {', '.join(sorted(codes))}."


def _named(name: str, within: str) -> Operator:
    try:
        return registry.get(name)
    except UsageError:
        known = [*registry.all_operators(), *([] if within else DIMENSIONS)]
        bare = name.partition("@")[0]
        if bare in known:
            raise
        what = "operator" if within else "operator or dimension"
        hint = _language_hint(bare, known) or nearest(bare, known)
        if hint.startswith("Known:"):
            hint = "`promptfuzz operators` lists them."  # there are too many for a message
        raise UsageError(f"operators: there is no {what} {name!r}{within}. {hint}") from None
