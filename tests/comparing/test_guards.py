"""Guards one by one: steps, answers cut off, addresses, codes, pictures, scripts without spaces."""

from __future__ import annotations

import pytest

from pytest_promptfuzz.comparing.compare import compare
from pytest_promptfuzz.comparing.long import LIMIT, shared_ends, where_they_differ
from pytest_promptfuzz.targets.model import Response, ToolCall

STEPS = "To reset it:\n1. Turn off the power.\n2. Hold the button for 5 seconds.\n3. Turn on the power."
SWAPPED = "To reset it:\n1. Hold the button for 5 seconds.\n2. Turn off the power.\n3. Turn on the power."
LONG = "The parcel left our depot on 4 May. It should reach you within two days. If it does not, we will send another."


@pytest.mark.parametrize(
    ("first", "second", "outcome", "explanation"),
    [
        (STEPS, SWAPPED, "deviation", "item 1 of the baseline's list is item 2 of the response's"),
        (
            STEPS,
            STEPS.replace("1. ", "1) ").replace("2. ", "2) ").replace("3. ", "3) "),
            "equivalent",
            "punctuation",
        ),
        ("Reasons:\n1. Price\n2. Weight", "Reasons:\n1. Weight\n2. Price", "minor", "item 1 of the baseline"),
        ("Ranking: 1. Kenya 2. Chad", "Ranking: 1. Chad 2. Kenya", "deviation", "item 1 of the baseline"),
        (LONG, LONG[:66], "deviation", "the response stops after"),
        (LONG[:66], LONG, "deviation", "the baseline stops after"),
        (
            "Please write to help@example.com today.",
            "Please write to sales@example.com today.",
            "deviation",
            "'help@example.com' in the baseline",
        ),
        ("See https://a.com/v2/ for more.", "See https://a.com/v2 for more.", "equivalent", ""),
        ("Your order is AB-1042 now.", "Your order is AB-1024 now.", "deviation", "AB-1042"),
        (
            "You need Python 3.10 or later.",
            "You need Python 3.1 or later.",
            "deviation",
            "'3.10' in the baseline",
        ),
        ("Press Ctrl+S to save it.", "Press Ctrl+Z to save it.", "deviation", "'ctrl+s'"),
        ("Great 👍", "Great 👎", "deviation", "👎"),
        ("Great!", "Great! 🎉", "equivalent", ""),
        ("会議は中止されました。", "会議は中止されませんでした。", "deviation", "denies"),
        ("你可以退款。", "你不可以退款。", "deviation", ""),
        ("Заказ отправлен.", "Заказ не отправлен.", "deviation", ""),
        ("الطلب مقبول", "الطلب غير مقبول", "deviation", ""),
        ("Der Zug fährt um acht Uhr ab.", "Um 8 Uhr fährt der Zug ab.", "minor", ""),
        ("Yes", "Yes, but only on Sundays", "deviation", "only the response puts a condition on its yes"),
        ("Do not take more than 4 a day.", "Take no more than four a day.", "equivalent", ""),
        ("Do not take more than 4 a day.", "Do not take fewer than 4 a day.", "deviation", ""),
        (
            "Tom likes tea. Ann likes Tom.",
            "Ann likes tea. Ann likes Tom.",
            "deviation",
            "'Tom' in the baseline became 'Ann'",
        ),
        ("***", "---", "deviation", "neither has words"),
        ("42", "forty-two", "equivalent", ""),
        ("42", "42%", "deviation", ""),
        ("1e3", "1000", "equivalent", ""),
        ('{"a": [1, 2]}', '{"a": [2, 1]}', "minor", "$.a: the items stand in another order"),
        ('{"a": true}', "{'a': True}", "minor", "not written as JSON"),
        ("Sure.", '{"a": 1}', "deviation", ""),
    ],
)
def test_guard(first: str, second: str, outcome: str, explanation: str) -> None:
    task = "json" if second.startswith("{") and not first.startswith("{") else None
    found = compare(first, second, task=task)
    assert found.outcome == outcome, found.explanation
    assert explanation in found.explanation


def test_tool_calls_in_another_order_are_minor_and_speak_of_calls() -> None:
    one, two = ToolCall("find", {"q": "a"}), ToolCall("find", {"q": "b"})
    first = Response(text="", tool_calls=(one, two))
    assert compare(first, Response(text="", tool_calls=(two, one))).outcome == "minor"
    same = compare(first, Response(text="", tool_calls=(one, two)))
    assert same.explanation == "the tool calls are equal by value"


def test_an_ignored_path_is_left_out_of_json_in_prose_and_of_values() -> None:
    assert compare({"id": 1, "n": 2}, '{"id": 2, "n": 2}', ignore="$.id").outcome == "equivalent"
    assert compare('{"id": 1, "n": 2}', 'Here: {"id": 2, "n": 2}', ignore="$.id").reason == "json-wrapped"


@pytest.mark.timeout(120)
def test_long_texts_are_compared_where_they_differ() -> None:
    text = "".join(f"Order {index} was shipped to its buyer. " for index in range(25_000))
    assert len(text) > 900_000
    found = compare(text, text.replace("Order 12000 was shipped", "Order 12000 was not shipped"))
    assert found.outcome == "deviation"
    assert "denies" in found.explanation
    many = compare(text, text.replace("shipped", "sent"))
    assert (many.outcome, many.reason) == ("undecided", "too-long")
    hostile = compare("**a " * 250_000, "__a " * 250_000)
    assert hostile.outcome == "undecided"


def test_what_long_texts_share_is_found() -> None:
    text = "a b. " * LIMIT
    parts = where_they_differ(text + "x" + text, text + "y" + text)
    assert parts is not None
    assert all(len(part) < 1000 for part in parts)
    assert all(part.endswith("a b. " * 50) for part in parts)
    assert [part.replace("x", "y") for part in parts] == [parts[1], parts[1]]
    assert shared_ends("abcxyz", "abzxyz") == (2, 3)
    assert shared_ends("aa", "aaa") == (2, 0)
