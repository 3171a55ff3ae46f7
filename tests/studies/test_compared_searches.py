"""Searches compared: real ones, and the figures of BASFuzz's tables worked out by hand."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz import Session, UsageError
from pytest_promptfuzz.cli.main import main
from pytest_promptfuzz.prompts.prompt import Prompt
from pytest_promptfuzz.reporting.study_tables import render_table
from pytest_promptfuzz.searching.methods import METHODS, BeamAnnealing
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

if TYPE_CHECKING:
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
    with pytest.raises(UsageError, match="needs two targets, and a find"):
        SEARCH_TABLES["basfuzz-transfer"](SearchRows([row()]))
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
        (("--runs", "0"), "whole number of 1 or more"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_asked(
    folder: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], said: str
) -> None:
    assert main([*GIVEN, *more]) == 2
    assert said in capsys.readouterr().err
    assert not (folder / ".promptfuzz").exists()
