"""Tiers and guards of one's own, asked."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.comparing.comparison import Comparison, Tier
from pytest_promptfuzz.comparing.guards.pair import Finding
from pytest_promptfuzz.comparing.parts import asked_of
from pytest_promptfuzz.comparing.plain import text_of
from pytest_promptfuzz.errors import PartError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_promptfuzz.comparing.comparison import Outcome
    from pytest_promptfuzz.comparing.parts import Guard, SimilarityTier
    from pytest_promptfuzz.comparing.profiles import Profile
    from pytest_promptfuzz.embedding.embedder import Embedder

_LONGEST = 300


def open_to_tiers(found: Comparison) -> bool:
    """Whether a comparison was made by words or by meaning, or not at all: what a tier may know better.

    What is equal by value, a label, a form or a contradiction that a guard found stays as it is.
    """
    if found.outcome == "undecided":
        return True
    doubtful = found.outcome == "minor" and found.reason.startswith("guard:")
    return doubtful or (found.outcome != "equivalent" and found.reason in {"token", "semantic"})


def settled(
    values: Callable[[Embedder | None], Comparison],
    embedder: Embedder | None,
    first: Any,
    second: Any,
    profile: Profile,
    tiers: Sequence[SimilarityTier],
    guards: Sequence[Guard],
) -> Comparison:
    """A comparison with tiers and guards of one's own.

    Args:
        values: Compares, with the embedder it is given.
        embedder: What embeds texts; used where the tiers cannot tell.
        first: The baseline as plain data.
        second: The response as plain data.
        profile: Whose thresholds count.
        tiers: In the order in which they are asked.
        guards: All of them are asked, up to the first contradiction.
    """
    one, two = text_of(first), text_of(second)
    found = values(None if tiers else embedder)
    if tiers and open_to_tiers(found):
        found = by_tiers(found, one, two, profile, tiers) or (values(embedder) if embedder else found)
    return found if found.outcome == "deviation" else by_guards(found, one, two, guards)


def by_tiers(
    found: Comparison, first: str, second: str, profile: Profile, tiers: Iterable[SimilarityTier]
) -> Comparison | None:
    """What the first tier says that can tell; ``None`` where none can.

    A guard's doubt keeps the outcome from being ``equivalent``.

    Raises:
        PartError: A tier raised, or returned no number from 0 to 1.
    """
    doubt = next((each.note for each in found.tiers if each.name.startswith("guard:")), "")
    asked: list[Tier] = []
    for each in tiers:
        similarity = _similarity(each, first, second)
        asked.append(Tier(each.name, similarity))
        if similarity is None or (similarity < profile.minor_at and not getattr(each, "tells_apart", True)):
            continue
        outcome: Outcome = (
            "deviation"
            if similarity < profile.minor_at
            else "equivalent"
            if similarity >= profile.equivalent_at and not doubt
            else "minor"
        )
        says = f"the tier {each.name!r} finds the answers {_ALIKE[outcome]} (similarity {similarity:.2f})"
        return Comparison(
            outcome,
            similarity,
            f"tier:{each.name}",
            f"{says}; {doubt}" if doubt else says,
            (*found.tiers, *asked),
        )
    return None


_ALIKE: dict[str, str] = {"equivalent": "the same", "minor": "close", "deviation": "different"}


def by_guards(found: Comparison, first: str, second: str, guards: Sequence[Guard]) -> Comparison:
    """The comparison, held against guards: a contradiction is a deviation, a doubt keeps it from being equivalent.

    Raises:
        PartError: A guard raised, or returned something else than a text, a ``Finding`` or ``None``.
    """
    for each in guards:
        kind, said = _finding(each, first, second)
        if not said:
            continue
        name = f"guard:{each.name}"
        if kind == "contradiction":
            return Comparison("deviation", 0.0, name, said, (*found.tiers, Tier(name, 0.0, said)))
        tiers = (*found.tiers, Tier(name, None, said))
        if found.outcome == "equivalent":
            similarity = min(found.similarity or 0.0, 0.99)
            found = Comparison("minor", similarity, name, said, tiers)
        else:
            found = replace(found, tiers=tiers)
    return found


def _similarity(each: SimilarityTier, first: str, second: str) -> float | None:
    value = asked_of("tier", each.name, lambda: each.similarity(first, second))
    if value is None:
        return None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or math.isnan(value) or not 0 <= value <= 1:
        raise PartError(
            f"the tier {each.name!r} returned {value!r:.80}; similarity() returns a number from 0 to 1, or None where "
            "it cannot tell",
            part="tier",
        )
    return float(value)


def _finding(each: Guard, first: str, second: str) -> tuple[str, str]:
    value = asked_of("guard", each.name, lambda: each.check(first, second))
    if value is None:
        return "", ""
    if isinstance(value, Finding):
        return value.kind, value.explanation
    if isinstance(value, str) and value.strip():
        return "contradiction", " ".join(value.split())[:_LONGEST]
    raise PartError(
        f"the guard {each.name!r} returned {value!r:.80}; check() returns what contradicts as a text, a Finding, or "
        "None for nothing",
        part="guard",
    )
