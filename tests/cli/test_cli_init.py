"""``promptfuzz init enterprise``: a suite that runs at once, makes every table, and overwrites nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from pytest_promptfuzz.cli.main import main
from pytest_promptfuzz.cli.study import SUITES
from pytest_promptfuzz.studies.study import read_study
from pytest_promptfuzz.studies.tables.enterprise_tables import ENTERPRISE_TABLES
from pytest_promptfuzz.studies.tables.named_tables import TABLES

LANGUAGES = ("de", "en", "es", "fr", "fr-ca", "it", "ja", "nl", "pt-br")
TASKS = ("case-summary", "chat-summary", "question-answering", "slot-filling")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def test_suites_are_the_folders_of_the_package() -> None:
    found = files("pytest_promptfuzz") / "data" / "suites"
    assert {each.name for each in found.iterdir() if each.is_dir()} == set(SUITES)


def test_every_table_is_made_without_a_key(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "enterprise"]) == 0
    said = capsys.readouterr().out
    assert said == (
        "Wrote 8 files and the inputs to enterprise.\n"
        "promptfuzz study enterprise/study.toml --sample 1 --table enterprise\n"
        "--sample 1 takes one case of each task, and --dry-run says how many calls that is.\n"
    )
    suite = folder / "enterprise"
    assert sorted(each.name for each in (suite / "data").iterdir()) == sorted(
        f"{task}.{language}.jsonl" for task in TASKS for language in LANGUAGES
    )
    file = suite / "study.toml"
    text = file.read_text(encoding="utf-8")
    assert text.count("runs = 2") == text.count('name = "noisy"') == 1
    # One run of one model will do here.
    file.write_text(
        text.replace("runs = 2", "runs = 1").replace(
            '[[model]]\nname = "noisy"\ntarget = "simulated?noise=0.3"\n', ""
        ),
        encoding="utf-8",
    )
    tables = ",".join(ENTERPRISE_TABLES)
    arguments = ["study", "enterprise/study.toml", "--sample", "1", "--out", "cells.csv", "--table", tables]
    assert main(arguments) == 0
    said = capsys.readouterr().out
    titles = [line for line in said.splitlines() if line.startswith("**")]
    assert len(titles) == len(ENTERPRISE_TABLES) == 5
    groups = "baseline % | general % | positional % | format % | multilingual % | crosslingual %"
    assert f"| model | Overall % | ΔContent % | ΔQuality % | {groups} |" in said
    assert all(f"| steady, {task} in {language} |" in said for task in TASKS for language in ("de", "ja"))
    assert set(ENTERPRISE_TABLES) <= set(TABLES)


def test_every_change_acts_on_every_prompt(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "enterprise", "suite", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert Path(told["study"]) == Path("suite/study.toml")
    study = read_study(folder / "suite" / "study.toml")
    assert [task.name for task in study.tasks[:4]] == [*TASKS]
    assert len(study.tasks) == 4 + 4 * 8
    for task in study.tasks:
        idle = [each.operator for each in study.changes(task) if each.mutation is None]
        assert idle in ([], ["again"]), task.name
        assert len(task.inputs) == 3
        assert all(each.expected for each in task.inputs)


def test_the_generator_makes_the_same_cases_each_time(folder: Path) -> None:
    assert main(["init", "enterprise"]) == 0
    generator = [sys.executable, "enterprise/make_inputs.py"]

    def made(*options: str) -> dict[str, str]:
        subprocess.run([*generator, "--to", "other", *options], check=True, capture_output=True)
        return {each.name: each.read_text(encoding="utf-8") for each in Path("other").iterdir()}

    first = {each.name: each.read_text(encoding="utf-8") for each in Path("enterprise/data").iterdir()}
    assert made() == first
    assert made("--seed", "1") != first
    assert {text.count("\n") for text in made("--cases", "7").values()} == {7}
    slots = [json.loads(line) for line in first["slot-filling.ja.jsonl"].splitlines()]
    assert all(each["expected"]["product"] in each["issue"] for each in slots)
    assert [each["expected"] for each in slots] == [
        json.loads(line)["expected"] for line in first["slot-filling.en.jsonl"].splitlines()
    ]
    wrong = subprocess.run([*generator, "--cases", "0"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "write a whole number of 1 or more" in wrong.stderr


def test_nothing_is_overwritten(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "enterprise").mkdir()
    mine = folder / "enterprise" / "study.toml"
    mine.write_text("mine", encoding="utf-8")
    assert main(["init", "enterprise"]) == 2
    said = capsys.readouterr().err
    assert "study.toml exists already, and is left as it is. Name another folder." in said
    assert [each.name for each in (folder / "enterprise").iterdir()] == ["study.toml"]
    assert mine.read_text(encoding="utf-8") == "mine"
    mine.unlink()
    assert main(["init", "enterprise"]) == 0  # a folder without these files will do
    (folder / "file").write_text("", encoding="utf-8")
    assert main(["init", "enterprise", "file/suite"]) == 2
    assert "file" in capsys.readouterr().err
    assert main(["init", "enterprize"]) == 2
    assert "Did you mean 'enterprise'?" in capsys.readouterr().err
