"""What the plugin writes to pytest's terminal beside failures: the header and the table of robust tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.plugin.keys import wanted_earlier
from pytest_promptfuzz.plugin.options import unknown_variables
from pytest_promptfuzz.plugin.saying import ours, say, write

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

    from pytest_promptfuzz.history.changes import ChangesReport
    from pytest_promptfuzz.plugin.state import State
    from pytest_promptfuzz.reporting.text import Line

_LONG_ID = 40
_MOST_PASSED = 40  # rows of tests that passed; -v shows all, -q none


def header(state: State) -> list[str]:
    """The header's rows, one setting after the other, and what is missing."""
    from pytest_promptfuzz.reporting.text import render

    writer = state.config.get_terminal_writer()
    # Rows that pytest cannot colour itself: it takes plain text.
    return render(_header(state), width=writer.fullwidth, color=False).split("\n")


def _header(state: State) -> list[Line]:
    from pytest_promptfuzz.embedding.entailment_models import find_entailment
    from pytest_promptfuzz.embedding.models import Model, find_model
    from pytest_promptfuzz.reporting.header import header_lines

    if not state.enabled:
        return [ours("off, robust tests run their body once, unmutated")]
    settings = state.settings
    asked: str | None = settings["embedder"]
    model = find_model(settings["model"]) if asked is None else Model(None, None)
    entailment = find_entailment(settings["entailment"])
    missing = {"semantic": model.mend, "entailment": entailment.mend}
    if model.mend and entailment.folder is None and not entailment.mend:
        missing["semantic"] += "; for paragraphs of prose: promptfuzz model install entailment"
    lines = header_lines(
        {
            "mode": f"{settings['mode']} ({state.mode_reason})" if state.mode_reason else settings["mode"],
            "seed": settings["seed"],
            "target": settings["target"],
            "judge": settings["judge"],
            "store": _stores(settings),
            "semantic": asked or model.label,
            "entailment": entailment.label,
            "missing": {name: mend for name, mend in missing.items() if mend},
        }
    )
    if state.overrides:
        changed = ", ".join(f"{key}={value}" for key, value in state.overrides.items())
        lines.append(ours(f"overridden on the command line: {changed}"))
    return lines + [ours(sentence) for sentence in unknown_variables()]


def _stores(settings: Mapping[str, Any]) -> str:
    """Where answers are kept; of a shared store's URL what may be shown."""
    folder: str = settings["cache_dir"]
    if not settings["store"] or settings["mode"] == "replay":
        return folder
    from pytest_promptfuzz.wire.stores import shown_store

    return f"{folder} and {shown_store(settings['store'])}"


def collect(report: pytest.TestReport, state: State) -> None:
    """Keep a finished test's report for the table; a rerun replaces what the run before it left."""
    from pytest_promptfuzz.plugin.outcome import RobustnessRepr
    from pytest_promptfuzz.plugin.translate import UNEXPECTED
    from pytest_promptfuzz.reporting.drift import fails
    from pytest_promptfuzz.reporting.model import summarised

    data = report.promptfuzz
    state.reports[data["test"]] = (
        summarised(data) if data["verdict"] == "pass" and not fails(data["drift"]) else data
    )
    if report.skipped and hasattr(report, "wasxfail"):
        state.expected[data["test"]] = data
    state.let_through.pop(data["test"], None)
    if report.passed and data["verdict"] != "pass":
        state.let_through[data["test"]] = data["verdict"]
    if (
        isinstance(report.longrepr, str)  # it crossed a process
        and (data["verdict"] != "pass" or fails(data["drift"]))
        and not report.longrepr.startswith(UNEXPECTED)
    ):
        report.longrepr = RobustnessRepr(data)  # type: ignore[assignment]  # a TerminalRepr by its methods


def _say_verdicts_once(reporter: pytest.TerminalReporter) -> None:
    """Leave the verdict out of messages in pytest's short summary, which begins these lines with it."""
    from pytest_promptfuzz.plugin.translate import PHASE
    from pytest_promptfuzz.reporting.terminal import one_line

    for report in reporter.stats.get("error", ()):
        data = getattr(report, "promptfuzz", None)
        if data is not None and report.when == PHASE:
            report.longrepr.reprcrash.message = one_line(data, verdict=False)


