"""Tables of the enterprise benchmark: the paper's own examples, hand-made cells, and a real run."""

from __future__ import annotations

import json
from dataclasses import replace
from math import sqrt

import pytest

from pytest_promptfuzz import Session, Study, StudyModel, StudyTask, UsageError, study
from pytest_promptfuzz.evaluating.evaluate import read_inputs
from pytest_promptfuzz.prompts.prompt import Prompt
from pytest_promptfuzz.studies.cells import AGAIN, Cell
from pytest_promptfuzz.studies.measures import check_measures, entity_match
from pytest_promptfuzz.studies.tables.named_tables import table_of
from pytest_promptfuzz.studies.tables.table_figures import TableFigure
from tests.studies.test_cells import cell
from tests.studies.test_study_tables import entries


def graded(same: int, changed: int, worse: int, **values: object) -> list[Cell]:
    """Answers that say the same; that say something else as well as before; and of another quality."""
    kept, lost = '{"faithfulness": [3, 3]}', '{"faithfulness": [3, 3], "completeness": [2, 3]}'
    return [
        *(cell(**values, input=str(at)) for at in range(same)),
        *(cell(**values, input=f"c{at}", outcome="minor", quality=kept) for at in range(changed)),
        *(cell(**values, input=f"w{at}", outcome="deviation", quality=lost) for at in range(worse)),
    ]


def value(entry: object) -> float:
    assert isinstance(entry, TableFigure)
    return entry.value


def test_the_papers_example() -> None:
    # 30 twos and 20 ones of 100 pairs; in 15 of these 50 a measure of quality changed.
    twos = [cell(input=f"2 {at}", outcome="minor", quality='{"completeness": [3, 3]}') for at in range(30)]
    ones = [cell(input=f"1 {at}", outcome="deviation", quality='{"completeness": [3, 3]}') for at in range(5)]
    changed = [
        cell(input=f"q {at}", outcome="deviation", quality='{"completeness": [2, 3]}') for at in range(15)
    ]
    cells = [cell(input=str(at)) for at in range(50)] + twos + ones + changed
    ((_, (whole, content, quality, *_)),) = table_of("enterprise", cells).rows
    assert (value(content), value(quality), value(whole)) == (0.5, 0.3, 0.85)


def test_means_and_deviations_are_over_runs() -> None:
    cells = [*graded(8, 0, 2, run=0), *graded(6, 0, 4, run=1)]
    ((_, (whole, content, quality, general)),) = table_of("enterprise", cells).rows
    assert content == TableFigure(pytest.approx(0.3), pytest.approx(sqrt(0.02)))
    assert quality == TableFigure(1.0, 0.0)
    assert whole == general == TableFigure(pytest.approx(0.7), pytest.approx(sqrt(0.02)))


def test_changed_answers_that_no_measure_graded_count_in_content_alone() -> None:
    ungraded = [cell(input=f"u{at}", outcome="deviation") for at in range(5)]
    ((_, (whole, content, quality, _)),) = table_of("enterprise", [*graded(4, 4, 3), *ungraded]).rows
    assert (value(content), value(quality)) == (12 / 16, pytest.approx(3 / 7))
    assert value(whole) == pytest.approx(1 - 12 / 16 * 3 / 7)
    found = entries(
        table_of("enterprise", [*graded(1, 0, 0, model="other"), *graded(0, 0, 1, model="third"), *ungraded])
    )
    whole, content, quality, _ = found[ungraded[0].model]
    assert (whole, value(content), quality) == (None, 1.0, None)


def test_groups_follow_from_dimensions_or_from_the_task() -> None:
    cells = []
    for operator, dimension, group in (
        ("upper-case", "lexical", ""),
        ("politeness", "semantic", ""),
        ("context-first", "structural", ""),
        ("format-xml", "format", ""),
        ("answer-in-de", "multilingual", ""),
        ("answer-in-fr", "multilingual", "crosslingual"),
        (AGAIN, "", ""),
    ):
        cells += graded(1, 0, 0, operator=operator, dimension=dimension, group=group)
    names = [each.name for each in table_of("enterprise", cells).headings]
    assert names[3:] == ["baseline", "general", "positional", "format", "multilingual", "crosslingual"]


