"""Prompts in which an endless operator finds nothing, and long hostile ones: a plan ends.

How the time grows is measured in `benchmarks/growth.py`; the limits here only catch what would not end.
"""

from __future__ import annotations

import pytest

from pytest_promptfuzz.mutations.engine import registry
from pytest_promptfuzz.mutations.engine.planner import plan


@pytest.mark.parametrize("text", ["xxxxxx", "aaaaa aaaaa", "Q: {q} aaaaaaa", "Reply to a reply."])
def test_plans_end(text: str) -> None:
    for name in registry.builtin():
        assert len(plan(text, 50, operators=[name]).mutations) <= 50


@pytest.mark.parametrize(
    "unit",
    [
        "x",
        "a\n",
        '"a ',
        '"a "b" "c" ',
        "\\a ",
        "\\frac{",
        "one-aa-",
        "1 ",
        "5 mg/ml/",
        "|a|\n|-|\n",
        "x = y ",
        "- a\n",
    ],
)
@pytest.mark.timeout(120)
def test_a_plan_over_a_flood_ends(unit: str) -> None:
    text = unit * (64_000 // len(unit)) + " Please give a summary."
    assert len(plan(text, 8).mutations) <= 8
