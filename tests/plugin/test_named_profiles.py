"""Profiles and schemas as tests and projects give them."""

from __future__ import annotations

import pytest

APP = """
import itertools, json
from pytest_promptfuzz import profile_for, robust

TEXT = "Read the total off the invoice. Answer in JSON."
numbers = itertools.count()

def read(prompt):
    return json.dumps({"total": 12.5 if prompt.format() == TEXT else 12.51})
"""
PROFILES = """
[tool.promptfuzz.profiles.invoices]
task = "extraction"
number_tolerance = 0.01
"""


@pytest.fixture
def run(project, pytester):
    def given(source: str, *arguments: str, toml: str = PROFILES):
        pytester.makepyprojecttoml(toml)
        return project(f"from app import *\n{source}", *arguments, app=APP)

    return given


def test_marks_options_and_overrides_name_profiles(run):
    source = """
@robust(TEXT, mutations=2{})
def test_it(prompt):
    return read(prompt)
"""
    run(source.format("")).assert_outcomes(failed=1)
    run(source.format(", task='invoices'")).assert_outcomes(passed=1)
    run(source.format(", profile='invoices'")).assert_outcomes(passed=1)
    run(source.format(", profile=profile_for('json', relative_tolerance=0.01)")).assert_outcomes(passed=1)
    run(source.format(""), "--promptfuzz-task=invoices").assert_outcomes(passed=1)
    run(source.format(", task='json'"), "--promptfuzz-task=invoices").assert_outcomes(failed=1)
    # The mark's profile stands before the run's task, and an override before both.
    run(source.format(", profile=profile_for('json')"), "--promptfuzz-task=invoices").assert_outcomes(
        failed=1
    )
    run(
        source.format(", profile=profile_for('json')"), "--promptfuzz-override", "task=invoices"
    ).assert_outcomes(passed=1)


def test_the_report_says_by_which_profile(run):
    result = run(
        """
@robust(TEXT, mutations=2, task="invoices", threshold=1.0)
def test_it(prompt):
    return '{"total": 1}' if prompt.format() == TEXT else '{"total": 2}'
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*$.total: 1 became 2*"])
    assert "inferred" not in result.stdout.str()


def test_the_fixture_knows_them(run):
    run(
        """
def test_it(promptfuzz):
    assert promptfuzz.compare('{"a": 1}', '{"a": 1.01}', task="invoices").outcome == "equivalent"
    assert promptfuzz.compare('{"a": 1}', '{"a": 1.02}', task="invoices").outcome == "deviation"
    assert promptfuzz.evaluate(TEXT, read, task="invoices", mutations=2).passed
    assert not promptfuzz.evaluate(TEXT, read, task="json", mutations=2).passed
"""
    ).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        (
            "[tool.promptfuzz.profiles.x]\ntask = 'jsn'",
            "*profiles?.x: task='jsn' is not one of *Did you mean 'json'?*",
        ),
        ("[tool.promptfuzz]\nprofiles = 3", "*profiles?: 3 is no table*"),
        ("[tool.promptfuzz.profile.x]\ntask = 'json'", "*unknown key 'profile'. Did you mean*'profiles'*"),
    ],
)
def test_a_wrong_table_ends_the_run_before_any_test(run, toml, said):
    result = run("def test_it(promptfuzz): pass", toml=toml)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([said])


def test_a_name_that_nothing_has_is_an_error_of_the_test(run):
    result = run("@robust(TEXT, task='invoice')\ndef test_it(prompt): return read(prompt)")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*task='invoice' is not one of *Did you mean 'invoices'?*"])


def test_a_repeated_baseline_that_breaks_the_schema_is_noise_and_no_error(run):
    result = run(
        """
times = itertools.count()

@robust(TEXT, mutations=4, schema={"properties": {"total": {"type": "number"}}})
def test_noise(prompt):
    broken = prompt.format() == TEXT and next(times) > 1
    return '{"total": "twelve"}' if broken or prompt.format() != TEXT else '{"total": 12}'
"""
    )
    assert "The baseline itself breaks the schema" not in result.stdout.str()
    assert "errors" not in result.parseoutcomes()


def test_a_schema_on_the_mark(run, pytester):
    pytester.makefile(".json", invoice='{"properties": {"total": {"maximum": 12.5}}}')
    result = run(
        """
@robust(TEXT, mutations=2, schema="invoice.json")
def test_response(prompt):
    return read(prompt)

@robust(TEXT, mutations=2, schema={"required": ["date"]})
def test_baseline(prompt):
    return read(prompt)

@robust(TEXT, mutations=2, schema="none.json")
def test_missing(prompt):
    return read(prompt)
"""
    )
    result.stdout.fnmatch_lines_random(
        [
            "*breaks the schema at $.total: 12.51 is greater than the maximum of 12.5 (rule 'maximum')*",
            "*he baseline itself breaks the schema (schema=): $: 'date' is a required property*",
            "*schema='none.json': there is no such file*",
        ]
    )
    assert result.parseoutcomes() == {"failed": 1, "errors": 2}


def test_a_task_and_a_profile_contradict_each_other_even_by_one_name(run):
    result = run(
        """
@robust(TEXT, mutations=2, task="invoices", profile="invoices")
def test_it(prompt):
    return read(prompt)
"""
    )
    result.stdout.fnmatch_lines(["*give task='invoices' or profile=, not both*"])
    result.stdout.no_fnmatch_line("*unknown task*")
