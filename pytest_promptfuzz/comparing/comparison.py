"""The result of comparing a response with its baseline."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

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
