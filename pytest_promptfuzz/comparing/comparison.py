"""`Comparison` and `Tier`: the result of comparing two answers; relations other than "says the same"."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from pytest_promptfuzz.errors import UsageError, nearest

Outcome = Literal["equivalent", "minor", "deviation", "undecided"]
VERSION = 3
"""Of how answers are compared: another one where the same two answers may have another outcome than before."""


@dataclass(frozen=True, slots=True)
class Tier:
    """What one tier found: ``similarity`` in 0..1, or ``None`` where it only decides."""

    name: str
    similarity: float | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a response compares with its baseline.

    Attributes:
        outcome: ``equivalent``, ``minor``, ``deviation``, or ``undecided`` where no installed tier can tell.
        similarity: 0..1, of the tier that decided; ``None`` when undecided.
        tiers: Every tier that ran, in order.
        reason: A stable identifier of what decided, e.g. ``exact``, ``json-value``, ``guard:negation``.
        explanation: One sentence for a person.
    """

    outcome: Outcome
    similarity: float | None
    reason: str
    explanation: str
    tiers: tuple[Tier, ...] = field(default=())


def decided(outcome: Outcome, reason: str, explanation: str) -> Comparison:
    """A comparison that one tier decides, named by its reason; its similarity is that of its outcome."""
    similarity = {"equivalent": 1.0, "minor": 0.8, "deviation": 0.0}[outcome]
    name = reason.partition(":")[0]
    return Comparison(outcome, similarity, reason, explanation, (Tier(name, similarity, explanation),))


# What must hold between baseline and response, where it is not that they say the same.


RELATIONS = ("invariance", "format", "language", "renaming", "not-worse", "must-change")

_CHANGED: dict[Outcome, Outcome] = {
    "equivalent": "deviation",
    "minor": "undecided",
    "deviation": "equivalent",
    "undecided": "undecided",
}
_TELLS = frozenset({"exact", "normalised", "json-value", "label"})


def check_relation(relation: str | None) -> str:
    """The relation, ``invariance`` for ``None``.

    Raises:
        UsageError: It is none of ``RELATIONS``.
    """
    if relation is None:
        return "invariance"
    if relation not in RELATIONS:
        raise UsageError(f"relation={relation!r} is unknown. {nearest(str(relation), RELATIONS)}")
    return relation


def under(relation: str, found: Comparison) -> Comparison:
    """A comparison made for invariance, read under another relation.

    ``must-change`` turns it round. Under ``renaming`` and ``not-worse`` a difference in words proves nothing, so that
    what is neither equal nor close is undecided. Texts under ``format`` and ``language`` have comparisons of their own,
    ``reformatted`` and ``languages``; what comes here is data and tool calls, of which JSON within prose is as good as
    JSON, and a difference in words again proves nothing.
    """
    if relation == "invariance":
        return found
    if relation == "must-change":
        outcome = _CHANGED[found.outcome]
        lead = {
            "deviation": "the answer had to change and did not",
            "equivalent": "the answer changed, as it had to",
        }
        start = lead.get(outcome, "the answer had to change, and it cannot be told whether it did")
        explanation = f"{start}: {found.explanation}"
        similarity = None if outcome == "undecided" else found.similarity
        return replace(
            found,
            outcome=outcome,
            similarity=similarity,
            reason=f"must-change:{found.reason}",
            explanation=explanation,
        )
    if relation == "format":
        if found.reason == "json-wrapped":
            return replace(found, outcome="equivalent", similarity=1.0)
        if not found.reason.endswith("-format"):
            return found
    if found.outcome == "deviation" and (relation == "not-worse" or found.reason not in _TELLS):
        explanation = (
            f"{found.explanation}; under the relation {relation!r} this alone proves no change of behaviour"
        )
        return replace(
            found,
            outcome="undecided",
            similarity=None,
            reason=f"{relation}:{found.reason}",
            explanation=explanation,
        )
    return found
