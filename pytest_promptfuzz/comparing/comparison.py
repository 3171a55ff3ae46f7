"""The result of comparing a response with its baseline."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Outcome = Literal["equivalent", "minor", "deviation", "undecided"]


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
