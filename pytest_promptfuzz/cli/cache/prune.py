"""``promptfuzz cache prune`` and ``cache clear``: delete recordings, snapshots and stored answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.cache.stats import (
    add_paths,
    add_store,
    age,
    ago,
    agreed,
    day,
    recordings_in,
    size,
    sized,
)
from pytest_promptfuzz.cli.options import add_output_options
from pytest_promptfuzz.errors import StoreError, UsageError, nearest
from pytest_promptfuzz.history.snapshots import (
    files_in,
    folder_of,
    folders_below,
    module_of_snapshots,
    path_of,
    read,
)
from pytest_promptfuzz.history.snapshots import remove as remove_snapshot
from pytest_promptfuzz.judging import meaning
from pytest_promptfuzz.reporting.terminal.styled_text import HANG, Line
from pytest_promptfuzz.storage import disk_store
from pytest_promptfuzz.storage.disk_store import StoredEntry, kept_answers, remove
from pytest_promptfuzz.storage.recordings.files import RecordingFile, without_tests
from pytest_promptfuzz.storage.recordings.places import module_of, recording_of
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_promptfuzz.cli.options import Output


# Which recorded tests pytest still collects: asked of pytest itself, in a process of its own.


_PLUGIN = "pytest_promptfuzz.plugin.collection"
_VARIABLE = "PROMPTFUZZ_COLLECTED"
_NO_TESTS = 5  # pytest's exit code
_SHOWN = 12


def collected(recordings: Iterable[Path]) -> dict[Path, dict[str, bool]]:
    """The tests that exist, by recording, as :func:`existing` has them; of a module that is gone, none.

    Raises:
        UsageError: pytest cannot collect them, so that nothing is known of what exists.
    """
    return existing({path: module_of(path) for path in recordings})


def existing(modules: Mapping[Path, Path]) -> dict[Path, dict[str, bool]]:
    """The tests that exist, by what is kept of them, each with whether it may have a snapshot.

    Args:
        modules: The test module of each.

    Raises:
        UsageError: As :func:`collected`.
    """
    there = sorted({module for module in modules.values() if module.is_file()})
    found: dict[Path, dict[str, bool]] = {}
    for name, test, keeps in _ask(there) if there else ():
        found.setdefault(Path(name).resolve(), {})[test] = keeps
    return {path: found.get(module.resolve(), {}) for path, module in modules.items()}


def _ask(modules: list[Path]) -> list[tuple[str, str, bool]]:
    with tempfile.TemporaryDirectory(prefix="promptfuzz-") as folder:
        answer = Path(folder) / "collected.json"
        done = subprocess.run(  # noqa: S603 - our own interpreter, and files that exist
            [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", _PLUGIN, "-p", "no:cacheprovider"]
            + [str(each) for each in modules],
            env={**os.environ, _VARIABLE: str(answer)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if done.returncode not in {0, _NO_TESTS} or not answer.exists():
            said = "\n".join(done.stdout.decode("utf-8", "replace").strip().splitlines()[-_SHOWN:])
            raise UsageError(
                "pytest cannot collect the recorded tests, so it is unknown which tests still exist. Name the tests to "
                f"delete with --test. pytest printed:\n{said}"
            )
        found: list[tuple[str, str, bool]] = json.loads(answer.read_text(encoding="utf-8"))
        return found


# Snapshots of tests that are gone, for ``promptfuzz cache prune``.


def folders_in(paths: Sequence[str]) -> list[Path]:
    """The folders of snapshots that paths name: of a module, or all of a folder; without any, of this folder."""
    found: dict[Path, None] = {}
    for path in map(Path, paths or ["."]):
        if path.is_dir():
            found.update(dict.fromkeys(folders_below(path)))
        elif path.suffix == ".py" and folder_of(path).is_dir():
            found[folder_of(path)] = None
    return list(found)


def without_snapshots_alone(paths: Sequence[str]) -> list[str]:
    """The paths but for modules that have snapshots and no recording: of those there is none to be asked for."""
    from pytest_promptfuzz.storage.recordings.places import recordings_below

    return [
        each
        for each in paths
        if not (
            each.endswith(".py") and folder_of(Path(each)).is_dir() and not recordings_below([Path(each)])
        )
    ]


def gone_in(folders: Sequence[Path]) -> tuple[dict[Path, tuple[str, str]], dict[str, list[str]]]:
    """The snapshots of tests that pytest does not collect any more.

    A file that cannot be read stays, whatever it holds, and so does one that a test of its module without a snapshot
    may have had under another name.

    Returns:
        By file, the test and why; and those tests whose snapshots stay, each with the ones that may be it by now.

    Raises:
        UsageError: pytest cannot collect them, so that nothing is known of what exists.
    """
    exist = existing({folder: module_of_snapshots(folder) for folder in folders})
    found: dict[Path, tuple[str, str]] = {}
    stay: dict[str, list[str]] = {}
    for folder in folders:
        module = module_of_snapshots(folder)
        bare = [each for each, keeps in exist[folder].items() if keeps and not path_of(module, each).exists()]
        why = "pytest does not collect it" if module.is_file() else f"{module} is gone"
        for path in files_in(folder):
            try:
                snapshot = read(path)
            except StoreError:
                continue
            if snapshot is None or snapshot.test in exist[folder]:
                continue
            if bare:
                stay[f"{module}::{snapshot.test}"] = bare
            else:
                found[path] = (f"{module}::{snapshot.test}", why)
    return found, stay


def named_in(names: Sequence[str]) -> dict[Path, tuple[str, str]]:
    """The snapshots of named tests, ``FILE::TEST``; of all parameters, where none is named."""
    found: dict[Path, tuple[str, str]] = {}
    for name in names:
        module, _, wanted = name.partition("::")
        for path in files_in(folder_of(Path(module))):
            try:
                snapshot = read(path)
            except StoreError:
                continue
            if snapshot is not None and (snapshot.test == wanted or snapshot.test.startswith(f"{wanted}[")):
                found[path] = (f"{module}::{snapshot.test}", "named")
    return found


def add_prune_parser(actions: argparse._SubParsersAction[Any]) -> None:
    """The action's arguments."""
    parser = actions.add_parser(
        "prune",
        help="delete old answers, and recordings and snapshots of deleted tests",
        description=(
            "promptfuzz cache prune: delete old answers, and recordings and snapshots of deleted tests."
        ),
        allow_abbrev=False,
    )
    add_paths(parser)
    group = parser.add_argument_group(
        "what to delete (by default recordings and snapshots of tests that pytest no longer collects)"
    )
    group.add_argument(
        "--test",
        action="append",
        default=[],
        metavar="FILE::TEST",
        help="recording and snapshot of this test; without [parameters], of all its parameters",
    )
    group.add_argument(
        "--older-than", type=age, metavar="AGE", help="answers older than AGE: 36h, 90d, 8w or 1y"
    )
    group.add_argument(
        "--cache", action="store_true", help="delete from the local cache instead of recordings"
    )
    group.add_argument(
        "--max-size",
        type=size,
        metavar="SIZE",
        help="with --cache: the oldest answers, until SIZE is left: 500KB, 20MB or 1GB",
    )
    group.add_argument("--damaged", action="store_true", help="with --cache: entries that cannot be used")
    parser.add_argument(
        "--yes", action="store_true", help="delete; without this option, only show what would be deleted"
    )
    add_store(parser)
    add_output_options(parser)
    parser.set_defaults(execute=execute_prune)


