"""What a judge did for one test: ratings, agreement with itself, quality."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_promptfuzz.scoring.agreement import Agreement
    from pytest_promptfuzz.scoring.deltas import Deltas


@dataclass(frozen=True, slots=True)
class Judging:
    """What a judge did for one test.

    Attributes:
        judge: Its name.
        ratings: How many different pairs of answers it rated 3, 2 and 1; ``None`` are those it left undecided.
        failed: Pairs that it could not rate: a failed call, or an answer that could not be used.
        orders: Agreement between the two orders in which each pair was shown; ``None`` where there is but one.
        repeats: Agreement between repeats of the same question; ``None`` where it was asked once.
        quality: The aggregates of the quality judges; ``None`` where none was asked for.
        ungraded: Pairs left out of them, since they have no outcome or the judge failed.
    """

    judge: str
    ratings: Mapping[int | None, int]
    failed: int
    orders: Agreement | None = None
    repeats: Agreement | None = None
    quality: Deltas | None = None
    ungraded: int = 0

    @property
    def pairs(self) -> int:
        """The pairs that were rated or left undecided."""
        return sum(self.ratings.values())

    @property
    def asked(self) -> bool:
        """Whether there was anything to ask it."""
        return bool(self.pairs or self.failed or (self.quality and self.quality.shifted) or self.ungraded)

    def said(self) -> list[str]:
        """The same in sentences, for reports."""
        return [*self._rated(), *self._quality()]

    def as_dict(self) -> dict[str, Any]:
        """The same as JSON-able data: shares as numbers from 0 to 1, kappa from -1 to 1."""
        quality = self.quality
        return {
            "judge": self.judge,
            "ratings": {word: self.ratings.get(rating, 0) for rating, word in _NAMES.items()},
            "failed": self.failed,
            "orders": None if self.orders is None else asdict(self.orders),
            "repeats": None if self.repeats is None else asdict(self.repeats),
            "quality": None
            if quality is None
            else {
                **asdict(quality),
                **{name: float(getattr(quality, name)) for name in ("content", "quality", "overall")},
                "by_measure": dict(quality.by_measure),
            },
            "ungraded": self.ungraded,
        }

    def _rated(self) -> list[str]:
        if not self.pairs and not self.failed:
            return []
        counts = [
            f"{self.ratings[rating]} {word}" for rating, word in _WORDS.items() if self.ratings.get(rating)
        ]
        counts += [f"{self.failed} failed"] if self.failed else []
        total = self.pairs + self.failed
        shown = f"{total} pair{'s' if total > 1 else ''} of answers"
        text = f"the judge {self.judge} was shown {shown}: {', '.join(counts)}"
        text += _agreed("both orders", self.orders) + _agreed("repeats", self.repeats)
        return [text]

    def _quality(self) -> list[str]:
        found = self.quality
        if found is None:
            return []
        measures = ", ".join(f"{name} in {amount}" for name, amount in found.by_measure.items() if amount)
        text = (
            f"content changed in {found.shifted} of {found.pairs} answers (ΔContent {float(found.content):.2f}), "
            f"quality in {found.changed} of those (ΔQuality {float(found.quality):.2f}"
            f"{f': {measures}' if measures else ''}); overall {float(found.overall):.2f}"
        )
        if self.ungraded:
            text += f"; {self.ungraded} left out, without outcome or grade"
        return [text]


_NAMES: dict[int | None, str] = {3: "3", 2: "2", 1: "1", None: "undecided"}
_WORDS: dict[int | None, str] = {
    3: "the same",
    2: "with minor differences",
    1: "different",
    None: "undecided",
}


def _agreed(what: str, found: Agreement | None) -> str:
    if found is None or not found.pairs:
        return ""
    kappa = "" if found.kappa is None else f", kappa {found.kappa:.2f}"
    return f"; {what} agreed in {found.equal} of {found.pairs}{kappa}"
