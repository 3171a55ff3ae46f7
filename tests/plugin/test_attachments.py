"""pytest-html and allure, by real runs: what their reports hold of robust tests, and that nothing is loaded without them."""

from __future__ import annotations

import html
import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.with_plugins("allure_pytest", "html", "html_fixtures", "metadata")

SOURCE = r"""
from pytest_promptfuzz import TargetError

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)> \x1b[31m </pre> &amp;"

@robust(TRIAGE.fill(ticket=TICKET), mutations=4)
def test_sound(prompt, llm):
    return llm(prompt)

@robust(TRIAGE.fill(ticket=TICKET), mutations=4)
def test_brittle(prompt):
    return HOSTILE if str(prompt) == str(TRIAGE.fill(ticket=TICKET)) else f"no {HOSTILE}"

@robust(TRIAGE.fill(ticket=TICKET), mutations=4)
def test_open(prompt):
    if str(prompt) != str(TRIAGE.fill(ticket=TICKET)):
        raise TargetError("429 Too many requests", kind="rate-limit", status=429)
    return "BILLING"

def test_ordinary():
    pass
"""
WORKERS = pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["plain", "xdist"])


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def html_report(path: Path) -> dict[str, list[dict[str, Any]]]:
    """The rows of pytest-html's report, by test."""
    blob = re.search(r'data-jsonblob="(.*?)"', path.read_text(encoding="utf-8"))
    assert blob is not None
    found: dict[str, list[dict[str, Any]]] = json.loads(html.unescape(blob[1]))["tests"]
    return {name.rpartition("::")[2]: rows for name, rows in found.items()}


@WORKERS
def test_pytest_html_shows_each_robust_test_once_with_its_failure_and_edit(project, pytester, workers):
    result = project(SOURCE, "--html=out.html", "--self-contained-html", "--promptfuzz-shrink=40", *workers)
    result.assert_outcomes(passed=2, failed=1, errors=1)
    rows = html_report(pytester.path / "out.html")
    assert {name: [each["result"] for each in every] for name, every in rows.items()} == {
        "test_sound": ["Passed"],
        "test_brittle": ["Failed"],
        "test_open": ["Error"],
        "test_ordinary": ["Passed"],
    }
    assert "test_it.py::test_open::verdict</td>" in "".join(rows["test_open"][0]["resultsTableRow"])
    extras = {
        name: {each["format_type"]: each["content"] for each in every[0]["extras"]}
        for name, every in rows.items()
    }
    assert extras["test_ordinary"] == {}
    assert set(extras["test_sound"]) == {"html"}
    assert "Prompt robustness</b>: pass: score 1.00 &gt;= 0.85" in extras["test_sound"]["html"]
    shown = extras["test_brittle"]["html"]
    seen = Tags(shown)
    assert set(seen.tags) <= {"p", "b", "pre", "code", "del", "ins"}
    assert "The smallest change that breaks it" in seen.text
    assert {"del", "ins"} & set(seen.tags)
    assert "<script>alert(1)</script>" in seen.text
    assert "\x1b" not in seen.text
    assert "--promptfuzz-trial=" in seen.text
    assert "inconclusive: 4 of 4 trials are errors (rate-limit)" in extras["test_open"]["html"]
    assert "Brittle" in rows["test_brittle"][0]["log"]


def test_pytest_html_counts_an_untrusted_verdict_as_an_error(project, pytester):
    project(SOURCE, "--html=out.html").assert_outcomes(passed=2, failed=1, errors=1)
    page = (pytester.path / "out.html").read_text(encoding="utf-8")
    assert "1 Errors" in page
    assert "1 Failed" in page
    (attached,) = (pytester.path / "assets").glob("*test_brittle*.json")
    report = json.loads(attached.read_text(encoding="utf-8"))
    assert (report["verdict"], report["test"]) == ("brittle", "test_it.py::test_brittle")


def allure_results(folder: Path) -> dict[str, dict[str, Any]]:
    """Allure's results, by test, with what is attached in place of its files' names."""
    found = {}
    for path in folder.glob("*-result.json"):
        result = json.loads(path.read_text(encoding="utf-8"))
        for each in result.get("attachments", []):
            each["content"] = (folder / each["source"]).read_text(encoding="utf-8")
        assert result["name"] not in found
        found[result["name"]] = result
    return found


