"""What a run is compared with: a saved run, one by its ID, a file of another machine's run, a commit, or the last ones.

A name wins over a file, a file over a run's ID, and that over a commit.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import StoreError, UsageError, nearest
from pytest_promptfuzz.files import open_file
from pytest_promptfuzz.history import git
from pytest_promptfuzz.history.changes import BaseReport
from pytest_promptfuzz.history.entries import Entry, entry
from pytest_promptfuzz.history.runs import LAST, Run, Runs, read_run

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from pathlib import Path

    Documents = Callable[[Path], Mapping[str, Any]]

_LEAST_ID = 4  # characters of a run's ID, or of a commit's hash


@dataclass(slots=True)
class Base:
    """What was found.

    Attributes:
        report: What it is, for reports.
        tests: What is kept of each of its tests; empty of a commit from before there were any.
        notes: What is to be said of how it was chosen.
        runs: The runs of this machine that it was made of.
    """

    report: BaseReport
    tests: dict[str, Entry]
    notes: list[str] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Places:
    """Where bases are looked for.

    Attributes:
        runs: The runs of this machine.
        root: Of the project, where git is asked.
        here: What paths are from.
        read_document: What reads a run's report.
    """

    runs: Runs
    root: Path
    here: Path
    read_document: Documents


def find(target: str, places: Places, *, besides: Collection[Path] = ()) -> Base:
    """The base that a name, path, ID or ref names.

    Args:
        target: Any of them but ``last``.
        places: Where to look.
        besides: Files of runs that are no base of a commit: those that are compared with it.

    Raises:
        UsageError: There is nothing of that name, or it holds no run.
        StoreError: It cannot be read.
    """
    if not target.strip():
        raise UsageError("write a saved run's name, a run's ID, a file, a commit, or last.")
    saved = places.runs.saved()
    path = places.here / target
    if target in saved:
        base = _of_run(saved[target], target, "name")
        also = [
            what for what, is_one in (("file", path.is_file()), ("commit", _is_ref(target, places))) if is_one
        ]
        if also:
            base.notes.append(
                f"{target!r} is a saved run and a {' and a '.join(also)}; the saved run was taken"
            )
        return base
    if path.is_file():
        return _of_file(path, target, places)
    if len(target) >= _LEAST_ID:
        found = [each for each in places.runs.every() if each.id.startswith(target)]
        if len(found) == 1:
            return _of_run(found[0], target, "name")
    try:
        commit = git.resolved(target, places.root)
    except UsageError as error:
        hint = f" {nearest(target, saved)}" if saved else " No run was saved yet (--promptfuzz-save=NAME)."
        if "shallow" in str(error):
            hint = ""
        raise UsageError(f"{target!r} is no saved run and no file, and {error}{hint}") from None
    return _at_commit(commit, target, places, besides)


def last(
    tests: Collection[str] | None,
    runs: Runs,
    *,
    before: Path | None = None,
    targets: Mapping[str, str] | None = None,
) -> Base:
    """For each test the latest run that judged it: a run of a few tests does not hide what is known of the rest.

    Runs that were set aside (of one trial, overridden) are not asked.

    Args:
        tests: Their names; ``None`` takes all that any run has.
        runs: The runs of this machine.
        before: The file of a run; only runs that began before it are asked.
        targets: The targets of tests; a run that asked another one counts only where none asked this.
    """
    known = targets or {}
    missing = None if tests is None else set(tests)
    found: dict[str, Entry] = {}
    others: dict[str, Entry] = {}
    made_of: dict[str, Run] = {}
    for each in runs.every(results=True):
        if missing is not None and not missing:
            break
        useless = missing is not None and each.ended and missing.isdisjoint(each.results)
        if each.aside or useless or (before is not None and each.path.name >= before.name):
            continue
        for test, one in each.tests().items():
            if test in found or (missing is not None and test not in missing):
                continue
            if known.get(test, one["target"]) == one["target"]:
                found[test], made_of[test] = one, each
            elif test not in others:
                others[test] = one
                made_of[test] = each
        if missing is not None:
            missing -= set(found)
    used = _distinct(made_of.values())
    one_run = used[0].run if len(used) == 1 else {}
    return Base(_report(LAST, LAST, one_run), {**others, **found}, runs=used)


def _distinct(runs: Iterable[Run]) -> list[Run]:
    return list({each.path: each for each in runs}.values())


def _of_run(run: Run, label: str, kind: str) -> Base:
    tests = run.tests()
    notes = [] if run.complete else [f"run {run.id} ended before its last test; what it has is compared"]
    if run.aside:
        notes.append(f"run {run.id} is compared since it was named: {run.aside}")
    return Base(_report(label, kind, run.run), tests, notes, [run])


def _of_file(path: Path, label: str, places: Places) -> Base:
    """A file of ``.promptfuzz/history/``, or a report."""
    try:
        with open_file(path) as file:
            first = file.readline()
        is_run = b'"promptfuzz"' in first and json.loads(first).get("promptfuzz") == "run"
    except OSError as error:
        raise StoreError(f"{path} cannot be read ({error.strerror or error}).") from None
    except (ValueError, AttributeError, RecursionError):
        is_run = False
    if is_run:
        return _of_run(read_run(path), label, "file")
    document = places.read_document(path)
    return Base(_report(label, "file", document["run"]), entries(document["tests"]))


def entries(tests: Iterable[Mapping[str, Any]]) -> dict[str, Entry]:
    """What is compared of the tests of a report."""
    return {each["test"]: entry(each) for each in tests}


def _at_commit(commit: str, label: str, places: Places, besides: Collection[Path]) -> Base:
    """For each test the newest whole run of that very commit that judged it; of the rest what its snapshots say."""
    found: dict[str, Entry] = {}
    used: list[Run] = []
    for each in places.runs.every(results=True):
        clean = each.run.get("commit") == commit and each.run.get("dirty") is False
        if not clean or not each.complete or each.aside or each.path in besides:
            continue
        new = {test: one for test, one in each.tests().items() if test not in found}
        if new:
            found |= new
            used.append(each)
    from pytest_promptfuzz.history.committed import tests_at

    snapshots, problems = tests_at(commit, places.root)
    notes: list[str] = []
    if not used:
        of = f"no {'other ' if besides else ''}run of commit {commit[:12]} is kept here"
        notes.append(
            f"{of}, so its snapshots were taken"
            if snapshots
            else f"{of}, and it has no snapshots: nothing was compared"
        )
    run = used[0].run if len(used) == 1 else {"commit": commit}
    return Base(_report(label, "ref", run), {**snapshots, **found}, [*notes, *problems], used)


def _is_ref(target: str, places: Places) -> bool:
    try:
        return bool(git.resolved(target, places.root))
    except UsageError:
        return False


def _report(label: str, kind: str, run: Mapping[str, Any]) -> BaseReport:
    return BaseReport(
        label=label,
        kind=kind,
        run=str(run.get("id", "")),
        started=str(run.get("started", "")),
        commit=str(run.get("commit", "")),
        branch=str(run.get("branch", "")),
    )