def summary(reporter: pytest.TerminalReporter, state: State) -> None:
    """The table of robust tests, if there were any, and what the store had to say."""
    if state.reports:  # most pytest runs have none, and load nothing to say so
        _table(reporter, state)
        _say_verdicts_once(reporter)
    if state.interrupted:
        _interrupted(reporter, state)
    for verdict in dict.fromkeys(state.let_through.values()):
        tests = ", ".join(test for test, found in state.let_through.items() if found == verdict)
        reporter.write_line(f"promptfuzz: let through by promptfuzz_{verdict}=pass: {tests}", yellow=True)
    if state.forecasts:
        from pytest_promptfuzz.plugin.planning import lines

        reporter.section("prompt robustness: dry run", "=", bold=True)
        write(reporter._tw, lines(list(state.forecasts.values())))  # noqa: SLF001 - the only way to its width
    if state.trial is not None and not state.reports:
        tests = ", ".join(_unjudged(reporter)) or "none of the tests that ran is marked @robust"
        say(
            reporter,
            f"--promptfuzz-trial={state.trial} names no trial that was run. Selected: {tests}. IDs of trials stand in "
            "the report of a brittle or inconclusive test, beside the operators' names.",
            "warn",
        )
    if state.unmutated:
        names = ", ".join(state.unmutated)
        say(reporter, f"failed on the unmutated prompt, so nothing was mutated: {names}")
    pins = state.pins.lines(state.config.rootpath, updates=state.updates)
    updates = [*state.accepted.lines(), *state.gone.lines(state.accepted.taken, state.reports)]
    for sentence, loud in state.accepted.unwatched(state.config.rootpath):
        say(reporter, sentence, "warn" if loud else "plain")
    for line in [
        *state.written.lines(),
        *updates,
        *pins,
        *state.ending.lines(),
        *_recordings(reporter, state),
    ]:
        say(reporter, line)
    if state.unused_calls:
        count, were = state.unused_calls, "call was" if state.unused_calls == 1 else "calls were"
        say(
            reporter,
            f"{count} {were} made ahead for tests that were not run or failed unmutated; the answers are stored "
            "(--promptfuzz-lookahead=0 makes none ahead)",
        )
    wanted = wanted_earlier(state.settings["mode"], reporter.stats.get("error", ()))
    for warning in dict.fromkeys([*filter(None, [wanted]), *state.warnings]):
        say(reporter, warning, "warn")
    for sentence, fails in state.ending.earlier.lines():
        say(reporter, sentence, "bad" if fails else "plain")
    for command in state.ending.commands:
        reporter.write_line(command)


def _recordings(reporter: pytest.TerminalReporter, state: State) -> list[str]:
    """What to say of the recordings that were used, also by tests that could not be judged."""
    if state.dry or not state.enabled or state.settings["mode"] not in {"auto", "replay"}:
        return []
    tests = dict.fromkeys([*state.reports, *_unjudged(reporter)])
    if not tests:
        return []
    from pytest_promptfuzz.plugin.reviewing import recording_lines

    return recording_lines(state.config.rootpath, tests)


def _unjudged(reporter: pytest.TerminalReporter) -> list[str]:
    """The robust tests that failed or ended in an error, with a verdict or without one."""
    return [
        each.nodeid
        for outcome in ("failed", "error")
        for each in reporter.stats.get(outcome, ())
        if "robust" in getattr(each, "keywords", ())
    ]


def _table(reporter: pytest.TerminalReporter, state: State) -> None:
    from pytest_promptfuzz.plugin.outcome import RobustnessRepr
    from pytest_promptfuzz.reporting.terminal import detail_lines, summary_lines

    writer = reporter._tw  # noqa: SLF001 - the only way to its width and colours
    reporter.section("prompt robustness", "=", bold=True)
    reports = list(state.reports.values())
    verbosity = state.config.get_verbosity()
    most = None if verbosity > 0 else _MOST_PASSED if verbosity == 0 else 0
    write(writer, summary_lines(reports, width=writer.fullwidth, most=most, legend=verbosity >= 0))
    if state.config.get_verbosity() > 0:
        write(writer, detail_lines(reports))
    if (changes := state.ending.earlier.changes) is not None:
        _changes(reporter, changes, state)
    for test, data in state.expected.items():
        # pytest hides what an xfail failed with; here it is the finding.
        reporter.section(f"failed as expected (xfail): {test}", "_")
        RobustnessRepr(data).toterminal(writer)


def _changes(reporter: pytest.TerminalReporter, changes: ChangesReport, state: State) -> None:
    """What is not as it was in an earlier run."""
    from pytest_promptfuzz.reporting.changes import change_lines, one_line

    if state.config.get_verbosity() < 0:
        if sentence := one_line(changes):
            say(reporter, sentence)
        return
    operators = {test: entry["operators"] for test, entry in state.ending.earlier.entries.items()}
    lines = change_lines(changes, operators, figures=state.config.get_verbosity() > 0)
    write(reporter._tw, lines)  # noqa: SLF001 - the only way to its width


def _interrupted(reporter: pytest.TerminalReporter, state: State) -> None:
    """What searches knew when they were interrupted, which pytest reports nothing of."""
    from pytest_promptfuzz.plugin.outcome import RobustnessRepr

    for test, data in state.interrupted.items():
        reporter.section(f"interrupted: {test}", "_")
        RobustnessRepr(data).toterminal(reporter._tw)  # noqa: SLF001 - the only way to its width


def prompt_id(value: object, argname: str) -> str | None:
    """A short ID for a parametrized prompt: its name, or its first words; ``None`` leaves pytest's own."""
    if argname == "prompt" and isinstance(value, str) and len(value) > _LONG_ID:
        words = "".join(each if each.isalnum() and each.isascii() else " " for each in value).split()
        return "-".join(words[:5])[:_LONG_ID].lower() or None
    if type(value).__module__ == "pytest_promptfuzz.prompts.prompt":
        name: str | None = getattr(value, "name", None)
        return name
    return None
