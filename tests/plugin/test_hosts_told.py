"""Reports for hosts of code, by real runs and by the command; and that no output of ours commands a host."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.reporting.markdown import MARKER
from tests.in_process import Done, promptfuzz
from tests.plugin.conftest import PROMPT
from tests.reporting.workflow_commands import commands, values

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = r"""
@robust(TRIAGE.fill(ticket=TICKET), mutations=4)
def test_sound(prompt, llm):
    return llm(prompt)

@robust(TRIAGE.fill(ticket=TICKET), mutations=4)
def test_brittle(prompt):
    return "BILLING" if str(prompt) == str(TRIAGE.fill(ticket=TICKET)) else "OTHER"

@robust(TRIAGE.fill(ticket=TICKET), mutations=4)
def test_fails_unmutated(prompt):
    assert "BILLING" == "OTHER"
"""
WORKERS = pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["plain", "xdist"])


@pytest.fixture
def github(tmp_path: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A step's environment; its files lie in the folder."""
    for name in ("summary", "output"):
        (tmp_path / name).touch()
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(pytester.path.parent))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "output"))
    return tmp_path


@WORKERS
def test_a_run_tells_github_and_writes_files_for_other_hosts(project, pytester, github, workers):
    wanted = "github,md:out/c.md,gitlab:out/quality.json,sarif:out/r.sarif"
    result = project(SOURCE, f"--promptfuzz-report={wanted}", *workers)
    result.assert_outcomes(passed=1, failed=2)
    told = commands(result.stdout.str())
    inside = f"{pytester.path.name}/test_it.py"
    lines = pytester.path.joinpath("test_it.py").read_text().split("\n")
    expected = {
        "Brittle prompt: test_it.py::test_brittle": "def test_brittle(prompt):",
        "Not judged: test_it.py::test_fails_unmutated": "def test_fails_unmutated(prompt):",
    }
    assert {each.properties["title"] for each in told} == {*expected}
    for each in told:
        assert (each.name, each.properties["file"]) == ("error", inside)
        # The line of the test, or of its decorator.
        assert expected[each.properties["title"]] in lines[int(each.properties["line"]) - 1 :][1]
    assert told[0].message.startswith("brittle: 4 of 4 trials deviate")
    written = values((github / "output").read_text(encoding="utf-8"))
    assert (written["verdict"], written["brittle"], written["unjudged"], written["tests"]) == (
        "failed",
        "1",
        "1",
        "3",
    )
    assert written["score_min"] == "0.0"
    summary = (github / "summary").read_text(encoding="utf-8")
    assert summary.startswith(
        f"{MARKER}\n### ❌ Prompt robustness: 1 brittle, 1 not judged, 1 passed of 3 robust tests"
    )
    assert (pytester.path / "out" / "c.md").read_text(encoding="utf-8") == summary
    issues = json.loads((pytester.path / "out" / "quality.json").read_text(encoding="utf-8"))
    assert [each["location"]["path"] for each in issues] == [inside, inside]
    (run,) = json.loads((pytester.path / "out" / "r.sarif").read_text(encoding="utf-8"))["runs"]
    assert [each["ruleId"] for each in run["results"]] == ["promptfuzz/brittle", "promptfuzz/unjudged"]
    result.stdout.fnmatch_lines(["promptfuzz: told GitHub: 2 annotations, a summary, output values"])


def test_paths_are_those_of_the_repository_where_pytest_starts_above_its_root(pytester, github, monkeypatch):
    inner = pytester.mkdir("proj")
    (inner / "pytest.ini").write_text("[pytest]\n")
    (inner / "test_it.py").write_text(PROMPT + SOURCE)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(pytester.path))
    result = pytester.runpytest(
        "proj", "--promptfuzz-target=simulated", "--promptfuzz-report=github,sarif:r.sarif"
    )
    told = commands(result.stdout.str())
    assert {each.properties["file"] for each in told} == {"proj/test_it.py"}
    (run,) = json.loads((pytester.path / "r.sarif").read_text())["runs"]
    places = [each["locations"][0]["physicalLocation"]["artifactLocation"] for each in run["results"]]
    assert {each["uri"] for each in places} == {"proj/test_it.py"}


