"""Tests that have another name by now: renamed, moved to another module, or with other IDs of parameters.

What is recorded and accepted of them stands under their former names. It is found by what they ask.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.plugin.orphan_snapshots import some, tests_named

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_promptfuzz.history.snapshots import FormerSnapshot
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
    """

    root: Path
    skip: tuple[str, ...] = ()
    recordings: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, str] = field(default_factory=dict)
    _names: dict[Path, set[str]] = field(default_factory=dict)
    _whole: bool = False
    _partly: set[Path] = field(default_factory=set)
    _folders: list[Path] | None = None
    _sources: dict[Path, str] = field(default_factory=dict)
    _snapshots: list[FormerSnapshot] | None = None

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

    def is_gone(self, module: Path, test: str) -> bool:
        """Whether no test of a module has a name any more."""
        if not module.is_file():
            return True
        if self._whole and module in self._names and module not in self._partly:
            return test not in self._names[module]
        return f"def {_function(test)}(" not in self._source(module)

    def is_gone_node(self, nodeid: str) -> bool:
        """The same by node ID."""
        module, _, test = nodeid.partition("::")
        return self.is_gone(self.root / module, test)

    def in_recordings(self) -> FormerRecordings | None:
        """The recordings of the project, in which tests are looked for by what they ask; ``None`` without any."""
        if not any(True for _ in self._recording_paths()):
            return None
        from pytest_promptfuzz.storage.recordings.former_tests import FormerRecordings

        return FormerRecordings(self._recordings, self.is_gone)

    def has_snapshots(self) -> bool:
        """Whether any snapshot is stored in the project."""
        return any(True for _ in self._snapshot_folders())

    def snapshots(self, nodeid: str) -> list[list[FormerSnapshot]]:
        """The snapshots of tests with another name, those likest to a test first.

        First come those of its function, whether or not they are gone, since IDs of parameters shift; then those that
        are gone: of its module, of its function in others, and of others.

        Args:
            nodeid: The test.
        """
        module, _, name = nodeid.partition("::")
        groups: list[list[FormerSnapshot]] = [[], [], [], []]
        for each in self._every_snapshot():
            there, _, test = each.test.partition("::")
            like, here = _function(test) == _function(name), there == module
            if each.test != nodeid and (each.gone or (like and here)):
                groups[(0 if like else 1) if here else 2 if like else 3].append(each)
        return groups

    def _every_snapshot(self) -> list[FormerSnapshot]:
        """All that can be read."""
        if self._snapshots is None:
            from pytest_promptfuzz.history.snapshots import (
                FormerSnapshot,
                files_in,
                module_of_snapshots,
                read,
            )

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
                        gone = self.is_gone(module, found.test)
                        self._snapshots.append(FormerSnapshot(node, found, gone))
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
            how = "" if recorded else "; --promptfuzz-mode=record-missing renames it without a call"
            yield f"{test} uses the recording of {former}{how}"
            return
        pairs = [f"{test} (recorded as {former})" for test, former in self.recordings.items()]
        how = "" if recorded else "; --promptfuzz-mode=record-missing renames them without a call"
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


def _function(test: str) -> str:
    return test.partition("[")[0].rpartition("::")[2]


def node_of(root: Path, module: Path, test: str) -> str:
    """The node ID of a test."""
    place = module.relative_to(root).as_posix() if module.is_relative_to(root) else os.fspath(module)
    return f"{place}::{test}"


def short(nodeid: str, former: str) -> str:
    """A former name, without the module where that is the same."""
    module, _, test = former.partition("::")
    return test if nodeid.startswith(f"{module}::") else former


_FORMER = pytest.StashKey[FormerTests]()
