"""Operators, targets, stores and other parts that users wrote after the documentation of an earlier version still work."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from pytest_promptfuzz import read_document
from tests.in_process import promptfuzz

PROJECT = Path(__file__).parent / "data" / "parts_of_users"


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project, whose modules are offered by a package that is installed.

    A process reads once what packages offer, so its runs have processes of their own.
    """
    for name in [*os.environ]:
        if name.startswith("PROMPTFUZZ_") or name == "CI":
            monkeypatch.delenv(name)
    shutil.copytree(PROJECT, pytester.path, dirs_exist_ok=True)
    monkeypatch.setenv("PYTHONPATH", str(pytester.path))
    return pytester.path


def test_parts_do_what_they_did(pytester: pytest.Pytester, project: Path) -> None:
    wanted = ("worst", "table", "offered-report", "json")
    reports = ",".join(f"{each}:{each}.txt" for each in wanted)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", f"--promptfuzz-report={reports}")
    result.assert_outcomes(passed=18)
    verdicts = {
        "test_parts.py::test_operator_and_target pass",
        "test_parts.py::test_operator_and_target_as_objects pass",
    }
    for name in ("table", "offered-report"):
        assert {*(project / f"{name}.txt").read_text(encoding="utf-8").splitlines()} == verdicts
    assert (project / "worst.txt").read_text(encoding="utf-8").startswith("1.00 test_parts.py::")
    report = (project / "json.txt").read_text(encoding="utf-8")
    assert "[mail]" in report
    assert "jane@example.com" not in report


def test_a_store_is_chosen_by_its_address(pytester: pytest.Pytester, project: Path) -> None:
    chosen = (
        f"--promptfuzz-store=shelf://{project}/answers",
        "--promptfuzz-report=json:now.json",
        "-k",
        "operator",
    )
    for calls in (7, 0):
        pytester.runpytest_subprocess("-p", "no:cacheprovider", *chosen).assert_outcomes(
            passed=2, deselected=16
        )
        assert sum(each["spent"]["calls"] for each in read_document(project / "now.json")["tests"]) == calls
        shutil.rmtree(project / ".promptfuzz")  # the local store, which stands before it
    kept = [each.read_text(encoding="utf-8") for each in (project / "answers").iterdir()]
    assert len(kept) == 7
    assert not any("jane@example.com" in each for each in kept)


def test_commands_know_what_packages_offer(project: Path) -> None:
    assert promptfuzz("operators", "shouting").stdout.startswith("shouting  Some words in capitals")
    (project / "prompt.txt").write_text("Name the thing. Text: My parcel is lost.\n", encoding="utf-8")
    done = promptfuzz(
        "run",
        "prompt.txt",
        "--target",
        "echo:lower",
        "--operators",
        "shouting",
        "-n",
        "2",
        "--controls",
        "off",
    )
    assert (done.returncode, done.stderr) == (0, "")
