"""What a verdict is in pytest's sense: terminal, exit status, JUnit, xfail, and the other plugins."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from tests.plugin.conftest import summary_of

# A model that fails as the test says.
FAILING = """
from pytest_promptfuzz import TargetError

calls = []

def failing(after):
    def ask(text):
        calls.append(text)
        if len(calls) > after:
            raise TargetError("429 Too many requests", kind="rate-limit", status=429)
        return "BILLING"
    return ask
"""
BRITTLE = """
@robust(TRIAGE, mutations=8)
def test_brittle(prompt, llm):
    assert "exactly one of: BILLING" in prompt.text, "the wording is gone"
    assert "- Do not" in prompt.text, "the rule is gone"
    return llm(prompt.format(ticket=TICKET))
"""


def test_errors_bound_the_verdict(project):
    result = project(
        FAILING
        + """
ask_some = failing(5)

@robust(TRIAGE, mutations=8)
def test_most_fail(prompt):
    return ask_some(str(prompt))
"""
    )
    result.assert_outcomes(errors=1)
    assert summary_of(result) == {"test_most_fail": "inconclusive"}
    result.stdout.fnmatch_lines(
        ["5 errors: *", "*rate-limit  5 x*", "INCONCLUSIVE test_it.py::test_most_fail - *"]
    )


def test_a_few_errors_do_not_change_a_verdict_that_holds_either_way(project):
    result = project(
        FAILING
        + """
ask = failing(21)

@robust(TRIAGE, mutations=20)
def test_one_fails(prompt):
    return ask(str(prompt))
"""
    )
    result.assert_outcomes(passed=1)
    assert "1 error" in result.stdout.str()


@pytest.mark.parametrize(
    ("policy", "outcome"), [("skip", "skipped"), ("xfail", "xfailed"), ("pass", "passed")]
)
def test_inconclusive_is_what_the_user_chooses(project, policy, outcome):
    result = project(
        FAILING
        + """
ask = failing(3)

@robust(TRIAGE, mutations=8)
def test_most_fail(prompt):
    return ask(str(prompt))
""",
        f"--promptfuzz-inconclusive={policy}",
    )
    result.assert_outcomes(**{outcome: 1})
    assert result.ret == 0


def test_a_strict_xfail_is_satisfied_by_brittleness_only(project):
    result = project(
        FAILING
        + """
import pytest
xfail = pytest.mark.xfail(strict=True, reason="known to be brittle")

@xfail
@robust(TRIAGE, mutations=8)
def test_brittle(prompt, llm):
    assert "exactly one of: BILLING" in prompt.text
    assert "- Do not" in prompt.text
    return llm(prompt.format(ticket=TICKET))

@xfail
@robust(TRIAGE, mutations=8)
def test_robust(prompt, llm):
    return llm(prompt.format(ticket=TICKET))

ask = failing(3)

@xfail
@robust(TRIAGE, mutations=8)
def test_inconclusive(prompt):
    return ask(str(prompt))

@xfail
@robust(TRIAGE, mutations=8)
def test_baseline(prompt, llm):
    assert llm(prompt.format(ticket=TICKET)).text == "something else"

@xfail
@robust(TRIAGE, mutations="many")
def test_usage(prompt, llm):
    return llm(prompt.format(ticket=TICKET))
"""
    )
    result.assert_outcomes(xfailed=1, failed=2, errors=2)
    result.stdout.fnmatch_lines(["[[]XPASS(strict)[]] known to be brittle"])
    result.stdout.fnmatch_lines(
        ["promptfuzz: failed on the unmutated prompt, so nothing was mutated: test_it.py::test_baseline"]
    )
    result.stdout.fnmatch_lines(
        ["*failed as expected (xfail): test_it.py::test_brittle*", "Brittle: the score*"]
    )


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_junit_tells_errors_from_failures(project, pytester, workers):
    result = project(
        FAILING
        + BRITTLE
        + """
ask = failing(3)

@robust(TRIAGE, mutations=8)
def test_inconclusive(prompt):
    return ask(str(prompt))

@robust(TRIAGE, mutations=8)
def test_robust(prompt, llm):
    return llm(prompt.format(ticket=TICKET))
