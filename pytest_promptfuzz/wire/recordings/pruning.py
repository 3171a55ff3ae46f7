"""Taking tests out of a recording: only on request, the other tests' lines as they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.wire.recordings.places import ENDING
from pytest_promptfuzz.wire.recordings.reading import RecordingFile
from pytest_promptfuzz.wire.recordings.writing import merge

if TYPE_CHECKING:
    from pathlib import Path


def module_of(recording: Path) -> Path:
    """The test module that a recording belongs to, whether or not it exists."""
    name = recording.name.removesuffix(".gz").removesuffix(ENDING)
    folder = recording.parent.parent
    return folder / name if (folder / name).is_file() else folder / f"{name}.py"


def without_tests(path: Path, tests: set[str]) -> None:
    """Write a recording without some tests; one that holds no other is removed.

    Raises:
        StoreError: The file is damaged, or cannot be written. It is as it was.
    """
    file = RecordingFile(path)
    if not file.whole:
        raise StoreError(f"{file.problems[0]} Nothing of the file was removed; mend it first.")
    if set(file.tests) - tests:
        merge(path, {test: [] for test in tests})
        return
    try:
        path.unlink()
    except OSError as error:
        raise StoreError(f"{path} cannot be removed ({error.strerror or error}).") from None
