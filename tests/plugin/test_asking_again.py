"""A test that is lower than its base asks what failed anew again, through real pytest processes."""

from __future__ import annotations

import json

import pytest

from pytest_promptfuzz.cli.main import main
from pytest_promptfuzz.evaluating.settings import SETTINGS
from pytest_promptfuzz.history.runs import Runs
from pytest_promptfuzz.stats.flips import MOST_CALLS

TESTS = """
import os
from collections import Counter

SEEN, ASKED = {}, Counter()

def application(text):
    number = SEEN.setdefault(str(text), len(SEEN))
    ASKED[number] += 1
    lost = number in range(1, 1 + int(os.environ.get("LOST", 0)))
    return "OTHER" if lost and ASKED[number] <= int(os.environ.get("TIMES", 99)) else "BILLING"

@robust(TRIAGE, mutations=8, threshold=0.1, controls=0, stop="never")
def test_it(prompt):
    return application(prompt)
"""
RECORDED = """
import os

TEXTS = {}

@robust(TRIAGE, mutations=8, threshold=0.1, controls=0, stop="never")
def test_it(prompt, llm):
    llm(prompt.format(ticket=TICKET))
    number = TEXTS.setdefault(str(prompt), len(TEXTS))
    return "OTHER" if number in range(1, 1 + int(os.environ.get("LOST", 0))) else "BILLING"
"""
DROP = "--promptfuzz-fail-on=score drop > 0.05"
WORKERS = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "xdist"])


def said(result: pytest.RunResult) -> str:
    return " ".join(result.stdout.str().split())


@WORKERS
def test_half_of_eight_that_break_are_proven_by_sixteen_calls(
    project, monkeypatch, pytester, workers
) -> None:
    project(TESTS, "--promptfuzz-save=main")
    monkeypatch.setenv("LOST", "4")
    result = project(TESTS, "--promptfuzz-compare=main", DROP, *workers)
    assert "1 worse." in said(result)
    assert "were asked 16 times more, and 16 of these answers failed; more than noise" in said(result)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    monkeypatch.chdir(pytester.path)
    assert main(["compare", "main"]) == 1  # what was asked is kept
    (entry,) = next(Runs(pytester.path / ".promptfuzz").every()).tests().values()
    assert entry["reasked"] == "proven"
    assert sorted(entry["again"]["0"].values()) == ["DDDD"] * 4


def test_what_failed_once_is_noise_and_what_is_missing_is_said(project, monkeypatch) -> None:
    project(TESTS, "--promptfuzz-save=main")
    monkeypatch.setenv("LOST", "4")
    monkeypatch.setenv("TIMES", "1")
    result = project(TESTS, "--promptfuzz-compare=main", DROP)
    assert result.ret == 0
    assert "1 cannot tell." in said(result)
    assert (
        "the drop of test_it.py::test_it (score 0.50, was 1.00) is not proven, so it fails nothing"
        in said(result)
    )
    assert said(result).count("asked again and did not fail often enough") == 1
    quiet = project(TESTS, "--promptfuzz-compare=main", DROP, "-q")
    assert said(quiet).count("asked again and did not fail often enough") == 1
    each = project(TESTS, "--promptfuzz-compare=main", "--promptfuzz-fail-on=any score drop > 0.05")
    assert each.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize(
    ("options", "lost", "why"),
    [
        (["--promptfuzz-compare-calls=off"], 4, "--promptfuzz-compare-calls is off"),
        (
            ["--promptfuzz-compare-calls=14"],
            3,
            "the 3 trials that failed anew were not asked again often enough, since the test's calls were used up",
        ),
        ([], 2, "2 of 8 trials failed anew, and 3 are needed for a proof"),
    ],
)
def test_what_bounds_the_asking_is_said(project, monkeypatch, options, lost, why) -> None:
    project(TESTS, "--promptfuzz-save=main")
    monkeypatch.setenv("LOST", str(lost))
    result = project(TESTS, "--promptfuzz-compare=main", DROP, *options)
    assert (result.ret, why in said(result)) == (0, True)


def test_nothing_is_asked_again_without_a_base(project, monkeypatch, pytester) -> None:
    project(TESTS)
    monkeypatch.setenv("LOST", "4")
    result = project(TESTS, DROP)  # compared with the last run, which nobody named
    assert "--promptfuzz-compare=BASE lets the run ask" in said(result)
    (entry,) = next(Runs(pytester.path / ".promptfuzz").every()).tests().values()
    assert (entry["again"], entry["reasked"]) == ({}, "")
    named = project(TESTS, "--promptfuzz-compare=last", DROP)  # the run that lost them, too
    assert "no test is better or worse" in said(named)


