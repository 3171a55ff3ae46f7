from __future__ import annotations

import io

import pytest

from pytest_promptfuzz.cli.options import wants_color


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "on_terminal", "in_a_file"),
    [
        ({}, True, False),
        ({"TERM": "dumb"}, False, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "0"}, False, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, True, True),
    ],
)
def test_colour(environment: dict[str, str], on_terminal: bool, in_a_file: bool) -> None:
    assert wants_color(Terminal(), environment) is on_terminal
    assert wants_color(io.StringIO(), environment) is in_a_file