""",
        "--junitxml=out.xml",
        *workers,
    )
    result.assert_outcomes(failed=1, errors=1, passed=1)
    assert summary_of(result) == {
        "test_brittle": "brittle",
        "test_inconclusive": "inconclusive",
        "test_robust": "pass",
    }
    suite = ET.parse(pytester.path / "out.xml").getroot()[0]
    assert {key: suite.get(key) for key in ("tests", "failures", "errors")} == {
        "tests": "3",
        "failures": "1",
        "errors": "1",
    }
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    assert "Brittle: the score" in cases["test_brittle"].find("failure").text
    assert "rate-limit" in cases["test_inconclusive"].find("error").text
    verdicts = {
        name: {p.get("name"): p.get("value") for p in case.iter("property")}["promptfuzz_verdict"]
        for name, case in cases.items()
    }
    assert verdicts == {"test_brittle": "brittle", "test_inconclusive": "inconclusive", "test_robust": "pass"}


def test_max_deviations_and_thresholds_of_marks_and_command_line(project):
    source = """
        @robust(TRIAGE, mutations=8, threshold=0)
        def test_lenient(prompt, llm):
            assert "- Do not" in prompt.text, "the rule is gone"
            return llm(prompt.format(ticket=TICKET))

        @robust(TRIAGE, mutations=8, threshold=0, max_deviations=0)
        def test_none_allowed(prompt, llm):
            assert "- Do not" in prompt.text, "the rule is gone"
            return llm(prompt.format(ticket=TICKET))

        @robust(TRIAGE)
        def test_defaults(prompt, llm):
            assert "- Do not" in prompt.text, "the rule is gone"
            return llm(prompt.format(ticket=TICKET))
        """
    result = project(source, "--promptfuzz-threshold=0.2", "--promptfuzz-mutations=4")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*test_none_allowed - brittle*",
        ]
    )
    result.stdout.fnmatch_lines(["*::test_defaults*0.20 *"])
    overridden = project(source, "--promptfuzz-override", "threshold=1", "--promptfuzz-override=mutations=6")
    overridden.assert_outcomes(failed=3)
    overridden.stdout.fnmatch_lines(["*overridden on the command line: *threshold=1*"])


@pytest.mark.with_plugins("rerunfailures")
def test_maxfail_last_failed_reruns_durations_and_no_cacheprovider(project):
    source = (
        BRITTLE
        + """
@robust(TRIAGE, mutations=4)
def test_robust(prompt, llm):
    return llm(prompt.format(ticket=TICKET))
"""
    )
    first = project(source, "-x")
    first.assert_outcomes(failed=1)
    last = project(source, "--lf")
    last.assert_outcomes(failed=1, deselected=0)
    assert "test_robust" not in summary_of(last)
    reruns = project(source, "--reruns=2", "--durations=5", "-p", "no:cacheprovider")
    outcomes = reruns.parseoutcomes()
    assert (outcomes["failed"], outcomes["rerun"], outcomes["passed"]) == (1, 2, 1)
    assert summary_of(reruns) == {"test_brittle": "brittle", "test_robust": "pass"}
    reruns.stdout.fnmatch_lines(["*slowest 5 durations*"])


@pytest.mark.with_plugins("rerunfailures")
def test_reruns_of_an_inconclusive_test(project):
    result = project(
        FAILING
        + """
ask = failing(5)

@robust(TRIAGE, mutations=3)
def test_recovers(prompt):
    if len(calls) >= 9:
        calls.clear()
    return ask(str(prompt))

