"""``promptfuzz history``, ``compare``, ``trend`` and ``gc``."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.cli.compare import _unchanged
from pytest_promptfuzz.cli.main import main
from pytest_promptfuzz.history.runs import Runs
from tests.history.past import entry_of, kept

if TYPE_CHECKING:
    from pathlib import Path

ONE, TWO = "tests/test_a.py::test_one", "tests/test_a.py::test_two"


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Three runs: the first is saved, the second is worse, the third has one test."""
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    monkeypatch.setenv("COLUMNS", "200")
    found = Runs(tmp_path / ".promptfuzz")
    kept(
        found,
        1,
        entry_of(ONE, "E" * 8, cost=0.5),
        entry_of(TWO, "E" * 8),
        name="base",
        commit="c0ffee" * 6,
        branch="main",
    )
    kept(found, 2, entry_of(ONE, "EE" + "D" * 6), entry_of(TWO, "EEEEEEED"), dirty=True)
    kept(found, 3, entry_of(TWO, "EEEEEEED"), complete=False)
    return found


def test_runs_are_listed_the_newest_first(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "2026-11-22 21:00  0003abcd0003  1 pass  ended before its last test",
        "2026-11-22 21:00  0002abcd0002  1 brittle, 1 pass  changed since",
        "2026-11-22 21:00  0001abcd0001  base  2 pass  main, c0ffeec0ffee, $0.5000",
    ]
    assert main(["history", "test_one", "-n", "1"]) == 0
    test, row = capsys.readouterr().out.splitlines()
    assert test == ONE
    assert row == "2026-11-22 21:00  0002abcd0002  0.25 brittle  changed since"
    assert main(["history", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["id"][:4] for row in rows] == ["0003", "0002", "0001"]
    assert rows[2]["verdicts"] == {"pass": 2}
    assert (rows[0]["complete"], rows[1]["dirty"], rows[2]["cost"]) == (False, True, 0.5)


def test_without_runs_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["history"]) == 0
    assert "No run is kept in" in capsys.readouterr().out
    assert main(["history", "-n", "0"]) == 2
    assert "argument -n: '0' is not a whole number of 1 or more" in capsys.readouterr().err
    for command in (["compare", "last"], ["trend", "x"]):
        assert main(command) == 2
        assert "Run pytest first" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("test_tow", "no kept run has a test 'test_tow'"),
        (
            "tests",
            "'tests' is in the names of 2 tests: tests/test_a.py::test_one, tests/test_a.py::test_two. Write more",
        ),
    ],
)
def test_a_test_that_is_not_told_is_an_error(runs: Runs, capsys, text: str, message: str) -> None:
    for command in ("history", "trend"):
        assert main([command, text]) == 2
        assert message in capsys.readouterr().err


def test_a_run_that_is_worse_is_a_verdict_against(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "base", "0002"]) == 1
    out = capsys.readouterr().out
    assert (
        "Since the run base (2026-11-22 21:00 UTC, on main, at c0ffeec0ffee): 1 newly brittle, 1 cannot tell."
        in out
    )
    assert f"newly brittle {ONE}: pass before, brittle now; score 0.25, was 1.00" in out
    assert "new deviations by synonym" in " ".join(out.split())
    assert main(["compare", "base"]) == 0  # the newest run has one test, which is lower within noise
    captured = capsys.readouterr()
    assert f"cannot tell {TWO}" in captured.out
    assert f"gone {ONE}" in captured.out
    assert "the newest run, 0003abcd0003, was stopped before its last test" in captured.err
    assert main(["compare", "last", "0002"]) == 1  # each test's run before that one
    assert f"cannot tell {TWO}" in capsys.readouterr().out
    assert main(["compare", "0003", "0003"]) == 0
    assert "1 test with the same result as in the run 0003 (2026-11-22 " in capsys.readouterr().out


def test_new_tests_are_counted_apart() -> None:
    found: Any = {"tests": [{"status": "same"}, {"status": "new"}, {"status": "new"}]}
    assert _unchanged(found, "the run x") == "1 test with the same result as in the run x, 2 new."
    found["tests"] = [{"status": "same"}, {"status": "same"}]
    assert _unchanged(found, "the run x") == "2 tests with the same result as in the run x."


