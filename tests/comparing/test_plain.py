"""Values as plain data, and JSON paths."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import json
import pathlib
import uuid
from typing import Any

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.comparing.formats.data_text import plain
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.evaluating.contract import Contract
from pytest_promptfuzz.judging.compare import compare
from pytest_promptfuzz.providers.requests import Response, ToolCall
from pytest_promptfuzz.text.json_paths import at, equal, json_diff, parse_path, without

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass(frozen=True)
class Ticket:
    id: uuid.UUID
    tags: frozenset[str]
    opened: dt.date
    price: decimal.Decimal
    path: pathlib.PurePosixPath
    colour: Colour


class Model(pydantic.BaseModel):
    name: str
    when: dt.datetime


def test_everything_a_test_may_return() -> None:
    ticket = Ticket(
        uuid.UUID(int=1),
        frozenset({"b", "a"}),
        dt.date(2024, 5, 12),
        decimal.Decimal("1.50"),
        pathlib.PurePosixPath("a/b"),
        Colour.RED,
    )
    assert plain(
        {
            "ticket": ticket,
            "pair": (1, 2.5),
            "model": Model(name="x", when=dt.datetime(2024, 1, 2, 3, 4, tzinfo=dt.timezone.utc)),
        }
    ) == {
        "ticket": {
            "id": "00000000-0000-0000-0000-000000000001",
            "tags": ["a", "b"],
            "opened": "2024-05-12",
            "price": "1.50",
            "path": "a/b",
            "colour": "red",
        },
        "pair": [1, 2.5],
        "model": {"name": "x", "when": "2024-01-02T03:04:00Z"},
    }


def test_a_response_is_its_text_or_its_tool_calls() -> None:
    assert plain(Response("hi")) == "hi"
    assert plain(Response("", tool_calls=(ToolCall("find", {"q": "x"}, "id-1"),))) == {
        "text": "",
        "tool_calls": [{"name": "find", "arguments": {"q": "x"}}],
    }


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (object(), r"value at \$ is of type object"),
        ({"a": [1, {"b": b"x"}]}, r"\$\.a\[1\]\.b is of type bytes"),
        ({1: "x"}, r"key 1 at \$ is of type int"),
        ([float("nan")], r"\$\[0\] is nan"),
        (Ticket, "is of type type"),
    ],
)
def test_what_cannot_be_compared_is_named(value, message) -> None:
    with pytest.raises(UsageError, match=message):
        plain(value)


def test_a_value_that_contains_itself() -> None:
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(UsageError, match="contains itself"):
        plain(loop)


@given(JSON)
def test_plain_json_stays_what_it_is(value) -> None:
    assert equal(plain(value), value)
    assert json_diff(value, json.loads(json.dumps(value))) == []


@given(JSON, JSON)
def test_a_difference_is_found_and_its_paths_lead_there(first, second) -> None:
    paths = json_diff(first, second)
    assert (paths == []) == equal(first, second)
    for path in paths:
        there, old = at(first, path)
        here, new = at(second, path)
        assert (there, here) != (False, False)
        assert not (there and here and equal(old, new))


def test_paths() -> None:
    assert json_diff({"meta": {"request_id": 1}, "a b": [1]}, {"meta": {"request_id": 2}, "a b": [2, 3]}) == [
        "$.meta.request_id",
        '$["a b"][0]',
        '$["a b"][1]',
    ]
    assert json_diff({"a": 1, "b": True}, {"b": 1, "a": 1.0}) == ["$.b"]


def test_without() -> None:
    value = {"id": 1, "items": [{"date": "x", "n": 1}, {"date": "y", "n": 2}], "a b": 3}
    assert without(value, ["$.id", "$.items[*].date", "$['a b']", "$.nothing.here"]) == {
        "items": [{"n": 1}, {"n": 2}]
    }
    assert value["id"] == 1
    assert without([1, 2, 3], ["$[-1]"]) == [1, 2, None]


@pytest.mark.parametrize("path", ["id", "", "$", "$.", "$.a[", "$.a[x]", "$a", "$..a", "$.a b"])
def test_a_bad_path_is_refused(path) -> None:
    with pytest.raises(UsageError, match="ignore="):
        parse_path(path)
    with pytest.raises(UsageError, match="ignore="):
        compare({"a": 1}, {"a": 1}, ignore=[path])


@pytest.mark.parametrize("paths", [5, None, True, {"$.a": 1}, b"$.a", [5]])
def test_what_is_no_path_is_named(paths: Any) -> None:
    with pytest.raises(UsageError, match="ignore="):
        compare({"a": 1}, {"a": 2}, ignore=paths)
    with pytest.raises(UsageError, match="here: ignore="):
        Contract.of({"ignore": paths}, where="here")
    assert compare({"a": 1}, {"a": 2}, ignore=(each for each in ["$.a"])).outcome == "equivalent"


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ({"a": True}, {"a": 1}, "true became 1"),
        ({"a": None, "b": 1}, {"b": 1}, "null is missing from the response"),
        ({"a": [1, "x"]}, {"a": {"b": False}}, '[1, "x"] became {"b": false}'),
        ({"a": "x  y", "b": 1}, {"a": "x y", "b": 1}, "'x y' has other white space"),
    ],
)
def test_differences_of_json_are_told_in_its_words(one: Any, other: Any, said: str) -> None:
    for first, second in ((one, other), (json.dumps(one), json.dumps(other))):
        assert said in compare(first, second).explanation


def test_a_profile_or_an_embedder_that_is_none_is_named() -> None:
    with pytest.raises(UsageError, match=r"^unknown profile 'nope'\."):
        compare("a", "b", profile="nope")
    assert compare("a", "b", profile="json") == compare("a", "b", task="json")
    with pytest.raises(UsageError, match=r"^semantic='yes' is not True, False or an embedder"):
        compare("a", "b", semantic="yes")  # type: ignore[arg-type]
