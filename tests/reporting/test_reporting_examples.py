from __future__ import annotations

import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize(
    "name",
    [
        "wording.diffs",
        "text.safe_text",
        "reporting.terminal.styled_text",
        "reporting.phrases",
    ],
)
def test_the_examples_of_the_docstrings_are_true(name: str) -> None:
    found = doctest.testmod(import_module(f"pytest_promptfuzz.{name}"))
    assert found.attempted
    assert not found.failed
