"""``--promptfuzz-report``: formats of reports by name, reports written to files, stored and read again."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import tempfile
from collections.abc import Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Protocol, TypeAlias, cast, runtime_checkable

from pytest_promptfuzz.errors import PromptfuzzError, StoreError, UsageError, nearest, unstopped
from pytest_promptfuzz.files import MAX_FILE, as_text, make_directory, open_file, replacing, shown, to_json
from pytest_promptfuzz.reporting.document import FORMAT, KIND, Document, DocumentTest, RunReport, document
from pytest_promptfuzz.reporting.schema import packed, unpacked, wrong
from pytest_promptfuzz.text.expressions import expression
from pytest_promptfuzz.text.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from pytest_promptfuzz.comparing.custom_checks import Registry
    from pytest_promptfuzz.history.changes import ChangesReport, TrendsReport
    from pytest_promptfuzz.reporting.document import UnjudgedReport

    Render = Callable[[Document], str]


GITHUB = "github"
"""The format that is written where the environment of GitHub Actions says."""


_NAME = expression(r"[a-z][a-z0-9-]*")
_NEXT = expression(r",(?=\s*[a-z][a-z0-9-]*\s*(?::|,|$))")


@runtime_checkable
class Reporter(Protocol):
    """A format of reports. Its name is of lower-case letters, digits and hyphens."""

    @property
    def name(self) -> str:
        """As the option names it."""
        ...

    def render(self, document: Document) -> str:
        """The report of a run, as the file will hold it."""
        ...


@runtime_checkable
class StreamedReporter(Reporter, Protocol):
    """A format that is written piece by piece, of tests that are read one by one."""

    def write(self, document: Document, file: BinaryIO) -> None:
        """Write the report of a run."""
        ...


class FunctionReporter(NamedTuple):
    """A format made of a function of the document."""

    name: str
    function: Render

    def render(self, document: Document) -> str:
        """What the function makes of it."""
        return self.function(document)


def reporter(name: str) -> Callable[[Render], FunctionReporter]:
    r"""Make a format of a function that turns a document into text.

    For example::

        @reporter("names")
        def names(document):
            return "".join(f"{test['test']}\n" for test in document["tests"])

    Args:
        name: What ``--promptfuzz-report=NAME:PATH`` calls it.

    Raises:
        UsageError: A name that the option could not tell from a path.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"a report's format is called {name!r}: write lower-case letters, digits and hyphens."
        )
    return lambda function: FunctionReporter(name, function)


def json_report(document: Document) -> str:
    """The document as it is published: packed, one test a line."""
    tests = document["tests"]
    rows = ",\n".join(tests.rows() if isinstance(tests, PackedTests | WholeTests) else map(_row_of, tests))
    parts = [f"{as_text(key)}: {as_text(value)}" for key, value in document.items() if key != "tests"]
    parts.append(f'"tests": [\n{rows}\n]' if rows else '"tests": []')
    return "{" + ",\n".join(parts) + "}\n"


def _row_of(test: Mapping[str, Any]) -> str:
    # Packed anew, it holds no loops: to look for them takes a quarter of the time.
    return to_json(packed(test), separators=(",", ":"), check_circular=False)


def _as_reporter(value: object) -> Reporter:
    if not isinstance(value, type) and isinstance(value, Reporter):
        return value
    raise UsageError(
        f"{value!r:.80} is no format of reports: decorate a function of the document with @reporter('name'), or give "
        "an object with a name and render(document)."
    )


@cache
def _own() -> Mapping[str, Reporter]:
    from pytest_promptfuzz.reporting.hosts import HOSTS
    from pytest_promptfuzz.reporting.html.page import HtmlReporter

    files = {"json": json_report, **HOSTS}
    own: list[Reporter] = [
        HtmlReporter(),
        *(FunctionReporter(name, render) for name, render in files.items()),
    ]
    return {each.name: each for each in own}


