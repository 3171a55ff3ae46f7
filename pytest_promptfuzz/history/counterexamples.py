"""Counterexamples that are kept, to be asked first when their test runs again.

Every run keeps what it finds by itself, in ``.promptfuzz/counterexamples/``: a small JSON file for each test, on this
machine and out of git. What is pinned lies in git, ``__promptfuzz__/<module>.counterexamples.jsonl`` beside the test
module, one counterexample a line, in the order of tests and IDs::

    {"promptfuzz": "counterexamples", "format": 1}
    {"test": "test_triage", "id": "4d0b7c61c5a1", "target": "openai:gpt-5-mini", "mutation": {…}, …}
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import StoreError, UsageError
from pytest_promptfuzz.history.rows import Kind, encoded
from pytest_promptfuzz.scoring.replayed import Known
from pytest_promptfuzz.wire.folder import make_directory
from pytest_promptfuzz.wire.recordings.places import FOLDER
from pytest_promptfuzz.wire.recordings.writing import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

KIND = Kind("counterexamples", "counterexample of a test", 1)
LOCAL = "counterexamples"
"""The folder of what runs keep by themselves, in that of stored answers."""
MOST = 20
"""How many of one test are kept by themselves: the newest."""


@dataclass(slots=True)
class Kept:
    """What a run has kept of a test.

    Attributes:
        test: Its node ID.
        found: The counterexamples that are known, the newest last.
        trials: IDs of the trials that deviated in its last run.
    """

    test: str
    found: list[Known] = field(default_factory=list)
    trials: list[str] = field(default_factory=list)


class LocalCounterexamples:
    """What runs on this machine have kept.

    Args:
        folder: That of stored answers.
    """

    def __init__(self, folder: Path) -> None:
        self._stored = folder
        self.folder = folder / LOCAL

    def path_of(self, test: str) -> Path:
        """The file of a test, whether or not it exists."""
        return self.folder / f"{hashlib.sha256(test.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}.json"

    def read(self, test: str) -> Kept:
        """What is kept of a test.

        Raises:
            StoreError: Its file cannot be read, is damaged, or of a newer version.
        """
        path = self.path_of(test)
        return _read_local(path) or Kept(test)

    def every(self) -> Iterator[Kept | StoreError]:
        """What is wrong with files that cannot be read; then what is kept of each test, in the order of their names."""
        kept: list[Kept] = []
        for path in sorted(self.folder.glob("*.json")):
            try:
                each = _read_local(path)
            except StoreError as error:
                yield error
                continue
            if each is not None:
                kept.append(each)
        yield from sorted(kept, key=lambda each: each.test)

    def write(self, kept: Kept) -> str:
        """Keep this of a test in the place of what was kept; nothing leaves no file.

        Returns:
            What became of a file that could not be read: it stays beside, under another name. Empty where there was
            none.

        Raises:
            StoreError: It cannot be written.
        """
        path, note = self.path_of(kept.test), ""
        try:
            self.read(kept.test)
        except StoreError as error:
            aside = path.with_name(f"{path.name}.damaged")
            note = f"{error} It was put aside as {aside.name}."
            try:
                path.replace(aside)
            except OSError as failed:
                raise StoreError(f"{path} cannot be put aside ({failed.strerror or failed}).") from None
        if not kept.found and not kept.trials:
            try:
                path.unlink(missing_ok=True)
            except OSError as failed:
                raise StoreError(f"{path} cannot be deleted ({failed.strerror or failed}).") from None
            return note
        found = [each.to_json() for each in kept.found[-MOST:]]
        content = {
            "promptfuzz": KIND.name,
            "format": KIND.format,
            "test": kept.test,
            LOCAL: found,
            "trials": kept.trials,
        }
        try:
            make_directory(self._stored)
        except OSError as failed:
            raise StoreError(f"{self._stored} cannot be written ({failed.strerror or failed}).") from None
        write_whole(path, encoded(content) + b"\n", attributes=False)
        return note


def _read_local(path: Path) -> Kept | None:
    mend = "Delete it: what breaks the test is found anew."
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} cannot be read ({error}). {mend}") from None
    if not isinstance(content, dict) or content.get("promptfuzz") != KIND.name:
        raise StoreError(f"{path} holds no counterexamples. {mend}")
    if content.get("format") != KIND.format:
        raise StoreError(
            f"{path} is of format {content.get('format')!r}, and this version of pytest-promptfuzz reads "
            f"{KIND.format}. Use the version that wrote it, or delete it."
        )
    test, found, trials = content.get("test"), content.get(LOCAL), content.get("trials")
    if not isinstance(test, str) or not isinstance(found, list) or not _are_texts(trials):
        raise StoreError(f"{path} is damaged. {mend}")
    try:
        return Kept(test, [Known.from_json(each) for each in found], list(trials or ()))
    except UsageError as error:
        raise StoreError(f"{path} is damaged ({error}) {mend}") from None


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def file_of(module: Path) -> Path:
    """Where the pinned counterexamples of a test module's tests lie, whether or not the file exists."""
    return KIND.file_of(module)


def files_below(root: Path) -> list[Path]:
    """Every such file in a folder and below, in order; folders whose names begin with a dot are not looked into."""
    import os

    found: list[Path] = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "node_modules"]
        here = type(root)(folder)
        if here.name == FOLDER:
            found += [here / name for name in files if name.endswith(f".{KIND.name}.jsonl")]
    return sorted(found)


def module_of(path: Path) -> Path:
    """The test module that such a file stands beside."""
    return path.parent.parent / f"{path.name.removesuffix(f'.{KIND.name}.jsonl')}.py"


def read(path: Path) -> dict[str, list[Known]]:
    """The pinned counterexamples in a file, by test; nothing where there is none.

    Raises:
        StoreError: It cannot be read, holds conflict markers or other damage, or is of another version.
    """
    found: dict[str, list[Known]] = {}
    for number, each in KIND.read(path):
        if not isinstance(each, dict) or not isinstance(each.get("test"), str):
            raise KIND.damaged(path, number)
        try:
            one = Known.from_json(each)
        except UsageError as error:
            raise KIND.damaged(path, number, str(error).rstrip(".")) from None
        same = found.setdefault(each["test"], [])
        if one.id not in {other.id for other in same}:  # both sides of a merge may have pinned it
            same.append(one)
    return found


def merge(path: Path, tests: Mapping[str, Iterable[Known]]) -> int:
    """Put the counterexamples of some tests in the place of what a file held of them; those of others stay.

    A file that would hold none is deleted, or not made.

    Returns:
        How many are pinned of these tests now.

    Raises:
        StoreError: As :func:`read`, or it cannot be written. It is as it was.
    """
    merged = {**read(path), **{test: list(found) for test, found in tests.items()}}
    rows = [
        {"test": test, "id": each.id, **each.to_json()}
        for test in sorted(merged)
        for each in sorted({one.id: one for one in merged[test]}.values(), key=lambda one: one.id)
    ]
    if rows:
        KIND.write(path, rows)
    elif path.exists():
        try:
            path.unlink()
        except OSError as failed:
            raise StoreError(f"{path} cannot be deleted ({failed.strerror or failed}).") from None
    return sum(row["test"] in tests for row in rows)
