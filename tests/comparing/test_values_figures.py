"""Figures read from texts: units, money, dates, times of day, ranges."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.comparing.reading.pieces import Figure, agree, pieces


def figures(text: str) -> list[Figure]:
    return [each.figure for each in pieces(text) if each.figure]


def told(text: str) -> list[tuple[str, object]]:
    return [(each.measure, each.day if each.measure == "date" else each.amount) for each in figures(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("two hundred and fifty euros", [("money", 250.0)]),
        (
            "US$12m, $4.5 million and 20–30 dollars",
            [("money", 12e6), ("money", 4.5e6), ("money", 20.0), ("money", 30.0)],
        ),
        ("72 hours, three days, a 3-day trip", [("time", 259200.0)] * 3),
        ("one year or 12 months", [("months", 12.0)] * 2),
        ("500mL, 0.5 l", [("volume", 0.5)] * 2),
        (
            "between 6 and 8 °C, 0–2 °C",
            [("celsius", 6.0), ("celsius", 8.0), ("celsius", 0.0), ("celsius", 2.0)],
        ),
        (
            "4:12 am, 8.15 pm, 5 pm, noon",
            [("clock", 252.0), ("clock", 1215.0), ("clock", 1020.0), ("clock", 720.0)],
        ),
        (
            "14 October 1962, Oct. 14, 1962, 14/10/1962, 1962-10-14",
            [("date", (1962, 10, 14))] * 4,
        ),
        ("from 9 to 12 August", [("date", (None, 8, 9)), ("date", (None, 8, 12))]),
        ("9–12 August 2024", [("date", (2024, 8, 9)), ("date", (2024, 8, 12))]),
        ("May 2024, it may rain, march on", [("date", (2024, 5, None))]),
        ("on Tuesday, the 22nd", [("weekday", 2.0), ("ordinal", 22.0)]),
        ("50 %, 7 percent", [("percent", 50.0), ("percent", 7.0)]),
        ("v3.8.1 and REP-2291 and get_user()", []),
        ("1,250,000 users", [("number", 1250000.0)]),
    ],
)
def test_what_is_read(text, expected) -> None:
    assert told(text) == expected


def test_a_minus_is_told_from_a_dash() -> None:
    assert [each.negative for each in figures("−4% and 3-5 days, 9-12")] == [True, False, False, False, False]


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("72 hours", "3 days", True),
        ("72 hours", "72 days", False),
        ("one week", "7 days", True),
        ("€400", "400 euros", True),
        ("€400", "$400", False),
        ("46 days", "46", True),
        ("14 October", "October 14, 1962", True),
        ("14 October 1961", "14 October 1962", False),
        ("the 22nd", "22 October", True),
        ("1962", "14 October 1962", True),
        ("8:15", "8:15 pm", True),
        ("8:15 am", "8:15 pm", False),
        ("20:15", "8:15 pm", True),
        ("5 pm", "17:00", True),
        ("40 km", "40 m", False),
        ("0.5 kg", "500 g", True),
        ("5 °C", "5 degrees", True),
        ("5 °C", "5 °F", False),
    ],
)
def test_figures_agree_whatever_their_notation(one, two, same) -> None:
    (first,), (second,) = figures(one), figures(two)
    assert agree(first, second) is same
    assert agree(second, first) is same


@given(st.text(alphabet="0123456789.,:-–−$€% aphmJunetw/", max_size=60))
def test_no_text_is_refused_and_every_figure_agrees_with_itself(text) -> None:
    for figure in figures(text):
        assert agree(figure, figure)


@given(st.integers(1, 28), st.integers(1, 12), st.integers(1900, 2099))
def test_a_date_is_one_in_every_notation(day, month, year) -> None:
    names = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ]
    name = names[month - 1]
    written = [f"{day} {name} {year}", f"{name} {day}, {year}", f"{year}-{month:02}-{day:02}"]
    assert [told(each) for each in written] == [[("date", (year, month, day))]] * 3
