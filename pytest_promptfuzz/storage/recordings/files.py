"""Recording files: read line by line, written and merged; tests taken out of them."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.files import UNREADABLE, open_file, unpacked_file
from pytest_promptfuzz.storage.recordings.entries import (
    HEADER,
    KIND,
    VERSION,
    EditedError,
    PlanEntry,
    RecordedExchange,
    from_line,
    to_line,
)
from pytest_promptfuzz.storage.recordings.unchanged_answers import is_unchanged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


_TEST = re.compile(rb'\{"test": ("(?:[^"\\]|\\.)*"), ')
_CONFLICT = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")


class Problem(NamedTuple):
    """Something wrong with a file: ``line`` counts from 1, 0 is the whole file.

    As text, it names both; a file in or below the working directory by its place there.
    """

    path: Path
    line: int
    why: str

    def __str__(self) -> str:
        """``tests/__promptfuzz__/test_it.calls.jsonl:7: this line is cut off``."""
        here = Path.cwd()
        path = self.path.relative_to(here) if self.path.is_relative_to(here) else self.path
        return f"{path}:{self.line}: {self.why}" if self.line else f"{path}: {self.why}"


@dataclass(slots=True)
class RecordedTest:
    """What is recorded of one test, in the order of the file.

    Attributes:
        plans: Its plans.
        entries: Its answers.
        edited: By number, what stands in lines that were changed after they were recorded, and is not used.
        refused: Why nothing of the file can be used; empty where it can.
    """

    plans: list[PlanEntry] = field(default_factory=list)
    entries: list[RecordedExchange] = field(default_factory=list)
    edited: dict[int, RecordedExchange | PlanEntry] = field(default_factory=dict)
    refused: str = ""

    def edited_answer(self, key: str) -> tuple[int, RecordedExchange] | None:
        """The line of a key's answer that was changed, and what stands there; ``None`` where there is none."""
        lines = ((number, each) for number, each in self.edited.items() if isinstance(each, RecordedExchange))
        return next(((number, each) for number, each in lines if each.key == key), None)

    def edited_plan(self) -> int | None:
        """The line of a plan that was changed; ``None`` where there is none."""
        return next((number for number, each in self.edited.items() if isinstance(each, PlanEntry)), None)


class _LineRun(NamedTuple):
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
        self._spans: dict[str, list[_LineRun]] = {}
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

    def read(self, test: str) -> RecordedTest:
        """What is recorded of a test. Lines that cannot be used are left out, and are ``problems``."""
        recorded = RecordedTest(refused=self.refused)
        keys: dict[str, RecordedExchange] = {}
        others: list[int] = []
        for number, line in self._lines(test):
            try:
                entry = from_line(line)
            except StoreError as error:
                self._problem(number, f"{error} and was not used. Record {test} again.")
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
            elif not is_unchanged(first.answer, entry.answer):
                others.append(number)
        if others:
            self._problem(others[0], answered_twice(test, len(others)))
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
            spans.append(_LineRun(position, len(line), number))

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
            return None, "this line is cut off and was not used."
        return None, "this line is not JSON and was not used."
    test = value.get("test") if isinstance(value, dict) else None
    return (test, "") if isinstance(test, str) else (None, "this line names no test and was not used.")


def answered_twice(test: str, count: int) -> str:
    """What is wrong where some requests of a test have two answers that differ, as after a merge of two branches."""
    one = "1 request has" if count == 1 else f"{count} requests have"
    return f"{one} two different answers in {test}, and the first is used. Record {test} again."


