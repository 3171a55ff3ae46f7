"""Tables: figures worked out by hand, and those of the papers where these give any."""

from __future__ import annotations

import csv
import io
import json
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz import UsageError
from pytest_promptfuzz.randomness import Rng, root_key
from pytest_promptfuzz.reporting.study_tables import FORMS, render_table
from pytest_promptfuzz.studies.tables.named_tables import TABLES, table_of
from pytest_promptfuzz.studies.tables.table_figures import StudyTable, TableColumn, TableFigure
from tests.studies.test_cells import cell

if TYPE_CHECKING:
    from pytest_promptfuzz.studies.cells import Cell

QUIRX = Path(__file__).parents[3] / "shared" / "data" / "quirx"
OUTCOMES = {"equivalent": "equivalent", "minor_variation": "minor", "behavioral_deviation": "deviation"}


def answers(model: str, operator: str, golds: dict[str, list[bool]], **values: object) -> list[Cell]:
    """Cells of one operator: for each input, whether each run's answer is right."""
    outcome = "equivalent" if operator else "baseline"
    return [
        cell(
            **{
                "outcome": outcome,
                **values,
                "model": model,
                "operator": operator,
                "input": name,
                "run": run,
                "gold": gold,
            }
        )
        for name, runs in golds.items()
        for run, gold in enumerate(runs)
    ]


def entries(table: StudyTable) -> dict[str, list[object]]:
    return {name: list(row) for name, row in table.rows}


def test_scores_are_means_over_runs() -> None:
    outcomes = {0: ["equivalent", "minor"], 1: ["deviation", "equivalent"], 2: ["minor", "minor"]}
    cells = [
        cell(run=run, input=str(at), outcome=each)
        for run, row in outcomes.items()
        for at, each in enumerate(row)
    ]
    cells += [
        cell(run=0, input="3", outcome=each) for each in ("undecided", "error", "not-applicable", "baseline")
    ]
    table = table_of("robustness", cells)
    ((figure,),) = (row for _, row in table.rows)
    assert figure.value == pytest.approx((0.85 + 0.5 + 0.7) / 3)  # type: ignore[union-attr]
    mean = (0.85 + 0.5 + 0.7) / 3
    assert figure.std == pytest.approx(sqrt(sum((each - mean) ** 2 for each in (0.85, 0.5, 0.7)) / 2))  # type: ignore[union-attr]


def test_scores_by_dimension_stand_for_each_model_or_each_task_of_one() -> None:
    cells = [
        cell(model="a", task="one", operator="tabs", dimension="lexical"),
        cell(model="a", task="one", operator="synonym", dimension="semantic", outcome="minor"),
        cell(model="a", task="two", operator="synonym", dimension="semantic", outcome="deviation"),
    ]
    table = table_of("robustness", cells)
    assert [each.name for each in table.headings] == ["lexical", "semantic", "all"]
    assert entries(table) == {"a": [TableFigure(1.0), TableFigure(0.35), TableFigure(1.7 / 3)]}
    table = table_of("quirx-dimensions", cells)
    assert entries(table) == {
        "a, one": [TableFigure(1.0), TableFigure(0.7), TableFigure(0.85)],
        "a, two": [None, TableFigure(0.0), TableFigure(0.0)],
    }


def test_what_a_judge_decided_is_said() -> None:
    cells = [cell(reason="judge"), cell(variant=1), cell(variant=2, outcome="error", reason="judge")]
    assert "A judge decided 1 of 2 outcomes; no figure here has" in table_of("robustness", cells).note
    assert "judge" not in table_of("robustness", cells[1:]).note


def test_what_is_not_applicable_has_no_figure() -> None:
    cells = [
        cell(model="a", operator="tabs", dimension="lexical"),
        cell(model="b", operator="tabs", dimension="", outcome="not-applicable"),
        cell(model="b", operator="synonym"),
    ]
    found = entries(table_of("operators", cells))
    assert found == {"tabs": [TableFigure(1.0), None], "synonym": [None, TableFigure(1.0)]}


