"""Answers about code whose names were changed: mapped back, then compared as ever."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.comparing.formats.code import answer_under_renaming, under_renaming
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.judging.compare import compare
from pytest_promptfuzz.providers.requests import Response

NAMES = {"total": "my_total", "price": "var_1"}
BACK = [
    ("my_total is the sum.", "total is the sum."),
    ("`my_total` grows by `var_1`.", "`total` grows by `price`."),
    ("Returns my_total, not my_totals or xmy_total.", "Returns total, not my_totals or xmy_total."),
    ("my_total=var_1", "total=price"),
    ("my_total.my_total", "total.total"),
    ("The total is 3.", "The total is 3."),
    ("", ""),
    ("```python\nmy_total = var_1\n```", "```python\ntotal = price\n```"),
    # A name of the model's own that is the old name must not fall together with it.
    ("```python\ntotal = my_total + 1\n```", "```python\ntotal_2 = total + 1\n```"),
    ("`total` holds `my_total`.", "`total_2` holds `total`."),
    ("The total of my_total.", "The total of total."),
    ("```python\nx.total = my_total\n```", "```python\nx.total = total\n```"),
    ("```python\nf(total=my_total)\n```", "```python\nf(total=total)\n```"),
    ("```python\nx = 'total' + my_total\n```", "```python\nx = 'total' + total\n```"),
]


@pytest.mark.parametrize(("response", "expected"), BACK)
def test_names_are_mapped_back(response: str, expected: str) -> None:
    assert under_renaming("total and price", response, NAMES) == expected


def test_two_names_may_change_places() -> None:
    assert under_renaming("a b", "`b` - `a`", {"a": "b", "b": "a"}) == "`a` - `b`"


def test_ordinary_comparison_runs_on_what_is_mapped_back() -> None:
    baseline = "```python\ndef add(price):\n    total = price + 1\n    return total\n```"
    response = baseline.replace("price", "var_1").replace("total", "my_total")
    assert compare(baseline, response).outcome != "equivalent"
    assert compare(baseline, under_renaming(baseline, response, NAMES)).outcome == "equivalent"
    wrong = response.replace("+ 1", "- 1")
    assert compare(baseline, under_renaming(baseline, wrong, NAMES)).outcome == "deviation"


def test_any_answer_is_mapped_back() -> None:
    response = Response("my_total", tool_calls=())
    assert answer_under_renaming("total", response, NAMES).text == "total"
    value = {"my_total": ["var_1", 3, None, {"x": "my_total var_1"}]}
    assert answer_under_renaming({}, value, NAMES) == {"total": ["price", 3, None, {"x": "total price"}]}
    assert value["my_total"][1] == 3
    both = {"my_total": 1, "total": "var_1"}
    assert answer_under_renaming({}, both, NAMES) == {"my_total": 1, "total": "price"}
    assert answer_under_renaming("total", ("var_1",), NAMES) == ("price",)
    assert answer_under_renaming("total", 3.5, NAMES) == 3.5
    marker = object()
    assert answer_under_renaming("total", marker, NAMES) is marker
    assert answer_under_renaming("total", response, {}) is response


@pytest.mark.parametrize(
    ("renaming", "message"),
    [({"a": "b", "c": "b"}, "both"), ({"a b": "c"}, "'a b'"), ({"a": "1"}, "'1'"), ({"a": ""}, "identifier"), ([], "mapping")],
)  # fmt: skip
def test_what_is_no_renaming_is_refused(renaming: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        under_renaming("a", "b", renaming)


@given(st.text(max_size=60))
def test_without_a_new_name_nothing_changes(response: str) -> None:
    if "my_total" not in response and "var_1" not in response:
        assert under_renaming("total", response, NAMES) == response


@given(
    st.lists(st.sampled_from(["total", "price", "+", " ", "other", "(", ")", "\n"]), max_size=20).map(
        " ".join
    )
)
def test_mapping_forth_and_back_is_the_identity(baseline: str) -> None:
    forth = baseline.replace("total", "my_total").replace("price", "var_1")
    assert under_renaming(baseline, forth, NAMES) == baseline
