"""What each verdict is in pytest's sense is the user's choice: terminal, JUnit and exit status agree."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from tests.plugin.conftest import summary_of

TESTS = """
from pytest_promptfuzz import TargetError

asked = {"noisy": 0, "inconclusive": 0}

@robust(TRIAGE, mutations=8)
def test_brittle(prompt, llm):
    assert "exactly one of: BILLING" in prompt.text, "the wording is gone"
    assert "- Do not" in prompt.text, "the rule is gone"
    return llm(prompt.format(ticket=TICKET))

@robust(TRIAGE, mutations=4)
def test_noisy(prompt, llm):
    asked["noisy"] += 1
    assert asked["noisy"] > 1, "the first time"
    return llm(prompt.format(ticket=TICKET))

@robust(TRIAGE, mutations=8)
def test_inconclusive(prompt):
    asked["inconclusive"] += 1
    if asked["inconclusive"] > 3:
        raise TargetError("429 Too many requests", kind="rate-limit", status=429)
    return "BILLING"
"""
VERDICTS = {"test_brittle": "brittle", "test_noisy": "noisy", "test_inconclusive": "inconclusive"}
# What a test is in JUnit, and how pytest counts it.
EFFECTS = {
    "fail": ("failure", "failed", 1),
    "error": ("error", "errors", 1),
    "skip": ("skipped", "skipped", 0),
    "xfail": ("skipped", "xfailed", 0),
    "pass": (None, "passed", 0),
}


def junit(pytester: pytest.Pytester) -> dict[str, str | None]:
    """What each test is in the JUnit report."""
    suite = ET.parse(pytester.path / "out.xml").getroot()[0]
    kinds = ("failure", "error", "skipped")
    return {
        str(case.get("name")): next((kind for kind in kinds if case.find(kind) is not None), None)
        for case in suite.iter("testcase")
    }


@pytest.mark.parametrize("effect", EFFECTS)
def test_terminal_junit_and_exit_status_agree(project, pytester, effect):
    options = [f"--promptfuzz-{verdict}={effect}" for verdict in VERDICTS.values()]
    result = project(TESTS, "--junitxml=out.xml", *options)
    kind, outcome, status = EFFECTS[effect]
    result.assert_outcomes(**{outcome: 3})
    assert result.ret == status
    assert junit(pytester) == dict.fromkeys(VERDICTS, kind)
    assert summary_of(result) == VERDICTS
    let_through = [line for line in result.outlines if ", but passed because of" in line]
    assert len(let_through) == (3 if effect == "pass" else 0)
    if effect == "pass":
        assert (
            "promptfuzz: noisy, but passed because of promptfuzz_noisy=pass: test_it.py::test_noisy"
            in let_through
        )
    skipped = [line for line in result.outlines if ", but skipped because of promptfuzz_" in line]
    assert len(skipped) == (3 if effect == "skip" else 0)


@pytest.mark.parametrize("effects", [("error", "pass", "skip"), ("xfail", "fail", "error")])
def test_workers_tell_the_same(project, pytester, effects):
    options = [
        f"--promptfuzz-{verdict}={effect}" for verdict, effect in zip(VERDICTS.values(), effects, strict=True)
    ]
    result = project(TESTS, "--junitxml=out.xml", *options, "-n", "2")
    result.assert_outcomes(**{EFFECTS[effect][1]: 1 for effect in effects})
    assert result.ret == 1
    assert junit(pytester) == {
        test: EFFECTS[effect][0] for test, effect in zip(VERDICTS, effects, strict=True)
    }
    assert summary_of(result) == VERDICTS
    assert len([line for line in result.outlines if ", but passed because of" in line]) == effects.count(
        "pass"
    )


def test_each_verdict_has_its_own(project, pytester, monkeypatch):
    pytester.makefile(
        ".ini",
        tox="[pytest]\npromptfuzz_target = simulated\npromptfuzz_brittle = skip\npromptfuzz_noisy = fail\n",
    )
    monkeypatch.setenv("PROMPTFUZZ_INCONCLUSIVE", "pass")
    result = project(TESTS, "--junitxml=out.xml", "-c", "tox.ini", "-rfs")
    result.assert_outcomes(skipped=1, failed=1, passed=1)
    assert junit(pytester) == {
        "test_brittle": "skipped",
        "test_noisy": "failure",
        "test_inconclusive": None,
    }
    result.stdout.fnmatch_lines(["FAILED *::test_noisy - noisy: *", "SKIPPED * brittle: *"])


def test_the_defaults(project, pytester):
    result = project(TESTS, "--junitxml=out.xml")
    result.assert_outcomes(failed=1, errors=2)
    assert junit(pytester) == {"test_brittle": "failure", "test_noisy": "error", "test_inconclusive": "error"}
    result.stdout.fnmatch_lines(["NOISY *::test_noisy - *", "INCONCLUSIVE *::test_inconclusive - *"])


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("effect", EFFECTS)
def test_an_xfail_mark_is_satisfied_by_brittleness_only(project, pytester, effect, strict):
    marked = TESTS.replace("@robust", f"@pytest.mark.xfail(strict={strict})\n@robust")
    options = [f"--promptfuzz-{verdict}={effect}" for verdict in VERDICTS.values()]
    result = project("import pytest\n" + marked, "--junitxml=out.xml", *options)
    expected = {"xfailed": 1}
    kind, outcome, status = EFFECTS[effect]
    if effect == "pass":  # what passes as the user wants it, passes under the mark: unexpectedly
        kind, outcome, status = ("failure", "failed", 1) if strict else (None, "xpassed", 0)
        lines = (
            ["[[]XPASS(strict)[]]*"]
            if strict
            else ["promptfuzz: noisy, but passed because of promptfuzz_noisy=pass: *"]
        )
        result.stdout.fnmatch_lines(lines)
    assert result.ret == status
    assert junit(pytester) == {"test_brittle": "skipped", "test_noisy": kind, "test_inconclusive": kind}
    expected[outcome] = expected.get(outcome, 0) + 2
    result.assert_outcomes(**expected)
    result.stdout.fnmatch_lines(
        ["*failed as expected (xfail): test_it.py::test_brittle*", "Brittle: the score*"]
    )


def test_a_misspelt_effect_is_one_message(project):
    result = project(TESTS, "--promptfuzz-noisy=eror")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "ERROR: --promptfuzz-noisy: 'eror' is not one of fail, error, skip, xfail, pass. Did you mean 'error'[?]"
        ]
    )


OPEN = """
from pytest_promptfuzz import TargetError, robust