def execute_prune(options: argparse.Namespace, output: Output) -> int:
    """Show or remove; returns the exit code.

    Raises:
        PromptfuzzError: Options contradict each other, tests cannot be collected, or files not be written.
    """
    if options.cache:
        return _prune_cache(options, output)
    if options.max_size is not None or options.damaged:
        name = "--damaged" if options.damaged else "--max-size"
        raise UsageError(f"{name} is for the local cache. Add --cache.")
    if options.test and (options.paths or options.older_than is not None):
        raise UsageError("--test cannot stand with paths or --older-than. Leave them out.")
    snapshots, stay = _snapshots(options)
    going = _named(options.test, snapshots) if options.test else _found(options)
    if options.yes:
        for path, tests in going.items():
            without_tests(path, set(tests))
        for path in snapshots:
            remove_snapshot(path)
    if options.json:
        gone = {str(path): {each[0]: each[1]} for path, each in snapshots.items()}
        recorded = {str(path): those for path, those in going.items()}
        output.json({"removed": options.yes, "tests": recorded, "snapshots": gone, "kept": stay})
    else:
        output.lines(_lines(going, snapshots, done=options.yes) + _kept_lines(stay))
    return 0


def _snapshots(options: argparse.Namespace) -> tuple[dict[Path, tuple[str, str]], dict[str, list[str]]]:
    """The snapshots that go, by file the test and why, and those that stay; none by age, for they have none."""
    if options.test:
        return named_in(options.test), {}
    folders = folders_in(options.paths) if options.older_than is None else []
    return gone_in(folders) if folders else ({}, {})


