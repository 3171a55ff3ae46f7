"""The header and the table of robust tests in pytest's terminal; what a run says of its recordings."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
from contextlib import contextmanager
from datetime import date, datetime, timezone
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.files import UNREADABLE, unpacked_file
from pytest_promptfuzz.plugin.counterexamples import PinKeeper
from pytest_promptfuzz.plugin.former_tests import FormerTests, OrphanSnapshots
from pytest_promptfuzz.plugin.options import unknown_variables
from pytest_promptfuzz.plugin.output.outcome import PHASE, RobustnessRepr, SessionResults, ours, say, write
from pytest_promptfuzz.plugin.output.session_finish import Ending
from pytest_promptfuzz.plugin.recordings import RecordingSummary
from pytest_promptfuzz.plugin.snapshots import Updates

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping
    from pathlib import Path

    import pytest

    from pytest_promptfuzz.history.changes import ChangesReport
    from pytest_promptfuzz.plugin.state import State
    from pytest_promptfuzz.reporting.terminal.styled_text import Line


# Keys in replay: SDKs refuse to make a client without one, and nothing is sent that would need it.


STAND_IN = "none-in-replay"
# What an SDK reads its key from; the first is set where none of them is.
_VARIABLES = (("OPENAI_API_KEY",), ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"))


@contextmanager
def keys_of(mode: str) -> Iterator[None]:
    """Let SDKs find a key while the body of a robust test is replayed, where the environment has none.

    No longer than that: other tests may be skipped, or fail, by whether a key is there.
    """
    lacking = _lacking()
    if mode != "replay" or not lacking:
        yield
        return
    before = {name: os.environ.get(name) for name in lacking}
    os.environ.update(dict.fromkeys(lacking, STAND_IN))
    try:
        yield
    finally:
        for name, value in before.items():
            if os.environ.get(name) != STAND_IN:
                continue  # the test set it for others
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def wanted_earlier(mode: str, reports: Iterable[Any]) -> str:
    """What to say of a replay in which something else than a test's body wanted a key; empty where nothing did.

    Args:
        mode: The run's.
        reports: What ended in an error: modules that could not be collected, and tests that could not be set up.
    """
    if mode != "replay":
        return ""
    early = [each for each in reports if getattr(each, "when", "collect") in {"collect", "setup"}]
    for name in _lacking():
        place = next((each.nodeid for each in early if name in str(each.longrepr)), None)
        if place is not None:
            return (
                f"{place} wants {name} before the body of a test runs, and only there a replay needs none. Make the "
                f"client where it is first used, or set {name} to any text: nothing is sent that would need it."
            )
    return ""


def _lacking() -> list[str]:
    return [names[0] for names in _VARIABLES if not any(map(os.environ.get, names))]


_LONG_ID = 40
_MOST_PASSED = 40  # rows of tests that passed; -v shows all, -q none


def header(state: State) -> list[str]:
    """The header's rows, one setting after the other, and what is missing."""
    from pytest_promptfuzz.reporting.terminal.styled_text import render

    writer = state.config.get_terminal_writer()
    # Rows that pytest cannot colour itself: it takes plain text.
    return render(_header(state), width=writer.fullwidth, color=False).split("\n")


