"""`Cell`: one answer of a study and what it came to; files of cells, as CSV, JSON Lines, JSON or Parquet."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.errors import ConfigurationError, UsageError, nearest, not_among
from pytest_promptfuzz.files import read_text
from pytest_promptfuzz.storage.recordings.files import write_whole
from pytest_promptfuzz.text.csv_rows import csv_rows, csv_text
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path


BASELINE = "baseline"
NOT_APPLICABLE = "not-applicable"
AGAIN = "again"
"""The operator of a study that changes nothing: the unmutated prompt is asked once more."""


class CellChange(NamedTuple):
    """What was changed in a prompt; nothing where ``operator`` is empty."""

    operator: str = ""
    dimension: str = ""
    variant: int = 0
    mutation: str = ""
    group: str = ""


class CellGrades(NamedTuple):
    """What an answer is held against beside the unmutated prompt's: the expected one, measures of quality, a judge."""

    expected: str = ""
    quality: str = ""
    judge: str = ""


class CellSpending(NamedTuple):
    """Who gave an answer, and what it took: seconds, tokens and US dollars, as far as they are known."""

    latency: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    target: str = ""


class Cell(NamedTuple):
    """One answer of a study. ``COLUMNS`` says what its parts mean, and in which order a file has them."""

    study: str
    task: str
    model: str
    parameters: str
    input: str
    run: int
    change: CellChange
    outcome: str
    similarity: float | None = None
    gold: bool | None = None
    reason: str = ""
    answer: str = ""
    spent: CellSpending = CellSpending()
    error: str = ""
    grades: CellGrades = CellGrades()

    @property
    def operator(self) -> str:
        """The change as the study names it; empty for the unmutated prompt."""
        return self.change.operator

    @property
    def simulated(self) -> bool:
        """Whether the simulated model answered."""
        return self.spent.target.partition("?")[0] == "simulated"

    @property
    def place(self) -> tuple[str, ...]:
        """What tells a cell from all others of a study."""
        return (self.task, self.model, self.input, self.operator, str(self.change.variant), str(self.run))

    def row(self) -> dict[str, Any]:
        """The values of all columns by name, in order."""
        values = {**self._asdict(), **self.change._asdict(), **self.grades._asdict(), **self.spent._asdict()}
        return {each.name: values[each.name] for each in COLUMNS}


class CellColumn(NamedTuple):
    """A column of a file of cells: its name, the type of its values, and what they are."""

    name: str
    kind: type
    text: str


COLUMNS = (
    CellColumn("study", str, "the study's name"),
    CellColumn("task", str, "the task's name; of a conversation with the turn, `support turn 2`"),
    CellColumn("model", str, "the model's name in the study, with the factors' values"),
    CellColumn(
        "target",
        str,
        "who answered, such as `openai:gpt-5-mini`; `simulated` is no real model. Older files have none",
    ),
    CellColumn("parameters", str, "what its requests ask for, a JSON object"),
    CellColumn("input", str, "the input's name; empty for a prompt without inputs"),
    CellColumn("operator", str, "the change as the study names it; empty for the unmutated prompt"),
    CellColumn("dimension", str, "the operator's dimension"),
    CellColumn("group", str, "the task's `group` of changes; empty for those that follow from operators"),
    CellColumn("variant", int, "which mutation of that operator, from 0"),
    CellColumn("mutation", str, "the mutation's ID"),
    CellColumn("run", int, "which of the study's runs, from 0"),
    CellColumn(
        "outcome",
        str,
        "`baseline`, `equivalent`, `minor`, `deviation`, `undecided`, `error`, or `not-applicable`: the operator finds "
        "no place in the prompt, or the turn comes before the one that it changes",
    ),
    CellColumn("similarity", float, "with the baseline's answer of the same run, 0 to 1"),
    CellColumn("gold", bool, "whether the answer is the expected one"),
    CellColumn("expected", str, "the expected answer, as text or JSON; empty where there is none"),
    CellColumn(
        "reason",
        str,
        "what decided the outcome, such as `label` or `guard:negation`; `oracle: …` is a failed assertion of a test",
    ),
    CellColumn(
        "quality",
        str,
        "a JSON object: what each measure of quality gave the unmutated prompt's answer and this one; empty where "
        "nothing was measured",
    ),
    CellColumn(
        "judge",
        str,
        "a JSON object where a judge decided: its name, and as `measured` how often it said 1, 2 and 3 of what people "
        "rate 1, 2 and 3",
    ),
    CellColumn("answer", str, "the answer's text, or JSON"),
    CellColumn("latency", float, "seconds, when the answer was first given"),
    CellColumn("input_tokens", int, "as the provider counts them"),
    CellColumn("output_tokens", int, "likewise"),
    CellColumn("cost", float, "US dollars of these tokens, where the price is known"),
    CellColumn("error", str, "why there is no answer"),
)
"""The schema of a file of cells, in order."""

