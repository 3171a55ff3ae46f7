"""``promptfuzz snapshot``: show what was accepted of tests, and what differs from the snapshots of a git commit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.cli.history import add_store, root_of
from pytest_promptfuzz.cli.options import add_output_options
from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.history.bases import resolved_commit, snapshots_at
from pytest_promptfuzz.history.snapshot_changes import FIELDS, snapshot_changes
from pytest_promptfuzz.history.snapshots import path_of, slug, stored_below
from pytest_promptfuzz.reporting.terminal.snapshots import change_lines, listed_lines, snapshot_lines
from pytest_promptfuzz.wording.sentences import sentence

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Mapping, Sequence

    from pytest_promptfuzz.cli.options import Output
    from pytest_promptfuzz.history.snapshot_changes import Pinned, SnapshotChange
    from pytest_promptfuzz.history.snapshots import Sample, Snapshot

_SAME, _DIFFERENT, _UNREADABLE = 0, 1, 2
_MOST_NAMED = 5


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "snapshot",
        help="show snapshots, and what differs from those of a git commit",
        description="promptfuzz snapshot: show the snapshots of tests, and what differs from those of a git commit. It "
        "runs no test and writes nothing; pytest --promptfuzz-update writes snapshots.",
        allow_abbrev=False,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _add_show_parser(actions)
    _add_diff_parser(actions)


def _add_show_parser(actions: argparse._SubParsersAction[Any]) -> None:
    parser = actions.add_parser(
        "show",
        help="show the snapshots of tests; without a test, list all snapshots",
        description="promptfuzz snapshot show: show the snapshots of tests: verdict, answers, trials and pinned "
        "counterexamples. Without a test it lists all snapshots, a line for each.",
        epilog="exit codes: 0: shown, 2: wrong usage or environment, or a snapshot cannot be read",
        allow_abbrev=False,
    )
    parser.add_argument(
        "tests",
        nargs="*",
        metavar="TEST|FILE",
        help="node ID of a test, a test file or folder, or a part of the names of tests",
    )
    add_store(parser)
    add_output_options(parser)
    parser.set_defaults(execute=execute_show)


def _add_diff_parser(actions: argparse._SubParsersAction[Any]) -> None:
    parser = actions.add_parser(
        "diff",
        help="show what differs between the snapshots of a git commit and those here, or of another commit",
        description="promptfuzz snapshot diff: show, test by test, what differs between the snapshots of a git commit "
        "and those in the working tree, or those of another commit.",
        epilog="exit codes: 0: no difference, 1: snapshots differ, 2: wrong usage or environment, or a snapshot cannot "
        "be read",
        allow_abbrev=False,
    )
    parser.add_argument(
        "base",
        nargs="?",
        default="HEAD",
        metavar="A",
        help="commit or branch to compare with (HEAD); A..B compares two, A...B shows what B changed since it left A",
    )
    parser.add_argument("now", nargs="?", metavar="B", help="commit or branch (the working tree)")
    add_store(parser)
    add_output_options(parser)
    parser.set_defaults(execute=execute_diff)


class _Read(NamedTuple):
    """The snapshots of one state of the project, by node ID, and, by file, what is wrong with the others."""

    tests: dict[str, Snapshot]
    problems: dict[Path, str]
    commit: str = ""


def execute_show(options: argparse.Namespace, output: Output) -> int:
    """Show snapshots; returns the exit code.

    Raises:
        UsageError: There is none, or none that is named.
    """
    root = root_of(options.cache_dir)
    found = _here(root)
    if not found.tests and not found.problems:
        raise UsageError(f"there is no snapshot in {root}. pytest --promptfuzz-update writes snapshots.")
    names = _selected(options.tests, found, root) if options.tests else sorted(found.tests)
    paths = {test: _path_of(test, root) for test in names}
    problems = [*found.problems.values()]
    if options.json:
        tests = [{"test": test, "path": paths[test], **_plain(found.tests[test])} for test in names]
        output.json({"snapshots": tests, "problems": problems})
    elif options.tests:
        for place, test in enumerate(names):
            if place:
                output.text("")
            output.lines(snapshot_lines(test, found.tests[test], paths[test], width=output.width))
    else:
        output.lines(listed_lines({test: found.tests[test] for test in names}))
    return _told(problems, "show", output) or _SAME


def execute_diff(options: argparse.Namespace, output: Output) -> int:
    """Compare snapshots; returns the exit code.

    Raises:
        UsageError: There is no git, no repository, or no such commit.
    """
    root = root_of(options.cache_dir)
    before, now = _sides(options.base, options.now, root)
    old, new = _at(before, root), _here(root) if now is None else _at(now, root)
    unread = {
        test: path
        for one, other in ((old, new), (new, old))
        for test in one.tests
        if (path := _file_of(test, root)) in other.problems
    }
    changes = snapshot_changes(
        *({test: each for test, each in one.tests.items() if test not in unread} for one in (old, new))
    )
    problems = [*old.problems.values(), *new.problems.values()]
    differing = [each for each in changes if each.differs]
    if options.json:
        output.json(
            {
                "before": old.commit,
                "now": new.commit or None,
                "tests": [_plain_change(each) for each in differing],
                "same": len(changes) - len(differing),
                "problems": problems,
            }
        )
    else:
        for test, path in sorted(unread.items()):
            output.lines([[(f"{test}: cannot be read: {_shown(path, root)}", "bad")]])
        if changes or not unread:
            output.lines(change_lines(changes, width=output.width))
    return _told(problems, "diff", output) or (_DIFFERENT if differing else _SAME)


def _told(problems: Sequence[str], action: str, output: Output) -> int:
    for each in problems:
        output.error(f"promptfuzz snapshot {action}: {each}")
    return _UNREADABLE if problems else 0


def _sides(base: str, now: str | None, root: Path) -> tuple[str, str | None]:
    """The hashes of two commits; ``None`` for the working tree."""
    dots = next((each for each in ("...", "..") if each in base), "")
    if not dots:
        return resolved_commit(base, root), None if now is None else resolved_commit(now, root)
    if now is not None:
        raise UsageError(f"{base!r} names two commits already. Leave {now!r} out.")
    one, other = (each or "HEAD" for each in base.split(dots, 1))
    return resolved_commit(base if dots == "..." else one, root), resolved_commit(other, root)


def _at(commit: str, root: Path) -> _Read:
    tests, problems = snapshots_at(commit, root)
    return _Read(tests, {path: sentence(each) for path, each in problems.items()}, commit)


def _here(root: Path) -> _Read:
    """Those of the working tree."""
    return _Read(*stored_below(root))


def _path_of(test: str, root: Path) -> str:
    return _shown(_file_of(test, root), root)


def _file_of(test: str, root: Path) -> Path:
    module, _, name = test.partition("::")
    return path_of(root / module, name)


def _shown(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if root == Path.cwd() else str(path)


def _selected(given: Sequence[str], here: _Read, root: Path) -> list[str]:
    """The tests that are named, in the order of their names.

    Raises:
        UsageError: A name that no test has, or whose snapshot cannot be read.
    """
    known = here.tests
    found: set[str] = set()
    for text in given:
        those = _named(text, known, root)
        if not those:
            name = slug(text.rpartition("::")[2].partition("[")[0])
            for path, problem in here.problems.items():
                if name in path.stem:
                    raise UsageError(f"the snapshot of {text!r} cannot be read: {problem}")
            functions = {each.partition("::")[2] for each in known}
            modules = {each.partition("::")[0] for each in known}
            like = known if "::" in text else modules if text.endswith(".py") else functions
            raise UsageError(f"no snapshot is of a test {text!r}. {nearest(text, like)}")
        found.update(those)
    return sorted(found)


def _named(text: str, known: Collection[str], root: Path) -> list[str]:
    """A test by its node ID; all tests of a file, a folder, or of one function; else those with a part of the name."""
    if text in known:
        return [text]
    file, colons, name = text.partition("::")
    path = Path.cwd() / file
    if path.exists() and path.resolve().is_relative_to(root.resolve()):
        inside = path.resolve().relative_to(root.resolve()).as_posix()
        wanted = f"{inside}{colons}{name}"
        folder = "" if inside == "." else f"{inside}/"
        those = [each for each in known if each == wanted or each.startswith((f"{wanted}::", f"{wanted}["))]
        if those or not colons:
            return those or [each for each in known if path.is_dir() and each.startswith(folder)]
    ends = [each for each in known if each.rpartition("::")[2].partition("[")[0] == text]
    return ends or [each for each in known if text in each]


def _plain(snapshot: Snapshot) -> dict[str, Any]:
    """A snapshot as plain data."""
    return {
        **{name: getattr(snapshot, name) for name in FIELDS},
        "prompt": snapshot.prompt,
        "inputs": [
            {
                "name": each.name,
                "prompt": snapshot.prompt if each.text is None else each.text,
                "answers": [one._asdict() for one in each.answers],
                "trials": [
                    {"id": trial, "trial": label, "outcomes": snapshot.trials[each.name][trial]}
                    for label, trial in snapshot.labelled(each.name)
                ],
            }
            for each in snapshot.inputs
        ],
        "compared": dict(snapshot.compared),
        "operators": list(snapshot.operators),
        "counterexamples": [_plain_pinned(each) for each in snapshot.pinned()],
    }


def _plain_pinned(pinned: Pinned) -> dict[str, Any]:
    value, known = pinned
    return {"id": known.id, **value}


def _plain_change(change: SnapshotChange) -> dict[str, Any]:
    """What became of a test, as plain data."""
    gone, came = change.counterexamples
    return {
        "test": change.test,
        "status": change.status,
        "former": change.former or None,
        "fields": _plain_pairs(change.fields),
        "prompt": None if change.prompt is None else dict(zip(_SIDES, change.prompt, strict=True)),
        "inputs": dict(change.inputs),
        "answers": [
            {"input": each.case, "before": _plain_sample(each.before), "now": _plain_sample(each.now)}
            for each in change.answers
        ],
        "trials": [
            {"input": each.case, "trial": each.trial, "before": each.before or None, "now": each.now or None}
            for each in change.trials
        ],
        "compared": _plain_pairs(change.compared),
        "operators": dict(zip(_SIDES, map(list, change.operators), strict=True)),
        "counterexamples": {"before": [*map(_plain_pinned, gone)], "now": [*map(_plain_pinned, came)]},
    }


_SIDES = ("before", "now")


def _plain_pairs(pairs: Mapping[str, tuple[Any, Any]]) -> dict[str, dict[str, Any]]:
    return {name: dict(zip(_SIDES, each, strict=True)) for name, each in pairs.items()}


def _plain_sample(one: Sample | None) -> dict[str, Any] | None:
    return None if one is None else one._asdict()
