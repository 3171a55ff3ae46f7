"""Reports of a run, by real pytest processes: what they hold, when they are refused, what a run leaves by itself."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from pytest_promptfuzz.cli.main import main
from pytest_promptfuzz.reporting.report_files import json_report, latest, read_document
from pytest_promptfuzz.reporting.schema import report_schema
from tests.in_process import Done, promptfuzz

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[..., pytest.RunResult]

SOURCE = """
import pytest

URGENCY = Prompt('''Classify the urgency of the support ticket into exactly one of these levels: high, medium, low.

- high: outages, lost payments, stolen accounts
- medium: late parcels, broken products
- low: questions, wishes, thanks

Answer with the level only.

Ticket: My payment is lost, and my parcel is late.''')

@robust(TRIAGE.fill(ticket=TICKET), mutations=4)
def test_sound(prompt, llm):
    return llm(prompt)

@robust(URGENCY, mutations={"bullet-reorder": 4})
def test_brittle(prompt, llm):
    return llm(prompt)

@pytest.mark.xfail(strict=True)
@robust(URGENCY, mutations={"bullet-reorder": 4})
def test_expected(prompt, llm):
    return llm(prompt)

@robust(TRIAGE.fill(ticket=TICKET), mutations=4)
def test_fails_unmutated(prompt, llm):
    assert llm(prompt).text == "NOTHING LIKE IT"

@robust(TRIAGE.fill(ticket=TICKET), mutations=4, target="openai")
def test_misnamed(prompt, llm):
    return llm(prompt)

@pytest.mark.skip
@robust(TRIAGE.fill(ticket=TICKET))
def test_skipped(prompt, llm):
    return llm(prompt)

def test_other():
    assert False