_LATER = ("expected", "quality", "judge", "group", "target")
"""Columns that earlier files lack."""
_KINDS = {each.name: each.kind for each in COLUMNS}
SUFFIXES = (".csv", ".jsonl", ".json", ".parquet")


def write_cells(path: Path, cells: Sequence[Cell]) -> None:
    """Write a file of cells, in the format of its suffix: ``.csv``, ``.jsonl``, ``.json`` or ``.parquet``.

    Raises:
        UsageError: Another suffix, or the file cannot be written.
        ConfigurationError: Parquet, and pyarrow is not installed.
    """
    suffix = _suffix(path)
    if suffix == ".parquet":
        _write_parquet(path, cells)
        return
    text = _csv(cells) if suffix == ".csv" else _json(cells, lines=suffix == ".jsonl")
    try:
        # An answer may hold half of a surrogate pair, which no reader of UTF-8 takes.
        write_whole(path, text.encode("utf-8", "replace"))
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}.") from None


def read_cells(path: Path) -> list[Cell]:
    """The cells of a file that ``write_cells`` wrote, in order.

    Raises:
        UsageError: It cannot be read, lacks a column, or holds a value of another type.
        ConfigurationError: Parquet, and pyarrow is not installed.
    """
    suffix = _suffix(path)
    if suffix == ".parquet":
        return [cell_of(row, f"{path}, row {number}") for number, row in enumerate(_read_parquet(path), 1)]
    try:
        text = read_text(path)
    except FileNotFoundError:
        raise _missing(path) from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} cannot be read: it is not UTF-8 (byte {error.start}).") from None
    try:
        if suffix == ".csv":
            rows: list[Any] = _records(csv_rows(text))
        elif suffix == ".jsonl":
            rows = [json.loads(line) for line in text.split("\n") if line.strip()]
        else:
            rows = json.loads(text)
    except (ValueError, csv.Error, RecursionError) as error:
        raise UsageError(f"{path} holds no cells of a study: {error}.") from None
    if not isinstance(rows, list) or not all(isinstance(each, dict) for each in rows):
        raise UsageError(f"{path} holds no cells of a study: its rows are no objects.")
    return [cell_of(row, f"{path}, row {number}") for number, row in enumerate(rows, 1)]


def _missing(path: Path) -> UsageError:
    start = "" if path.is_absolute() else f"; relative paths start at '{path.cwd()}'"
    return UsageError(
        f"There is no file of cells '{path}'{start}. A study writes it: promptfuzz study STUDY.toml --out {path.name}"
    )


