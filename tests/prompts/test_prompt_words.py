"""The words of a text are what the plain definition says, however they are found."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.prompts.cues import Words, known_words

CUES = ["one", "of", "either", "labels", "May", "three", "if", "write", "é"]
PIECES = st.sampled_from(
    [*CUES, " ", "  ", "_", "-", "One", "OF", "userName", "A1", "\n", "È", "’", "İ", "𝐀", "½"]
)
TEXTS = st.lists(PIECES, max_size=30).map(" ".join) | st.lists(PIECES | st.text(max_size=3), max_size=30).map(
    "".join
)


@given(TEXTS)
def test_words(text: str) -> None:
    words = Words(text)
    plain = re.findall(r"\w+", text)
    assert [form for form in words.forms if form] == plain
    assert {*plain} >= words.cased >= {form for form in plain if form != form.lower()}
    assert words.capitals == {form for form in plain if form.isupper()}


@given(TEXTS)
def test_cues_stand_where_they_are_said_to(text: str) -> None:
    plain = [(match.start(), match[0].lower()) for match in re.finditer(r"\w+", text)]
    assert Words(text).cues == [(start, word) for start, word in plain if word in known_words()]