@cache
def reporters() -> Registry[Reporter]:
    """Every format by name: our own, those that were added, those of installed packages."""
    from pytest_promptfuzz.comparing.custom_checks import Registry

    return Registry("report format", "promptfuzz.reporters", _as_reporter, _own)


class ReportRequest(NamedTuple):
    """A report that was asked for: its format, and where it is to lie; of ``github`` the environment says where."""

    format: str
    path: str


def read_wanted(text: str) -> list[ReportRequest]:
    """Reports as options name them: ``json:PATH,html:PATH``, or ``github``.

    Raises:
        UsageError: One has no path, ``github`` has one, or two have the same.

    >>> read_wanted("json:a.json,html:b,c.html")
    [ReportRequest(format='json', path='a.json'), ReportRequest(format='html', path='b,c.html')]
    """
    found: list[ReportRequest] = []
    for each in _NEXT.split(text):
        name, colon, path = (part.strip() for part in each.partition(":"))
        if name == GITHUB:
            if colon:
                raise UsageError(f"{each.strip()!r}: {GITHUB} takes no path. Write {GITHUB}.")
        elif not colon or not path or not name:
            raise UsageError(f"{each.strip()!r} has no path. Write FORMAT:PATH, such as html:report.html.")
        if any(path == other.path for other in found):
            raise UsageError(f"{path or name} is named twice. Give each report its own path.")
        found.append(ReportRequest(name, os.path.expanduser(path)))  # noqa: PTH111 - the text stays as it was given
    return found


# Writing a run's report in a format to a place.


