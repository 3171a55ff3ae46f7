"""``promptfuzz study``, as it is called."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.cli.main import main
from pytest_promptfuzz.server.faults import Unauthorized
from pytest_promptfuzz.studies.cells import read_cells
from tests.studies.conftest import STUDY

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_promptfuzz.server.model_server import ModelServer


@pytest.fixture
def command(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def run(*argv: str) -> tuple[int, str, str]:
        code = main(["study", *argv])
        done = capsys.readouterr()
        return code, done.out, done.err

    return run


def test_from_a_dry_run_to_a_table(folder: Path, server: ModelServer, command) -> None:
    code, said, _ = command("study.toml", "--dry-run")
    assert (code, server.calls) == (0, 0)
    assert said.startswith("tickets: 16 calls; 0 answers in the store; about ")
    code, said, _ = command(
        "study.toml", "--out", "cells.csv", "--out", "cells.jsonl", "--table", "gold,operators"
    )
    assert (code, server.calls) == (0, 16)
    assert "| small | 100.0 ± 0.0 | 100.0 ± 0.0 | 0.0 [0.0, 0.0] |" in said
    assert "| numbered-to-bulleted | N/A |" in said
    assert read_cells(folder / "cells.csv") == read_cells(folder / "cells.jsonl")
    assert command("study.toml", "--dry-run")[1].startswith("tickets: 0 calls; 16 answers in the store; ")
    code, said, _ = command("study.toml")
    assert (code, said, server.calls) == (0, "tickets: 20 cells, 0 errors.\n", 16)
    code, said, _ = command("table", "cells.csv", "--table", "gold", "--format", "latex")
    assert (code, said[:13]) == (0, "\\begin{table}")


def test_shares_are_merged(folder: Path, server: ModelServer, command) -> None:
    for number in (1, 2):
        assert command("study.toml", "--shard", f"{number}/2", "--out", f"part-{number}.csv")[0] == 0
    code, said, _ = command("merge", "part-1.csv", "part-2.csv", "--out", "cells.jsonl")
    assert (code, said) == (0, "Wrote 20 cells to cells.jsonl.\n")
    assert server.calls == 16


def test_data_from_a_file_and_a_sample_of_it(folder: Path, server: ModelServer, command) -> None:
    with (folder / "tickets.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "ticket", "expected"])
        rows.writerows([f"t{number}", f"I was charged {number} times.", "billing"] for number in range(2, 32))
    given = STUDY[STUDY.index("inputs = ") : STUDY.index("\ntask = ")]
    (folder / "study.toml").write_text(STUDY.replace(given, 'inputs = "tickets.csv"'), encoding="utf-8")
    code, said, _ = command("study.toml", "--sample", "5", "--json")
    cells = json.loads(said)
    assert code == 0
    assert len({each["input"] for each in cells}) == 5
    assert {each["gold"] for each in cells if each["outcome"] == "baseline"} == {True}


def test_a_model_that_does_not_answer_is_told(folder: Path, server: ModelServer, command) -> None:
    server.fail(Unauthorized(times=None))
    code, said, why = command("study.toml", "--out", "cells.csv")
    assert code == 3
    assert "Wrote 20 cells to cells.csv." in said
    assert why.startswith("promptfuzz study: small: 16 answers missing: ")
    assert len(why.splitlines()) == 1


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["none.toml"], "none.toml cannot be read as a study"),
        (["study.toml", "--table", "gld"], "--table: unknown table 'gld'. Did you mean 'gold'"),
        (["study.toml", "--format", "tex"], "--format: unknown format 'tex'."),
        (["study.toml", "--out", "cells.txt"], "cells.txt: cells are written as .csv"),
        (["study.toml", "--shard", "3/2"], "--shard '3/2'; write K/N"),
        (["study.toml", "--sample", "0"], "--sample: '0' is not a whole number of 1 or more"),
        (["study.toml", "--concurrency", "0"], "--concurrency: '0' is not a whole number of 1 or more"),
        (["study.toml", "other.toml"], "a study is one file"),
        (["table"], "study table: name the files that --out wrote"),
        (["table", "cells.csv"], "study table: write --table NAME"),
        (["merge", "cells.csv"], "study merge: write --out FILE"),
        (["merge", "cells.csv", "--out", "all.csv"], "cells.csv cannot be read"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_asked(
    folder: Path, server: ModelServer, command, argv: list[str], said: str
) -> None:
    code, _, why = command(*argv)
    assert (code, server.calls) == (2, 0)
    assert "promptfuzz study: " in why
    assert said in why
