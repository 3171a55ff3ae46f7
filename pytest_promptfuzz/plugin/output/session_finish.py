"""The end of a run: reports are written, the history is kept, conditions of ``--promptfuzz-fail-on`` are checked."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.errors import PromptfuzzError, StoreError, UsageError, unstopped, without_test
from pytest_promptfuzz.plugin.former_tests import FormerTests
from pytest_promptfuzz.plugin.marks import register_offered
from pytest_promptfuzz.plugin.options import place_of
from pytest_promptfuzz.plugin.output.outcome import end_with
from pytest_promptfuzz.plugin.snapshots import Updates
from pytest_promptfuzz.plugin.suite_runs import RESULTS
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from pytest_promptfuzz.comparing.meaning import Embedder
    from pytest_promptfuzz.history.bases import Base, Commit, Places
    from pytest_promptfuzz.history.changes import ChangesReport, Condition, TrendsReport
    from pytest_promptfuzz.history.entries import HistoryEntry
    from pytest_promptfuzz.history.runs import Runs, Writing
    from pytest_promptfuzz.plugin.state import State
    from pytest_promptfuzz.reporting.document import RunReport, UnjudgedReport
    from pytest_promptfuzz.reporting.report_files import ReportRequest, Stored


# Earlier runs: this one is kept beside them, compared with one of them, and fails where a condition says so.


SAVE = "--promptfuzz-save"
COMPARE = "--promptfuzz-compare"
FAIL_ON = "--promptfuzz-fail-on"
_POINTS = 20_000  # of a run's trends, at least ten runs of which are told
_SELECTING = ("keyword", "markexpr", "deselect", "lf", "ignore", "ignore_glob")


@dataclass(slots=True)
class Earlier:
    """What this run has to do with earlier ones, on the process that sees every test's report.

    Attributes:
        name: What it is saved as; mostly empty.
        base: What it is to be compared with, where that is not the last run of each test.
        changes: How it compares, once it is over.
        entries: What is kept of each of its tests.
        beside: By test and input, what its answers to unmutated prompts are beside those of the base.
        unjudged: Tests that could not be judged, each with the reason.
        uncollected: Node IDs of files and classes that pytest could not collect.
        accepted: Tests that drifted, and whose snapshot this run writes.
        prompts: The text of each test's prompt, and before it that of a snapshot which has another; mostly empty.
        long: Answers that are too long to be kept, by digest.
    """

    name: str = ""
    base: Base | None = None
    changes: ChangesReport | None = None
    entries: dict[str, HistoryEntry] = field(default_factory=dict)
    beside: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    unjudged: dict[str, str] = field(default_factory=dict)
    uncollected: set[str] = field(default_factory=set)
    accepted: set[str] = field(default_factory=set)
    prompts: dict[str, tuple[str, str]] = field(default_factory=dict)
    long: dict[str, Any] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)
    _writing: Writing | None = None
    _silent: bool = False
    _said: list[tuple[str, bool]] = field(default_factory=list)

    def prepare(self, state: State) -> None:
        """Refuse what cannot be saved or compared with, before anything runs.

        Raises:
            pytest.UsageError: A name that is taken or none, or a base that does not exist or cannot be read.
        """
        save, target = state.config.getoption("promptfuzz_save"), state.settings["compare"]
        try:
            if save is not None:
                self.name = _name(save, state)
        except (UsageError, StoreError) as error:
            raise pytest.UsageError(f"{SAVE}: {error}") from None
        if not target or target == "last":
            return
        from pytest_promptfuzz.history.bases import find
        from pytest_promptfuzz.wording.sentences import sentence

        try:
            self.base = find(target, places_of(state))
        except (UsageError, StoreError) as error:
            raise pytest.UsageError(f"{place_of('compare', state.config)}: {error}") from None
        self._said += [(f"{COMPARE}: {sentence(note)}", False) for note in self.base.notes]

    def check(self, tests: Iterable[str], state: State) -> None:
        """Refuse a base that has none of the tests that were collected.

        Raises:
            pytest.UsageError: It has none.
        """
        asked = list(tests)
        known = self.base.tests if self.base is not None else {}
        if known and asked and not any(each in known for each in asked) and not self._renamed(state):
            raise pytest.UsageError(f"{place_of('compare', state.config)}: {self._shares_none()}")

    def _renamed(self, state: State) -> bool:
        """Whether a base may have this run's tests under other names; one that has not is refused at the end."""
        gone = FormerTests.of(state.config).seems_gone_node
        return self.base is not None and any(map(gone, self.base.tests))

    def see(self, test: str) -> None:
        """A test was run, whatever became of it."""
        if self.base is not None:
            self._seen.add(test)

    def add(self, report: Mapping[str, Any], run: Callable[[], Mapping[str, Any]], state: State) -> None:
        """A robust test was judged.

        Args:
            report: Its report.
            run: Tells what is known of the run.
            state: The session's.
        """
        from pytest_promptfuzz.history.entries import entry, long_answers
        from pytest_promptfuzz.reporting.model import UPDATED

        one = entry(report)
        self.long.update(long_answers(report))
        if any(each["policy"] == UPDATED for each in report["drift"]):
            self.accepted.add(one["test"])
        if self.base is not None:
            self.prompts[one["test"]] = (_accepted_prompt(report), report["prompt"])
        self.entries[one["test"]] = one
        self.unjudged.pop(one["test"], None)
        self.beside[one["test"]] = report.get("beside_base") or {}
        if self._silent or not state.settings["history"]:
            return
        try:
            if self._writing is None:
                self._writing = runs_of(state).begin(run(), aside=_aside(state))
            self._writing.add(one)
        except StoreError as error:
            self._silent = True
            state.warnings.append(f"this run is not kept, and later ones cannot be compared with it: {error}")

    def finish(
        self, run: Mapping[str, Any], session: pytest.Session, state: State
    ) -> tuple[ChangesReport | None, TrendsReport | None]:
        """The run is over: keep it, compare it, and fail where a condition is met.

        Args:
            run: As it ended.
            session: Pytest's, whose exit status may change.
            state: The session's.

        Returns:
            How it compares with its base, and earlier results of its tests.
        """
        if not self.entries:
            return None, None
        runs = runs_of(state)
        self._end(run, runs, state)
        try:
            self.changes = self._compared(runs, session, state, whole=bool(run["complete"]))
            trends = _trends(self, runs)
        except StoreError as error:
            state.warnings.append(f"nothing was compared: {error}")
            return self.changes, None
        for damaged in runs.damages():
            state.warnings.append(f"history: {damaged}")
        return self.changes, trends

    def _end(self, run: Mapping[str, Any], runs: Runs, state: State) -> None:
        if self._writing is None:
            return
        try:
            self._writing.end(run)
            if self.name:
                runs.take(self.name, self._writing.path)
            runs.forget(state.settings["history"])
        except StoreError as error:
            state.warnings.append(f"this run is kept as one that was not over: {error}")
            self._writing.close()
        else:
            if self.name:
                self._said.append((f"this run was saved as {self.name}", False))

    def _compared(
        self, runs: Runs, session: pytest.Session, state: State, *, whole: bool
    ) -> ChangesReport | None:
        conditions = state.settings["fail_on"] or ()
        path = self._writing.path if self._writing is not None else None
        targets = {test: each["target"] for test, each in self.entries.items()}
        former = _FormerNames(self, state)
        base = self.base or former.last(runs, path, targets)
        names = former.names(base)
        if not any(test in base.tests for test in self.entries):
            if base.tests and self.base is not None:
                self._said.append((f"{COMPARE}: {self._shares_none()}", True))
                end_with(session, pytest.ExitCode.USAGE_ERROR)
            elif self.base is None and (conditions or state.settings["compare"]):
                self._said.append(
                    (f"{_option(state)}: there is no earlier run of these tests to compare with yet", False)
                )
            return None
        from pytest_promptfuzz.history.answer_changes import show_texts
        from pytest_promptfuzz.history.changes import met
        from pytest_promptfuzz.history.run_comparison import changes

        for test in base.tests:
            for node in self.uncollected:
                if test.startswith(f"{node}::"):
                    self.unjudged[test] = f"pytest could not collect {node}"
        gone = self._gone(base, session.config, names) if self.base is not None and whole else ()
        found = changes(
            base.report,
            base.tests,
            self.entries,
            gone=gone,
            unjudged=self.unjudged if self.base is not None else {},
            former=names,
            semantic=embedder_of_run(state),
            beside=self.beside,
        )
        show_texts(found["answers"], self.long)
        for row in found["tests"]:
            if row["prompt_changed"]:
                row["prompt_diff"] = self._rewritten(row["test"], base, names)
        # What was accepted in this run is no drift that fails it; later ones compare with what was seen.
        seen = {test: self._as_accepted(one) for test, one in self.entries.items()}
        found["conditions"] = met(conditions, found, seen)
        if found["conditions"]:
            end_with(session, pytest.ExitCode.TESTS_FAILED)
        if conditions or state.settings["compare"]:
            silent = state.config.get_verbosity() < 0
            told = _undiffering(found, conditions, self.entries, reasons=silent)
            self._said += [(each, False) for each in told]
        return found

    def _rewritten(self, test: str, base: Base, names: Mapping[str, str]) -> list[tuple[str, str]]:
        """What changed in a prompt since the base, where a text is known that has the digest of the base's."""
        from pytest_promptfuzz.history.entries import digest
        from pytest_promptfuzz.text.word_diffs import word_diff

        accepted, now = self.prompts.get(test, ("", ""))
        known = (base.prompts.get(names.get(test, test), ""), accepted)
        before = next((each for each in known if digest(each) == base.tests[test]["prompt"]), "")
        return word_diff(before, now) if before and now else []

    def _as_accepted(self, one: HistoryEntry) -> HistoryEntry:
        return {**one, "drift": []} if one["test"] in self.accepted else one

    def _gone(self, base: Base, config: pytest.Config, names: Mapping[str, str]) -> list[str]:
        """Tests of the base that a whole run no longer has."""
        if any(getattr(config.option, name, None) for name in _SELECTING) or any(
            "::" in each for each in config.args
        ):
            return []
        roots = [config.invocation_params.dir / each for each in config.args]
        return [
            test
            for test in base.tests
            if test not in self._seen
            and test not in self.unjudged
            and test not in names.values()
            and any((config.rootpath / test.partition("::")[0]).is_relative_to(root) for root in roots)
        ]

    def _shares_none(self) -> str:
        label = self.base.report["label"] if self.base is not None else ""
        return (
            f"{label!r} has none of these tests. Compare with a run of the same ones, from the same root folder, whose "
            "names stand before '::'."
        )

    def lines(self) -> Iterator[tuple[str, bool]]:
        """What the summary says below the table, and whether it is a warning."""
        yield from self._said
        if self.changes is not None:
            from pytest_promptfuzz.reporting.terminal.changes import condition_lines

            yield from ((each, True) for each in condition_lines(self.changes["conditions"], FAIL_ON))