@contextmanager
def uncollected() -> Iterator[None]:
    """Have Python look for no garbage while reports are read and rendered.

    A large run's report is millions of objects, none of them garbage: to look through them again and again takes
    a third of the time.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def check(name: str, path: Path) -> None:
    """Refuse what could not be published, before it is paid for.

    Raises:
        UsageError: Nobody knows the format.
        StoreError: The path is a folder, or lies where nothing can be written.
    """
    if name == GITHUB:
        return
    if name not in reporters().names():
        raise UsageError(f"unknown format {name!r}. {nearest(name, [GITHUB, *reporters().names()])}")
    if path.is_dir():
        raise StoreError(f"{path} is a folder. Name a file in it.")
    if path.exists() and not path.is_file():
        raise StoreError(f"{path} is not a regular file, so a report cannot replace it. Name another file.")
    above = next(each for each in path.absolute().parents if os.path.lexists(each))
    if not above.is_dir():
        raise StoreError(f"{path} cannot be written: {above} is a file. Name another place.")
    if not _can_write(path if path.exists() else above):
        raise StoreError(f"{path} cannot be written. Change its permissions, or name another place.")


def publish(
    document: Document, name: str, path: Path, *, shown: str, log: Callable[[str], object] = print
) -> str:
    """Write the report of a run.

    Args:
        document: The run.
        name: Of the format.
        path: Of the file, which is replaced at once; its folder is made.
        shown: The path as a person gave it.
        log: What ``github`` has for the log, a line at a time: workflow commands, to be printed as they are.

    Returns:
        A sentence on what was written.

    Raises:
        UsageError: Nobody knows the format.
        PromptfuzzError: It cannot be rendered or written; the old file is as it was.
    """
    from pytest_promptfuzz.storage.recordings.files import write_whole

    if name == GITHUB:
        from pytest_promptfuzz.reporting.hosts import github

        return github(document, log)
    reporter = reporters().one(name, f"the report {name}:{shown}")
    if isinstance(reporter, StreamedReporter):
        return f"wrote {shown} ({name}, {_size(_streamed(reporter, document, path))})"
    with _rendering():
        text = reporter.render(document)
    content = text.encode("utf-8", "backslashreplace")
    write_whole(path, content, attributes=False)
    return f"wrote {shown} ({name}, {_size(len(content))})"


def _streamed(reporter: StreamedReporter, document: Document, path: Path) -> int:
    """Write a report piece by piece; how many bytes it has."""
    with replacing(path) as file:
        with _rendering():
            reporter.write(document, file)
        return file.tell()


@contextmanager
def _rendering() -> Iterator[None]:
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        raise PromptfuzzError(
            f"it cannot be rendered: {type(error).__name__}: {unstopped(error)}."
        ) from error


def _can_write(path: Path) -> bool:
    """Whether a file, or files in a folder, can be written: root may write by permission where nothing can be."""
    if not os.access(path, os.W_OK):
        return False
    if path.is_file():
        return True
    try:
        with tempfile.TemporaryFile(dir=path):
            return True
    except OSError:
        return False


def _size(count: int) -> str:
    """A number of bytes for people.

    >>> _size(512), _size(2048), _size(3_500_000)
    ('512 B', '2 kB', '3.5 MB')
    """
    if count < 1000:
        return f"{count} B"
    return f"{count / 1000:.0f} kB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"


# The last runs' reports on this machine: ``.promptfuzz/report/``, of which any format can be made afterwards.
#
# A file is written while its run goes on, a line for each test that has ended, so that a run that is killed leaves what
# was known by then::
#
#     {"promptfuzz": "report-lines", "format": 1, "run": {"id": "…", "complete": false, …}}
#     {"test": {…}}
#     {"unjudged": {…}}
#     {"end": {"run": {…}, "changes": null, "trends": null, "warnings": []}}


LINES = "report-lines"
_TEST = '{"test":'
FOLDER = "report"
"""The folder, in that of stored answers."""
_KEPT = 3
_ENDING = ".jsonl"


class Stored:
    """The report of a run while it goes on.

    Args:
        folder: Of stored answers; made if it does not exist.
        run: As far as it is known.

    Raises:
        StoreError: It cannot be written.
    """

    def __init__(self, folder: Path, run: RunReport) -> None:
        self.path = folder / FOLDER / f"{_stamp(run)}-{run['id']}{_ENDING}"
        self._places = _Places()
        self._size = 0
        try:
            make_directory(folder)
            self.path.parent.mkdir(exist_ok=True)
            self._file = self.path.open("wb")
        except OSError as error:
            raise StoreError(f"{self.path} cannot be written ({error.strerror or error}).") from None
        self._write(as_text({"promptfuzz": LINES, "format": FORMAT, "run": run}))

    def test(self, report: Mapping[str, Any]) -> None:
        """A test was judged.

        Raises:
            StoreError: It cannot be written.
        """
        row = _row_of(report)
        self._places.judge(report["test"], self._write(f"{_TEST}{row}}}"))

    def unjudged(self, report: UnjudgedReport) -> None:
        """A test ended without a verdict.

        Raises:
            StoreError: It cannot be written.
        """
        self._places.leave(report["test"], self._write(as_text({"unjudged": report})))

    def end(
        self,
        run: RunReport,
        *,
        changes: ChangesReport | None,
        trends: TrendsReport | None,
        warnings: Sequence[str],
    ) -> None:
        """The run is over; older ones go, but for the newest and those that have no end yet.

        Raises:
            StoreError: It cannot be written.
        """
        end = {"run": run, "changes": changes, "trends": trends, "warnings": list(warnings)}
        self._places.end = self._write(as_text({"end": end}))
        self._file.close()
        _forget(self.path)

    def close(self) -> None:
        """Leave it as it is."""
        self._file.close()

    @contextmanager
    def document(self, formats: Iterable[str]) -> Iterator[Document]:
        """The report once it has its end, as some formats need it: whole, or test by test.

        What this process has just written is not looked through again, and not held to the schema.

        Args:
            formats: Names of the formats.

        Raises:
            StoreError: It cannot be read.
        """
        with uncollected(), _opened(self.path) as file:
            try:
                found = self._places.document(file)
                if not all(map(_is_streamed, formats)):
                    found["tests"] = WholeTests(cast("PackedTests", found["tests"]))
            except OSError as error:
                raise _unreadable(self.path, error) from None
            yield found

    def _write(self, line: str) -> _Place:
        """Write a line; where it stands, in bytes."""
        row = f"{line}\n".encode()
        try:
            self._file.write(row)
            self._file.flush()
        except OSError as error:
            raise StoreError(f"{self.path} cannot be written ({error.strerror or error}).") from None
        self._size += len(row)
        return self._size - len(row), len(row)


def latest(folder: Path) -> Path | None:
    """The newest run's report in the folder of stored answers; ``None`` where there is none."""
    return max((folder / FOLDER).glob(f"*{_ENDING}"), default=None)


