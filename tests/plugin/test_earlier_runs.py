"""Runs that are kept, compared and failed on, through real pytest processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from pytest_promptfuzz.history.runs import Runs
from tests import warm

TESTS = """
import os

SEEN = {}

def application(name, text):
    seen = SEEN.setdefault(name, {})
    number = seen.setdefault(str(text), len(seen))
    return "OTHER" if number in range(1, 1 + int(os.environ.get("LOST_" + name.upper(), 0))) else "BILLING"

@robust(TRIAGE, mutations=8)
def test_one(prompt):
    return application("one", prompt)

@robust(TRIAGE, mutations=8)
def test_two(prompt):
    return application("two", prompt)
"""
PASSING = TESTS.replace("mutations=8", "mutations=8, threshold=0.1")
WORKERS = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "xdist"])


@pytest.fixture
def runs(pytester: pytest.Pytester) -> Runs:
    return Runs(pytester.path / ".promptfuzz")


def said(result: pytest.RunResult) -> str:
    return " ".join(result.stdout.str().split())


def git(pytester: pytest.Pytester, *arguments: str) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ["git", *who, *arguments], cwd=pytester.path, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@WORKERS
def test_a_changed_prompt_that_lost_its_robustness_is_caught(project, pytester, runs, workers) -> None:
    source = """
    MAIL = %r

    @robust(MAIL, mutations=16, threshold=0.1)
    def test_mood(prompt):
        return "spam" if str(prompt) != MAIL and %s else "ham"
    """
    steady = source % ("Is this mail spam or ham? Answer with one word.", "False")
    first = project(steady, "--promptfuzz-save=base", *workers)
    first.assert_outcomes(passed=1)
    assert "Since" not in first.stdout.str()
    fragile = source % ("Is this mail spam or ham? Answer with a word, please.", "len(str(prompt)) % 3")
    second = project(fragile, "--promptfuzz-compare=base", "--promptfuzz-fail-on=score drop > 0.05", *workers)
    second.assert_outcomes(passed=1)
    assert second.ret == pytest.ExitCode.TESTS_FAILED
    second.stdout.fnmatch_lines(
        [
            "Since the run base (* UTC): 1 worse.",
            (
                "worse test_it.py::test_mood: score *, was 1.00; no trial is in both runs, so their scores were compared; "
                "more than noise; the prompt was changed"
            ),
            (
                "promptfuzz: --promptfuzz-fail-on 'score drop > 0.05' is met by 1 test, so the run fails: "
                "test_it.py::test_mood"
            ),
        ]
    )
    newest, oldest = runs.every()
    assert (newest.complete, oldest.complete, oldest.name) == (True, True, "base")


def test_a_comparison_without_a_difference_says_so(project) -> None:
    project(PASSING, "--promptfuzz-save=base").assert_outcomes(passed=2)
    again = project(PASSING)
    assert "compared with" not in again.stdout.str()
    asked = project(PASSING, "--promptfuzz-compare=base", "--promptfuzz-fail-on=new brittle")
    assert asked.ret == 0
    asked.stdout.fnmatch_lines(
        [
            "promptfuzz: compared with the run base (* UTC): no test is better or worse, no answer changed",
            "promptfuzz: --promptfuzz-fail-on 'new brittle': not met",
        ]
    )


def test_what_is_worse_than_the_last_run_is_said_and_fails_only_where_it_is_to(project, monkeypatch) -> None:
    nothing = project(PASSING, "--promptfuzz-fail-on=any new deviation")
    nothing.assert_outcomes(passed=2)
    assert nothing.ret == 0
    nothing.stdout.fnmatch_lines(
        ["promptfuzz: --promptfuzz-fail-on: there is no earlier run of these tests to compare with yet"]
    )
    monkeypatch.setenv("LOST_TWO", "1")
    one = project(PASSING, "--promptfuzz-fail-on=score drop > 0.05")
    assert one.ret == 0
    one.stdout.fnmatch_lines(
        [
            "Since the last run (* UTC): 1 cannot tell, 1 the same.",
            (
                "cannot tell test_it.py::test_two: score 0.88, was 1.00; of 8 trials in both runs 1 came out worse and 0 "
                "better; within noise; 1 of 8 trials failed anew, and 3 are needed for a proof*; new deviation by *"
            ),
        ]
    )
    monkeypatch.setenv("LOST_TWO", "2")
    any_ = project(PASSING, "--promptfuzz-fail-on=any new deviation,any score drop > 0.05")
    assert any_.ret == pytest.ExitCode.TESTS_FAILED
    assert (
        any_.stdout.str().count("is met by 1 test, so the run fails: test_it.py::test_two ('any' counts") == 2
    )
    monkeypatch.setenv("LOST_TWO", "7")
    worse = project(PASSING, "--promptfuzz-fail-on=gone", "--promptfuzz-fail-on=score drop > 0.05")
    assert worse.ret == pytest.ExitCode.TESTS_FAILED
    worse.stdout.fnmatch_lines(
        ["worse test_it.py::test_two: *5 came out worse and 0 better; more than noise*"]
    )
    same = project(PASSING, "--promptfuzz-fail-on=any new deviation")
    assert same.ret == 0
    assert "Since" not in same.stdout.str()


def test_last_is_the_latest_run_of_each_test(project, monkeypatch, runs) -> None:
    project(PASSING).assert_outcomes(passed=2)
    for _ in range(2):
        project(PASSING, "-k", "one").assert_outcomes(passed=1, deselected=1)
    monkeypatch.setenv("LOST_TWO", "6")
    result = project(PASSING, "--promptfuzz-compare=last")
    result.stdout.fnmatch_lines(["Since the last run: 1 worse, 1 the same.", "worse test_it.py::test_two: *"])
    assert result.ret == 0
    counts = [len(each.tests()) for each in runs.every()]
    assert counts == [2, 1, 1, 2]


def test_a_saved_name_is_not_lost_by_accident(project, runs, monkeypatch) -> None:
    project(PASSING, "--promptfuzz-save=main").assert_outcomes(passed=2)
    again = project(PASSING, "--promptfuzz-save=main")
    assert again.ret == pytest.ExitCode.USAGE_ERROR
    again.stderr.fnmatch_lines(
        ["ERROR: --promptfuzz-save: the run of * is named 'main'. Choose another name, *"]
    )
    monkeypatch.setenv("LOST_ONE", "6")
    project(PASSING, "--promptfuzz-save=main!").stdout.fnmatch_lines(
        ["promptfuzz: this run was saved as main"]
    )
    monkeypatch.delenv("LOST_ONE")
    better = project(PASSING, "--promptfuzz-compare=main")
    better.stdout.fnmatch_lines(
        ["Since the run main (*): 1 better, 1 the same.", "better test_it.py::test_one: *"]
    )
    assert [each.name for each in runs.every()] == ["", "main", ""]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--promptfuzz-save="], "--promptfuzz-save: '' is no name of a run: write 1 to 64 letters*"),
        (["--promptfuzz-save=a/b"], "--promptfuzz-save: 'a/b' is no name of a run*"),
        (["--promptfuzz-save=last"], "--promptfuzz-save: 'last' is the last run whatever it is called*"),
        (
            ["--promptfuzz-save=x", "--promptfuzz-dry-run"],
            "--promptfuzz-save: a dry run cannot be saved. Leave one*",
        ),
        (["--promptfuzz-save=x", "--promptfuzz=off"], "--promptfuzz-save: --promptfuzz=off judges no test*"),
        (
            ["--promptfuzz-save=x", "--promptfuzz-trial=abc"],
            "--promptfuzz-save: --promptfuzz-trial judges no whole*",
        ),
        (
            ["--promptfuzz-save=x", "--promptfuzz-history=off"],
            "--promptfuzz-save: --promptfuzz-history keeps no runs*",
        ),
        (
            ["--promptfuzz-history=-1"],
            "--promptfuzz-history: '-1' is not a whole number of 0 or more, or off*",
        ),
        (
            ["--promptfuzz-compare=nope"],
            "--promptfuzz-compare: there is no saved run, file or commit 'nope'*",
        ),
        (
            ["--promptfuzz-fail-on=scroe drop"],
            ("--promptfuzz-fail-on: 'scroe drop': unknown word 'scroe'. Did you mean 'score'?"),
        ),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_runs(project, runs, arguments, message) -> None:
    result = project(PASSING, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {message}"])
    assert runs.paths() == []


def test_where_a_setting_was_made_is_named(project, monkeypatch) -> None:
    monkeypatch.setenv("PROMPTFUZZ_COMPARE", "nope")
    result = project(PASSING)
    result.stderr.fnmatch_lines(
        ["ERROR: the environment variable PROMPTFUZZ_COMPARE: there is no saved run, file or commit 'nope'*"]
    )


@WORKERS
def test_a_base_that_shares_no_test_is_an_error(project, pytester, workers) -> None:
    none = ["*--promptfuzz-compare: 'main' has none of these tests. Compare with a run of the same ones*"]
    project(PASSING, "-k", "one", "--promptfuzz-save=main").assert_outcomes(passed=1)
    result = project(PASSING, "-k", "two", "--promptfuzz-compare=main", *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    lines = result.stdout if workers else result.stderr
    lines.fnmatch_lines(none)
    project(PASSING, "--promptfuzz-save=main!").assert_outcomes(passed=2)
    other = PASSING.replace("test_", "test_other_")
    result = project(other, "--promptfuzz-compare=main", *workers)  # each may be either of the base's
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(none)


def test_tests_that_are_gone_are_told_from_tests_that_were_not_asked_for(project) -> None:
    project(PASSING, "--promptfuzz-save=main").assert_outcomes(passed=2)
    gone = ("--promptfuzz-compare=main", "--promptfuzz-fail-on=gone")
    for selection in (("-k", "one"), ("test_it.py::test_one",), ("--deselect=test_it.py::test_two",)):
        assert project(PASSING, *gone, *selection).ret == 0
    skipped = PASSING.replace(
        "@robust(TRIAGE, mutations=8", "@__import__('pytest').mark.skip\n@robust(TRIAGE, mutations=8", 1
    )
    assert project(skipped, *gone).ret == 0
    result = project(PASSING[: PASSING.index("@robust(TRIAGE", PASSING.index("def test_one"))], *gone)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "Since the run main *: 1 gone, 1 the same.",
            "gone test_it.py::test_two: in the base, and no longer there",
            "promptfuzz: --promptfuzz-fail-on 'gone' is met by 1 test, so the run fails: test_it.py::test_two",
        ]
    )


def test_a_commit_is_compared_with_by_its_run(project, pytester, runs, monkeypatch) -> None:
    git(pytester, "init", "-q", "-b", "main")
    (pytester.path / ".gitignore").write_text(".promptfuzz\n__pycache__\n.pytest_cache\nstdout\nstderr\n")
    project(PASSING, "--co", "-q")
    git(pytester, "add", ".gitignore", "test_it.py")
    git(pytester, "commit", "-q", "-m", "one")
    project(PASSING).assert_outcomes(passed=2)
    (run,) = runs.every()
    assert run.run["commit"] == git(pytester, "rev-parse", "HEAD")
    assert (run.run["branch"], run.run["dirty"]) == ("main", False)
    monkeypatch.setenv("LOST_ONE", "6")
    changed = PASSING + "\n# changed\n"
    project(changed).stdout.fnmatch_lines(["worse test_it.py::test_one: *"])
    assert next(runs.every()).run["dirty"] is True
    git(pytester, "commit", "-q", "-a", "-m", "two")
    result = project(changed, "--promptfuzz-compare=HEAD~1", "--promptfuzz-fail-on=new brittle,score drop")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["Since commit HEAD~1 (* UTC, on main, at *): 1 worse, 1 the same."])
    assert project(changed, "--promptfuzz-compare=HEAD").ret == 0


def test_a_commit_without_a_run_is_compared_with_by_its_snapshots(
    project, pytester, runs, monkeypatch
) -> None:
    git(pytester, "init", "-q", "-b", "main")
    git(pytester, "commit", "-q", "--allow-empty", "-m", "zero")
    update = project(PASSING, "--promptfuzz-update", "--promptfuzz-history=off", "--promptfuzz-compare=HEAD")
    update.assert_outcomes(passed=2)
    assert update.ret == 0  # the first tests of a project have no base
    update.stdout.fnmatch_lines(
        ["promptfuzz: --promptfuzz-compare: no run of commit *, and it has no snapshots: *"]
    )
    assert runs.paths() == []
    git(pytester, "add", "test_it.py", "pytest.ini", "__promptfuzz__")
    git(pytester, "commit", "-q", "-m", "one")
    git(pytester, "commit", "-q", "--allow-empty", "-m", "two")
    monkeypatch.setenv("LOST_ONE", "6")
    result = project(PASSING, "--promptfuzz-compare=HEAD~1", "--promptfuzz-fail-on=score drop", "-n", "2")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "Since commit HEAD~1 (at *): 1 worse, 1 the same.",
            "worse test_it.py::test_one: *6 came out worse and 0 better; more than noise*",
            "promptfuzz: --promptfuzz-compare: no run of commit * is kept here, so its snapshots were taken",
        ]
    )
    git(pytester, "clone", "-q", "--depth=1", f"file://{pytester.path}", "shallow")
    monkeypatch.chdir(pytester.path / "shallow")
    shallow = pytester.runpytest("--promptfuzz-compare=HEAD~1")
    assert shallow.ret == pytest.ExitCode.USAGE_ERROR
    shallow.stderr.fnmatch_lines(
        ["ERROR: --promptfuzz-compare: *this clone is shallow*Fetch it: git fetch --unshallow."]
    )


def test_a_report_or_a_history_file_of_another_machine_is_compared_with(
    project, pytester, runs, monkeypatch
) -> None:
    project(PASSING, "--promptfuzz-report=json:base.json").assert_outcomes(passed=2)
    (path,) = runs.paths()
    path.rename(pytester.path / "base.jsonl")
    monkeypatch.setenv("LOST_ONE", "6")
    for file in ("base.json", "base.jsonl"):
        result = project(PASSING, f"--promptfuzz-compare={file}")
        result.stdout.fnmatch_lines([f"Since the run in {file} (*): 1 worse, 1 the same."])
    (pytester.path / "base.json").write_text('{"promptfuzz": "report", ')
    broken = project(PASSING, "--promptfuzz-compare=base.json")
    assert broken.ret == pytest.ExitCode.USAGE_ERROR
    broken.stderr.fnmatch_lines(["ERROR: --promptfuzz-compare: *base.json is no JSON, or was cut off.*"])


def test_the_report_of_a_run_holds_what_changed_and_trends(project, pytester, monkeypatch) -> None:
    project(PASSING).assert_outcomes(passed=2)
    monkeypatch.setenv("LOST_ONE", "6")
    project(PASSING, "--promptfuzz-report=json:now.json", "--promptfuzz-fail-on=score drop")
    document = json.loads((pytester.path / "now.json").read_text())
    changes, trends = document["changes"], document["trends"]
    assert [(each["test"], each["status"]) for each in changes["tests"]] == [
        ("test_it.py::test_one", "worse"),
        ("test_it.py::test_two", "same"),
    ]
    assert changes["conditions"] == [{"expression": "score drop", "tests": ["test_it.py::test_one"]}]
    assert changes["base"]["kind"] == "last"
    assert len(trends["runs"]) == 1
    assert trends["tests"]["test_it.py::test_one"] == [
        {"run": 0, "score": 1.0, "verdict": "pass", "cost": None}
    ]
    assert document["run"]["commit"] == trends["runs"][0]["commit"]


def test_runs_of_one_trial_dry_runs_and_overridden_ones_are_not_compared_with(project, runs) -> None:
    project(PASSING).assert_outcomes(passed=2)
    project(PASSING, "--promptfuzz-dry-run")
    project(PASSING, "--promptfuzz=off")
    project(PASSING, "--promptfuzz-trial=abc")
    assert len(runs.paths()) == 1
    project(PASSING, "--promptfuzz-override=mutations=2").assert_outcomes(passed=2)
    newest, oldest = runs.every()
    assert (newest.aside, oldest.aside) == ("overridden: mutations=2", "")
    result = project(PASSING)
    assert "Since" not in result.stdout.str()


def test_so_many_runs_are_kept_as_are_asked_for(project, runs) -> None:
    project(PASSING, "--promptfuzz-save=base").assert_outcomes(passed=2)
    for _ in range(4):
        project(PASSING, "-k", "one", "--promptfuzz-history=2")
    assert [each.name for each in runs.every()] == ["", "", "base"]
    project(PASSING, "--promptfuzz-history=off", "--promptfuzz-compare=base").assert_outcomes(passed=2)
    assert len(runs.paths()) == 3


def test_a_quiet_run_says_it_in_a_line(project, monkeypatch) -> None:
    project(PASSING).assert_outcomes(passed=2)
    monkeypatch.setenv("LOST_ONE", "6")
    result = project(PASSING, "-q")
    (line,) = [each for each in result.outlines if "since" in each.lower()]
    assert line.startswith("promptfuzz: since the last run (20")
    assert line.endswith("): test_it.py::test_one is worse")
    assert "\x1b" not in result.stdout.str()


@pytest.mark.parametrize("width", ["80", "120"])
def test_what_changed_fits_the_terminal(project, monkeypatch, width) -> None:
    project(PASSING).assert_outcomes(passed=2)
    monkeypatch.setenv("LOST_ONE", "6")
    monkeypatch.setenv("COLUMNS", width)
    lines = project(PASSING, "--promptfuzz-fail-on=score drop").outlines
    start = next(number for number, line in enumerate(lines) if line.startswith("Since the last run"))
    assert all(len(line) <= int(width) for line in lines[start:])
    assert "of 8 trials in both runs 6 came out worse and 0 better" in " ".join(
        " ".join(lines[start:]).split()
    )


def test_a_damaged_history_is_said_and_used_as_far_as_it_goes(project, runs, monkeypatch) -> None:
    project(PASSING).assert_outcomes(passed=2)
    foreign = runs.folder / "20990101T000000.000000Z-foreign.jsonl"
    foreign.write_text("garbage\n")
    newer = runs.folder / "20990101T000000.000000Z-newer.jsonl"
    newer.write_text('{"promptfuzz": "run", "format": 9, "run": {}}\n')
    monkeypatch.setenv("LOST_ONE", "6")
    result = project(PASSING)
    result.stdout.fnmatch_lines(["worse test_it.py::test_one: *"])
    assert said(result).count("is left as it is, and not used") == 2
    assert f"{newer} is of format 9" in said(result)
    assert (foreign.read_text(), result.ret) == ("garbage\n", 0)


def test_a_folder_that_cannot_be_written_does_not_end_the_run(project, runs) -> None:
    project(PASSING, "--co", "-q")
    runs.folder.parent.mkdir(exist_ok=True)
    runs.folder.write_text("a file in the way")
    result = project(PASSING)
    result.assert_outcomes(passed=2)
    assert "this run is not kept, and later ones cannot be compared with it: " in said(result)
    assert result.ret == 0


def test_no_secret_is_kept(project, runs) -> None:
    source = PASSING.replace('"BILLING"', '"BILLING of customer-4711"')
    project(source, "-o", "promptfuzz_redact=customer-[0-9]+", "--promptfuzz-save=x").assert_outcomes(
        passed=2
    )
    (path,) = runs.paths()
    assert "BILLING of " in path.read_text()
    assert "customer-4711" not in path.read_text()


@WORKERS
def test_a_killed_run_leaves_what_was_known_and_the_next_one_works(project, pytester, runs, workers) -> None:
    slow = (
        PASSING
        + """
