"""What ``promptfuzz run`` leaves behind: its reports, and a run in the history, as pytest leaves them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.history.bases import commit_of, last
from pytest_promptfuzz.history.entries import entry
from pytest_promptfuzz.history.run_comparison import changes
from pytest_promptfuzz.history.runs import Runs, trends
from pytest_promptfuzz.reporting.document import run_report
from pytest_promptfuzz.reporting.report_files import Stored, check, publish, read_wanted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.cli.options import Output
    from pytest_promptfuzz.history.changes import ChangesReport, TrendsReport
    from pytest_promptfuzz.reporting.document import DocumentTest, RunReport
    from pytest_promptfuzz.reporting.report_files import ReportRequest


class KeptCommand(NamedTuple):
    """A run that a command makes and keeps.

    Attributes:
        folder: Of stored answers, reports and runs.
        wanted: The reports that were asked for.
        most: How many runs without a name are kept; 0 keeps none.
        began: When it began, in seconds since 1970.
        mode: Where answers come from.
        seed: Of the mutations.
    """

    folder: Path
    wanted: tuple[ReportRequest, ...]
    most: int
    began: float
    mode: str
    seed: int

    def keep(self, tests: Sequence[DocumentTest], output: Output) -> None:
        """Keep the run, and write its reports.

        Raises:
            PromptfuzzError: A report that was asked for cannot be written.
        """
        if not self.most and not self.wanted:
            return
        here = Path.cwd()
        commit = commit_of(here)
        run = run_report(here, self.began, commit, name="", mode=self.mode, seed=self.seed, complete=True)
        warnings: list[str] = []
        compared: tuple[ChangesReport | None, TrendsReport | None] = (None, None)
        if self.most:
            try:
                compared = self._in_history(run, tests)
            except StoreError as error:
                warnings.append(f"this run is not kept, and later ones cannot be compared with it: {error}")
        stored = Stored(self.folder, run)
        for test in tests:
            stored.test(test)
        stored.end(run, changes=compared[0], trends=compared[1], warnings=warnings)
        for warning in warnings:
            output.error(f"promptfuzz run: {warning}")
        with stored.document([each.format for each in self.wanted]) as found:
            for each in self.wanted:
                output.error(publish(found, each.format, Path(each.path), shown=each.path, log=output.text))

    def _in_history(
        self, run: RunReport, tests: Sequence[DocumentTest]
    ) -> tuple[ChangesReport | None, TrendsReport | None]:
        """Keep it in the history; how it compares with the run before, and earlier results."""
        runs = Runs(self.folder)
        entries = {one["test"]: one for one in map(entry, tests)}
        writing = runs.begin(run)
        for one in entries.values():
            writing.add(one)
        writing.end(run)
        runs.forget(self.most)
        targets = {test: each["target"] for test, each in entries.items()}
        base = last(entries.keys(), runs, before=writing.path, targets=targets)
        earlier = trends(runs, entries.keys(), before=writing.path)
        found = changes(base.report, base.tests, entries, gone=(), semantic=lambda: None)
        return (found if base.tests else None), (earlier if earlier["runs"] else None)


def reports_to_write(given: str | None) -> tuple[ReportRequest, ...]:
    """The reports that an option names; refused before anything is asked where they cannot be written.

    Raises:
        PromptfuzzError: A format that nobody knows, no path, or a path that cannot be written.
    """
    wanted = tuple(read_wanted(given)) if given else ()
    for each in wanted:
        check(each.format, Path(each.path))
    return wanted
