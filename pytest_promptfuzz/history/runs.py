"""The history: every run with robust tests, as a file in ``.promptfuzz/history/`` that is not in git; trends.

A file is written while its run goes on, a line for each test that has ended, so that a run that is killed leaves what
was known by then. It is called by the time at which it began and by the run's ID; the last line has the run as it
ended, and the tests' results once more in short, which trends are made of::

    {"promptfuzz": "run", "format": 1, "run": {"id": "3f9a…", "started": "2026-11-22T21:05:00Z", …}, "aside": ""}
    {"test": "tests/test_triage.py::test_labels", "verdict": "pass", "score": 1.0, "trials": {…}, …}
    {"end": {"id": "3f9a…", "seconds": 12.5, …}, "results": {"tests/test_triage.py::test_labels": [1.0, "pass", null]}}
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import StoreError, UsageError
from pytest_promptfuzz.files import encoded, make_directory, open_file, read_bytes
from pytest_promptfuzz.history.changes import PastRunReport, PointReport, TrendsReport
from pytest_promptfuzz.history.entries import HistoryEntry, is_entry, is_number, whole
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.text.expressions import expression
from pytest_promptfuzz.wording.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path
    from typing import BinaryIO


KIND, FORMAT = "run", 1
FOLDER = "history"
"""The folder, in that of stored answers."""
KEEP = 200
"""How many runs without a name are kept unless something else is said."""
LAST = "last"
_ENDING = ".jsonl"
_NAME = expression(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_TAIL = 65_536  # bytes read at once from the end of a file
Result = tuple["float | None", str, "float | None"]
"""A test's score, verdict and cost."""


