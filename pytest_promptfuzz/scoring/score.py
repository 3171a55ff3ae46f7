"""Outcomes to scores, in exact arithmetic.

Eq. 1 and Eq. 2 are Quirx's: R = (1.0·|E| + 0.7·|M| + 0.0·|D|) / |T| and R_type = Σ w·s / Σ w.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

TrialOutcome = Literal["equivalent", "minor", "deviation", "undecided", "error", "not-needed"]
EQUIVALENT_CREDIT = 10  # tenths, so that (7 E + 7 M) / 14 is exactly 0.85
MINOR_CREDIT = 7


@dataclass(frozen=True, slots=True)
class Counts:
    """How many trials ended how. ``error`` and ``undecided`` trials are outside the score.

    ``not_needed`` trials were not asked, since the verdict did not depend on them.
    """

    equivalent: int = 0
    minor: int = 0
    deviation: int = 0
    undecided: int = 0
    error: int = 0
    not_needed: int = 0

    @classmethod
    def of(cls, outcomes: Iterable[TrialOutcome]) -> Counts:
        """Count outcomes."""
        tally: dict[str, int] = {}
        for outcome in outcomes:
            name = outcome.replace("-", "_")
            tally[name] = tally.get(name, 0) + 1
        return cls(**tally)

    @property
    def decided(self) -> int:
        """Trials that count in the score: |T| of Eq. 1."""
        return self.equivalent + self.minor + self.deviation

    @property
    def unknown(self) -> int:
        """Trials that only bound the score."""
        return self.undecided + self.error

    @property
    def total(self) -> int:
        """All trials that were asked."""
        return self.decided + self.unknown

    def as_dict(self) -> dict[str, int]:
        """The counts by name."""
        return {
            "equivalent": self.equivalent,
            "minor": self.minor,
            "deviation": self.deviation,
            "undecided": self.undecided,
            "error": self.error,
            "not-needed": self.not_needed,
        }


def robustness(counts: Counts) -> Fraction | None:
    """Eq. 1 over the decided trials, in [0, 1]; ``None`` when none was decided.

    >>> robustness(Counts(equivalent=7, minor=7)) == Fraction(85, 100)
    True
    """
    if not counts.decided:
        return None
    return Fraction(EQUIVALENT_CREDIT * counts.equivalent + MINOR_CREDIT * counts.minor, 10 * counts.decided)


def bounds(counts: Counts) -> tuple[Fraction, Fraction]:
    """The lowest and highest Eq. 1 possible: trials without an outcome all deviations, then all equivalent.

    >>> bounds(Counts(equivalent=6, deviation=1, error=1))
    (Fraction(3, 4), Fraction(7, 8))
    """
    if not counts.total:
        return Fraction(0), Fraction(1)
    tenths = EQUIVALENT_CREDIT * counts.equivalent + MINOR_CREDIT * counts.minor
    scale = 10 * (counts.total + counts.not_needed)
    spare = EQUIVALENT_CREDIT * (counts.unknown + counts.not_needed)
    return Fraction(tenths, scale), Fraction(tenths + spare, scale)


def weighted(pairs: Iterable[tuple[float, float]]) -> float | None:
    """Eq. 2: the mean of similarities (0..1) weighted by severity (0..1).

    Args:
        pairs: ``(severity, similarity)`` of each mutation of one type.

    Returns:
        A value in [0, 1]; ``None`` without pairs, or when every severity is 0.
    """
    total = weights = 0.0
    for severity, similarity in pairs:
        total += severity * similarity
        weights += severity
    return total / weights if weights else None


def exact(number: float | str | Fraction) -> Fraction:
    """A threshold as it was written: ``0.85`` is 85/100, not the nearest double."""
    return number if isinstance(number, Fraction) else Fraction(str(number))