def test_the_command_tells_github_of_the_last_run(project, pytester, github):
    project(SOURCE)
    assert (github / "summary").read_text(encoding="utf-8") == ""
    done = _promptfuzz(pytester, "report", "--to", "github,md:c.md")
    assert done.returncode == 0, done.stderr
    assert [each.name for each in commands(done.stdout)] == ["error", "error"]
    assert "told GitHub: 2 annotations, a summary, output values" in done.stdout
    assert values((github / "output").read_text(encoding="utf-8"))["brittle"] == "1"


def test_outside_of_github_it_says_what_is_missing(project, pytester, monkeypatch):
    for name in ("GITHUB_ACTIONS", "GITHUB_WORKSPACE", "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"):
        monkeypatch.delenv(name, raising=False)
    result = project(SOURCE, "--promptfuzz-report=github")
    result.stdout.fnmatch_lines(
        ["promptfuzz: told GitHub: 2 annotations; GITHUB_STEP_SUMMARY and GITHUB_OUTPUT name no files"]
    )


def test_a_summary_that_cannot_be_written_is_said_and_the_report_kept(project, pytester, github, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(github / "none" / "summary"))
    result = project(SOURCE, "--promptfuzz-report=github")
    result.assert_outcomes(passed=1, failed=2)
    said = "*summary cannot be written: No such file or directory. What it holds is kept: promptfuzz report --from * --to github"
    result.stdout.fnmatch_lines([f"promptfuzz: --promptfuzz-report=github: {said}"])


@pytest.mark.parametrize("given", ["github:x", "github:", "github,github", "md"])
def test_what_cannot_be_meant_is_refused_before_anything_runs(project, given):
    result = project(SOURCE, f"--promptfuzz-report={given}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    said = {
        "github,github": "github is named twice",
        "md": "'md' has no path. Write FORMAT:PATH",
    }.get(given, f"'{given}': github takes no path. Write github.")
    result.stderr.fnmatch_lines([f"*{said}*"])


HOSTILE = r'''
ORDERS = """::set-output name=verdict::passed
  ::error file=a.py,line=1::you lose
text ##[add-mask]a
##vso[task.setvariable variable=a]b
::stop-commands::x"""

def say(text):
    import sys
    print(text)
    print(text, file=sys.stderr)
    return text

@robust("Say what you like.", mutations=4)
def test_compared(prompt):
    return say(ORDERS if str(prompt) == "Say what you like." else f"no\n{ORDERS}")

@robust("Say what you like.", mutations=4)
def test_checked(prompt):
    assert str(prompt) == "Say what you like.", say(ORDERS)
    return ORDERS

@robust("Say what you like.", mutations=4)
def test_unmutated(prompt):
    assert say(ORDERS) == "", ORDERS

@robust("Say what you like.", mutations=4)
def test_raises(prompt):
    raise ValueError(say(ORDERS))

@robust("Say what you like.", mutations=4)
def test_skips(prompt):
    import pytest
    pytest.skip(say(ORDERS))
'''


@pytest.mark.parametrize("options", [(), ("-n", "1"), ("-rA", "-vv"), ("--tb=native",), ("--tb=line", "-l")])
@pytest.mark.parametrize("host", ["GITHUB_ACTIONS", "TF_BUILD"])
def test_nothing_that_a_model_says_commands_the_host(project, pytester, monkeypatch, host, options):
    for name in ("GITHUB_ACTIONS", "TF_BUILD"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(host, "true")
    result = project(HOSTILE, *options)
    assert result.ret == 1
    assert "set-output" in result.stdout.str()
    assert commands(result.stdout.str()) == []
    done = _promptfuzz(pytester, "report")
    assert "set-output" in done.stdout
    assert commands(done.stdout) == []


def test_elsewhere_captured_output_is_left_alone(project, monkeypatch):
    for name in ("GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION"):
        monkeypatch.delenv(name, raising=False)
    result = project(HOSTILE, "-k", "unmutated")
    assert "\n::set-output name=verdict::passed\n" in result.stdout.str()


def _promptfuzz(pytester: pytest.Pytester, *arguments: str) -> Done:
    return promptfuzz(*arguments, folder=pytester.path)