class _FormerNames:
    """The names that tests of this run have in earlier ones, where those are others.

    Args:
        earlier: What this run has to do with earlier ones.
        state: The session's.
    """

    def __init__(self, earlier: Earlier, state: State) -> None:
        config = state.config
        self._entries = earlier.entries
        self._former = FormerTests.of(config)
        self._known = {**self._former.nodes, **Updates.of(config).moved}

    def last(self, runs: Runs, before: Path | None, targets: Mapping[str, str]) -> Base:
        """The last run of each test, under its own name or a former one."""
        from pytest_promptfuzz.history.bases import last

        names = {*self._entries, *self._known.values()}
        base = last(names, runs, before=before, targets=targets)
        found = self._in_runs(base, runs, before)
        if not found:
            return base
        self._known = {**found, **self._known}
        return last({*names, *found.values()}, runs, before=before, targets=targets)

    def _in_runs(self, base: Base, runs: Runs, before: Path | None) -> dict[str, str]:
        """Former names of tests that have no run of their own, each in the newest run that tells it."""
        from pytest_promptfuzz.history.former_names import former_names, keeps_name

        new = {
            test: entry
            for test, entry in self._entries.items()
            if test not in self._known and not keeps_name(test, base.tests, entry["prompt"])
        }
        names: dict[str, str] = {}
        seen: set[str] = set()
        for each in runs.every(results=True) if new else ():
            if each.aside or (before is not None and each.path.name >= before.name):
                continue
            gone = {test for test in each.results.keys() - seen if self._former.seems_gone_node(test)}
            seen |= each.results.keys()
            if not gone:
                continue
            there = {test: entry for test, entry in each.tests().items() if test in gone}
            names |= former_names(there, new, gone.__contains__, {})
            new = {test: entry for test, entry in new.items() if test not in names}
            if not new:
                break
        return names

    def names(self, base: Base) -> dict[str, str]:
        """The former names of tests; the base has them under those of today from now on."""
        from pytest_promptfuzz.history.former_names import former_names, renamed

        known = {**self._by_snapshots(base), **self._known}
        names = former_names(base.tests, self._entries, self._former.seems_gone_node, known)
        if names:
            base.tests = renamed(base.tests, names)
        return names

    def _by_snapshots(self, base: Base) -> dict[str, str]:
        """The former names that snapshots tell, where those of today were stored since the base."""
        from pytest_promptfuzz.history.former_names import asking_the_same

        gone = {
            test: each for test, each in base.asked.items() if each and self._former.seems_gone_node(test)
        }
        if not gone:
            return {}
        asked = self._former.asked()
        return asking_the_same(
            gone, {test: asked.get(test, "") for test in self._entries if test not in base.tests}
        )


