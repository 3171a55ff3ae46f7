"""The distribution of accuracy over prompts: exact where all is known, near the truth where a part is, or refused."""

from __future__ import annotations

from math import exp
from random import Random

import pytest

from pytest_promptfuzz import UsageError
from pytest_promptfuzz.randomness import Rng, root_key
from pytest_promptfuzz.stats.prompt_accuracy import FEWEST_ANSWERS, prompt_accuracy, quantile
from pytest_promptfuzz.studies.designs import balanced_cells, read_share

Matrix = list[list[float]]


def planted(prompts: int, inputs: int, seed: int, spread: float = 1.0) -> Matrix:
    """Right and wrong answers of a Rasch model."""
    random = Random(seed)
    hard = [random.gauss(1, 1.5) for _ in range(inputs)]
    return [
        [float(random.random() < 1 / (1 + exp(-effect - each))) for each in hard]
        for effect in (random.gauss(0, spread) for _ in range(prompts))
    ]


def drawn(matrix: Matrix, share: float) -> dict[tuple[int, int], float]:
    cells = balanced_cells(len(matrix), len(matrix[0]), share, Rng(root_key(0, "any"), "cells"))
    return {(row, column): matrix[row][column] for row, column in cells}


def test_where_all_is_known_the_figures_are_exact() -> None:
    accuracies = [0.2, 0.4, 0.6, 0.8, 1.0]
    answers = {
        (prompt, given): float(given < 5 * accuracy)
        for prompt, accuracy in enumerate(accuracies)
        for given in range(5)
    }
    found = prompt_accuracy(answers, dict.fromkeys(range(5), 1.0))
    assert (found.prompts, found.inputs, found.asked) == (5, 5, 1)
    assert found.mean == (pytest.approx(0.6), None, None)
    assert [each.value for each in found.quantiles] == pytest.approx([0.24, 0.6, 0.96])


def test_a_fifth_of_the_cells_comes_near_the_whole() -> None:
    errors, covered, total = [], 0, 0
    for seed in range(6):
        matrix = planted(16, 60, seed)
        whole = sorted(sum(row) / len(row) for row in matrix)
        truths = [sum(whole) / len(whole), *(quantile(whole, each) for each in (0.05, 0.5, 0.95))]
        found = prompt_accuracy(drawn(matrix, 0.25), dict(enumerate(planted(1, 60, seed)[0])))
        for truth, figure in zip(truths, (found.mean, *found.quantiles), strict=True):
            errors.append(abs(figure.value - truth))
            covered += figure.low <= truth <= figure.high
            total += 1
            assert 0.02 < figure.high - figure.low < 0.4
    assert sum(errors) / len(errors) < 0.05
    assert covered >= total - 4


def test_more_cells_make_intervals_narrower() -> None:
    matrix = planted(12, 40, 1)
    widths = []
    for share in (0.2, 0.5, 0.9):
        found = prompt_accuracy(drawn(matrix, share))
        widths.append(found.quantiles[1].high - found.quantiles[1].low)
    assert widths[0] > widths[1] > widths[2] > 0


def test_prompts_that_are_all_right_are_not_taken_for_certain() -> None:
    answers = {
        (prompt, given): 1.0 for prompt in range(8) for given in range(30) if (prompt + given) % 4 == 0
    }
    found = prompt_accuracy(answers)
    assert found.quantiles[0].low < found.quantiles[2].high <= 1.0
    assert 0.9 < found.mean.value < 1.0


def test_the_same_answers_give_the_same_figures() -> None:
    answers = drawn(planted(8, 30, 2), 0.3)
    assert prompt_accuracy(answers) == prompt_accuracy(dict(answers))
    assert prompt_accuracy(answers, seed=1) != prompt_accuracy(answers)


def test_too_little_is_refused() -> None:
    matrix = planted(8, 30, 3)
    few = {place: answer for place, answer in drawn(matrix, 0.3).items() if place[0] != 5 or place[1] == 99}
    few |= {(5, given): 1.0 for given in range(FEWEST_ANSWERS - 1)}
    with pytest.raises(UsageError, match="5 has 2 of 30 answers; an estimate takes 3 of each prompt"):
        prompt_accuracy(few)
    with pytest.raises(UsageError, match="3 prompts × 30 inputs have answers; an estimate takes 4 × 3"):
        prompt_accuracy(drawn(matrix[:3], 0.5))


@pytest.mark.parametrize(("changes", "inputs"), [(7, 12), (6, 12), (12, 6), (1, 5), (5, 1), (20, 50)])
def test_cells_are_balanced_and_a_larger_share_has_those_of_a_smaller_one(changes: int, inputs: int) -> None:
    smaller: set[tuple[int, int]] = set()
    for share in (0.05, 0.2, 0.33, 0.5, 0.75, 1.0):
        cells = balanced_cells(changes, inputs, share, Rng(root_key(0, "any"), "cells"))
        assert len({*cells}) == len(cells) >= share * changes * inputs - 1e-6
        for axis, size in ((0, changes), (1, inputs)):
            counts = [sum(cell[axis] == each for cell in cells) for each in range(size)]
            assert max(counts) - min(counts) <= 1
        assert smaller <= {*cells}
        smaller = {*cells}
    assert len(smaller) == changes * inputs


@pytest.mark.parametrize(
    ("given", "share"), [("20%", 0.2), (" 12.5 %".strip(), 0.125), (0.5, 0.5), (1, 1.0), ("1", 1.0)]
)
def test_a_share_is_read(given: object, share: float) -> None:
    assert read_share(given, "--cells") == share


@pytest.mark.parametrize("given", ["0%", "101%", "half", 0, -0.2, True, None, "nan"])
def test_no_share_is_refused(given: object) -> None:
    with pytest.raises(UsageError, match="give a share of the cells above 0% and up to 100%, such as 20%"):
        read_share(given, "--cells")
