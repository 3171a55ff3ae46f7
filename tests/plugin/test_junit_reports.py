"""JUnit reports of real runs, parsed: what stands there of each test and of the run, in one process and in several."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.reporting.document import version

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = """
from pytest_promptfuzz import TargetError

URGENCY = Prompt('''Classify the urgency of the support ticket into exactly one of these levels: high, medium, low.

- high: outages, lost payments, stolen accounts
- medium: late parcels, broken products
- low: questions, wishes, thanks

Answer with the level only.

Ticket: My payment is lost, and my parcel is late.''')

@robust(TRIAGE.fill(ticket=TICKET), mutations=4)
def test_sound(prompt, llm):
    return llm(prompt)

@robust(URGENCY, mutations={"bullet-reorder": 4}, shrink=40)
def test_brittle(prompt, llm):
    return llm(prompt)

@robust(TRIAGE.fill(ticket=TICKET), mutations=4)
def test_open(prompt):
    if str(prompt) != str(TRIAGE.fill(ticket=TICKET)):
        raise TargetError("429 Too many requests", kind="rate-limit", status=429)
    return "BILLING"

@robust(TRIAGE.fill(ticket=TICKET), mutations=4)
def test_fails_unmutated(prompt, llm):
    assert llm(prompt).text == "NOTHING LIKE IT"

def test_ordinary():
    pass
"""
SHOWN = {"errors": "1", "failures": "2", "skipped": "0", "tests": "5"}


def parsed(path: Path) -> tuple[ET.Element, dict[str, dict[str, str]]]:
    """The suite, and each test's properties."""
    suite = ET.parse(path).getroot()[0]
    return suite, {str(case.get("name")): properties(case) for case in suite.iter("testcase")}


def properties(node: ET.Element) -> dict[str, str]:
    found = node.find("properties")
    every = [] if found is None else [(str(each.get("name")), str(each.get("value"))) for each in found]
    assert len(dict(every)) == len(every), "a property stands twice"
    return dict(every)


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["plain", "xdist"])
def test_a_report_says_what_is_known_of_each_test_and_of_the_run(project, pytester, workers):
    project(SOURCE, "--junitxml=out.xml", "--promptfuzz-seed=3", *workers).assert_outcomes(
        passed=2, failed=2, errors=1
    )
    suite, tests = parsed(pytester.path / "out.xml")
    assert {name: suite.get(name) for name in SHOWN} == SHOWN
    kinds = {
        case.get("name"): next((kind for kind in ("failure", "error") if case.find(kind) is not None), None)
        for case in suite.iter("testcase")
    }
    assert kinds == {
        "test_sound": None,
        "test_brittle": "failure",
        "test_open": "error",
        "test_fails_unmutated": "failure",
        "test_ordinary": None,
    }
    sound = tests["test_sound"]
    assert {
        name: sound[f"promptfuzz_{name}"] for name in ("verdict", "reason", "score", "threshold", "target")
    } == {
        "verdict": "pass",
        "reason": "score-reached",
        "score": "1.0",
        "threshold": "0.85",
        "target": "simulated",
    }
    assert sound["promptfuzz_model"].startswith("simulated")
    outcomes = ("equivalent", "minor", "deviation", "undecided", "error", "not_needed")
    assert [sound[f"promptfuzz_trials_{each}"] for each in outcomes] == ["4", "0", "0", "0", "0", "0"]
    assert int(sound["promptfuzz_calls"]) + int(sound["promptfuzz_hits"]) == 5
    assert int(sound["promptfuzz_input_tokens"]) > int(sound["promptfuzz_output_tokens"]) > 0
    assert not {"promptfuzz_cost", "promptfuzz_counterexample", "promptfuzz_drift"} & {*sound}, "not known"
    brittle = tests["test_brittle"]
    assert brittle["promptfuzz_verdict"] == "brittle"
    assert int(brittle["promptfuzz_trials_deviation"]) > 0
    assert len(brittle["promptfuzz_counterexample"]) == 12
    edit = brittle["promptfuzz_smallest_edit"]
    assert "high: outages" in edit
    assert ("moved:" in edit) or ("reordered, " in edit) or ("[-" in edit)
    assert 0 <= float(brittle["promptfuzz_noise_p"]) <= 0.05
    assert tests["test_open"]["promptfuzz_trials_error"] == "4"
    assert tests["test_open"]["promptfuzz_reason"] == "errors-decide"
    assert tests["test_fails_unmutated"] == tests["test_ordinary"] == {}
    whole = properties(suite)
    judged = [each for each in tests.values() if each]
    assert whole == {
        "promptfuzz_version": version(),
        "promptfuzz_mode": "auto",
        "promptfuzz_seed": "3",
        "promptfuzz_tests": "3",
        "promptfuzz_tests_brittle": "1",
        "promptfuzz_tests_inconclusive": "1",
        "promptfuzz_tests_pass": "1",
        "promptfuzz_calls": str(sum(int(each["promptfuzz_calls"]) for each in judged)),
        "promptfuzz_hits": str(sum(int(each["promptfuzz_hits"]) for each in judged)),
    }


