"""What a comment on a pull request says that the base has, too, and what it shows as new: by real runs."""

from __future__ import annotations

import json

import pytest

from tests.plugin.conftest import PROMPT

APP = """
import os

TEXT = os.environ.get("TEXT", "Name one of these teams: billing, shipping.\\nTicket: {ticket}")
_SEEN = []

def application(text):
    if text == TEXT.format(ticket="I was charged twice."):
        return os.environ.get("SAYS", "billing")
    if text not in _SEEN:
        _SEEN.append(text)
    return "shipping" if _SEEN.index(text) < int(os.environ.get("BAD", "0")) else os.environ.get("SAYS", "billing")

@robust(Prompt(TEXT), mutations=8, controls=0, stop="never", threshold=0.5, shrink=0)
def test_app(prompt):
    return application(prompt.format(ticket="I was charged twice."))
"""
BESIDE = """
@robust(TRIAGE.fill(ticket=TICKET), mutations=4, controls=0, shrink=0)
def test_sound(prompt):
    return "BILLING" if str(prompt) else ""
"""
ANOTHER = "Name one of these teams: billing, shipping.\nAnswer now.\nTicket: {ticket}"


@pytest.fixture
def comment(project, pytester, monkeypatch):
    """Run the test with an environment, and give the comment; the table and what is folded with it come apart."""

    def run(*arguments: str, **environment: str) -> tuple[str, str]:
        for name in ("TEXT", "SAYS", "BAD"):
            monkeypatch.delenv(name, raising=False)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        project(APP, "--promptfuzz-report=md:comment.md", *arguments)
        text = (pytester.path / "comment.md").read_text(encoding="utf-8")
        shown, _, folded = text.partition("<details><summary>The test")
        return shown, folded

    return run


def test_new_deviations_stand_unfolded_with_edit_and_answers_until_the_base_has_them(comment):
    comment("--promptfuzz-save=clean")
    shown, folded = comment("--promptfuzz-compare=clean", "--promptfuzz-save=bad", BAD="2")
    assert "**What else is new**" in shown
    assert "2 new deviations by" in shown
    assert "#### `test_it.py::test_app`" in shown
    assert "```diff\n- " in shown
    assert "Response:\n\n```\n  shipping\n```" in shown
    assert folded.startswith("</summary>"), folded[:200]
    assert "the base has" not in shown + folded
    # The same run beside one that has both: nothing is new.
    shown, folded = comment("--promptfuzz-compare=bad", BAD="2")
    assert "What else is new" not in shown
    assert "shipping" not in shown


def test_a_deviation_of_a_changed_prompt_is_new_where_the_base_has_none(comment):
    comment("--promptfuzz-save=clean")
    shown, folded = comment("--promptfuzz-compare=clean", TEXT=ANOTHER, BAD="1")
    assert "- `test_it.py::test_app`: 1 deviation; the base has none" in shown
    assert "Response:\n\n```\n  shipping\n```" in shown
    assert "the base has, too" not in folded
    comment("--promptfuzz-save=two", BAD="2")
    shown, _ = comment("--promptfuzz-compare=two", TEXT=ANOTHER, BAD="3")
    assert "- `test_it.py::test_app`: 3 deviations, of other trials than in the base" in shown


def test_what_cannot_be_compared_is_claimed_of_no_base(comment):
    threshold = "--promptfuzz-override=threshold=1.0"
    comment("--promptfuzz-save=brittle", threshold, BAD="2")
    _, folded = comment("--promptfuzz-compare=brittle", threshold, BAD="2")
    assert folded.startswith(", and 1 finding that the base has, too</summary>")
    _, folded = comment("--promptfuzz-compare=brittle", threshold, BAD="2", TEXT=ANOTHER)
    assert folded.startswith(", and 1 finding that cannot be compared with the base</summary>"), folded[:100]


