"""Counterexamples that every run keeps by itself, to be asked first when their test runs again.

They lie in ``.promptfuzz/counterexamples/``: a small JSON file for each test, on this machine and out of git. What is
pinned lies in git, in the test's snapshot.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import StoreError, UsageError
from pytest_promptfuzz.files import encoded, make_directory, read_text
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.results.counterexamples import KnownCounterexample
from pytest_promptfuzz.storage.recordings.files import write_whole
from pytest_promptfuzz.wording.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FORMAT = 1
LOCAL = "counterexamples"
"""The folder of what runs keep by themselves, in that of stored answers."""
MOST = 20
"""How many of one test are kept by themselves: the newest."""


@dataclass(slots=True)
class KeptTest:
    """What a run has kept of a test.

    Attributes:
        test: Its node ID.
        found: The counterexamples that are known, the newest last.
        trials: IDs of the trials that deviated in its last run.
    """

    test: str
    found: list[KnownCounterexample] = field(default_factory=list)
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

    def read(self, test: str) -> KeptTest:
        """What is kept of a test.

        Raises:
            StoreError: Its file cannot be read, is damaged, or of a newer version.
        """
        path = self.path_of(test)
        return _read_local(path) or KeptTest(test)

    def every(self) -> Iterator[KeptTest | StoreError]:
        """What is wrong with files that cannot be read; then what is kept of each test, in the order of their names."""
        kept: list[KeptTest] = []
        for path in sorted(self.folder.glob("*.json")):
            try:
                each = _read_local(path)
            except StoreError as error:
                yield error
                continue
            if each is not None:
                kept.append(each)
        yield from sorted(kept, key=lambda each: each.test)

    def write(self, kept: KeptTest) -> str:
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
            note = sentence(Note.of("history:put-aside", problem=str(error), name=aside.name))
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
            "promptfuzz": LOCAL,
            "format": FORMAT,
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


def _read_local(path: Path) -> KeptTest | None:
    mend = "Delete it: the next run finds the counterexamples again."
    try:
        content = json.loads(read_text(path))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(f"{path} cannot be read ({error}). {mend}") from None
    if not isinstance(content, dict) or content.get("promptfuzz") != LOCAL:
        raise StoreError(f"{path} is not a file of counterexamples. {mend}")
    if content.get("format") != FORMAT:
        raise StoreError(
            f"{path} has format {content.get('format')!r}, but this version of pytest-promptfuzz reads "
            f"{FORMAT}. Use the version that wrote it, or delete it."
        )
    test, found, trials = content.get("test"), content.get(LOCAL), content.get("trials")
    if not isinstance(test, str) or not isinstance(found, list) or not _are_texts(trials):
        raise StoreError(f"{path} is damaged. {mend}")
    try:
        return KeptTest(test, [KnownCounterexample.from_json(each) for each in found], list(trials or ()))
    except UsageError as error:
        raise StoreError(f"{path} is damaged: {error} {mend}") from None


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