def test_the_drop_of_gold_accuracy_and_its_interval() -> None:
    cells = [
        *answers("m", "", {"1": [True, True], "2": [True, True], "3": [True, False]}),
        *answers("m", "typo", {"1": [True, False], "2": [False, False], "3": [True, True]}),
    ]
    (name, (plain, mutated, drop)) = table_of("gold", cells).rows[0]
    assert (name, plain) == ("m", TableFigure(pytest.approx(5 / 6), pytest.approx(sqrt(2) / 6)))
    assert mutated.value == pytest.approx(0.5)  # type: ignore[union-attr]
    # By input 0.5, 1 and -0.5: mean 1/3, standard error sqrt(7/12)/sqrt(3), t(2) = 4.3027
    assert drop.value == pytest.approx(1 / 3)  # type: ignore[union-attr]
    assert (drop.low, drop.high) == (-1.0, 1.0)  # type: ignore[union-attr]
    many = [
        *answers("m", "", {str(at): [True] for at in range(40)}),
        *answers("m", "typo", {str(at): [at % 4 > 0] for at in range(40)}),
    ]
    drop = table_of("gold", many).rows[0][1][2]
    half = 2.02269 * sqrt(0.25 * 0.75 * 40 / 39 / 40)
    assert (drop.value, drop.low) == (0.25, pytest.approx(0.25 - half, abs=1e-5))  # type: ignore[union-attr]


def test_brittlebench_has_macro_and_micro_means() -> None:
    cells = [
        *answers("m", "", {"1": [True], "2": [True]}),
        *answers("m", "a", {"1": [False], "2": [True]}),
        *answers("m", "b", {"1": [True], "2": [True]}),
        *answers("m", "b", {"1": [True], "2": [True]}, variant=1),
    ]
    found = {name: row[0] for name, row in table_of("brittlebench", cells).rows}
    assert found["a"].value == 0.5  # type: ignore[union-attr]
    assert found["b"] == TableFigure(0.0, low=0.0, high=0.0)
    assert found["mean over operators (macro)"].value == 0.25  # type: ignore[union-attr]
    assert found["over all answers (micro)"].value == pytest.approx(1 / 6)  # type: ignore[union-attr]


def test_ranks_know_ties_and_changes() -> None:
    cells: list[Cell] = []
    for model, plain, changed in (("a", 4, 1), ("b", 3, 3), ("c", 2, 2)):
        cells += answers(model, "", {str(at): [at < plain] for at in range(4)})
        cells += answers(model, "typo", {str(at): [at < changed] for at in range(4)})
        cells += answers(model, "tied", {str(at): [True] for at in range(4)})
    found = entries(table_of("ranks", cells))
    assert found["typo"] == [TableFigure(pytest.approx(-0.5)), TableFigure(1.0), TableFigure(1.0)]
    # All three share rank 2: the one that was second before keeps it.
    assert found["tied"] == [None, TableFigure(pytest.approx(2 / 3)), TableFigure(1.0)]
    assert found["all operators"][2] == TableFigure(1.0)
    with pytest.raises(UsageError, match="'ranks' needs at least two models"):
        table_of("ranks", answers("a", "typo", {"1": [True]}))


def test_variance_is_not_identifiable_without_runs() -> None:
    cells = [cell(input=name, outcome=outcome) for name, outcome in (("1", "equivalent"), ("2", "deviation"))]
    assert entries(table_of("variance", cells)) == {"small": [TableFigure(0.5), *[None] * 6]}
    two = [*cells, *(each._replace(change=each.change._replace(variant=1)) for each in cells)]
    # With one run, only the inputs' part is known: means 1 and 0, and no variance within.
    inputs = TableFigure(pytest.approx(sqrt(0.5)))
    assert entries(table_of("variance", two)) == {"small": [TableFigure(0.5), None, inputs, *[None] * 4]}


def test_variance_of_a_change_that_matters_for_every_input() -> None:
    cells = [
        cell(input=str(at), run=run, operator=operator, outcome=outcome)
        for at in range(4)
        for run in range(2)
        for operator, outcome in (("a", "equivalent"), ("b", "deviation"))
    ]
    score, *deviations, sampling, items, changes = entries(table_of("variance", cells))["small"]
    assert score == TableFigure(0.5)
    # Credits 1, 1, 0, 0 of each input: the variance between changes is (1/4 + 1/4) / (2 - 1) = 1/2.
    root = pytest.approx(sqrt(0.5))
    assert deviations == [
        TableFigure(0.0, low=0.0, high=0.0),
        TableFigure(0.0, low=0.0, high=0.0),
        TableFigure(root, low=root, high=root),
    ]
    assert (sampling, items) == (TableFigure(0.0), TableFigure(0.0))
    assert changes == TableFigure(1.0)


