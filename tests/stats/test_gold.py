"""How often answers are as expected."""

from __future__ import annotations

import pytest

from pytest_promptfuzz.stats.agreement import Gold, GoldMarks, Wrong


def test_each_input_has_the_same_weight_however_often_it_was_asked() -> None:
    gold = Gold.of(
        [
            GoldMarks(0, "a", [(True, "a")], [True, True, True, False]),
            GoldMarks(1, "b", [(True, "b"), (False, "c"), (False, "d"), (True, "b")], [False, True]),
        ]
    )
    assert (gold.accuracy, gold.mutated) == (0.75, 0.625)
    assert gold.drop == pytest.approx(0.125)
    assert gold.wrong == (Wrong(1, "b", "c"),)
    assert (gold.inputs, gold.untold) == (2, 0)


def test_what_cannot_be_told_is_counted_and_not_scored() -> None:
    gold = Gold.of([GoldMarks(0, "a", [(None, "x")], [None, True, False])])
    assert (gold.accuracy, gold.mutated, gold.drop, gold.untold) == (None, 0.5, None, 2)
    assert Gold.of([]).accuracy is None
