"""``promptfuzz study``, as it is called."""

from __future__ import annotations

import csv
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.cli.main import main
from pytest_promptfuzz.cli.study import PLOT_NAMES, TABLE_NAMES
from pytest_promptfuzz.reporting.study_plots import PLOTS
from pytest_promptfuzz.server.faults import Unauthorized
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.studies.cells import COLUMNS, read_cells, write_cells
from pytest_promptfuzz.studies.tables.named_tables import TABLES
from tests.studies.conftest import STUDY
from tests.studies.test_cells import cell

if TYPE_CHECKING:
    from collections.abc import Callable


PAGE = Path(__file__).parents[2] / "docs" / "studies" / "tables.md"


def test_help_and_page_have_every_table_and_every_column() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert TABLE_NAMES.split(", ") == [*TABLES]
    rows = r"^\| `([\w-]+)` \| (?:model|operator|pair|answer|task|turn|wording|factor|group)[ |,]"
    assert re.findall(rows, page, re.MULTILINE) == [*TABLES]
    assert PLOT_NAMES.split(", ") == [*PLOTS]
    types = {str: "text", int: "integer", float: "number", bool: "true/false"}
    rows = "".join(f"| `{each.name}` | {types[each.kind]} | {each.text} |\n" for each in COLUMNS)
    assert f"| column | type | what it holds |\n| --- | --- | --- |\n{rows}\n" in page


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
    assert said.startswith("tickets: 16 calls; 0 answers stored; about ")
    code, said, _ = command(
        "study.toml", "--out", "cells.csv", "--out", "cells.jsonl", "--table", "gold,operators"
    )
    assert (code, server.calls) == (0, 16)
    assert "| small | 100.0 ± 0.0 | 100.0 ± 0.0 | 0.0 [0.0, 0.0] |" in said
    assert "| numbered-to-bulleted | N/A |" in said
    assert read_cells(folder / "cells.csv") == read_cells(folder / "cells.jsonl")
    assert command("study.toml", "--dry-run")[1].startswith("tickets: 0 calls; 16 answers stored; ")
    code, said, _ = command("study.toml")
    assert (code, said, server.calls) == (0, "tickets: 20 cells, 0 errors.\n", 16)
    code, said, _ = command("table", "cells.csv", "--table", "gold", "--format", "latex")
    assert (code, said[:13]) == (0, "\\begin{table}")
    code, said, _ = command("table", "cells.csv", "--table", "gold", "--table", "robustness,gold")
    assert code == 0
    assert [each for each in said.splitlines() if each.startswith("**")] == [
        "**Gold accuracy by model**",
        "**Robustness by model and dimension**",
    ]


def test_the_changed_answers_behind_a_figure(folder: Path, server: ModelServer, command) -> None:
    study = STUDY.replace('target = "openai:gpt-5-mini"', 'target = "simulated?noise=0.5"').replace(
        "runs = 2", "runs = 4"
    )
    (folder / "study.toml").write_text(study, encoding="utf-8")
    assert command("study.toml", "--out", "cells.csv")[0] == 0
    cells = read_cells(folder / "cells.csv")
    expected = [each for each in cells if each.operator == "upper-case" and each.outcome == "deviation"]
    assert expected
    code, said, _ = command("table", "cells.csv", "--changes", "--where", "operator=upper-case", "--json")
    (table,) = json.loads(said)
    rows = [each["values"] for each in table["rows"]]
    assert code == 0
    assert [(each["input"], each["run"], each["answer"]) for each in rows] == [
        (each.input, str(each.run), each.answer) for each in expected
    ]
    same = command("table", "cells.csv", "--table", "changes", "--where", "operator=upper-case", "--json")
    assert same == (0, said, "")
    code, said, _ = command("table", "cells.csv", "--changes", "--where", "operator=upper-case")
    assert f"{len(rows)} of 8 answers to changed prompts." in said