def _kept_lines(stay: dict[str, list[str]]) -> list[Line]:
    """The snapshots that may be of a test with another name."""
    if not stay:
        return []
    said = f"Kept the snapshots of {counted(len(stay), 'test')}, which may have another name now:"
    return [
        [(said, "heading")],
        *(
            [
                ("  ", "plain"),
                HANG,
                (f"{test}: {', '.join(bare)} of the same module has no snapshot", "plain"),
            ]
            for test, bare in stay.items()
        ),
        [("Run pytest --promptfuzz-update on them first, or name the snapshot with --test.", "plain")],
    ]


def _found(options: argparse.Namespace) -> dict[Path, dict[str, str]]:
    """What goes, and why, by recording and test."""
    paths = without_snapshots_alone(options.paths)
    recordings = recordings_in(paths) if paths or not options.paths else []
    going: dict[Path, dict[str, str]] = {}
    if options.older_than is None:
        exist = collected(recordings)
        for path in recordings:
            module = module_of(path)
            why = "pytest does not collect it" if module.is_file() else f"{module} is gone"
            gone = [test for test in RecordingFile(path).tests if test not in exist[path]]
            if gone:
                going[path] = dict.fromkeys(gone, why)
        return going
    limit = time.time() - options.older_than
    for path in recordings:
        file = RecordingFile(path)
        for test in file.tests:
            times = [each.answer.created for each in file.read(test).entries]
            if times and max(times) < limit:
                going.setdefault(path, {})[test] = f"answered {day(max(times))}, {ago(max(times))}"
    return going


def _named(names: list[str], snapshots: dict[Path, tuple[str, str]]) -> dict[Path, dict[str, str]]:
    going: dict[Path, dict[str, str]] = {}
    for name in names:
        module, _, wanted = name.partition("::")
        path = recording_of(Path(module))
        if not path.exists() and any(
            each.partition("[")[0] == name.partition("[")[0] for each, _ in snapshots.values()
        ):
            continue
        if not wanted or not path.exists():
            reason = f"{path} does not exist" if wanted else "write FILE::TEST"
            raise UsageError(f"--test {name}: {reason}.")
        tests = RecordingFile(path).tests
        those = [test for test in tests if test == wanted or test.startswith(f"{wanted}[")]
        if not those:
            raise UsageError(f"--test {name}: {path} has no such test. {nearest(wanted, tests)}")
        going.setdefault(path, {}).update(dict.fromkeys(those, "named"))
    return going


def _lines(
    going: dict[Path, dict[str, str]], snapshots: dict[Path, tuple[str, str]], *, done: bool
) -> list[Line]:
    lines: list[Line] = [
        [("  ", "plain"), HANG, (f"{module_of(path)}::{test}: {why}", "plain")]
        for path, tests in going.items()
        for test, why in tests.items()
    ]
    count, verb = sum(map(len, going.values())), "Removed" if done else "Would remove"
    if not count and not snapshots:
        return [[("Nothing to remove.", "plain")]]
    heads: list[Line] = (
        [[(f"{verb} the recordings of {counted(count, 'test')}:", "heading")]] if count else []
    )
    tail: list[Line] = [] if done else [[("Nothing was changed; --yes removes them.", "plain")]]
    if snapshots:
        tail = [
            [(f"{verb} the snapshots of {counted(len(snapshots), 'test')}:", "heading")],
            *([("  ", "plain"), HANG, (f"{test}: {why}", "plain")] for test, why in snapshots.values()),
            *tail,
        ]
    return [*heads, *lines, *tail]


