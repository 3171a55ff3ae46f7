"""Data files as inputs: CSV, TSV, JSON Lines, JSON and folders of text files, read row by row.

A table or a file of JSON Lines is never in memory as a whole; of a JSON list the text is, of a folder one file.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, NoReturn

from pytest_promptfuzz.errors import MOST_NAMES, UsageError, nearest, quoted
from pytest_promptfuzz.files import open_file
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

ID, EXPECTED = "id", "expected"
"""The columns that name an input and hold its gold answer."""
COLUMN = "column:"
"""What ``expected=`` begins with where it names a column."""

_BOM = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_SEPARATORS = ",;\t"
_SPACE = expression(r"[ \t\n\r]*")
_OBJECT = 'Write an object, {"ticket": "Where is my parcel?"}, or a text in quotes'


class DataRow(NamedTuple):
    """A row of a data file.

    Attributes:
        number: From 1.
        place: Where it stands, for messages: ``line 4``, ``item 3 (line 9)``, ``file 'a.txt'``.
        id: Its name, if it has one: the column ``id``, or the file's name.
        value: All of its columns, or the text that it is.
    """

    number: int
    place: str
    id: str | None
    value: Mapping[str, Any] | str


class FilledRow(NamedTuple):
    """What a row means to a prompt.

    Attributes:
        row: The row.
        values: What it puts into the prompt's slots.
        expected: Its gold answer; ``None`` where it has none.
    """

    row: DataRow
    values: dict[str, object]
    expected: Any


@dataclass(frozen=True, slots=True)
class Dataset:
    """A data file, or a folder of text files.

    Attributes:
        path: Where it is.
        label: How messages about it begin.
        stream: JSON Lines that are read in its place: standard input.
    """

    path: Path
    label: str
    stream: BinaryIO | None = field(default=None, repr=False)

    @classmethod
    def find(cls, given: str | os.PathLike[str], label: str, folder: Path | None = None) -> Dataset:
        """The file or folder of a name.

        Args:
            given: Its path.
            label: How messages begin.
            folder: Where a relative path starts; the current directory by default.

        Raises:
            UsageError: There is none, or its ending is that of no format.
        """
        start = folder or Path()
        found = cls(start / given, label)
        try:
            is_folder, exists = found.path.is_dir(), found.path.exists()
        except OSError:  # the name is too long
            is_folder = exists = False
        known = found.path.suffix.lower() in _FORMATS
        if is_folder or (exists and known):
            return found
        if exists:
            found.refuse(
                f"the ending {found.path.suffix!r} is no format that can be read. Save the data as one of "
                f"{', '.join(_FORMATS)} (a spreadsheet as .csv), or give a folder of text files"
            )
        a_text = (
            ""
            if known or not isinstance(given, str)
            else f" If it is a text, write a list, [{quoted(given)}]."
        )
        raise UsageError(f"{label}: there is no such file or folder. {_hint(Path(given), start)}{a_text}")

    def rows(self) -> Iterator[DataRow]:
        """Its rows, one after the other.

        Raises:
            UsageError: It cannot be read; the message names the line or the row, and what to write.
        """
        seen: dict[str, str] = {}
        number = 0
        for number, (place, key, value) in enumerate(self._values(), 1):
            name = self._id(key, place)
            if number > 1 and (name is None) == bool(seen):
                missing, other = (
                    ("no ID", "have one") if name is None else (f"the ID {quoted(name)}", "have none")
                )
                self.refuse(
                    f"has {missing}, and the rows before it {other}. Give an ID to all rows or to none", place
                )
            if name is not None and name in seen:
                self.refuse(
                    f"has the ID {quoted(name)}, and so has {seen[name]}. Give each row an ID of its own",
                    place,
                )
            if name is not None:
                seen[name] = place
            yield DataRow(number, place, name, value)
        if not number:
            self.refuse(_NO_ROWS["folder" if self._is_folder else self._ending])

    def filled(
        self, slots: Sequence[str], expected: Any = None, common: Mapping[str, object] | None = None
    ) -> Iterator[FilledRow]:
        """Its rows, with what each puts into the slots of a prompt.

        Args:
            slots: The prompt's.
            expected: What was given as ``expected=``: ``"column:NAME"`` names the column of the gold answers. By
                default that is ``expected``, unless a slot has this name.
            common: Values of slots for all rows; a row's own value comes first.

        Raises:
            UsageError: As :meth:`rows`; a slot has no column; the column of gold answers does not exist, or stands
                beside gold answers that were given.
        """
        named = gold_column(expected)
        column = named or EXPECTED
        has_gold = named is not None or EXPECTED not in slots
        columns: dict[str, None] = {}
        for row in self.rows():
            gold = None
            if isinstance(row.value, str):
                values = self._of_text(row, row.value, slots, common or {})
            else:
                values = self._of_columns(row, row.value, slots, common or {})
                gold = row.value.get(column) if has_gold else None
                if named is None and expected is not None and has_gold and column in row.value:
                    self.refuse(_TWO_GOLDS, self._header_or(row))
                if named is not None and named not in columns:
                    columns.update(dict.fromkeys(row.value))
            yield FilledRow(row, values, None if gold == "" else gold)
        if named is not None and named not in columns:
            self.refuse(f"expected={expected!r} names a column that is not there. {_columns(named, columns)}")

    def lines(self) -> Iterator[str]:
        """Its lines, decoded; each ends with a line feed alone, but for the last.

        Raises:
            UsageError: It cannot be read, or holds bytes that no text in UTF-8 has.
        """
        try:
            with self.stream or open_file(self.path) as file:
                for number, raw in enumerate(file, 1):
                    line = self._decoded(raw.removeprefix(_BOM) if number == 1 else raw, number)
                    yield line[:-2] + "\n" if line.endswith("\r\n") else line
        except OSError as error:
            self.refuse(f"it cannot be read ({error.strerror or error})")

    def refuse(self, what: str, place: str = "") -> NoReturn:
        """Say what is wrong with it, or with a place in it.

        Raises:
            UsageError: Always.
        """
        said = f"{place} {what}" if place else what
        raise UsageError(f"{self.label}: {said}{'' if said.endswith('?') else '.'}")

    @property
    def _is_folder(self) -> bool:
        return self.stream is None and self.path.is_dir()

    @property
    def _ending(self) -> str:
        return ".jsonl" if self.stream is not None else self.path.suffix.lower()

    def _values(self) -> Iterator[tuple[str, Any, Mapping[str, Any] | str]]:
        """For each row its place, its ID as it stands there, and its value."""
        if self._is_folder:
            yield from _texts(self)
            return
        for place, value in _FORMATS[self._ending](self):
            yield place, value.get(ID, _NO_ID) if isinstance(value, dict) else _NO_ID, value

    def _id(self, key: Any, place: str) -> str | None:
        if key is _NO_ID:
            return None
        if not isinstance(key, str | int) or isinstance(key, bool) or not str(key).strip():
            shown = "an empty ID" if key in ("", None) else f"the ID {_shown(key)}"
            self.refuse(f"has {shown}. Write a text or a whole number, or leave the column 'id' out", place)
        return str(key)

    def _header_or(self, row: DataRow) -> str:
        """Where a column should stand: in the header, or in a row."""
        return "the header" if _FORMATS.get(self._ending) is _table else row.place

    def _of_columns(
        self, row: DataRow, columns: Mapping[str, Any], slots: Sequence[str], common: Mapping[str, object]
    ) -> dict[str, object]:
        found: dict[str, object] = {}
        for slot in slots:
            if slot in columns:
                value = columns[slot]
                found[slot] = value if type(value) is str else _slot_value(value)
            elif slot in common:
                found[slot] = common[slot]
            else:
                self.refuse(
                    f"has no column {slot!r} for the slot of the prompt. {_columns(slot, columns)}",
                    self._header_or(row),
                )
        return found

    def _of_text(
        self, row: DataRow, text: str, slots: Sequence[str], common: Mapping[str, object]
    ) -> dict[str, object]:
        free = [slot for slot in slots if slot not in common] if len(slots) > 1 else slots
        if len(free) != 1:
            fields = ", ".join(f'"{slot}": "…"' for slot in slots)
            self.refuse(
                f"is one text ({quoted(text, 40)}), and the prompt has {len(slots)} slots ({', '.join(slots)}). Write "
                f"{{{fields}}}{' into a .jsonl file' if self._is_folder else ''}",
                row.place,
            )
        return {**{slot: common[slot] for slot in slots if slot in common}, free[0]: text}

    def _decoded(self, raw: bytes, number: int) -> str:
        place = f"line {number}"
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            coding = "UTF-16" if number == 1 and raw.startswith(_UTF_16) else "WINDOWS-1252"
            self.refuse(
                f"holds the byte 0x{raw[error.start]:02X} at position {error.start + 1}, which is not UTF-8. Save the "
                f"file as UTF-8 (in Excel: CSV UTF-8), or convert it, here from {coding}: iconv -f {coding} -t UTF-8 "
                f"{self.path.name} > utf8-{self.path.name}",
                place,
            )
        if "\0" in line:
            self.refuse(
                f"holds a NUL byte at position {raw.index(0) + 1}: the file is damaged, or no text in UTF-8. Save it "
                "as UTF-8",
                place,
            )
        return line


def gold_column(expected: Any) -> str | None:
    """The column that ``expected=`` names; ``None`` where it is something else."""
    is_named = isinstance(expected, str) and expected.startswith(COLUMN)
    return expected.removeprefix(COLUMN).strip() if is_named else None


def looks_like_text(given: str) -> bool:
    """Whether a text that stands where a file may be named is more likely an input itself."""
    return "\n" in given or (len(given.split()) != 1 and Path(given).suffix.lower() not in _FORMATS)


_NO_ID = object()
_TWO_GOLDS = (
    "has the column 'expected', and expected= is given as well. Leave one of them out, or name a column: "
    "expected='column:NAME'"
)


def _hint(given: Path, start: Path) -> str:
    """Where a file that does not exist may be."""
    if not given.is_absolute() and start != Path() and _exists(given):
        moved = os.path.relpath(given, start)
        return f"A relative path starts at the folder of the test ({os.fspath(start)}). Write {moved!r}."
    place = (start / given).parent
    if not _exists(place):
        return f"The folder {os.fspath(place)!r} does not exist either."
    names = [each.name for each in place.iterdir() if each.suffix.lower() in _FORMATS or each.is_dir()]
    names = [each for each in names if not each.startswith((".", "_"))]
    shown = repr(os.fspath(place.resolve()))
    return (
        f"We looked in {shown}. {nearest(given.name, names)}"
        if names
        else f"The folder {shown} has no data files."
    )


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def _columns(missing: str, columns: Iterable[str]) -> str:
    """Which columns there are in place of one, without a full stop."""
    names = [*columns]
    hint = nearest(missing, names)
    listed = ", ".join(map(repr, names[:MOST_NAMES])) + ", …" * (len(names) > MOST_NAMES)
    found = f"Columns: {listed}" if names else "It has none"
    return f"{found}. {hint}" if hint.startswith("Did") else found


def _shown(value: Any) -> str:
    return quoted(value, 40) if isinstance(value, str) else f"{json.dumps(value, ensure_ascii=False):.40}"


def _counted(amount: int, noun: str) -> str:
    return f"{amount} {noun}" if amount == 1 else f"{amount} {noun}s"


# Tables: CSV and TSV.


def _table(data: Dataset) -> Iterator[tuple[str, dict[str, str]]]:
    """The rows of a table below its header."""
    records = _records(data)
    columns = _header(data, next(records, None))
    width, all_named = len(columns), all(columns)
    for number, cells in records:
        place = f"line {number}"
        if len(cells) != width:
            mend = (
                "Put a cell that holds a separator in quotes"
                if len(cells) > width
                else "Add the missing cells"
            )
            data.refuse(
                f"has {_counted(len(cells), 'cell')} and the header {_counted(width, 'column')}: "
                f"{quoted(', '.join(cells), 40)}. {mend}",
                place,
            )
        pairs = zip(columns, cells, strict=True)
        yield place, dict(pairs) if all_named else {name: cell for name, cell in pairs if name}


def _records(data: Dataset) -> Iterator[tuple[int, list[str]]]:
    """The records of a table that hold more than white space, each with the number of its first line."""
    import csv

    lines = data.lines()
    begin: list[str] = []
    for line in lines:
        begin.append(line)
        if not line.isspace():
            break
    separator = "\t" if data.path.suffix.lower() == ".tsv" else _separator("".join(begin[-1:]))
    reader = csv.reader(chain(begin, lines), delimiter=separator, strict=True)
    while True:
        number = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            data.refuse(_csv_fault(str(error), csv.field_size_limit()), f"line {number}")
        if any(cell and not cell.isspace() for cell in cells):
            yield number, cells


def _separator(header: str) -> str:
    """What stands most often in a header, outside quotes."""
    outside = "".join(header.split('"')[::2])
    return max(_SEPARATORS, key=outside.count)


def _header(data: Dataset, record: tuple[int, list[str]] | None) -> list[str]:
    """The names of the columns; a column may have none."""
    if record is None:
        data.refuse(
            "it is empty. Write a header with the names of the columns, and below it a row for each input"
        )
    number, cells = record
    columns = [cell.strip() for cell in cells]
    for place, name in enumerate(columns):
        first = columns.index(name)
        if name and first != place:
            data.refuse(
                f"names the columns {first + 1} and {place + 1} alike, {quoted(name)}. Rename one of them",
                f"line {number}",
            )
    return columns


def _csv_fault(error: str, limit: int) -> str:
    """What is wrong with a row, from what ``csv`` says."""
    if "unexpected end" in error:
        return "begins a row with a quote that is never closed. Write a quote inside a quoted cell twice"
    if "field larger" in error:
        return (
            f"begins a row with a cell of more than {limit:,} characters. Close its quote; or keep long texts in a "
            ".jsonl file, or in a folder of text files"
        )
    if "new-line" in error:
        return "has a carriage return outside quotes. Save the file with line feeds at the ends of lines"
    return "has text behind the closing quote of a cell. Write a quote inside a quoted cell twice"


# JSON Lines and JSON.


class _SlotObject(dict[str, Any]):
    """An object that a slot shows as JSON."""

    def __str__(self) -> str:
        return json.dumps(self, ensure_ascii=False)


class _SlotList(list[Any]):
    """A list that a slot shows as JSON."""

    def __str__(self) -> str:
        return json.dumps(self, ensure_ascii=False)


def _slot_value(value: Any) -> object:
    """A value of JSON as it is put into a slot, which shows it as JSON; a number stays one, for ``{price:.2f}``."""
    if isinstance(value, dict):
        return _SlotObject(value)
    if isinstance(value, list):
        return _SlotList(value)
    return json.dumps(value) if value is None or isinstance(value, bool) else value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"names {quoted(twice)} twice in one object. Rename one of them")
    return found


def _no_number(name: str) -> NoReturn:
    raise UsageError(f"holds {name}, which is no JSON. Write a number, a text or null")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_number)


def _json_lines(data: Dataset) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(data.lines(), 1):
        if line.isspace():
            continue
        place = f"line {number}"
        value, end = _parsed(data, line, _behind_space(line, 0), place)
        if _behind_space(line, end) < len(line):
            data.refuse(f"has more behind its JSON: {_cut(line, end)}. {_OBJECT}, on each line", place)
        yield place, value


def _json_list(data: Dataset) -> Iterator[tuple[str, Any]]:
    text = "".join(data.lines())
    begin = _behind_space(text, 0)
    if text[begin : begin + 1] != "[":
        found = f"it begins with {_cut(text, begin)}" if text[begin:] else "it is empty"
        data.refuse(f"{found}. Write a list of objects, [{{…}}, {{…}}], or name the file .jsonl")
    position = _behind_space(text, begin + 1)
    number, line, counted = 0, 1, 0
    mark = "]" if text[position : position + 1] == "]" else ","
    while mark == ",":
        number, line, counted = number + 1, line + text.count("\n", counted, position), position
        place = f"item {number} (line {line})"
        value, end = _parsed(data, text, position, place)
        yield place, value
        position = _behind_space(text, end)
        mark = text[position : position + 1]
        if mark not in {",", "]"}:
            shown = _cut(text, position) if mark else "the end of the file"
            data.refuse(f"is followed by {shown}. Write a comma between objects, and ] at the end", place)
        position = _behind_space(text, position + 1)
    if number and position < len(text):
        data.refuse(f"it goes on behind its list with {_cut(text, position)}. Write one list")


def _parsed(data: Dataset, text: str, position: int, place: str) -> tuple[Any, int]:
    """The row at a position, and where it ends."""
    try:
        value, end = _DECODER.raw_decode(text, position)
    except UsageError as error:
        data.refuse(str(error), place)
    except (ValueError, RecursionError) as error:
        why = (
            f"{error.msg} at column {error.colno}" if isinstance(error, json.JSONDecodeError) else "too large"
        )
        a_list = " Name a file that holds a list .json" * (text[position : position + 1] == "[")
        data.refuse(f"is no JSON ({why}): {_cut(text, position)}. {a_list.strip() or _OBJECT}", place)
    if not isinstance(value, dict | str):
        kind = "a list" if isinstance(value, list) else "no object"
        data.refuse(f"is {kind}: {_shown(value)}. {_OBJECT}", place)
    return value, end


def _behind_space(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found is not None else position


def _cut(text: str, position: int) -> str:
    return quoted(text[position : position + 60].rstrip("\n"), 40)


# Folders of text files.


def _texts(data: Dataset) -> Iterator[tuple[str, str, str]]:
    """For each file of a folder its place, its name without ending, and its text."""
    try:
        files = sorted(each for each in data.path.iterdir() if not each.name.startswith("."))
    except OSError as error:
        data.refuse(f"it cannot be read ({error.strerror or error})")
    for each in files:
        place = f"file {each.name!r}"
        if each.is_dir():
            data.refuse("is a folder. Put its files beside the others, or name that folder", place)
        yield place, each.stem, "".join(Dataset(each, f"{data.label}: {place}").lines())


_FORMATS = {
    ".csv": _table,
    ".tsv": _table,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".json": _json_list,
}
_NO_TABLE = "it has a header and no rows. Write a row for each input"
_NO_LINES = "it is empty. Write an object for each input, on a line of its own"
_NO_ROWS = {
    ".csv": _NO_TABLE,
    ".tsv": _NO_TABLE,
    ".jsonl": _NO_LINES,
    ".ndjson": _NO_LINES,
    ".json": "its list is empty. Write an object for each input",
    "folder": "the folder has no files. Put a text file into it for each input",
}
"""What is wrong where there is no row, by ending."""
