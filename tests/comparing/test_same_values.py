"""Halves and quarters, of an hour and of a whole, against digits: the same value is the same, another is another."""

from __future__ import annotations

import pytest

from pytest_promptfuzz.judging.compare import compare


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("It takes half an hour by bus.", "It takes 0.5 hours by bus."),
        ("It takes half an hour by bus.", "It takes 30 minutes by bus."),
        ("The flight lasts three and a half hours.", "The flight lasts 3.5 hours."),
        ("The flight lasts 3 and a half hours.", "The flight lasts 3.5 hours."),
        ("The flight lasts 3½ hours.", "The flight lasts 3.5 hours."),
        ("Wait a quarter of an hour before opening it.", "Wait 15 minutes before opening it."),
        ("Wait three quarters of an hour.", "Wait 45 minutes."),
        ("Sales rose by a quarter.", "Sales rose by 25 %."),
        ("Sales fell by three quarters, she said.", "Sales fell by 75%, she said."),
        ("We found that a quarter had left the town.", "We found that 25% had left the town."),
        ("The price fell by half.", "The price fell by 50%."),
    ],
)
def test_equal(first: str, second: str) -> None:
    for one, two in ((first, second), (second, first)):
        found = compare(one, two, task="free")
        assert found.outcome == "equivalent", found.explanation


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("It takes half an hour by bus.", "It takes 1.5 hours by bus."),
        ("The flight lasts three and a half hours.", "The flight lasts 3.25 hours."),
        ("The flight lasts 3½ hours.", "The flight lasts 2.5 hours."),
        ("Wait a quarter of an hour.", "Wait 25 minutes."),
        ("Wait three quarters of an hour.", "Wait 15 minutes."),
        ("Wait an hour and three quarters of an hour.", "Wait an hour and 75 minutes."),
        ("The price fell by half.", "The price fell by 55%."),
        ("a third", "33%"),
    ],
)
def test_another(first: str, second: str) -> None:
    for one, two in ((first, second), (second, first)):
        found = compare(one, two, task="free")
        assert found.outcome == "deviation", found.explanation


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Sales rose by a third.", "Sales rose by 33 %."),
        ("Sales rose by a quarter.", "Sales rose by 20 %."),
        ("Profit rose in a quarter.", "Profit rose 25 %."),
        ("He left at a quarter to nine.", "He left at 25% to nine."),
        ("Wait half a quarter of an hour.", "Wait half of 15 minutes or so."),
        ("Wait two and three quarters of an hour.", "Wait two and 45 minutes."),
    ],
)
def test_not_taken_for_equal(first: str, second: str) -> None:
    for one, two in ((first, second), (second, first)):
        assert compare(one, two, task="free").outcome != "equivalent"