@pytest.mark.skipif(not QUIRX.is_dir(), reason="the recorded answers of Quirx are not beside this checkout")
def test_quirx_table_one() -> None:
    cells = []
    for file in sorted(QUIRX.glob("*.json")):
        run = json.loads(file.read_text(encoding="utf-8"))
        task = run["prompt_file"].rpartition("/")[2]
        for number, each in enumerate(run["results"]):
            kind = each["comparison"]["classification"]
            cells.append(
                cell(
                    task=task,
                    model=run["model"],
                    operator=each["mutation"]["description"],
                    variant=number,
                    outcome=OUTCOMES[kind],
                    latency=each["mutated_response"]["response_time"],
                )
            )
    table = table_of("quirx", cells)
    tasks = [each.name for each in table.headings[::4]]
    found = {
        name: {task: (row[at * 4], row[at * 4 + 1]) for at, task in enumerate(tasks)}
        for name, row in table.rows
    }
    shown = {
        model: {task: (f"{score.value:.2f}", shares) for task, (score, shares) in row.items()}  # type: ignore[union-attr]
        for model, row in found.items()
    }
    classifier, sql, summary = sorted(tasks)
    assert shown["gpt-3.5-turbo"] == {
        classifier: ("1.00", "100/0/0"),
        summary: ("0.35", "0/50/50"),
        sql: ("0.80", "33/67/0"),
    }
    assert shown["claude-3-5-sonnet-20241022"] == {
        classifier: ("1.00", "100/0/0"),
        summary: ("0.58", "0/83/17"),
        sql: ("0.80", "33/67/0"),
    }


def test_an_unknown_table_and_cells_without_outcomes_are_refused() -> None:
    with pytest.raises(UsageError, match=r"the table 'quirks' is unknown\. Did you mean 'quirx'"):
        table_of("quirks", [cell()])
    for name in TABLES:
        with pytest.raises(UsageError, match="no cell of this file has an outcome"):
            table_of(name, [cell(outcome="error")])


SHOWN = StudyTable(
    "Scores <of> a_b",
    "model",
    (
        TableColumn("x|y", best="high"),
        TableColumn("E/M/D", unit="text"),
        TableColumn("drop", unit="points", best="low"),
    ),
    (
        ("one & two", (TableFigure(0.5, 0.1), "1/0/0", TableFigure(-0.0, low=-0.1, high=0.1))),
        ("three", (TableFigure(0.75, 0.0), None, TableFigure(0.2))),
        ("four", (None, "0/0/1", None)),
    ),
    "A note.",
)


BOLD = "Bold: the best of each column, and figures whose ± or interval overlaps its own; none if all do."


def bold(*figures: TableFigure, best: str = "high") -> list[str]:
    """What is bold of a column of such figures."""
    rows = tuple((str(at), (figure,)) for at, figure in enumerate(figures))
    text = render_table(StudyTable("t", "m", (TableColumn("a", best=best),), rows))
    return [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("|") and "**" in line]


def test_bold_is_what_is_more_than_noise() -> None:
    sure, close, far = TableFigure(0.9, 0.02), TableFigure(0.87, 0.02), TableFigure(0.5, 0.1)
    assert bold(sure, close, far) == ["0", "1"]
    assert bold(sure, close) == []
    assert bold(sure, far) == ["0"]
    assert bold(TableFigure(-0.1, low=-0.8, high=0.6), TableFigure(0.0, low=0.0, high=0.0), best="low") == []
    assert bold(TableFigure(0.0, low=-0.1, high=0.1), TableFigure(0.3, low=0.2, high=0.4), best="low") == [
        "0"
    ]
    # Without ± and interval, what stands there is all that is known.
    assert bold(TableFigure(0.5), TableFigure(0.6)) == ["1"]
    assert bold(TableFigure(0.5), TableFigure(0.50001)) == []


def test_a_table_with_nothing_to_compare_says_nothing_of_bold() -> None:
    assert BOLD not in render_table(
        StudyTable("t", "m", (TableColumn("a"),), (("x", (None,)), ("y", (None,))))
    )


