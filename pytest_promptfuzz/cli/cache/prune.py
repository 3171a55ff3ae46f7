"""``promptfuzz cache prune``: delete recordings and snapshots of tests that are gone, or old answers."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.cache.common import (
    add_paths,
    add_store,
    age,
    ago,
    counted,
    day,
    recordings_in,
    size,
    sized,
)
from pytest_promptfuzz.cli.cache.snapshots import folders_in, gone_in, named_in, without_snapshots_alone
from pytest_promptfuzz.cli.options import add_output_options, plain
from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.history.snapshots import remove as remove_snapshot
from pytest_promptfuzz.reporting.text import HANG, Line
from pytest_promptfuzz.wire.recordings.places import recording_of
from pytest_promptfuzz.wire.recordings.pruning import module_of, without_tests
from pytest_promptfuzz.wire.recordings.reading import RecordingFile
from pytest_promptfuzz.wire.shelf import Kept, kept, remove

if TYPE_CHECKING:
    import argparse

    from pytest_promptfuzz.cli.output import Output


def add_parser(actions: argparse._SubParsersAction[Any]) -> None:
    """The action's arguments."""
    parser = actions.add_parser(
        "prune",
        help="delete recordings and snapshots of tests that are gone, or old answers",
        description=plain(__doc__),
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
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace, output: Output) -> int:
    """Show or remove; returns the exit code.

    Raises:
        PromptfuzzError: Options contradict each other, tests cannot be collected, or files not be written.
    """
    if options.cache:
        return _prune_cache(options, output)
    if options.max_size is not None or options.damaged:
        name = "--damaged" if options.damaged else "--max-size"
        raise UsageError(f"{name} is for the local cache; write --cache with it.")
    if options.test and (options.paths or options.older_than is not None):
        raise UsageError("--test names what goes; leave the paths and --older-than out.")
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
    said = f"Kept the snapshots of {counted(len(stay), 'test')}, which may have another name by now:"
    return [
        [(said, "heading")],
        *(
            [
                ("  ", "plain"),
                HANG,
                (f"{test}: {', '.join(bare)} of that module has none of its own", "plain"),
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
        from pytest_promptfuzz.cli.cache.collecting import collected

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
            reason = f"{path} does not exist" if wanted else "it names no test; write FILE::TEST"
            raise UsageError(f"--test {name}: {reason}.")
        tests = RecordingFile(path).tests
        those = [test for test in tests if test == wanted or test.startswith(f"{wanted}[")]
        if not those:
            raise UsageError(f"--test {name}: {path} records no such test. {nearest(wanted, tests)}")
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
        raise UsageError("--cache prunes the local cache, which knows no tests; leave paths and --test out.")
    if options.older_than is None and options.max_size is None and not options.damaged:
        raise UsageError("--cache: say what goes: --older-than 90d, --max-size 200MB or --damaged.")
    going = _old(list(kept(options.cache_dir)), options)
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


def _old(entries: list[Kept], options: argparse.Namespace) -> list[Kept]:
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
