"""Brittlebench's tables: the paper's own figures, and examples worked out by hand."""

from __future__ import annotations

import random
from itertools import product
from math import sqrt
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz import Study, StudyModel, StudyTask, UsageError, study
from pytest_promptfuzz.evaluating.evaluate import read_inputs
from pytest_promptfuzz.prompts.prompt import Prompt
from pytest_promptfuzz.stats.significance import MOST_FLIPPED, mcnemar
from pytest_promptfuzz.stats.variance import variance_of
from pytest_promptfuzz.studies.prompting import prompted
from pytest_promptfuzz.studies.tables.named_tables import table_of
from pytest_promptfuzz.studies.tables.table_figures import TableFigure
from tests.studies.test_cells import cell
from tests.studies.test_study_tables import answers, entries

if TYPE_CHECKING:
    from pytest_promptfuzz.studies.cells import Cell

# Brittlebench, Tables 2 to 5, Claude 4.5 Opus, 0-shot: accuracy in percent by perturbation.
BASELINE = 78.64
PAPER = {
    "lexical": (74.36, 74.08, 78.45, 72.15, 76.72, 76.74),
    "augmentation": (77.68, 78.05),
    "padding": (76.77, 80.1, 79.64),
    "semantic": (78.56, 78.26, 78.71),
}
ITEMS = 10_000


def right(share: float, **values: object) -> list[Cell]:
    """Answers to all items, of which this percentage is right."""
    one = cell(model="opus", **values)
    count = round(share * ITEMS / 100)
    return [one._replace(input=str(at), gold=at < count) for at in range(ITEMS)]


def test_the_papers_groups_and_micro_average() -> None:
    cells = right(BASELINE, operator="", outcome="baseline", dimension="")
    for group, shares in PAPER.items():
        for number, share in enumerate(shares):
            cells += right(share, operator=f"{group} {number}", dimension=group)
    table = table_of("brittlebench-groups", cells)
    ((_, row),) = table.rows
    found = {
        heading.name: 100 * entry.value  # type: ignore[union-attr]
        for heading, entry in zip(table.headings, row, strict=True)
    }
    # Table 1: accuracy and drop of each group, and the micro-average over the 14 perturbations.
    assert found == pytest.approx(
        {
            "baseline": 78.64,
            "lexical": 75.42,
            "lexical drop": 3.22,
            "augmentation": 77.865,
            "augmentation drop": 0.775,
            "padding": 78.84,
            "padding drop": -0.20,
            "semantic": 78.51,
            "semantic drop": 0.13,
            "micro (over all answers)": 77.16,
            "micro (over all answers) drop": 1.48,
            "macro drop": (3.22 + 0.775 - 0.2 + 0.13) / 4,
        },
        abs=0.006,
    )


def test_a_task_may_name_its_group() -> None:
    cells = [
        *answers("m", "", {"1": [True]}, group=""),
        *answers("m", "typo", {"1": [False]}, group="noise", dimension="lexical"),
    ]
    assert [each.name for each in table_of("brittlebench-groups", cells).headings][1:3] == [
        "noise",
        "noise drop",
    ]


def test_drops_by_benchmark_have_macro_and_micro_means() -> None:
    cells = [
        *answers("m", "", {"1": [True]}, task="arc"),
        *answers("m", "typo", {"1": [False]}, task="arc"),
        *answers("m", "", {str(at): [True] for at in range(3)}, task="mmlu"),
        *answers("m", "typo", {str(at): [True] for at in range(3)}, task="mmlu"),
    ]
    found = {name: row[0].value for name, row in table_of("brittlebench-tasks", cells).rows}  # type: ignore[union-attr]
    assert found == {
        "arc": 1.0,
        "mmlu": 0.0,
        "mean over benchmarks (macro)": 0.5,
        "over all answers (micro)": 0.25,
    }


MATRIX = {"easy": (1, 1, 1, 1), "hard": (0, 0, 0, 0), "brittle": (1, 0, 1, 0)}


