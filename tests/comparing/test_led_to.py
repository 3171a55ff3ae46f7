"""A query after a sentence that leads to it, on one line, is the query."""

from __future__ import annotations

import pytest

from pytest_promptfuzz.judging.compare import compare

QUERY = "SELECT MAX(height_cm) FROM plants;"


@pytest.mark.parametrize(
    "lead",
    [
        "To get the tallest plant's height you can run:",
        "You can use this query:",
        "Here is the query:",
        "Sure, this returns the maximum:",
    ],
)
def test_led_to(lead: str) -> None:
    other = QUERY.replace("MAX", "MIN")
    for query, outcomes in ((QUERY, {"equivalent", "minor"}), (other, {"deviation"})):
        for pair in ((QUERY, f"{lead} {query}"), (f"{lead} {query}", QUERY)):
            found = compare(*pair, task="sql")
            assert found.outcome in outcomes, found.explanation


@pytest.mark.parametrize(
    "answer",
    [
        f"Do not run: {QUERY}",
        f"You shouldn't use this: {QUERY}",
        f"This query is wrong: {QUERY}",
        f"To get it you can run: {QUERY} DROP TABLE plants;",
        f"To get it you can run: {QUERY} It fails on old servers.",
    ],
)
def test_warned_of_or_gone_on(answer: str) -> None:
    for pair in ((QUERY, answer), (answer, QUERY)):
        assert compare(*pair, task="sql").outcome == "deviation"