def test_workers_and_one_process_report_the_same(project, pytester):
    told = []
    for workers in ((), ("-n", "1")):
        project(SOURCE, "--junitxml=out.xml", "--promptfuzz-cache-dir", f"cache{len(told)}", *workers)
        suite, tests = parsed(pytester.path / "out.xml")
        told.append((properties(suite), tests))
    assert told[0] == told[1]


def test_what_a_model_says_is_legal_in_xml(project, pytester):
    source = r"""
ASKED = "Say yes. \x1b[31m \u202e ]]> <a b='c'> &amp; 😀 Or say no, as you like."
HOSTILE = "\x00 \ud800 \uffff \x1b[31m ]]> <a>&amp; 😀\r\n::error::x"

@robust(ASKED, mutations=4)
def test_compared(prompt):
    return HOSTILE if str(prompt) == ASKED else f"no {HOSTILE}"

@robust(ASKED, mutations=4)
def test_checked(prompt):
    assert str(prompt) == ASKED, HOSTILE
    return HOSTILE
"""
    result = project(source, "--junitxml=out.xml", "-o", "junit_logging=all", "--promptfuzz-shrink=40")
    result.assert_outcomes(failed=2)
    suite, tests = parsed(pytester.path / "out.xml")
    assert [each["promptfuzz_verdict"] for each in tests.values()] == ["brittle", "brittle"]
    assert all(each["promptfuzz_smallest_edit"] for each in tests.values())
    said = "".join(
        [text for each in tests.values() for text in each.values()]
        + [str(each.text) for each in suite.iter("failure")]
    )
    assert "&amp;" in said, "as the model wrote it"
    assert not re.search("[\x00-\x08\x1b\u202e\ud800-\udfff\uffff]", said)
    assert not re.search(r"^\s*::error", said, re.MULTILINE)


@pytest.mark.with_plugins("rerunfailures")
def test_a_test_that_is_run_again_has_each_property_once(project, pytester):
    source = """
ran = []

@robust(TRIAGE, mutations=4)
def test_flaky(prompt):
    ran.append(str(prompt))
    return "BILLING" if len(ran) > 40 or str(prompt) == ran[0] else f"OTHER {len(ran)}"
"""
    result = project(source, "--junitxml=out.xml", "--reruns", "3")
    assert "rerun" in result.stdout.str()
    _, tests = parsed(pytester.path / "out.xml")  # asserts that none stands twice
    assert "promptfuzz_verdict" in tests["test_flaky"]


def test_the_edit_that_a_search_found_and_what_it_asked(project, pytester):
    source = SOURCE.partition("@robust")[0] + (
        "@robust(URGENCY, search=True, queries=60)\ndef test_searched(prompt, llm):\n    return llm(prompt)\n"
    )
    project(source, "--junitxml=out.xml")
    found = parsed(pytester.path / "out.xml")[1]["test_searched"]
    assert found["promptfuzz_search_budget"] == "60"
    assert "promptfuzz_smallest_edit" in found
    assert "promptfuzz_score" not in found
    assert "promptfuzz_trials_deviation" not in found


def test_trials_beside_the_run_before(project, pytester):
    source = SOURCE.partition("@robust")[0] + (
        '@robust(TRIAGE.fill(ticket=TICKET), mutations=8, gate="no-worse")\n'
        "def test_held(prompt, llm):\n    return llm(prompt)\n"
    )
    project(source, "--promptfuzz-update").assert_outcomes(passed=1)
    project(source, "--junitxml=out.xml").assert_outcomes(passed=1)
    held = parsed(pytester.path / "out.xml")[1]["test_held"]
    assert (held["promptfuzz_worse"], held["promptfuzz_better"], held["promptfuzz_paired_p"]) == (
        "0",
        "0",
        "1.0",
    )


def test_a_run_without_robust_tests_has_no_properties_of_ours(project, pytester):
    project("def test_ordinary():\n    pass\n", "--junitxml=out.xml").assert_outcomes(passed=1)
    assert "promptfuzz" not in (pytester.path / "out.xml").read_text(encoding="utf-8")