@WORKERS
def test_allure_is_told_verdict_score_and_failure(project, pytester, workers):
    project(SOURCE, "--alluredir=allure", *workers).assert_outcomes(passed=2, failed=1, errors=1)
    results = allure_results(pytester.path / "allure")
    assert {name: each["status"] for name, each in results.items()} == {
        "test_sound": "passed",
        "test_brittle": "failed",
        "test_open": "broken",
        "test_ordinary": "passed",
    }
    assert "attachments" not in results["test_ordinary"]
    brittle = results["test_brittle"]
    assert brittle["statusDetails"]["message"].startswith("brittle: 4 of 4 trials deviate")
    assert "Brittle" in brittle["statusDetails"]["trace"]
    text, report = brittle["attachments"]
    assert (text["name"], text["type"]) == ("Prompt robustness", "text/plain")
    assert "double-space" in text["content"]
    assert "promptfuzz-trial=" in text["content"]
    assert "\x1b" not in text["content"]
    assert json.loads(report["content"])["verdict"] == "brittle"
    labels = {each["name"]: each["value"] for each in brittle["labels"]}
    assert labels["promptfuzz_verdict"] == "brittle"
    parameters = {each["name"]: each for each in brittle["parameters"]}
    assert parameters["promptfuzz score"]["value"] == "0.0"
    assert all(each["excluded"] for each in parameters.values()), "or the test's history would break"
    assert results["test_open"]["statusDetails"]["message"].startswith(
        "inconclusive: 4 of 4 trials are errors (rate-limit)"
    )


def test_allure_keeps_a_tests_history_when_its_score_changes(project, pytester):
    histories = []
    for answer in ("no", "BILLING"):
        source = (
            "@robust(TRIAGE.fill(ticket=TICKET), mutations=4)\ndef test_it(prompt):\n"
            f"    return 'BILLING' if str(prompt) == str(TRIAGE.fill(ticket=TICKET)) else {answer!r}\n"
        )
        project(source, "--alluredir=allure", "--clean-alluredir")
        histories.append(allure_results(pytester.path / "allure")["test_it"])
    assert [each["status"] for each in histories] == ["failed", "passed"]
    assert histories[0]["historyId"] == histories[1]["historyId"]


@pytest.mark.parametrize(("effect", "status"), [("pass", "passed"), ("skip", "skipped"), ("fail", "failed")])
def test_allure_agrees_with_what_a_verdict_is_made(project, pytester, effect, status):
    project(SOURCE, "--alluredir=allure", f"--promptfuzz-inconclusive={effect}")
    assert allure_results(pytester.path / "allure")["test_open"]["status"] == status


DRIFTING = """
import os

@robust(TRIAGE.fill(ticket=TICKET), mutations=4)
def test_drifts(prompt):
    return os.environ["SAYS"] if str(prompt) else ""
"""


def test_drift_is_shown_and_where_it_fails_it_is_why(project, pytester, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("SAYS", "BILLING")
    project(DRIFTING, "--promptfuzz-update").assert_outcomes(passed=1)
    monkeypatch.setenv("SAYS", "<b>OTHER")
    options = ("--html=out.html", "--alluredir=allure", "--clean-alluredir", "--junitxml=out.xml")
    project(DRIFTING, *options).assert_outcomes(passed=1)
    result = allure_results(pytester.path / "allure")["test_drifts"]
    assert (result["status"], "statusDetails" in result) == ("passed", False)
    project(DRIFTING, *options, "--promptfuzz-model-drift=fail").assert_outcomes(failed=1)
    result = allure_results(pytester.path / "allure")["test_drifts"]
    assert result["status"] == "failed"
    assert result["statusDetails"]["message"].startswith("drift: the model changed")
    (row,) = html_report(pytester.path / "out.html")["test_drifts"]
    seen = Tags(row["extras"][0]["content"])
    assert row["result"] == "Failed"
    assert set(seen.tags) == {"p", "b", "pre"}
    assert "the model changed" in seen.text
    assert "BILLING" in seen.text
    assert "<b>OTHER" in seen.text
    report = (pytester.path / "out.xml").read_text(encoding="utf-8")
    assert 'name="promptfuzz_drift" value="model"' in report
    assert 'failure message="drift: the model changed' in report


CONFTEST = """
import sys
from pathlib import Path

def pytest_unconfigure(config):
    here = Path("loaded")
    here.mkdir(exist_ok=True)
    (here / str(id(config))).write_text("\\n".join(sorted(sys.modules)))
"""


@WORKERS
def test_nothing_is_loaded_where_no_such_report_is_written(project_process, pytester, workers):
    pytester.makeconftest(CONFTEST)
    project_process(SOURCE, "-p", "no:allure_pytest", "-p", "no:html", "-p", "no:html_fixtures", *workers)
    every = [set(each.read_text().split("\n")) for each in (pytester.path / "loaded").iterdir()]
    assert len(every) == (2 if workers else 1)
    for loaded in every:
        assert "pytest_promptfuzz.plugin.hooks" in loaded
        assert not {
            each for each in loaded if each.partition(".")[0] in {"allure", "allure_commons", "pytest_html"}
        }