def test_markdown() -> None:
    assert render_table(SHOWN) == (
        "**Scores <of> a_b**\n\n"
        "| model | x\\|y % | E/M/D | drop |\n"
        "| --- | ---: | --- | ---: |\n"
        "| one & two | 50.0 ± 10.0 | 1/0/0 | **0.0 [-10.0, 10.0]** |\n"
        "| three | **75.0 ± 0.0** | N/A | 20.0 |\n"
        "| four | N/A | 0/0/1 | N/A |\n"
        f"\nA note. {BOLD}\n"
    )


def test_latex() -> None:
    text = render_table(SHOWN, "latex")
    assert "\\caption{Scores <of> a\\_b}\n\\begin{tabular}{lrlr}\n\\toprule\n" in text
    assert "one \\& two & 50.0 $\\pm$ 10.0 & 1/0/0 & \\textbf{0.0 [-10.0, 10.0]} \\\\\n" in text
    assert text.endswith(
        "\\end{tabular}\n\\par\\footnotesize A note. " + BOLD.replace("±", "$\\pm$") + "\n\\end{table}\n"
    )


def test_html() -> None:
    text = render_table(SHOWN, "html")
    assert "<caption>Scores &lt;of&gt; a_b</caption>" in text
    assert (
        '<tr><th>one &amp; two</th><td>50.0 ± 10.0</td><td class="text">1/0/0</td><td><b>0.0 [-10.0, 10.0]</b></td></tr>'
        in text
    )


def test_csv_of_texts_with_any_line_end_is_read_back() -> None:
    texts = ("a\rb", 'c\r\nd "e"', "f\ng", None)
    table = StudyTable(
        "T", "row", tuple(TableColumn(f"{at}", unit="text") for at in range(4)), (("x\ry", texts),)
    )
    said = render_table(table, "csv")
    assert [*csv.reader(io.StringIO(said, newline=""))] == [
        ["row", "0", "1", "2", "3"],
        ["x\ry", "a\rb", 'c\r\nd "e"', "f\ng", ""],
    ]
    assert said.endswith("\n")
    assert not said.endswith("\r\n")


def test_csv() -> None:
    assert render_table(SHOWN, "csv").splitlines()[:2] == [
        "model,x|y,x|y std,x|y low,x|y high,E/M/D,drop,drop std,drop low,drop high",
        "one & two,0.5,0.1,,,1/0/0,-0.0,,-0.1,0.1",
    ]


def test_the_best_of_a_row() -> None:
    table = StudyTable(
        "t",
        "operator",
        (TableColumn("a", best="low"), TableColumn("b", best="low")),
        (("x", (TableFigure(0.1), TableFigure(0.2))), ("y", (TableFigure(0.3), TableFigure(0.3)))),
        best_of="row",
    )
    assert "| x | **10.0** | 20.0 |\n| y | 30.0 | 30.0 |" in render_table(table)


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(UsageError, match=r"the format 'latx' is not one of .*Did you mean 'latex'"):
        render_table(SHOWN, "latx")
    assert {*FORMS} == {"markdown", "csv", "latex", "html"}


def test_planted_parts_of_the_variance_are_found() -> None:
    """Inputs and changes move the chance of an equivalent answer by ±0.2 and ±0.15; the rest is sampling."""
    rng, studies = Rng(root_key(5, "variance"), "answers"), 120
    sums = [0.0, 0.0, 0.0]
    for _ in range(studies):
        inputs, changes = (
            [(0.2, -0.2)[rng.below(2)] for _ in range(10)],
            [(0.15, -0.15)[rng.below(2)] for _ in range(8)],
        )
        cells = [
            cell(
                input=str(at),
                operator=f"o{by}",
                run=run,
                outcome="equivalent" if rng.below(1000) < 1000 * (0.5 + one + other) else "deviation",
            )
            for at, one in enumerate(inputs)
            for by, other in enumerate(changes)
            for run in range(3)
        ]
        ((_, row),) = table_of("variance", cells).rows
        for at, figure in enumerate(row[1:4]):
            sums[at] += figure.value**2  # type: ignore[union-attr]
    sampling, of_inputs, of_changes = (each / studies for each in sums)
    assert sampling == pytest.approx(0.25 - 0.2**2 - 0.15**2, rel=0.03)
    assert of_inputs == pytest.approx(0.2**2, rel=0.12)
    assert of_changes == pytest.approx(0.15**2, rel=0.15)
