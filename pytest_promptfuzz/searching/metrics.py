"""What several searches come to: how often they found something, how little it took, and at what price."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.scoring.intervals import share_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.searching.result import Search


@dataclass(frozen=True, slots=True)
class Middle:
    """Of some figures the mean and the median."""

    mean: float
    median: float

    @classmethod
    def of(cls, figures: Sequence[float]) -> Middle | None:
        """Of at least one; ``None`` of none."""
        return cls(fmean(figures), median(figures)) if figures else None


@dataclass(frozen=True, slots=True)
class Metrics:
    """The metrics of S3, over searches that told something.

    Attributes:
        searches: How many told something: found a change, or asked what was allowed and found none.
        found: How many of them found one.
        untold: How many told nothing, and count nowhere: noisy, interrupted, a target that failed.
        success_rate: Found of searches, 0 to 1; ``None`` of none.
        interval: Where the rate lies at 95 % (Wilson); ``None`` of none.
        change_rate: Of the finds: the share of words that they change, 0 to 1.
        words: Of the finds: how many words.
        queries: Of all: how often a prompt was asked, making the find smaller included.
        found_at: Of the finds: by which query.
        seconds: Of all: how long they took; stored answers take none.
        cost: US dollars of all together; ``None`` where no price is known.
        quality: Of the finds: what measures say, by name, as means; those that were not measured are left out.
    """

    searches: int
    found: int
    untold: int
    success_rate: float | None
    interval: tuple[float, float] | None
    change_rate: Middle | None
    words: Middle | None
    queries: Middle | None
    found_at: Middle | None
    seconds: Middle | None
    cost: float | None
    quality: dict[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The same as JSON-able data."""
        return {**asdict(self), "interval": None if self.interval is None else list(self.interval)}


def search_metrics(searches: Iterable[Search]) -> Metrics:
    """The metrics of several searches.

    Args:
        searches: Of one method on several prompts or inputs. Two methods' figures are compared by
            :func:`~pytest_promptfuzz.scoring.mann_whitney.mann_whitney`.

    Raises:
        UsageError: There is none.
    """
    given = list(searches)
    if not given:
        raise UsageError("search_metrics: no search is given, so that there is nothing to measure.")
    told = [each for each in given if each.conclusive]
    finds = [each for each in told if each.found]
    costs = [each.spent.cost for each in given if each.spent.cost is not None]
    names = sorted({name for each in finds for name in each.quality})
    interval = share_interval(len(finds) / len(told), len(told)) if told else None
    return Metrics(
        searches=len(told),
        found=len(finds),
        untold=len(given) - len(told),
        success_rate=len(finds) / len(told) if told else None,
        interval=None if interval is None else (interval.low, interval.high),
        change_rate=Middle.of([each.change_rate for each in finds]),
        words=Middle.of([each.words_changed for each in finds]),
        queries=Middle.of([each.queries for each in told]),
        found_at=Middle.of([each.found_at for each in finds]),
        seconds=Middle.of([each.spent.seconds for each in told]),
        cost=sum(costs) if costs else None,
        quality={name: fmean(each.quality[name] for each in finds if name in each.quality) for name in names},
    )
