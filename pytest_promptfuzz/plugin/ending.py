"""What is left of a run: each test's report as it ends, and at the end the reports that were asked for."""

from __future__ import annotations

import hashlib
import os
import platform
import time
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.errors import PromptfuzzError, StoreError, UsageError, unstopped
from pytest_promptfuzz.plugin.commanded import RESULTS
from pytest_promptfuzz.plugin.earlier import Earlier
from pytest_promptfuzz.plugin.offering import register_offered
from pytest_promptfuzz.plugin.options import place_of
from pytest_promptfuzz.plugin.outcome import end_with

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pytest_promptfuzz.history.git import Commit
    from pytest_promptfuzz.plugin.state import State
    from pytest_promptfuzz.reporting.document import RunReport, UnjudgedReport
    from pytest_promptfuzz.reporting.formats import Wanted
    from pytest_promptfuzz.reporting.stored import Stored

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

    wanted: tuple[Wanted, ...] = ()
    done: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    earlier: Earlier = field(default_factory=Earlier)
    _commit: Commit | None = None
    _began: float = field(default_factory=time.time)
    _stored: Stored | None = None
    _failed: bool = False

    def see(self, report: pytest.TestReport, state: State) -> None:
        """A phase of a test is over: keep what it was judged, or that it could not be."""
        data: Mapping[str, Any] | None = getattr(report, "promptfuzz", None)
        self.earlier.see(report.nodeid)
        if not (data or hasattr(report, "promptfuzz_unjudged")) or _leaves_nothing(state):
            return
        whole = None if data is None else {**data, "outcome": _outcome(report)}
        if whole is not None:
            self.earlier.add(whole, lambda: self._run(state, complete=False), state)
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

    def finish(self, session: pytest.Session, state: State, *, complete: bool) -> None:
        """The run is over: end what was kept of it, compare it, and write the reports that were asked for."""
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
            from pytest_promptfuzz.reporting.publishing import uncollected
            from pytest_promptfuzz.reporting.reading import read_document

            with uncollected():
                self._write(stored.path, read_document(stored.path), session, state)

    def _missed(self, session: pytest.Session) -> None:
        """A report that was asked for is not there: whoever reads it must not take an older one for it."""
        if self.wanted:
            end_with(session, pytest.ExitCode.TESTS_FAILED)

    def _write(self, source: Path, document: Any, session: pytest.Session, state: State) -> None:
        from pytest_promptfuzz.reporting.publishing import publish

        for each in self.wanted:
            path = state.config.invocation_params.dir / each.path
            try:
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
        from pytest_promptfuzz.reporting.stored import Stored

        return Stored(state.folder, self._run(state, complete=False))

    def _run(self, state: State, *, complete: bool) -> RunReport:
        from pytest_promptfuzz.reporting.document import RunReport, version

        if self._commit is None:
            from pytest_promptfuzz.history.git import commit_of

            self._commit = commit_of(state.config.rootpath)
        started = datetime.fromtimestamp(self._began, timezone.utc)
        seed = f"{self._began!r} {os.getpid()} {state.config.rootpath}"
        return RunReport(
            id=hashlib.sha256(seed.encode()).hexdigest()[:12],
            name=self.earlier.name,
            started=f"{started.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z",
            seconds=round(time.time() - self._began, 3) if complete else 0.0,
            version=version(),
            python=platform.python_version(),
            mode=state.settings["mode"],
            seed=state.settings["seed"],
            commit=self._commit.commit,
            branch=self._commit.branch,
            dirty=self._commit.dirty,
            complete=complete,
        )

    def lines(self) -> Iterator[str]:
        """What the summary shows."""
        yield from self.done


def read_reports(config: pytest.Config, written: str) -> tuple[Wanted, ...]:
    """The reports that a run is to write; refused before anything is run where they cannot be.

    Raises:
        pytest.UsageError: A format that nobody knows, no path, or a path that cannot be written.
    """
    from pytest_promptfuzz.reporting.formats import read_wanted
    from pytest_promptfuzz.reporting.publishing import check

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
        "message": unstopped(message),
        "location": (path, (line or 0) + 1),
    }
