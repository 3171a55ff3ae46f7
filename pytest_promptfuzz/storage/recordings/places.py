"""Where recordings lie: ``__promptfuzz__/<module>.calls.jsonl`` beside the test module; whose calls they hold."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


FOLDER = "__promptfuzz__"


ENDING = ".calls.jsonl"


GZIPPED = ENDING + ".gz"


def recording_of(module: Path) -> Path:
    """The recording of a test module, whether or not it exists; compressed, where only that exists.

    >>> recording_of(Path("tests/test_it.py")).as_posix()
    'tests/__promptfuzz__/test_it.calls.jsonl'
    """
    plain = module.parent / FOLDER / f"{module.name.removesuffix('.py')}{ENDING}"
    gzipped = plain.with_name(plain.name + ".gz")
    return gzipped if not _exists(plain) and _exists(gzipped) else plain


def is_recording(path: Path) -> bool:
    """Whether a path is named like a recording."""
    return path.name.endswith((ENDING, GZIPPED))


def recordings_below(roots: Iterable[Path], skip: Iterable[str] = ()) -> list[Path]:
    """Every recording in the folders of ``roots`` and below, in order; a root may be a file in such a folder.

    Args:
        roots: Folders, or test modules.
        skip: Names of folders, with wildcards, that are not looked into.
    """
    found: set[Path] = set()
    for root in roots:
        if root.is_dir():
            found.update(_below(root, tuple(skip)))
        elif _exists(path := recording_of(root)):
            found.add(path)
    return sorted(found)


def folders_of_project(root: Path, skip: Iterable[str] = ()) -> list[Path]:
    """Every folder of recordings and snapshots in a project, in order.

    Args:
        root: Of the project.
        skip: Names of folders, with wildcards, that are not looked into.
    """
    from fnmatch import fnmatch

    found: list[Path] = []
    for folder, folders, _ in os.walk(root):
        if FOLDER in folders:
            found.append(Path(folder, FOLDER))
        folders[:] = [
            name for name in folders if name != FOLDER and not any(fnmatch(name, each) for each in skip)
        ]
    return sorted(found)


def _below(root: Path, skip: tuple[str, ...]) -> Iterable[Path]:
    from fnmatch import fnmatch

    closed: list[Path] = []

    def failed(error: OSError) -> None:
        if (folder := Path(str(error.filename))).name == FOLDER:
            closed.append(folder)  # nobody can tell that there is none

    for folder, folders, files in os.walk(root, onerror=failed):
        if Path(folder).name == FOLDER:
            # Whatever stands in a recording's place is one: a folder there must not pass for no recording.
            yield from (Path(folder, name) for name in [*files, *folders] if is_recording(Path(name)))
        folders[:] = sorted(
            name for name in folders if name == FOLDER or not any(fnmatch(name, each) for each in skip)
        )
    yield from closed


def _exists(path: Path) -> bool:
    return os.path.lexists(path)


def module_of(recording: Path) -> Path:
    """The test module that a recording belongs to, whether or not it exists."""
    name = recording.name.removesuffix(".gz").removesuffix(ENDING)
    folder = recording.parent.parent
    return folder / name if (folder / name).is_file() else folder / f"{name}.py"


# Runs that are no trials of a plan.


EMBEDDER, JUDGE, SHRINKING = "embedder", "judge", "shrinking"
BESIDE = {EMBEDDER: "the embedder", JUDGE: "the judge", SHRINKING: "the search for a smaller change"}
"""What stands in the place of a trial's ID in what no plan names, and what it is called."""