def _stamp(run: RunReport) -> str:
    return "".join(each for each in run["started"] if each.isalnum())


def _forget(newest: Path) -> None:
    older = sorted(path for path in newest.parent.glob(f"*{_ENDING}") if path < newest)
    for path in older[: -_KEPT + 1]:
        with contextlib.suppress(OSError):
            path.unlink()


# Reading a run's report: a document, or the lines that a run leaves as it goes on.


_RUN: RunReport = {
    "id": "",
    "name": "",
    "started": "",
    "seconds": 0.0,
    "version": "",
    "python": "",
    "mode": "",
    "seed": 0,
    "commit": "",
    "branch": "",
    "dirty": None,
    "complete": True,
}
_MEND = "Make it anew: pytest --promptfuzz-report=json:PATH."


def read_document(path: Path) -> Document:
    """The report of a run, whole.

    Args:
        path: A JSON report, or the lines in ``.promptfuzz/report/``.

    Raises:
        StoreError: It cannot be read, is no report, is damaged, or of a newer version.
    """
    with opened_document(path) as found:
        found["tests"] = list(found["tests"])
        return found


@contextmanager
def opened_document(path: Path) -> Iterator[Document]:
    """The report of a run whose tests are unpacked when they are asked for; of a run's lines they stay in the file.

    Args:
        path: A JSON report, or the lines in ``.promptfuzz/report/``.

    Raises:
        StoreError: It cannot be read, is no report, is damaged, or of a newer version.
    """
    with _opened(path) as file:
        try:
            found = _of_file(file, path)
        except (OSError, UnicodeDecodeError) as error:
            raise _unreadable(path, error) from None
        yield found


def _opened(path: Path) -> BinaryIO:
    try:
        return open_file(path)
    except FileNotFoundError:
        raise StoreError(f"{path} does not exist. {_MEND}") from None
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: Exception) -> StoreError:
    return StoreError(f"{path} cannot be read ({error}). {_MEND}")


def _of_file(file: BinaryIO, path: Path) -> Document:
    first = _json(file.readline().decode())
    if isinstance(first, dict) and first.get("promptfuzz") == LINES:
        _check_format(first, path)
        return _of_lines(first, file, path)
    file.seek(0)
    return _of_json(_json(file.read().decode()), path)


class PackedTests(Sequence["DocumentTest"]):
    """Tests that are unpacked, each when it is asked for.

    Args:
        read: Gives the packed test at a place.
        amount: How many there are.
        row: Gives the same as JSON, where that is what would be written of it.
    """

    def __init__(
        self,
        read: Callable[[int], Mapping[str, Any]],
        amount: int,
        row: Callable[[int], str] | None = None,
    ) -> None:
        self._read, self._amount, self._row = read, amount, row

    def __len__(self) -> int:
        return self._amount

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(self._amount))]
        if not -self._amount <= place < self._amount:
            raise IndexError(place)
        return unpacked(self._read(place % self._amount))

    def rows(self) -> Iterator[str]:
        """Each test packed, as JSON on one row."""
        return map(self._row, range(self._amount)) if self._row is not None else map(_row_of, self)