ask_three = failing(4)
""",
        "--reruns=3",
    )
    outcomes = result.parseoutcomes()
    assert outcomes.get("passed") == 1, outcomes


def test_the_tests_own_timeout_ends_the_test(project):
    result = project(
        """
        import time

        @robust(TRIAGE, mutations=8)
        def test_slow(prompt):
            time.sleep(0.4)
            assert str(prompt)
        """,
        "--timeout=1",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*Timeout (>1.0s) from pytest-timeout.*"])
    assert "deviation" not in result.stdout.str()


def test_skip_in_the_baseline_skips_and_in_a_mutation_is_an_error(project):
    result = project(
        """
        import pytest

        @robust(TRIAGE, mutations=4)
        def test_skipped(prompt, llm):
            pytest.skip("not here")

        @robust(TRIAGE, mutations=4)
        def test_sometimes(prompt, llm):
            if str(prompt) != TRIAGE.text:
                pytest.skip("not this one")
            return llm(prompt.format(ticket=TICKET))
        """
    )
    result.assert_outcomes(skipped=1, errors=1)
    result.stdout.fnmatch_lines(["*The body skipped on this mutation only: not this one*"])


def test_pytest_fail_and_warnings_in_a_mutation_are_deviations(project):
    result = project(
        """
        import pytest

        @robust(TRIAGE, mutations=4)
        def test_fail(prompt, llm):
            if str(prompt) != TRIAGE.text:
                pytest.fail("no longer the same")
            return llm(prompt.format(ticket=TICKET))
        """
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*4 deviations*", "*Failed: no longer the same*"])


def test_capsys_and_monkeypatch(project):
    result = project(
        """
        import os

        @robust(TRIAGE, mutations=3)
        def test_both(prompt, llm, capsys, monkeypatch):
            monkeypatch.setenv("SEEN", str(len(str(prompt))))
            print(os.environ["SEEN"])
            assert capsys.readouterr().out.strip() == str(len(str(prompt)))
            return llm(prompt.format(ticket=TICKET))
        """
    )
    result.assert_outcomes(passed=1)


def test_one_trial_fails_as_it_is_for_the_debugger(project):
    report = project(BRITTLE)
    trial = next(line.split("=")[-1].strip() for line in report.outlines if "reproduce" in line)
    one = project(BRITTLE, "test_it.py::test_brittle", f"--promptfuzz-trial={trial}")
    one.assert_outcomes(failed=1)
    one.stdout.fnmatch_lines([">       assert *", "E       AssertionError: the *"])
    unknown = project(BRITTLE, "--promptfuzz-trial=123456789abc")
    unknown.assert_outcomes(skipped=1)
    assert unknown.ret == pytest.ExitCode.USAGE_ERROR
    unknown.stdout.fnmatch_lines(
        [
            "ERROR: --promptfuzz-trial=123456789abc: the selected test does not have this trial. Copy the ID from *"
        ]
    )
    plain = project("def test_plain(): pass", "--promptfuzz-trial=123456789abc")
    plain.assert_outcomes(passed=1)
    plain.stdout.fnmatch_lines(
        ["promptfuzz: --promptfuzz-trial=123456789abc: no selected test is marked @robust."]
    )
    assert "this trial" not in one.stdout.str()


def test_pdb_opens_where_the_body_failed(project, pytester):
    pytester.makepyfile(test_it="")
    project(BRITTLE)
    process = pytester.spawn_pytest("--pdb test_it.py", expect_timeout=300.0)
    process.expect("Pdb")
    process.sendline("p prompt.text[:8]")
    process.expect("(?i)classify")
    process.sendline("q")
    process.expect("1 failed")
    process.read()  # to its end: closing kills, and gives a busy machine too little time
    process.wait()


@pytest.mark.with_plugins("hypothesispytest")
def test_hypothesis_on_top(project):
    result = project(
        """
        from hypothesis import given, settings, strategies as st

        examples = set()

        @robust(TRIAGE, mutations=3)
        @settings(max_examples=5)
        @given(ticket=st.sampled_from(["I was charged twice", "The app crashes", "I want a refund", "Hello"]))
        def test_examples(prompt, llm, ticket):
            examples.add(ticket)
            llm(prompt.format(ticket=ticket))

        @robust(TRIAGE, mutations=8)
        @settings(max_examples=500)
        @given(ticket=st.text())
        def test_too_many(prompt, llm, ticket):
            llm(prompt.format(ticket=ticket))

        def test_afterwards():
            assert len(examples) > 1
        """
    )
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines_random(
        [
            "*hypothesis: up to 5 examples × 4 runs = 20 runs*",
            "UsageError: *up to 500 examples × 9 runs = 4,500 runs, and promptfuzz_max_runs is 1,000.*",
        ]
    )
