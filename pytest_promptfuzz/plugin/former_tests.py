"""Tests that have another name by now: renamed, moved to another module, or with other IDs of parameters.

What is recorded and accepted of them stands under their former names, and is found by what they ask. Snapshots that are
no test's any more are told from those of tests that were merely not selected.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.plugin.marks import is_robust

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from pytest_promptfuzz.history.snapshots import FormerSnapshot, Snapshot
    from pytest_promptfuzz.storage.recordings.files import RecordingFile
    from pytest_promptfuzz.storage.recordings.former_tests import FormerRecordings


@dataclass(slots=True)
class FormerTests:
    """Tells which tests are gone, and where what was stored of them may lie.

    Attributes:
        root: Of the project.
        skip: Names of folders that are not looked into.
        recordings: The tests that were given answers from the recording of a test with another name, and that name.
        nodes: The same, with the module.
        asks: Whether tests that this process ran still ask what their snapshots say, by node ID.
    """

    root: Path
    skip: tuple[str, ...] = ()
    recordings: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, str] = field(default_factory=dict)
    asks: dict[str, bool] = field(default_factory=dict)
    _names: dict[Path, set[str]] = field(default_factory=dict)
    _whole: bool = False
    _partly: set[Path] = field(default_factory=set)
    _folders: list[Path] | None = None
    _sources: dict[Path, str] = field(default_factory=dict)
    _snapshots: list[tuple[str, Snapshot, bool]] | None = None

    @classmethod
    def of(cls, config: pytest.Config) -> FormerTests:
        """The run's."""
        found = config.stash.get(_FORMER, None)
        if found is None:
            found = config.stash[_FORMER] = cls(config.rootpath, tuple(config.getini("norecursedirs")))
        return found

    def collected(self, nodeid: str) -> None:
        """A test was collected, whether or not it is deselected afterwards."""
        module, _, test = nodeid.partition("::")
        self._names.setdefault(self.root / module, set()).add(test)

    def finished(self, session: pytest.Session) -> None:
        """All tests were collected."""
        partly = tests_named(session.config)
        if partly is not None and not session.testsfailed and not session.config.getoption("lf", False):
            self._whole, self._partly = True, partly

    def to_json(self) -> dict[str, list[str]]:
        """The tests of each module that was collected whole, for the process that started this worker of xdist."""
        return {
            os.fspath(module): sorted(tests) for module, tests in self._names.items() if self._knows(module)
        }

    def add(self, known: Mapping[str, Sequence[str]]) -> None:
        """What a worker knows; all of them know the same."""
        self._whole = True
        self._names |= {self.root / module: set(tests) for module, tests in known.items()}

    def is_gone(self, module: Path, test: str) -> bool:
        """Whether it is certain that no test of a module has a name: the module is gone, or was collected whole.

        What stands under such a name is nobody's any more, and may be renamed.
        """
        if not module.is_file():
            return True
        return self._knows(module) and test not in self._names[module]

    def seems_gone(self, module: Path, test: str) -> bool:
        """The same, judged by the module's source where not all of its tests were collected.

        A test whose name stands nowhere in the source may be inherited, or imported with all that a module has.
        """
        if self._knows(module) or not module.is_file():
            return self.is_gone(module, test)
        if test in self._names.get(module, ()):
            return False
        *classes, function = test.partition("[")[0].split("::")
        places = [rf"\b{re.escape(function)}\b", r"\bimport \*"]
        places += [rf"\bclass {re.escape(each)}\(" for each in classes]
        return re.search("|".join(places), self._source(module)) is None

    def seems_gone_node(self, nodeid: str) -> bool:
        """The same by node ID."""
        module, _, test = nodeid.partition("::")
        return self.seems_gone(self.root / module, test)

    def _knows(self, module: Path) -> bool:
        """Whether all tests of a module were collected."""
        return self._whole and module in self._names and module not in self._partly

    def in_recordings(self) -> FormerRecordings | None:
        """The recordings of the project, in which tests are looked for by what they ask; ``None`` without any."""
        if not any(True for _ in self._recording_paths()):
            return None
        from pytest_promptfuzz.storage.recordings.former_tests import FormerRecordings

        return FormerRecordings(self._recordings, self.is_gone, self.seems_gone)

    def has_snapshots(self) -> bool:
        """Whether any snapshot is stored in the project."""
        return any(True for _ in self._snapshot_folders())

    def snapshots(self, nodeid: str) -> list[list[FormerSnapshot]]:
        """The snapshots of tests with another name, those likest to a test first.

        First come those of its function, since IDs of parameters shift: also of tests that are there and may ask
        something else by now. Then come those that are gone: of its module, of its function in others, and of others.

        Args:
            nodeid: The test.
        """
        from pytest_promptfuzz.history.snapshots import FormerSnapshot
        from pytest_promptfuzz.text.node_ids import function_of

        module, _, name = nodeid.partition("::")
        groups: list[list[FormerSnapshot]] = [[], [], [], []]
        for node, snapshot, lives in self._every_snapshot():
            there, _, test = node.partition("::")
            like, here = function_of(test) == function_of(name), there == module
            sibling = lives and node.partition("[")[0] == nodeid.partition("[")[0]
            if node == nodeid or (lives and not sibling) or (sibling and self.asks.get(node)):
                continue
            gone = not lives and self.is_gone(self.root / there, test)
            each = FormerSnapshot(node, snapshot, gone, sibling, node in self.asks)
            groups[(0 if like else 1) if here else 2 if like else 3].append(each)
        return groups

    def asked(self) -> dict[str, str]:
        """What the tests of all snapshots ask, by node ID."""
        return {node: snapshot.asked for node, snapshot, _ in self._every_snapshot()}

    def _every_snapshot(self) -> list[tuple[str, Snapshot, bool]]:
        """All that can be read, by node ID, and whether a test seems to have that name still."""
        if self._snapshots is None:
            from pytest_promptfuzz.history.snapshots import files_in, module_of_snapshots, read

            self._snapshots = []
            for folder in self._snapshot_folders():
                module = module_of_snapshots(folder)
                for path in files_in(folder):
                    try:
                        found = read(path)
                    except StoreError:
                        continue  # said where its own test is asked for
                    if found is not None:
                        node = node_of(self.root, module, found.test)
                        lives = not self.seems_gone(module, found.test)
                        self._snapshots.append((node, found, lives))
        return self._snapshots

    def _snapshot_folders(self) -> Iterator[Path]:
        yield from (each for each in self._stored() if each.suffix == ".snap")

    def _stored(self) -> Iterator[Path]:
        """What lies in the folders of recordings and snapshots."""
        for folder in self._found():
            try:
                yield from sorted(folder.iterdir())
            except OSError:
                continue  # said where a test of its own is asked for

    def see(self, report: pytest.TestReport) -> None:
        """A phase of a test is over."""
        former = getattr(report, "promptfuzz_former", "")
        if former:
            self.nodes[report.nodeid] = former
            self.recordings[report.nodeid] = short(report.nodeid, former)

    def lines(self, *, recorded: bool) -> Iterator[str]:
        """What the summary shows.

        Args:
            recorded: Whether this run writes recordings, and so the tests' own.
        """
        if not self.recordings:
            return
        if len(self.recordings) == 1:
            ((test, former),) = self.recordings.items()
            how = "" if recorded else "; --promptfuzz-mode=record-missing writes it under the new name"
            yield f"{test} uses the recording of {former}{how}"
            return
        pairs = [f"{test} (recorded as {former})" for test, former in self.recordings.items()]
        how = "" if recorded else "; --promptfuzz-mode=record-missing writes them under the new names"
        yield f"{some(pairs)} use the recordings of their former names{how}"

    def _recordings(self) -> Iterator[RecordingFile]:
        from pytest_promptfuzz.storage.recordings.files import RecordingFile

        yield from map(RecordingFile, self._recording_paths())

    def _recording_paths(self) -> Iterator[Path]:
        from pytest_promptfuzz.storage.recordings.places import is_recording

        yield from (each for each in self._stored() if is_recording(each) and each.is_file())

    def _found(self) -> list[Path]:
        """The folders of the project that hold recordings and snapshots; looked for once, when first needed."""
        if self._folders is None:
            from pytest_promptfuzz.storage.recordings.places import folders_of_project

            self._folders = folders_of_project(self.root, self.skip)
        return self._folders

    def _source(self, module: Path) -> str:
        if module not in self._sources:
            try:
                self._sources[module] = module.read_text(encoding="utf-8", errors="replace")
            except OSError:
                self._sources[module] = ""
        return self._sources[module]