def runs_of(state: State) -> Runs:
    """The runs that are kept on this machine."""
    from pytest_promptfuzz.history.runs import Runs

    return Runs(state.folder)


def places_of(state: State) -> Places:
    """Where a base is looked for."""
    from pytest_promptfuzz.history.bases import Places
    from pytest_promptfuzz.reporting.report_files import read_document

    return Places(runs_of(state), state.config.rootpath, state.config.invocation_params.dir, read_document)


def _name(written: str, state: State) -> str:
    """The name to save the run as; ``NAME!`` takes it from the run that has it."""
    from pytest_promptfuzz.history.runs import check_name

    reason = (
        "a dry run cannot be saved"
        if state.dry
        else "--promptfuzz=off judges no test"
        if not state.enabled
        else "--promptfuzz-trial judges no whole test"
        if state.trial is not None
        else f"{place_of('history', state.config)} keeps no runs"
        if not state.settings["history"]
        else ""
    )
    if reason:
        raise UsageError(f"{reason}. Leave one of them out.")
    name = check_name(written.removesuffix("!"))
    has = runs_of(state).saved().get(name)
    if has is not None and not written.endswith("!"):
        started = str(has.run.get("started", ""))[:16].replace("T", " ")
        raise UsageError(
            f"the run of {started} is named {name!r}. Choose another "
            f"name, or move the name to this run: {SAVE}='{name}!'."
        )
    return name


