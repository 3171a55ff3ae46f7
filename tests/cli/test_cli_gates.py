"""``promptfuzz run`` at another gate: exit statuses, and the command that it names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

PROMPT = """\
Classify the sentiment of the following text as either POSITIVE, NEGATIVE, or NEUTRAL. \
Consider the overall tone. Return only one word.

Text: {text}
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mood.txt").write_text(PROMPT)
    return ("run", "mood.txt", "--target", "simulated", "--set", "text=I love this phone, it is great.")


def test_a_gate_that_cannot_pass_is_a_matter_of_usage(
    run: tuple[str, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main([*run, "--gate", "confident"]) == 2
    assert "cannot pass with 8 mutations: it needs mutations=" in capsys.readouterr().err
    assert main([*run, "--gate", "confident", "-n", "32", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["gate"], report["verdict"]) == ("confident", "pass")
    assert "--gate confident" in report["trials"][0]["reproduce"]


def test_a_misspelt_gate_is_refused(run: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*run, "--gate", "confidant"]) == 2
    assert "unknown gate 'confidant'. Did you mean 'confident'?" in capsys.readouterr().err
