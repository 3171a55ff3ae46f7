"""A judge's answer is taken only if it is exactly what was asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.judging.model_judge import UnusableAnswerError, read_preference, read_rating

GOOD = '{"explanation": "They say the same.", "rating": 3}'


@pytest.mark.parametrize(
    "answer",
    [
        GOOD,
        f"\n  {GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```",
        '{"rating": 3, "explanation": "They say\\n  the same."}',
    ],
)
def test_one_object_in_a_fence_or_bare(answer: str) -> None:
    assert read_rating(answer) == (3, "They say the same.")


def test_a_preference() -> None:
    assert read_preference('{"explanation": "It is right.", "better": "second"}') == (
        "second",
        "It is right.",
    )


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("", "no JSON object: it is empty"),
        ("3", "no JSON object: 3"),
        ("[3]", "no JSON object"),
        ("null", "no JSON object"),
        ("Rating: 3", "no JSON object: Rating: 3"),
        (f"Sure! {GOOD}", "no JSON object"),
        (f"{GOOD} {GOOD}", "no JSON object"),
        (f"The text says {GOOD}, so I rate:\n{GOOD}", "no JSON object"),
        (GOOD[:-1], "no JSON object"),
        ('{"rating": 3}', "fields must be explanation and rating, and are rating"),
        ("{}", "and are none"),
        ('{"explanation": "x", "rating": 3, "score": 1}', "and are explanation, rating, score"),
        ('{"explanation": "x", "rating": 1, "rating": 3}', "a field twice"),
        ('{"explanation": "x", "rating": 4}', "rating must be 1 or 2 or 3, and is 4"),
        ('{"explanation": "x", "rating": 0}', "and is 0"),
        ('{"explanation": "x", "rating": "3"}', 'and is "3"'),
        ('{"explanation": "x", "rating": true}', "and is true"),
        ('{"explanation": "x", "rating": 3.0}', "and is 3.0"),
        ('{"explanation": "x", "rating": null}', "and is null"),
        ('{"explanation": "x", "rating": NaN}', "and is NaN"),
        ('{"explanation": "", "rating": 3}', "explanation must be a sentence"),
        ('{"explanation": 3, "rating": 3}', "explanation must be a sentence"),
        ('{"explanation": "x", "better": "first"}', "fields must be explanation and rating"),
        ("[" * 100_000, "no JSON object"),
    ],
)
def test_anything_else_is_refused_and_named(answer: str, problem: str) -> None:
    with pytest.raises(UnusableAnswerError) as told:
        read_rating(answer)
    assert problem in str(told.value)
    assert len(str(told.value)) < 200


def test_a_preference_has_its_own_words() -> None:
    with pytest.raises(UnusableAnswerError, match='better must be "first" or "second" or "neither"'):
        read_preference('{"explanation": "x", "better": "A"}')


@given(st.text())
def test_no_text_raises_anything_else(answer: str) -> None:
    try:
        rating, _ = read_rating(answer)
    except UnusableAnswerError:
        return
    assert rating in {1, 2, 3}


def test_an_explanation_is_cut() -> None:
    _, why = read_rating('{"explanation": "' + "very " * 500 + '", "rating": 2}')
    assert len(why) == 300