def node_of(root: Path, module: Path, test: str) -> str:
    """The node ID of a test."""
    place = module.relative_to(root).as_posix() if module.is_relative_to(root) else os.fspath(module)
    return f"{place}::{test}"


def short(nodeid: str, former: str) -> str:
    """A former name, without the module where that is the same."""
    module, _, test = former.partition("::")
    return test if nodeid.startswith(f"{module}::") else former


# Snapshots whose tests are gone, told from those of tests that were merely not selected.


_NAMED = 3


def some(tests: Sequence[str]) -> str:
    """The first of some tests by name, and how many there are."""
    if len(tests) <= _NAMED:
        return ", ".join(tests)
    return f"{len(tests)} tests, among them {', '.join(tests[:_NAMED])}"


@dataclass(slots=True)
class OrphanSnapshots:
    """What pytest has collected, and the snapshots whose tests are not among it.

    Attributes:
        unused: Their files by module, as reports name it; where a whole module was not collected, nothing is known.
        bare: The tests of such modules that may have a snapshot and have none: one of those may be theirs.
        problems: A sentence for each test that two files claim to be of.
    """

    unused: dict[str, dict[str, str]] = field(default_factory=dict)
    bare: dict[str, list[str]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    _names: dict[str, dict[str, bool]] = field(default_factory=dict)

    @classmethod
    def of(cls, config: pytest.Config) -> OrphanSnapshots:
        """The run's."""
        return config.stash.setdefault(_ORPHANS, cls())

    def collected(self, item: pytest.Item) -> None:
        """An item was collected, whether or not it is deselected afterwards."""
        module, _, test = item.nodeid.partition("::")
        keeps = is_robust(item) and not hasattr(getattr(item, "obj", None), "hypothesis")
        self._names.setdefault(module, {})[test] = keeps

    def finished(self, session: pytest.Session) -> None:
        """All items were collected: look which snapshots belong to none of them."""
        config, names, self._names = session.config, self._names, {}
        if session.testsfailed or config.getoption("lf", False):
            return  # some tests were not collected, though they exist
        partly = tests_named(config)
        if partly is None:
            return
        for module, tests in names.items():
            path = config.rootpath / module
            if path in partly or not (path.parent / "__promptfuzz__").is_dir():
                continue
            self._look(path, module, tests)

    def _look(self, path: Path, module: str, tests: Mapping[str, bool]) -> None:
        from pytest_promptfuzz.history.snapshots import claimed_twice, files_in, folder_of, slug

        files = files_in(folder_of(path))
        if not files:
            return
        known = {slug(test): test for test in tests}
        others = [each for each in files if each.stem not in known]
        if not others:
            return
        self.problems += claimed_twice(files)
        for each in others:
            found = _test_of(each)
            if found not in known.values():
                self.unused.setdefault(module, {})[each.name] = found
        have = {each.stem for each in files}
        bare = [f"{module}::{test}" for name, test in known.items() if tests[test] and name not in have]
        if bare and module in self.unused:
            self.bare[module] = bare

    def lines(self, taken: Iterable[str], judged: Container[str]) -> list[str]:
        """What the summary shows.

        Args:
            taken: The tests whose snapshots were found to be of tests with another name, by node ID.
            judged: The tests whose prompts are known by now, by node ID.
        """
        said = [f"{each}." for each in self.problems]
        left = set(taken)
        open_ = {
            module: those
            for module, tests in sorted(self.bare.items())
            if (those := [each for each in tests if each not in judged])
        }
        for module, those in open_.items():
            maybe = [
                each for each in self.unused[module].values() if each and f"{module}::{each}" not in left
            ]
            if maybe:
                said.append(
                    f"{module} has a snapshot of {', '.join(maybe)}, which pytest does not collect any more; it may be "
                    f"that of a test which has none and another name: run {some(those)} before it is removed"
                )
        unused = [
            f"{module}::{test}" if test else f"{module} ({file}, which cannot be read)"
            for module, files in sorted(self.unused.items())
            if module not in open_
            for file, test in sorted(files.items())
            if f"{module}::{test}" not in left
        ]
        if unused:
            of = (
                "unused snapshot, of a test"
                if len(unused) == 1
                else f"{len(unused)} unused snapshots, of tests"
            )
            said.append(
                f"{of} that pytest does not collect any more: {', '.join(unused)}; promptfuzz cache prune shows what "
                "it would remove"
            )
        return said

    def to_json(self) -> dict[str, Any]:
        """What a worker of xdist knows, for the process that started it."""
        return {"unused": self.unused, "bare": self.bare, "problems": self.problems}

    def add(self, known: dict[str, Any]) -> None:
        """What a worker knows; all of them know the same."""
        self.unused |= known["unused"]
        self.bare |= known["bare"]
        self.problems = [*dict.fromkeys([*self.problems, *known["problems"]])]


def tests_named(config: pytest.Config) -> set[Path] | None:
    """The modules of which only some tests were asked for; ``None`` where that cannot be told."""
    found: set[Path] = set()
    for argument in config.args:
        name, some, _ = str(argument).partition("::")
        if not some:
            continue
        path = Path(os.path.normpath(config.invocation_params.dir / name))
        if not path.is_file():
            return None  # a name of --pyargs
        found.add(path)
    return found


def _test_of(path: Path) -> str:
    from pytest_promptfuzz.history.snapshots import read

    try:
        found = read(path)
    except StoreError:
        return ""
    return "" if found is None else found.test


_FORMER = pytest.StashKey[FormerTests]()
_ORPHANS = pytest.StashKey[OrphanSnapshots]()