"""


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["plain", "xdist"])
def test_a_run_s_report_holds_every_robust_test(
    project: Project, pytester: pytest.Pytester, workers: list[str]
) -> None:
    result = project(SOURCE, "--promptfuzz-report=json:out/run.json", *workers)
    result.stdout.re_match_lines([r"promptfuzz: wrote out/run.json \(json, \d+ kB\)"])
    path = pytester.path / "out" / "run.json"
    found = read(path)
    assert list(Draft202012Validator(report_schema()).iter_errors(found)) == []
    assert {each["test"]: (each["verdict"], each["outcome"]) for each in found["tests"]} == {
        "test_it.py::test_sound": ("pass", "passed"),
        "test_it.py::test_brittle": ("brittle", "failed"),
        "test_it.py::test_expected": ("brittle", "xfailed"),
    }
    unjudged = {each["test"]: each for each in found["unjudged"]}
    assert {name: each["outcome"] for name, each in unjudged.items()} == {
        "test_it.py::test_fails_unmutated": "failed",
        "test_it.py::test_misnamed": "error",
    }
    assert "NOTHING LIKE IT" in unjudged["test_it.py::test_fails_unmutated"]["message"]
    assert "openai" in unjudged["test_it.py::test_misnamed"]["message"]
    assert (
        unjudged["test_it.py::test_fails_unmutated"]["target"] == found["tests"][0]["target"] == "simulated"
    )
    assert all(each["location"][0] == "test_it.py" for each in [*found["tests"], *found["unjudged"]])
    assert found["run"]["complete"] is True
    assert found["run"]["seconds"] > 0
    # Tests that passed are whole: what is shown of one that failed can be shown of them.
    sound = next(each for each in found["tests"] if each["test"].endswith("sound"))
    assert len(sound["trials"]) == 4
    stored = latest(pytester.path / ".promptfuzz")
    assert stored is not None
    assert json_report(read_document(stored)) == path.read_text(encoding="utf-8")


def test_a_key_in_the_name_of_a_target_is_hidden_where_the_test_is_not_judged(
    project: Project, pytester: pytest.Pytester
) -> None:
    key = "sk-proj-q8Zr4TnV2xLw7PbK9sYdE1uJ6hGc3FmA5oXtRiQvNyWz0Bk"
    project(
        f"@robust(TRIAGE.fill(ticket=TICKET), mutations=4, target='opnai:{key}')\n"
        "def test_misnamed(prompt, llm):\n    return llm(prompt)\n",
        "--promptfuzz-report=json:run.json",
    )
    (found,) = read(pytester.path / "run.json")["unjudged"]
    assert found["target"].startswith("opnai:")
    assert key not in found["target"]


def test_a_run_leaves_its_report_unasked_and_others_leave_none(
    project: Project, pytester: pytest.Pytester
) -> None:
    project("def test_other(): pass")
    assert not (pytester.path / ".promptfuzz").exists()
    project(SOURCE, "--promptfuzz-dry-run")
    project(SOURCE, "--promptfuzz=off")
    project(SOURCE, "-k", "sound", "--promptfuzz-history=off")
    assert latest(pytester.path / ".promptfuzz") is None
    project(SOURCE, "-k", "sound")
    stored = latest(pytester.path / ".promptfuzz")
    assert stored is not None
    assert [each["test"] for each in read_document(stored)["tests"]] == ["test_it.py::test_sound"]
    assert not stored.stat().st_mode & 0o077 or stored.parent.parent.stat().st_mode & 0o077 == 0


def test_a_report_is_written_where_no_robust_test_ran(project: Project, pytester: pytest.Pytester) -> None:
    project("def test_other(): pass", "--promptfuzz-report=json:run.json")
    found = read(pytester.path / "run.json")
    assert (found["tests"], found["unjudged"]) == ([], [])


@pytest.mark.with_plugins("rerunfailures")
def test_of_a_rerun_test_the_last_run_counts(project: Project, pytester: pytest.Pytester) -> None:
    source = """
    from pathlib import Path

    @robust(TRIAGE.fill(ticket=TICKET), mutations=4)
    def test_flaky(prompt, llm):
        mark = Path("ran")
        if not mark.exists():
            mark.touch()
            assert False
        return llm(prompt)
    """
    result = project(source, "--reruns=1", "--promptfuzz-report=json:run.json")
    result.assert_outcomes(passed=1)
    found = read(pytester.path / "run.json")
    assert [each["outcome"] for each in found["tests"]] == ["passed"]
    assert found["unjudged"] == []


def test_the_setting_is_read_from_all_its_places(
    project: Project, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROMPTFUZZ_REPORT", "json:from_env.json")
    project(SOURCE, "-k", "sound")
    assert (pytester.path / "from_env.json").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("jsn:a", "--promptfuzz-report: unknown format 'jsn'. Did you mean 'json'?"),
        ("json", "--promptfuzz-report: 'json' has no path. Write FORMAT:PATH, such as html:report.html."),
        ("json:test_it.py/a", "*test_it.py is a file. Name another place."),
        ("json:.", "*is a folder. Name a file in it."),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_runs(
    project: Project, given: str, message: str
) -> None:
    result = project(SOURCE, f"--promptfuzz-report={given}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{message}*"])
    result.stdout.no_fnmatch_line("*passed*")


def test_a_report_that_cannot_be_made_loses_nothing(project: Project, pytester: pytest.Pytester) -> None:
    conftest = """
    from pytest_promptfuzz import reporter

    @reporter("broken")
    def broken(document):
        raise ValueError("no such thing")

    @reporter("names")
    def names(document):
        return " ".join(test["test"] for test in document["tests"])

    def pytest_promptfuzz_reporters(config):
        return [broken, names]
    """
    result = project(
        SOURCE, "-k", "sound", "--promptfuzz-report=broken:a,names:b.txt", conftest=textwrap.dedent(conftest)
    )
    result.assert_outcomes(passed=1, deselected=6)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "promptfuzz: wrote b.txt (names, 22 B)",
            "promptfuzz: --promptfuzz-report=broken:a: it cannot be rendered: ValueError: no such thing. What*",
        ]
    )
    assert (pytester.path / "b.txt").read_text() == "test_it.py::test_sound"


def test_a_folder_that_cannot_be_written_is_told_and_the_run_goes_on(
    project: Project, pytester: pytest.Pytester
) -> None:
    folder = pytester.path / ".promptfuzz"
    folder.mkdir()
    (folder / "report").write_text("in the way")
    result = project(SOURCE, "-k", "sound")
    result.assert_outcomes(passed=1, deselected=6)
    result.stdout.fnmatch_lines(["promptfuzz: this run leaves no report: *cannot be written*"])
    assert (folder / "report").read_text() == "in the way"
    assert result.ret == pytest.ExitCode.OK
    missed = project(SOURCE, "-k", "sound", "--promptfuzz-report=json:run.json")
    assert missed.ret == pytest.ExitCode.TESTS_FAILED


def test_no_secret_is_left(project: Project, pytester: pytest.Pytester) -> None:
    secret = "sk-proj-" + "Q7" * 20
    source = f"""
    @robust("Repeat after me: {secret}", mutations=2)
    def test_told(prompt, llm):
        return llm(prompt).text + " {secret}"

    @robust("Repeat after me: {secret}", mutations=2)
    def test_fails(prompt, llm):
        raise ValueError("{secret}")
    """
    project(source, "--promptfuzz-report=json:run.json")
    for path in [pytester.path / "run.json", latest(pytester.path / ".promptfuzz")]:
        assert path is not None
        text = path.read_text(encoding="utf-8")
        assert "test_told" in text
        assert "test_fails" in text
        assert secret not in text


def test_a_killed_run_leaves_what_was_known(project_forked: Project, pytester: pytest.Pytester) -> None:
    source = """
    import os, signal

    @robust(TRIAGE.fill(ticket=TICKET), mutations=2)
    def test_a(prompt, llm):
        return llm(prompt)

    def test_b():
        os.kill(os.getpid(), signal.SIGKILL)
    """
    project_forked(source)
    stored = latest(pytester.path / ".promptfuzz")
    assert stored is not None
    found = read_document(stored)
    assert [each["test"] for each in found["tests"]] == ["test_it.py::test_a"]
    assert found["run"]["complete"] is False


def command(*arguments: str, cwd: Path) -> Done:
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
    return promptfuzz("report", *arguments, folder=cwd, environment=environment)


def test_reports_are_made_afterwards(project: Project, pytester: pytest.Pytester) -> None:
    here = pytester.path
    none = command(cwd=here)
    assert none.returncode == 2
    assert "there is no report in .promptfuzz, here or above. Run pytest first" in none.stderr

    project(SOURCE, "-k", "sound or brittle or misnamed", "--promptfuzz-report=json:a.json")
    shown = command(cwd=here)
    assert shown.returncode == 0
    for part in (
        "test_it.py::test_brittle",
        "bullet-reorder",
        "3 robust tests: 1 brittle, 1 not judged, 1 passed;",
        "test_misnamed: not judged (error)",
    ):
        assert part in shown.stdout
    assert command("--json", cwd=here).stdout == (here / "a.json").read_text(encoding="utf-8")
    written = command("--from", "a.json", "--to", "json:deep/b.json", cwd=here)
    assert written.stdout.startswith("wrote deep/b.json (json, ")
    assert (here / "deep" / "b.json").read_bytes() == (here / "a.json").read_bytes()

    project(SOURCE, "-k", "expected or sound", "--promptfuzz-report=json:c.json")
    whole = command("merge", "a.json", "c.json", "--to", "json:whole.json", cwd=here)
    assert whole.returncode == 0
    assert "of which the last run counts: test_it.py::test_sound" in whole.stderr
    assert [each["test"].rpartition("::")[2] for each in read(here / "whole.json")["tests"]] == [
        "test_sound",
        "test_brittle",
        "test_expected",
    ]
    broken = command("merge", "a.json", "test_it.py", "--to", "json:whole.json", cwd=here)
    assert broken.returncode == 2
    assert "test_it.py is no JSON, or was cut off" in broken.stderr


def test_the_command_prints_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "schema"]) == 0
    assert json.loads(capsys.readouterr().out) == report_schema()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--from", "nowhere.json"], "nowhere.json does not exist"),
        (["--from", "{good}", "--to", "jsn:x"], "unknown format 'jsn'. Did you mean 'json'?"),
        (["--from", "{good}", "--to", "json"], "'json' has no path"),
        (["merge", "{good}"], "the following arguments are required: --to"),
        (["mrge"], "invalid choice: 'mrge'"),
    ],
)
def test_wrong_commands_are_told(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = tmp_path / "good.json"
    run = '{"id": "a", "started": "2026-03-01T08:00:00Z"}'
    good.write_text(f'{{"promptfuzz": "report", "format": 1, "run": {run}, "tests": []}}')
    assert main(["report", *(each.replace("{good}", str(good)) for each in arguments)]) == 2
    assert message in capsys.readouterr().err


WORKERS = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "xdist"])


@WORKERS
def test_a_file_that_cannot_be_collected_is_reported_in_the_place_of_a_green_run(project, pytester, workers):
    reports = "--promptfuzz-report=md:report.md,json:report.json,html:report.html,github"
    passing = "@robust(TRIAGE, mutations=2, controls=0)\ndef test_it(prompt):\n    return str(prompt)[:0] + 'BILLING'\n"
    assert project(passing, reports).ret == 0
    assert "### ✅" in (pytester.path / "report.md").read_text()
    result = project(f"import there_is_none\n{passing}", reports, *workers)
    assert result.ret == (pytest.ExitCode.TESTS_FAILED if workers else pytest.ExitCode.INTERRUPTED)
    text = (pytester.path / "report.md").read_text()
    assert "### ⚠️ Prompt robustness: pytest could not collect 1 file; no robust test ran" in text
    assert "`test_it.py`: `ModuleNotFoundError: No module named 'there_is_none'`" in text
    assert "pytest could not collect 1 file" in (pytester.path / "report.html").read_text()
    (found,) = json.loads((pytester.path / "report.json").read_text())["unjudged"]
    assert (found["test"], found["outcome"]) == ("test_it.py", "uncollected")
    line = 1 + (pytester.path / "test_it.py").read_text().split("\n").index("import there_is_none")
    assert f"::error file=test_it.py,line={line},title=Not judged" in result.stdout.str()


@pytest.mark.parametrize("style", ["auto", "native"])
@pytest.mark.parametrize(
    ("source", "helper", "place", "message"),
    [
        (
            "x = 1\n\n\ndef f():\n    this is (\n",
            "",
            "tests/test_it.py,line=5",
            "SyntaxError: '(' was never closed",
        ),
        (
            "import helper\n",
            "def f():\n    raise ValueError('no\\nkey')\nf()\n",
            "tests/helper.py,line=2",
            "ValueError: no",
        ),
        (
            "\nimport there_is_none\n",
            "",
            "tests/test_it.py,line=2",
            "ModuleNotFoundError: No module named 'there_is_none'",
        ),
        (
            "from helper import there_is_none\n",
            "",
            "tests/test_it.py,line=1",
            "ImportError: cannot import name 'there_is_none' from 'helper' (tests/helper.py)",
        ),
    ],
    ids=["syntax", "helper", "module", "name"],
)
def test_what_cannot_be_collected_has_the_place_and_the_line_of_its_error(
    pytester, monkeypatch, source, helper, place, message, style
):
    monkeypatch.setenv("COLUMNS", "400")
    for name in ("test_it", "helper"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    folder = pytester.mkdir("tests")
    (folder / "helper.py").write_text(helper)
    (folder / "test_it.py").write_text(f"{source}# robust\n")
    pytester.makefile(".ini", pytest="[pytest]")
    monkeypatch.chdir(folder)
    result = pytester.runpytest("--promptfuzz-report=github", f"--tb={style}")
    (line,) = [each for each in result.outlines if each.startswith("::error")]
    assert line.startswith(f"::error file={place},title=Not judged")
    if style == "auto":
        assert line.endswith(f"::{message}")


def test_without_reports_what_cannot_be_collected_is_kept_where_it_is_ours(project, pytester, monkeypatch):
    monkeypatch.chdir(pytester.path)
    pytester.makepyfile(test_other="import there_is_none")
    assert pytester.runpytest("test_other.py").ret == pytest.ExitCode.INTERRUPTED
    assert not (pytester.path / ".promptfuzz").exists(), "a project without robust tests gets no folder"
    project("import there_is_none\n@robust\ndef test_it(prompt): ...", "test_it.py")
    assert main(["report", "--to", "md:report.md"]) == 0
    assert "pytest could not collect 1 file" in (pytester.path / "report.md").read_text()
