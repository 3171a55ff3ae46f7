"""Tests that a budget ends, and that are too many."""

import pytest

from pytest_promptfuzz import robust

MOOD = "Classify the mood as good or bad. Answer with one word only.\n\nText: {text}"


@pytest.mark.parametrize("text", ["A lovely day!", "An awful day.", "So what."])
@robust(MOOD)
def test_mood(prompt, llm, text):
    return llm(prompt.format(text=text))


@robust(MOOD, mutations=40, samples=3)
def test_many(prompt, llm):
    return llm(prompt.format(text="A lovely day!"))
