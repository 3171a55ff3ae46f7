"""What was sampled of a score: the credits of mutations, from which its interval and its lower bound are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_promptfuzz.mutations.selection import MOST
from pytest_promptfuzz.scoring.adjusting import adjusted_interval, adjusted_lower_bound
from pytest_promptfuzz.scoring.intervals import LEVEL, lower_bound, score_interval

if TYPE_CHECKING:
    from fractions import Fraction

    from pytest_promptfuzz.scoring.intervals import Credited, Interval


@dataclass(frozen=True, slots=True)
class Sampled:
    """The mutations of one test, and what is known of each.

    Attributes:
        credits: Operator and mean credit, 0 to 1, of each mutation that was decided: with the first answer to the
            unmutated prompt, or with all of them where ``floor`` is known.
        missing: The share of each one's trials that have no outcome, 0 to 1, in the same order; empty for none.
        lost: The operators of mutations none of whose trials has an outcome.
        floor: R_bb, above 0; ``None`` where the unmutated prompt was asked once.
        answers: To the unmutated prompt, for each input.
        inputs: With answers of their own.
    """

    credits: Credited
    missing: tuple[float, ...] = ()
    lost: tuple[str, ...] = ()
    floor: Fraction | None = None
    answers: int = 1
    inputs: int = 1

    def interval(self) -> Interval | None:
        """Of the adjusted score, or of the raw one where the floor is not known; nothing for a single mutation."""
        if len(self.credits) < 2:
            return None
        if self.floor is None:
            return score_interval(self.credits)
        return adjusted_interval(self.credits, floor=self.floor, answers=self.answers, inputs=self.inputs)

    def least(self, *, at_worst: bool = True) -> float:
        """What that score exceeds at 95 %, one-sided, in [0, 1].

        Args:
            at_worst: Whether trials without an outcome count as deviations; otherwise they are left out.
        """
        return self._least(self._at_worst() if at_worst else self.credits)

    def needed(self, threshold: float) -> int | None:
        """About how many mutations it takes that :meth:`least` reaches a threshold, if they go on as these did.

        ``None`` where no number does: their score is not above it, or the floor is known too poorly.
        """
        have = len(self.credits)

        def enough(size: int) -> bool:
            return self._least(self.credits, size / have) >= threshold

        if not have or not enough(MOST):
            return None
        low, high = 0, MOST
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high

    def _at_worst(self) -> Credited:
        missing = self.missing or (0.0,) * len(self.credits)
        known = [
            (operator, float(credit) * (1 - share))
            for (operator, credit), share in zip(self.credits, missing, strict=True)
        ]
        return [*known, *((operator, 0.0) for operator in self.lost)]

    def _least(self, credited: Credited, times: float = 1.0) -> float:
        if not credited:
            return 0.0
        if self.floor is None:
            return lower_bound(credited, level=LEVEL, times=times)
        return adjusted_lower_bound(
            credited, floor=self.floor, answers=self.answers, inputs=self.inputs, times=times
        )
