"""Stopping on evidence, short of certainty: Wald's probability ratio, or an interval that holds at every look.

Both watch the share of credit that mutations lose, against the share that the threshold allows. They take the mutations
of a plan for independent draws of what its operators make. A minor variation loses three tenths of what a deviation
does: likelihoods are raised to the share lost, and stay fair bets, since a^x b^(1-x) lies below its chord for x from 0
to 1.

Sources: A. Wald, Sequential Analysis, 1947 (probability ratio); H. Robbins, Statistical methods related to the law of
the iterated logarithm, 1970 (mixtures); I. Waudby-Smith and A. Ramdas, Estimating means of bounded random variables by
betting, 2024 (bounded losses).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_promptfuzz.scoring.score import EQUIVALENT_CREDIT, MINOR_CREDIT

if TYPE_CHECKING:
    from pytest_promptfuzz.scoring.score import Counts
    from pytest_promptfuzz.scoring.stopping import Ending

ERROR = 0.05
"""How often each rule may be wrong, each way, were it never cut short."""
MARGIN = 0.15
"""How much more than the threshold allows is lost by a prompt that a test must not miss (0.30 broken at 0.85)."""
_SLACK = 1e-9  # logarithms differ by less from machine to machine


@dataclass(frozen=True, slots=True)
class ProbabilityRatio:
    """Wald's sequential probability ratio test of the share that is lost.

    It holds ``allowed``, which passes, against ``broken``, which must not; what lies between may be called either.

    Attributes:
        allowed: The share of credit that a passing prompt may lose, in [0, 1).
        error: Either way.
    """

    allowed: float
    error: float = ERROR

    @property
    def broken(self) -> float:
        """The share lost from which a prompt must be called brittle, in (0, 1)."""
        return min(self.allowed + MARGIN, (self.allowed + 1) / 2)

    def ending(self, counts: Counts) -> Ending | None:
        """The verdict that the trials so far suffice for, counting those without an outcome either way."""
        bound = math.log((1 - self.error) / self.error) - _SLACK
        least, most = _losses(counts)
        if self._log_ratio(least, counts.total) >= bound:
            return "brittle"
        return "pass" if self._log_ratio(most, counts.total) <= -bound else None

    def _log_ratio(self, lost: float, total: int) -> float:
        if lost and not self.allowed:
            return math.inf
        ratio = lost * math.log(self.broken / self.allowed) if lost else 0.0
        return ratio + (total - lost) * math.log((1 - self.broken) / (1 - self.allowed))


@dataclass(frozen=True, slots=True)
class AlwaysValid:
    """An interval for the share that is lost that holds however often one looks; ends with ``allowed`` outside.

    What bets against a share is a mixture of likelihoods, Beta(½, ½). By Ville's inequality the interval ever misses
    the true share with a probability of at most ``error``.

    Attributes:
        allowed: The share of credit that a passing prompt may lose, in [0, 1).
        error: Of the interval, both sides.
    """

    allowed: float
    error: float = ERROR

    def ending(self, counts: Counts) -> Ending | None:
        """The verdict that the trials so far suffice for, counting those without an outcome either way."""
        least, most = _losses(counts)
        limit = self.allowed * counts.total
        if least > limit and self._excluded(least, counts.total, self.allowed):
            return "brittle"
        return "pass" if most < limit and self._excluded(most, counts.total, self.allowed) else None

    def interval(self, counts: Counts) -> tuple[float, float]:
        """The interval of the score, in [0, 1]; trials without an outcome widen it both ways."""
        least, most = _losses(counts)
        return 1 - self._end(most, counts.total, 1.0), 1 - self._end(least, counts.total, 0.0)

    def _end(self, lost: float, total: int, outside: float) -> float:
        """The end of the interval of the share that lies between what was seen and ``outside``, by bisection."""
        inside = lost / total if total else outside
        if not self._excluded(lost, total, outside):
            return outside
        for _ in range(50):
            middle = (inside + outside) / 2
            if self._excluded(lost, total, middle):
                outside = middle
            else:
                inside = middle
        return inside

    def _excluded(self, lost: float, total: int, share: float) -> bool:
        kept = total - lost
        if (lost and not share) or (kept and share == 1):
            return True
        likelihood = (lost * math.log(share) if lost else 0.0) + (kept * math.log1p(-share) if kept else 0.0)
        mixture = _log_beta(lost + 0.5, kept + 0.5) - _log_beta(0.5, 0.5)
        return mixture - likelihood >= -math.log(self.error) - _SLACK


def _losses(counts: Counts) -> tuple[float, float]:
    """The least and the most that is lost, in trials."""
    lost = counts.deviation + counts.minor * (EQUIVALENT_CREDIT - MINOR_CREDIT) / EQUIVALENT_CREDIT
    return lost, lost + counts.unknown


def _log_beta(one: float, other: float) -> float:
    return math.lgamma(one) + math.lgamma(other) - math.lgamma(one + other)
