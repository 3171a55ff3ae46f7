"""A verdict in pytest's report of a test: passed, failed or error, and the text that is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import PromptfuzzError, continued, without_test
from pytest_promptfuzz.plugin.output.outcome import (
    PHASE,
    REPORT,
    SNAPSHOT,
    UNEXPECTED,
    UNMUTATED,
    WITHOUT_TRIAL,
    BehaviourDrift,
    BrittlePrompt,
    MessageRepr,
    RobustnessRepr,
    UntrustedVerdict,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

    from pytest_promptfuzz.reporting.model import TestReport

ALLURE = "allure_listener"


def translate(
    item: pytest.Item,
    call: pytest.CallInfo[None],
    report: pytest.TestReport,
    effects: Mapping[str, str],
) -> None:
    """Change a report to say what the verdict means; the data goes along as ``report.promptfuzz``.

    Args:
        item: The test.
        call: What came of one of its phases.
        report: Pytest's own, of that phase.
        effects: What each verdict but ``pass`` is to be: one of ``setting_kinds.EFFECT``.
    """
    data = _kept(item, call, report)
    error = call.excinfo.value if call.excinfo is not None else None
    if isinstance(error, BrittlePrompt) and report.skipped:
        _show(report, error.report)  # a mark expects it
    elif isinstance(error, BehaviourDrift):
        _as_drift(report, error)
    elif isinstance(error, BrittlePrompt | UntrustedVerdict):
        _against(report, error, effects[_verdict(error)], strict=_strict_xfail(item))
    elif error is None and data is not None and _acceptance(data) == "passes" and report.passed:
        _as_unexpected_pass(report, data, strict=_is_strict(item))
    elif isinstance(error, PromptfuzzError):
        # A mistake in the test or the environment: the message says all, and no xfail is satisfied by it. There is no
        # verdict, and nothing failed that the test is about: it is shown as a fixture is that pytest does not find.
        if call.when == "call":
            _as_error(report, "setup")
        report.longrepr = _message(error, item)
        report.promptfuzz_message = True  # type: ignore[attr-defined]  # it is laid out where it is printed
    elif call.when == "call" and error is not None and report.skipped and _strict_xfail(item):
        # The baseline itself fails: not what the xfail waits for.
        report.outcome = "failed"
        del report.wasxfail
        report.longrepr = item.repr_failure(call.excinfo)  # type: ignore[arg-type]  # not None with an error


def _kept(item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> TestReport | None:
    """What was kept on a test until now, put on its report; the test's own report, where it was judged."""
    data = item.stash.get(REPORT, None)
    if data is not None:
        del item.stash[REPORT]
        report.promptfuzz = data  # type: ignore[attr-defined]  # plain data survives xdist
        kept = item.stash.get(SNAPSHOT, None)
        if kept is not None:
            del item.stash[SNAPSHOT]
        if kept:
            report.promptfuzz_snapshot = kept  # type: ignore[attr-defined]  # likewise
    if call.when == "call" and item.stash.get(UNMUTATED, False):
        del item.stash[UNMUTATED]
        report.promptfuzz_unmutated = True  # type: ignore[attr-defined]  # for the summary
    if call.when == "call" and item.stash.get(WITHOUT_TRIAL, False):
        del item.stash[WITHOUT_TRIAL]
        report.promptfuzz_without_trial = True  # type: ignore[attr-defined]  # for the summary
    return data


def without_our_frames(error: BaseException) -> None:
    """End the traceback of a mistake where the test's code called the plugin; pytest would show the plugin's source."""
    if not isinstance(error, PromptfuzzError):
        return
    frame, last = error.__traceback__, None
    while frame is not None:
        if frame.tb_frame.f_globals.get("__name__", "").partition(".")[0] != "pytest_promptfuzz":
            last = frame
        frame = frame.tb_next
    if last is not None:
        last.tb_next = None


def _message(error: PromptfuzzError, item: pytest.Item) -> str:
    """The kind of error, the test, and what is wrong with it."""
    return f"{type(error).__name__}: {item.nodeid}: {continued(without_test(str(error), item.nodeid))}"


def laid_out(report: pytest.TestReport) -> None:
    """Have a message of ours, which crosses processes as text, fit the terminal that it is printed on."""
    if isinstance(report.longrepr, str):
        path, line, _ = report.location
        short = without_test(report.longrepr, report.nodeid)
        report.longrepr = MessageRepr(report.longrepr, short, path, (line or 0) + 1)  # type: ignore[assignment]  # it has a TerminalRepr's methods


