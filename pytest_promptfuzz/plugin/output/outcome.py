"""A verdict as pytest's outcome: the exceptions that are raised, exit statuses, lines below the summary."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_promptfuzz.reporting.model import TestReport, TestSummary
    from pytest_promptfuzz.reporting.terminal.styled_text import Line, Style


# pytest's phases are setup, call and teardown. A failed "call" is a failure in JUnit whatever the terminal says, so
# an untrusted verdict is reported as a phase of its own, which is an error everywhere.
PHASE = "verdict"
UNEXPECTED = "[XPASS(strict)]"  # how pytest says that a strict xfail passed


# Writing to pytest's terminal: laid out to its width, in its colours, and in what its encoding has.


def write(writer: Any, lines: Iterable[Line]) -> None:
    """Write styled lines to a terminal writer of pytest's; nothing where there are none."""
    from pytest_promptfuzz.reporting.terminal.styled_text import render
    from pytest_promptfuzz.text.safe_text import fit_encoding

    held = list(lines)
    if held:
        text = render(held, width=writer.fullwidth, color=writer.hasmarkup)
        # pytest itself would escape whole lines that it cannot encode.
        encoding = getattr(getattr(writer, "_file", None), "encoding", None) or "utf-8"
        writer.line(fit_encoding(text, encoding))


def say(reporter: pytest.TerminalReporter, sentence: str, style: Style = "plain") -> None:
    """Write a sentence of ours below pytest's summary."""
    reporter.ensure_newline()
    write(reporter._tw, [ours(sentence, style)])  # noqa: SLF001 - the only way to its width and colours


def ours(sentence: str, style: Style = "plain") -> Line:
    """A sentence, marked as the plugin's."""
    from pytest_promptfuzz.reporting.terminal.styled_text import HANG

    return [("promptfuzz: ", "label"), HANG, (sentence, style)]


class BrittlePrompt(AssertionError):  # noqa: N818 - it names the verdict, as users read it
    """The prompt is brittle: the test fails, unless configured otherwise. ``report`` is the test's report."""

    def __init__(self, message: str, report: TestReport | None = None) -> None:
        super().__init__(message)
        self.report = report


class UntrustedVerdict(Exception):  # noqa: N818 - it names the verdict, as users read it
    """The verdict is noisy or inconclusive: an error in pytest's sense, unless configured otherwise."""

    def __init__(self, message: str, report: TestReport | None = None) -> None:
        super().__init__(message)
        self.report = report


class BehaviourDrift(Exception):  # noqa: N818 - as above
    """A robust test is not what its snapshot says, and fails since its policy is to. ``report`` is its report."""

    def __init__(self, message: str, report: TestReport | None = None) -> None:
        super().__init__(message)
        self.report = report


def end_with(session: pytest.Session, status: int) -> None:
    """Let a run end with this exit status, if it would have ended as hoped."""
    if session.exitstatus == 0:
        session.exitstatus = status


class _Crash:
    """What pytest's short summary shows, as ``message``, and what ``--tb=line`` prints."""

    def __init__(self, path: str, line: int, message: str) -> None:
        self.path, self.lineno, self.message = path, line, message

    def __str__(self) -> str:
        return f"{self.path}:{self.lineno}: {self.message}"

    def toterminal(self, writer: Any) -> None:
        """Print where it happened."""
        writer.line(str(self))


class MessageRepr:
    """A mistake in the test or the environment, in prose: laid out for the terminal's width when it is printed.

    Args:
        message: All of it.
        short: The message without the test, for pytest's short summary, which prints the test itself.
        path: The test's file.
        line: Where the test stands in it.
    """

    def __init__(self, message: str, short: str, path: str, line: int) -> None:
        self.message = message
        self.reprcrash = _Crash(path, line, short)

    def toterminal(self, writer: Any) -> None:
        """Print for the writer's width."""
        write(writer, [[(row, "plain")] for row in self.message.split("\n")])

    def __str__(self) -> str:
        return self.message