class NoRunError(StoreError):
    """A file of the history holds no run."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} holds no run. It is left as it is, and not used.")
        self.path = path


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run that is kept.

    Attributes:
        path: Its file.
        run: What is known of it (``reporting.document.RunReport``).
        aside: Why it is not compared with unless it is named: ``trial``, or ``overridden …``; mostly empty.
        ended: Whether it has an end; one without was killed, or still goes on.
        results: Of each test, where it has an end.
    """

    path: Path
    run: Mapping[str, Any]
    aside: str = ""
    ended: bool = False
    results: Mapping[str, Result] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Its ID."""
        return str(self.run.get("id", ""))

    @property
    def name(self) -> str:
        """What it was saved as; mostly empty."""
        return str(self.run.get("name", ""))

    @property
    def complete(self) -> bool:
        """Whether its last test had ended when it did."""
        return self.ended and bool(self.run.get("complete"))

    def tests(self) -> dict[str, HistoryEntry]:
        """What is kept of each of its tests, read now; a line that is damaged or was cut off is left out.

        Raises:
            StoreError: The file cannot be read.
        """
        try:
            lines = read_bytes(self.path).split(b"\n")
        except OSError as error:
            raise StoreError(f"{self.path} cannot be read ({error.strerror or error}).") from None
        found: dict[str, HistoryEntry] = {}
        for line in lines[1:]:
            each = _json(line)
            if is_entry(each):
                found[each["test"]] = whole(each)
        return found

    def all_results(self) -> Mapping[str, Result]:
        """Of each test, whether or not the run has an end.

        Raises:
            StoreError: The file cannot be read.
        """
        if self.ended:
            return self.results
        return {test: _result(each) for test, each in self.tests().items()}


class Runs:
    """The runs that are kept on this machine.

    Args:
        folder: That of stored answers.
    """

    def __init__(self, folder: Path) -> None:
        self._stored = folder
        self.folder = folder / FOLDER
        self.damaged: list[StoreError] = []

    def begin(self, run: Mapping[str, Any], *, aside: str = "") -> Writing:
        """Keep a run that begins now.

        Args:
            run: What is known of it.
            aside: Why later runs are not to be compared with it by themselves; empty otherwise.

        Raises:
            StoreError: It cannot be written.
        """
        stamp = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S.%fZ")
        path = self.folder / f"{stamp}-{run['id']}{_ENDING}"
        try:
            make_directory(self._stored)
            self.folder.mkdir(exist_ok=True)
            file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600), "wb")
        except OSError as error:
            raise StoreError(f"{path} cannot be written ({error.strerror or error}).") from None
        writing = Writing(path, file)
        writing.line({"promptfuzz": KIND, "format": FORMAT, "run": dict(run), "aside": aside})
        return writing

    def paths(self) -> list[Path]:
        """The files, the newest first."""
        return sorted(self.folder.glob(f"*{_ENDING}"), reverse=True)

    def every(self, *, results: bool = False) -> Iterator[KeptRun]:
        """The runs, the newest first; files that hold none are left out, and named in :attr:`damaged`.

        Args:
            results: Whether their tests' results are wanted.
        """
        self.damaged = []
        for path in self.paths():
            try:
                yield read_run(path, results=results)
            except StoreError as error:
                self.damaged.append(error)

    def damages(self) -> list[str]:
        """A sentence for each file in :attr:`damaged`, and one for all that hold no run."""
        empty = {each.path.name for each in self.damaged if isinstance(each, NoRunError)}
        if len(empty) < 2:
            return list(dict.fromkeys(map(str, self.damaged)))
        note = Note.of("history:files-without-runs", folder=self.folder, names=sorted(empty))
        others = [str(each) for each in self.damaged if not isinstance(each, NoRunError)]
        return [sentence(note), *dict.fromkeys(others)]

    def saved(self) -> dict[str, KeptRun]:
        """The runs with a name; where two have one, the newer."""
        found: dict[str, KeptRun] = {}
        for each in self.every():
            if each.name:
                found.setdefault(each.name, each)
        return found

    def take(self, name: str, taker: Path) -> None:
        """Leave a name to one run, the file of which is the taker: others that have it keep all but that.

        Raises:
            StoreError: A file cannot be written.
        """
        for each in self.every():
            if each.name == name and each.path != taker:
                _unname(each.path)

    def disposable(self, keep: int) -> list[KeptRun]:
        """Runs that are more than ``keep`` without a name, the oldest first."""
        names: set[str] = set()
        unnamed: list[KeptRun] = []
        for each in self.every():
            if each.name and each.name not in names:
                names.add(each.name)
            else:
                unnamed.append(each)
        return unnamed[keep:][::-1]

    def forget(self, keep: int) -> list[KeptRun]:
        """Delete what is disposable; what cannot be deleted stays.

        Returns:
            What was deleted.
        """
        gone: list[KeptRun] = []
        if len(self.paths()) <= keep:
            return gone
        for each in self.disposable(keep):
            with contextlib.suppress(OSError):
                each.path.unlink()
                gone.append(each)
        return gone


class Writing:
    """A run that goes on.

    Args:
        path: Its file.
        file: The same, open.
    """

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path = path
        self._file = file
        self._results: dict[str, Result] = {}

    def add(self, entry: HistoryEntry) -> None:
        """A test has ended; one that ended before is replaced.

        Raises:
            StoreError: It cannot be written.
        """
        self._results[entry["test"]] = _result(entry)
        self.line(entry)

    def end(self, run: Mapping[str, Any]) -> None:
        """The run is over.

        Raises:
            StoreError: It cannot be written.
        """
        self.line({"end": dict(run), "results": self._results})
        self.close()

    def close(self) -> None:
        """Leave it as it is."""
        with contextlib.suppress(OSError):
            self._file.close()

    def line(self, row: Any) -> None:
        """Write a line.

        Raises:
            StoreError: It cannot be written.
        """
        try:
            self._file.write(encoded(row) + b"\n")
            self._file.flush()
        except (OSError, ValueError) as error:
            raise StoreError(f"{self.path} cannot be written ({error}).") from None


def read_run(path: Path, *, results: bool = False) -> KeptRun:
    """A run's file.

    Args:
        path: It.
        results: Whether its tests' results are wanted.

    Raises:
        StoreError: It cannot be read, holds no run, or one of a newer version.
    """
    try:
        with open_file(path) as file:
            header = _json(file.readline())
            end = _last_line(file)
    except OSError as error:
        raise StoreError(f"{path} cannot be read ({error.strerror or error}).") from None
    if (
        not isinstance(header, dict)
        or header.get("promptfuzz") != KIND
        or not isinstance(header.get("run"), dict)
    ):
        raise NoRunError(path)
    if header.get("format") != FORMAT:
        raise StoreError(
            f"{path} is of format {header.get('format')!r}, and this version of pytest-promptfuzz reads {FORMAT}. It "
            "is left as it is, and not used."
        )
    found = _json(end) if end.startswith(b'{"end"') else None
    ended = (
        isinstance(found, dict)
        and isinstance(found.get("end"), dict)
        and isinstance(found.get("results"), dict)
    )
    run = {**header["run"], **(found["end"] if ended and isinstance(found, dict) else {"complete": False})}
    known = found["results"] if ended and results and isinstance(found, dict) else {}
    every = {
        test: (each[0], each[1], each[2])
        for test, each in known.items()
        if isinstance(each, list) and len(each) >= 3 and isinstance(each[1], str)
        if all(each[at] is None or is_number(each[at]) for at in (0, 2))
    }
    if not is_number(run.get("seconds", 0.0)):
        run["seconds"] = None
    return KeptRun(path, run, str(header.get("aside") or ""), ended, every)


def check_name(name: str) -> str:
    """A name to save a run as.

    Raises:
        UsageError: It is none.
    """
    if name == LAST:
        raise UsageError(f"{LAST!r} is the last run whatever it is called; choose another name.")
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is no name of a run: write 1 to 64 letters, digits, '.', '_' and '-', the first of them a "
            "letter or digit."
        )
    return name


def _result(entry: Mapping[str, Any]) -> Result:
    return entry["score"], entry["verdict"], entry["cost"]


def _unname(path: Path) -> None:
    """Take the name out of a run's first and last line."""
    try:
        lines = path.read_bytes().split(b"\n")
        for at, line in enumerate(lines):
            found = _json(line) if line.startswith((b'{"promptfuzz"', b'{"end"')) else None
            run = found.get("run", found.get("end")) if isinstance(found, dict) else None
            if isinstance(run, dict):
                run["name"] = ""
                lines[at] = encoded(found)
        part = path.with_name(f".{path.name}.part")
        part.write_bytes(b"\n".join(lines))
        part.chmod(0o600)
        part.replace(path)
    except OSError as error:
        raise StoreError(f"{path} cannot be written ({error.strerror or error}).") from None


