"""What a recording run has been answered so far: one file a test, appended to, so that a killed run loses nothing."""

from __future__ import annotations

import hashlib
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.wire.recordings.entry import (
    Entry,
    Place,
    PlanEntry,
    answer_of_json,
    answer_to_json,
    sealed,
    unsealed,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.wire.answers import StoredAnswer

_KIND = "spool"
VERSION = 1
ENDING = ".spool.jsonl"


@dataclass(frozen=True, slots=True)
class Finished:
    """A test whose recording is complete and waits to be put into its file.

    Attributes:
        path: The spool.
        recording: The file it belongs into.
        test: The test, as pytest names it within its module.
        plans: Its plans.
        entries: Its exchanges.
    """

    path: Path
    recording: Path
    test: str
    plans: tuple[PlanEntry, ...]
    entries: tuple[Entry, ...]


class Spool:
    """The answers to one test, as they come.

    Args:
        folder: Where spools lie.
        recording: The file that the test's recording belongs into.
        test: The test, as pytest names it within its module.

    Attributes:
        kept: How many answers of an earlier run that did not come to its end are served again.

    Raises:
        StoreError: The spool cannot be read or begun.
    """

    def __init__(self, folder: Path, recording: Path, test: str) -> None:
        name = hashlib.sha256(f"{recording.as_posix()}\0{test}".encode("utf-8", "surrogatepass")).hexdigest()[
            :32
        ]
        self.path = folder / (name + ENDING)
        self.test = test
        self._answers: dict[str, StoredAnswer] = {}
        self._lock = threading.Lock()
        self._cut = False  # whether the file ends within a line: what comes next stays apart from it
        try:
            if self.path.exists():
                self._answers = _read(self.path)[1]
                self._cut = not self.path.read_bytes().endswith(b"\n")
            else:
                _make(folder)
                head = {"promptfuzz": _KIND, "version": VERSION, "recording": str(recording), "test": test}
                self._append(sealed(head))
        except OSError as error:
            raise StoreError(f"{self.path} cannot be written ({error.strerror or error}).") from None
        self.kept = len(self._answers)

    def get(self, key: str) -> StoredAnswer | None:
        """The answer under ``key``, or ``None``."""
        with self._lock:
            return self._answers.get(key)

    def keep(self, key: str, answer: StoredAnswer) -> None:
        """Append an answer; it is safe when this returns.

        Raises:
            StoreError: It cannot be written.
        """
        with self._lock:
            self._answers[key] = answer
            self._put(sealed(answer_to_json(key, answer)))

    def end(self, plans: list[PlanEntry], places: dict[str, Place]) -> None:
        """The test is complete: what its recording is made of.

        Raises:
            StoreError: It cannot be written.
        """
        end = {
            "plans": [[each.case, each.plan] for each in plans],
            "places": [[key, at.case, at.sample, at.trial, at.call] for key, at in places.items()],
        }
        with self._lock:
            self._put(sealed({"end": end}))

    def _put(self, line: bytes) -> None:
        try:
            self._append(line)
        except OSError as error:
            raise StoreError(f"{self.path} cannot be written ({error.strerror or error}).") from None

    def _append(self, line: bytes) -> None:
        line, self._cut = (b"\n" + line if self._cut else line), True
        with open(self.path, "ab", buffering=0, opener=_private) as file:
            while line:
                line = line[file.write(line) :]
        self._cut = False


def _make(folder: Path) -> None:
    """A folder for its owner's eyes, and none of git's business."""
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def finished(folder: Path) -> Iterator[Finished]:
    """The tests whose recordings wait to be put into their files, in the order of their spools' names."""
    for path in sorted(folder.glob(f"*{ENDING}")):
        try:
            head, answers, end = _read(path)
        except (StoreError, OSError):
            continue  # said when the test is recorded again
        if end is None:
            continue
        test = head["test"]
        places = {key: Place(*at) for key, *at in end["places"]}
        yield Finished(
            path,
            Path(head["recording"]),
            test,
            tuple(PlanEntry(test, case, plan) for case, plan in end["plans"]),
            tuple(Entry(test, at, key, answers[key]) for key, at in places.items() if key in answers),
        )


def waiting(folder: Path) -> int:
    """How many tests have a spool that is not in its recording."""
    return sum(1 for _ in folder.glob(f"*{ENDING}"))


def _read(path: Path) -> tuple[dict[str, Any], dict[str, StoredAnswer], dict[str, Any] | None]:
    """Header, answers by key (the latest counts), and the last end, if the test came to one."""
    head: dict[str, Any] | None = None
    answers: dict[str, StoredAnswer] = {}
    end: dict[str, Any] | None = None
    for line in path.read_bytes().split(b"\n"):
        try:
            value = unsealed(line + b"\n")
            if head is None:
                head = value
            elif "end" in value:
                end = value["end"]
            else:
                key, answer = answer_of_json(value)
                answers[key] = answer
        except StoreError:
            continue  # half a line of a killed process; its answer is asked for again
    if head is None or head.get("promptfuzz") != _KIND or head.get("version") != VERSION:
        raise StoreError(f"{path} is no spool of this release; remove it.")
    return head, answers, end
