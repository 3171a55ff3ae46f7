"""The results of a run's robust tests, kept for the summary at its end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.plugin.output.outcome import UNEXPECTED, RobustnessRepr

if TYPE_CHECKING:
    from pytest_promptfuzz.reporting.model import TestReport, TestSummary

REPORT = pytest.StashKey["TestReport"]()
"""The report of a test, until pytest's own is made."""
UNMUTATED = pytest.StashKey[bool]()
"""Whether a test failed on the unmutated prompt."""
SNAPSHOT = pytest.StashKey[dict[str, Any]]()
"""What is kept of a test until its report is made."""


@dataclass(slots=True)
class SessionResults:
    """Results by test, on the process that sees every test's report.

    Attributes:
        reports: The report of each, of one that passed what the summary shows.
        expected: Reports of tests that were expected to fail.
        let_through: Verdicts that were configured to pass.
        unmutated: Tests that failed on the unmutated prompt.
        interrupted: Searches that the run's end interrupted.
        forecasts: What a dry run says of each.
        unused_calls: How many calls were made ahead and taken by no test.
    """

    reports: dict[str, TestSummary] = field(default_factory=dict)
    expected: dict[str, TestReport] = field(default_factory=dict)
    let_through: dict[str, str] = field(default_factory=dict)
    unmutated: dict[str, None] = field(default_factory=dict)
    interrupted: dict[str, TestReport] = field(default_factory=dict)
    forecasts: dict[str, Any] = field(default_factory=dict)
    unused_calls: int = 0

    @classmethod
    def of(cls, config: pytest.Config) -> SessionResults:
        """The run's."""
        return config.stash.setdefault(_RESULTS, cls())

    def see(self, report: pytest.TestReport) -> None:
        """A phase of a test is over; a rerun replaces what the run before it left."""
        data: TestReport | None = getattr(report, "promptfuzz", None)
        if data is not None:
            self._judged(report, data)
        if hasattr(report, "promptfuzz_forecast"):
            self.forecasts[report.nodeid] = report.promptfuzz_forecast
        if hasattr(report, "promptfuzz_unmutated"):
            self.unmutated[report.nodeid] = None

    def _judged(self, report: pytest.TestReport, data: TestReport) -> None:
        from pytest_promptfuzz.reporting.model import fails, summarised

        self.reports[data["test"]] = (
            summarised(data) if data["verdict"] == "pass" and not fails(data["drift"]) else data
        )
        if report.skipped and hasattr(report, "wasxfail"):
            self.expected[data["test"]] = data
        self.let_through.pop(data["test"], None)
        if report.passed and data["verdict"] != "pass":
            self.let_through[data["test"]] = data["verdict"]
        if (
            isinstance(report.longrepr, str)  # it crossed a process
            and (data["verdict"] != "pass" or fails(data["drift"]))
            and not report.longrepr.startswith(UNEXPECTED)
        ):
            report.longrepr = RobustnessRepr(data)  # type: ignore[assignment]  # a TerminalRepr by its methods


_RESULTS = pytest.StashKey[SessionResults]()
