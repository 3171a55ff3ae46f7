"""From outcomes to scores (Eq. 1, Eq. 2, noise floor, adjusted score), in exact arithmetic.

Eq. 1 and Eq. 2 are Quirx's: R = (1.0·|E| + 0.7·|M| + 0.0·|D|) / |T| and R_type = Σ w·s / Σ w.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Credit = Callable[[int, int], int | None]


TrialOutcome = Literal["equivalent", "minor", "deviation", "undecided", "error", "not-needed"]
EQUIVALENT_CREDIT = 10  # tenths, so that (7 E + 7 M) / 14 is exactly 0.85
MINOR_CREDIT = 7


@dataclass(frozen=True, slots=True)
class Counts:
    """How many trials ended how. ``error`` and ``undecided`` trials are outside the score.

    ``not_needed`` trials were not asked, since the verdict did not depend on them.

    Attributes:
        decided: Trials that count in the score: |T| of Eq. 1.
        unknown: Trials that only bound the score.
        total: All trials that were asked.
    """

    equivalent: int = 0
    minor: int = 0
    deviation: int = 0
    undecided: int = 0
    error: int = 0
    not_needed: int = 0
    decided: int = field(init=False, repr=False, compare=False)
    unknown: int = field(init=False, repr=False, compare=False)
    total: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Kept rather than worked out each time: the stop rule reads them for every plan that may still follow.
        decided = self.equivalent + self.minor + self.deviation
        unknown = self.undecided + self.error
        object.__setattr__(self, "decided", decided)
        object.__setattr__(self, "unknown", unknown)
        object.__setattr__(self, "total", decided + unknown)

    @classmethod
    def of(cls, outcomes: Iterable[TrialOutcome]) -> Counts:
        """Count outcomes."""
        tally: dict[str, int] = {}
        for outcome in outcomes:
            name = outcome.replace("-", "_")
            tally[name] = tally.get(name, 0) + 1
        return cls(**tally)

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


class Summary(NamedTuple):
    """Several trials: how they ended, Eq. 1 and Eq. 2 over them."""

    counts: Counts
    score: float | None
    weighted: float | None


def summaries(groups: Iterable[Sequence[tuple[TrialOutcome, float, float | None]]]) -> list[Summary]:
    """Each group of trials in short.

    Args:
        groups: Of each trial its outcome, its severity, and its similarity if it has one.
    """
    found = []
    for group in groups:
        counts = Counts.of([outcome for outcome, _, _ in group])
        score = robustness(counts)
        pairs = [(severity, similarity) for _, severity, similarity in group if similarity is not None]
        found.append(Summary(counts, None if score is None else float(score), weighted(pairs)))
    return found


def exact(number: float | str | Fraction) -> Fraction:
    """A threshold as it was written: ``0.85`` is 85/100, not the nearest double."""
    return number if isinstance(number, Fraction) else Fraction(str(number))


# The answers of one input, and the credit of every two: the one table that floor and tests are read from.
#
# Answers are known by number: first those to the unmutated prompt, then those to mutations. The credit of a pair is 10
# (equivalent), 7 (minor) or 0 (deviation) tenths, and ``None`` where nothing tells.


CREDITS = {"equivalent": EQUIVALENT_CREDIT, "minor": MINOR_CREDIT, "deviation": 0}
"""Tenths of credit by outcome; other outcomes have none."""


@dataclass(slots=True)
class Matrix:
    """One input's answers.

    Attributes:
        credit: The credit of two answers by number, one to the unmutated prompt first, else the lower one; asked once
            for each pair.
        baseline: The numbers of the answers to the unmutated prompt; the first is the named baseline.
        mutated: For each mutation the numbers of its answers that are scored.
        repeated: For each mutation that was asked again, the numbers of those answers: they are evidence, not score.
    """

    credit: Credit
    baseline: list[int] = field(default_factory=list)
    mutated: list[list[int]] = field(default_factory=list)
    repeated: dict[int, list[int]] = field(default_factory=dict)
    _known: dict[tuple[int, int], int | None] = field(default_factory=dict)

    def between(self, one: int, other: int) -> int | None:
        """The credit of two answers, whichever is named first; one of the unmutated prompt is what is compared with."""
        pair = (one, other) if one < other else (other, one)
        if pair[1] in self.baseline and pair[0] not in self.baseline:
            pair = pair[1], pair[0]
        try:
            return self._known[pair]
        except KeyError:
            return self._known.setdefault(pair, self.credit(*pair))

    def floor(self) -> Fraction | None:
        """R_bb: the mean credit of two answers to the unmutated prompt; ``None`` with fewer than two."""
        pairs = [
            self.between(one, other)
            for place, one in enumerate(self.baseline)
            for other in self.baseline[:place]
        ]
        return mean(pairs)

    def commonest(self) -> Fraction:
        """The largest mean credit of one answer to the unmutated prompt with all of them, itself among them."""
        return max(map(self._company, self.baseline), default=Fraction(0))

    def usual(self) -> int:
        """The answer to the unmutated prompt that has it."""
        return max(self.baseline, key=lambda one: (self._company(one), -one))

    def _company(self, one: int) -> Fraction:
        found = mean(10 if one == other else self.between(one, other) for other in self.baseline)
        return Fraction(0) if found is None else found

    def kept(self) -> Fraction | None:
        """R_bm: the mean credit of an answer to the unmutated prompt and one to a mutation."""
        return mean(
            self.between(one, other) for answers in self.mutated for other in answers for one in self.baseline
        )

    def agreement(self, numbers: Iterable[int]) -> Fraction | None:
        """The mean credit of the answers to the unmutated prompt with these."""
        return mean(self.between(one, other) for other in numbers for one in self.baseline)


def mean(tenths: Iterable[int | None]) -> Fraction | None:
    """The mean of credits, in [0, 1]; ``None`` where fewer than half of them are known."""
    every = list(tenths)
    known = [each for each in every if each is not None]
    if not known or 2 * len(known) < len(every):
        return None
    return Fraction(sum(known), 10 * len(known))


def floor_of(cases: Sequence[Matrix]) -> Fraction | None:
    """R_bb over several inputs, each of the same weight; ``None`` where it is not known of one."""
    return _over([case.floor() for case in cases])


def adjusted(cases: Sequence[Matrix]) -> Fraction | None:
    """R_adj = min(1, R_bm / R_bb): what is left of the prompt's agreement with itself once it is mutated.

    It recovers 1 − f where a share f of mutations breaks the behaviour, however often the model varies. Both means
    are taken over all inputs before they are divided. ``None`` where the floor is not known, or is 0.
    """
    floor, kept = floor_of(cases), _over([case.kept() for case in cases])
    if floor is None or kept is None or not floor:
        return None
    return min(Fraction(1), kept / floor)


def _over(values: Sequence[Fraction | None]) -> Fraction | None:
    known = [each for each in values if each is not None]
    return sum(known, Fraction(0)) / len(known) if known and len(known) == len(values) else None
