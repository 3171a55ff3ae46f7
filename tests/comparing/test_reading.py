"""Answers read into statements, each with what it stands under and beside."""

from __future__ import annotations

import pytest

from pytest_promptfuzz.comparing.reading.answer import read, statements


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "It is lost. Dr. Lund sends another one!",
            [("", "It is lost."), ("", "Dr. Lund sends another one!")],
        ),
        ("1. Stop.\n2. Wait 5 min.", [("", "Stop."), ("", "Wait 5 min.")]),
        (
            "**Reasons:**\n- too late\n- too dear",
            [("", "Reasons"), ("Reasons", "too late"), ("Reasons", "too dear")],
        ),
        (
            "| Product | Zone | Time |\n|:--|--|--|\n| Salmon | A | 3 days |",
            [("", "Salmon zone: A"), ("", "Salmon time: 3 days")],
        ),
        ("| Rate | Fixed |\n|---|---|\n| Fee | **none** |", [("", "Fee: none")]),
        ("Step 2: Turn it on.", [("", "Turn it on.")]),
        ("", []),
    ],
)
def test_statements(text, expected) -> None:
    assert list(statements(text)) == expected


def test_courtesies_are_no_statements() -> None:
    answer = read("Sure! Here is the summary:\n\nThe parcel is lost. Let me know if you need more.")
    assert [each.text for each in answer.statements] == ["The parcel is lost."]


def test_names_are_what_a_sentence_does_not_capitalise() -> None:
    answer = read("Halden Robotics asked Brandt. The parcel went to Poland, said Ms Lund.")
    assert answer.names == {"halden", "robotics", "brandt", "poland", "lund"}


def test_a_figure_is_the_same_in_any_notation() -> None:
    one, two = read("It takes 72 hours."), read("It takes three days.")
    assert one.keys == two.keys
    assert [token.text for token in one.telling] == ["takes"] or not one.telling


def test_what_stands_somewhere_is_found_there() -> None:
    answer = read("Mr Lund pays £120 by 7 August. He does not owe Ms Brandt 80.")
    found = [*answer.capitals, *(token for token, _ in answer.figures), *answer.standing({"not", "pay"})]
    assert [each.text for each in found] == [
        "Mr",
        "Lund",
        "He",
        "Ms",
        "Brandt",
        "£120",
        "7",
        "80",
        "pays",
        "not",
    ]
    assert all(each.statement.pieces[each.at].text == each.text for each in found)
    assert [each.text for each in answer.statements[1].tokens] == [
        "He",
        "does",
        "not",
        "owe",
        "Ms",
        "Brandt",
        "80",
        ".",
    ]
