"""Labels that say yes or no elsewhere ("negative", "false"), alone and in a sentence that gives them."""

from __future__ import annotations

import pytest

from pytest_promptfuzz import compare

GIVEN = [
    ("negative", "The review is negative."),
    ("negative", "I would say negative."),
    ("negative", "It is clearly negative because the author complains."),
    ("negative", "The tone is angry, so it is negative."),
    ("positive", "The tone is friendly, so it is positive."),
    ("neutral", "The wording is flat, therefore it's neutral."),
    ("negative", "Sentiment: negative"),
    ("true", "The claim is true, since the report says so."),
    ("false", "The statement is false."),
    ("correct", "The student's solution is correct."),
]
ANOTHER = [
    ("negative", "The review is not negative."),
    ("negative", "The review is positive."),
    ("negative", "The tone is negative, so it is positive."),
    ("positive", "The tone is positive at first, so it is negative."),
    ("neutral", "The wording is neutral, therefore it's positive."),
    ("false", "This is not false."),
    ("true", "The claim is false."),
    ("yes", "No, it is not."),
]


@pytest.mark.parametrize("task", [None, "classification"])
@pytest.mark.parametrize(("label", "sentence"), GIVEN)
def test_a_sentence_that_gives_the_label_is_the_label(label: str, sentence: str, task: str | None) -> None:
    for pair in ((label, sentence), (sentence, label)):
        assert compare(*pair, task=task).outcome == "equivalent"


@pytest.mark.parametrize("task", [None, "classification"])
@pytest.mark.parametrize(("label", "sentence"), ANOTHER)
def test_a_sentence_that_gives_another_is_not(label: str, sentence: str, task: str | None) -> None:
    for pair in ((label, sentence), (sentence, label)):
        assert compare(*pair, task=task).outcome == "deviation"