def test_tables_as_json_have_their_figures_in_full(folder: Path, server: ModelServer, command) -> None:
    code, said, _ = command("study.toml", "--out", "cells.csv", "--table", "gold,operators", "--json")
    tables = json.loads(said)
    assert code == 0
    assert [each["table"] for each in tables] == ["gold", "operators"]
    gold = tables[0]
    assert (gold["title"], gold["row"]) == ("Gold accuracy by model", "model")
    assert gold["columns"]["unmutated"] == "%"
    (row,) = gold["rows"]
    assert row["name"] == "small"
    assert [*row["values"]] == [*gold["columns"]]
    assert row["values"]["unmutated"] == {"value": 1.0, "std": 0.0, "low": None, "high": None, "mark": ""}
    nowhere = next(each for each in tables[1]["rows"] if each["name"] == "numbered-to-bulleted")
    assert None in nowhere["values"].values()
    assert command("table", "cells.csv", "--table", "gold,operators", "--json") == (0, said, "")
    code, said, _ = command("study.toml", "--json")
    assert [*json.loads(said)[0]] == [each.name for each in COLUMNS]


@pytest.mark.parametrize("action", ["table", "plot", "merge"])
@pytest.mark.parametrize(
    "given",
    [
        ("--dry-run",),
        ("--sample", "3"),
        ("--cells", "20%"),
        ("--shard", "1/2"),
        ("--mitigate", "cot"),
        ("--executor", "dask:x"),
        ("--max-calls", "3"),
        ("--mode", "live"),
        ("--concurrency", "2"),
    ],
    ids=lambda given: given[0],
)
def test_what_reads_cells_refuses_options_of_a_run(
    folder: Path, command, action: str, given: tuple[str, ...]
) -> None:
    more = {"table": ("--table", "gold"), "plot": ("--plot", "heatmap"), "merge": ("--out", "all.csv")}[
        action
    ]
    code, said, why = command(action, "cells.csv", *more, *given)
    assert (code, said) == (2, "")
    assert f"{action}: {given[0]} is for running a study, and `study {action}` reads cells" in why


@pytest.mark.parametrize(
    ("where", "models"),
    [
        (["model=x[1]"], ["x[1]"]),
        (["model=a,b"], ["a,b"]),
        (["model=a,b,operator=upper-case"], ["a,b"]),
        (["model=x[1],model=a,b"], ["x[1]", "a,b"]),
        (["model=x[1]", "--where", "model=a,b"], ["x[1]", "a,b"]),
        (["model=x*"], ["x[1]", "x1", "x?"]),
        (["model=x?"], ["x?"]),
        (["model=y*"], ["y*"]),
        (["model=*]"], ["x[1]"]),
        (["input=1 ('I was charged, why')"], ["a,b"]),
    ],
)
def test_every_name_can_be_selected(folder: Path, command, where: list[str], models: list[str]) -> None:
    cells = [
        cell(model=model, input="1 ('I was charged, why')" if model == "a,b" else "t[0]", **change)
        for model in ("x[1]", "x1", "x?", "y*", "y1", "a,b")
        for change in ({"operator": "", "outcome": "baseline"}, {"operator": "upper-case"})
    ]
    write_cells(Path("cells.csv"), cells)
    code, _, why = command("merge", "cells.csv", "--out", "some.csv", "--where", *where)
    assert (code, why) == (0, "")
    assert {each.model for each in read_cells(Path("some.csv"))} == {*models}


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("model=smal", "no cell has model=smal. Did you mean 'small'?"),
        (
            "model=small,large",
            "no cell has model=small,large. For either value write model=small,model=large.",
        ),
        (
            "operator=tone,modle=small",
            "no cell has operator=tone,modle=small. The column 'modle' is not one of",
        ),
        ("small", "--where: 'small' has no value. Write COLUMN=VALUE"),
    ],
)
def test_a_value_that_no_cell_has_names_what_may_be_meant(
    folder: Path, command, where: str, said: str
) -> None:
    write_cells(Path("cells.csv"), [cell(model=model, operator="tone") for model in ("small", "large")])
    code, _, why = command("merge", "cells.csv", "--out", "some.csv", "--where", where)
    assert code == 2
    assert said in why


