"""Whether two runs of a test differ by more than noise: exact tests, held to all relabellings gone through."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.stats.regressions import CreditDifference, adjusted, paired, unpaired

CREDITS = st.sampled_from([0, 7, 10])


@given(st.lists(st.tuples(CREDITS, CREDITS), max_size=9))
def test_signs_are_flipped_in_every_way(pairs: list[tuple[int, int]]) -> None:
    differences = [now - before for before, now in pairs]
    net = sum(differences)
    sums = [
        sum(each * sign for each, sign in zip(differences, signs, strict=True))
        for signs in product((-1, 1), repeat=len(differences))
    ]
    found = paired(differences)
    assert found.net == net
    assert found.p_worse == pytest.approx(sum(each <= net for each in sums) / len(sums))
    assert found.p_better == pytest.approx(sum(each >= net for each in sums) / len(sums))
    levels = sorted({sum(other <= each for other in sums) / len(sums) for each in sums})
    assert found.levels == pytest.approx(levels)
    assert found.least == pytest.approx(levels[0])


@given(st.lists(CREDITS, min_size=1, max_size=6), st.lists(CREDITS, min_size=1, max_size=6))
def test_credits_are_redistributed_in_every_way(before: list[int], now: list[int]) -> None:
    every = [*before, *now]
    found = unpaired(before, now)
    assert found is not None
    sums = [sum(every[place] for place in chosen) for chosen in combinations(range(len(every)), len(now))]
    assert found.p_worse == pytest.approx(sum(each <= sum(now) for each in sums) / len(sums))
    assert found.p_better == pytest.approx(sum(each >= sum(now) for each in sums) / len(sums))
    assert found.least <= min(found.p_worse, found.p_better) * (1 + 1e-9)


def test_a_run_without_trials_compares_with_nothing() -> None:
    assert unpaired([], [10]) is None
    assert unpaired([10], []) is None
    assert paired([]) == CreditDifference(0, 1.0, 1.0, (1.0,), 1.0)
    assert unpaired([10, 10], [10]) == CreditDifference(0.0, 1.0, 1.0, (1.0,), 1.0)


def test_what_both_runs_lost_tells_nothing() -> None:
    assert paired([-10] * 5).p_worse == 1 / 32
    assert paired([-10] * 5 + [0] * 100) == paired([-10] * 5)
    assert paired([-3, -3, -3, -3, -3]).p_worse == 1 / 32
    assert paired([-10, -10, -10, -10, 3]).p_worse == 2 / 32


def test_many_pairs_are_told_nearly_as_exactly() -> None:
    exact, near = paired([-10] * 120 + [10] * 80), paired([-10] * 121 + [10] * 80)
    assert near.levels == ()
    assert near.p_worse == pytest.approx(exact.p_worse, rel=0.4)
    assert near.p_better > 0.99


def test_a_test_that_can_reach_no_small_p_costs_the_others_nothing() -> None:
    drop, alike, flicker = paired([-10] * 6), paired([0] * 8), paired([-10, 10, 10, 0])
    assert adjusted({"drop": drop}, worse=True) == {"drop": 1 / 64}
    many = {"drop": drop, **{f"alike {n}": alike for n in range(50)}, "flicker": flicker}
    found = adjusted(many, worse=True)
    assert found["drop"] == 1 / 64
    assert found["alike 0"] == 1.0
    assert found["flicker"] >= 7 / 8


def test_each_test_that_could_have_shown_as_much_costs_its_share() -> None:
    drop, other = paired([-10] * 6), paired([-10, 10] * 4)
    found = adjusted({"drop": drop, "one": other, "two": other}, worse=True)
    reached = 1 / 256  # the values of eight pairs are 1/256, 9/256, …
    assert found["drop"] == pytest.approx(1 / 64 + 2 * reached)
    assert found["one"] == 1.0
    both = adjusted({"a": drop, "b": paired([-10] * 7)}, worse=True)
    assert both["b"] == pytest.approx(1 / 128)  # six pairs cannot have less than 1/64
    assert both["a"] == pytest.approx(1 / 64)
    same = adjusted({"a": drop, "b": drop}, worse=True)
    assert same == {"a": pytest.approx(1 / 32), "b": pytest.approx(1 / 32)}


def test_better_and_worse_are_asked_apart() -> None:
    tests = {"worse": paired([-10] * 6), "better": paired([10] * 6)}
    assert adjusted(tests, worse=True)["worse"] == pytest.approx(2 / 64)
    assert adjusted(tests, worse=False)["better"] == pytest.approx(2 / 64)
    assert adjusted(tests, worse=True)["better"] == 1.0


def test_unpaired_runs_take_part_only_where_they_could_show_as_much() -> None:
    drop, few = paired([-10] * 6), unpaired([10] * 3, [10, 10, 0])
    assert few is not None
    assert few.least == pytest.approx(1 / 2)
    assert adjusted({"drop": drop, "few": few}, worse=True)["drop"] == 1 / 64
