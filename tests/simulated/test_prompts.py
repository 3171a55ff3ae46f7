"""Prompts in many phrasings, most of them written for an earlier model: the ones of them that this model answers rightly."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_promptfuzz import Prompt, compare, mutate
from pytest_promptfuzz.errors import PromptfuzzWarning
from pytest_promptfuzz.providers.requests import Request
from pytest_promptfuzz.targets.simulated import SimulatedModel
from tests.simulated.prompts import ask, faults, load

ROWS = load("prompts.jsonl")
EACH = 4
TASKS = {"cls": "classification", "sum": "summarization", "sql": "sql", "ext": "extraction"}


@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in ROWS])
def test_prompts_get_the_answer_expected(row: dict[str, Any]) -> None:
    response = ask(row)
    assert faults(row, response) == [], response


def same(row: dict[str, Any], changed: Any) -> bool:
    base, response = ask(row), ask(row, changed)
    if base.tool_calls or response.tool_calls:
        calls = [[(call.name, call.arguments) for call in each.tool_calls] for each in (base, response)]
        return calls[0] == calls[1]
    task = TASKS.get(row["id"].partition("-")[0])
    return compare(base.text, response.text, task=task).outcome in {"equivalent", "minor"}


@pytest.mark.filterwarnings(f"ignore::{PromptfuzzWarning.__module__}.{PromptfuzzWarning.__name__}")
def test_harmless_changes_rarely_matter() -> None:
    trials = kept = 0
    for row in ROWS:
        chat = not isinstance(row["prompt"], str)
        prompt = Prompt.from_messages(row["prompt"]) if chat else row["prompt"]
        for mutation in mutate(prompt, EACH):
            changed = [dict(each) for each in mutation.prompt.messages] if chat else mutation.text
            trials += 1
            kept += same(row, changed)
    assert trials >= EACH * len(ROWS) * 0.95
    # What else differs is mostly a misspelling that the model repeats: no tier knows that it is no other word.
    assert kept / trials >= 0.95


HOSTILE = [
    '{"a":' * 40_000, "[{" * 100_000, "CREATE TABLE t (" * 12_000, "t(a, b, " * 25_000, "X: y\n" * 40_000, "- a: b\n" * 28_000,
    "| a | b |\n" * 20_000, "from 1 to 5 stars " * 11_000, "'x " * 66_000, "12 Ab Cd " * 22_000, " " * 200_000, "one, two a " * 18_000,
    "if a answer b " * 14_000, "(P1 = a, " * 22_000, "1," * 100_000, "a.b@" * 50_000, "extract name, email, " * 9_000,
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:12]))
@pytest.mark.timeout(120)
def test_a_flood_is_answered(text: str) -> None:
    content = f"Extract the name and the items as JSON with SQL. {text[:32_000]}"
    assert SimulatedModel().answer(Request(({"role": "user", "content": content},))).text