def test_the_deterministic_variance_of_a_matrix() -> None:
    trials = [(item, at, score) for item, row in MATRIX.items() for at, score in enumerate(row)]
    found = variance_of(trials, deterministic=True)
    # Means 1, 0, 1/2: variance 1/6. Within: 0, 0, 1/4: mean 1/12. All entries: 6 of 12 right, variance 1/4.
    assert found.raw == (0.0, pytest.approx(1 / 6), pytest.approx(1 / 12))
    assert found.item + found.perturbation == pytest.approx(1 / 4)  # type: ignore[operator]
    assert found.shares == (0.0, pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert found.ranges.inference is None
    assert found.share_range is not None
    assert variance_of(trials).raw.inference is None


def test_a_matrix_of_one_item_or_one_column_tells_nothing() -> None:
    assert variance_of([("a", 0, 1.0), ("a", 1, 0.0)], deterministic=True).raw == (0.0, None, 0.25)
    assert variance_of([("a", 0, 1.0), ("b", 0, 0.0)], deterministic=True).raw == (0.0, 0.25, None)


def test_variance_with_the_baselines_column_beside_the_unbiased_one() -> None:
    cells = [
        each
        for name, row in MATRIX.items()
        for at, gold in enumerate(row)
        for each in answers("m", f"change {at}" if at else "", {name: [bool(gold)] * 2})
    ]
    ((_, row),) = table_of("brittlebench-variance", cells).rows
    inputs, changes, sampling, *_ = row
    assert (inputs, changes) == (
        TableFigure(pytest.approx(2 / 3), pytest.approx(0.0)),
        TableFigure(pytest.approx(1 / 3), pytest.approx(0.0)),
    )
    assert sampling == TableFigure(0.0)


def test_brittleness_sums_variances_before_it_divides() -> None:
    cells = [
        *answers("m", "", {"1": [True], "2": [False]}, task="stable"),
        *answers("m", "typo", {"1": [True], "2": [False]}, task="stable"),
        *answers("m", "", {"1": [True], "2": [True]}, task="brittle"),
        *answers("m", "typo", {"1": [False], "2": [False]}, task="brittle"),
    ]
    found = {name: row[1].value for name, row in table_of("brittlebench-variance", cells).rows}  # type: ignore[union-attr]
    # Items 1/4 and 0, changes 0 and 1/4: a half of both together.
    assert found == {"m": 0.5, "task stable": 0.0, "task brittle": 1.0}


def test_ranks_are_a_mean_over_tasks() -> None:
    cells: list[Cell] = []
    for task, changed in (("arc", (1, 3, 2)), ("mmlu", (4, 3, 2))):
        for model, before, after in zip("abc", (4, 3, 2), changed, strict=True):
            cells += answers(model, "", {str(at): [at < before] for at in range(4)}, task=task)
            cells += answers(model, "typo", {str(at): [at < after] for at in range(4)}, task=task)
    found = entries(table_of("ranks", cells))
    # arc: ranks 1, 2, 3 become 3, 1, 2: -0.5, and all change. mmlu: none does.
    assert found == {"typo": [TableFigure(0.25), TableFigure(0.5), TableFigure(0.5)]}


def test_ranks_need_two_models_and_expected_answers() -> None:
    with pytest.raises(UsageError, match="'ranks' needs at least two models"):
        table_of("ranks", answers("a", "typo", {"1": [True]}))
    with pytest.raises(UsageError, match="'ranks' needs expected answers"):
        table_of("ranks", [cell(model="a"), cell(model="b")])


def test_intensities_stand_apart_in_order() -> None:
    cells = [*answers("m", "", {"1": [True], "2": [True]})]
    for level, golds in ((10, (False, False)), (1, (True, True)), (3, (True, False))):
        cells += answers("m", f"typo:{level}", {"1": [golds[0]], "2": [golds[1]]})
    cells += answers("m", "case:1", {"1": [True], "2": [True]})
    found = [(name, row[0].value) for name, row in table_of("intensity", cells).rows]  # type: ignore[union-attr]
    assert found == [("typo:1", 0.0), ("typo:3", 0.5), ("typo:10", 1.0)]


def test_intensity_without_expected_answers_is_a_loss_of_score() -> None:
    cells = [cell(operator="typo:1"), cell(operator="typo:2", outcome="minor")]
    table = table_of("intensity", cells)
    assert table.title == "Loss of score by intensity"
    assert [(name, row[0].value) for name, row in table.rows] == [  # type: ignore[union-attr]
        ("typo:1", 0.0),
        ("typo:2", pytest.approx(0.3)),
    ]


def test_a_pair_of_operators_in_both_orders() -> None:
    plain = {"1": [True], "2": [True]}
    cells = [
        *answers("m", "", plain),
        *answers("m", "a", plain),
        *answers("m", "b", {"1": [False], "2": [True]}),
        *answers("m", "a+b", {"1": [False], "2": [False]}),
        *answers("m", "b+a", {"1": [False], "2": [True]}),
    ]
    ((name, row),) = table_of("pairs", cells).rows
    assert name == "A=a, B=b"
    assert [each.value for each in row] == [0.0, 0.5, 1.0, 0.5, 0.5]  # type: ignore[union-attr]


def test_mcnemar_with_the_papers_figures() -> None:
    # 3,413 questions that only chain of thought answers, 1,454 that only the plain prompt does: 4.1 and 1.7 % of 83,870.
    assert (round(3413 / 83_870, 3), round(1454 / 83_870, 3)) == (0.041, 0.017)
    assert 0 < mcnemar([1] * 3413 + [-1] * 1454) < 1e-150
    assert mcnemar([1] + [-1] * 8) == pytest.approx(2 * 10 / 512)
    assert (mcnemar([1, -1] * 5), mcnemar([])) == (1.0, 1.0)


def test_mcnemar_counts_the_answers_of_an_input_together() -> None:
    differences = [3, 1, -2, 5, 0, 1]
    signs = [*product((1, -1), repeat=len(differences))]
    sums = [abs(sum(sign * each for sign, each in zip(those, differences, strict=True))) for those in signs]
    assert mcnemar(differences) == sum(each >= 8 for each in sums) / len(signs)
    many = [each for each in (2, 1, -2, 3, -1) for _ in range(200)]
    assert len(many) * sum(map(abs, many)) < MOST_FLIPPED
    assert mcnemar(many) == pytest.approx(mcnemar([*many, *[0] * 10]))
    # The same by the normal distribution, which is used for more.
    assert mcnemar(many * 2) < mcnemar(many) < 1e-6


def test_prompting_that_does_nothing_is_seldom_called_another() -> None:
    # An input's answers belong together: nine prompts, two runs, right or wrong by the input.
    rng = random.Random(1)
    found = 0
    for _ in range(300):
        differences = []
        for _ in range(20):
            one, two = rng.random(), rng.random()
            first = [rng.random() < one for _ in range(18)]
            second = [rng.random() < two for _ in range(18)]
            differences.append(sum(first) - sum(second))
        found += mcnemar(differences) < 0.05
    assert found <= 300 * 0.05 + 3 * sqrt(300 * 0.05 * 0.95)


def test_the_macro_mean_has_an_interval_over_inputs() -> None:
    cells = []
    for operator, row in (("", "yyyy"), ("typo", "nyny"), ("caps", "nnyy")):
        cells += answers("m", operator, {str(at): [letter == "y"] for at, letter in enumerate(row)})
    macro = dict(table_of("brittlebench", cells).rows)["mean over operators (macro)"][0]
    # Each input under both: 1, 0.5, 0.5, 0: the mean 0.5, the standard error sqrt((0.25 + 0.25) / 3 / 4).
    half = 3.18245 * sqrt(0.5 / 12)
    assert macro.value == 0.5  # type: ignore[union-attr]
    assert (macro.low, macro.high) == pytest.approx((max(-1.0, 0.5 - half), min(1.0, 0.5 + half)), abs=1e-4)  # type: ignore[union-attr]


def test_pairs_need_both_operators_alone_and_both_orders() -> None:
    cells = answers("m", "", {"1": [True]})
    for operator in ("typo", "caps", "typo+caps"):
        cells += answers("m", operator, {"1": [False]})
    with pytest.raises(UsageError, match="'pairs' needs two operators alone and in both orders"):
        table_of("pairs", cells)


def prompting_cells(golds: dict[str, tuple[str, str]]) -> list[Cell]:
    """Cells of promptings: by name, golds without and with a change, a letter for each input (y or n)."""
    found = []
    for way, (plain, changed) in golds.items():
        parameters = "" if way == "none" else f'{{"prompting": "{way}"}}'
        for operator, row in (("", plain), ("typo", changed)):
            found += answers(
                f"m prompting={way}",
                operator,
                {str(at): [letter == "y"] for at, letter in enumerate(row)},
                parameters=parameters,
            )
    return found


def test_promptings_are_tested_against_the_first() -> None:
    cells = prompting_cells({"none": ("yyyn", "nnyn"), "cot": ("yyyy", "yyyn")})
    found = entries(table_of("promptings", cells))
    first, second = found["m, none"], found["m, cot"]
    assert [each.value for each in first[:3]] == [0.75, 0.25, 0.5]  # type: ignore[attr-defined]
    assert first[3:] == [None] * 5
    # Only chain of thought: input 4 unmutated, inputs 1 and 2 mutated.
    assert [each.value for each in second[3:6]] == [3 / 8, 0.0, 2 * 0.5**3]  # type: ignore[attr-defined]
    # Drops 1, 1, 0, 0 and 0, 0, 0, 1: saved 1, 1, 0, -1; mean 1/4, standard error sqrt(2.75/3/4).
    saved = second[6]
    assert saved.value == 0.25  # type: ignore[attr-defined]
    assert saved.high == pytest.approx(min(1.0, 0.25 + 3.18245 * sqrt(2.75 / 12)), abs=1e-4)  # type: ignore[attr-defined]


def test_one_prompting_is_refused() -> None:
    with pytest.raises(
        UsageError, match=r"'promptings' needs a model that is prompted in two ways: \[factors\]"
    ):
        table_of("promptings", prompting_cells({"none": ("yy", "yn")}))


PROMPT = Prompt("Is the mood of this text good or bad? Answer with one word only.\n\nText: {text}")
TEXTS = [{"text": "What a lovely day!"}, {"text": "It rained, and I hate that."}]


def test_a_study_prompts_in_three_ways_under_the_same_changes() -> None:
    asked: dict[str, list[str]] = {}

    def target(way: str):
        def answer(prompt: str) -> str:
            asked.setdefault(way, []).append(prompt)
            shouts = prompt.rsplit("Text: ", maxsplit=1)[-1].isupper() or "MOOD" in prompt
            if way == "cot":
                return f"The text says it.\nAnswer: {'good' if 'lovely' in prompt.lower() else 'bad'}"
            return "good" if "lovely" in prompt.lower() and not shouts else "bad"

        return answer

    inputs = read_inputs(TEXTS, PROMPT, "test", ["good", "bad"])
    examples = read_inputs([{"text": "Nothing works."}], PROMPT, "test", ["bad"])
    ways = ("none", "few-shot", "cot")
    cells = study(
        Study(
            "moods",
            (
                StudyTask(
                    "mood", PROMPT, inputs, ("upper-case",), 1, {"task": "classification"}, examples=examples
                ),
            ),
            tuple(StudyModel(f"m prompting={way}", target(way), prompting=way) for way in ways),
        )
    )
    assert [each.split("\n\n")[0] for each in asked["few-shot"]] == ["Examples:"] * len(asked["few-shot"])
    assert all("Text: Nothing works.\nAnswer: bad\n\n" in each for each in asked["few-shot"])
    assert all('last line that begins with "Answer:"' in each for each in asked["cot"])
    shown = [
        each.replace("Examples:\n\nText: Nothing works.\nAnswer: bad\n\n", "") for each in asked["few-shot"]
    ]
    assert shown == asked["none"]
    found = entries(table_of("promptings", cells))
    drops = {name: row[2].value for name, row in found.items()}  # type: ignore[attr-defined]
    assert drops == {"m, none": 0.5, "m, few-shot": 0.5, "m, cot": 0.0}


def test_examples_stand_below_and_above_what_waits_for_an_answer() -> None:
    examples = read_inputs([{"text": "Nothing works."}], PROMPT, "test", ["bad"])
    shown = "Examples:\n\nText: Nothing works.\nAnswer: bad"
    assert prompted(Prompt("Good or bad?\n\nText: Rain.\nMood:"), "few-shot-after", examples).text == (
        f"Good or bad?\n\nText: Rain.\n\n{shown}\n\nMood:"
    )
    assert (
        prompted(Prompt("Good or bad? Rain."), "few-shot-after", examples).text
        == f"Good or bad? Rain.\n\n{shown}"
    )
    chat = Prompt.from_messages(
        [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Rain?"}]
    )
    reasoning = prompted(chat, "cot").text
    assert "Be brief.\n" in reasoning
    assert reasoning.index("First think step by step") > reasoning.index("Rain?")
    assert prompted(chat, "none") == chat


def test_examples_must_not_be_asked_and_have_answers() -> None:
    inputs = read_inputs(TEXTS, PROMPT, "test", ["good", "bad"])
    for examples, why in (
        ((), "needs examples="),
        (read_inputs(TEXTS[:1], PROMPT, "test", ["good"]), "is one of the inputs that are asked"),
        (
            read_inputs([{"text": "what a  LOVELY day! "}], PROMPT, "test", ["good"]),
            "is one of the inputs that are asked",
        ),
        (read_inputs([{"text": "Nothing works."}], PROMPT, "test"), "has no expected answer"),
    ):
        with pytest.raises(UsageError, match=why):
            Study(
                "moods",
                (StudyTask("mood", PROMPT, inputs, examples=examples),),
                (StudyModel("m", "simulated", prompting="few-shot"),),
            )
    with pytest.raises(UsageError, match="prompting 'step' is not one of"):
        Study(
            "moods", (StudyTask("mood", PROMPT, inputs),), (StudyModel("m", "simulated", prompting="step"),)
        )
