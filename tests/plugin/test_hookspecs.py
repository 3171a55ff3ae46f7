"""The hooks that a conftest.py or another plugin may implement."""

from __future__ import annotations

CONFTEST = """
from pytest_promptfuzz import Edit, operator

@operator("sign-off", dimension="augmentation", severity=0.1, preserves="yes")
def sign_off(draft, rng):
    "A closing phrase at the end."
    for phrase in rng.shuffled((" Thanks!", " Thank you.")):
        yield [Edit(len(draft.text), len(draft.text), (phrase,))]
"""
NAMED = """
@robust(TRIAGE, operators=["sign-off"], mutations=2)
def test_thanked(prompt, llm):
    assert llm(prompt.format(ticket=TICKET)).text == "BILLING"

def test_by_hand(promptfuzz):
    assert [each.text for each in promptfuzz.mutate("Say yes.", 2, operators=["sign-off"])]
"""


def test_operators_of_a_conftest_can_be_named(project):
    hook = "def pytest_promptfuzz_operators(config):\n    return [sign_off]\n"
    project(NAMED, conftest=CONFTEST + hook).assert_outcomes(passed=2)
    project(NAMED, "-n1", conftest=CONFTEST + hook).assert_outcomes(passed=2)


def test_without_the_hook_they_can_not(project):
    result = project(NAMED, conftest=CONFTEST)
    result.stdout.fnmatch_lines(["*there is no operator or dimension 'sign-off'*"])
    assert result.ret == 1


def test_what_is_no_list_of_operators_is_said(project):
    result = project(
        NAMED, conftest=CONFTEST + "def pytest_promptfuzz_operators(config):\n    return sign_off\n"
    )
    result.stdout.fnmatch_lines(
        ["*pytest_promptfuzz_operators returned Operator; return a list of operators.*"]
    )
    result = project(NAMED, conftest="def pytest_promptfuzz_operators(config):\n    return [print]\n")
    result.stdout.fnmatch_lines(
        ["*returned <built-in function print> among the operators; decorate it with @operator first.*"]
    )