# Table 2, the rows of two models: Overall of the baseline, general, positional, format, multilingual and crosslingual.
PAPER = {
    "GPT 4.1": (95, 90, 87, 91, 87, 91),
    "Llama 3.1 8B": (93, 76, 63, 74, 57, 53),
}
GROUPS = {
    AGAIN: ("", ""),
    "upper-case": ("lexical", ""),
    "context-first": ("structural", ""),
    "format-xml": ("format", ""),
    "answer-in-de": ("multilingual", ""),
    "answer-in-fr": ("multilingual", "crosslingual"),
}


def paper() -> list[Cell]:
    return [
        each
        for model, scores in PAPER.items()
        for (operator, (dimension, group)), score in zip(GROUPS.items(), scores, strict=True)
        for each in graded(
            score, 0, 100 - score, model=model, operator=operator, dimension=dimension, group=group
        )
    ]


def test_models_are_sorted_and_averaged_as_in_table_2() -> None:
    table = table_of("enterprise", paper())
    assert [name for name, _ in table.rows] == ["GPT 4.1", "Llama 3.1 8B", "average"]
    assert [round(100 * value(each)) for each in table.rows[0][1][3:]] == list(PAPER["GPT 4.1"])
    assert [100 * value(each) for each in table.rows[2][1][3:]] == pytest.approx([94, 83, 75, 82.5, 72, 72])


def test_groups_are_sorted_by_difficulty_as_in_table_3() -> None:
    rows = table_of("enterprise-groups", paper()).rows
    assert [(name, round(100 * value(row[0]), 2)) for name, row in rows] == [
        ("baseline", 94.0),
        ("general", 83.0),
        ("format", 82.5),
        ("positional", 75.0),
        ("multilingual", 72.0),
        ("crosslingual", 72.0),
    ]
    assert rows[0][1][1] is None
    assert 100 * value(rows[1][1][1]) == pytest.approx(-11.0)


def test_languages_have_quality_deltas_as_in_table_4() -> None:
    cells = [
        *graded(0, 1, 1, model="a", operator="answer-in-de", dimension="multilingual"),
        *graded(2, 0, 0, model="a", operator="answer-in-ja", dimension="multilingual"),
        *graded(0, 3, 1, model="b", operator="answer-in-de", dimension="multilingual"),
    ]
    found = entries(table_of("enterprise-languages", cells))
    assert found == {
        "a": [TableFigure(0.5), TableFigure(1.0)],
        "b": [TableFigure(0.25), None],
        "mean": [TableFigure(0.375), TableFigure(1.0)],
    }


def test_languages_of_inputs_and_answers_are_a_square() -> None:
    cells = [
        each
        for task in ("en", "de")
        for language in ("fr", "ja")
        for each in graded(3, 0, 1, task=task, operator=f"answer-in-{language}", dimension="multilingual")
    ]
    found = entries(table_of("enterprise-crosslingual", cells))
    assert found["small, en"] == found["small, de"] == [TableFigure(0.75), TableFigure(0.75)]