def test_a_file_of_cells_that_is_not_there(folder: Path, command) -> None:
    code, _, why = command("table", "gone.csv", "--table", "gold")
    assert code == 2
    assert f"there is no file of cells 'gone.csv'; relative paths start at '{folder}'." in why
    assert "A study writes it: promptfuzz study STUDY.toml --out gone.csv" in why


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
        (["none.toml"], "there is no study file 'none.toml'; relative paths start at"),
        (
            ["study.toml", "--out", "none/cells.csv"],
            "none/cells.csv cannot be written: there is no folder 'none'",
        ),
        (["study.toml", "--table", "gld"], "--table: 'gld' is unknown. Did you mean 'gold'?"),
        (["study.toml", "--format", "tex"], "--format: 'tex' is not one of "),
        (
            ["study.toml", "--out", "cells.txt"],
            "--out cells.txt: the ending '.txt' is not one of .csv, .jsonl, .json, .parquet",
        ),
        (["study.toml", "--format", "csv"], "--format csv is of tables: add --table NAME."),
        (["study.toml", "--format", "html"], "--format html is of tables: add --table NAME."),
        (["study.toml", "--shard", "3/2"], "--shard: '3/2' is not a share. Write K/N"),
        (["study.toml", "--sample", "0"], "--sample: '0' is not a whole number of 1 or more"),
        (["study.toml", "--concurrency", "0"], "--concurrency: '0' is not a whole number of 1 or more"),
        (["study.toml", "other.toml"], "a study is one file"),
        (["table"], "study: table: name the files that --out wrote"),
        (["table", "cells.csv"], "study: table: add --table NAME"),
        (
            ["table", "cells.csv", "--table", "gold", "--where", "small"],
            "--where: 'small' has no value. Write COLUMN=VALUE",
        ),
        (["study.toml", "--where", "model=small"], "--where selects cells of a file"),
        (["merge", "cells.csv"], "study: merge: add --out FILE"),
        (["plot", "cells.csv"], "study: plot: add --plot NAME"),
        (["study.toml", "--plot", "heat"], "--plot: 'heat' is not one of "),
        (["study.toml", "--out", "x.svg"], "--out x.svg: an SVG file holds one plot; write one --plot NAME"),
        (["study.toml", "--out", "x.html"], "--out x.html: write --table NAME or --plot NAME for the page"),
        (["study.toml", "--plot", "ranks", "--out", "none/x.svg"], "there is no folder 'none'"),
        (["study.toml", "--table", "ranks"], "table 'ranks' needs at least two models"),
        (["study.toml", "--table", "models"], "table 'models' needs at least two models"),
        (["study.toml", "--table", "intensity"], "table 'intensity' needs an operator at two intensities"),
        (
            ["study.toml", "--table", "promptings"],
            "table 'promptings' needs a model that is prompted in two ways",
        ),
        (["study.toml", "--table", "enterprise"], "table 'enterprise' needs measures of quality"),
        (
            ["study.toml", "--table", "sentiment"],
            "table 'sentiment' needs expected answers among very negative",
        ),
        (["merge", "cells.csv", "--out", "all.csv"], "there is no file of cells 'cells.csv'"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_asked(
    folder: Path, server: ModelServer, command, argv: list[str], said: str
) -> None:
    code, _, why = command(*argv)
    assert (code, server.calls) == (2, 0)
    assert "promptfuzz study: " in why
    assert said in why


def test_a_task_may_name_a_profile_of_the_project(folder: Path, server: ModelServer, command) -> None:
    (folder / "pyproject.toml").write_text(
        '[tool.promptfuzz.profiles.strict]\ntask = "classification"\n', encoding="utf-8"
    )
    (folder / "study.toml").write_text(STUDY.replace('"classification"', '"strict"'), encoding="utf-8")
    assert command("study.toml")[0] == 0
    (folder / "study.toml").write_text(STUDY.replace('"classification"', '"strickt"'), encoding="utf-8")
    assert "study.toml: [[task]] 1: task='strickt' is not one of" in command("study.toml")[2]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_kill_loses_no_answer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(latency=0.1) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "any")
        given = [sys.executable, "-m", "pytest_promptfuzz.cli", "study", "study.toml", "--concurrency", "1"]
        killed = subprocess.Popen(given)
        while server.answered < 6 and killed.poll() is None:
            time.sleep(0.02)
        killed.send_signal(signal.SIGKILL)
        assert killed.wait() == -signal.SIGKILL
        again = subprocess.run([*given, "--out", "cells.csv"], check=False)
        assert again.returncode == 0
        assert 16 <= server.calls <= 17  # at most the one that was under way is asked once more
    assert "error" not in {each.outcome for each in read_cells(folder / "cells.csv")}


