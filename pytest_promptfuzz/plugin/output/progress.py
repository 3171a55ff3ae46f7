"""Progress while the trials of a test run: on a terminal only, and gone when the test is done."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.reporting.terminal.progress import Progress

if TYPE_CHECKING:
    import pytest

    from pytest_promptfuzz.evaluating.evaluation import Evaluation
    from pytest_promptfuzz.evaluating.search_tests import SearchedTest


class ItemProgress:
    """Shows how far one item is, where pytest writes to a terminal and is not told to be quiet."""

    def __init__(self, item: pytest.Item) -> None:
        self._test = item.name
        self._ran = 0
        reporter = item.config.pluginmanager.getplugin("terminalreporter")
        quiet = item.config.get_verbosity() < 0
        # What the body prints uncaptured would mix with it.
        printing = item.config.getoption("capture") == "no"
        enabled = reporter is not None and reporter.isatty and not quiet and not printing
        screen = Screen(reporter, item.config.pluginmanager.getplugin("capturemanager"))
        self._progress = Progress(screen.write, enabled=enabled, width=screen.width, column=screen.column)

    def ran(self, evaluation: Evaluation, search: SearchedTest | None) -> None:
        """One more run of the body, of a plan or of a search."""
        if search is not None:
            self._progress.search(
                self._test,
                search.asked,
                search.budget,
                best=search.best,
                reached=search.best >= 1,
                cost=search.spent.cost or 0.0,
            )
            return
        self._ran += 1
        deviations = sum(trial.outcome == "deviation" for trial in evaluation.findings.trials)
        total = evaluation.cases * (1 if evaluation.settings.only else evaluation.contract.plan.mutations)
        # Each case begins with its baseline and its repeat run.
        done = min(max(self._ran - 2 * evaluation.cases, 0), total)
        self._progress.trial(self._test, done, total, deviations, evaluation.spent.calls)

    def clear(self) -> None:
        """Take it off the screen."""
        self._progress.clear()


class Screen:
    """What pytest writes to."""

    def __init__(self, reporter: Any, capture: Any) -> None:
        self._reporter = reporter
        self._capture = capture

    def width(self) -> int:
        """Its columns."""
        width: int = self._reporter._tw.fullwidth  # noqa: SLF001 - the only way to its width
        return width

    def column(self) -> int:
        """How many of them the current line takes."""
        column: int = self._reporter._tw.width_of_current_line  # noqa: SLF001 - see width
        return column

    def write(self, text: str) -> None:
        """Write past the capture of what tests print."""
        if self._capture is None:
            self._put(text)
            return
        with self._capture.global_and_fixture_disabled():
            self._put(text)

    def _put(self, text: str) -> None:
        stream = getattr(self._reporter._tw, "_file", sys.stdout)  # noqa: SLF001 - what pytest writes to
        stream.write(text)
        stream.flush()
