"""Tests that search for one change that breaks them."""

from pytest_promptfuzz import robust

URGENCY = """You sort the tickets of a shop.

Rate the urgency of the ticket. Write the answer as one word: high, medium or low. Do not explain it."""


def application(prompt):
    return "low" if "SHOP" in prompt else "high"


def steady(prompt):
    return "high" if prompt else "low"


@robust(URGENCY, search=True, queries=100, operators=["upper-case", "synonym"], target=application)
def test_found(response):
    assert response in {"high", "medium", "low"}


@robust(URGENCY, search="greedy", queries=30, target=steady)
def test_none_found(response):
    assert response == "high"


@robust(URGENCY, search={"method": "beam", "batch": 4}, queries=60, max_words=3, objective="label")
def test_simulated(prompt, llm):
    return llm(f"{prompt}\n\nTicket: The shop is closed, and I lost my payment.")