class WholeTests(list["DocumentTest"]):
    """The tests of a run, all unpacked, beside the file that has them packed."""

    def __init__(self, source: PackedTests) -> None:
        super().__init__(source)
        self._source = source

    def rows(self) -> Iterator[str]:
        """Each test packed, as JSON on one row."""
        return self._source.rows()


_Place: TypeAlias = "tuple[int, int]"
"""Where a line begins in a file, and its length, in bytes."""


class _Places:
    """Where the lines of a run stand; of a test that ended more than once (it was run again), the last counts."""

    def __init__(self) -> None:
        self.judged: dict[str, _Place] = {}
        self.unjudged: dict[str, _Place] = {}
        self.end: _Place | None = None

    def judge(self, test: str, place: _Place) -> None:
        """A test was judged."""
        self.judged[test] = place
        self.unjudged.pop(test, None)

    def leave(self, test: str, place: _Place) -> None:
        """A test ended without a verdict."""
        self.unjudged[test] = place
        self.judged.pop(test, None)

    def document(self, file: BinaryIO) -> Document:
        """The document that the lines of a whole run make, which are known to be right."""
        places = list(self.judged.values())

        def row(place: int) -> str:
            return _line_at(file, places[place])[len(_TEST) : -len("}\n")]

        assert self.end is not None
        end = json.loads(_line_at(file, self.end))["end"]
        return _document(
            end["run"],
            PackedTests(lambda place: cast("Mapping[str, Any]", json.loads(row(place))), len(places), row),
            unjudged=[json.loads(_line_at(file, each))["unjudged"] for each in self.unjudged.values()],
            changes=end["changes"],
            trends=end["trends"],
            warnings=end["warnings"],
        )


def _line_at(file: BinaryIO, place: _Place) -> str:
    file.seek(place[0])
    return file.read(place[1]).decode()


def _of_json(content: Any, path: Path) -> Document:
    """A document in one piece, whose packed tests are in memory."""
    if not isinstance(content, dict) or content.get("promptfuzz") != KIND:
        why = "is no JSON, or was cut off" if content is None else "is no report of a run"
        raise StoreError(f"{path} {why}. {_MEND}")
    _check_format(content, path)
    tests = content.get("tests")
    if not isinstance(tests, list):
        raise _damaged(path, "it has no list of tests")
    run = _run(_held(content, "run", path))
    for each in tests:
        _check_test(each, path)
    return _document(
        run,
        PackedTests(tests.__getitem__, len(tests)),
        unjudged=_held(content, "unjudged", path) or [],
        changes=_held(content, "changes", path),
        trends=_held(content, "trends", path),
        warnings=_held(content, "warnings", path) or [],
    )


def _document(run: RunReport, tests: PackedTests, **rest: Any) -> Document:
    """A document that does not copy its tests."""
    found = document(run, (), **rest)
    found["tests"] = cast("list[DocumentTest]", tests)
    return found


def _of_lines(header: Mapping[str, Any], file: BinaryIO, path: Path) -> Document:
    """A run's lines; of a test that ended more than once (it was run again), the last counts."""
    judged: dict[str, tuple[int, int]] = {}
    unjudged: dict[str, UnjudgedReport] = {}
    end: dict[str, Any] = {}
    warnings: list[str] = []
    at = file.tell()
    for number, row in enumerate(file, 2):
        start, at = at, at + len(row)
        line = _json(row.decode())
        if not isinstance(line, dict):
            if row.endswith(b"\n"):  # else it was cut off as the run was killed
                warnings.append(f"{path}, line {number} is damaged; its test is left out")
        elif "test" in line:
            name = _check_test(line["test"], path)
            judged[name] = (start, len(row))
            unjudged.pop(name, None)
        elif "unjudged" in line:
            (one,) = _held({"unjudged": [line["unjudged"]]}, "unjudged", path)
            unjudged[one["test"]] = one
            judged.pop(one["test"], None)
        elif isinstance(line.get("end"), dict):
            end = line["end"]
    places = list(judged.values())

    def read(place: int) -> Mapping[str, Any]:
        start, length = places[place]
        file.seek(start)
        found: Mapping[str, Any] = json.loads(file.read(length))["test"]
        return found

    return _document(
        _run(_held(end if "run" in end else header, "run", path)),
        PackedTests(read, len(places)),
        unjudged=unjudged.values(),
        changes=_held(end, "changes", path),
        trends=_held(end, "trends", path),
        warnings=[*warnings, *(_held(end, "warnings", path) or ())],
    )


