from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.wording.diffs import answer_pair, answer_text


def test_json_is_laid_out_where_it_is_long() -> None:
    short, long = {"label": "spam"}, {"items": ["a rather long text"] * 4}
    assert answer_text(short) == answer_text(json.dumps(short)) == '{"label": "spam"}'
    assert answer_text(json.dumps(long)) == answer_text(long) == json.dumps(long, indent=2)
    assert answer_text('{"a": 1') == '{"a": 1'
    assert answer_text("12") == "12"
    assert answer_text(None) == "(nothing)"
    assert answer_text("") == "(empty text)"
    assert answer_text(" \n") == "·⏎ (white space only)"
    assert answer_text("[" * 50_000 + "]" * 50_000).endswith("(+99,400 characters)")


def test_rows_are_counted() -> None:
    assert answer_text("\n".join("abcdefghijklmnop")).endswith("k\nl\n… (+4 rows)")


def test_what_long_answers_share_is_left_out() -> None:
    same = "The parcel was sent on Monday and will arrive soon. " * 20
    one, other = answer_pair(same + "It is fine. " + same, same + "It is broken. " + same)
    assert one.startswith("(… 1,0")
    assert "characters the same) " in one
    assert "It is fine. The parcel" in one
    assert "It is broken. The parcel" in other
    assert len(one) < 200 > len(other)


letters = st.sampled_from("ab cd")


@given(
    st.text(letters, max_size=900),
    st.text(letters, max_size=40),
    st.text(letters, max_size=40),
    st.text(letters, max_size=900),
)
def test_a_difference_is_always_seen(head: str, one: str, other: str, tail: str) -> None:
    left, right = answer_pair(head + one + tail, head + other + tail)
    assert (left == right) == (head + one + tail == head + other + tail)
    assert max(len(left), len(right)) < 600 + 120


def test_equal_answers_are_shown_alike() -> None:
    text = "same " * 400
    one, other = answer_pair(text, text)
    assert one == other == text[:600] + "… (+1,400 characters)"
