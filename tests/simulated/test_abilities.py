"""The simulated model does what a prompt says, on prompts it was not written from."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from pytest_promptfuzz.providers.requests import Request
from pytest_promptfuzz.targets.simulated import SimulatedModel
from tests.simulated.cases import LABELS, OBJECTS, QUERIES, REPORT, SUMMARIES


def ask(user: str, system: str = "", **parameters: Any) -> str:
    messages = [{"role": "system", "content": system}] if system else []
    return SimulatedModel().answer(Request((*messages, {"role": "user", "content": user}), parameters)).text


@pytest.mark.parametrize(
    ("system", "user", "label"), [pytest.param(*rest, id=name) for name, *rest in LABELS]
)
def test_labels(system: str, user: str, label: str) -> None:
    assert ask(user, system) == label


@pytest.mark.parametrize(
    ("system", "user", "expected"), [pytest.param(*rest, id=name) for name, *rest in OBJECTS]
)
def test_objects(system: str, user: str, expected: dict[str, Any]) -> None:
    assert json.loads(ask(user, system)) == expected


@pytest.mark.parametrize(
    ("system", "user", "has", "lacks"), [pytest.param(*rest, id=name) for name, *rest in QUERIES]
)
def test_queries(system: str, user: str, has: list[str], lacks: list[str]) -> None:
    query = ask(user, system)
    assert [each for each in has if each not in query] == [], query
    assert [each for each in lacks if each in query] == [], query


@pytest.mark.parametrize(
    ("user", "sentences", "words", "bullets"), [pytest.param(*rest, id=name) for name, *rest in SUMMARIES]
)
def test_summaries(user: str, sentences: int | None, words: int | None, bullets: int) -> None:
    summary = ask(user)
    lines = summary.split("\n")
    assert sum(line.startswith("- ") for line in lines) == bullets
    for sentence in re.split(r"(?<=\.) ", summary.replace("\n", " ")):
        assert sentence.removeprefix("- ").rstrip(".") in REPORT
    if sentences is not None:
        assert summary.count(".") == sentences, summary
    if words is not None:
        assert 5 <= len(summary.split()) <= words