def test_parquet_without_pyarrow_is_refused_before_anything_is_asked(
    server: ModelServer, command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, _, why = command("study.toml", "--out", "cells.parquet")
    assert (code, server.calls) == (2, 0)
    assert "pip install 'pytest-promptfuzz[parquet]'" in why


def test_simulated_answers_are_named(folder: Path, command) -> None:
    (folder / "study.toml").write_text(STUDY.replace("openai:gpt-5-mini", "simulated"), encoding="utf-8")
    code, _, told = command("study.toml", "--table", "gold")
    assert (code, told) == (0, "promptfuzz study: answers are simulated: no real model was called\n")


def test_a_page_and_plots_of_a_file(folder: Path, server: ModelServer, command) -> None:
    study = STUDY.replace('"keyboard-typo:2"', '"keyboard-typo:1", "keyboard-typo:3"')
    (folder / "study.toml").write_text(study, encoding="utf-8")
    wanted = ("--table", "gold,intensity", "--plot", "heatmap,intensity")
    code, said, _ = command("study.toml", "--out", "cells.csv", "--out", "page.html", *wanted)
    assert (code, said) == (0, "Wrote cells.csv, page.html.\n")
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert (page.count("<table>"), page.count("<svg ")) == (2, 2)
    assert command("table", "cells.csv", *wanted, "--format", "html")[1] == page
    assert command("plot", "cells.csv", "--plot", "heatmap", "--out", "heat.svg")[1] == "Wrote heat.svg.\n"
    assert command("plot", "cells.csv", "--plot", "heatmap")[1] == (folder / "heat.svg").read_text(
        encoding="utf-8"
    )
    assert (folder / "heat.svg").read_text(encoding="utf-8") in page
    code, said, _ = command("table", "cells.csv", "--table", "gold,intensity")
    assert said.count("**") >= 4


def test_every_call_of_a_factorial_study_is_priced_and_made(
    folder: Path, server: ModelServer, command
) -> None:
    (folder / "examples.csv").write_text("ticket,expected\nIt never came.,shipping\n", encoding="utf-8")
    study = STUDY.replace(
        'operators = ["upper-case", "keyboard-typo:2", "double-space+politeness", "numbered-to-bulleted"]',
        'operators = ["again"]',
    ).replace(
        'task = "classification"',
        'task = "classification"\nfactorial = ["double-space", "politeness"]\nexamples = "examples.csv"\nmeasures = ["rouge-l"]',
    )
    study += '\n[factors]\nprompting = ["none", "few-shot", "cot"]\n'
    (folder / "study.toml").write_text(study, encoding="utf-8")
    # 2 inputs, unmutated twice and 3 combinations, 3 promptings, 2 runs.
    assert command("study.toml", "--dry-run")[1].startswith("tickets: 60 calls; 0 answers stored; ")
    code, said, _ = command("study.toml", "--out", "cells.csv", "--table", "promptings,enterprise,operators")
    assert (code, server.calls) == (0, 60)
    assert "| small, few-shot |" in said
    assert "| double-space+politeness |" in said
    assert "baseline %" in said
    assert command("study.toml", "--dry-run")[1].startswith("tickets: 0 calls; 60 answers stored; ")
    cells = read_cells(folder / "cells.csv")
    assert {each.parameters for each in cells} == {
        "",
        '{"prompting": "few-shot"}',
        '{"prompting": "cot"}',
    }
    again = [each for each in cells if each.operator == "again"]
    assert len(again) == 12
    assert {each.outcome for each in again} == {"equivalent"}
    assert all(each.spent.input_tokens for each in again)


def test_a_file_without_the_later_columns_is_read(folder: Path, server: ModelServer, command) -> None:
    assert command("study.toml", "--out", "cells.jsonl")[0] == 0
    rows = [json.loads(line) for line in (folder / "cells.jsonl").read_text(encoding="utf-8").splitlines()]
    later = ("expected", "quality", "group")
    (folder / "earlier.jsonl").write_text(
        "".join(json.dumps({k: v for k, v in row.items() if k not in later}) + "\n" for row in rows),
        encoding="utf-8",
    )
    new, old = (command("table", each, "--table", "gold")[1] for each in ("cells.jsonl", "earlier.jsonl"))
    assert new == old


MANY = """
[[task]]
name = "triage"
prompt = "triage.txt"
inputs = ["I was charged twice.", "A refund please.", "Where is my parcel?", "Is it delivered?", "I love your shop!", "Hello!"]
expected = ["billing", "billing", "shipping", "shipping", "other", "other"]
task = "classification"
operators = ["keyboard-typo:2"]
mutations = 10

[[model]]
name = "small"
target = "openai:gpt-5-mini"
"""


def test_accuracy_over_many_changes_from_half_of_the_cells(
    folder: Path, server: ModelServer, command
) -> None:
    (folder / "study.toml").write_text(MANY, encoding="utf-8")
    half = ("study.toml", "--cells", "50%")
    assert command(*half, "--dry-run")[1].startswith("study: 36 calls; ")  # 6 unmutated, half of 60
    code, said, _ = command(*half, "--out", "cells.csv", "--table", "prompt-distribution")
    assert (code, server.calls) == (0, 36)
    assert re.search(
        r"^\| small \| [\d.]+ \| [\d.]+ \[[\d.]+, [\d.]+\] .* \| 10 \| 6 \| 50\.0 \|$", said, re.MULTILINE
    )
    code, _, why = command(*half, "--table", "stability")
    assert code == 2
    assert "table 'stability' needs every change of every input: leave --cells and cells= out" in why
    assert "needs every change of every input" in command("table", "cells.csv", "--table", "stability")[2]
    (folder / "study.toml").write_text(f'cells = "75%"\n{MANY}', encoding="utf-8")
    assert command("study.toml", "--dry-run")[1].startswith("study: 15 calls; 36 answers stored; ")
    code, _, why = command("study.toml", "--cells", "20%", "--table", "prompt-distribution")
    assert (code, server.calls) == (2, 36)
    assert "needs a task with 4 changes or more, each of which is asked of 3 inputs" in why


def test_a_distribution_that_cells_cannot_tell_is_refused(folder: Path, server: ModelServer, command) -> None:
    (folder / "study.toml").write_text(MANY, encoding="utf-8")
    assert command("study.toml", "--cells", "20%", "--out", "cells.csv")[0] == 0
    code, said, why = command("table", "cells.csv", "--table", "prompt-distribution")
    assert (code, said) == (2, "")
    assert re.search(r"small: keyboard-typo:2, variant \d has [12] of 6 answers; an estimate takes 3", why)
