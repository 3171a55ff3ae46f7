"""Tables that compare models, against figures worked out by hand."""

from __future__ import annotations

from math import sqrt

import pytest

from pytest_promptfuzz import UsageError
from pytest_promptfuzz.reporting.study_tables import render_table
from pytest_promptfuzz.stats.intervals import t_quantile
from pytest_promptfuzz.studies.cells import Cell, selected
from pytest_promptfuzz.studies.tables.model_tables import changed_answers
from pytest_promptfuzz.studies.tables.named_tables import table_of
from pytest_promptfuzz.studies.tables.table_figures import TableFigure
from tests.studies.test_cells import cell
from tests.studies.test_study_tables import answers, entries


def outcomes(model: str, by_input: dict[str, list[str]]) -> list[Cell]:
    """Cells of one change: for each input the outcome of each run."""
    return [
        cell(model=model, input=name, run=run, outcome=outcome)
        for name, runs in by_input.items()
        for run, outcome in enumerate(runs)
    ]


def test_models_are_compared_on_the_same_cells_by_input() -> None:
    cells = [
        *outcomes("a", {"1": ["equivalent", "equivalent"], "2": ["equivalent"], "3": ["minor"]}),
        *outcomes("b", {"1": ["deviation", "minor"], "2": ["deviation", "deviation"], "3": ["minor"]}),
        cell(model="a", input="4"),  # only one of them was asked, or decided
        cell(model="b", input="4", outcome="undecided"),
    ]
    ((name, (score, p, *_, inputs)),) = table_of("models", cells).rows
    # By input: (1 + 0.3) / 2, 1 (the second run of b has no partner) and 0.
    differences = [0.65, 1.0, 0.0]
    mean = sum(differences) / 3
    error = sqrt(sum((each - mean) ** 2 for each in differences) / 2 / 3)
    assert name == "a - b"
    assert score == TableFigure(
        pytest.approx(mean), low=pytest.approx(mean - t_quantile(0.975, 2) * error), high=1.0
    )
    assert p == TableFigure(0.25)  # of three inputs no p-value is smaller
    assert inputs == TableFigure(3)


def test_gold_accuracy_is_compared_before_and_after_changes() -> None:
    golds = {str(at): [True] for at in range(4)}
    wrong = {**golds, "0": [False]}
    cells = [
        *answers("a", "", golds),
        *answers("a", "typo", golds),
        *answers("b", "", golds),
        *answers("b", "typo", wrong),
    ]
    ((_, (_, _, before, _, after, p, _)),) = table_of("models", cells).rows
    assert before == TableFigure(0.0, low=0.0, high=0.0)
    assert (after.value, after.low) == (0.25, pytest.approx(0.25 - t_quantile(0.975, 3) * 0.25))  # type: ignore[union-attr]
    assert p.value == pytest.approx(0.391, abs=1e-3)  # type: ignore[union-attr]  # t = 1 at 3 degrees of freedom


def test_p_values_are_adjusted_for_all_pairs() -> None:
    scores = {
        "a": ["equivalent"] * 8,
        "b": ["deviation"] * 7 + ["minor"],
        "c": ["equivalent"] * 7 + ["minor"],
    }
    cells = [
        each
        for model, found in scores.items()
        for each in outcomes(model, {str(at): [outcome] for at, outcome in enumerate(found)})
    ]
    found = {name: row[1].value for name, row in table_of("models", cells).rows}  # type: ignore[union-attr]
    # a - b and b - c are at the least that 8 inputs can give, 1/128, times 3 and times 2 (Holm: at least the first).
    assert found["a - b"] == pytest.approx(3 / 128)
    assert found["b - c"] == pytest.approx(3 / 128)
    assert found["a - c"] == pytest.approx(0.3506, abs=1e-4)


def test_one_model_or_one_input_cannot_be_compared() -> None:
    with pytest.raises(UsageError, match="'models' needs at least two models"):
        table_of("models", outcomes("a", {"1": ["minor"]}))
    cells = [*outcomes("a", {"1": ["equivalent"]}), *outcomes("b", {"1": ["minor"]})]
    ((_, (score, p, *_)),) = table_of("models", cells).rows
    assert (score, p) == (TableFigure(pytest.approx(0.3)), None)