def test_drift_is_new_until_the_base_has_it(comment):
    comment("--promptfuzz-update", "--promptfuzz-save=clean")
    live = ("--promptfuzz-mode=live",)
    shown, folded = comment(*live, "--promptfuzz-compare=clean", "--promptfuzz-save=drifted", SAYS="shipping")
    assert "**Drift**: the model changed" in shown
    assert "Snapshot:\n\n```\n  billing\n```" in shown
    assert "the base has, too" not in folded
    shown, folded = comment(*live, "--promptfuzz-compare=drifted", SAYS="shipping")
    assert "**Drift**" not in shown
    assert folded.startswith(", and 1 finding that the base has, too</summary>")


TWO = """
import os

def application(text):
    return "billing"

@robust(TRIAGE, mutations=2, controls=0)
def test_sound(prompt):
    return application(prompt.format(ticket=TICKET))

@robust(TRIAGE, mutations=2, controls=0)
def test_lost(prompt):
    assert not os.environ.get("LOST"), "the file is gone"
    return application(prompt.format(ticket=TICKET))
"""


def test_a_test_that_was_not_judged_is_no_test_that_did_not_change(project, pytester, monkeypatch):
    monkeypatch.delenv("LOST", raising=False)
    project(TWO, "--promptfuzz-save=both")
    monkeypatch.setenv("LOST", "1")
    wanted = "--promptfuzz-report=md:c.md,json:c.json,html:c.html"
    result = project(TWO, "--promptfuzz-compare=both", "--promptfuzz-fail-on=gone", wanted)
    result.stdout.fnmatch_lines(
        [
            "promptfuzz: compared with the run both (*): no test is better or worse, *; 1 test could not be compared",
            "promptfuzz: test_it.py::test_lost not compared: the test was not judged: AssertionError: the file is gone*",
            "promptfuzz: --promptfuzz-fail-on 'gone': not met",
        ]
    )
    text = (pytester.path / "c.md").read_text(encoding="utf-8")
    assert "- `test_it.py::test_lost`: pass before, not judged now" in text
    assert "<details><summary>All 2 tests</summary>" in text
    assert "| ❌ not judged | `test_it.py::test_lost` | - | - | - | could not be compared |" in text
    changes = json.loads((pytester.path / "c.json").read_text(encoding="utf-8"))["changes"]
    assert {each["test"]: each["status"] for each in changes["tests"]} == {
        "test_it.py::test_lost": "unjudged",
        "test_it.py::test_sound": "same",
    }


def test_tests_of_a_file_that_cannot_be_collected_are_not_gone(project, pytester):
    pytester.makepyfile(test_b=PROMPT + BESIDE)
    project(BESIDE, "--promptfuzz-save=base")
    (pytester.path / "test_b.py").write_text("def test_sound(:\n", encoding="utf-8")
    result = project(
        BESIDE,
        "--continue-on-collection-errors",
        "--promptfuzz-compare=base",
        "--promptfuzz-fail-on=gone",
        "--promptfuzz-report=json:report.json,md:comment.md",
    )
    result.stdout.fnmatch_lines(["promptfuzz: --promptfuzz-fail-on 'gone': not met"])
    rows = json.loads((pytester.path / "report.json").read_text(encoding="utf-8"))["changes"]["tests"]
    assert {each["test"]: each["status"] for each in rows} == {
        "test_it.py::test_sound": "same",
        "test_b.py::test_sound": "unjudged",
    }
    text = (pytester.path / "comment.md").read_text(encoding="utf-8")
    assert "`test_b.py::test_sound`: pass before, not judged now" in text
    assert "gone" not in text


def test_a_passing_test_with_nothing_found_is_no_finding(project, pytester):
    source = BESIDE.replace("mutations=4", 'mutations=4, accept_brittle="why", until="2099-03-01"')
    project(source, "--promptfuzz-save=base")
    project(source, "--promptfuzz-compare=base", "--promptfuzz-report=md:comment.md")
    text = (pytester.path / "comment.md").read_text(encoding="utf-8")
    assert "the base has, too" not in text


