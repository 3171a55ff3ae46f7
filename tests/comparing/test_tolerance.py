"""JSON within what a profile lets pass: order, numbers, dates; and never more than that."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.comparing.profiles import profile_for
from pytest_promptfuzz.comparing.values.same_values import days_apart, read_dates
from pytest_promptfuzz.judging.compare import compare

FREE = {"list_order": "free"}
CENT = {"number_tolerance": 0.01}
DATE = {"date_tolerance": 0}
LAMP, DESK = {"of": "lamp", "price": 3.5}, {"of": "desk", "price": 80}


def both(first, second, **options):
    profile = profile_for("extraction", **options)
    ways = [
        compare(json.dumps(one), json.dumps(two), profile=profile)
        for one, two in ((first, second), (second, first))
    ]
    assert ways[0].outcome == ways[1].outcome, ways
    return ways[0]


@pytest.mark.parametrize(
    ("first", "second", "options", "outcome"),
    [
        # order
        ([1, 2, 3], [3, 1, 2], {}, "minor"),
        ([1, 2, 3], [3, 1, 2], FREE, "equivalent"),
        ([1, 2, 3], [3, 1, 2], {"list_order": "strict"}, "deviation"),
        ({"tags": ["a", "b"]}, {"tags": ["b", "a"]}, {"list_order": "strict"}, "deviation"),
        ([1, 1, 2], [1, 2, 2], FREE, "deviation"),
        ([1, 2], [1, 2, 2], FREE, "deviation"),
        ([[1, 2], [3, 4]], [[4, 3], [2, 1]], FREE, "equivalent"),
        ([[1, 2], [3, 4]], [[1, 3], [2, 4]], FREE, "deviation"),
        ([LAMP, DESK], [DESK, LAMP], FREE, "equivalent"),
        ([LAMP, DESK], [{**DESK, "price": 3.5}, {**LAMP, "price": 80}], FREE, "deviation"),
        ([True, 1], [1, True], FREE, "equivalent"),
        ([True, True], [1, True], FREE, "deviation"),
        ([None, {}], [{}, None], FREE, "equivalent"),
        ([], [], FREE, "equivalent"),
        ({"a": [1, 2]}, {"a": {"0": 1, "1": 2}}, FREE, "deviation"),
        # numbers
        ({"total": 3.5}, {"total": 3.51}, CENT, "equivalent"),
        ({"total": 3.5}, {"total": 3.52}, CENT, "deviation"),
        ({"total": 3.5}, {"total": 3.51}, {}, "deviation"),
        ({"total": "3.50"}, {"total": "3.51"}, CENT, "equivalent"),
        ({"total": "$3.50"}, {"total": "$3.51"}, CENT, "deviation"),
        ({"id": "007"}, {"id": "7"}, CENT, "deviation"),
        ({"total": -0.005}, {"total": 0.005}, CENT, "equivalent"),
        ({"total": 1_000_000}, {"total": 1_000_900}, {"relative_tolerance": 0.001}, "equivalent"),
        ({"total": 1_000_000}, {"total": 1_002_000}, {"relative_tolerance": 0.001}, "deviation"),
        ({"total": 1000}, {"total": 1005}, {"relative_tolerance": 0.001, "number_tolerance": 5}, "equivalent"),
        ({"paid": True}, {"paid": 1}, {"number_tolerance": 2}, "deviation"),
        ({"paid": True}, {"paid": False}, {"number_tolerance": 2}, "deviation"),
        ({"n": 1e308}, {"n": -1e308}, {"relative_tolerance": 1.5}, "deviation"),
        ({"n": 5}, {"n": None}, {"number_tolerance": 100}, "deviation"),
        ([1, 2], [2.01, 1.01], {**FREE, **CENT}, "equivalent"),
        ([1, 2], [2.01, 1.02], {**FREE, **CENT}, "deviation"),
        # dates
        ({"due": "2024-03-05"}, {"due": "March 5, 2024"}, {}, "deviation"),
        ({"due": "2024-03-05"}, {"due": "March 5, 2024"}, DATE, "equivalent"),
        ({"due": "2024-03-05"}, {"due": "5. März 2024"}, DATE, "equivalent"),
        ({"due": "2024-03-05"}, {"due": "le 5 mars 2024"}, DATE, "deviation"),
        ({"due": "2024-03-05"}, {"due": "5 mars 2024"}, DATE, "equivalent"),
        ({"due": "2024-03-05"}, {"due": "05.03.2024"}, DATE, "equivalent"),
        ({"due": "2024-03-05"}, {"due": "03.05.2024"}, DATE, "deviation"),
        ({"due": "2024-03-05"}, {"due": "05/03/2024"}, DATE, "minor"),
        ({"due": "2024-03-05"}, {"due": "03/05/2024"}, DATE, "minor"),
        ({"due": "2024-03-05"}, {"due": "06/03/2024"}, DATE, "deviation"),
        ({"due": "2024-03-25"}, {"due": "25/03/2024"}, DATE, "equivalent"),
        ({"due": "2024-03-03"}, {"due": "3/3/2024"}, DATE, "equivalent"),
        ({"due": "2024-03-05"}, {"due": "2024-03-06"}, DATE, "deviation"),
        ({"due": "2024-03-05"}, {"due": "2024-03-06"}, {"date_tolerance": 1}, "equivalent"),
        ({"due": "2024-02-28"}, {"due": "2024-03-01"}, {"date_tolerance": 1}, "deviation"),
        ({"due": "2024-03-05T10:00:00Z"}, {"due": "2024-03-05T11:00:00+01:00"}, DATE, "equivalent"),
        ({"due": "2024-03-05T10:00:00Z"}, {"due": "2024-03-05T10:00:00"}, DATE, "deviation"),
        ({"due": "2024-03-05"}, {"due": "2024-03-05T00:00"}, DATE, "equivalent"),
        ({"due": "2024-03-05"}, {"due": "2024-03-05T10:00"}, DATE, "deviation"),
        ({"due": "2024-02-30"}, {"due": "30 February 2024"}, DATE, "deviation"),
        ({"when": "May 2024"}, {"when": "June 2024"}, {"date_tolerance": 40}, "deviation"),
        ({"v": "3.10.2024"}, {"v": "3.1.2024"}, DATE, "deviation"),
    ],
)  # fmt: skip
def test_what_passes_and_what_does_not(first, second, options, outcome):
    assert both(first, second, **options).outcome == outcome


def test_a_difference_is_named_at_the_baselines_place():
    items = [DESK, {**LAMP, "price": 4}]
    found = both([LAMP, DESK], items, **FREE)
    assert (
        found.explanation == "JSON differs at $[0].price: 3.5 became 4" or "4 became 3.5" in found.explanation
    )
    found = compare(
        json.dumps({"items": [LAMP, DESK]}), json.dumps({"items": items}), profile=profile_for("json", **FREE)
    )
    assert found.explanation == "JSON differs at $.items[0].price: 3.5 became 4"
    found = compare("[1, 2, 3]", "[2, 3]", profile=profile_for("json", **FREE))
    assert found.explanation == "JSON differs at $[0]: 1 is missing from the response"
    found = compare("[2, 3]", "[1, 2, 3]", profile=profile_for("json", **FREE))
    assert found.explanation == "JSON differs at $[2]: 1 is in the response only"


def test_a_long_list_is_compared_all_the_same():
    many = [{"n": n} for n in range(500)]
    assert (
        compare(
            json.dumps(many), json.dumps([*many[:-1], {"n": -1}]), profile=profile_for("json", **FREE)
        ).outcome
        == "deviation"
    )


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["a", "b", "2024-01-02"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=8,
)


@given(PLAIN, st.randoms(use_true_random=False))
def test_lists_shuffled_anywhere_are_the_same_where_order_is_free(value, random):
    def shuffled(each):
        if isinstance(each, list):
            return random.sample([shuffled(item) for item in each], len(each))
        return {key: shuffled(item) for key, item in each.items()} if isinstance(each, dict) else each

    assert (
        compare({"v": value}, {"v": shuffled(value)}, profile=profile_for("json", **FREE)).outcome
        == "equivalent"
    )


@given(PLAIN, PLAIN)
def test_no_tolerance_makes_other_values_equal(first, second):
    strict = compare({"v": first}, {"v": second}, profile=profile_for("json", list_order="strict"))
    loose = compare(
        {"v": first}, {"v": second}, profile=profile_for("json", number_tolerance=0.5, date_tolerance=0.5)
    )
    assert (strict.outcome == "equivalent") == (loose.outcome == "equivalent")


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("2024-03-05", 1), ("2024/3/5", 1), ("2024.03.05", 1), ("2024-3/5", 0), ("Tuesday, March 5th, 2024", 1),
        ("5th of March 2024", 1), ("5 de marzo de 2024", 1), ("05/03/2024", 2), ("13/03/2024", 1), ("13/13/2024", 0),
        ("5 Smarch 2024", 0), ("March 2024", 0), ("soon", 0), ("", 0), ("2024-03-05T25:00", 0), ("20240305", 0),
        ("2024-03-05T10:00:00.123Z", 1), ("0001-01-01T00:00:00+14:00", 0), ("x" * 10_000, 0),
    ],
)  # fmt: skip
def test_dates_are_read_where_they_are_dates(text, dates):
    assert len(read_dates(text)) == dates


def test_how_far_dates_lie_apart():
    assert days_apart("2024-02-28", "March 1, 2024") == (2.0, True)
    assert days_apart("2024-03-05", "5/3/2024") == (0.0, False)
    assert days_apart("2024-03-05", "soon") is None
