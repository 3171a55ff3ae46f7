"""``gate="no-worse"`` through real runs: what passes is stored when asked, and later runs are held against it."""

from __future__ import annotations

import json

import pytest

from tests.plugin.conftest import summary_of

TESTS = """
import os

SEEN = {}

def application(name, text):
    seen = SEEN.setdefault(name, {})
    number = seen.setdefault(str(text), len(seen))
    return "OTHER" if number in range(1, 1 + int(os.environ.get("LOST_" + name.upper(), 0))) else "BILLING"

@robust(TRIAGE, mutations=32, threshold=0.6, gate="no-worse")
def test_one(prompt):
    return application("one", prompt)

@robust(TRIAGE, mutations=32, threshold=0.6, gate="no-worse")
def test_two(prompt):
    return application("two", prompt)
"""
FOLDER = "__promptfuzz__/test_it.snap"


def stored(pytester: pytest.Pytester) -> dict[str, dict]:
    found = [json.loads(each.read_text()) for each in sorted((pytester.path / FOLDER).glob("*.json"))]
    return {each["test"]: each for each in found}


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["plain", "xdist"])
def test_what_became_worse_fails_though_its_score_reaches_the_threshold(
    project, pytester, monkeypatch, workers
):
    first = project(TESTS, *workers)
    first.assert_outcomes(passed=2)
    first.stdout.fnmatch_lines(["note *: there is no earlier run to compare with, *"])
    assert not (pytester.path / FOLDER).exists()
    update = project(TESTS, "--promptfuzz-update", *workers)
    update.assert_outcomes(passed=2)
    update.stdout.fnmatch_lines([f"promptfuzz: wrote 2 snapshots in {FOLDER}"])
    assert set(stored(pytester)) == {"test_one", "test_two"}
    assert set(stored(pytester)["test_one"]["trials"]["0"].values()) == {"E"}
    monkeypatch.setenv("LOST_TWO", "9")
    worse = project(TESTS, *workers)
    worse.assert_outcomes(passed=1, failed=1)
    assert summary_of(worse) == {"test_one": "pass", "test_two": "brittle"}
    worse.stdout.fnmatch_lines(
        [
            "Brittle: of 32 trials that the stored run has as well, 9 came out worse and 0 better; that is more than chance*"
        ]
    )


def test_to_update_is_to_accept_and_what_was_not_run_is_never_lost(project, pytester, monkeypatch):
    project(TESTS, "--promptfuzz-update").assert_outcomes(passed=2)
    monkeypatch.setenv("LOST_TWO", "9")
    update = project(TESTS, "--promptfuzz-update", "-n", "1")
    update.assert_outcomes(passed=1, failed=1)
    update.stdout.fnmatch_lines([f"promptfuzz: wrote 1 snapshot in {FOLDER} (1 unchanged)"])
    before = stored(pytester)
    assert before["test_two"]["verdict"] == "brittle"
    project(TESTS).assert_outcomes(passed=2)  # no worse than what was accepted
    monkeypatch.setenv("LOST_ONE", "2")
    project(TESTS, "--promptfuzz-update", "-k", "one").assert_outcomes(passed=1, deselected=1)
    after = stored(pytester)
    assert after["test_two"] == before["test_two"]
    assert sorted("".join(after["test_one"]["trials"]["0"].values())) == ["D", "D", *"E" * 30]
    failing = (
        TESTS + "\n@__import__('pytest').fixture(autouse=True)\ndef broken():\n    yield\n    raise OSError\n"
    )
    project(failing, "--promptfuzz-update", "-k", "one").assert_outcomes(passed=1, errors=1, deselected=1)
    assert stored(pytester) == after


def test_what_is_stored_is_the_whole_plan_of_every_robust_test(project, pytester):
    source = TESTS.replace(', gate="no-worse"', "").replace("threshold=0.6", 'threshold=0.6, stop="certain"')
    project(source, "--promptfuzz-update").assert_outcomes(passed=2)
    assert "".join(stored(pytester)["test_one"]["trials"]["0"].values()) == "E" * 32


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--promptfuzz=off",), "--promptfuzz=off, which runs no mutations"),
        (("--promptfuzz-trial=abc",), "--promptfuzz-trial, which runs one trial of a test"),
        (
            ("--promptfuzz-override=mutations=2",),
            "--promptfuzz-override mutations=*, which changes the tests",
        ),
        (("--promptfuzz-dry-run",), "--promptfuzz-dry-run, which calls no model"),
    ],
)
def test_what_is_not_the_tests_own_is_not_stored(project, arguments, reason):
    result = project(TESTS, "--promptfuzz-update", *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --promptfuzz-update cannot be used with {reason}*"])


def test_nothing_is_stored_in_ci(project, pytester, monkeypatch):
    monkeypatch.setenv("CI", "true")
    result = project(TESTS, "--promptfuzz-update")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --promptfuzz-update does not run in CI (the variable CI is set). *"])
    assert not (pytester.path / FOLDER).exists()
    project(TESTS).assert_outcomes(passed=2)


@pytest.mark.parametrize("damage", ["<<<<<<< ours\n", "", None])
def test_a_damaged_snapshot_is_an_error_of_the_test_that_needs_it_and_is_left_as_it_is(
    project, pytester, damage
):
    project(TESTS, "--promptfuzz-update").assert_outcomes(passed=2)
    path = pytester.path / FOLDER / "test_one.json"
    damaged = path.read_text().replace('"format": 2', '"format": 3') if damage is None else damage
    path.write_text(damaged)
    result = project(TESTS)
    result.assert_outcomes(passed=1, errors=1)
    assert str(path) in "".join(result.stdout.str().split())
    source = TESTS.replace('gate="no-worse"', 'gate="point"')
    loud = project(source)
    loud.assert_outcomes(passed=2)
    loud.stdout.fnmatch_lines(["note test_it.py::test_one: its snapshot was not used: *test_one.json*"])
    update = project(source, "--promptfuzz-update")
    update.assert_outcomes(passed=2)
    update.stdout.fnmatch_lines(
        ["promptfuzz: no snapshot written for test_it.py::test_one: *test_one.json*delete *"]
    )
    assert path.read_text() == damaged


def test_a_pass_whose_trials_became_worse_says_so(project, monkeypatch):
    source = TESTS.replace("threshold=0.6", "threshold=0.6, stop='never'")
    project(source, "--promptfuzz-update").assert_outcomes(passed=2)
    monkeypatch.setenv("LOST_TWO", "4")
    result = project(source)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        [
            "note *::test_two: Passed with 4 deviations: *trials that the stored run has as well, 4 came out worse and 0 better*"
        ]
    )
    result.stdout.no_fnmatch_line("note *::test_one*came out worse*")
