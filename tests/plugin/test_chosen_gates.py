"""Gates as a project chooses them: mark, command line, environment, ini file and pyproject.toml."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import summary_of

TESTS = """
@robust(TRIAGE, mutations={n})
def test_plain(prompt, llm):
    return llm(prompt.format(ticket=TICKET))

@robust(TRIAGE, mutations={n}, gate="point")
def test_point(prompt, llm):
    return llm(prompt.format(ticket=TICKET))
"""
SURE = TESTS.format(n=28)
FEW = TESTS.format(n=8)


def test_a_gate_that_cannot_pass_is_an_error_before_any_call(project):
    result = project(FEW, "--promptfuzz-gate=confident")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        ["UsageError: *gate='confident' at threshold=0.85 cannot pass with 8 mutations: it needs mutations=*"]
    )
    assert summary_of(result) == {"test_point": "pass"}
    lenient = project(FEW, "--promptfuzz-gate=confident", "--promptfuzz-inconclusive=pass")
    lenient.assert_outcomes(passed=1, errors=1)


@pytest.mark.parametrize("place", ["option", "environment", "ini", "table"])
def test_the_run_chooses_and_the_mark_wins(project, pytester, monkeypatch, place):
    arguments = []
    if place == "option":
        arguments = ["--promptfuzz-gate=confident"]
    elif place == "environment":
        monkeypatch.setenv("PROMPTFUZZ_GATE", "confident")
    elif place == "ini":
        arguments = ["-o", "promptfuzz_gate=confident"]
    else:
        pytester.makepyprojecttoml('[tool.promptfuzz]\ngate = "confident"\n')
    result = project(FEW, *arguments)
    result.assert_outcomes(passed=1, errors=1)
    sure = project(SURE, *arguments, "-n", "1")
    sure.assert_outcomes(passed=2)


def test_the_override_wins_over_the_mark_and_is_said(project):
    result = project(FEW, "--promptfuzz-override=gate=confident")
    result.assert_outcomes(errors=2)
    sure = project(SURE, "--promptfuzz-override=gate=confident")
    sure.assert_outcomes(passed=2)
    sure.stdout.fnmatch_lines(
        ["*overridden on the command line: gate='confident' (the test's own is 'point')*"]
    )


def test_a_misspelt_gate_is_one_message(project, pytester):
    for argument, source in (
        ("--promptfuzz-gate=confidant", "--promptfuzz-gate: "),
        ("--promptfuzz-override=gate=confidant", "--promptfuzz-override: gate='confidant' is not one of "),
    ):
        result = project(FEW, argument)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"ERROR: {source}*Did you mean 'confident'[?]"])
    marked = project(FEW.replace('"point"', '"pont"'))
    marked.assert_outcomes(passed=1, errors=1)
    marked.stdout.fnmatch_lines(
        ["UsageError: *gate='pont' is not one of point, confident, no-worse. Did you mean 'point'[?]*"]
    )
    pytester.makepyprojecttoml("[tool.promptfuzz]\ngate = 3\n")
    result = project(FEW)
    result.stderr.fnmatch_lines(["ERROR: gate in [[]tool.promptfuzz[]] of pyproject.toml: 3 is not one of *"])
    pytester.makepyprojecttoml('[tool.promptfuzz]\ngate = "point"\n')
    result = project(FEW, "-o", "promptfuzz_gate=point")
    result.stderr.fnmatch_lines(["ERROR: the ini value promptfuzz_gate and gate in * both set gate. *"])


def test_an_unsure_pass_says_what_it_takes(project):
    result = project(
        """
        SEEN = {}

        @robust(TRIAGE, mutations=40, gate="confident")
        def test_unsure(prompt):
            return "OTHER" if SEEN.setdefault(str(prompt), len(SEEN)) in {5, 6, 7, 8} else "BILLING"
        """
    )
    result.assert_outcomes(errors=1)
    assert summary_of(result) == {"test_unsure": "inconclusive"}
    result.stdout.fnmatch_lines(
        [
            "Inconclusive: passed with 4 deviations: *the score's lower bound at 95 %, 0.7*, does not reach 0.85,*",
            "INCONCLUSIVE *::test_unsure - the lower bound of the score is below the threshold 0.85 (score 0.90 *",
        ]
    )
    said = " ".join(result.stdout.str().split())  # however wide it is laid out
    assert "0.85, and the gate is 'confident'. About " in said


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["plain", "xdist"])
def test_a_verbose_run_says_what_a_pass_at_a_gate_rests_on(project, workers):
    source = """
@robust(TRIAGE, mutations=32, gate="confident")
def test_sure(prompt, llm):
    return llm(prompt.format(ticket=TICKET))

@robust(TRIAGE, mutations=2)
def test_point(prompt, llm):
    return llm(prompt.format(ticket=TICKET))
"""
    result = project(source, "-v", *workers)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        [
            "Gate 'confident': test_it.py::test_sure: the score's lower bound at 95 %, 0.??, reaches 0.85 as well.*"
        ]
    )
    assert "Gate 'point'" not in result.stdout.str()