class RobustnessRepr:
    """What pytest prints for a robust test: rendered for the terminal's width and colours when it is printed.

    ``reprcrash.message`` is what pytest's short summary shows.
    """

    def __init__(self, report: TestReport) -> None:
        from pytest_promptfuzz.reporting.terminal.summary import one_line

        self.report = report
        self.sections: list[tuple[str, str, str]] = []
        path, line = report["location"] or (report["test"], 0)
        self.reprcrash = _Crash(path, line, one_line(report))

    def addsection(self, name: str, content: str, sep: str = "-") -> None:
        """Text that pytest adds below."""
        self.sections.append((name, content, sep))

    def toterminal(self, writer: Any) -> None:
        """Print for the writer's width, with colours if it has them."""
        from pytest_promptfuzz.reporting.terminal.failure import failure_lines

        write(writer, failure_lines(self.report, width=writer.fullwidth))
        for name, content, sep in self.sections:
            writer.sep(sep, name)
            writer.line(content)

    def __str__(self) -> str:
        from pytest_promptfuzz.reporting.terminal.failure import failure_lines
        from pytest_promptfuzz.reporting.terminal.styled_text import render

        return render(failure_lines(self.report, width=80), width=80, color=False)


# The results of a run's robust tests, kept for the summary at its end.


REPORT = pytest.StashKey["TestReport"]()
"""The report of a test, until pytest's own is made."""
UNMUTATED = pytest.StashKey[bool]()
"""Whether a test failed on the unmutated prompt."""
WITHOUT_TRIAL = pytest.StashKey[bool]()
"""Whether ``--promptfuzz-trial`` names no trial of a test."""
SNAPSHOT = pytest.StashKey[dict[str, Any]]()
"""What is kept of a test until its report is made."""


@dataclass(slots=True)
class SessionResults:
    """Results by test, on the process that sees every test's report.

    Attributes:
        reports: The report of each, of one that passed what the summary shows.
        expected: Reports of tests that were expected to fail.
        let_through: Verdicts that were configured to pass or skip, with this effect.
        unjudged: Robust tests that failed, or ended in an error, without a verdict.
        unmutated: Tests that failed on the unmutated prompt.
        without_trial: Tests that were skipped, since ``--promptfuzz-trial`` names none of their trials.
        interrupted: Searches that the run's end interrupted.
        forecasts: What a dry run says of each.
        unused_calls: How many calls were made ahead and taken by no test.
    """

    reports: dict[str, TestSummary] = field(default_factory=dict)
    expected: dict[str, TestReport] = field(default_factory=dict)
    let_through: dict[str, tuple[str, str]] = field(default_factory=dict)
    unjudged: dict[str, None] = field(default_factory=dict)
    unmutated: dict[str, None] = field(default_factory=dict)
    without_trial: dict[str, None] = field(default_factory=dict)
    interrupted: dict[str, TestReport] = field(default_factory=dict)
    forecasts: dict[str, Any] = field(default_factory=dict)
    unused_calls: int = 0

    @property
    def trial_unknown(self) -> bool:
        """Whether no test of the run has the one trial that was to run."""
        return bool(self.without_trial) and not self.reports

    @classmethod
    def of(cls, config: pytest.Config) -> SessionResults:
        """The run's."""
        return config.stash.setdefault(_RESULTS, cls())

    def see(self, report: pytest.TestReport) -> None:
        """A phase of a test is over; a rerun replaces what the run before it left."""
        data: TestReport | None = getattr(report, "promptfuzz", None)
        if data is not None:
            self._judged(report, data)
        if hasattr(report, "promptfuzz_unjudged"):
            self.unjudged[report.nodeid] = None
        if hasattr(report, "promptfuzz_forecast"):
            self.forecasts[report.nodeid] = report.promptfuzz_forecast
        if hasattr(report, "promptfuzz_unmutated"):
            self.unmutated[report.nodeid] = None
        if hasattr(report, "promptfuzz_without_trial"):
            self.without_trial[report.nodeid] = None

    def _judged(self, report: pytest.TestReport, data: TestReport) -> None:
        from pytest_promptfuzz.reporting.model import fails, summarised

        self.reports[data["test"]] = (
            summarised(data) if data["verdict"] == "pass" and not fails(data["drift"]) else data
        )
        accepted = data["accepted"] is not None and data["accepted"]["status"] == "accepted"
        if report.skipped and hasattr(report, "wasxfail") and not accepted:
            self.expected[data["test"]] = data
        self.unjudged.pop(data["test"], None)
        self.let_through.pop(data["test"], None)
        expected = hasattr(report, "wasxfail")
        if data["verdict"] != "pass" and (report.passed or (report.skipped and not expected)):
            self.let_through[data["test"]] = (data["verdict"], "pass" if report.passed else "skip")
        if (
            isinstance(report.longrepr, str)  # it crossed a process
            and (data["verdict"] != "pass" or fails(data["drift"]))
            and not report.longrepr.startswith(UNEXPECTED)
        ):
            report.longrepr = RobustnessRepr(data)  # type: ignore[assignment]  # a TerminalRepr by its methods


_RESULTS = pytest.StashKey[SessionResults]()
