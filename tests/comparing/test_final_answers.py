"""What an answer that reasons first comes to, in the end."""

from __future__ import annotations

import time
from decimal import Decimal

import pytest

from pytest_promptfuzz.comparing.reading.final_answers import final_answer, sole_number

REASONED = {
    "The answer is (B).": "B",
    "Let me think. Option A is wrong.\nThe answer is (B)": "B",
    "The answer is not A. The answer is B because A is wrong.": "B",
    "A is wrong because it never rains.\nB": "B",
    "**Answer:** B": "B",
    "**Final answer: B**": "B",
    "The correct answer is **B**. Let me know if you need more!": "B",
    "Thinking...\n\nAnswer:\nB": "B",
    "I think the correct option is B: Paris.": "B: Paris",
    "So we find \\boxed{42}.": "42",
    "Hence $\\boxed{\\text{B}}$.": "B",
    "Step 1: 6*7 = 42\n#### 42": "42",
    "6 and 7 make 42. Final answer: 42 dollars": "42 dollars",
    "It was 42 at first, then 43.\nThe answer is 43": "43",
    "It is not positive.\nFinal answer: negative": "negative",
    "Reasoning: it asks for nothing.\nAnswer: not spam": "not spam",
    "It rains.\n\nTherefore, yes.": "yes",
    "Die Antwort lautet: (C)": "C",
    "La réponse est Paris.": "Paris",
    "答案是 B。": "B",
    '{"reasoning": "It rains.", "answer": "B"}': "B",
    '```json\n{"label": "spam"}\n```': "spam",
}


@pytest.mark.parametrize("text", REASONED)
def test_the_final_answer(text: str) -> None:
    assert final_answer(text) == REASONED[text]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Paris",
        "(B) Paris",
        "A long sentence that gives no answer at all, in the end.",
        '{"name": "Ada"}',
        "[1, 2]",
    ],
)
def test_an_answer_without_reasons_is_none(text: str) -> None:
    assert final_answer(text) is None


def test_numbers_without_their_units() -> None:
    assert sole_number("$18 a day") == Decimal(18)
    assert sole_number("1,234.50 USD") == Decimal("1234.50")
    assert sole_number("-5%") == Decimal(-5)
    assert sole_number("3 or 4") is None
    assert sole_number("none") is None


@pytest.mark.parametrize(
    "text", ["x" * 200_000, "answer is " * 20_000, "\n" * 200_000, "\\boxed{" * 20_000, "{" * 200_000]
)
def test_odd_answers_take_no_time(text: str) -> None:
    begun = time.perf_counter()
    final_answer(text)
    assert time.perf_counter() - begun < 1
