"""Snapshots of tests that are gone, for ``promptfuzz cache prune``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_promptfuzz.cli.cache.collecting import existing
from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.history.snapshots import files_in, folder_of, folders_below, module_of, path_of, read

if TYPE_CHECKING:
    from collections.abc import Sequence


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
    from pytest_promptfuzz.wire.recordings.places import recordings_below

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
    exist = existing({folder: module_of(folder) for folder in folders})
    found: dict[Path, tuple[str, str]] = {}
    stay: dict[str, list[str]] = {}
    for folder in folders:
        module = module_of(folder)
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