def merged(parts: Iterable[tuple[str, Sequence[Cell]]]) -> list[Cell]:
    """The cells of several files as those of one study.

    Raises:
        UsageError: Two files hold different answers for one place, or are of different studies.
    """
    found: dict[tuple[str, ...], tuple[str, Cell]] = {}
    study = ""
    for name, cells in parts:
        for cell in cells:
            study = study or cell.study
            if cell.study != study:
                raise UsageError(f"{name} is of the study {cell.study!r}, the files before it of {study!r}.")
            earlier = found.setdefault(cell.place, (name, cell))
            if earlier[1] == cell:
                continue
            joined = _with_later_columns(earlier[1], cell)
            if joined is None:
                raise UsageError(
                    f"{name} and {earlier[0]} hold different answers for task {cell.task}, model {cell.model}, input "
                    f"{cell.input or '-'}, operator {cell.operator or '-'}, run {cell.run}. Leave one of them out."
                )
            found[cell.place] = (name, joined)
    return [cell for _, cell in found.values()]


def _with_later_columns(one: Cell, other: Cell) -> Cell | None:
    """One cell of two that differ in columns which an earlier file lacks; ``None`` where they differ elsewhere."""
    rows = one.row(), other.row()
    joined = {name: value or rows[1][name] if name in _LATER else value for name, value in rows[0].items()}
    for row in rows:
        if any(
            row[name] not in ({"", value} if name in _LATER else {value}) for name, value in joined.items()
        ):
            return None
    return cell_of(joined, "a joined cell")


SELECTABLE = ("task", "model", "input", "operator", "dimension", "run", "outcome", "reason", "gold")
"""The columns by which cells can be selected."""
_OF_CHANGES = ("operator", "dimension", "outcome", "reason", "gold")


def selected(cells: Sequence[Cell], where: Mapping[str, Sequence[str]]) -> list[Cell]:
    """The cells whose columns hold one of these values, with the unmutated prompt's cells that belong to them.

    Args:
        cells: Of a study.
        where: By column, its values; ``*`` stands for any characters where no cell has the value as it is written.

    Raises:
        UsageError: A column that there is not, or a value that no cell has.
    """
    kept = list(cells)
    for column, patterns in where.items():
        if column not in SELECTABLE:
            raise UsageError(not_among(f"the column {column!r}", column, SELECTABLE))
        values = {name for each in kept for name in _texts_in(each, column)}
        matching: set[str] = set()
        for pattern in patterns:
            found = _matching(pattern, values)
            if not found:
                raise UsageError(_without_cell(column, pattern, values))
            matching |= found
        spared = column in _OF_CHANGES
        kept = [
            each
            for each in kept
            if (spared and not each.operator) or not matching.isdisjoint(_texts_in(each, column))
        ]
    return kept


def _texts_in(cell: Cell, column: str) -> set[str]:
    """What a column may be selected by; files of earlier versions have the ID of an input in quotes."""
    value = getattr(cell.change if column == "dimension" else cell, column)
    text = "" if value is None else str(_shown(value))
    return {text, text.strip("'")} if column == "input" else {text}


def _matching(pattern: str, values: set[str]) -> set[str]:
    """The value that is written so; else those that fit, where ``*`` stands for any characters."""
    if pattern in values:
        return {pattern}
    fits = re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL).fullmatch
    return {each for each in values if fits(each)}


def _without_cell(column: str, pattern: str, values: set[str]) -> str:
    """The sentence for a value that no cell has, and what may be meant."""
    parts = [each.strip() for each in pattern.split(",")]
    other = re.search(r",\s*(\w+)\s*=", pattern)
    if len(parts) > 1 and all(_matching(each, values) for each in parts):
        hint = f"For either value write {','.join(f'{column}={each}' for each in parts)}."
    elif other:
        hint = not_among(f"The column {other[1]!r}", other[1], SELECTABLE)
    else:
        hint = nearest(pattern, values - {""})
    return f"no cell has {column}={pattern}. {hint}"


def check_target(path: Path) -> None:
    """See that a file of cells can be written, before its answers are paid for.

    Raises:
        UsageError: Its suffix is that of no format, or its folder does not exist.
        ConfigurationError: Parquet, and pyarrow is not installed.
    """
    if _suffix(path) == ".parquet":
        _arrow()
    if not path.parent.is_dir():
        raise UsageError(f"{path} cannot be written: there is no folder '{path.parent}'.")


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(f"{path}: {not_among(f'the ending {suffix!r}', suffix, SUFFIXES)}")
    return suffix