def _last_line(file: BinaryIO) -> bytes:
    """The last line, whole or cut off, of a file whose first line was read."""
    first = file.tell()
    at, held = file.seek(0, os.SEEK_END), b""
    while at > first:
        step = min(_TAIL, at - first)
        at = file.seek(at - step)
        held = file.read(step) + held
        lines = held.rstrip(b"\n").rpartition(b"\n")
        if lines[1]:
            return lines[2]
    return held.rstrip(b"\n")


def _json(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


# Earlier runs, and the results of tests in them.


MOST = 50
"""The runs that a trend goes back."""


def trends(
    runs: Runs, tests: Collection[str] | None = None, *, before: Path | None = None, most: int = MOST
) -> TrendsReport:
    """The results of tests in the runs before, the oldest first.

    Runs that were set aside, and those that had none of the tests, are left out.

    Args:
        runs: The runs of this machine.
        tests: Which; ``None`` takes all.
        before: The file of a run; only runs that began before it are told.
        most: How many runs there are at most.
    """
    wanted = None if tests is None else frozenset(tests)
    found: list[tuple[KeptRun, dict[str, PointReport]]] = []
    for each in runs.every(results=True):
        if len(found) == most:
            break
        if each.aside or (before is not None and each.path.name >= before.name):
            continue
        try:
            results = each.all_results()
        except StoreError as error:
            runs.damaged.append(error)
            continue
        points = {
            test: PointReport(run=0, score=score, verdict=verdict, cost=cost)
            for test, (score, verdict, cost) in results.items()
            if wanted is None or test in wanted
        }
        if points:
            found.append((each, points))
    found.reverse()
    report = TrendsReport(runs=[_past(each) for each, _ in found], tests={})
    for number, (_, points) in enumerate(found):
        for test, point in points.items():
            report["tests"].setdefault(test, []).append({**point, "run": number})
    return report


def _past(each: KeptRun) -> PastRunReport:
    run = each.run
    return PastRunReport(
        id=each.id,
        name=each.name,
        started=str(run.get("started", "")),
        commit=str(run.get("commit", "")),
        branch=str(run.get("branch", "")),
        dirty=run.get("dirty"),
    )
