# ruff: noqa: ARG001 - what pytest and the plugin call has these names
"""Tests of which nothing can be told, and tests that are wrong."""

import itertools

from pytest_promptfuzz import robust

MOOD = "Classify the mood of the text as good or bad. Answer with one word only.\n\nText: A lovely day."
COUNT = itertools.count()


@robust(MOOD)
def test_always_the_same(prompt):
    return "good" if str(prompt) else ""


@robust(MOOD, controls=0)
def test_undecided(prompt):
    said = "the manager of the shop apologised and promised a refund within days"
    return said if str(prompt) == MOOD else "someone in charge was sorry, money would come back soon enough"


@robust(MOOD)
def test_prompt_never_used(prompt):
    return "good"


@robust(MOOD)
def test_not_repeatable(prompt):
    return f"{next(COUNT)} {str(prompt)[:4]}"


@robust(MOOD)
def test_nothing_to_judge_by(prompt):
    str(prompt)


@robust(MOOD)
def test_fails_unmutated(prompt):
    assert str(prompt) == "good"


@robust(MOOD, mutation=3)
def test_wrong_key(prompt):
    return str(prompt)


@robust(MOOD, threshold=2, operators=["upper-caes"])
def test_wrong_values(prompt):
    return str(prompt)


@robust(MOOD)
def test_no_target(prompt, llm):
    return llm(prompt)


@robust(MOOD, target="openai:")
def test_wrong_target(prompt, llm):
    return llm(prompt)