def _prune_cache(options: argparse.Namespace, output: Output) -> int:
    if options.paths or options.test:
        raise UsageError("--cache is for the local cache, which has no tests. Leave paths and --test out.")
    if options.older_than is None and options.max_size is None and not options.damaged:
        raise UsageError("--cache: name what to delete: --older-than 90d, --max-size 200MB or --damaged.")
    going = _old(list(kept_answers(options.cache_dir)), options)
    if options.yes and going:
        remove(options.cache_dir, [each.key for each in going])
    if options.json:
        output.json({"removed": options.yes, "entries": [each.key for each in going]})
        return 0
    if not going:
        output.lines([[("Nothing to remove.", "plain")]])
        return 0
    held = f"{counted(len(going), 'answer')} of the local cache, {sized(sum(each.size for each in going))}"
    output.lines([[(f"{'Removed' if options.yes else 'Would remove'} {held}.", "plain")]])
    if not options.yes:
        output.lines([[("Nothing was changed; --yes removes them.", "plain")]])
    return 0


def _old(entries: list[StoredEntry], options: argparse.Namespace) -> list[StoredEntry]:
    """Those that go, the damaged ones first, then the oldest."""
    damaged = [each for each in entries if each.answer is None]
    aged = sorted(
        ((each.answer.created, each.key, each) for each in entries if each.answer is not None),
        key=lambda row: row[:2],
    )
    going = damaged if options.damaged else []
    stay = sum(each.size for each in entries) - sum(each.size for each in going)
    limit = None if options.older_than is None else time.time() - options.older_than
    for created, _, each in aged:
        too_old = limit is not None and created < limit
        too_much = options.max_size is not None and stay > options.max_size
        if too_old or too_much:
            going.append(each)
            stay -= each.size
    return going


# ``promptfuzz cache clear``: delete all answers of the local cache; recordings stay.


def add_clear_parser(actions: argparse._SubParsersAction[Any]) -> None:
    """The action's arguments."""
    parser = actions.add_parser(
        "clear",
        help="delete all answers of the local cache; recordings stay",
        description="promptfuzz cache clear: delete all answers of the local cache; recordings stay.",
        allow_abbrev=False,
    )
    add_store(parser)
    parser.add_argument("--yes", action="store_true", help="delete without asking")
    add_output_options(parser)
    parser.set_defaults(execute=execute_clear)


def execute_clear(options: argparse.Namespace, output: Output) -> int:
    """Ask, and empty; returns the exit code.

    Raises:
        PromptfuzzError: It cannot be emptied, or nobody can be asked.
    """
    try:
        entries = list(disk_store.kept_answers(options.cache_dir))
        held = f"{counted(len(entries), 'answer')}, {sized(sum(each.size for each in entries))}"
        count: int | None = len(entries)
        if embedded := meaning.vectors_size(options.cache_dir):
            held += f", and {sized(embedded)} of vectors"
    except StoreError:
        count, held = None, "damaged: what is in it cannot be counted"
    done = (count != 0 or meaning.vectors_size(options.cache_dir) > 0) and agreed(
        f"Remove the local cache {options.cache_dir} ({held})? You pay for its answers again if you need them.",
        yes=options.yes,
        stream=sys.stdin,
    )
    if done:
        disk_store.clear_store(options.cache_dir)
        meaning.clear_vectors(options.cache_dir)
    if options.json:
        output.json({"removed": count if done else 0})
    else:
        said = f"Removed: {held}." if done else "Nothing was removed."
        output.lines([[(f"{options.cache_dir}: {said} Recordings stay as they are.", "plain")]])
    return 0