def test_a_run_is_never_its_own_base(runs: Runs, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    for arguments in (["init", "-q"], [*who, "commit", "-q", "--allow-empty", "-m", "one"]):
        subprocess.run(["git", "-C", str(tmp_path), *arguments], check=True)
    commit = subprocess.run(
        ["git", "-C", str(tmp_path), "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()
    kept(runs, 4, entry_of(ONE, "E" * 8), entry_of(TWO, "E" * 8), commit=commit, dirty=False)
    assert main(["compare", "HEAD"]) == 2  # the newest run is the only one of that commit
    assert f"no other run of commit {commit[:12]} is kept here" in capsys.readouterr().err
    kept(runs, 5, entry_of(ONE, "D" * 8), entry_of(TWO, "E" * 8), commit=commit, dirty=False)
    assert main(["compare", "HEAD"]) == 1
    assert f"newly brittle {ONE}: " in capsys.readouterr().out
    kept(runs, 6, entry_of(ONE, "E" * 8), name="saved")
    assert main(["compare", "saved"]) == 2
    assert "is the newest run itself. Name another base." in capsys.readouterr().err


def test_conditions_decide_where_there_are_any(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "base", "0002", "--fail-on", "gone"]) == 0
    assert main(["compare", "base", "0003", "--fail-on", "any new deviation", "--fail-on", "gone"]) == 1
    out = capsys.readouterr().out
    assert f"--fail-on 'any new deviation' is met by 1 test, so the run fails: {TWO} ('any' counts" in out
    assert main(["compare", "base", "0002", "--fail-on", "new britle"]) == 2
    assert "--fail-on: 'new britle': unknown word 'britle'" in capsys.readouterr().err


def test_a_comparison_is_json(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "base", "0002", "--json", "--fail-on", "score drop"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [each["status"] for each in found["tests"]] == ["worse", "lower"]
    assert found["conditions"] == [{"expression": "score drop", "tests": [ONE]}]


def test_what_cannot_be_compared_is_an_error(
    runs: Runs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept(runs, 4, entry_of("tests/other.py::test_x", "E"))
    assert main(["compare", "base", "0004"]) == 2
    assert (
        "the run base (2026-11-22 21:00 UTC, on main, at c0ffeec0ffee) and the run 0004 (2026-11-22 21:00 UTC) have no test"
        in capsys.readouterr().err
    )
    assert main(["compare", "bsae"]) == 2
    assert "Did you mean 'base'?" in capsys.readouterr().err
    assert main(["compare", "base", "nope"]) == 2
    assert "NOW: there is no saved run, file or commit 'nope'" in capsys.readouterr().err
    (tmp_path / "below" / "x.json").write_text("{")
    assert main(["compare", "x.json"]) == 2


def test_a_trend_is_drawn(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trend", "test_two", "--width", "80"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        TWO,
        f"2026-11-22 21:00  base           1.00  {'#' * 28}  pass",
        f"2026-11-22 21:00  0002abcd       0.88  {'#' * 24}      pass",
        f"2026-11-22 21:00  0003abcd       0.88  {'#' * 24}      pass",
    ]
    assert main(["trend", "test_one", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [point["score"] for point in found["tests"][ONE]] == [1.0, 0.25]
    assert [each["name"] for each in found["runs"]] == ["base", ""]


def test_old_runs_are_deleted_and_saved_ones_stay(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gc", "--keep", "1", "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith("Would delete 1 run (")
    assert len(runs.paths()) == 3
    assert main(["gc", "--keep", "1"]) == 2  # nobody can be asked
    assert "Add --yes to delete without asking" in capsys.readouterr().err
    assert len(runs.paths()) == 3
    assert main(["gc", "--keep", "1", "--yes", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["deleted"], found["runs"], found["kept"]) == (True, ["0002abcd0002"], 2)
    assert [each.id[:4] for each in runs.every()] == ["0003", "0001"]
    assert main(["gc"]) == 0
    assert capsys.readouterr().out == "No run to delete.\n"
    assert main(["gc", "--keep", "-1"]) == 2


def test_hostile_names_do_nothing_to_a_terminal(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "t.py::test[\x1b[31m\n::error::x]"
    kept(runs, 5, entry_of(hostile, "EEEEEEED"), branch="\x1b[2J", commit="\u202e")
    kept(runs, 6, entry_of(hostile, "DDDDDDDD"))
    main(["history"])
    main(["trend", hostile])
    assert main(["compare", "0005", "0006"]) == 1
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "\n::error" not in out


@pytest.mark.parametrize("command", ["history", "compare", "trend", "gc"])
def test_help_names_exit_codes(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    out = capsys.readouterr().out
    assert "exit codes: 0: " in out
    assert "--json" in out
    assert "`" not in out
