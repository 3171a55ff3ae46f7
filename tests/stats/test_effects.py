from __future__ import annotations

from itertools import product
from random import Random

import pytest

from pytest_promptfuzz.stats.variance import effects_of, holm, rank_stability


def test_an_operator_is_held_against_the_others_on_the_same_input() -> None:
    trials = [
        (item, operator, score)
        for item, row in {
            "easy": {"typo": 0.5, "casing": 1, "persona": 1},
            "hard": {"typo": 0.2, "casing": 0.4, "persona": 0.6},
        }.items()
        for operator, score in row.items()
    ]
    typo, casing, persona = effects_of(trials)
    assert (typo.operator, casing.operator, persona.operator) == ("typo", "casing", "persona")
    # -0.5 and -0.3; 0.25 and 0; 0.25 and 0.3.
    assert [each.mean for each in (typo, casing, persona)] == pytest.approx([-0.4, 0.125, 0.275])
    assert typo.items == 2
    # t at one degree of freedom, 0.05 / 2 / 3 in each tail: 38.188; the standard error is 0.1.
    assert (typo.low, typo.high) == (
        pytest.approx(-0.4 - 3.8188, abs=1e-3),
        pytest.approx(-0.4 + 3.8188, abs=1e-3),
    )
    # Two signs can be flipped in four ways: nothing is below 1/2, and three comparisons make it 1.
    assert [each.p for each in (typo, casing, persona)] == [1, 1, 1]


def test_a_missing_operator_counts_where_it_is() -> None:
    found = {
        each.operator: each
        for each in effects_of(
            [("a", "x", 1), ("a", "y", 0), ("b", "x", 1), ("b", "y", 0), ("b", "z", 1), ("c", "x", 1)]
        )
    }
    assert set(found) == {"x", "y"}  # z is on one input, and nothing stands beside x on c
    assert (found["x"].items, found["x"].mean) == (2, pytest.approx((1 + 0.5) / 2))


def test_answers_of_one_cell_are_averaged_first() -> None:
    once = effects_of([(item, op, score) for item in "abc" for op, score in (("x", 0.5), ("y", 1))])
    often = effects_of([(item, op, score) for item in "abc" for op, score in (("x", 0), ("x", 1), ("y", 1))])
    assert once == often
    assert once[0].p == 0.5  # no scatter: the least that three signs can tell, 1/4, twice


def test_a_harmful_operator_is_found_and_harmless_ones_are_not() -> None:
    random = Random(3)
    names = ["harmful", *(f"harmless-{number}" for number in range(7))]
    trials = [
        (item, name, float(random.random() < (0.5 if name == "harmful" else 0.9)))
        for item, name in product(range(40), names)
    ]
    worst, *others = effects_of(trials)
    assert worst.operator == "harmful"
    assert worst.p < 0.01
    assert worst.high < 0
    assert all(each.mean > 0 or each.p > 0.05 for each in others)


def test_eight_harmless_operators_are_seldom_blamed() -> None:
    blamed = 0
    for seed in range(60):
        random = Random(f"null {seed}")
        trials = [(item, f"{op}", float(random.random() < 0.8)) for item, op in product(range(20), range(8))]
        blamed += min(each.p for each in effects_of(trials)) <= 0.05
    assert blamed <= 8


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1, 1]
    assert holm([]) == []


def test_rank_stability() -> None:
    before = {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.6}
    assert rank_stability(before, {"a": 0.5, "b": 0.4, "c": 0.3, "d": 0.2}) == 1
    assert rank_stability(before, {"a": 0.2, "b": 0.3, "c": 0.4, "d": 0.5}) == -1
    # 1 − 6 Σd² / (n (n² − 1)) = 1 − 6 · 2 / 60.
    assert rank_stability(before, {"a": 0.8, "b": 0.9, "c": 0.7, "d": 0.6}) == pytest.approx(0.8)
    # Ranks 4, 3, 2, 1 and 3.5, 3.5, 1.5, 1.5: 4 / √(5 · 4).
    assert rank_stability(before, {"a": 1, "b": 1, "c": 0, "d": 0}) == pytest.approx(4 / 20**0.5)
    assert rank_stability(before, dict.fromkeys("abcd", 1.0)) is None


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="only once: c"):
        rank_stability({"a": 1, "b": 0}, {"a": 1, "b": 0, "c": 1})
    with pytest.raises(ValueError, match="at least two"):
        rank_stability({"a": 1}, {"a": 1})
    with pytest.raises(ValueError, match="no finite number"):
        effects_of([("a", "x", float("inf"))])