def test_a_replay_shows_what_the_recording_run_decided(project, monkeypatch) -> None:
    project(RECORDED, "--promptfuzz-save=main", "--promptfuzz-mode=record")
    monkeypatch.setenv("LOST", "4")
    recorded = project(RECORDED, "--promptfuzz-compare=main", "--promptfuzz-mode=record")
    assert "were asked 16 times more, and 16 of these answers failed; more than noise" in said(recorded)
    replayed = project(RECORDED, "--promptfuzz-compare=main", "--promptfuzz-mode=replay", DROP)
    assert "were asked 16 times more, and 16 of these answers failed; more than noise" in said(replayed)
    assert replayed.ret == pytest.ExitCode.TESTS_FAILED
    alone = project(RECORDED, "--promptfuzz-mode=replay")
    assert alone.ret == 0


def test_a_replay_that_cannot_tell_says_what_would(project, monkeypatch) -> None:
    project(RECORDED, "--promptfuzz-save=main", "--promptfuzz-mode=record")
    monkeypatch.setenv("LOST", "4")
    replayed = project(RECORDED, "--promptfuzz-compare=main", "--promptfuzz-mode=replay", DROP)
    assert replayed.ret == 0
    assert "1 cannot tell." in said(replayed)
    assert (
        "the 4 trials that failed anew were not asked again often enough when the test was recorded: record it with "
        "--promptfuzz-compare=BASE" in said(replayed)
    )
    assert "came to nothing" not in said(replayed)


def test_calls_are_counted_and_the_dry_run_names_them(project, monkeypatch, pytester) -> None:
    project(RECORDED, "--promptfuzz-save=main", "--promptfuzz-mode=live")
    monkeypatch.setenv("LOST", "4")
    report = "--promptfuzz-report=json:run.json"
    project(RECORDED, "--promptfuzz-compare=main", "--promptfuzz-mode=live", report)
    document = json.loads((pytester.path / "run.json").read_text(encoding="utf-8"))
    assert document["tests"][0]["spent"]["calls"] == 9 + 16
    dry = project(RECORDED, "--promptfuzz-compare=main", "--promptfuzz-dry-run")
    assert "may make up to 90 calls more" in said(dry)
    assert "calls more" not in said(project(RECORDED, "--promptfuzz-dry-run"))


ODD = """
import os
from collections import Counter

ASKED = Counter()

@robust(TRIAGE, mutations=8, threshold=0, controls=0, stop="never")
def test_it(prompt):
    text = str(prompt)
    ASKED[text] += 1
    number = list(ASKED).index(text)
    if not number and ASKED[text] <= int(os.environ.get("ODD", 0)):
        return "ACCOUNT"
    return "OTHER" if number in range(1, 1 + int(os.environ.get("LOST", 0))) else "BILLING"
"""


def test_a_rare_first_answer_is_told_from_a_changed_one(project, monkeypatch) -> None:
    project(ODD, "--promptfuzz-save=main")
    monkeypatch.setenv("LOST", "4")
    monkeypatch.setenv("ODD", "2")  # the baseline, and its control run
    result = project(ODD, "--promptfuzz-compare=main")
    assert (
        "the first answer to the unmutated prompt is a rare one, so trials are compared with the base's"
        in said(result)
    )
    assert "4 came out worse and 0 better; the trials that failed anew were asked 16 times more" in said(
        result
    )
    monkeypatch.setenv("ODD", "99")
    changed = project(ODD, "--promptfuzz-compare=main")
    assert "cannot tell test_it.py::test_it: the baseline answer changed" in said(changed)


def test_a_test_that_passed_and_is_brittle_is_newly_brittle(project, monkeypatch, pytester) -> None:
    strict = TESTS.replace("threshold=0.1", "threshold=0.85")
    project(strict, "--promptfuzz-save=main")
    monkeypatch.setenv("LOST", "4")
    result = project(strict, "--promptfuzz-compare=main")
    assert "1 newly brittle." in said(result)
    monkeypatch.chdir(pytester.path)
    assert main(["compare", "main"]) == 1


def test_the_default_bound_is_that_of_the_statistics() -> None:
    assert next(each.default for each in SETTINGS if each.name == "compare_calls") == MOST_CALLS
