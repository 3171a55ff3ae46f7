"""Known counterexamples and pytest's runs: which a test is given, what a run keeps by itself, what is pinned in git."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import tempfile
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.errors import StoreError, UsageError
from pytest_promptfuzz.plugin.marks import is_robust
from pytest_promptfuzz.plugin.options import UPDATE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pytest_promptfuzz.evaluating.evaluation import Evaluation
    from pytest_promptfuzz.history.counterexamples import KeptTest
    from pytest_promptfuzz.plugin.state import State
    from pytest_promptfuzz.reporting.model import TestReport
    from pytest_promptfuzz.results.counterexamples import KnownCounterexample
    from pytest_promptfuzz.results.robustness import Robustness
    from pytest_promptfuzz.storage.redaction import Redaction


# Tests that commands run: on stored answers alone (``promptfuzz explain``), or one trial (``promptfuzz replay``).


_MOST_CALLS = "--promptfuzz-max-calls"
_WHOLE = ("--promptfuzz-stop=never", "--promptfuzz-shrink=0")
_NO_CONTROL = "--promptfuzz-controls=0"
NOTHING_STORED = f"{_MOST_CALLS} is 0"
"""What stands in the message of a test whose unmutated prompt has no stored answer."""


@dataclass(slots=True, eq=False)
class RunResults:
    """The results of a run, for whoever runs pytest in this process.

    Attributes:
        found: By test: its result, and what is hidden before any of it is shown.
        failed: By test without a result: why.
        replays: Whether one trial is run again; otherwise what is stored is explained.
    """

    found: dict[str, tuple[Robustness, Redaction]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    replays: bool = False

    def pytest_configure(self, config: pytest.Config) -> None:
        """Be found by what runs the tests."""
        config.stash[RESULTS] = self

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out every test that is not ours: it would run."""
        others = [item for item in items if not is_robust(item)]
        items[:] = [item for item in items if is_robust(item)]
        if others:
            config.hook.pytest_deselected(items=others)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep why a test has no result."""
        if not report.passed and report.nodeid not in self.found:
            crash = getattr(report.longrepr, "reprcrash", None)
            said = str(getattr(crash, "message", "") or report.longrepr or report.outcome).strip()
            self.failed.setdefault(report.nodeid, said)


def run_stored(arguments: Sequence[str]) -> RunResults:
    """Run the robust tests of a suite with stored answers, and none else, with pytest in this process.

    Their bodies run. What is not stored is an error of its trial; the stored answers are left as they are.

    Args:
        arguments: pytest's own.

    Raises:
        UsageError: pytest cannot collect or run them; the message holds what it printed.
    """
    return _run(
        [
            *arguments,
            f"{_MOST_CALLS}=0",
            "--promptfuzz-store=",
            *_WHOLE,
            _NO_CONTROL,
            "--promptfuzz-mode=auto",
        ],
        RunResults(),
    )


def run_one(test: str, trial: str, arguments: Sequence[str]) -> RunResults:
    """Run one trial of one test, with pytest in this process; what is not stored is asked.

    Args:
        test: Its node ID, the path of the module absolute.
        trial: The trial's ID, or a counterexample's.
        arguments: More for pytest.

    Raises:
        UsageError: pytest cannot collect or run it; the message holds what it printed.
    """
    return _run([test, *arguments, f"--promptfuzz-trial={trial}"], RunResults(replays=True))


def _run(arguments: Sequence[str], results: RunResults) -> RunResults:
    printed = io.StringIO()
    workers = ["-n0"] if find_spec("xdist") is not None else []
    with tempfile.TemporaryDirectory() as folder:
        ours = [
            *workers,
            "--no-header",
            "-q",
            f"-ocache_dir={folder}",  # what failed last is no matter of this run
            "-Wignore::pytest.PytestAssertRewriteWarning",  # the command has loaded the plugin before pytest does
        ]
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            status = pytest.main([*arguments, *ours], plugins=[results])
    ran = {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED}
    if status not in ran or (status != pytest.ExitCode.OK and not results.found and not results.failed):
        raise UsageError(f"pytest could not run the tests:\n{printed.getvalue().rstrip()}")
    return results


RESULTS = pytest.StashKey[RunResults]()


_LOCAL = "counterexamples"  # as the store calls its folder; it is not loaded to find that there is none


def pin(job: Evaluation, item: pytest.Item, state: State) -> None:
    """Give a test's job the counterexamples that are kept here, beside those pinned in its snapshot.

    Raises:
        UsageError: They cannot be read, and the test is to fail for them.
    """
    listening = state.config.stash.get(RESULTS, None)
    if listening is not None and not listening.replays:
        job.pins.known, job.accepted.gone = (), ()  # what is stored is explained, and nothing else
        job.accepted.snapshot = None
        return
    if not (state.folder / _LOCAL).is_dir():
        return
    from pytest_promptfuzz.history.counterexamples import LocalCounterexamples

    found = {each.id: each for each in job.pins.known}
    try:
        found |= {each.id: each for each in LocalCounterexamples(state.folder).read(item.nodeid).found}
    except StoreError as error:
        if job.contract.verdict.pinned == "fail":
            raise UsageError(f"{item.nodeid}: {error}") from None
        job.notes.append(f"known counterexamples were not replayed: {error}")
    job.pins.known = tuple(found.values())


@dataclass(slots=True)
class _Seen:
    """What a run has shown of a test's counterexamples: those that hold, as they are today, and those that do not."""

    held: dict[str, KnownCounterexample] = field(default_factory=dict)
    retired: dict[str, str] = field(default_factory=dict)
    found: list[KnownCounterexample] = field(default_factory=list)


