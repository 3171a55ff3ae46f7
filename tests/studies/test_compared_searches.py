"""Searches compared: real ones, and the figures of BASFuzz's tables worked out by hand."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz import Session, UsageError
from pytest_promptfuzz.cli.main import main
from pytest_promptfuzz.prompts.prompt import Prompt
from pytest_promptfuzz.providers.requests import Request, Response
from pytest_promptfuzz.reporting.study_tables import render_table
from pytest_promptfuzz.searching.methods import METHODS, BeamAnnealing
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.answers import MemoryStore
from pytest_promptfuzz.studies.searches import (
    SEARCH_TABLES,
    SearchInput,
    SearchRow,
    SearchRows,
    SearchStudy,
    TransferRow,
    rows_text,
    run_searches,
)
from pytest_promptfuzz.studies.tables.table_figures import TableFigure
from tests import warm

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_promptfuzz.studies.tables.table_figures import StudyTable


def row(**values: object) -> SearchRow:
    given: dict[str, object] = {
        "data": "CS2EN",
        "input": "1",
        "target": "phi",
        "method": "sweep",
        "run": 0,
        "ended": "found",
        "found": True,
        "told": True,
        "queries": 10,
        "seconds": 2.0,
        "change_rate": 0.05,
        "words": 1,
    }
    given |= values
    if not given["found"]:
        given |= {"change_rate": None, "words": None, "ended": "queries-spent"}
    return SearchRow(**given)  # type: ignore[arg-type]


def figures(table: StudyTable) -> dict[str, dict[str, TableFigure]]:
    return {
        name: {
            heading.name: entry
            for heading, entry in zip(table.headings, entries, strict=True)
            if isinstance(entry, TableFigure)
        }
        for name, entries in table.rows
    }


def test_the_metrics_of_basfuzz() -> None:
    rows = [
        row(quality={"perplexity": 100.0, "grammar errors": 2.0}),
        row(
            input="2",
            queries=20,
            seconds=3.0,
            change_rate=0.15,
            quality={"perplexity": 200.0, "grammar errors": 4.0},
        ),
        row(input="3", found=False, queries=30, seconds=5.0),
        row(input="4", found=False, told=False, queries=7, seconds=9.0),
    ]
    (table,) = SEARCH_TABLES["basfuzz-costs"](SearchRows(rows))
    found = {name: each.value for name, each in figures(table)["sweep"].items()}
    assert found == pytest.approx(
        {"S-rate": 2 / 3, "C-rate": 0.1, "PPL": 150.0, "G-E": 3.0, "T-O": 5.0, "Q-N": 30.0}
    )
    (table,) = SEARCH_TABLES["basfuzz"](SearchRows(rows))
    assert [each.name for each in table.headings] == ["S-rate", "C-rate", "PPL"]


def test_a_run_without_a_find_counts_in_what_finds_cost() -> None:
    # Of two runs one finds nothing in 60 queries, the other finds once with 66: a find has cost 126.
    rows = [
        row(run=0, found=False, queries=60, seconds=6.0),
        row(run=1, queries=66, seconds=4.0),
        *(row(method="random", run=run, queries=70, seconds=7.0) for run in (0, 1)),
    ]
    (table,) = SEARCH_TABLES["basfuzz-costs"](SearchRows(rows))
    found = figures(table)
    assert found["sweep"]["Q-N"] == TableFigure(126.0)
    assert found["sweep"]["T-O"] == TableFigure(10.0)
    assert found["random"]["Q-N"] == TableFigure(70.0, 0.0)
    (table,) = SEARCH_TABLES["basfuzz-costs"](SearchRows([each._replace(found=False) for each in rows]))
    assert "Q-N" not in figures(table)["sweep"]


def test_what_was_not_measured_has_no_column() -> None:
    (table,) = SEARCH_TABLES["basfuzz-costs"](SearchRows([row()]))
    assert [each.name for each in table.headings] == ["S-rate", "C-rate", "T-O", "Q-N"]


def six_runs(rates: dict[str, list[int]]) -> list[SearchRow]:
    """Rows of ten inputs and six runs: by method, how many are found in each run."""
    return [
        row(method=method, run=run, input=str(at), found=at < finds)
        for method, counts in rates.items()
        for run, finds in enumerate(counts)
        for at in range(10)
    ]


def test_a_star_is_for_the_best_of_six_runs() -> None:
    rows = six_runs({"sweep": [9, 8, 9, 8, 9, 8], "random": [2, 3, 1, 2, 3, 2], "beam": [5, 4, 5, 4, 5, 4]})
    (table,) = SEARCH_TABLES["basfuzz"](SearchRows(rows))
    found = figures(table)
    assert found["sweep"]["S-rate"].mark == "*"  # p = 2/924 each, doubled by Holm
    assert (found["random"]["S-rate"].mark, found["beam"]["S-rate"].mark) == ("", "")
    assert r"**85.00 ± 5.48 \***" in render_table(table)
    assert r"\textbf{85.00 $\pm$ 5.48 *}" in render_table(table, "latex")


def test_chance_gets_no_star() -> None:
    rows = six_runs({"sweep": [9, 3, 9, 3, 9, 3], "random": [2, 8, 2, 8, 2, 8]})
    (table,) = SEARCH_TABLES["basfuzz"](SearchRows(rows))
    assert {each["S-rate"].mark for each in figures(table).values()} == {""}


def test_every_data_set_has_a_table_and_every_model_its_columns() -> None:
    rows = [row(data=data, target=target) for data in ("CS2EN", "DE2EN") for target in ("phi", "llama")]
    tables = SEARCH_TABLES["basfuzz"](SearchRows(rows))
    assert [each.title for each in tables] == [
        "Quality of what was found, CS2EN",
        "Quality of what was found, DE2EN",
    ]
    assert [each.name for each in tables[0].headings] == [
        "phi S-rate",
        "phi C-rate",
        "llama S-rate",
        "llama C-rate",
    ]


def test_transfers_are_a_matrix() -> None:
    transfers = [
        TransferRow("CS2EN", "sweep", run, "phi", "llama", broke)
        for run, brokes in enumerate(((True, True), (True, False)))
        for broke in brokes
    ]
    transfers += [TransferRow("CS2EN", "sweep", 0, "llama", "phi", None)]
    (table,) = SEARCH_TABLES["basfuzz-transfer"](SearchRows([row()], transfers))
    assert [name for name, _ in table.rows] == ["phi → llama", "llama → phi"]
    assert table.rows[0][1] == (TableFigure(0.75, pytest.approx(0.125**0.5)),)
    assert table.rows[1][1] == (None,)


def test_tables_that_nothing_fills_are_refused() -> None:
    assert SEARCH_TABLES["basfuzz-transfer"](SearchRows([row()])) == []
    with pytest.raises(UsageError, match="no search tells anything"):
        SEARCH_TABLES["basfuzz"](SearchRows([row(told=False)]))


def test_ablations_have_names() -> None:
    assert METHODS["beam-annealing-no-sa"] == BeamAnnealing(accept="always")
    assert METHODS["beam-annealing-no-ep"] == BeamAnnealing(adapt="fixed")
    assert METHODS["beam-annealing-no-sa-ep"] == BeamAnnealing(accept="always", adapt="fixed")


def test_rows_with_any_line_end_are_read_back_from_csv() -> None:
    text = rows_text([row(text="one\rtwo", quality={"perplexity": 2.0}), row(input="2\r")], ".csv")
    found = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [(each["input"], each["text"]) for each in found] == [("1", "one\rtwo"), ("2\r", "")]
    assert [each["quality"] for each in found] == ['{"perplexity": 2.0}', ""]


PROMPT = Prompt(
    "Provide a concise overview of the ticket, and classify it as spam or not spam.\n\nTicket: {ticket}"
)


def inputs() -> list[SearchInput]:
    tickets = {"I cannot log in.": "not spam", "Win a prize!": "spam"}
    return [SearchInput("p", each, PROMPT.fill(ticket=each), right) for each, right in tickets.items()]


def test_runs_have_seeds_of_their_own_and_a_reference_decides() -> None:
    asked = []

    def brittle(prompt: str) -> str:
        asked.append(prompt)
        return "not spam" if "concise" in prompt else "spam"

    study = SearchStudy(
        inputs(),
        [brittle],
        ["sweep", "random"],
        runs=2,
        objective="label",
        options={"operators": "synonym", "queries": 40},
    )
    made = run_searches(study, Session(store=MemoryStore()))
    assert len(made.rows) == 8
    assert {each.target for each in made.rows} == {"brittle"}
    right = [each for each in made.rows if each.input == "I cannot log in."]
    assert all(each.found and each.words == 1 and "concise" not in each.text for each in right)
    # The other input is answered wrongly without any change: nothing can be searched.
    wrong = [each for each in made.rows if each.input == "Win a prize!"]
    assert {each.ended for each in wrong} == {"left-out"}
    assert all("already" in each.why or "reaches" in each.why for each in wrong)
    (table,) = SEARCH_TABLES["basfuzz"](made)
    assert figures(table)["sweep"]["S-rate"] == TableFigure(1.0, 0.0)


def test_a_reference_needs_an_objective_that_measures_by_it() -> None:
    with pytest.raises(UsageError, match="'deviation' compares with the baseline's answer"):
        SearchStudy(inputs(), ["simulated"], ["sweep"])
    with pytest.raises(UsageError, match="the method 'sweep' stands twice"):
        SearchStudy(inputs(), ["simulated"], ["sweep", "sweep"], objective="label")
    with pytest.raises(UsageError, match="the search method 'swep' is unknown"):
        SearchStudy(inputs(), ["simulated"], ["swep"], objective="label")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mood.txt").write_text(
        "Classify the mood of the text as good or bad. Answer with one word only.\n\nText: {text}\n",
        encoding="utf-8",
    )
    rows = [("A lovely day, but the train was late.", "good"), ("The soup was cold, and nobody came.", "bad")]
    lines = [json.dumps({"text": text, "mood": mood}) for text, mood in rows]
    (tmp_path / "texts.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


GIVEN = (
    *("search", "mood.txt", "--target", "simulated,simulated?noise=0.01", "--method", "sweep,random"),
    *(
        "--inputs",
        "texts.jsonl",
        "--reference",
        "mood",
        "--objective",
        "label",
        "--part",
        "both",
        "--queries",
        "40",
    ),
)


def test_methods_models_and_runs_by_one_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables = ("--table", "basfuzz,basfuzz-costs,basfuzz-transfer")
    code = main([*GIVEN, "--runs", "2", *tables, "--out", "rows.csv", "--out", "rows.jsonl"])
    said = capsys.readouterr()
    assert (code == 0) == (said.err == "")
    assert code in {0, 3}
    assert "| method | simulated S-rate % | simulated C-rate % | simulated?noise=0.01 S-rate % |" in said.out
    assert "**Success rate of transferred changes, mood.txt**" in said.out
    with (folder / "rows.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 2 * 2 * 2
    assert {(each["target"], each["method"], each["run"]) for each in rows} == {
        (target, method, run)
        for target in ("simulated", "simulated?noise=0.01")
        for method in ("sweep", "random")
        for run in "01"
    }
    lines = (folder / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(each)["queries"] for each in lines] == [int(each["queries"]) for each in rows]
    assert main([*GIVEN, "--runs", "2", *tables, "--max-calls", "0", "--out", "again.csv"]) == code
    with (folder / "again.csv").open(encoding="utf-8", newline="") as file:
        again = list(csv.DictReader(file))
    assert [each["text"] for each in again] == [each["text"] for each in rows]


def test_what_tells_nothing_says_why(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = [each.replace("noise=0.01", "noise=0.6") for each in GIVEN]
    assert main([*given, "--runs", "2", "--out", "rows.csv"]) == 3
    said = capsys.readouterr()
    with (folder / "rows.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    untold = [each for each in rows if each["told"] == "False"]
    assert untold
    assert {each["target"] for each in untold} == {"simulated?noise=0.6"}
    assert [each for each in rows if bool(each["why"])] == untold
    noisy = [each for each in untold if each["ended"] == "noisy"]
    assert noisy
    assert all("the model answered the unmutated prompt first" in each["why"] for each in noisy)
    assert f"{len(untold)} of {len(rows)} searches count nowhere: " in said.out
    assert said.err.count(" tells nothing: ") + said.err.count(" was left out: ") == min(5, len(untold))
    more = f"and {len(untold) - 5} more; --out FILE has the reason of each in its column why"
    assert (more in said.err) == (len(untold) > 5)


NOBODY = "http://127.0.0.1:9/v1"


def test_a_target_that_fails_is_no_input_left_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = [
        "search",
        "mood.txt",
        "--set",
        "text=A lovely day.",
        "--target",
        f"compatible:m@{NOBODY}",
        "--runs",
        "1",
    ]
    assert main([*argv, "--out", "rows.jsonl"]) == 3
    said = capsys.readouterr()
    (row,) = [json.loads(each) for each in (folder / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    assert (row["ended"], row["told"]) == ("target-failed", False)
    assert f"mood.txt on compatible:m@{NOBODY} (sweep, run 1) tells nothing: {row['why']}" in said.err
    assert said.err.endswith("promptfuzz search: no search tells anything, so there is no table\n")
    assert said.out == ""


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--table", "basfuz"), "the table 'basfuz' of searches is not one of "),
        (("--format", "latx"), "--format: 'latx' is not one of"),
        (("--out", "rows.xlsx"), "searches are written as .csv or .jsonl"),
        (("--out", "none/rows.csv"), "there is no folder 'none'"),
        (("--transfer", "simulated"), "write --table basfuzz-transfer"),
        (("--reference", "tone"), "tone"),
        (("--objective", "deviation"), "a reference goes with bleu"),
        (("--method", "sweep,swep"), "the search method 'swep' is unknown"),
        (("--target", "simulated,nobody"), "nobody"),
        (
            ("--target", "simulated", "--table", "basfuzz,basfuzz-transfer"),
            "search: the table basfuzz-transfer needs two targets, and there is only 'simulated'. Write --target A,B.",
        ),
        (("--runs", "0"), "whole number of 1 or more"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_asked(
    folder: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], said: str
) -> None:
    assert main([*GIVEN, *more]) == 2
    assert said in capsys.readouterr().err
    assert not (folder / ".promptfuzz").exists()


class Steady:
    """A model that nothing breaks."""

    def answer(self, request: Request, *, sample: int = 0) -> Response:
        return Response("good", model="steady-1")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with ModelServer(Steady()) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.openai_url)
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        yield running


ONE = ("search", "mood.txt", "--set", "text=A lovely day.", "--queries", "40", "--batch", "4")


def written(path: Path) -> list[dict[str, Any]]:
    return [json.loads(each) for each in path.read_text(encoding="utf-8").splitlines()]


def test_a_missing_key_is_told_before_any_target_is_asked(
    folder: Path, server: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    keyless = f"compatible:m@{server.openai_url}"
    assert main([*ONE, "--target", f"{keyless},openai:gpt-5-mini", "--out", "rows.jsonl"]) == 2
    assert "target 'openai:gpt-5-mini' needs a key, and OPENAI_API_KEY is not set." in capsys.readouterr().err
    assert server.calls == 0
    assert not (folder / "rows.jsonl").exists()


def test_without_a_key_what_is_stored_counts_and_other_targets_go_on(
    folder: Path,
    server: ModelServer,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdefghij")
    assert main([*ONE, "--target", "openai:gpt-5-mini", "--out", "rows.jsonl"]) == 0
    monkeypatch.delenv("OPENAI_API_KEY")
    capsys.readouterr()
    targets = f"compatible:m@{server.openai_url},openai:gpt-5-mini"
    more = ("--method", "sweep,random", "--table", "basfuzz,basfuzz-transfer", "--out", "rows.jsonl")
    assert main([*ONE, "--target", targets, *more]) == 3
    said = capsys.readouterr()
    rows = written(folder / "rows.jsonl")
    assert [
        (each["target"].partition(":")[0], each["method"], each["ended"], each["told"]) for each in rows
    ] == [
        ("compatible", "sweep", "queries-spent", True),
        ("compatible", "random", "queries-spent", True),
        ("openai", "sweep", "queries-spent", True),
        ("openai", "random", "target-failed", False),
    ]
    assert "OPENAI_API_KEY is not set" in rows[3]["why"]
    assert f"on openai:gpt-5-mini (random, run 1) tells nothing: {rows[3]['why']}" in said.err
    assert "**Quality of what was found, mood.txt**" in said.out


def test_a_find_that_no_key_lets_ask_elsewhere_tells_nothing_there(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def brittle(prompt: str) -> str:
        return "spam" if "prize" in prompt and "concise" not in prompt else "good"

    given = [each._replace(reference=None) for each in inputs()]
    options = {"operators": "synonym", "queries": 40}
    session = Session(store=MemoryStore())
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdefghij")
    run_searches(SearchStudy(given[:1], ["openai:gpt-5-mini"], ["sweep"], options=options), session)
    monkeypatch.delenv("OPENAI_API_KEY")
    targets = [brittle, "openai:gpt-5-mini"]
    made = run_searches(SearchStudy(given, targets, ["sweep"], transfers=True, options=options), session)
    assert [(each.target, each.ended) for each in made.rows] == [
        ("brittle", "exhausted"),
        ("brittle", "found"),
        ("openai:gpt-5-mini", "exhausted"),
        ("openai:gpt-5-mini", "target-failed"),
    ]
    assert made.transfers == [TransferRow("p", "sweep", 0, "brittle", "openai:gpt-5-mini", None)]


def test_a_transfer_table_without_finds_is_a_note(
    folder: Path, server: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    targets = ",".join(f"compatible:{name}@{server.openai_url}" for name in "ab")
    assert main([*ONE, "--target", targets, "--table", "basfuzz,basfuzz-transfer"]) == 0
    said = capsys.readouterr()
    assert "**Quality of what was found, mood.txt**" in said.out
    note = "table basfuzz-transfer is empty: no change was found on one target and tried on another"
    assert said.err == f"promptfuzz search: {note}\n"


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C of a process")
def test_ctrl_c_keeps_the_searches_that_were_made(folder: Path, server: ModelServer) -> None:
    server.latency = 0.1
    targets = ",".join(f"compatible:{name}@{server.openai_url}" for name in "abc")
    process = warm.Popen(
        [sys.executable, "-m", "pytest_promptfuzz.cli", *ONE, "--target", targets, "--out", "rows.jsonl"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while server.calls < 45:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 3, err
    rows = written(folder / "rows.jsonl")
    assert [each["ended"] for each in rows] == ["queries-spent", "interrupted"]
    assert [each["target"][11] for each in rows] == ["a", "b"]
    assert err.endswith("promptfuzz search: interrupted; 2 of 3 searches were made\n")
    assert "**Quality and cost of what was found, mood.txt**" in out
