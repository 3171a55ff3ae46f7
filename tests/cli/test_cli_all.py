"""What holds for every command: help, exit codes, errors as JSON, questions before anything is deleted, completion."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.cli.main import command_parser, main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROMPT = "Classify the mood of the text as good or bad. Answer with one word only.\n\nText: {text}\n"
ASKED = ["--target", "simulated", "--set", "text=A lovely day!", "-n", "3"]


def every_command(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                yield each
                yield from every_command(each)


@pytest.fixture
def prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mood.txt").write_text(PROMPT)
    return tmp_path


def test_each_help_ends_with_exit_codes() -> None:
    parsers = list(every_command(command_parser()))
    assert len(parsers) > 30
    assert [each.prog for each in parsers if "exit codes: 0: " not in each.format_help()] == []


def test_each_command_that_does_something_writes_json() -> None:
    without = {
        each.prog
        for each in every_command(command_parser())
        if "--json" not in each._option_string_actions
        and not any(isinstance(action, argparse._SubParsersAction) for action in each._actions)
    }
    assert without == {"promptfuzz serve"}


@pytest.mark.parametrize("command", [[], ["cache"], ["lexicon"], ["judge"], ["snapshot"]])
def test_without_a_command_the_help_is_shown(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command) == 2
    said = capsys.readouterr()
    assert said.out.startswith(f"usage: {' '.join(['promptfuzz', *command])} [-h]")
    assert said.out.rstrip().endswith(("3: inconclusive", "inconclusive", "wrong usage or environment"))
    assert said.err == ""


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (["run", "gone.txt", "--target", "simulated"], "gone.txt"),
        (["run", "mood.txt", "--threshold", "high"], "'high' is not a number from 0 to 1"),
        (["report", "--bogus"], "unrecognized arguments: --bogus"),
        (["gc"], None),
        (["study", "gone.toml"], "there is no study file 'gone.toml'"),
        (["cache", "verify", "gone.py"], "gone.py"),
        (["serve", "--port", "many"], "invalid int value: 'many'"),
    ],
)
def test_errors_are_json_as_well(
    prompt: Path, capsys: pytest.CaptureFixture[str], command: list[str], why: str | None
) -> None:
    del prompt
    code = main([*command, "--json"])
    said = capsys.readouterr()
    found = json.loads(said.out)
    if why is None:
        assert code == 0
        assert "error" not in found
        return
    assert (code, found["exit_code"]) == (2, 2)
    assert why in found["error"]
    assert why in said.err


def test_a_run_leaves_reports_and_is_kept(prompt: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "mood.txt", *ASKED, "--report", "json:r.json,md:r.md"]) == 0
    document = json.loads((prompt / "r.json").read_text())
    ((name, outcome),) = [(each["test"], each["outcome"]) for each in document["tests"]]
    assert (name, outcome) == ("mood.txt", "passed")
    assert document["changes"] is None
    assert "mood.txt" in (prompt / "r.md").read_text()
    assert main(["run", "mood.txt", *ASKED, "--report", "json:r.json"]) == 0
    (change,) = json.loads((prompt / "r.json").read_text())["changes"]["tests"]
    assert (change["test"], change["status"]) == ("mood.txt", "same")
    capsys.readouterr()
    assert main(["history", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 2
    assert main(["trend", "mood.txt", "--json"]) == 0
    assert [each["score"] for each in json.loads(capsys.readouterr().out)["tests"]["mood.txt"]] == [1.0, 1.0]
    assert main(["report", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tests"][0]["test"] == "mood.txt"


def test_the_last_report_is_shown_with_its_time(prompt: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "mood.txt", *ASKED]) == 0
    (path,) = (prompt / ".promptfuzz" / "report").iterdir()
    began = json.loads(path.read_text().splitlines()[0])["run"]["started"]
    now = datetime.now(timezone.utc)
    for passed, ago in ((0, ""), (7, ", 7 minutes ago"), (61, ", 1 hour ago"), (3000, ", 2 days ago")):
        old = (now - timedelta(minutes=passed, seconds=5)).isoformat(timespec="milliseconds")[:23] + "Z"
        path.write_text(path.read_text().replace(began, began := old))
        capsys.readouterr()
        for given in ([], ["--to", "md:r.md"]):
            assert main(["report", *given]) == 0
            said = f"The last run with a report began {old[:19]}Z{ago}."
            assert capsys.readouterr().out.splitlines()[0] == said
    assert main(["report", "--from", str(path)]) == 0
    assert "The last run" not in capsys.readouterr().out, "the file is named, so it is no surprise"


def test_a_run_that_is_not_to_be_kept_leaves_nothing(
    prompt: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "mood.txt", *ASKED, "--history", "off"]) == 0
    assert {each.name for each in (prompt / ".promptfuzz").iterdir()}.isdisjoint({"history", "report"})
    capsys.readouterr()
    assert main(["run", "mood.txt", *ASKED, "--report", "htm:r.html"]) == 2
    assert "unknown format 'htm'. Did you mean 'html'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "flag"), [(["--target", "simulated"], "--target"), (["-n", "3"], "--mutations")]
)
def test_explaining_tests_takes_no_options_of_prompt_files(
    prompt: Path, capsys: pytest.CaptureFixture[str], given: list[str], flag: str
) -> None:
    del prompt
    assert main(["explain", "tests/test_it.py", *given]) == 2
    assert f"{flag} is for a prompt file. Options of pytest come after --" in capsys.readouterr().err


@pytest.mark.parametrize(
    "option", ["--threshold=0.5", "--max-calls=3", "--shrink=5", "--mode=live", "--trial=ab"]
)
def test_explain_has_no_options_that_it_would_ignore(
    prompt: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    del prompt
    assert main(["explain", "mood.txt", "--target", "simulated", option]) == 2
    assert f"unrecognized arguments: {option}" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_commands_and_options(prompt: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("shtab")
    assert main(["completion", "bash"]) == 0
    (prompt / "script").write_text(capsys.readouterr().out)

    def completed(*words: str) -> set[str]:
        program = (
            'source ./script; COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); '
            "$(complete -p promptfuzz | sed 's/.*-F \\([^ ]*\\) .*/\\1/'); printf '%s\\n' \"${COMPREPLY[@]}\""
        )
        done = subprocess.run(
            ["bash", "-c", program, "bash", *words], cwd=prompt, capture_output=True, text=True, check=True
        )
        return set(done.stdout.split())

    assert completed("promptfuzz", "his") == {"history"}
    assert {"stats", "verify"} <= completed("promptfuzz", "cache", "")
    assert completed("promptfuzz", "snapshot", "") >= {"show", "diff"}
    assert "mood.txt" in completed("promptfuzz", "snapshot", "show", "mo")
    assert completed("promptfuzz", "run", "--max-co") == {"--max-cost"}
    assert "mood.txt" in completed("promptfuzz", "run", "--inputs", "")


def test_completion_needs_its_package(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "shtab", None)
    assert main(["completion", "zsh"]) == 2
    assert "pip install 'pytest-promptfuzz[completion]'" in capsys.readouterr().err
