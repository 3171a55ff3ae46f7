"""Reading a recording: whatever is wrong with a line is said with its number, and the other lines are used."""

from __future__ import annotations

import io
import json
import re
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.files import open_file
from pytest_promptfuzz.wire.recordings.entry import KIND, VERSION, EditedError, Entry, PlanEntry, from_line
from pytest_promptfuzz.wire.unpacking import UNREADABLE, unpacked_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_TEST = re.compile(rb'\{"test": ("(?:[^"\\]|\\.)*"), ')
_CONFLICT = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")


class Problem(NamedTuple):
    """Something wrong with a file: ``line`` counts from 1, 0 is the whole file. As text, it names both."""

    path: Path
    line: int
    why: str

    def __str__(self) -> str:
        """``tests/__promptfuzz__/test_it.calls.jsonl:7: the line is cut off``."""
        return f"{self.path}:{self.line}: {self.why}" if self.line else f"{self.path}: {self.why}"


@dataclass(slots=True)
class Recorded:
    """What is recorded of one test, in the order of the file.

    Attributes:
        plans: Its plans.
        entries: Its answers.
        edited: By number, what stands in lines that were changed after they were recorded, and is not used.
        refused: Why nothing of the file can be used; empty where it can.
    """

    plans: list[PlanEntry] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    edited: dict[int, Entry | PlanEntry] = field(default_factory=dict)
    refused: str = ""

    def edited_answer(self, key: str) -> tuple[int, Entry] | None:
        """The line of a key's answer that was changed, and what stands there; ``None`` where there is none."""
        lines = ((number, each) for number, each in self.edited.items() if isinstance(each, Entry))
        return next(((number, each) for number, each in lines if each.key == key), None)

    def edited_plan(self) -> int | None:
        """The line of a plan that was changed; ``None`` where there is none."""
        return next((number for number, each in self.edited.items() if isinstance(each, PlanEntry)), None)


class _Span(NamedTuple):
    """Lines of one test that follow each other: where they begin, how many bytes, and the first one's number."""

    start: int
    size: int
    line: int


class RecordingFile:
    """A recording as it lies on disk. Which lines are whose is known at once; the lines of a test are read on demand.

    Args:
        path: The file, plain or ``.gz``.

    Attributes:
        problems: What is wrong, as far as it has been read.
        refused: Why nothing of the file can be used; empty where it can.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[Problem] = []
        self.refused = ""
        self._spans: dict[str, list[_Span]] = {}
        self._content: bytes | None = None  # of a compressed file, which cannot be read in places
        self._unowned = False
        try:
            if path.name.endswith(".gz"):
                self._content = unpacked_file(path)
            with self._open() as lines:
                self._index(lines)
        except UNREADABLE as error:
            self._refuse(0, f"the recording cannot be read ({_said(error)}).")

    @property
    def tests(self) -> list[str]:
        """The tests it holds something of, in the order of the file."""
        return list(self._spans)

    @property
    def whole(self) -> bool:
        """Whether every line belongs to a test, so that rewriting the file test by test loses nothing."""
        return not self.refused and not self._unowned

    def lines(self, test: str) -> list[bytes]:
        """The lines of a test as they stand, their ends included."""
        return [line for _, line in self._lines(test)]

    def numbered(self, test: str) -> list[tuple[int, bytes]]:
        """The same, each with its number in the file, from 1."""
        return list(self._lines(test))

    def read(self, test: str) -> Recorded:
        """What is recorded of a test. Lines that cannot be used are left out, and are ``problems``."""
        recorded = Recorded(refused=self.refused)
        keys: dict[str, Entry] = {}
        for number, line in self._lines(test):
            try:
                entry = from_line(line)
            except StoreError as error:
                self._problem(number, f"{error}; the line was passed over. Record {test} again.")
                now = error.entry() if isinstance(error, EditedError) else None
                if now is not None:
                    recorded.edited[number] = now
                continue
            if isinstance(entry, PlanEntry):
                recorded.plans.append(entry)
                continue
            first = keys.setdefault(entry.key, entry)
            if first is entry:
                recorded.entries.append(entry)
            elif first.answer != entry.answer:
                self._problem(
                    number,
                    f"another answer to a request of {test} that is answered above; the first one is used. "
                    "Record the test again.",
                )
        return recorded

    def _lines(self, test: str) -> Iterator[tuple[int, bytes]]:
        spans = self._spans.get(test)
        if not spans:
            return
        try:
            with self._open() as content:
                for span in spans:
                    content.seek(span.start)
                    for offset, line in enumerate(io.BytesIO(content.read(span.size))):
                        yield span.line + offset, line
        except OSError as error:
            self._problem(0, f"the recording can no longer be read ({_said(error)}).")

    def _open(self) -> IO[bytes]:
        return open_file(self.path) if self._content is None else io.BytesIO(self._content)

    def _index(self, lines: IO[bytes]) -> None:
        position = 0
        for number, line in enumerate(lines, 1):
            if number == 1:
                self._header(line)
                if self.refused:
                    return
            elif line.strip():
                self._own(number, position, line)
            position += len(line)
        if not position:
            self._refuse(0, "the recording is empty; a recording begins with a header.")

    def _own(self, number: int, position: int, line: bytes) -> None:
        """Note whose a line is."""
        test, why = _test_of(line)
        if test is None:
            self._unowned = True
            self._problem(number, why)
            return
        spans = self._spans.setdefault(test, [])
        if spans and spans[-1].start + spans[-1].size == position:
            spans[-1] = spans[-1]._replace(size=spans[-1].size + len(line))
        else:
            spans.append(_Span(position, len(line), number))

    def _header(self, line: bytes) -> None:
        if line.startswith(_CONFLICT):
            self._refuse(1, "an unresolved merge conflict in the first line; resolve it.")
            return
        try:
            header = json.loads(line)
        except (ValueError, RecursionError):
            header = None
        if not isinstance(header, dict) or header.get("promptfuzz") != KIND:
            self._refuse(1, "this is not a recording: it does not begin with a recording's header.")
        elif header.get("version") != VERSION:
            version = header.get("version")
            self._refuse(
                1,
                f"the recording has format version {version!r:.20}; this release reads {VERSION}. "
                "Use the release that wrote it, or record again into a new file.",
            )

    def _refuse(self, line: int, why: str) -> None:
        self.refused = why
        self._problem(line, why)

    def _problem(self, line: int, why: str) -> None:
        problem = Problem(self.path, line, why)
        if problem not in self.problems:
            self.problems.append(problem)


def _test_of(line: bytes) -> tuple[str | None, str]:
    """The test a line belongs to, or why it belongs to none."""
    found = _TEST.match(line)
    try:
        if found is not None:
            return str(json.loads(found[1])), ""
        value = json.loads(line)
    except (ValueError, RecursionError):
        if line.startswith(_CONFLICT):
            return None, "a merge conflict; resolve it. The lines around it are used."
        if not line.endswith(b"\n"):
            return None, "the line is cut off, and was passed over."
        return None, "the line is no JSON, and was passed over."
    test = value.get("test") if isinstance(value, dict) else None
    return (test, "") if isinstance(test, str) else (None, "the line names no test, and was passed over.")


def _said(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
