"""``promptfuzz run`` at another gate: exit statuses, and the command that it names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.cli.main import main
from tests.cli.test_cli_commands import URGENCY

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
    assert (
        "gate='confidant' is not one of point, confident, no-worse. Did you mean 'confident'?"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize(("effect", "code"), [(None, 1), ("fail", 1), ("error", 3), ("pass", 0)])
def test_what_a_brittle_prompt_exits_with_is_chosen(
    run: tuple[str, ...], tmp_path: Path, effect: str | None, code: int
) -> None:
    (tmp_path / "urgency.txt").write_text(URGENCY)
    chosen = () if effect is None else ("--brittle", effect)
    ticket = "ticket=My payment is lost, and my parcel is late."
    argv = ["run", "urgency.txt", "--target", "simulated", "--set", ticket, "-n", "bullet-reorder=4"]
    assert main([*argv, *chosen]) == code


@pytest.mark.parametrize(("effect", "code"), [(None, 3), ("fail", 1), ("error", 3), ("pass", 0)])
def test_what_a_provider_that_fails_exits_with_is_chosen(
    run: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, effect: str | None, code: int
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    chosen = () if effect is None else ("--inconclusive", effect)
    nobody = "compatible:model@http://127.0.0.1:9/v1"
    argv = ["run", "mood.txt", "--target", nobody, "--set", "text=Fine.", "--attempts", "1"]
    assert main([*argv, *chosen]) == code


def test_a_gold_answer_is_held_against_and_changes_no_verdict(
    run: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*run, "--expected", "NEGATIVE"]) == 0
    said = capsys.readouterr().out
    assert "Robust but wrong: mood.txt: 0 % of the answers are as expected" in said
    assert " ".join(said.split()).casefold().count("of the answers are as expected") == 1
    assert main([*run, "--expected", "positive", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["gold"]["accuracy"] == 1


def test_a_run_is_held_against_the_report_of_one_before(
    run: tuple[str, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main([*run, "--stop", "never", "--json"]) == 0
    (tmp_path / "before.json").write_text(capsys.readouterr().out)
    assert main([*run, "--gate", "no-worse", "--against", "before.json", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["paired"]["same"], report["paired"]["worse"], report["notes"]) == (8, 0, [])
    assert main([*run, "--gate", "no-worse"]) == 0
    assert "there is no earlier run to compare with" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("content", [None, "{}", "[", '{"target": "simulated", "trials": 3}'])
def test_a_report_of_a_run_before_that_is_none_is_refused(
    run: tuple[str, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path, content: str | None
) -> None:
    if content is not None:
        (tmp_path / "before.json").write_text(content)
    assert main([*run, "--gate", "no-worse", "--against", "before.json"]) == 2
    error = capsys.readouterr().err
    assert (
        "--against before.json: this is not the report of a run" in error
        or "before= must be the result" in error
    )
    assert main([*run, "--against", "before.json"]) == 2
    assert "--against is for --gate no-worse" in capsys.readouterr().err
