"""What ends a search: money and time that are spent, a target that fails too often, a goal that is reached already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import ConfigurationError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_promptfuzz.evaluating.hunting import Hunting
    from pytest_promptfuzz.scoring.trial import Spent, TrialError
    from pytest_promptfuzz.searching.result import Ended

MOST_FAILURES = 8
"""So many queries in a row without an answer end a search."""


class Ends(Exception):  # noqa: N818 (no error: the search is over)
    """Nothing more is asked."""

    def __init__(self, why: Ended, explanation: str) -> None:
        super().__init__(explanation)
        self.why: Ended = why


class ReachedAlready(UsageError):  # noqa: N818 (what happened, not what to do about it)
    """The unmutated prompt's own answer reaches the goal, so that no change could."""


@dataclass(slots=True)
class Allowance:
    """Of one search.

    Attributes:
        settings: The search's.
        where: The test, for messages.
        clock: Seconds.
    """

    settings: Hunting
    where: str
    clock: Callable[[], float]
    _began: float = 0.0
    _dearest: float = 0.0
    _failures: int = 0

    def begin(self) -> None:
        """The time runs."""
        self._began = self.clock()

    def hold(self, spent: Spent, count: int) -> None:
        """Let ``count`` queries be made.

        Raises:
            Ends: Time or money do not hold them.
            ConfigurationError: What they cost is not known.
        """
        settings = self.settings
        if settings.seconds is not None and self.clock() - self._began >= settings.seconds:
            raise Ends("time-spent", f"max_seconds={settings.seconds:g} were spent")
        if settings.cost is None:
            return
        if spent.unpriced:
            raise ConfigurationError(
                f"{self.where}: max_cost={settings.cost:g} cannot be kept, since the price of the model is not known. "
                "Set it (see the page on limits), or give max_seconds= or queries= alone."
            )
        # No call is made that could pass the limit, were it as dear as the dearest so far.
        if (spent.cost or 0.0) + self._dearest * count > settings.cost:
            raise Ends("cost-spent", f"max_cost={settings.cost:g} does not hold {count} more queries")

    def paid(self, before: Spent, after: Spent) -> None:
        """A query was made."""
        self._dearest = max(self._dearest, (after.cost or 0.0) - (before.cost or 0.0))

    def had(self) -> None:
        """It was answered."""
        self._failures = 0

    def lost(self, error: TrialError) -> None:
        """It was not.

        Raises:
            Ends: The budget of the session is spent, or the target answers no more.
        """
        if error.kind == "budget":
            raise Ends("cost-spent", error.message)
        self._failures += 1
        if self._failures >= MOST_FAILURES:
            raise Ends(
                "target-failed",
                f"{self._failures} queries in a row got no answer; the last: {error.message}",
            )
