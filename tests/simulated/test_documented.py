"""What docs/simulated-model.md says about the model is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_promptfuzz.providers.requests import Request
from pytest_promptfuzz.targets.simulated import SimulatedModel

PAGE = Path(__file__).parents[2] / "docs" / "simulated-model.md"
EXAMPLES = re.findall(
    r"```prompt\n(.*?)\n```\n```answer\n(.*?)\n```", PAGE.read_text(encoding="utf-8"), re.DOTALL
)


def test_every_rule_has_examples() -> None:
    brittle = PAGE.read_text(encoding="utf-8").partition("## Where it is brittle")[2]
    rules = brittle.split("\n### ")[1:]
    assert len(rules) >= 9
    assert [rule.partition("\n")[0] for rule in rules if "```answer" not in rule] == []


@pytest.mark.parametrize(("prompt", "answer"), EXAMPLES)
def test_examples(prompt: str, answer: str) -> None:
    assert SimulatedModel().answer(Request(({"role": "user", "content": prompt},))).text == answer