def _header(state: State) -> list[Line]:
    from pytest_promptfuzz.judging.models import NO_MINILM, MeaningModel, find_entailment, find_model
    from pytest_promptfuzz.reporting.terminal.styled_text import header_lines

    if not state.enabled:
        return [ours("off, robust tests run their body once, unmutated")]
    settings = state.settings
    asked: str | None = settings["embedder"]
    model = find_model(settings["model"]) if asked is None else MeaningModel(None, None)
    entailment = find_entailment(settings["entailment"])
    missing = {"semantic": model.mend, "entailment": entailment.mend}
    if model.mend == NO_MINILM:
        missing["semantic"] = "Short texts: promptfuzz model install minilm"
    if model.mend and entailment.folder is None and not entailment.mend:
        missing["semantic"] += ". Paragraphs: promptfuzz model install entailment"
    lines = header_lines(
        {
            "mode": f"{settings['mode']} ({state.mode_reason})" if state.mode_reason else settings["mode"],
            "seed": settings["seed"],
            "target": settings["target"],
            "judge": settings["judge"],
            "cache": _stores(settings),
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
    from pytest_promptfuzz.storage.stores import shown_store

    return f"{folder} and {shown_store(settings['store'])}"


def _say_verdicts_once(reporter: pytest.TerminalReporter) -> None:
    """Leave the verdict out of messages in pytest's short summary, which begins these lines with it."""
    from pytest_promptfuzz.reporting.terminal.summary import one_line

    for report in reporter.stats.get("error", ()):
        data = getattr(report, "promptfuzz", None)
        if data is not None and report.when == PHASE:
            report.longrepr.reprcrash.message = one_line(data, verdict=False)


def summary(reporter: pytest.TerminalReporter, state: State) -> None:
    """The table of robust tests, if there were any, and what the store had to say."""
    config, results = state.config, SessionResults.of(state.config)
    if results.reports:  # most pytest runs have none, and load nothing to say so
        _table(reporter, state)
        _say_verdicts_once(reporter)
    _exceptions(reporter, state)
    ending, updates = Ending.of(config), Updates.of(config)
    gone = OrphanSnapshots.of(config).lines(updates.taken, results.reports)
    changed = [*updates.lines(), *gone, *PinKeeper.of(config).lines(config.rootpath, updates=state.updates)]
    for sentence, loud in updates.unwatched(config.rootpath):
        say(reporter, sentence, "warn" if loud else "plain")
    recorded = RecordingSummary.of(config).lines()
    recorded += FormerTests.of(config).lines(recorded=state.settings["mode"].startswith("record"))
    for line in [*recorded, *changed, *ending.lines(), *_recordings(reporter, state)]:
        say(reporter, line)
    if results.unused_calls:
        count, were = results.unused_calls, "call was" if results.unused_calls == 1 else "calls were"
        say(
            reporter,
            f"{count} {were} made ahead for tests that were not run or failed unmutated; the answers are stored "
            "(--promptfuzz-lookahead=0 makes none ahead)",
        )
    wanted = wanted_earlier(state.settings["mode"], reporter.stats.get("error", ()))
    for warning in dict.fromkeys([*filter(None, [wanted]), *state.warnings]):
        say(reporter, warning, "warn")
    for sentence, fails in ending.earlier.lines():
        say(reporter, sentence, "bad" if fails else "plain")
    for command in ending.commands:
        reporter.write_line(command)


def _exceptions(reporter: pytest.TerminalReporter, state: State) -> None:
    """What is to be said of tests beside the table: interrupted, let through, forecast, not run, or never mutated."""
    results = SessionResults.of(state.config)
    if results.interrupted:
        _interrupted(reporter, state)
    for excuse in dict.fromkeys(results.let_through.values()):
        tests = ", ".join(test for test, found in results.let_through.items() if found == excuse)
        verdict, effect = excuse
        made = {"pass": "passed", "skip": "skipped"}[effect]
        sentence = f"{verdict}, but {made} because of promptfuzz_{verdict}={effect}: {tests}"
        say(reporter, sentence, "warn")
    for test, report in results.reports.items():
        # One whose day is past is told where it fails.
        if report["accepted"] is not None and report["accepted"]["status"] != "expired":
            from pytest_promptfuzz.reporting.phrases import accepted_text

            say(reporter, f"{test} {accepted_text(report)}", "warn")
    if results.forecasts:
        from pytest_promptfuzz.plugin.compared_base import asks_again
        from pytest_promptfuzz.plugin.dry_run import lines

        again = state.settings["compare_calls"] if asks_again(state) else 0
        reporter.section("prompt robustness: dry run", "=", bold=True)
        told = lines(list(results.forecasts.values()), again=again)
        write(reporter._tw, told)  # noqa: SLF001 - the only way to its width
    if results.trial_unknown:
        tests = (
            "the selected test does not have"
            if len(results.without_trial) == 1
            else (f"none of the {len(results.without_trial)} selected tests has")
        )
        reporter.write_line(
            f'ERROR: --promptfuzz-trial={state.trial}: {tests} this trial. Copy the ID from the line "reproduce" of a '
            "failure.",
            red=True,
        )
    elif state.trial is not None and not results.reports and not _unjudged(reporter):
        say(reporter, f"--promptfuzz-trial={state.trial}: no selected test is marked @robust.", "warn")
    if results.unmutated:
        names = ", ".join(results.unmutated)
        say(reporter, f"failed on the unmutated prompt, so nothing was mutated: {names}")


def _recordings(reporter: pytest.TerminalReporter, state: State) -> list[str]:
    """What to say of the recordings that were used, also by tests that could not be judged."""
    if state.dry or not state.enabled or state.settings["mode"] not in {"auto", "replay"}:
        return []
    tests = dict.fromkeys([*SessionResults.of(state.config).reports, *_unjudged(reporter)])
    if not tests:
        return []

    return recording_lines(state.config.rootpath, tests, RecordingSummary.of(state.config).used)


def _unjudged(reporter: pytest.TerminalReporter) -> list[str]:
    """The robust tests that failed or ended in an error, with a verdict or without one."""
    return [
        each.nodeid
        for outcome in ("failed", "error")
        for each in reporter.stats.get(outcome, ())
        if "robust" in getattr(each, "keywords", ())
    ]


def _table(reporter: pytest.TerminalReporter, state: State) -> None:
    from pytest_promptfuzz.reporting.terminal.rows import detail_lines
    from pytest_promptfuzz.reporting.terminal.summary import summary_lines

    writer = reporter._tw  # noqa: SLF001 - the only way to its width and colours
    reporter.section("prompt robustness", "=", bold=True)
    results, ending = SessionResults.of(state.config), Ending.of(state.config)
    reports = list(results.reports.values())
    verbosity = state.config.get_verbosity()
    most = None if verbosity > 0 else _MOST_PASSED if verbosity == 0 else 0
    changes = ending.earlier.changes
    if changes is not None and verbosity >= 0 and changes["answers"]:
        from pytest_promptfuzz.reporting.terminal.answer_changes import answer_lines

        write(writer, answer_lines(changes, width=writer.fullwidth))
    lines = summary_lines(
        reports,
        width=writer.fullwidth,
        most=most,
        legend="--promptfuzz-report" if verbosity > 0 else "",
        figures=verbosity > 0,
        recording=state.settings["mode"].startswith("record"),
        unjudged=len(results.unjudged),
    )
    if verbosity == 0:
        lines.append([("-v explains the columns.", "dim")])
    write(writer, lines)
    if verbosity > 0:
        write(writer, detail_lines(reports))
    if changes is not None:
        _changes(reporter, changes, state)
    for test, data in results.expected.items():
        # pytest hides what an xfail failed with; here it is the finding.
        reporter.section(f"failed as expected (xfail): {test}", "_")
        RobustnessRepr(data).toterminal(writer)


def _changes(reporter: pytest.TerminalReporter, changes: ChangesReport, state: State) -> None:
    """What is not as it was in an earlier run."""
    from pytest_promptfuzz.reporting.terminal.changes import change_lines, one_line

    if state.config.get_verbosity() < 0:
        if changes["answers"]:
            from pytest_promptfuzz.reporting.terminal.answer_changes import answers_sentence

            if sentence := answers_sentence(changes):
                say(reporter, sentence)
        if sentence := one_line(changes):
            say(reporter, sentence)
        return
    operators = {test: entry["operators"] for test, entry in Ending.of(state.config).earlier.entries.items()}
    lines = change_lines(changes, operators, figures=state.config.get_verbosity() > 0)
    write(reporter._tw, lines)  # noqa: SLF001 - the only way to its width


def _interrupted(reporter: pytest.TerminalReporter, state: State) -> None:
    """What searches knew when they were interrupted, which pytest reports nothing of."""
    for test, data in SessionResults.of(state.config).interrupted.items():
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


# What a run's summary says of the recordings that it used: how old they are, and which differ from the last commit.


# Inside a text of JSON the quotes would be escaped.
_ANSWERED = re.compile(rb'"answered": "(\d{4}-\d{2}-\d{2})T')
_SECONDS = 5.0  # for git


def recording_lines(root: Path, tests: Iterable[str], used: Container[str]) -> list[str]:
    """What to say, in sentences; nothing where the tests have no recordings.

    Args:
        root: pytest's root.
        tests: Node IDs of the robust tests that ran, judged or not.
        used: Those of them that were given an answer from a recording.
    """
    from pytest_promptfuzz.storage.recordings.places import recording_of
    from pytest_promptfuzz.wording.sentences import counted

    modules: dict[Path, bool] = {}
    for test in tests:
        place = recording_of(root / test.partition("::")[0])
        modules[place] = modules.get(place, False) or test in used
    places = [*modules]
    paths = [path for path in places if path.is_file()]
    lines: list[str] = []
    read = [path for path in paths if modules[path]]
    if days := sorted({day for path in read for day in _days(path)}):
        first, last = days[0], days[-1]
        span = f"on {first}" if first == last else f"from {first} to {last}"
        lines.append(
            f"answers of {counted(len(read), 'recording')} were used, recorded {span} ({_ago(first)})"
        )
    # One that was removed is a change too, and so is one that can no longer be read.
    packed = [path.with_name(f"{path.name}.gz") for path in places if path not in paths]
    try:
        changed = _changed(root, [*places, *packed]) if places else []
    except _UntoldError as error:
        changed = []
        if paths:
            lines.append(f"git does not tell whether the recordings are as in the last commit: {error}")
    if changed:
        lines.append(
            f"not as in the last commit: {', '.join(changed)}; `promptfuzz cache diff` shows what changed"
        )
    return lines


def _days(path: Path) -> set[date]:
    found: set[bytes] = set()
    try:
        packed = path.name.endswith(".gz")
        with io.BytesIO(unpacked_file(path)) if packed else path.open("rb") as lines:
            for line in lines:
                found.update(_ANSWERED.findall(line))
    except UNREADABLE:
        return set()  # said where the recording was read
    days: set[date] = set()
    for each in found:
        with contextlib.suppress(ValueError):  # no day of the calendar: the line is refused where it is read
            days.add(date.fromisoformat(each.decode("ascii")))
    return days


def _ago(day: date) -> str:
    days = (datetime.now(timezone.utc).date() - day).days
    return "today" if days == 0 else f"the oldest {days} day{'' if days == 1 else 's'} ago"


class _UntoldError(Exception):
    """Why git does not tell what changed."""


def _changed(root: Path, paths: list[Path]) -> list[str]:
    """The recordings that differ from the last commit, as git names them; none without git or a repository.

    Raises:
        _UntoldError: There is one, and git refuses or takes too long.
    """
    try:
        done = subprocess.run(  # noqa: S603 - git itself, and paths
            ["git", "status", "--porcelain", "-z", "--no-renames", "--", *map(str, paths)],  # noqa: S607 - the person's git
            cwd=root,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        return []
    except subprocess.TimeoutExpired:
        raise _UntoldError(f"it took longer than {_SECONDS:g} seconds") from None
    except OSError as error:
        raise _UntoldError(str(error)) from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        if "not a git repository" in said:
            return []
        raise _UntoldError(
            said.partition("\n")[0].removeprefix("fatal: ") or f"exit status {done.returncode}"
        )
    return [each[3:] for each in done.stdout.decode("utf-8", "replace").split("\0") if each]
