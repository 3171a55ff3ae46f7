"""Guards: exact checks for what similarity cannot see; each names what it found."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing.guards import (
    choices,
    conditions,
    fields,
    identifiers,
    literal,
    modality,
    names,
    numbers,
    particles,
    polarity,
    roles,
    sequence,
    wording,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pytest_promptfuzz.comparing.guards.pair import Finding, Pair

CHECKS: dict[str, Callable[[Pair], Finding | None]] = {
    "negation": polarity.check,
    "identifiers": identifiers.check,
    "numbers": numbers.check,
    "choices": choices.check,
    "modality": modality.check,
    "conditions": conditions.check,
    "fields": fields.check,
    "roles": roles.check,
    "sequence": sequence.check,
    "names": names.check,
    "literal": literal.check,
    "particles": particles.check,
    "wording": wording.check,
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
