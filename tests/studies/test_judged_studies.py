"""Scores of a study that a judge decided: its measured errors are in their intervals, as in those of tests."""

from __future__ import annotations

import json
from math import hypot, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING
from xml.sax.saxutils import unescape

import pytest

from pytest_promptfuzz import Prompt, Session, Study, StudyModel, StudyTask, UsageError, study
from pytest_promptfuzz.evaluating.evaluate import read_inputs
from pytest_promptfuzz.judging.measurements import JudgeMeasurement, save_measurement
from pytest_promptfuzz.reporting.study_plots import study_plot
from pytest_promptfuzz.stats.intervals import t_quantile
from pytest_promptfuzz.stats.misclassification import Confusion, correction_of
from pytest_promptfuzz.studies.judge_errors import judge_error, judge_text
from pytest_promptfuzz.studies.tables.named_tables import table_of
from pytest_promptfuzz.studies.tables.table_figures import TableFigure
from tests.studies.test_cells import cell

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_promptfuzz.studies.cells import Cell

CONFUSION = Confusion(((15, 2, 2), (1, 7, 1), (2, 4, 33)))
MEASURED = judge_text("strict", CONFUSION)
OUTCOMES = ("equivalent", "deviation", "equivalent", "minor", "equivalent", "equivalent")


def judged(model: str = "m", outcomes: tuple[str, ...] = OUTCOMES, judge: str = MEASURED) -> list[Cell]:
    """A cell of each input: all but the last two are a judge's."""
    return [
        cell(
            model=model,
            input=str(at),
            outcome=outcome,
            **({"reason": "judge", "judge": judge} if at < len(outcomes) - 2 else {"reason": "label"}),
        )
        for at, outcome in enumerate(outcomes)
    ]


def figure(name: str, cells: list[Cell], column: int = 0) -> TableFigure:
    found = table_of(name, cells).rows[0][1][column]
    assert isinstance(found, TableFigure)
    return found


def test_the_interval_of_a_score_is_widened_as_in_tests() -> None:
    found = figure("robustness", judged())
    worth = [1, 0, 1, 0.7, 1, 1]
    mean = sum(worth) / 6
    half = t_quantile(0.975, 5) * sqrt(sum((each - mean) ** 2 for each in worth) / 5 / 6)
    correction = correction_of({3: 2, 2: 1, 1: 1}, [1.0, 1.0], CONFUSION)
    assert correction is not None
    assert found.value == pytest.approx(mean)  # the score stays what was counted
    assert (found.low, found.high) == pytest.approx(
        correction.span(mean, mean - half, min(1.0, mean + half), 0.95)
    )
    assert found.low < mean - half  # type: ignore[operator]


def test_an_unmeasured_judge_changes_no_figure_and_is_told() -> None:
    unmeasured = judged(judge=judge_text("strict", None))
    assert figure("robustness", unmeasured) == TableFigure(pytest.approx(4.7 / 6))
    assert "A judge decided 4 of 6 outcomes; no figure here has" in table_of("robustness", unmeasured).note


@pytest.mark.parametrize("name", ["robustness", "operators", "models", "quirx", "quirx-dimensions"])
def test_tables_of_scores_say_that_the_error_is_in_them(name: str) -> None:
    note = table_of(name, [*judged(), *judged("n")]).note
    said = "A judge decided 8 of 12 outcomes; its errors, measured on 67 rated pairs, are in the intervals of scores"
    assert said in note
    assert ("p takes the judge's word" in note) == (name == "models")


def test_tables_that_take_its_word_and_plots_say_so() -> None:
    said = "A judge decided 4 of 6 outcomes; no figure here has the judge's own error in it."
    assert said in table_of("variance", judged()).note
    assert said in unescape(study_plot(judged(), "heatmap"), {"&#x27;": "'"})
    known = [each._replace(gold=True) for each in judged()]
    assert "judge" not in study_plot(known, "heatmap")  # gold accuracy is no judge's


def test_a_part_of_the_outcomes_may_have_a_measured_judge() -> None:
    cells = [*judged(), *judged("n", judge=judge_text("strict", None))]
    assert "Of 4 of them its error is not known, and in no figure." in table_of("robustness", cells).note


def test_a_difference_has_the_errors_of_both_models() -> None:
    one, other = judged(), judged("n", ("deviation",) * 4 + ("minor", "equivalent"))
    found = figure("models", [*one, *other])
    first, second = judge_error(one), judge_error(other)
    assert first is not None
    assert second is not None
    differences = [1, 0, 1, 0.7, 0.3, 0]
    mean = sum(differences) / 6
    half = t_quantile(0.975, 5) * sqrt(sum((each - mean) ** 2 for each in differences) / 5 / 6)
    far = NormalDist().inv_cdf(0.975) * hypot(first.error, second.error)
    slope = max(first.slope, second.slope)
    centre = mean + first.shift - second.shift
    distance = hypot(slope * half, far)
    assert found.value == pytest.approx(mean)
    assert found.low == pytest.approx(max(-1, min(mean, centre - distance)))
    assert found.high == pytest.approx(min(1, max(mean, centre + distance)))


def test_what_changes_cost_moves_the_other_way() -> None:
    """A loss is 1 less the score: the ends of its interval are those of the score, turned round."""
    levels = [each for level in (1, 3) for each in judged()]
    levels = [
        each._replace(change=each.change._replace(operator=f"typo:{1 if at < 6 else 3}"))
        for at, each in enumerate(levels)
    ]
    score, loss = figure("robustness", levels[:6]), figure("intensity", levels)
    assert loss.value == pytest.approx(1 - score.value)
    assert (1 - loss.high, 1 - loss.low) == pytest.approx((score.low, score.high))  # type: ignore[operator]


def test_a_column_that_holds_no_judge_is_refused() -> None:
    for text in (
        "strict",
        "{}",
        '{"judge": "a", "measured": [[1]]}',
        '{"judge": "a", "measured": [[-1,0,0],[0,0,0],[0,0,0]]}',
    ):
        with pytest.raises(UsageError, match="the column judge holds"):
            table_of("robustness", judged(judge=text))


def test_a_study_keeps_what_its_judge_was_measured_at(tmp_path: Path) -> None:
    class Strict:
        name = "strict"

        def rate(self, pair: object) -> int:
            return 1

    file = tmp_path / "judges.json"
    save_measurement(file, "strict", JudgeMeasurement(67, 2, 0.7, 0.5, 0.9, CONFUSION.counts))
    prompt = Prompt("Reply to the customer in one sentence.\n\nMessage: {message}")

    def answer(text: str) -> str:
        return (
            "The price includes delivery."
            if "REPLY" not in text
            else "Shipping is part of what customers pay."
        )

    inputs = read_inputs([{"message": "My parcel is lost."}, {"message": "It broke."}], prompt, "test")
    settings = {"judge": Strict(), "judge_agreement": str(file), "judge_when": "always"}
    task = StudyTask("reply", prompt, inputs, ("upper-case", "double-space"), 1, settings)
    cells = study(Study("replies", (task,), (StudyModel("m", answer),)), session=Session())
    told = {(each.operator, each.outcome, each.reason): each.grades.judge for each in cells}
    assert json.loads(told["upper-case", "deviation", "judge"]) == {
        "judge": "strict",
        "measured": [[15, 2, 2], [1, 7, 1], [2, 4, 33]],
    }
    assert {judge for (_, _, reason), judge in told.items() if reason != "judge"} == {""}
    assert "measured on 67 rated pairs" in table_of("robustness", cells).note
