"""Whether parts of a change fail together: what was answered so far, and how often more must be asked to be sure."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

Parts = frozenset[int]


class BudgetSpent(Exception):  # noqa: N818 (ends a search, and is no error)
    """No more may be asked."""


@dataclass(slots=True)
class Asked:
    """What is known of sets of parts.

    A set is held to fail, or not, by Wald's probability ratio test: an answer misleads with probability ``flip``.

    Attributes:
        flip: How often an answer misleads, in [0, 0.5); 0 where the same is always answered alike.
        most: How often may be asked in all; ``None`` sets no limit.
        calls: How often was asked.
    """

    flip: float = 0.0
    most: int | None = None
    calls: int = 0
    _failed: Counter[Parts] = field(default_factory=Counter)
    _passed: Counter[Parts] = field(default_factory=Counter)

    def learn(self, parts: Parts, *, fails: bool) -> None:
        """Take down an answer."""
        (self._failed if fails else self._passed)[parts] += 1

    def known(self, parts: Parts, error: float) -> bool | None:
        """Whether the parts fail, as told with this probability of error; ``None`` where it is not told."""
        if self.missing(parts, error):
            return None
        return self._failed[parts] > self._passed[parts]

    def missing(self, parts: Parts, error: float) -> int:
        """How many answers would at least be needed to tell; 0 where it is told."""
        lead = abs(self._failed[parts] - self._passed[parts])
        if not self.flip:
            return 0 if lead else 1
        needed = math.log((1 - error) / error) / math.log((1 - self.flip) / self.flip)
        return max(0, math.ceil(needed - lead - 1e-9))

    def smallest(self, error: float | None = None) -> Parts | None:
        """The smallest set that failed more often than not, the first such in order.

        Args:
            error: Only of those that are told to fail with this probability of error.
        """
        failing = [parts for parts, times in self._failed.items() if times > self._passed[parts]]
        if error is not None:
            failing = [parts for parts in failing if self.known(parts, error)]
        return min(failing, key=lambda parts: (len(parts), sorted(parts)), default=None)

    def ask(self, several: Sequence[Parts], error: float) -> Generator[list[Parts], list[bool], list[bool]]:
        """Ask until each set is told; all that is wanted of all of them is one batch.

        Raises:
            BudgetSpent: More would be needed than may be asked.
        """
        while True:
            wanted = [parts for parts in dict.fromkeys(several) for _ in range(self.missing(parts, error))]
            if not wanted:
                return [bool(self.known(parts, error)) for parts in several]
            if self.most is not None and self.calls + len(wanted) > self.most:
                raise BudgetSpent
            self.calls += len(wanted)
            for parts, fails in zip(wanted, (yield wanted), strict=True):
                self.learn(parts, fails=fails)