@dataclass(slots=True)
class PinKeeper:
    """Keeps what a run finds, on the process that has seen every report.

    Attributes:
        done: A sentence for each file that was written, or could not be.
        tests: What the run has shown, by node ID.
    """

    done: list[str] = field(default_factory=list)
    tests: dict[str, _Seen] = field(default_factory=dict)

    def see(self, report: pytest.TestReport, folder: Path) -> None:
        """A phase of a test is over: what was found is kept, and what was retired is not any more.

        Args:
            report: Of the phase.
            folder: That of stored answers.
        """
        data: TestReport | None = getattr(report, "promptfuzz", None)
        if data is None:
            return
        broke = [
            each
            for each in data["trials"]
            if each["outcome"] == "deviation" and each["relation"] != "must-change"
        ]
        trials = list(dict.fromkeys(each["id"] for each in broke))
        if not (trials or data["replayed"] or data["counterexamples"] or (folder / _LOCAL).is_dir()):
            return
        from pytest_promptfuzz.history.counterexamples import KeptTest, LocalCounterexamples

        seen = self.tests[report.nodeid] = self._seen(data, report.nodeid)
        local = LocalCounterexamples(folder)
        try:
            before = local.read(report.nodeid)
        except StoreError:
            before = KeptTest(report.nodeid)  # writing says so, and puts it aside
        kept = _kept(before, seen, trials)
        if kept == before and local.path_of(report.nodeid).exists() == bool(kept.found or kept.trials):
            return
        try:
            note = local.write(kept)
        except StoreError as error:
            note = str(error)
        if note:
            self.done.append(note)

    def _seen(self, data: TestReport, test: str) -> _Seen:
        seen = _Seen()
        for each in data["replayed"]:
            if each["status"] in {"passes", "gone"}:
                seen.retired[each["id"]] = each["status"]
            elif each["status"] == "breaks" and (now := _read(each["now"], data["target"])) is not None:
                seen.held[each["id"]] = now
        known = {each.id for each in seen.held.values()}
        for one in data["counterexamples"]:
            found = _read(one, data["target"])
            if found is None:
                self.done.append(
                    f"not kept: counterexample {one['id']} of {test}, whose prompt holds what looks like a secret"
                )
            elif found.id not in known:
                seen.found.append(found)
        return seen

    def pinned(self, test: str, before: tuple[KnownCounterexample, ...]) -> tuple[KnownCounterexample, ...]:
        """What is to be pinned of a test: what was and holds, as it is today, and what else is known to break it.

        Args:
            test: Its node ID.
            before: What was pinned.
        """
        seen = self.tests.get(test)
        if seen is None:
            return before
        kept = [seen.held.get(each.id, each) for each in before if each.id not in seen.retired]
        return tuple({each.id: each for each in (*kept, *seen.held.values(), *seen.found)}.values())

    def lines(self, root: Path, *, updates: bool) -> Iterator[str]:
        """What the summary shows.

        Args:
            root: Of the project.
            updates: Whether this run pins.
        """
        yield from dict.fromkeys(self.done)
        retired = {test: seen.retired for test, seen in self.tests.items() if seen.retired}
        if updates or not retired:
            return
        from pytest_promptfuzz.history.snapshots import read_of

        for nodeid, ids in retired.items():
            module, _, test = nodeid.partition("::")
            try:
                found = read_of(root / module, test)
            except StoreError:
                continue
            still = [] if found is None else [each.id for each in found.counterexamples if each.id in ids]
            if still:
                them = "it" if len(still) == 1 else "them"
                named = ", ".join(still)
                yield f"removed here, but still pinned in git: {named} of {nodeid}; {UPDATE} removes {them} there too"