def test_a_model_that_cannot_write_a_format_has_none() -> None:
    wrong = {
        "operator": "format-xml",
        "dimension": "format",
        "outcome": "deviation",
        "quality": '{"rouge-l": [1, 0]}',
    }
    cells = [
        cell(**wrong, reason="format:not-conforming"),
        cell(**wrong, reason="format:not-conforming", input="8"),
        cell(**{**wrong, "model": "b"}, reason="format:value"),
        cell(operator="format-json", dimension="format"),
    ]
    found = entries(table_of("enterprise-formats", cells))
    assert found["small"] == [None, TableFigure(1.0)]
    assert found["b"] == [TableFigure(0.0), None]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("enterprise-languages", "operators such as answer-in-fr"),
        ("enterprise-formats", "operators such as format-xml"),
    ],
)
def test_what_cannot_be_filled_is_refused(name: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        table_of(name, [cell()])
    with pytest.raises(UsageError, match="'enterprise' needs measures of quality"):
        table_of("enterprise", [cell(outcome="minor")])
    empty = [cell(), cell(operator="format-xml", dimension="", outcome="not-applicable")]
    with pytest.raises(UsageError, match="'enterprise-formats': no cell fills it"):
        table_of("enterprise-formats", empty)


PROMPT = Prompt(
    "Extract the plan and the city from the message as JSON with the keys plan and city.\n\nMessage: {message}"
)


def test_entity_match_of_a_real_run_decides_quality() -> None:
    def careless(prompt: str) -> str:
        city = "Bern" if "EXTRACT" not in prompt else "Basel"
        return f"Here it is:\n{json.dumps({'plan': 'pro', 'city': city})}"

    inputs = read_inputs(
        [{"message": "I moved to Bern and want pro."}], PROMPT, "test", [{"plan": "pro", "city": "Bern"}]
    )
    task = StudyTask(
        "slots",
        PROMPT,
        inputs,
        (AGAIN, "upper-case", "double-space"),
        1,
        {"task": "extraction"},
        measures=check_measures(["entity-match"], "test"),
    )
    cells = study(Study("slots", (task,), (StudyModel("m", careless),), runs=2))
    assert {(each.operator, each.outcome, each.grades.quality) for each in cells} == {
        ("", "baseline", ""),
        (AGAIN, "equivalent", ""),
        ("upper-case", "deviation", '{"entity-match": [1.0, 0.5]}'),
        ("double-space", "equivalent", ""),
    }
    assert {each.grades.expected for each in cells} == {'{"plan": "pro", "city": "Bern"}'}
    ((_, (whole, content, quality, baseline, general)),) = table_of("enterprise", cells).rows
    assert (value(content), value(quality), value(whole)) == (0.5, 1.0, 0.5)
    assert (value(baseline), value(general)) == (1.0, 0.5)


def test_measures_of_a_judge_and_of_ones_own_stand_in_one_cell() -> None:
    prompt = Prompt("Summarize the ticket in one sentence.\n\nTicket: {ticket}")

    def answer(text: str) -> str:
        return "The parcel is lost." if "SUMMARIZE" not in text else "The customer wants a refund of $30."

    class Grading:
        name = "mine"

        def rate(self, pair: object) -> int:
            return 1

        def grade(self, measure: str, prompt: str, answer: str) -> int:
            return 3 if "parcel" in answer else 1

    inputs = read_inputs([{"ticket": "My parcel is lost."}], prompt, "test", ["The parcel is lost."])
    settings = {"judge": Grading(), "quality": ["faithfulness"]}
    task = StudyTask(
        "summary",
        prompt,
        inputs,
        ("upper-case",),
        1,
        settings,
        measures={"words": lambda answer, expected: float(len(answer.split()))},
    )
    cells = study(Study("summary", (task,), (StudyModel("m", answer),)), session=Session())
    assert json.loads(cells[1].grades.quality) == {"faithfulness": [3, 1], "words": [4.0, 7.0]}


def test_the_unmutated_prompt_asked_again_tells_noise() -> None:
    inputs = read_inputs([{"message": f"I want pro in Bern, {at}."} for at in range(6)], PROMPT, "test")
    task = StudyTask("slots", PROMPT, inputs, (AGAIN, "upper-case"), 1)
    cells = study(Study("noise", (task,), (StudyModel("m", "simulated?noise=0.9"),)))
    again = [each for each in cells if each.operator == AGAIN]
    assert len(again) == 6
    assert {each.outcome for each in again} - {"equivalent"}
    assert all(each.spent.latency is not None for each in again)
    assert AGAIN not in dict(table_of("robustness", cells).rows)
    assert AGAIN in dict(table_of("operators", cells).rows)
    assert len(table_of("changes", cells).rows) == sum(
        each.operator == "upper-case" and each.outcome in {"minor", "deviation"} for each in cells
    )


def test_a_measure_that_does_not_fit_what_is_expected_is_refused_before_anything_is_asked() -> None:
    inputs = read_inputs(
        [{"message": "I want pro."}, {"message": "Hi."}], PROMPT, "test", [{"plan": "pro"}, "none"]
    )
    said = r"task 'slots': input 2 .*: entity-match needs expected= as a mapping of slots; 'none' is none"
    task = StudyTask("slots", PROMPT, inputs, measures=check_measures(["entity-match"], "test"))
    with pytest.raises(UsageError, match=said):
        Study("slots", (task,), (StudyModel("m", "simulated"),))
    Study("slots", (replace(task, inputs=inputs[:1]),), (StudyModel("m", "simulated"),))


def test_entity_match_and_wrong_measures() -> None:
    assert entity_match("no JSON at all", {"plan": "pro"}) == 0.0
    with pytest.raises(UsageError, match="entity-match needs expected= as a mapping"):
        entity_match("{}", "pro")
    with pytest.raises(UsageError, match="the measure 'entity' is"):
        check_measures(["entity"], "study.toml")
    with pytest.raises(UsageError, match="give a list of names"):
        check_measures("entity-match", "study.toml")
