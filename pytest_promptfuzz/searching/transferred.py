"""``Transfer``: whether changes that break one model's answers break another's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.scoring.intervals import share_interval

if TYPE_CHECKING:
    from pytest_promptfuzz.searching.result import Search


@dataclass(frozen=True, slots=True)
class Transfer:
    """What became of found changes on another target.

    Attributes:
        target: Its name.
        asked: Each change that was asked there, as a search that had nothing else to try: ``found`` where it broke
            the answer there as well, more often than not when it was asked again.
        left_out: The IDs of changes of which nothing can be told there, and why: the unmutated prompt fails, or its
            answers vary.
    """

    target: str
    asked: tuple[Search, ...]
    left_out: tuple[tuple[str, str], ...]

    @property
    def broke(self) -> int:
        """How many broke the answer there as well."""
        return sum(each.found for each in self.asked)

    @property
    def rate(self) -> float | None:
        """The same as a share of those that were asked; ``None`` of none."""
        return self.broke / len(self.asked) if self.asked else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where the rate lies at 95 % (Wilson); ``None`` of none."""
        if self.rate is None:
            return None
        found = share_interval(self.rate, len(self.asked))
        return found.low, found.high

    def to_json(self) -> dict[str, Any]:
        """The same as JSON-able data."""
        return {
            "target": self.target,
            "broke": self.broke,
            "of": len(self.asked),
            "rate": self.rate,
            "interval": None if self.interval is None else list(self.interval),
            "asked": [each.to_json() for each in self.asked],
            "left_out": [{"id": name, "why": why} for name, why in self.left_out],
        }