def _read(report: Any, target: str) -> KnownCounterexample | None:
    """A counterexample of a report; ``None`` where what was hidden in the report made another of it."""
    from pytest_promptfuzz.results.counterexamples import Counterexample, KnownCounterexample

    try:
        found = Counterexample.from_json(report)
    except UsageError:
        return None
    return KnownCounterexample(found, target) if found.id == report["id"] else None


def _kept(before: KeptTest, seen: _Seen, trials: list[str]) -> KeptTest:
    from pytest_promptfuzz.history.counterexamples import KeptTest

    found = {
        now.id: now
        for each in before.found
        if each.id not in seen.retired
        for now in [seen.held.get(each.id, each)]
    }
    found |= {each.id: each for each in seen.found}
    return KeptTest(before.test, list(found.values()), trials)


# The command that reproduces one trial, to be copied into the shell that pytest was started from.


# What decides which mutations there are, who answers them and how they are judged.
_KEPT = (
    *(
        f"--promptfuzz-{name}"
        for name in (
            "target",
            "mutations",
            "operators",
            "threshold",
            "task",
            "stop",
            "seed",
            "override",
            "cache-dir",
            "model",
        )
    ),
    "--rootdir",
    "--config-file",
    "--override-ini",
    "-c",
    "-o",
)


def reproduce_command(item: pytest.Item) -> str:
    """The command, with ``{id}`` in the place of the trial's ID."""
    invocation = item.config.invocation_params
    path, separator, rest = item.nodeid.partition("::")
    # A node ID is relative to pytest's root, which need not be where the command is typed.
    try:
        path = os.path.relpath(item.config.rootpath / path, invocation.dir).replace(os.sep, "/")
    except ValueError:  # another drive
        path = str(item.config.rootpath / path)
    quoted = f"{path}{separator}{rest}".replace("'", "'\"'\"'")
    return " ".join([f"pytest '{quoted}'", "--promptfuzz-trial={id}", *kept([*map(str, invocation.args)])])


def kept(arguments: Sequence[str]) -> list[str]:
    """The arguments of a pytest command line without which a trial would not be the same, quoted for a shell.

    >>> kept(["-q", "--promptfuzz-target=simulated", "-o", "a=b c", "tests", "-cother.ini"])
    ['--promptfuzz-target=simulated', '-o', "'a=b c'", '-cother.ini']
    """
    found: list[str] = []
    index = 0
    while index < len(arguments):
        argument = arguments[index]
        index += 1
        if argument in _KEPT:
            found += arguments[index - 1 : index + 1]
            index += 1
        elif argument.partition("=")[0] in _KEPT or argument[:2] in {"-c", "-o"}:
            found.append(argument)
    return [shlex.quote(each) for each in found]