def _accepted_prompt(report: Mapping[str, Any]) -> str:
    """The prompt that a test's snapshot has, where that is another one than today's."""
    diffs = [each["diff"] for each in report["drift"] if each.get("diff")]
    return "".join(text for kind, text in (diffs[0] if diffs else ()) if kind in "=-")


def _aside(state: State) -> str:
    if not state.overrides:
        return ""
    return "overridden: " + ", ".join(f"{key}={value}" for key, value in state.overrides.items())


def _trends(earlier: Earlier, runs: Runs) -> TrendsReport | None:
    from pytest_promptfuzz.history.runs import MOST, trends

    most = max(10, min(MOST, _POINTS // len(earlier.entries)))
    path = earlier._writing.path if earlier._writing is not None else None  # noqa: SLF001 - of this module
    found = trends(runs, earlier.entries.keys(), before=path, most=most)
    return found if found["runs"] else None


def embedder_of_run(state: State) -> Any:
    """What tells whether answers mean the same, asked for at first need: not a provider, which is a call."""
    settings = state.settings

    def embedder() -> Embedder | None:
        from pytest_promptfuzz.evaluating.session import installed_embedder

        if settings["embedder"] is not None:
            return None
        try:
            return installed_embedder(settings["model"], state.folder, state.warnings.append)
        except PromptfuzzError:
            return None

    return embedder


def _undiffering(
    found: ChangesReport, conditions: Iterable[Condition], now: Mapping[str, HistoryEntry], *, reasons: bool
) -> Iterator[str]:
    """What a comparison that was asked for did not find, or cannot prove, and the reasons where nothing else tells."""
    from pytest_promptfuzz.history.changes import unproven
    from pytest_promptfuzz.reporting.terminal.answer_changes import not_compared_lines, undecided_lines
    from pytest_promptfuzz.reporting.terminal.changes import unchanged_line, unjudged_lines, unproven_lines

    if sentence := unchanged_line(found):
        yield sentence
    yield from unjudged_lines(found)
    if found["base"]["kind"] != "last":
        yield from not_compared_lines(found)
    met = {each["expression"] for each in found["conditions"]}
    undecided = undecided_lines(conditions, found, FAIL_ON)
    yield from undecided
    yield from (
        f"{FAIL_ON} {each.text!r}: not met"
        for each in conditions
        if each.text not in met and not (undecided and each.what == "answer")
    )
    yield from unproven_lines(unproven(conditions, found, now), FAIL_ON, reasons=reasons)


def _option(state: State) -> str:
    return FAIL_ON if state.settings["fail_on"] else COMPARE


OPTION = "--promptfuzz-report"


@dataclass(slots=True)
class Ending:
    """The reports of a run, on the process that sees every test's.

    Attributes:
        wanted: The reports that were asked for.
        done: A sentence for each that was written.
        commands: Lines for a CI host's log, to be printed as they are.
        earlier: What the run has to do with earlier ones.
    """

    wanted: tuple[ReportRequest, ...] = ()
    done: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    earlier: Earlier = field(default_factory=Earlier)
    _commit: Commit | None = None
    _began: float = field(default_factory=time.time)
    _stored: Stored | None = None
    _failed: bool = False
    _uncollected: dict[str, UnjudgedReport] = field(default_factory=dict)

    @classmethod
    def of(cls, config: pytest.Config) -> Ending:
        """The run's."""
        return config.stash.setdefault(_ENDING, cls())

    @property
    def began(self) -> float:
        """When the run began, in seconds."""
        return self._began

    def see(self, report: pytest.TestReport, state: State) -> None:
        """A phase of a test is over: keep what it was judged, or that it could not be."""
        data: Mapping[str, Any] | None = getattr(report, "promptfuzz", None)
        self.earlier.see(report.nodeid)
        if not (data or hasattr(report, "promptfuzz_unjudged")) or _leaves_nothing(state):
            return
        whole = None if data is None else {**data, "outcome": _outcome(report)}
        if whole is not None:
            self.earlier.add(whole, lambda: self._run(state, complete=False), state)
        else:
            self.earlier.unjudged[report.nodeid] = _why_unjudged(_unjudged(report))
        if self._failed or not (self.wanted or state.settings["history"]):
            return
        try:
            if self._stored is None:
                self._stored = self._begun(state)
            if whole is not None:
                self._stored.test(whole)
            else:
                self._stored.unjudged(_unjudged(report))
        except StoreError as error:
            self._failed = True
            state.warnings.append(f"this run leaves no report: {error}")

    def see_uncollected(self, report: pytest.CollectReport, state: State) -> None:
        """Tests of a file could not be collected."""
        if not _leaves_nothing(state):
            self._uncollected[report.nodeid] = _not_collected(report, state)
            self.earlier.uncollected.add(report.nodeid)

    def _keep_uncollected(self, state: State) -> None:
        """Put what could not be collected into the report, where it may hold robust tests: other runs leave none."""
        asked = (
            self.wanted or self._stored is not None or state.settings["compare"] or state.settings["fail_on"]
        )
        root = state.config.rootpath
        for name, each in self._uncollected.items():
            if self._failed or not (asked or _may_be_robust(root / name.partition("::")[0])):
                continue
            try:
                if self._stored is None:
                    self._stored = self._begun(state)
                self._stored.unjudged(each)
            except StoreError as error:
                self._failed = True
                state.warnings.append(f"this run leaves no report: {error}")

    def finish(self, session: pytest.Session, state: State, *, complete: bool) -> None:
        """The run is over: end what was kept of it, compare it, and write the reports that were asked for."""
        if self._uncollected and (self.wanted or state.settings["history"]):
            self._keep_uncollected(state)
        if self._stored is None and not self.wanted and not self.earlier.entries:
            return
        run = self._run(state, complete=complete)
        changes, trends = self.earlier.finish(run, session, state)
        if self._failed or (self._stored is None and not self.wanted):
            self._missed(session)
            return
        try:
            stored = self._stored if self._stored is not None else self._begun(state)
            stored.end(run, changes=changes, trends=trends, warnings=list(dict.fromkeys(state.warnings)))
        except StoreError as error:
            state.warnings.append(f"this run leaves no report: {error}")
            self._missed(session)
            return
        if self.wanted:
            with stored.document([each.format for each in self.wanted]) as found:
                self._write(stored.path, found, session, state)

    def _missed(self, session: pytest.Session) -> None:
        """A report that was asked for is not there: whoever reads it must not take an older one for it."""
        if self.wanted:
            end_with(session, pytest.ExitCode.TESTS_FAILED)

    def _write(self, source: Path, document: Any, session: pytest.Session, state: State) -> None:
        from pytest_promptfuzz.reporting.hosts import paths_from
        from pytest_promptfuzz.reporting.report_files import publish

        for each in self.wanted:
            path = state.config.invocation_params.dir / each.path
            try:
                with paths_from(state.config.rootpath):
                    done = publish(document, each.format, path, shown=each.path, log=self.commands.append)
                self.done.append(done)
            except PromptfuzzError as error:
                self._missed(session)
                asked = f"{each.format}:{each.path}" if each.path else each.format
                mend = (
                    f"promptfuzz report --from {source} --to {f'{each.format}:PATH' if each.path else asked}"
                )
                state.warnings.append(f"{OPTION}={asked}: {error} What it holds is kept: {mend}")

    def _begun(self, state: State) -> Stored:
        from pytest_promptfuzz.reporting.report_files import Stored

        return Stored(state.folder, self._run(state, complete=False))

    def _run(self, state: State, *, complete: bool) -> RunReport:
        from pytest_promptfuzz.reporting.document import run_report

        root = state.config.rootpath
        if self._commit is None:
            from pytest_promptfuzz.history.bases import commit_of

            self._commit = commit_of(root)
        mode, seed = state.settings["mode"], state.settings["seed"]
        return run_report(
            root, self._began, self._commit, name=self.earlier.name, mode=mode, seed=seed, complete=complete
        )

    def lines(self) -> Iterator[str]:
        """What the summary shows."""
        yield from self.done


def read_reports(config: pytest.Config, written: str) -> tuple[ReportRequest, ...]:
    """The reports that a run is to write; refused before anything is run where they cannot be.

    Raises:
        pytest.UsageError: A format that nobody knows, no path, or a path that cannot be written.
    """
    from pytest_promptfuzz.reporting.report_files import check, read_wanted

    try:
        register_offered(config, reporters=True)
        wanted = read_wanted(written)
        for each in wanted:
            check(each.format, config.invocation_params.dir / each.path)
    except (UsageError, StoreError) as error:
        raise pytest.UsageError(f"{place_of('report', config)}: {error}") from None
    return tuple(wanted)


def _leaves_nothing(state: State) -> bool:
    """Whether this is a worker of xdist, or a run that judges no whole test."""
    partial = state.dry or not state.enabled or state.trial is not None or RESULTS in state.config.stash
    return partial or hasattr(state.config, "workerinput")


def _outcome(report: pytest.TestReport) -> str:
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    if report.failed and report.when == "verdict":  # type: ignore[comparison-overlap]  # ours
        return "error"
    return str(report.outcome)


def _unjudged(report: pytest.TestReport) -> UnjudgedReport:
    path, line, _ = report.location
    crash = getattr(report.longrepr, "reprcrash", None)
    message = str(getattr(crash, "message", "") or report.longrepr or report.outcome).strip()
    return {
        "test": report.nodeid,
        "outcome": "failed" if report.when == "call" else "error",
        "message": unstopped(without_test(message, report.nodeid)),
        "location": (path, (line or 0) + 1),
        "target": report.promptfuzz_unjudged,
    }


def _why_unjudged(found: UnjudgedReport) -> str:
    from pytest_promptfuzz.text.safe_text import safe

    first = safe(found["message"].partition("\n")[0], limit=200)
    return f"the test was not judged: {first or found['outcome']}"


_PLACE = expression(
    r'(?:E\s+)?(?:File "(?P<file>[^"]+)", line (?P<at>\d+)|(?P<path>\S[^\n]*?):(?P<line>\d+): )'
)


def _not_collected(report: pytest.CollectReport, state: State) -> UnjudgedReport:
    """A file that could not be collected: the error in a line, and where it is, or the file's first line."""
    from pytest_promptfuzz.reporting.document import UNCOLLECTED

    rows = [each.strip() for each in report.longreprtext.splitlines() if each.strip()]
    root = state.config.rootpath
    message = _error_in(rows).replace(f"{root}{os.sep}", "")
    return {
        "test": report.nodeid,
        "outcome": UNCOLLECTED,
        "message": unstopped(state.redaction().text(message)),
        "location": _place_in(rows, root, state.config.invocation_params.dir)
        or (report.nodeid.partition("::")[0], 1),
        "target": "",
    }


def _error_in(rows: list[str]) -> str:
    """The first line of the error that was raised last; of a syntax error the one below the place and the code."""
    last: list[str] = []
    for before, row in zip(["", *rows], rows, strict=False):
        if row.startswith("E "):
            last = [*last, row] if before.startswith("E ") else [row]
    said = [each.removeprefix("E").strip() for each in last]
    if not said:
        return rows[-1] if rows else "it could not be collected"
    return said[-1] if said[0].startswith('File "') else said[0]


def _place_in(rows: list[str], root: Path, folder: Path) -> tuple[str, int] | None:
    """The last place in a traceback that is a file of the project, from its root."""
    for row in reversed(rows):
        found = _PLACE.match(row)
        path = folder / (found["file"] or found["path"]) if found else root
        ours = path.is_relative_to(root) and "site-packages" not in path.parts and path.is_file()
        if found and ours:
            return path.relative_to(root).as_posix(), int(found["at"] or found["line"])
    return None


def _may_be_robust(path: Path) -> bool:
    try:
        return b"robust" in path.read_bytes()
    except OSError:
        return False


_ENDING = pytest.StashKey[Ending]()
