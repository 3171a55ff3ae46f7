"""Files of cells: every format gives back what was written; what is no such file is refused by name."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any, get_type_hints

import pytest

from pytest_promptfuzz import ConfigurationError, UsageError
from pytest_promptfuzz.studies.cells import (
    COLUMNS,
    Cell,
    CellChange,
    CellGrades,
    CellSpending,
    merged,
    read_cells,
    write_cells,
)

if TYPE_CHECKING:
    from pathlib import Path


def cell(**values: Any) -> Cell:
    given: dict[str, Any] = {
        "study": "tickets",
        "task": "triage",
        "model": "small",
        "parameters": "",
        "input": "7",
        "operator": "synonym",
        "dimension": "semantic",
        "variant": 0,
        "mutation": "0123456789ab",
        "run": 0,
        "outcome": "equivalent",
    }
    given |= values
    change = CellChange(**{name: given.pop(name) for name in CellChange._fields if name in given})
    grades = CellGrades(**{name: given.pop(name) for name in CellGrades._fields if name in given})
    spent = CellSpending(**{name: given.pop(name) for name in CellSpending._fields if name in given})
    return Cell(**given, change=change, grades=grades, spent=spent)


CELLS = [
    cell(
        operator="",
        outcome="baseline",
        gold=True,
        answer="billing",
        latency=0.25,
        input_tokens=12,
        output_tokens=1,
    ),
    cell(similarity=0.5, gold=False, cost=1.25e-05, answer='two\nlines, "quoted"; =1+1', reason="label"),
    cell(input="", answer="zwölf ✓ \u2028", outcome="undecided"),
    cell(run=3, outcome="error", error="timeout: no answer"),
    cell(operator="tabs", dimension="", mutation="", outcome="not-applicable"),
]


def test_columns_are_those_of_a_cell() -> None:
    hints = {
        name: hint
        for part in (Cell, CellChange, CellGrades, CellSpending)
        for name, hint in get_type_hints(part).items()
    }
    assert {each.name for each in COLUMNS} == hints.keys() - {"change", "grades", "spent"}
    assert [*cell().row()] == [each.name for each in COLUMNS]
    for each in COLUMNS:
        assert hints[each.name] in {each.kind, each.kind | None}
        assert each.text


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".json", ".parquet", ".CSV"])
@pytest.mark.parametrize("cells", [CELLS, []], ids=["some", "none"])
def test_what_is_written_is_read(tmp_path: Path, suffix: str, cells: list[Cell]) -> None:
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"cells{suffix}"
    write_cells(path, cells)
    assert read_cells(path) == cells


def test_other_programs_read_them(tmp_path: Path) -> None:
    write_cells(tmp_path / "cells.csv", CELLS)
    with (tmp_path / "cells.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["gold"] for row in rows] == ["true", "false", "", "", ""]
    assert rows[1]["answer"] == CELLS[1].answer
    write_cells(tmp_path / "cells.jsonl", CELLS)
    lines = (tmp_path / "cells.jsonl").read_text(encoding="utf-8").split("\n")
    assert json.loads(lines[0])["latency"] == 0.25
    parquet = pytest.importorskip("pyarrow.parquet")
    write_cells(tmp_path / "cells.parquet", CELLS)
    table = parquet.read_table(tmp_path / "cells.parquet")
    assert [str(field.type) for field in table.schema][9:15] == [
        "int64",
        "string",
        "int64",
        "string",
        "double",
        "bool",
    ]


def test_half_of_a_pair_of_surrogates_is_replaced(tmp_path: Path) -> None:
    for suffix in (".csv", ".jsonl"):
        write_cells(tmp_path / f"cells{suffix}", [cell(answer="a\ud83d")])
        assert read_cells(tmp_path / f"cells{suffix}")[0].answer == "a?"


def test_parquet_without_pyarrow_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'pytest-promptfuzz\[parquet\]'"):
        write_cells(tmp_path / "cells.parquet", CELLS)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "cells.xlsx",
            "",
            r"cells\.xlsx: the ending '\.xlsx' is not one of \.csv, \.jsonl, \.json, \.parquet",
        ),
        ("cells.csv", "study,task\na,b\n", r"cells\.csv, row 1: no column 'model'"),
        ("cells.jsonl", "{}\nnonsense\n", r"cells\.jsonl holds no cells of a study"),
        ("cells.json", "[1]", r"cells\.json holds no cells of a study: its rows are no objects"),
        ("cells.jsonl", json.dumps({**cell().row(), "run": "x"}), r"row 1: run='x' is no int"),
        (
            "cells.jsonl",
            json.dumps({**cell().row(), "gold": "perhaps"}),
            r"row 1: gold='perhaps' is no bool",
        ),
        ("cells.parquet", "no parquet", r"cells\.parquet cannot be read"),
    ],
)
def test_what_is_no_file_of_cells_is_refused(tmp_path: Path, name: str, content: str, said: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match=said):
        read_cells(tmp_path / name)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"There is no file of cells '.*none\.csv'\. A study writes it"):
        read_cells(tmp_path / "none.csv")


def test_files_are_merged_once() -> None:
    assert merged([("a", CELLS[:3]), ("b", CELLS[2:])]) == CELLS
    with pytest.raises(
        UsageError, match="b and a hold different answers for task triage, model small, input 7"
    ):
        merged([("a", [cell()]), ("b", [cell(outcome="deviation")])])
    with pytest.raises(UsageError, match="b is of the study 'other', the files before it of 'tickets'"):
        merged([("a", [cell()]), ("b", [cell(study="other")])])


def test_a_file_without_later_columns_joins_one_that_has_them() -> None:
    """The same answer, told by an earlier version: what that lacked is taken from the other file, in either order."""
    older, newer = cell(), cell(target="simulated", expected="billing")
    assert merged([("a", [older]), ("b", [newer])]) == merged([("b", [newer]), ("a", [older])]) == [newer]
    with pytest.raises(UsageError, match="b and a hold different answers"):
        merged([("a", [cell(target="simulated")]), ("b", [cell(target="openai:gpt-5-mini")])])
    with pytest.raises(UsageError, match="b and a hold different answers"):
        merged([("a", [older]), ("b", [newer._replace(answer="other")])])


@pytest.mark.parametrize(
    "answer",
    [
        "other.\rThanks",
        "\r",
        "two\r\nlines\nand\rthree",
        'a "quoted" word, and a comma',
        "long " * 30_000,
    ],
    ids=["cr", "only-cr", "all-ends", "quotes", "long"],
)
def test_any_answer_is_read_back_from_csv(tmp_path: Path, answer: str) -> None:
    given = [cell(answer=answer), cell(run=1, answer="other")]
    before = csv.field_size_limit()
    write_cells(tmp_path / "cells.csv", given)
    assert read_cells(tmp_path / "cells.csv") == given
    assert csv.field_size_limit() == before
    with (tmp_path / "cells.csv").open("rb") as file:
        assert file.readline() == b",".join(each.name.encode() for each in COLUMNS) + b"\n"


def test_a_row_that_is_cut_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    write_cells(path, [cell(), cell(run=1)])
    path.write_text(path.read_text(encoding="utf-8").rstrip().rpartition(",,")[0], encoding="utf-8")
    with pytest.raises(
        UsageError, match=r"cells\.csv holds no cells of a study: row 2 has \d+ cells, and the header 25"
    ):
        read_cells(path)


@pytest.mark.parametrize("value", ["12.0", 12.0, "12", 12, "1.2e1"])
def test_whole_numbers_with_a_point_are_taken(tmp_path: Path, value: object) -> None:
    """As pandas writes a column that has gaps."""
    path = tmp_path / "cells.jsonl"
    path.write_text(json.dumps({**cell().row(), "input_tokens": value}), encoding="utf-8")
    (found,) = read_cells(path)
    assert (found.spent.input_tokens, type(found.spent.input_tokens)) == (12, int)


@pytest.mark.parametrize("value", ["12.5", 12.5, "nan", "inf", True])
def test_other_numbers_are_no_counts(tmp_path: Path, value: object) -> None:
    path = tmp_path / "cells.jsonl"
    path.write_text(json.dumps({**cell().row(), "input_tokens": value}), encoding="utf-8")
    with pytest.raises(UsageError, match=r"row 1: input_tokens=.* is no int"):
        read_cells(path)