def translate_unmutated(report: pytest.TestReport) -> None:
    """A strict xfail waits for brittleness, which an unmutated run cannot show: it passes."""
    if report.failed and isinstance(report.longrepr, str) and report.longrepr.startswith(UNEXPECTED):
        report.outcome, report.longrepr = "passed", None


def _show(report: pytest.TestReport, data: TestReport | None) -> None:
    if data is not None:
        report.longrepr = RobustnessRepr(data)  # type: ignore[assignment]  # a TerminalRepr by its methods


def _verdict(error: BrittlePrompt | UntrustedVerdict) -> str:
    if isinstance(error, BrittlePrompt):
        return "brittle"
    return "inconclusive" if error.report is None else error.report["verdict"]


def _against(
    report: pytest.TestReport, error: BrittlePrompt | UntrustedVerdict, effect: str, *, strict: bool
) -> None:
    """A verdict other than ``pass``, as what the user wants it to be."""
    if error.report is not None and _acceptance(error.report) == "accepted":
        from pytest_promptfuzz.reporting.phrases import accepted_text

        report.outcome = "skipped"
        report.wasxfail = f"reason: {accepted_text(error.report).removeprefix('is ')}"
        _show(report, error.report)
        return
    if effect == "pass":
        _as_pass(report, strict=strict)
        return
    if effect == "skip":
        path, line = (
            error.report["location"] if error.report and error.report["location"] else (report.nodeid, 0)
        )
        report.outcome, report.longrepr = "skipped", (path, line, f"Skipped: {error}")
    elif effect == "xfail":
        report.outcome = "skipped"
        report.wasxfail = f"reason: {error}"
        _show(report, error.report)
        return
    else:
        if effect == "error":
            _as_error(report)
        report.outcome = "failed"
        _show(report, error.report)
    if hasattr(report, "wasxfail"):
        del report.wasxfail


def _as_drift(report: pytest.TestReport, error: BehaviourDrift) -> None:
    """A failure of its own, which no xfail waits for; an error where nothing can tell."""
    from pytest_promptfuzz.reporting.model import undecided  # a run without robust tests has no need of it

    if error.report is not None and undecided(error.report["drift"]):
        _as_error(report)
    report.outcome = "failed"
    _show(report, error.report)
    if hasattr(report, "wasxfail"):
        del report.wasxfail


def _as_pass(report: pytest.TestReport, *, strict: bool) -> None:
    """A pass; where a mark xfail waits for a failure, an unexpected one, as pytest has it."""
    report.outcome, report.longrepr = "passed", None
    if strict and hasattr(report, "wasxfail"):
        report.outcome, report.longrepr = "failed", f"{UNEXPECTED} {report.wasxfail}"
        del report.wasxfail


def _acceptance(data: TestReport) -> str:
    accepted = data["accepted"]
    return "" if accepted is None else accepted["status"]


def _as_unexpected_pass(report: pytest.TestReport, data: TestReport, *, strict: bool) -> None:
    """A test that is accepted as brittle passes: as pytest has it of one that is expected to fail."""
    from pytest_promptfuzz.reporting.phrases import accepted_text

    report.wasxfail = f"reason: {accepted_text(data)}"
    if strict:
        _as_pass(report, strict=True)


def _as_error(report: pytest.TestReport, phase: str = PHASE) -> None:
    report.when = phase  # type: ignore[assignment]  # see PHASE
    report.outcome = "failed"
    if hasattr(report, "wasxfail"):
        del report.wasxfail


def _is_strict(item: pytest.Item) -> bool:
    """Whether the project's tests fail that are expected to fail and pass."""
    return bool(item.config.getini("xfail_strict") or item.config.getini("strict"))


def _strict_xfail(item: pytest.Item) -> bool:
    mark = item.get_closest_marker("xfail")
    return bool(mark is not None and mark.kwargs.get("strict", _is_strict(item)))


def allure_listens(config: pytest.Config) -> bool:
    """Whether allure is told of this run's tests."""
    active = getattr(config.option, "allure_report_dir", None)
    return bool(active) and config.pluginmanager.has_plugin(ALLURE)
