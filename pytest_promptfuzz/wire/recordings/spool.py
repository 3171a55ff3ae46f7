"""What a recording run has been answered so far: one file a test, appended to, so that a killed run loses nothing."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
from dataclasses import dataclass, field
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
from pytest_promptfuzz.wire.secrets import RULES

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
        since: When the oldest of them was answered, in seconds since 1970; 0.0 where there is none.
        aside: What an earlier run left here and could not be read, under the name that it has now.

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
        self._waiting: list[bytes] = []  # lines that a full disk did not take: each later one tries again
        self._cut = False  # whether the file ends within a line: what comes next stays apart from it
        self.aside: Path | None = None
        try:
            known = os.path.lexists(self.path) and self._take_up()
            if not known:
                _make(folder)
                head = {"promptfuzz": _KIND, "version": VERSION, "recording": str(recording), "test": test}
                self._append(sealed(head))
        except OSError as error:
            raise StoreError(f"{self.path} cannot be written ({error.strerror or error}).") from None
        self.kept = len(self._answers)
        self.since = min((each.created for each in self._answers.values()), default=0.0)

    def _take_up(self) -> bool:
        """Go on with what an earlier run left; whether it has its first line. What cannot be read is set aside."""
        try:
            found = _read(self.path)
        except (OSError, StoreError):
            self.aside = _set_aside(self.path)
            return False
        self._answers = {
            key: answer for key, answer in found.answers.items() if answer.rules == RULES.version
        }  # keys of other rules would be mixed with today's
        content = self.path.read_bytes()
        self._cut = bool(content) and not content.endswith(b"\n")
        return (
            found.head is not None
        )  # a full disk or a kill may have cut it off: the file's name says whose it is

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
        self._waiting.append(line)
        try:
            while self._waiting:
                self._append(self._waiting[0])
                del self._waiting[0]
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


def _set_aside(path: Path) -> Path:
    number = 1
    while os.path.lexists(aside := path.with_name(f"{path.name}.unread-{number}")):
        number += 1
    path.rename(aside)
    return aside


def finished(folder: Path) -> Iterator[Finished]:
    """The tests whose recordings wait to be put into their files, in the order of their spools' names."""
    for path in sorted(folder.glob(f"*{ENDING}")):
        try:
            found = _read(path)
        except (StoreError, OSError):
            continue  # said when the test is recorded again
        head, answers, end = found.head, found.answers, found.end
        if head is None or end is None:
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


def written(path: Path, *, over: bool) -> None:
    """A finished test stands in its recording.

    Args:
        path: Its spool.
        over: Whether the spool is done with; else its answers are kept for the next recording run.
    """
    with contextlib.suppress(OSError):  # the same lines are then written once more
        if over:
            path.unlink()
        else:
            with path.open("ab", buffering=0) as file:
                file.write(sealed({"written": True}))


def waiting(folder: Path) -> int:
    """How many tests have a spool that is not in its recording."""
    return sum(1 for path in folder.glob(f"*{ENDING}") if not _is_written(path))


def _is_written(path: Path) -> bool:
    try:
        return _read(path).written
    except (StoreError, OSError):
        return False


@dataclass(slots=True)
class _Found:
    """What a spool holds: its header, answers by key (the latest counts), the end that is not yet in the recording."""

    head: dict[str, Any] | None = None
    answers: dict[str, StoredAnswer] = field(default_factory=dict)
    end: dict[str, Any] | None = None
    written: bool = False


def _read(path: Path) -> _Found:
    """What a spool holds.

    Raises:
        OSError: It cannot be opened.
        StoreError: It is of another release.
    """
    found = _Found()
    for line in path.read_bytes().split(b"\n"):
        try:
            value = unsealed(line + b"\n")
            if value.get("promptfuzz") is not None:
                found.head = value
            elif "written" in value:
                found.end, found.written = None, True
            elif "end" in value:
                found.end, found.written = value["end"], False
            else:
                key, answer = answer_of_json(value)
                found.answers[key] = answer
                found.written = False
        except StoreError:
            continue  # half a line of a killed process; its answer is asked for again
    head = found.head
    if head is not None and (head["promptfuzz"], head.get("version")) != (_KIND, VERSION):
        raise StoreError(f"{path} is no spool of this release.")
    return found