def test_drift_that_the_run_accepts_is_updated_and_no_drift(project, pytester, monkeypatch):
    for name in ("TEXT", "SAYS", "BAD"):
        monkeypatch.delenv(name, raising=False)
    project(
        APP, "--promptfuzz-update", "--promptfuzz-save=clean", "--promptfuzz-report=json:clean.json"
    ).assert_outcomes(passed=1)
    monkeypatch.setenv("TEXT", ANOTHER)
    wanted = (
        "--promptfuzz-report=md:c.md,html:c.html",
        "--promptfuzz-compare=clean",
        "--promptfuzz-fail-on=drift",
    )
    drifted = project(APP, *wanted)
    assert drifted.ret == pytest.ExitCode.TESTS_FAILED
    drifted.stdout.fnmatch_lines(["Drift: test_it.py::test_app: the prompt changed since the snapshot*"])
    kept = project(APP, "--promptfuzz-update=new", *wanted)
    assert kept.ret == pytest.ExitCode.TESTS_FAILED
    kept.stdout.fnmatch_lines(["Drift: *"])
    updated = project(APP, "--promptfuzz-update", *wanted)
    assert updated.ret == pytest.ExitCode.OK
    updated.stdout.fnmatch_lines(
        [
            "Updated: test_it.py::test_app: the prompt changed since the snapshot*",
            "promptfuzz: --promptfuzz-fail-on 'drift': not met",
        ]
    )
    assert "Drift: " not in updated.stdout.str()
    text = (pytester.path / "c.md").read_text(encoding="utf-8")
    assert "1 robust test passed; 1 snapshot updated\n" in text
    assert "- `test_it.py::test_app`: snapshot updated, the prompt changed since the snapshot" in text
    assert "drift" not in text.lower()
    # The words are known by the snapshot that is no longer there, and later by the report of the base.
    words = "- Name one of these teams: billing, shipping.⏎Ticket: {ticket}\n+ Name one of these teams: billing, shipping.⏎Answer now.⏎"
    assert f"- `test_it.py::test_app`: no effect seen\n\n```diff\n{words}" in text
    project(APP, wanted[0], "--promptfuzz-compare=clean.json")
    assert words in (pytester.path / "c.md").read_text(encoding="utf-8")
    page = (pytester.path / "c.html").read_text(encoding="utf-8")
    assert '<h1 tabindex="-1">1 robust test passed</h1>' in page
    assert "Changed prompts" in page
    assert "Answer now." in page
    project(APP, wanted[0], "--promptfuzz-compare=clean")
    text = (pytester.path / "c.md").read_text(encoding="utf-8")
    assert "no effect seen" in text
    assert "```diff" not in text


def test_the_page_says_what_the_comment_says(project, pytester, monkeypatch):
    for name in ("TEXT", "SAYS", "BAD"):
        monkeypatch.delenv(name, raising=False)
    project(APP, "--promptfuzz-save=clean")
    monkeypatch.setenv("SAYS", "shipping")
    wanted = "--promptfuzz-report=md:c.md,html:c.html"
    project(APP, "--promptfuzz-compare=clean", wanted)
    said = "1 robust test passed; 1 test answered otherwise than in the base"
    assert f"Prompt robustness: {said}\n" in (pytester.path / "c.md").read_text(encoding="utf-8")
    assert f">{said}</h1>" in (pytester.path / "c.html").read_text(encoding="utf-8")
    monkeypatch.delenv("SAYS")
    monkeypatch.setenv("BAD", "1")
    project(APP, "--promptfuzz-compare=clean", wanted)
    assert "| -0.125, cannot tell |" in (pytester.path / "c.md").read_text(encoding="utf-8")
    assert ">-0.125</span>" in (pytester.path / "c.html").read_text(encoding="utf-8")


def test_a_wide_heading_of_changed_answers_goes_on_near_the_left_edge(project, monkeypatch):
    for name in ("TEXT", "SAYS", "BAD"):
        monkeypatch.delenv(name, raising=False)
    project(APP, "--promptfuzz-save=a-name-that-is-rather-long-for-a-terminal")
    monkeypatch.setenv("SAYS", "shipping")
    monkeypatch.setenv("COLUMNS", "60")
    result = project(APP, "--promptfuzz-compare=a-name-that-is-rather-long-for-a-terminal")
    lines = result.outlines
    (place,) = [number for number, each in enumerate(lines) if each.startswith("1 answer changed since")]
    assert lines[place + 1].startswith("   ")
    assert not lines[place + 1].startswith("    ")
