"""Guards one by one: steps, answers cut off, addresses, codes, pictures, scripts without spaces."""

from __future__ import annotations

import pytest

from pytest_promptfuzz.comparing.reading.text import LIMIT, shared_ends, where_they_differ
from pytest_promptfuzz.judging.compare import compare
from pytest_promptfuzz.providers.requests import Response, ToolCall

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
        (
            "Reasons:\n1. Price\n2. Weight",
            "Reasons:\n1. Weight\n2. Price",
            "undecided",
            "item 1 of the baseline",
        ),
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
        ("Der Zug fährt um acht Uhr ab.", "Um 8 Uhr fährt der Zug ab.", "undecided", ""),
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
        ("Bring a coat, boots and gloves.", "Bring a coat, boots,", "deviation", "the response stops after"),
        (
            "The committee that met in Oslo on Monday morning voted to approve.",
            "The committee that met in Oslo on Monday morning reached a verdict: reject.",
            "deviation",
            "'approve' in the baseline became 'reject'",
        ),
        (
            "The mayor thanked the driver of the bus.",
            "The driver of the bus was thanked by the mayor.",
            "equivalent",
            "passive",
        ),
        (
            "The mayor thanked the driver of the bus.",
            "The bus was thanked by the mayor of the driver.",
            "undecided",
            "",
        ),
        (
            "The mayor of the town thanked the driver of the bus.",
            "The driver of the town was thanked by the mayor of the bus.",
            "undecided",
            "",
        ),
        (
            "The correct option is B because the angle is obtuse.",
            "The correct option is D because the angle is obtuse.",
            "deviation",
            "'B' in the baseline became 'D'",
        ),
        (
            "Leider ist heute der Aufzug im Rathaus kaputt.",
            "Leider ist heute der Fahrstuhl im Rathaus kaputt.",
            "undecided",
            "'Fahrstuhl'",
        ),
        (
            "The phone number of the shop is not stated.",
            "The fax number of the shop is not stated.",
            "undecided",
            "",
        ),
        ("She plays the cello in the band.", "She plays the flute in the band.", "deviation", "'flute'"),
        (
            "If it leaks, the landlord pays for the repair and the tenant keeps the receipt.",
            "If it leaks, the tenant pays for the repair and keeps the receipt.",
            "deviation",
            "'landlord' in the baseline became 'tenant'",
        ),
        ("The lamp in the hall no longer glows.", "The lamp in the hall ceases to glow.", "undecided", ""),
        ("Morgen fährt der Bus nicht.", "Der Bus fährt morgen nicht.", "undecided", ""),
        ("You must not feed the ducks.", "Feeding the ducks is forbidden.", "undecided", ""),
        ("Unless you cancel, it is extended.", "If you do not cancel, it is extended.", "undecided", ""),
        ("Unless you cancel, it is extended.", "If you cancel, it is extended.", "deviation", "'if'"),
        ("Born: 14.02.1988", "Born: I could not find this in the text.", "deviation", "nothing to give"),
        ("You must not enter.", "You do not have to enter.", "deviation", "leaves open"),
        ("Drivers need not stop.", "Drivers do not have to stop.", "equivalent", ""),
        (
            "Refunds are paid within a week.",
            "Refunds are paid within a week if the receipt is enclosed.",
            "deviation",
            "only the response puts a condition on what both say ('if')",
        ),
        ("The key is under the mat.", "The key is under the mat, if you need it.", "undecided", "'need'"),
        ("Hepatitis B is mild.", "Hepatitis C is mild.", "deviation", "'B' in the baseline became 'C'"),
        (
            "City: Leeds\nName: Ruth\nAge: 41",
            "Name: Ruth\nAge: 41",
            "deviation",
            "the field 'city' is missing",
        ),
        ("Name: Ruth\nAge: 41", "Name: Ruth\nAge: 41\nNote: a guess", "minor", ""),
        ("Estado del pedido: enviado", "Estado del pedido: en camino", "deviation", "became 'en camino'"),
        ("None", "No allergies are mentioned.", "equivalent", "nothing to give"),
        ("Fax: none", "Phone: not stated", "deviation", ""),
        (
            "Name: Dr. Amina Rahal",
            "Name: none",
            "deviation",
            "only the response says that there is nothing to give",
        ),
        ("Please note that the pool is closed.", "The pool is closed.", "equivalent", ""),
        (
            "The tenant shall insure the car.",
            "The tenant may insure the car.",
            "deviation",
            "'may' for 'shall'",
        ),
        ("It takes 1.5 hours.", "It takes 1 hour 30 minutes.", "equivalent", ""),
        ("It takes 1.5 hours.", "It takes 1 hour 50 minutes.", "deviation", ""),
        ("El 4 de julio de 2025.", "El 04/07/2025.", "equivalent", ""),
        ("Le 15 mars 2027 à Lyon.", "Le 15/04/2027 à Lyon.", "deviation", "the day 2027-03-15"),
        ("Der Aufzug ist heute kaputt.", "Der Fahrstuhl ist heute kaputt.", "undecided", "Fahrstuhl"),
        ("Der Zug nach Leipzig ist voll.", "Der Zug nach Dresden ist voll.", "deviation", "Dresden"),
        (
            "Der Lehrer lobte die Schülerin.",
            "Die Schülerin lobte den Lehrer.",
            "deviation",
            "der lehrer became den lehrer",
        ),
        ("Den Fuchs verfolgt der Hund.", "Der Hund verfolgt den Fuchs.", "undecided", ""),
        ("It is not uncommon here.", "It is common here.", "undecided", ""),
        ("It is not impossible here.", "It is impossible here.", "deviation", ""),
        (
            "Because demand fell, the mill closed.",
            "Because the mill closed, demand fell.",
            "deviation",
            "changed",
        ),
    ],
)
def test_guard(first: str, second: str, outcome: str, explanation: str) -> None:
    task = "json" if second.startswith("{") and not first.startswith("{") else None
    found = compare(first, second, task=task)
    assert found.outcome == outcome, found.explanation
    assert explanation in found.explanation


def test_nothing_to_give_of_two_fields_is_not_the_same() -> None:
    assert compare("Fax: none", "Fax: not stated", task="extraction").outcome == "equivalent"
    assert compare("Fax: none", "Phone: not stated", task="extraction").outcome != "equivalent"


def test_a_label_that_a_longer_list_goes_on_from_is_cut_off() -> None:
    found = compare("Toppings: ham, olives, corn", "Toppings: ham", task="classification")
    assert (found.outcome, found.reason) == ("deviation", "guard:sequence")
    assert compare("Topping: ham (as asked)", "Topping: ham", task="classification").outcome == "equivalent"


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
    assert "only the response says 'not shipped" in found.explanation
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
