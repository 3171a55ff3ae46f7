"""What GitHub, GitLab and readers of SARIF are told of a run, read back as they read it."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import handmade
import jsonschema
import pytest
from hostile_texts import HOSTILE, with_text
from hypothesis import given
from hypothesis import strategies as st
from made_documents import judged, made, run
from workflow_commands import commands, values

from pytest_promptfuzz.reporting.hosts import (
    HOSTS,
    MOST_ANNOTATIONS,
    RULES,
    SUMMARY_LIMIT,
    findings,
    github_report,
    gitlab_report,
    output,
    placed,
    sarif_report,
    write_github,
)
from pytest_promptfuzz.reporting.markdown import markdown_report

if TYPE_CHECKING:
    from collections.abc import Callable

SCHEMA = json.loads(
    (Path(__file__).parents[1] / "data" / "sarif-2.1.0.schema.json").read_text(encoding="utf-8")
)
OUTCOMES = {"pass": "passed", "brittle": "failed", "noisy": "error", "inconclusive": "error"}


def named(make: Callable[[], Any], name: str, **given: Any) -> Any:
    test = make()
    return {**test, "outcome": OUTCOMES[test["verdict"]], "test": f"tests/test_it.py::{name}", **given}


def drift(policy: str, kind: str = "model") -> dict[str, Any]:
    said = {"message": "another answer", "before": "a", "after": "b", "case": 0, "p": None}
    return {"kind": kind, "policy": policy, **said}


LOST = {
    "test": "tests/test_it.py::test_lost",
    "outcome": "error",
    "message": "ConfigurationError: no key",
    "location": ("tests/test_it.py", 30),
}


def whole() -> Any:
    """One of each kind of finding."""
    return made(
        named(handmade.passing, "test_sound"),
        named(handmade.brittle, "test_brittle", score=0.625, location=("tests/test_it.py", 12)),
        named(handmade.rate_limited, "test_limited", location=None),
        named(handmade.passing, "test_noisy", verdict="noisy", outcome="passed", score=0.5),
        named(handmade.brittle, "test_expected", outcome="xfailed", score=0.7),
        named(handmade.passing, "test_drifted", drift=[drift("warn"), drift("ignore", "prompt")]),
        named(handmade.passing, "test_changed", outcome="failed", drift=[drift("fail", "prompt")]),
        named(handmade.passing, "test_teardown", outcome="failed"),
        unjudged=[LOST],
    )


def test_findings_are_the_worst_first_and_what_is_expected_is_a_note() -> None:
    told = [(each.level, each.kind, each.test.rpartition("_")[2]) for each in findings(whole())]
    assert told == [
        ("error", "brittle", "brittle"),
        ("error", "unjudged", "lost"),
        ("error", "failed", "teardown"),
        ("error", "drift", "changed"),
        ("warning", "drift", "drifted"),
        ("warning", "inconclusive", "limited"),
        ("note", "brittle", "expected"),
        ("note", "noisy", "noisy"),
    ]


def test_a_condition_that_is_met_is_an_error_and_worse_without_one_a_warning() -> None:
    document = with_text(made(named(handmade.passing, "test_a")), "x")
    document["unjudged"], document["tests"][0]["drift"], document["changes"]["answers"] = [], [], []
    name = document["tests"][0]["test"]
    document["changes"]["conditions"] = [{"expression": "score drop > 0.05", "tests": [name]}]
    (found,) = findings(document)
    assert (found.level, found.kind, found.line) == ("error", "condition", 12)
    (told,) = commands("\n".join(github_report(document).annotations))
    assert told.properties["title"].startswith("Condition met: ")
    assert found.message == "meets the condition 'score drop > 0.05' of --promptfuzz-fail-on"
    assert values(github_report(document).outputs)["verdict"] == "failed"
    document["changes"]["conditions"] = []
    assert values(github_report(document).outputs)["verdict"] == "passed"
    (found,) = findings(document)
    assert (found.level, found.kind, found.message) == ("warning", "worse", "x")


def test_a_changed_answer_is_told_with_both_in_the_annotation_of_its_test() -> None:
    document: Any = with_text(made(named(handmade.passing, "test_a")), "x")
    document["unjudged"], document["tests"][0]["drift"], document["changes"]["tests"] = [], [], []
    document["changes"]["conditions"] = []
    changed, open_, other = document["changes"]["answers"]
    assert (open_["finding"], other["finding"]) == ("cannot tell", "not compared")
    document["changes"]["answers"] = [changed, other]
    name = document["tests"][0]["test"]
    changed |= {"test": name, "before": "within 14 days", "after": "within 30 days", "input": "late"}
    (found,) = findings(document)
    assert (found.level, found.kind, found.line) == ("warning", "answer", 12)
    assert found.message == "the answer changed on input late: within 14 days → within 30 days"
    document["changes"]["conditions"] = [{"expression": "answer change", "tests": [name]}]
    (told,) = commands("\n".join(github_report(document).annotations))
    assert told.name == "error"
    assert told.message.split("\n") == [
        "meets the condition 'answer change' of --promptfuzz-fail-on",
        "the answer changed on input late: within 14 days → within 30 days",
    ]


def test_an_answer_that_cannot_be_told_is_a_warning_of_its_own() -> None:
    document: Any = with_text(made(named(handmade.passing, "test_a")), "x")
    document["unjudged"], document["tests"][0]["drift"], document["changes"]["tests"] = [], [], []
    document["changes"]["conditions"] = []
    (open_,) = (each for each in document["changes"]["answers"] if each["finding"] == "cannot tell")
    open_ |= {"test": document["tests"][0]["test"], "before": "14 days", "after": "two weeks", "input": ""}
    open_["explanation"] = "no installed comparison can tell"
    document["changes"]["answers"] = [open_]
    (found,) = findings(document)
    assert (found.level, found.kind, found.line) == ("warning", "untold", 12)
    assert found.message == (
        "cannot tell whether the answer changed: 14 days → two weeks; no installed comparison can tell"
    )
    (told,) = commands("\n".join(github_report(document).annotations))
    assert (told.name, told.properties["title"].partition(":")[0]) == ("warning", "Answer may have changed")


def test_drift_that_meets_a_condition_is_told_once_and_as_an_error() -> None:
    drifted = named(handmade.passing, "test_a", drift=[drift("warn"), drift("warn", "prompt")])
    document: Any = with_text(made(drifted), "x")
    document["unjudged"], document["changes"]["tests"], document["changes"]["answers"] = [], [], []
    document["tests"][0]["drift"] = [drift("warn"), drift("warn", "prompt")]
    name = document["tests"][0]["test"]

    def told(expression: str) -> list[tuple[str, str, bool]]:
        document["changes"]["conditions"] = [{"expression": expression, "tests": [name]}]
        return [(each.level, each.kind, repr(expression) in each.message) for each in findings(document)]

    assert told("Prompt drift") == [("error", "drift", True), ("warning", "drift", False)]
    assert told("drift") == [("error", "drift", True), ("error", "drift", True)]
    both = [("warning", "drift", False), ("warning", "drift", False)]
    assert told("any cost") == [("error", "condition", True), *both]
    assert told("comparator drift") == [("error", "condition", True), *both]


def test_a_fingerprint_stays_while_the_finding_does() -> None:
    before = {each.fingerprint for each in findings(whole())}
    assert len(before) == 8
    moved = whole()
    for each in moved["tests"]:
        each |= {"location": ("tests/test_it.py", 99), "score": 0.3}
    assert {each.fingerprint for each in findings(moved)} == before
    moved["tests"][1]["test"] += "_renamed"
    assert len({each.fingerprint for each in findings(moved)} & before) == 7


def test_models_of_a_merged_report_have_findings_of_their_own() -> None:
    one, other = (
        named(handmade.brittle, "test_a"),
        named(handmade.brittle, "test_a", target="anthropic:claude"),
    )
    found = findings(made(one, other))
    assert len({each.fingerprint for each in found}) == 2
    assert found[1].message.startswith("anthropic:claude: brittle: 3 of 8 trials deviate")


def test_github_is_told_the_line_and_why() -> None:
    told = commands("\n".join(github_report(whole()).annotations))
    assert [each.name for each in told] == ["error"] * 4 + ["warning"] * 2 + ["notice"] * 2
    assert told[0].properties == {
        "file": "tests/test_it.py",
        "line": "12",
        "title": "Brittle prompt: tests/test_it.py::test_brittle",
    }
    assert told[0].message.split("\n") == [
        "brittle: 3 of 8 trials deviate (synonym, politeness, sentence-shuffle), score 0.62 < 0.85",
        "Edit: Classify the [-sentiment-]{+mood+} of the following text as …",
        "Answer: POSITIVE → The text expresses a positive sentiment.",
    ]
    of_tests = [each.properties["title"].partition(": ")[2] for each in told]
    assert len(of_tests) == len(set(of_tests)), "a test has one annotation"
    assert told[5].properties == {"title": "Inconclusive: tests/test_it.py::test_limited"}


def test_github_shows_ten_of_a_level_so_the_tenth_says_how_many_more() -> None:
    tests = [named(handmade.brittle, f"test_{n:02}", score=n / 100) for n in range(40)]
    told = github_report(made(*reversed(tests))).annotations
    assert len(told) == MOST_ANNOTATIONS == 10
    assert "test_00" in told[0]
    assert "test_08" in told[8]
    assert told[9] == "::error title=Prompt robustness::31 more errors; the step's summary has all of them"
    ten = github_report(made(*tests[:10])).annotations
    assert len(ten) == 10
    assert "more" not in ten[9]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_others_is_a_command_to_a_runner(text: str) -> None:
    document = with_text(whole(), text)
    told = github_report(document)
    for line in told.annotations:
        (command,) = commands(line)
        assert command.name in {"error", "warning", "notice"}
        assert set(command.properties) <= {"file", "line", "title"}
        assert not commands(command.message)
        assert "\n" not in line
        assert "\r" not in line
        assert "\x1b" not in line
    assert set(values(told.outputs)) == set(values(github_report(whole()).outputs))
    assert not commands(told.summary)


def test_output_values_are_figures() -> None:
    whole_ = whole()
    whole_["tests"][0]["cost"] = 0.0123
    whole_["tests"][1]["cost"] = 0.01
    assert values(github_report(whole_).outputs) == {
        "verdict": "failed",
        "headline": "2 brittle, 1 noisy, 1 inconclusive, 1 not judged, 4 passed of 9 robust tests; 2 of these "
        "expected or let through; 2 drifted; 1 failed for another reason than the prompt",
        "tests": "9",
        "failed": "5",
        "brittle": "2",
        "noisy": "1",
        "inconclusive": "1",
        "unjudged": "1",
        "drifted": "2",
        "worse": "0",
        "answers": "0",
        "score_min": "0.5",
        "cost": "0.022300",
    }
    empty = values(github_report(made()).outputs)
    assert (empty["verdict"], empty["tests"], empty["score_min"], empty["cost"]) == ("empty", "0", "", "")
    assert values(github_report(made(run=run(complete=False))).outputs)["verdict"] == "error"


@given(st.text(st.characters(codec="utf-8") | st.sampled_from("\r\n=<promtfuz_")))
def test_an_output_value_is_read_back_whatever_it_is(text: str) -> None:
    assert values(output("a", text) + output("b", "1")) == {"a": text, "b": "1"}


def test_a_score_that_is_open_is_not_the_lowest() -> None:
    test = named(handmade.rate_limited, "test_open", score=0.1, bounds=(0.1, 1.0))
    assert values(github_report(made(test)).outputs)["score_min"] == ""
    both = made(test, named(handmade.brittle, "test_brittle"))
    assert values(github_report(both).outputs)["score_min"] == "0.625"


def test_names_with_signs_of_commands_are_read_back() -> None:
    name = "test_a[x, y: 100% =1,file=b.py]"
    (line,) = github_report(made(named(handmade.brittle, name, location=("a,b%.py", 3)))).annotations
    (told,) = commands(line)
    assert told.properties == {
        "file": "a,b%.py",
        "line": "3",
        "title": f"Brittle prompt: tests/test_it.py::{name}",
    }


def test_the_delimiter_of_an_output_value_is_not_in_it() -> None:
    text = "promptfuzz\npromptfuzz_\nverdict=passed"
    assert output("a", text) == f"a<<promptfuzz__\n{text}\npromptfuzz__\n"


def test_github_is_written_where_the_environment_says(tmp_path: Path) -> None:
    summary, outputs, log = tmp_path / "summary", tmp_path / "outputs", []
    summary.write_text("what a step wrote before\n", encoding="utf-8")
    outputs.write_text("mine=1\n", encoding="utf-8")
    environment = {"GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(outputs)}
    write_github(whole(), environment, log.append)
    assert log == github_report(whole()).annotations
    assert summary.read_text(encoding="utf-8") == "what a step wrote before\n" + markdown_report(whole())
    assert values(outputs.read_text(encoding="utf-8"))["mine"] == "1"
    assert values(outputs.read_text(encoding="utf-8"))["brittle"] == "2"


def test_outside_of_github_there_are_annotations_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    log: list[str] = []
    write_github(whole(), {}, log.append)
    assert len(log) == 8
    assert list(tmp_path.iterdir()) == []


def test_a_summary_is_shared_with_what_the_step_wrote_before(tmp_path: Path) -> None:
    """GitHub shows nothing at all of a summary that is too long."""
    many = made(*(named(handmade.brittle, f"test_{n:04}") for n in range(1200)))
    assert len(markdown_report(many, limit=10**8)) > SUMMARY_LIMIT
    summary = tmp_path / "summary"
    for before in (0, 1_000_000, SUMMARY_LIMIT - 100, SUMMARY_LIMIT + 100):
        summary.write_text("x" * before, encoding="utf-8")
        write_github(many, {"GITHUB_STEP_SUMMARY": str(summary)}, lambda _: None)
        after = summary.stat().st_size
        assert after <= max(SUMMARY_LIMIT, before)
        assert (after > before) == (before < SUMMARY_LIMIT - 2_000)


def test_gitlab_has_an_issue_for_each_finding() -> None:
    issues = json.loads(gitlab_report(whole()))
    assert [each["check_name"].removeprefix("promptfuzz-") for each in issues] == [
        "brittle",
        "unjudged",
        "failed",
        "drift",
        "drift",
        "inconclusive",
        "brittle",
        "noisy",
    ]
    severities = ["critical", "major", "major", "major", "minor", "minor", "info", "info"]
    assert [each["severity"] for each in issues] == severities
    assert issues[0]["location"] == {"path": "tests/test_it.py", "lines": {"begin": 12}}
    assert issues[0]["description"].startswith(
        "tests/test_it.py::test_brittle: brittle: 3 of 8 trials deviate"
    )
    assert issues[5]["location"] == {"path": "tests/test_it.py", "lines": {"begin": 1}}  # GitLab refuses none
    assert len({each["fingerprint"] for each in issues}) == 8
    assert gitlab_report(made(named(handmade.passing, "test_a"))) == "[]\n"


@pytest.mark.parametrize("text", ["plain", *HOSTILE])
def test_sarif_is_valid_by_its_own_schema(text: str) -> None:
    told = json.loads(sarif_report(with_text(whole(), text)))
    jsonschema.Draft7Validator(SCHEMA).validate(told)
    (one,) = told["runs"]
    for each in one["results"]:
        assert one["tool"]["driver"]["rules"][each["ruleIndex"]]["id"] == each["ruleId"]
        message = each["message"]["text"].replace("\\\\", "")
        assert "](" not in message.replace("\\]", "")  # a link
        assert "{0}" not in message.replace("{{", "").replace("}}", "")
    json.loads(gitlab_report(with_text(whole(), text)))


def test_sarif_has_a_rule_for_each_kind_and_a_result_for_each_finding() -> None:
    (one,) = json.loads(sarif_report(whole()))["runs"]
    assert [each["id"] for each in one["tool"]["driver"]["rules"]] == [f"promptfuzz/{kind}" for kind in RULES]
    assert [each["level"] for each in one["results"]] == ["error"] * 4 + ["warning"] * 2 + ["note"] * 2
    first = one["results"][0]
    assert first["partialFingerprints"] == {"promptfuzz/v1": findings(whole())[0].fingerprint}
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "tests/test_it.py", "uriBaseId": "SRCROOT"},
        "region": {"startLine": 12},
    }
    (ended,) = json.loads(sarif_report(made(run=run(complete=False))))["runs"]
    assert ended["invocations"] == [{"executionSuccessful": False}]
    assert ended["results"] == []


def test_paths_with_blanks_are_uris() -> None:
    test = named(handmade.brittle, "test_a", location=("tests/a b#c.py", 3))
    (one,) = json.loads(sarif_report(made(test)))["runs"]
    place = one["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "tests/a%20b%23c.py"


@pytest.mark.parametrize("variable", ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"])
@pytest.mark.parametrize("started", [".", "python", "python/tests"])
def test_paths_are_those_of_the_repository_where_pytest_ran_in_a_folder_of_it(
    tmp_path: Path, variable: str, started: str
) -> None:
    tests = tmp_path / "python" / "tests"
    tests.mkdir(parents=True)
    (tests / "test_it.py").touch()
    path = "python/tests/test_it.py" if started == "." else "tests/test_it.py"
    document = made(
        named(handmade.brittle, "test_a", location=(path, 3)), unjudged=[{**LOST, "location": None}]
    )
    moved = placed(document, {variable: str(tmp_path)}, tmp_path / started)
    assert moved["tests"][0]["location"] == ("python/tests/test_it.py", 3)
    assert moved["unjudged"][0]["location"] is None
    assert document["tests"][0]["location"] == (path, 3)


def test_paths_stay_where_no_host_says_what_the_repository_is(tmp_path: Path) -> None:
    document = made(named(handmade.brittle, "test_a", location=("../x.py", 3)))
    assert placed(document, {}, tmp_path) is document
    assert placed(document, {"GITHUB_WORKSPACE": str(tmp_path / "other")}, tmp_path) is document


def test_formats_are_known_by_name() -> None:
    document = made(judged("test_sound", mutations=2))
    before = copy.deepcopy(document)
    told = {name: render(document) for name, render in HOSTS.items()}
    assert told == {
        "md": markdown_report(document),
        "gitlab": "[]\n",
        "sarif": sarif_report(document),
    }
    assert document == before