def _said(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


# Writing recordings: whole files, at once, in a stable order; what is not replaced stays as it stands.


# Two branches that record neighbouring tests touch neighbouring lines: `union` keeps both. Hosts of pull requests fold
# what is `linguist-generated`.
ATTRIBUTES = (
    "*.calls.jsonl text eol=lf merge=union linguist-generated\n*.calls.jsonl.gz binary linguist-generated\n"
)
_EARLIER_ATTRIBUTES = frozenset({b"*.calls.jsonl text eol=lf merge=union\n*.calls.jsonl.gz binary\n"})
"""What earlier versions wrote, and nobody has changed since."""


def ordered(plans: Iterable[PlanEntry], entries: Iterable[RecordedExchange]) -> list[bytes]:
    """The lines of one test: case by case the plan, the baseline's samples, then the trials as the plan has them."""
    ranks: dict[str, int] = {}
    rows: list[tuple[tuple[int, int, int, int, int, str], bytes]] = []
    for plan in plans:
        rows.append(((plan.case, -1, 0, 0, 0, ""), to_line(plan)))
        ranks.update({each.get("id", ""): rank for rank, each in enumerate(plan.plan["mutations"])})
    for entry in entries:
        place = entry.place
        rank = ranks.get(place.trial, len(ranks)) if place.trial else 0
        order = (place.case, int(bool(place.trial)), rank, place.sample or 0, place.call, entry.key)
        rows.append((order, to_line(entry)))
    return [line for _, line in sorted(rows)]


def merge(path: Path, tests: Mapping[str, list[bytes]]) -> str:
    """Put the lines of some tests into a recording, in the place of what it held of them; the other tests' stay.

    Args:
        path: The recording; made if it does not exist, compressed if its name ends in ``.gz``.
        tests: The whole lines of each test; none removes it.

    Returns:
        A sentence on what had to be set aside, or nothing.

    Raises:
        StoreError: The file cannot be read, is of another format version, or cannot be written. It is as it was.
    """
    kept: dict[str, list[bytes]] = {}
    note = ""
    if os.path.lexists(path):
        old = RecordingFile(path)
        if old.refused:
            raise StoreError(f"{old.problems[0]} It was left as it is.")
        kept = {test: [_ended(line) for line in old.lines(test)] for test in old.tests if test not in tests}
        if not old.whole:
            aside = _set_aside(path)
            lines = ", ".join(str(each.line) for each in old.problems)
            note = f"{path} was damaged in line {lines}: kept as {aside.name}, and what can be read was written anew."
    merged = {**kept, **{test: lines for test, lines in tests.items() if lines}}
    header = json.dumps(HEADER).encode("ascii") + b"\n"
    write_whole(path, b"".join([header, *(line for test in sorted(merged) for line in merged[test])]))
    return note


def write_whole(path: Path, content: bytes, *, attributes: bool = True) -> None:
    """Write a recording at once: what reads it finds the old file or the new one.

    Args:
        path: Of the file; of a symbolic link, the file that it leads to is written, and the link stays.
        content: All of it; compressed where the name says so.
        attributes: Whether git is told how to treat the files of its folder.

    Raises:
        StoreError: It cannot be written, or what stands there is no file (a folder, a device, a pipe); it is as it was.
    """
    data = _compressed(content) if path.name.endswith(".gz") else content
    try:
        place = Path(os.path.realpath(path))
        if os.path.lexists(place) and not place.is_file():
            what = "a folder" if place.is_dir() else "no regular file (a device, a pipe or a link to itself)"
            raise StoreError(f"{path} is {what}, and was left as it is; name a file.")
        if place.is_file() and place.read_bytes() == data:
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        if attributes:
            _attributes(path.parent)
        _replace(place, data)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written ({error.strerror or error}). It is as it was; change its permissions or free "
            "some space."
        ) from None


def _replace(path: Path, data: bytes) -> None:
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _compressed(content: bytes) -> bytes:
    """The same content gives the same bytes: no name, no time."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as file:
        file.write(content)
    return buffer.getvalue()


def _attributes(folder: Path) -> None:
    path = folder / ".gitattributes"
    if not os.path.lexists(path) or (path.is_file() and path.read_bytes() in _EARLIER_ATTRIBUTES):
        path.write_text(ATTRIBUTES, encoding="utf-8", newline="\n")


def _set_aside(path: Path) -> Path:
    """A copy of a damaged file, under a name of its own."""
    number = 1
    while os.path.lexists(aside := path.with_name(f"{path.name}.damaged-{number}")):
        number += 1
    try:
        aside.write_bytes(path.read_bytes())
    except OSError as error:
        raise StoreError(
            f"{aside} cannot be written ({error.strerror or error}); {path} is as it was."
        ) from None
    return aside


def _ended(line: bytes) -> bytes:
    return line if line.endswith(b"\n") else line + b"\n"


# Taking tests out of a recording: only on request, the other tests' lines as they stand.


def without_tests(path: Path, tests: set[str]) -> None:
    """Write a recording without some tests; one that holds no other is removed.

    Raises:
        StoreError: The file is damaged, or cannot be written. It is as it was.
    """
    file = RecordingFile(path)
    if not file.whole:
        raise StoreError(f"{file.problems[0]} Nothing of the file was removed; fix it first.")
    if set(file.tests) - tests:
        merge(path, {test: [] for test in tests})
        return
    try:
        path.unlink()
    except OSError as error:
        raise StoreError(f"{path} cannot be removed ({error.strerror or error}).") from None
