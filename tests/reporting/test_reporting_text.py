from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.reporting.terminal.styled_text import (
    HANG,
    Line,
    columns,
    pad,
    render,
    shorten_middle,
    shorten_start,
)


def rows(line: Line, width: int = 40) -> list[str]:
    return render([line], width=width, color=False).split("\n")


def test_rows_break_at_spaces_and_hang_under_the_mark() -> None:
    words = "one two three four five six seven eight nine ten"
    assert rows([("label  ", "label"), HANG, (words, "plain")]) == [
        "label  one two three four five six seven",
        "       eight nine ten",
    ]
    assert rows([("  " + words, "plain")]) == ["  one two three four five six seven", "  eight nine ten"]


def test_line_feeds_begin_rows_and_inner_spaces_stay() -> None:
    assert rows([("> ", "plain"), HANG, ("a  b\n\n    c", "plain")]) == ["> a  b", "", "      c"]


def test_a_long_word_is_broken_where_it_must_be() -> None:
    assert rows([("x" * 50, "plain")]) == ["x" * 40, "x" * 10]


def test_wide_characters_count_twice_and_combining_ones_nothing() -> None:
    assert columns("日本e\u0301") == 5
    assert rows([("日" * 25, "plain")]) == ["日" * 20, "日" * 5]
    assert rows([("e\u0301" * 41, "plain")]) == ["e\u0301" * 40, "e\u0301"]
    assert rows([("か\u3099" * 21, "plain")]) == ["か\u3099" * 20, "か\u3099"]
    assert rows([("日" * 20 + "\u3002", "plain")]) == ["日" * 19, "日\u3002"]


def test_a_break_within_a_word_makes_no_ci_command() -> None:
    assert rows([("x" * 40 + "::error::boo", "plain")]) == ["x" * 40, ":\\:error::boo"]
    assert rows([("日" * 20 + "::error", "plain")]) == ["日" * 20, ":\\:error"]


def test_a_command_is_never_broken() -> None:
    command = "pytest " + "x" * 60
    assert rows([("  ", "plain"), (command, "command")]) == [f"  {command}"]


def test_marks_stand_in_for_colour() -> None:
    line: Line = [("a ", "plain"), ("b", "removed"), ("c", "removed"), ("d", "added")]
    assert rows(line) == ["a [-bc-]{+d+}"]
    assert render([line], width=40, color=True) == "a \x1b[31;9mbc\x1b[0m\x1b[32;1md\x1b[0m"


def test_colour_ends_with_the_row() -> None:
    for row in render([[("word " * 20, "bad")]], width=40, color=True).split("\n"):
        assert row.startswith("\x1b[1;31m")
        assert row.endswith("\x1b[0m")


def test_less_than_forty_columns_is_taken_for_forty() -> None:
    assert rows([("x" * 41, "plain")], width=5) == ["x" * 40, "x"]


def test_an_empty_line_is_an_empty_row() -> None:
    assert render([[], [("a", "plain")]], width=40, color=True) == "\na"


@pytest.mark.parametrize("width", [1, 2, 5, 12, 30])
@given(text=st.text(st.sampled_from("ab日e\u0301/:"), max_size=40))
def test_shortening_keeps_to_the_width(width: int, text: str) -> None:
    short = shorten_middle(text, width)
    assert columns(short) <= width
    assert short == text or "…" in short


@pytest.mark.parametrize("width", [1, 2, 5, 12, 30])
@given(text=st.text(st.sampled_from("ab日e\u0301/:"), max_size=40))
def test_what_is_kept_is_the_end(width: int, text: str) -> None:
    short = shorten_start(text, width)
    assert columns(short) <= width
    kept = short.removeprefix("…")
    assert text.endswith(kept)
    if short != text:
        assert not kept or columns(kept[0])
        assert columns(short) >= width - 1 or "\u0301" in text


@given(st.text(st.sampled_from("ab日本 \u0301"), max_size=120), st.integers(40, 90))
def test_wrapping_loses_no_letter(text: str, width: int) -> None:
    shown = render([[("k: ", "label"), HANG, (text, "plain")]], width=width, color=False)
    assert "".join(shown.split()) == "".join(("k: " + text).split())
    assert all(columns(row) <= width for row in shown.split("\n"))


def test_padding_is_in_columns() -> None:
    assert pad("日", 4) == "日  "
    assert pad("7", 3, right=True) == "  7"