def test_pass_power_is_the_share_of_draws_that_are_all_right() -> None:
    cells = [
        *answers("m", "", {"1": [True, True, False, True], "2": [True] * 4}, answer="x"),
        *answers("m", "typo", {"1": [False] * 4, "2": [True, True, False, False]}, answer="x"),
    ]
    table = table_of("stability", cells)
    names = [each.name for each in table.headings]
    found = dict(zip(names, entries(table)["m"], strict=True))
    values = {name: None if each is None else each.value for name, each in found.items()}  # type: ignore[union-attr]
    # pass^4 of 3 in 4 is 0, pass^1 3/4; right under every change: input 1 never, input 2 in two of four runs.
    assert values == {
        "pass^1": pytest.approx((3 / 4 + 1) / 2),
        "pass^4": pytest.approx((0 + 1) / 2),
        "mutated pass^1": pytest.approx((0 + 1 / 2) / 2),
        "mutated pass^4": 0.0,
        "right under every change": pytest.approx((0 + 1 / 2) / 2),
        "same answer": 1.0,
        "mutated same answer": 1.0,
    }


def test_pass_power_between_one_and_all_runs() -> None:
    from pytest_promptfuzz.studies.tables.model_tables import _pass_power

    runs = answers("m", "", {"1": [True, True, True, False, False]})
    # Of the 10 pairs of 5 runs, the 3 right ones make 3.
    assert [_pass_power(runs, k) for k in (1, 2, 3, 4, 6)] == [0.6, 0.3, 0.1, 0.0, None]


def test_stability_of_answers_needs_two_runs() -> None:
    one = [cell(operator="", outcome="baseline", answer="x"), cell(answer="y")]
    assert entries(table_of("stability", one))["small"] == [None] * 5
    two = [*one, cell(operator="", outcome="baseline", answer="x", run=1), cell(answer="z", run=1)]
    assert entries(table_of("stability", two))["small"][-2:] == [TableFigure(1.0), TableFigure(0.0)]


CHANGED = [
    cell(operator="", outcome="baseline", answer="billing", gold=True),
    cell(operator="typo", outcome="equivalent", answer="billing", gold=True),
    cell(operator="tone", outcome="deviation", answer="a\nb", gold=False),
    cell(operator="case", outcome="equivalent", answer="Billing!", gold=False),
    cell(operator="tabs", outcome="minor", answer="billing, I think", gold=None),
    cell(operator="none", outcome="error", error="timeout", gold=None),
]


def test_changes_are_the_answers_behind_an_aggregate() -> None:
    found = [(each.cell.operator, each.before, each.flips) for each in changed_answers(CHANGED)]
    assert found == [("tone", "billing", True), ("case", "billing", True), ("tabs", "billing", False)]
    table = table_of("changes", CHANGED)
    assert table.note == "3 of 4 answers to changed prompts. The expected answer was lost in 2, and won in 0."
    assert (
        "| triage | small | 7 | tone | 0 | 0 | billing | a b | deviation | right | wrong |"
        in render_table(table)
    )
    assert '"a\nb"' in render_table(table, "csv")


def test_cells_are_selected_by_column_and_keep_their_baseline() -> None:
    cells = [*CHANGED, *(each._replace(model="large") for each in CHANGED)]
    found = selected(cells, {"operator": ["t*"], "model": ["small"]})
    assert [(each.model, each.operator) for each in found] == [
        ("small", ""),
        ("small", "typo"),
        ("small", "tone"),
        ("small", "tabs"),
    ]
    assert [each.operator for each in selected(CHANGED, {"gold": ["false"]})] == ["", "tone", "case"]
    assert len(selected(CHANGED, {"run": ["0"], "operator": ["tone", "case"]})) == 3
    with pytest.raises(UsageError, match=r"the column 'colour' is not one of task, model"):
        selected(CHANGED, {"colour": ["red"]})
    with pytest.raises(UsageError, match=r"no cell has operator=type\. Did you mean 'typo'"):
        selected(CHANGED, {"operator": ["type"]})


def test_a_long_answer_is_cut_where_people_read_it() -> None:
    table = table_of("changes", [CHANGED[0], CHANGED[2]._replace(answer="word " * 100)])
    assert f"| {('word ' * 16)[:79]}… |" in render_table(table)
    assert "word " * 100 in render_table(table, "csv")


@pytest.mark.parametrize(
    ("inputs", "names", "told"),
    [
        (3, "ab", "3 inputs can show no p below 0.25. "),
        (6, "abc", "6 inputs can show no p below 0.094, adjusted for 3 tests. "),
        (12, "ab", ""),
    ],
)
def test_the_least_p_of_few_inputs_is_told(inputs: int, names: str, told: str) -> None:
    cells = []
    for model in names:
        cells += answers(model, "", {str(at): [model != "b"] for at in range(inputs)})
        cells += answers(model, "typo", {str(at): [True] for at in range(inputs)})
    table = table_of("models", cells)
    assert ("can show no p" in table.note) == bool(told)
    assert told in table.note
    assert "an interval has no width, and tells nothing of other inputs" in table.note
    first = [p for _, row in table.rows if (p := row[3]) is not None]
    assert min(each.value for each in first) >= 2.0 ** (1 - inputs) * len(table.rows)  # type: ignore[union-attr]