asked = []

@robust("Name the colour of the sky. Answer with one word only.", mutations=8)
def test_open(prompt):
    asked.append(str(prompt))
    if len(asked) > 7:
        raise TargetError("429 Too many requests", kind="rate-limit", status=429)
    return "blue"

@robust("Name the colour of the sky. Answer with one word only.", mutations=4)
def test_untold(prompt):
    if str(prompt) != "Name the colour of the sky. Answer with one word only.":
        raise TargetError("429 Too many requests", kind="rate-limit", status=429)
    return "blue"

@robust("Name the colour of the sky. Answer with one word only.", mutations=4, samples=2, baseline_runs=4)
def test_known(prompt):
    return "blue" if str(prompt) else ""

@robust("Name the colour of the sky. Answer with one word only.", threshold=2)
def test_wrong(prompt):
    return "blue"
"""


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "xdist"])
def test_junit_names_the_phase_and_says_what_the_terminal_says(project, pytester, workers):
    project(OPEN, "--junitxml=out.xml", *workers)
    cases = {str(case.get("name")): case for case in ET.parse(pytester.path / "out.xml").iter("testcase")}
    said = {
        name: {str(each.get("name")): str(each.get("value")) for each in case.iter("property")}
        for name, case in cases.items()
    }
    errors = {
        name: str(node.get("message"))
        for name, case in cases.items()
        if (node := case.find("error")) is not None
    }
    assert errors["test_open"].startswith('failed on verdict with "inconclusive: 3 of 8 trials are errors')
    assert errors["test_wrong"].startswith('failed on setup with "UsageError: threshold=2')
    assert "None" not in {value for each in said.values() for value in each.values()}
    opened = said["test_open"]
    assert "promptfuzz_score" not in opened
    assert 0 < float(opened["promptfuzz_score_lowest"]) < 0.85 < float(opened["promptfuzz_score_highest"])
    assert not {"promptfuzz_score", "promptfuzz_interval_low"} & {*said["test_untold"]}
    known = said["test_known"]
    assert known["promptfuzz_verdict"] == "pass"
    assert (known["promptfuzz_score"], known["promptfuzz_adjusted_score"]) == ("1.0", "1.0")
    assert 0 < float(known["promptfuzz_interval_low"]) < float(known["promptfuzz_interval_high"]) == 1
    assert said["test_wrong"] == {}