@robust(TRIAGE, mutations=8, threshold=0.1)
def test_zzz(prompt):
    __import__("time").sleep(600)
"""
    )
    project(slow, "--co", "-q").assert_outcomes()
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *workers]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sys.path))}
    process = warm.Popen(
        command, cwd=pytester.path, env=environment, stdout=subprocess.DEVNULL, start_new_session=True
    )
    try:
        waited = 0.0
        while not any(len(each.tests()) == 2 for each in runs.every()):
            time.sleep(0.05)
            waited += 0.05
            assert process.poll() is None
            assert waited < 120
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    (killed,) = runs.every()
    assert (killed.ended, killed.complete, len(killed.tests())) == (False, False, 2)
    project(PASSING, *workers).assert_outcomes(passed=2)
    newest, oldest = runs.every()
    assert (newest.complete, oldest.complete) == (True, False)


def test_two_runs_at_once_keep_a_file_each(project, pytester, runs) -> None:
    project(PASSING, "--co", "-q")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sys.path))}
    both = [
        warm.Popen(command, cwd=pytester.path, env=environment, stdout=subprocess.DEVNULL) for _ in range(2)
    ]
    assert [each.wait() for each in both] == [0, 0]
    assert [(each.complete, len(each.tests())) for each in runs.every()] == [(True, 2), (True, 2)]
