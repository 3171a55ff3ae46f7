"""Stopping early: when the verdict is certain whatever the rest of the plan would say, and how much to ask at a time.

A plan is asked in batches, since calls that are under way are paid whatever becomes of them. How large a batch is
follows from the plan and the answers so far, never from the time they took: the same answers stop at the same place, in
sequence as concurrently.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Protocol

from pytest_promptfuzz.scoring.score import EQUIVALENT_CREDIT, MINOR_CREDIT, Counts

Ending = Literal["pass", "brittle"]
Stop = Literal["certain", "sprt", "sequential", "never"]
STOPS: tuple[Stop, ...] = ("certain", "sprt", "sequential", "never")


class Rule(Protocol):
    """Says when evidence suffices, short of certainty."""

    def ending(self, counts: Counts) -> Ending | None:
        """The verdict that the trials so far suffice for; ``None`` for none."""
        ...


@dataclass(frozen=True, slots=True)
class Gate:
    """What a whole plan is held against.

    Attributes:
        planned: Trials that the score is of, once all were asked.
        threshold: What their score must reach, in [0, 1].
        max_deviations: More deviations than this are brittle whatever the score; ``None`` sets no limit.
        by_score: Whether reaching the threshold is enough to pass, so that "pass" can be certain early.
    """

    planned: int
    threshold: Fraction
    max_deviations: int | None = None
    by_score: bool = True

    @property
    def allowed(self) -> Fraction:
        """The share of credit that a passing prompt may lose."""
        allowed = 1 - self.threshold
        if self.max_deviations is not None and self.planned:
            allowed = min(allowed, Fraction(self.max_deviations, self.planned))
        return allowed

    def ending(self, counts: Counts) -> Ending | None:
        """The verdict that every continuation leads to; ``None`` while there are two.

        Args:
            counts: Of the trials asked so far. Those without an outcome may turn out either way.
        """
        if self.to_break(counts) == 0:
            return "brittle"
        return "pass" if self.to_pass(counts) == 0 else None

    def to_break(self, counts: Counts) -> int | None:
        """The fewest further trials after which "brittle" is certain, if all deviate; ``None`` if none suffice."""
        # Tenths that may still be lost, were everything else equivalent.
        spare = EQUIVALENT_CREDIT * self.planned * (1 - self.threshold) - _lost(counts)
        needed = max(0, math.floor(spare / EQUIVALENT_CREDIT) + 1)
        if self.max_deviations is not None:
            needed = min(needed, max(0, self.max_deviations + 1 - counts.deviation))
        return needed if needed <= self._left(counts) else None

    def to_pass(self, counts: Counts) -> int | None:
        """The fewest further trials after which "pass" is certain, if all are equivalent; ``None`` if none suffice."""
        if not self.by_score:
            return None
        left = self._left(counts)
        gained = EQUIVALENT_CREDIT * counts.equivalent + MINOR_CREDIT * counts.minor
        missing = EQUIVALENT_CREDIT * self.planned * self.threshold - gained
        needed = max(0, math.ceil(missing / EQUIVALENT_CREDIT))
        if self.max_deviations is not None:
            # What is left unasked might deviate, and so might what has no outcome.
            needed = max(needed, counts.deviation + counts.unknown + left - self.max_deviations)
        return needed if needed <= left else None

    def _left(self, counts: Counts) -> int:
        return self.planned - counts.total


@dataclass(frozen=True, slots=True)
class Stopping:
    """When a plan has been asked for long enough.

    Attributes:
        gate: What the plan is held against.
        rule: What may end it before the verdict is certain; ``None`` for nothing.
        waits: Whether each batch is a round of waiting that nothing else fills.
    """

    gate: Gate
    rule: Rule | None = None
    waits: bool = False

    @property
    def decides(self) -> bool:
        """Whether there is anything to decide: a test that cannot fail is asked for its score, and in full."""
        return self.gate.planned > 0 and self.gate.ending(Counts()) is None

    def ending(self, counts: Counts) -> Ending | None:
        """The verdict that may be given without the rest of the plan; ``None`` while more is to be asked.

        Args:
            counts: Of the trials asked so far.
        """
        if not self.decides:
            return None
        found = self.gate.ending(counts)
        if found is None and self.rule is not None and 0 < counts.total < self.gate.planned:
            found = self.rule.ending(counts)
            if found == "pass" and not self.gate.by_score:
                return None
        return found

    def batch(self, counts: Counts) -> int:
        """How many trials to ask next, from 1 to all that are left; 0 when none is.

        First as many as could make "pass" certain, but no more than three eighths of the plan: by then most prompts
        that break at nearly half of their mutations have shown it. After that, where what is lost so far is no more
        than the threshold allows, as many as could make "pass" certain, so that a robust prompt takes two batches;
        otherwise an eighth of the plan, since each batch may be the last. Never so few that nothing could come of them.

        Where each batch is a wait, and nothing short of certainty suffices: as many as could make "pass" certain, then
        all that is left, so that a robust prompt waits once.
        """
        left = self.gate.planned - counts.total
        if left <= 0 or not self.decides:
            return max(0, left)
        to_break, to_pass = self._to("brittle", counts, left), self._to("pass", counts, left)
        fewest = min(to_break, to_pass)
        if self.waits and self.rule is None:
            return left if counts.total else to_pass
        if not counts.total:
            return max(fewest, min(to_pass, -(-3 * left // 8)))
        if _lost(counts) <= EQUIVALENT_CREDIT * counts.decided * self.gate.allowed:
            return to_pass
        return min(left, max(fewest, -(-self.gate.planned // 8)))

    def _to(self, verdict: Ending, counts: Counts, left: int) -> int:
        """The fewest further trials of one kind that could end it so; ``left`` if none could."""
        certain = self.gate.to_break(counts) if verdict == "brittle" else self.gate.to_pass(counts)
        most = left if certain is None else certain
        if self.rule is None or most <= 1:
            return max(1, most)
        return 1 + bisect_left(range(1, most), 1, key=lambda more: self._ends(verdict, counts, more))

    def _ends(self, verdict: Ending, counts: Counts, more: int) -> bool:
        bad = verdict == "brittle"
        then = Counts(
            counts.equivalent + (0 if bad else more),
            counts.minor,
            counts.deviation + (more if bad else 0),
            counts.undecided,
            counts.error,
        )
        return self.ending(then) == verdict


def _lost(counts: Counts) -> int:
    """Tenths of credit that the decided trials did not get."""
    return EQUIVALENT_CREDIT * counts.deviation + (EQUIVALENT_CREDIT - MINOR_CREDIT) * counts.minor