class ReportSource:
    """The report of a run in a file, as the formats that are asked for need it: whole, or test by test.

    Args:
        path: Of the file.
        formats: Names of the formats.
    """

    def __init__(self, path: Path, formats: Iterable[str]) -> None:
        self.path = path
        self._streamed = all(map(_is_streamed, formats))

    @contextmanager
    def document(self) -> Iterator[Document]:
        """The report.

        Raises:
            StoreError: As :func:`read_document`.
        """
        with uncollected():
            if not self._streamed:
                yield read_document(self.path)
                return
            with opened_document(self.path) as found:
                yield found


def _is_streamed(name: str) -> bool:
    return name in reporters().names() and isinstance(reporters().one(name, name), StreamedReporter)


def _check_test(short: Any, path: Path) -> str:
    """Make sure that renderers need not doubt what a test holds; its name."""
    if said := wrong("test", short):
        raise _damaged(path, said)
    inputs, prompts = len(short.get("inputs", ())), len(short.get("prompts", ()))
    for each in (*short["trials"], *short.get("drift", ())):
        case, original = each.get("case") or 0, each.get("original", 0)
        if case < 0 or (inputs and case >= inputs):
            raise _damaged(path, f"test {safe(short['test'])}: it has no input {case}, of which a trial is")
        if original < 0 or (original and original >= prompts):
            raise _damaged(
                path, f"test {safe(short['test'])}: it has no prompt {original}, which a trial changes"
            )
        if any(len(tier) != 3 for tier in each.get("tiers", ())):
            raise _damaged(path, f"test {safe(short['test'])}: tiers are name, similarity and note")
    if _whole_size(short) > MAX_FILE:
        raise _damaged(
            path, f"test {safe(short['test'])}: its trials are more than {shown(MAX_FILE)} once unpacked"
        )
    return str(short["test"])


def _whole_size(short: Mapping[str, Any]) -> int:
    """How many characters the prompts of a test's trials have once each has its own."""
    prompts, size = short.get("prompts", ()), 0
    for each in short["trials"]:
        original = each.get("original", 0)
        length, at = len(prompts[original]) if original < len(prompts) else 0, 0
        size += 2 * length
        for start, end, text in each.get("edits", ()):
            size += max(0, min(start, length) - at) + max(0, min(end, length) - start) + 2 * len(text)
            at = end
    return size


def _held(content: Mapping[str, Any], key: str, path: Path) -> Any:
    """A part of a document or ``None`` where it is not there, and has not to be."""
    value = content.get(key)
    if (value is not None or key == "run") and (said := wrong(key, value)):
        raise _damaged(path, said)
    return value


def _run(found: Any) -> RunReport:
    return cast("RunReport", {**_RUN, **(found or {})})


def _check_format(content: Mapping[str, Any], path: Path) -> None:
    if content.get("format") != FORMAT:
        raise StoreError(
            f"{path} is a report of format {content.get('format')!r}, and this version of pytest-promptfuzz reads "
            f"{FORMAT}. Use the version that wrote it."
        )


def _damaged(path: Path, why: str) -> StoreError:
    return StoreError(f"{path} is a damaged report: {why}. {_MEND}")


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
