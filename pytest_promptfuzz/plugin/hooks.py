"""The pytest plugin's hooks: they translate, and import what does the work when a robust test runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.plugin.counterexamples import PinKeeper, keeps_finds
from pytest_promptfuzz.plugin.fixtures import (
    input,  # noqa: A004 - a fixture's name
    llm,
    prompt,
    promptfuzz,
    promptfuzz_proxy,
    promptfuzz_server,
    response,
)
from pytest_promptfuzz.plugin.former_tests import FormerTests, OrphanSnapshots
from pytest_promptfuzz.plugin.limits import RUN, RUN_OF_WORKERS
from pytest_promptfuzz.plugin.marks import KEYS_OVER, MARK, is_robust, names_target
from pytest_promptfuzz.plugin.options import WORKER_KEY, add_options, refuse_other_updates
from pytest_promptfuzz.plugin.output.outcome import SessionResults, end_with
from pytest_promptfuzz.plugin.output.session_finish import Ending, read_reports
from pytest_promptfuzz.plugin.recordings import RecordingSummary, end_recording, run_of
from pytest_promptfuzz.plugin.snapshots import Updates, check_update
from pytest_promptfuzz.plugin.state import STATE, State
from pytest_promptfuzz.wire import network

if TYPE_CHECKING:
    import warnings
    from collections.abc import Generator

__all__ = ["input", "llm", "prompt", "promptfuzz", "promptfuzz_proxy", "promptfuzz_server", "response"]

_ENDED = {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED}


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare options and ini values."""
    config: Any = pluginmanager.get_plugin("pytestconfig")
    refuse_other_updates(map(str, config.invocation_params.args if config is not None else ()))
    add_options(parser)
    network.begin_audit()  # conftest.py files and modules are loaded after this


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare our own hooks."""
    from pytest_promptfuzz.plugin import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark, and refuse settings that cannot be read before anything runs."""
    config.addinivalue_line(
        "markers",
        f"{MARK}(prompt=None, *, mutations=8, threshold=0.85, mutate='prompt', target=None, task=None, ...): run "
        "the test with mutated prompts; it fails if the answers change too often (pytest-promptfuzz).",
    )
    if getattr(config.option, "htmlpath", None):
        from pytest_promptfuzz.plugin.output.attachments import register

        register(config)
    state = State.of(config)
    check_update(config, state.overrides)
    config.pluginmanager.register(ReportCollector(state), "promptfuzz-results")
    repeated = RepeatedErrors()
    config.pluginmanager.register(repeated, "promptfuzz-repeated-errors")
    config.pluginmanager.register(WholeErrors(repeated), "promptfuzz-whole-errors")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close what was opened."""
    state = config.stash.get(STATE, None)
    if state is not None:
        state.close()
        network.end_audit(state.beforehand)


def pytest_report_header(config: pytest.Config) -> list[str]:
    """One line, or two where a similarity tier is missing."""
    from pytest_promptfuzz.plugin.output.terminal import header

    return header(State.of(config))


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """A short ID for a parametrized prompt, in the place of its whole text."""
    del config
    from pytest_promptfuzz.plugin.output.terminal import prompt_id

    return prompt_id(val, argname)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Refuse reports that could not be written, and runs that cannot be compared with, before anything runs."""
    state = State.of(session.config)
    if hasattr(session.config, "workerinput"):
        return
    ending = Ending.of(session.config)
    ending.earlier.prepare(state)
    if state.settings["report"] and KEYS_OVER not in session.config.stash:  # a study has files of its own
        ending.wanted = read_reports(session.config, state.settings["report"])


