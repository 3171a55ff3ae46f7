"""Which edits a failure needs: planted ones are found, with few questions, also where answers vary or edits interact."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.searching.shrinker import KnownFailures, Shrunk, shrinking


def found(count, fails, **more) -> tuple[Shrunk, list[frozenset[int]]]:
    """The result of shrinking, and all that was asked."""
    steps, asked = shrinking(count, asked=KnownFailures(**more)), []
    try:
        sets = next(steps)
        while True:
            asked += sets
            sets = steps.send([fails(each) for each in sets])
    except StopIteration as stop:
        return stop.value, asked


@given(st.data())
def test_planted_edits_are_found_wherever_they_are(data) -> None:
    count = data.draw(st.integers(1, 24))
    needed = data.draw(st.frozensets(st.integers(0, count - 1), min_size=1, max_size=4))
    result, asked = found(count, lambda parts: needed <= parts)
    assert (frozenset(result.kept), result.minimal, result.calls) == (needed, True, len(asked))
    assert len(set(asked)) == len(asked)  # nothing is asked twice


@given(st.data())
def test_whatever_fails_the_result_fails_and_none_of_it_can_be_left_out(data) -> None:
    count = data.draw(st.integers(1, 6))
    table = data.draw(st.lists(st.booleans(), min_size=2**count, max_size=2**count))
    table[-1] = True

    def fails(parts: frozenset[int]) -> bool:
        return bool(parts) and table[sum(1 << each for each in parts)]

    result, _ = found(count, fails)
    kept = frozenset(result.kept)
    assert result.minimal
    assert fails(kept)
    assert not any(fails(kept - {each}) for each in kept)


def test_few_questions_suffice() -> None:
    calls = [found(20, lambda parts, one=one: one in parts)[0].calls for one in range(20)]
    assert max(calls) <= 12
    pairs = [found(20, lambda parts, one=one: {one, 19 - one} <= parts)[0].calls for one in range(10)]
    assert max(pairs) <= 22


def test_where_answers_vary_the_same_is_asked_again_until_it_is_told() -> None:
    rng = random.Random(7)
    right = 0
    for case in range(200):
        needed = frozenset(rng.sample(range(20), 1 + case % 3))
        result, _ = found(
            20, lambda parts, needed=needed: (needed <= parts) == (rng.random() < 0.8), flip=0.25
        )
        right += frozenset(result.kept) == needed
    assert right >= 195


def test_a_failure_that_does_not_come_again_is_not_shrunk() -> None:
    result, asked = found(5, lambda parts: False)
    assert result == Shrunk((0, 1, 2, 3, 4), minimal=False, calls=1)
    assert asked == [frozenset(range(5))]


@pytest.mark.parametrize("most", range(1, 12))
def test_what_is_smallest_when_the_budget_ends_is_the_result(most: int) -> None:
    result, asked = found(16, lambda parts: {3, 11} <= parts, most=most)
    assert len(asked) <= most
    assert {3, 11} <= set(result.kept)
    assert not result.minimal


def test_edits_that_mend_each_other_are_no_obstacle() -> None:
    def fails(parts: frozenset[int]) -> bool:  # 5 mends what 2 and 9 break, unless 6 is there as well
        return {2, 9} <= parts and (5 not in parts or 6 in parts)

    result, _ = found(20, fails)
    assert (result.kept, result.minimal) == ((2, 9), True)
