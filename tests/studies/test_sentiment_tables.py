"""Tables of the sentiment study: its own examples, hand-made cells, and a factorial study that is really asked."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz import Study, StudyModel, StudyTask, UsageError, study
from pytest_promptfuzz.evaluating.evaluate import read_inputs
from pytest_promptfuzz.prompts.prompt import Prompt
from pytest_promptfuzz.studies.tables.named_tables import table_of
from pytest_promptfuzz.studies.tables.sentiment_tables import factors_in, halves, label_in, penalty
from pytest_promptfuzz.studies.tables.table_figures import TableFigure
from tests.studies.test_cells import cell
from tests.studies.test_study_tables import entries

if TYPE_CHECKING:
    from pytest_promptfuzz.studies.cells import Cell


def asked(expected: str, answers: dict[str, str], **values: object) -> list[Cell]:
    """Cells of one input: by operator, what was answered."""
    return [
        cell(
            **{
                "outcome": "equivalent" if name else "baseline",
                **values,
                "operator": name,
                "answer": answer,
                "expected": expected,
            }
        )
        for name, answer in answers.items()
    ]


@pytest.mark.parametrize(
    ("one", "other", "points"),
    [
        ("negative", "very negative", 1),
        ("positive", "very positive", 1),
        ("neutral", "positive", 4),
        ("negative", "positive", 16),
        ("very negative", "very positive", 36),
        ("very negative", "neutral", 9),
        ("positive", "positive", 0),
    ],
)
def test_penalties(one: str, other: str, points: int) -> None:
    assert penalty(one, other) == penalty(other, one) == points


def test_an_answer_without_a_label_costs_most() -> None:
    assert penalty("positive", None) == 36


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("Very positive!", "very positive"),
        ("VERY_NEGATIVE", "very negative"),
        ("The sentiment is neutral.", "neutral"),
        ("It could be positive or negative.\nAnswer: negative", "negative"),
        ("positive or negative", None),
        ("fine", None),
    ],
)
def test_labels_of_answers(answer: str, label: str | None) -> None:
    assert label_in(answer) == label


def test_consistency_is_the_share_of_the_label_of_most() -> None:
    # The study's own example: 12 of 16 wordings say positive.
    answers = {f"w{at}" if at else "": "positive" if at < 12 else "neutral" for at in range(16)}
    found = entries(table_of("sentiment", asked("positive", answers)))["small"]
    accuracy = 1 - 4 * 4 / 16 / 36
    assert found[0] == TableFigure(pytest.approx(accuracy))
    assert found[1] == TableFigure(0.75)
    assert found[2] == TableFigure(pytest.approx(0.7 * accuracy + 0.3 * 0.75))
    assert found[3] == TableFigure(0.0)


def test_answers_without_a_label_agree_with_nothing() -> None:
    found = entries(table_of("sentiment", asked("positive", {"": "?", "a": "?", "b": "?", "c": "positive"})))[
        "small"
    ]
    assert found[0] == TableFigure(pytest.approx(0.25))
    assert found[1] == TableFigure(0.25)
    assert found[3] == TableFigure(0.75)


def test_a_wording_has_its_accuracy_and_the_models_consistency() -> None:
    cells = [
        *asked("positive", {"": "positive", "a": "negative"}, input="1"),
        *asked("positive", {"": "positive", "a": "positive"}, input="2"),
    ]
    found = entries(table_of("sentiment-variants", cells))
    assert found["(unmutated)"] == [TableFigure(pytest.approx(0.7 + 0.3 * 0.75))]
    assert found["a"] == [TableFigure(pytest.approx(0.7 * (1 - 8 / 36) + 0.3 * 0.75))]


def test_errors_by_penalty() -> None:
    cells = asked("positive", {"": "positive", "a": "very positive", "b": "negative", "c": "no idea"})
    table = table_of("sentiment-errors", cells)
    names = [each.name for each in table.headings]
    assert names == ["right", "degree (1)", "polarity (16)", "no label (36)"]
    assert [each.value for each in table.rows[0][1]] == [0.25] * 4  # type: ignore[union-attr]


def test_effects_of_factors() -> None:
    def labels(casual: str, order: str) -> dict[str, str]:
        return {"": "positive", "casual": casual, "order": order, "casual+order": casual}

    cells = [
        *asked("positive", labels("negative", "positive"), input="1"),
        *asked("positive", labels("neutral", "positive"), input="2"),
        *asked("positive", labels("negative", "positive"), input="3"),
        *[cell for each in "123" for cell in asked("positive", {"upper-case": "very positive"}, input=each)],
    ]
    found = entries(table_of("sentiment-factors", cells))
    assert [*found] == ["casual", "order"]
    # By input -16/36, -4/36, -16/36.
    effect = found["casual"][0]
    assert effect.value == pytest.approx(-1 / 3)  # type: ignore[attr-defined]
    half = 4.30265 * sqrt((2 * (1 / 9) ** 2 + (2 / 9) ** 2) / 2 / 3)
    assert effect.low == pytest.approx(-1 / 3 - half, abs=1e-4)  # type: ignore[attr-defined]
    assert found["casual"][1] == TableFigure(pytest.approx(0.5))  # 2^(1 - 3), twice by Holm
    assert found["casual"][2] == TableFigure(0.0)
    assert [each.value for each in found["order"]] == [0.0, 1.0, 1.0]  # type: ignore[attr-defined]


def test_factors_are_those_all_of_whose_combinations_were_asked() -> None:
    assert factors_in(["(unmutated)", "a", "b", "a+b", "c"]) == ["a", "b"]
    assert factors_in(["(unmutated)", "a", "a+b"]) == []
    assert factors_in(["(unmutated)", "a", "b"]) == []


def test_the_winner_of_one_half_is_scored_on_the_other() -> None:
    names = [str(at) for at in range(8)]
    choosing, scoring = halves({("triage", each) for each in names})
    assert (len(choosing), len(scoring), choosing & scoring) == (4, 4, set())
    cells = []
    for name in names:
        chosen = ("triage", name) in choosing
        # What wins on the choosing half is chance: it loses on the other.
        answers = {"": "neutral" if chosen else "positive", "lucky": "positive" if chosen else "negative"}
        cells += asked("positive", answers, input=name)
    ((winner, before, after, plain, gain, _),) = (row for _, row in table_of("sentiment-winner", cells).rows)
    assert winner == "lucky"
    assert before.value == pytest.approx(0.7 + 0.3 / 2)  # type: ignore[union-attr]
    assert after.value == pytest.approx(0.7 * (1 - 16 / 36) + 0.3 / 2)  # type: ignore[union-attr]
    assert plain.value == pytest.approx(0.7 + 0.3 / 2)  # type: ignore[union-attr]
    assert gain.value == pytest.approx(-16 / 36)  # type: ignore[union-attr]


def test_other_labels_are_refused() -> None:
    with pytest.raises(UsageError, match="'sentiment' needs expected answers among very negative"):
        table_of("sentiment", asked("billing", {"": "billing", "a": "billing"}))
    with pytest.raises(UsageError, match="'sentiment-factors' needs a factorial study"):
        table_of("sentiment-factors", asked("positive", {"": "positive", "a": "positive", "b": "positive"}))


PROMPT = Prompt(
    "Please analyze the sentiment of the review and classify it as positive, negative or neutral. "
    "Answer with one word only.\n\nReview: {review}"
)
FACTORS = ("casual", "imperative-to-question", "text-first", "synonym")


def test_sixteen_wordings_are_really_asked() -> None:
    reviews = {
        "Great food.": "positive",
        "It broke at once.": "negative",
        "It came on Monday.": "neutral",
        "I love it.": "positive",
    }
    inputs = read_inputs([{"review": each} for each in reviews], PROMPT, "test", [*reviews.values()])
    task = StudyTask("mood", PROMPT, inputs, (), settings={"task": "classification"}, factorial=FACTORS)

    def moody(prompt: str) -> str:
        review = next(each for each in reviews if each in prompt)
        return "neutral" if prompt.startswith("Review:") else reviews[review]

    cells = study(Study("mood", (task,), (StudyModel("moody", moody), StudyModel("steady", "simulated"))))
    assert len(cells) == 2 * 4 * 16
    assert {each.operator.count("+") for each in cells if each.operator} == {0, 1, 2, 3}
    found = entries(table_of("sentiment-factors", cells))
    assert found["text-first, moody"][0].value == pytest.approx(-3 * 4 / 36 / 4)  # type: ignore[attr-defined]
    assert [found[f"{each}, moody"][0].value for each in FACTORS if each != "text-first"] == [0.0] * 3  # type: ignore[attr-defined]
    assert entries(table_of("sentiment", cells))["moody"][1] == TableFigure((3 * 0.5 + 1) / 4)


def test_an_input_of_several_tasks_stands_in_one_half() -> None:
    one, two = halves({(task, str(at)) for task in ("a", "b") for at in range(9)})
    assert not {name for _, name in one} & {name for _, name in two}
    assert (len(one), len(two)) == (10, 8)