def pytest_itemcollected(item: pytest.Item) -> None:
    """Note that a test exists, whether or not it is selected; no key may stand in its name."""
    if "[" in item.name and is_robust(item):
        from pytest_promptfuzz.plugin.output.redaction import hide_in_id

        hide_in_id(item, State.of(item.config).redaction())
    OrphanSnapshots.of(item.config).collected(item)
    FormerTests.of(item.config).collected(item.nodeid)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuse operators that nobody knows, now that every conftest.py has been read, and count the robust tests."""
    state = State.of(session.config)
    state.choice.check()
    OrphanSnapshots.of(session.config).finished(session)
    FormerTests.of(session.config).finished(session)
    robust = [item.nodeid for item in session.items if is_robust(item)]
    state.tests = len(robust)
    if any(is_robust(each) and not names_target(each) for each in session.items):
        state.check_target()
    if not hasattr(session.config, "workerinput"):
        Ending.of(session.config).earlier.check(robust, state)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Note where the run is."""
    State.of(item.config).reach(nextitem)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Add what a worker of xdist did not use, and what it knows of tests that are gone; one that died lost tests."""
    if error:
        RecordingSummary.of(node.config).cut_short = True
    output = getattr(node, "workeroutput", None) or {}
    if "promptfuzz_gone" in output:
        OrphanSnapshots.of(node.config).add(output["promptfuzz_gone"])
        FormerTests.of(node.config).add(output["promptfuzz_collected"])
    SessionResults.of(node.config).unused_calls += output.get("promptfuzz_unused_calls", 0)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Run a robust test's body for the baseline and each mutation, and judge."""
    if not is_robust(item):
        return (yield)
    if State.of(item.config).dry:
        from pytest_promptfuzz.plugin.dry_run import plan_only, rehearses

        planned = rehearses(item)
        if planned is not None:
            from pytest_promptfuzz.plugin.dry_run import rehearsed

            with rehearsed(item, planned):
                return (yield)
        plan_only(item)
    from pytest_promptfuzz.plugin.execution.call_phase import robust_call, unmutated_call
    from pytest_promptfuzz.plugin.output.terminal import keys_of

    state = State.of(item.config)
    with keys_of(state.settings["mode"]), robust_call(item) if state.enabled else unmutated_call(item):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Put the verdict into pytest's words."""
    if call.excinfo is not None:
        from pytest_promptfuzz.plugin.output.pytest_reports import without_our_frames

        without_our_frames(call.excinfo.value)
    report: pytest.TestReport = yield
    if call.when == "call":
        end_recording(item, report)
    if call.when != "teardown" and is_robust(item):
        from pytest_promptfuzz.plugin.output.pytest_reports import (
            allure_listens,
            translate,
            translate_unmutated,
        )

        state = State.of(item.config)
        if state.dry and call.when == "call":
            from pytest_promptfuzz.plugin.dry_run import DRY

            if DRY in item.stash:
                report.promptfuzz_forecast = item.stash[DRY]  # type: ignore[attr-defined]  # plain data survives xdist
        if state.enabled:
            translate(item, call, report, state.settings)
            if hasattr(report, "promptfuzz") and allure_listens(item.config):
                from pytest_promptfuzz.plugin.output.attachments import restate

                restate(item, report)
        else:
            translate_unmutated(report)
        if report.failed and not hasattr(report, "promptfuzz"):
            report.promptfuzz_unjudged = state.target_name(item)  # type: ignore[attr-defined]  # for the run's report
    State.of(item.config).hide_secrets(report, robust=is_robust(item))
    if is_robust(item):
        from pytest_promptfuzz.plugin.output.redaction import break_commands

        break_commands(report)
    return report


class ReportCollector:
    """Gathers finished tests' reports on the process that prints them."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._ending = Ending.of(state.config)
        self._former = FormerTests.of(state.config)
        self._pins = PinKeeper.of(state.config)
        self._recorded = RecordingSummary.of(state.config)
        self._results = SessionResults.of(state.config)
        self._updates = Updates.of(state.config)

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self) -> None:
        """Begin no further call, before anything is reported. ``pytest.exit`` comes here too."""
        self._recorded.cut_short = True
        self._state.stop()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Complete the JUnit report, which pytest writes as the session ends."""
        from pytest_promptfuzz.plugin.output.junit import tell_suite

        tell_suite(self._state)

    @pytest.hookimpl(tryfirst=True)
    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage) -> None:
        """Take what looks like a key out of a warning, before it is shown or sent to the process that shows it."""
        self._state.hide_in_warning(warning_message)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Remember the run that xdist's workers belong to."""
        self._state.config.stash[RUN_OF_WORKERS] = node.workerinput[RUN]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep what could not be collected for the run's report, which would say nothing of it."""
        if report.failed:
            self._ending.see_uncollected(report, self._state)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, None, None]:
        """Keep it for the table; give one that came from another process its rendering back."""
        self._updates.see(report)
        self._ending.see(report, self._state)
        if keeps_finds(self._state):
            self._pins.see(report, self._state.folder)
        self._results.see(report)
        if hasattr(report, "promptfuzz_message"):
            from pytest_promptfuzz.plugin.output.pytest_reports import laid_out

            laid_out(report)
        self._recorded.see(report)
        self._former.see(report)
        yield
        if hasattr(report, "promptfuzz") or hasattr(report, "promptfuzz_message"):
            from pytest_promptfuzz.plugin.output.junit import name_phase

            name_phase(report, self._state.config)
        if hasattr(report, "promptfuzz_snapshot"):
            del report.promptfuzz_snapshot
        if hasattr(report, "promptfuzz"):
            # pytest keeps every report to its end; by now whoever wanted all of it has had it.
            report.promptfuzz = self._results.reports[report.promptfuzz["test"]]  # type: ignore[attr-defined]  # ours


