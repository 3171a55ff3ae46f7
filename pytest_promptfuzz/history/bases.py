"""What a run is compared with: a saved run, one by its ID, a file of another machine's run, a commit, or the last ones.

A name wins over a file, a file over a run's ID, and that over a commit.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.errors import MOST_NAMES, StoreError, UsageError, close_names, nearest, unstopped
from pytest_promptfuzz.files import open_file
from pytest_promptfuzz.history.changes import BaseReport
from pytest_promptfuzz.history.entries import HistoryEntry, digest, entry, kept_answer, whole
from pytest_promptfuzz.history.runs import LAST, KeptRun, Runs, read_run
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.storage.recordings.places import FOLDER

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from pytest_promptfuzz.history.snapshots import Snapshot

    Documents = Callable[[Path], Mapping[str, Any]]


# What git says of a project: the commit and branch of a run, and what an earlier commit held.


_SECONDS = 2.0
_BRANCHES = ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME", "BRANCH_NAME")
"""Where CI, which checks out no branch, says which it is."""


class Commit(NamedTuple):
    """Where a run was made; empty, and ``None``, where there is no git.

    Attributes:
        commit: The full hash.
        branch: Its name; empty on a detached head that no variable of CI names.
        dirty: Whether files that git knows were changed since.
    """

    commit: str = ""
    branch: str = ""
    dirty: bool | None = None


def commit_of(folder: Path, environment: Mapping[str, str] = os.environ) -> Commit:
    """The commit of a folder, in one call of git that takes two seconds at most; nothing where it cannot be told."""
    said = _run(
        folder,
        "status",
        "--porcelain=v2",
        "--branch",
        "--untracked-files=no",
        "--no-ahead-behind",
        wait=_SECONDS,
    )
    if said is None or said.returncode:
        return Commit()
    commit = branch = ""
    dirty = False
    for line in said.stdout.decode("utf-8", "replace").splitlines():
        if line.startswith("# branch.oid "):
            commit = line.removeprefix("# branch.oid ")
        elif line.startswith("# branch.head "):
            branch = line.removeprefix("# branch.head ")
        elif not line.startswith("#"):
            dirty = True
    if branch == "(detached)":
        branch = next((environment[name] for name in _BRANCHES if environment.get(name)), "")
    return Commit("" if commit.startswith("(") else commit, branch, dirty)


class ShallowCloneError(UsageError):
    """A commit was left out of a shallow clone.

    Args:
        ref: What names it.
    """

    def __init__(self, ref: str) -> None:
        name = ref.removeprefix("origin/")
        relative = {"~", "^", "@"} & set(ref) or ref.startswith("HEAD")
        one = f"git fetch --depth=1 origin {name} && git tag -f promptfuzz-base FETCH_HEAD, and compare with "
        how = "" if relative else f"{one}promptfuzz-base; or all of it: "
        super().__init__(
            f"this clone is shallow, and {ref!r} is not in it. Fetch it: {how}git fetch --unshallow."
        )


class NoMergeBaseError(UsageError):
    """The commit where two branches parted is not there.

    Args:
        one: A ref.
        other: Another one.
        shallow: Whether the clone is.
    """

    def __init__(self, one: str, other: str, *, shallow: bool) -> None:
        both = f"{one!r} and {other!r}"
        super().__init__(
            f"this clone is shallow, and the commit where {both} parted is not in it. Fetch the whole history: "
            "git fetch --unshallow; in CI, check out with depth 0 (GitHub: fetch-depth: 0 of actions/checkout; GitLab: "
            "GIT_DEPTH: 0)."
            if shallow
            else f"{both} have no commit in common. Name a commit or a saved run instead."
        )


_DOTS = "..."


def resolved_commit(ref: str, folder: Path) -> str:
    """The full hash of the commit that a ref names; of ``one...other`` the commit where both parted, as git has it.

    Without a ref before or after the dots, that is ``HEAD``.

    Raises:
        UsageError: There is no git, no repository, no such commit, or it was left out of a shallow clone.
    """
    if ref.startswith("-"):
        raise UsageError(f"{ref!r} is not the name of a commit.")
    if _DOTS in ref:
        one, _, other = ref.partition(_DOTS)
        return _merge_base(one or "HEAD", other or "HEAD", folder)
    said = _run(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    if said is None:
        raise UsageError("git cannot be run.")
    if said.returncode == 0:
        return said.stdout.decode("ascii", "replace").strip()
    inside = _run(folder, "rev-parse", "--is-inside-work-tree")
    if inside is None or inside.returncode:
        raise UsageError(f"{folder} is not in a git repository.")
    if _is_shallow(folder):
        raise ShallowCloneError(ref)
    raise UsageError(f"git knows no commit {ref!r}.")


def _merge_base(one: str, other: str, folder: Path) -> str:
    commits = [resolved_commit(each, folder) for each in (one, other)]
    found = _run(folder, "merge-base", *commits)
    if found is None:
        raise UsageError("git cannot be run.")
    if found.returncode == 0:
        return found.stdout.decode("ascii", "replace").split()[0]
    raise NoMergeBaseError(one, other, shallow=_is_shallow(folder))


def _is_shallow(folder: Path) -> bool:
    found = _run(folder, "rev-parse", "--is-shallow-repository")
    return found is not None and found.stdout.strip() == b"true"


def names_at(commit: str, folder: Path) -> list[str]:
    """The files in a folder and below, as a commit has them, by their paths from the folder.

    Raises:
        UsageError: Git cannot tell.
    """
    said = _output(folder, "ls-tree", "-r", "-z", "--name-only", commit, "--", ".")
    return [each for each in said.decode("utf-8", "surrogateescape").split("\0") if each]


def contents_at(commit: str, names: Sequence[str], folder: Path) -> list[bytes]:
    """Files as a commit has them, in one call of git.

    Raises:
        UsageError: Git cannot tell.
    """
    asked = "".join(f"{commit}:./{name}\n" for name in names).encode("utf-8", "surrogateescape")
    said = _output(folder, "cat-file", "--batch", text=asked)
    found: list[bytes] = []
    at = 0
    for _ in names:
        end = said.index(b"\n", at)
        size = int(said[at:end].rpartition(b" ")[2])
        found.append(said[end + 1 : end + 1 + size])
        at = end + 2 + size
    return found


def _output(folder: Path, *arguments: str, text: bytes = b"") -> bytes:
    said = _run(folder, *arguments, text=text)
    if said is None:
        raise UsageError("git cannot be run.")
    if said.returncode:
        lines = said.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UsageError(f"git: {unstopped(lines[0] if lines else 'it failed')}.")
    return said.stdout


def _run(
    folder: Path, *arguments: str, text: bytes = b"", wait: float | None = None
) -> subprocess.CompletedProcess[bytes] | None:
    try:
        return subprocess.run(  # noqa: S603 - git itself, and what was asked for as a ref
            ["git", "-C", str(folder), *arguments],  # noqa: S607 - whichever git the person uses
            input=text,
            capture_output=True,
            check=False,
            timeout=wait,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
        )
    except (OSError, subprocess.SubprocessError):
        return None


_LEAST_ID = 4  # characters of a run's ID, or of a commit's hash


@dataclass(slots=True)
class Base:
    """What was found.

    Attributes:
        report: What it is, for reports.
        tests: What is kept of each of its tests; empty of a commit from before there were any.
        notes: What a person must know of how it was chosen.
        runs: The runs of this machine that it was made of.
        asked: Of tests that a commit has a snapshot of, what they ask (``Snapshot.asked``).
        prompts: Of tests whose prompt's text is known, that text.
    """

    report: BaseReport
    tests: dict[str, HistoryEntry]
    notes: list[Note] = field(default_factory=list)
    runs: list[KeptRun] = field(default_factory=list)
    asked: dict[str, str] = field(default_factory=dict)
    prompts: dict[str, str] = field(default_factory=dict)


class Places(NamedTuple):
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
        raise UsageError("write the name or the ID of a run, a file, a commit, or last.")
    saved = places.runs.saved()
    path = places.here / target
    if target in saved:
        base = _of_run(saved[target], target, "name")
        also = [
            what for what, is_one in (("file", path.is_file()), ("commit", _is_ref(target, places))) if is_one
        ]
        if also:
            base.notes.append(Note.of("history:saved-run-taken", name=target, others=also))
        return base
    if path.is_file():
        return _of_file(path, target, places)
    if len(target) >= _LEAST_ID:
        found = [each for each in places.runs.every() if each.id.startswith(target)]
        if len(found) == 1:
            return _of_run(found[0], target, "name")
    try:
        commit = resolved_commit(target, places.root)
    except UsageError as error:
        raise _nothing_named(target, error, saved) from None
    return _at_commit(commit, target, places, besides)


def _nothing_named(target: str, error: UsageError, saved: Collection[str]) -> UsageError:
    if isinstance(error, ShallowCloneError | NoMergeBaseError):  # what is meant may be in the whole one
        return UsageError(f"there is no saved run and no file {target!r}, and {error}")
    if close_names(target, saved):
        hint = nearest(target, saved)
    elif saved:
        hint = f"Saved runs: {', '.join(sorted(saved)[:MOST_NAMES])}."
    else:
        hint = "No run is saved; --promptfuzz-save=NAME saves one."
    where = "" if "git knows no commit" in str(error) else f" ({unstopped(error)})"
    return UsageError(f"there is no saved run, file or commit {target!r}{where}. {hint}")


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
    found: dict[str, HistoryEntry] = {}
    others: dict[str, HistoryEntry] = {}
    made_of: dict[str, KeptRun] = {}
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


def _distinct(runs: Iterable[KeptRun]) -> list[KeptRun]:
    return list({each.path: each for each in runs}.values())


def _of_run(run: KeptRun, label: str, kind: str) -> Base:
    tests = run.tests()
    notes = [] if run.complete else [Note.of("history:run-incomplete", run=run.id)]
    if run.aside:
        notes.append(Note.of("history:run-set-aside", run=run.id, why=run.aside))
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
    base = Base(_report(label, "file", document["run"]), entries(document["tests"]))
    base.prompts = {each["test"]: each["prompt"] for each in document["tests"]}
    return base


def entries(tests: Iterable[Mapping[str, Any]]) -> dict[str, HistoryEntry]:
    """What is compared of the tests of a report."""
    return {each["test"]: entry(each) for each in tests}


def _at_commit(commit: str, label: str, places: Places, besides: Collection[Path]) -> Base:
    """For each test the newest whole run of that very commit that judged it; of the rest what its snapshots say."""
    stored, problems = snapshots_at(commit, places.root)
    snapshots = {test: entry_of(test, each) for test, each in stored.items()}
    found: dict[str, HistoryEntry] = {}
    used: list[KeptRun] = []
    for each in places.runs.every(results=True):
        clean = each.run.get("commit") == commit and each.run.get("dirty") is False
        if not clean or not each.complete or each.aside or each.path in besides:
            continue
        new = {
            test: one
            for test, one in each.tests().items()
            if test not in found and _is_as_accepted(one, snapshots.get(test))
        }
        if new:
            found |= new
            used.append(each)

    notes: list[Note] = []
    if not used:
        code = "history:snapshots-taken" if snapshots else "history:nothing-at-commit"
        notes.append(Note.of(code, commit=commit, other=bool(besides)))
    run = used[0].run if len(used) == 1 else {"commit": commit}
    asked = {test: each.asked for test, each in stored.items()}
    prompts = {test: each.prompt for test, each in stored.items()}
    return Base(
        _report(label, "ref", run), {**snapshots, **found}, [*notes, *problems.values()], used, asked, prompts
    )


def _is_as_accepted(run: HistoryEntry, snapshot: HistoryEntry | None) -> bool:
    """Whether a run found what its commit's snapshot has: another model, or a changed one, is none of the commit's."""
    if snapshot is None:
        return True
    if _is_another(run["target"], snapshot["target"]) or _is_another(run["model"], snapshot["model"]):
        return False
    if run["prompt"] != snapshot["prompt"]:
        return True
    fails_anew = any(
        "D" in letters and "D" not in snapshot["trials"].get(name, {}).get(trial, letters)
        for name, trials in run["trials"].items()
        for trial, letters in trials.items()
    )
    return "model" not in run["drift"] and run["verdict"] == snapshot["verdict"] and not fails_anew


def _is_another(name: str, accepted: str) -> bool:
    return bool(name and accepted) and name != accepted


def _is_ref(target: str, places: Places) -> bool:
    try:
        return bool(resolved_commit(target, places.root))
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


# What tests were by the snapshots of an earlier commit, for comparisons with it where none of its runs is kept.


def snapshots_at(commit: str, root: Path) -> tuple[dict[str, Snapshot], dict[Path, Note]]:
    """The snapshots that a commit holds, by node ID, and of each that cannot be read, by its file, a note.

    Args:
        commit: Its hash.
        root: Of the project, from which node IDs are told.

    Raises:
        UsageError: Git cannot tell.
    """
    from pytest_promptfuzz.history.snapshots import module_of_snapshots, parsed

    names = [each for each in names_at(commit, root) if _is_snapshot(each)]
    tests: dict[str, Snapshot] = {}
    problems: dict[Path, Note] = {}
    for name, content in zip(names, contents_at(commit, names, root) if names else (), strict=True):
        path = root / name
        try:
            found = parsed(content.decode("utf-8"), path)
        except (StoreError, UnicodeDecodeError) as error:
            problems[path] = Note.of("history:snapshot-unreadable", commit=commit, problem=str(error))
            continue
        module = module_of_snapshots(path.parent).relative_to(root).as_posix()
        tests[f"{module}::{found.test}"] = found
    return tests, problems


def _is_snapshot(name: str) -> bool:
    from pytest_promptfuzz.history.snapshots import ENDING

    parts = name.split("/")
    return len(parts) >= 3 and parts[-3] == FOLDER and parts[-2].endswith(ENDING) and name.endswith(".json")


def entry_of(test: str, found: Snapshot) -> HistoryEntry:
    """What a snapshot says of a test, as a run would have left it."""
    compared = [each for each in found.inputs if each.answers]
    known: dict[str, Any] = {
        "test": test,
        "verdict": found.verdict,
        "score": found.score,
        "threshold": found.threshold,
        "target": found.target,
        "model": found.model,
        "task": str(found.compared.get("task", "")),
        "prompt": digest(found.prompt),
        "oracle_only": not compared,
        "baselines": {each.name: kept_answer(each.answers[0].answer) for each in compared},
        "trials": {name: dict(trials) for name, trials in found.trials.items()},
        "answers": {
            each.name: [[kept_answer(one.answer), one.times] for one in each.answers] for each in compared
        },
        "compared": _own(found.compared),
    }
    return whole(known)


def _own(compared: Mapping[str, Any]) -> dict[str, Any]:
    """What a snapshot says of a test's own settings of comparison, in the words of an entry."""
    names = {"own": "tiers", "judge": "judge", "schema": "schema", "calls": "calls", "meaning": "meaning"}
    return {names[key]: value for key, value in compared.items() if key in names}
