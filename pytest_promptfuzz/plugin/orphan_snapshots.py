"""Snapshots whose tests are gone, told from those of tests that were merely not selected."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.plugin.marks import is_robust

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

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


_ORPHANS = pytest.StashKey[OrphanSnapshots]()