class RepeatedErrors:
    """Puts one report in the place of several of one cause, while pytest prints its section ERRORS.

    It is a plugin of its own, so that ``-p no:promptfuzz-repeated-errors`` switches it off.
    """

    def __init__(self) -> None:
        self._reporter: pytest.TerminalReporter | None = None
        self._whole: list[Any] = []

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> Generator[None, object, object]:
        """Around pytest's own, which prints ERRORS first."""
        if errors := terminalreporter.stats.get("error"):
            from pytest_promptfuzz.plugin.output.repeated_errors import once_each

            self._reporter, self._whole = terminalreporter, errors
            terminalreporter.stats["error"] = once_each(errors)
        try:
            return (yield)
        finally:
            self.restore()

    def restore(self) -> None:
        """Give every report back; a second time does nothing."""
        if self._reporter is not None:
            self._reporter.stats["error"] = self._whole
            self._reporter = None


class WholeErrors:
    """Gives the reports back before another plugin sees them: a plugin has a hook only once."""

    def __init__(self, repeated: RepeatedErrors) -> None:
        self._repeated = repeated

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_terminal_summary(self) -> Generator[None, object, object]:
        """Inside of pytest's own."""
        self._repeated.restore()
        return (yield)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """An xdist worker is in the mode of the process that started it, and records in its run."""
    state = State.of(node.config)
    node.workerinput[WORKER_KEY] = mode = state.settings["mode"]
    if mode.startswith("record"):
        run_of(node.config, state.folder, node.workerinput[RUN])


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, dict[str, Any] | None, dict[str, Any] | None]:
    """No text of a model's keeps a report from being sent to xdist's controller."""
    data = yield
    if data is not None:
        from pytest_promptfuzz.plugin.output.redaction import pack

        pack(data)
    return data


@pytest.hookimpl(tryfirst=True)
def pytest_report_from_serializable(data: dict[str, Any]) -> None:
    """Undo what was done to send it."""
    from pytest_promptfuzz.plugin.output.redaction import unpack

    unpack(data)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Stop what makes calls ahead, however the run came to its end, and write what was recorded.

    Recordings are written, and counts shown, by the process that has seen every test.
    """
    state = State.of(session.config)
    state.finish()
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["promptfuzz_unused_calls"] = SessionResults.of(session.config).unused_calls
        from pytest_promptfuzz.plugin.output.redaction import sendable

        output["promptfuzz_gone"] = sendable(OrphanSnapshots.of(session.config).to_json())
        collected = FormerTests.of(session.config).to_json() if state.tests else {}
        output["promptfuzz_collected"] = sendable(collected)
    if hasattr(session.config, "workerinput"):
        return
    if state.updates:
        updates = Updates.of(session.config)
        updates.write(session.config.rootpath, PinKeeper.of(session.config).pinned)
        if updates.lost:
            end_with(session, pytest.ExitCode.TESTS_FAILED)
    if state.settings["mode"].startswith("record"):
        whole = exitstatus in _ENDED
        recorded = RecordingSummary.of(session.config)
        recorded.write(session, state.folder, state.warnings.append, whole=whole)
    if SessionResults.of(session.config).trial_unknown:
        end_with(session, pytest.ExitCode.USAGE_ERROR)
    stopped = session.shouldfail or session.shouldstop
    complete = exitstatus in _ENDED and not stopped
    Ending.of(session.config).finish(session, state, complete=complete)


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """A verdict that is an error has its own phase, which pytest would count as a failure."""
    if report.when == "verdict" and report.outcome == "failed":  # type: ignore[comparison-overlap]  # ours
        verdict = str(getattr(report, "promptfuzz", {}).get("verdict", "error"))
        # A test that passes is an error where nothing tells whether it drifted.
        return "error", "E", "INCONCLUSIVE" if verdict == "pass" else verdict.upper()
    return None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The table of robust tests."""
    from pytest_promptfuzz.plugin.output.terminal import summary

    summary(terminalreporter, State.of(terminalreporter.config))
