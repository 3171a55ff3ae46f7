"""Two runs of one test, trial by trial: did it become worse, by more than chance?

The exact sign test over the trials whose credits differ (McNemar's, where credits are 0 or 1): were both runs alike, a
trial that differs would be worse today as often as better.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, comb
from typing import TYPE_CHECKING, TypeVar

from pytest_promptfuzz.scoring.matrix import CREDITS

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from pytest_promptfuzz.scoring.score import TrialOutcome


Key = TypeVar("Key", bound="Hashable")


@dataclass(frozen=True, slots=True)
class Paired:
    """How the trials of a run compare with the same trials of a run before.

    Attributes:
        worse: With less credit today.
        better: With more.
        same: With the same.
        before: Eq. 1 over these trials as they were then, 0 to 1.
        unknown: Without an outcome today, though they had one.
        alpha: What p is held against.
    """

    worse: int
    better: int
    same: int
    before: Fraction = Fraction(1)
    unknown: int = 0
    alpha: float = 0.05

    @classmethod
    def of(
        cls, before: Mapping[Key, TrialOutcome], today: Mapping[Key, TrialOutcome], *, alpha: float
    ) -> Paired:
        """Pair trials by what names them; those that only one run made, or that had no outcome before, are left out."""
        worse = better = same = unknown = tenths = 0
        for key, outcome in today.items():
            was, now = CREDITS.get(before.get(key, "error")), CREDITS.get(outcome)
            if was is None:
                continue
            tenths += was
            worse += now is not None and now < was
            better += now is not None and now > was
            same += now == was
            unknown += now is None
        pairs = worse + better + same + unknown
        return cls(worse, better, same, Fraction(tenths, 10 * max(1, pairs)), unknown, alpha)

    @property
    def pairs(self) -> int:
        """Trials that both runs made."""
        return self.worse + self.better + self.same + self.unknown

    @property
    def p(self) -> float:
        """How often chance alone makes at least so many of the trials that differ worse."""
        return _p(self.worse, self.better)

    @property
    def least(self) -> float:
        """The smallest p that so many pairs can give, were all of them worse."""
        return 0.5**self.pairs

    @property
    def is_worse(self) -> bool:
        """Whether today is worse by more than chance, whatever the trials without an outcome are."""
        return _p(self.worse, self.better + self.unknown) <= self.alpha

    @property
    def may_be_worse(self) -> bool:
        """Whether it would be, were the trials without an outcome worse."""
        return _p(self.worse + self.unknown, self.better) <= self.alpha

    def lasting(self, score: Fraction) -> Paired:
        """The same, with as many worse trials as today's score leaves once what did not come again is taken off it.

        Args:
            score: Today's, of what came again when it was asked again, in [0, 1].
        """
        net = ceil((self.before - score) * self.pairs)
        worse = max(0, min(self.worse, self.better + net))
        return replace(self, worse=worse, same=self.same + self.worse - worse)


def _p(worse: int, better: int) -> float:
    differ = worse + better
    return float(Fraction(sum(comb(differ, each) for each in range(worse, differ + 1)), 2**differ))