def _csv(cells: Iterable[Cell]) -> str:
    return csv_text([_KINDS, *(map(_shown, cell.row().values()) for cell in cells)])


def _records(rows: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    """The rows below a header, by its names.

    Raises:
        ValueError: One has more or fewer cells.
    """
    head = rows[0] if rows else []
    for number, row in enumerate(rows):
        if len(row) != len(head):
            raise ValueError(f"row {number} has {counted(len(row), 'cell')}, and the header {len(head)}")
    return [dict(zip(head, row, strict=True)) for row in rows[1:]]


def _shown(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value


def _json(cells: Iterable[Cell], *, lines: bool) -> str:
    rows = [json.dumps(cell.row(), ensure_ascii=False) for cell in cells]
    return "".join(f"{row}\n" for row in rows) if lines else "[\n" + ",\n".join(rows) + "\n]\n"


def cell_of(row: dict[str, Any], where: str) -> Cell:
    """The cell that a row of a file holds.

    Raises:
        UsageError: A column is missing, or has a value of another type; the message begins with ``where``.
    """
    row = {**dict.fromkeys(_LATER, ""), **row}
    missing = [each for each in _KINDS if each not in row]
    if missing:
        raise UsageError(
            f"{where}: no column {missing[0]!r}; this is no file of cells, or one of its columns is gone."
        )
    values = {name: _value(row[name], name, kind, where) for name, kind in _KINDS.items()}
    change = CellChange(**{name: values.pop(name) for name in CellChange._fields})
    grades = CellGrades(**{name: values.pop(name) for name in CellGrades._fields})
    spent = CellSpending(**{name: values.pop(name) for name in CellSpending._fields})
    return Cell(**values, change=change, grades=grades, spent=spent)


def _value(value: Any, name: str, kind: type, where: str) -> Any:
    if kind is str:
        return "" if value is None else str(value)
    if value is None or value == "":
        return None
    try:
        if kind is bool:
            return {"true": True, "false": False}[str(value).lower()]
        return _whole(value) if kind is int else kind(value)
    except (KeyError, TypeError, ValueError):
        raise UsageError(f"{where}: {name}={value!r:.40} is no {kind.__name__}.") from None


def _whole(value: Any) -> int:
    """A whole number, also as programs write it that keep a column with gaps as numbers with a point."""
    try:
        return int(str(value))
    except ValueError:
        number = float(value)
    if not number.is_integer() or isinstance(value, bool):
        raise ValueError(value)
    return int(number)


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise ConfigurationError(
            "Parquet needs pyarrow: pip install 'pytest-promptfuzz[parquet]'. Or write .csv or .jsonl."
        ) from None
    return pa, parquet


def _write_parquet(path: Path, cells: Sequence[Cell]) -> None:
    arrow, parquet = _arrow()
    types = {str: arrow.string(), int: arrow.int64(), float: arrow.float64(), bool: arrow.bool_()}
    schema = arrow.schema([(each.name, types[each.kind]) for each in COLUMNS])
    rows = [each.row() for each in cells]
    arrays = [arrow.array([_encodable(row[each.name]) for row in rows], types[each.kind]) for each in COLUMNS]
    table = arrow.table(arrays, schema)
    text = io.BytesIO()
    parquet.write_table(table, text)
    try:
        write_whole(path, text.getvalue())
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}.") from None


def _encodable(value: object) -> object:
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value


def _read_parquet(path: Path) -> list[dict[str, Any]]:
    arrow, parquet = _arrow()
    try:
        rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    except FileNotFoundError:
        raise _missing(path) from None
    except (OSError, arrow.ArrowException) as error:
        raise UsageError(f"{path} cannot be read: {error}.") from None
    return rows
