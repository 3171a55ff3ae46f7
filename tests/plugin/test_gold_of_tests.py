"""``expected=`` on the mark: in the table, the notes, the failure's message and the report."""

from __future__ import annotations

import json

from tests.plugin.conftest import summary_of
from tests.plugin.reported import CONFTEST, reports

TESTS = """
import pytest

@robust(TRIAGE, mutations=4, expected="BILLING")
def test_right(prompt, llm):
    return llm(prompt.format(ticket=TICKET))

@robust(TRIAGE, mutations=4, expected="ACCOUNT")
def test_wrong(prompt, llm):
    return llm(prompt.format(ticket=TICKET))

@robust(TRIAGE, mutations=4, inputs={"one": TICKET, "two": "I cannot log in."}, expected={"one": "BILLING"})
def test_inputs(response):
    assert response.text

@robust(TRIAGE, mutations=8, expected="OTHER")
def test_brittle(prompt, llm):
    assert "exactly one of: BILLING" in prompt.text, "the wording is gone"
    assert "- Do not" in prompt.text, "the rule is gone"
    return llm(prompt.format(ticket=TICKET))

@pytest.mark.parametrize(
    "ticket",
    [TICKET, pytest.param("My parcel is lost.", marks=robust(expected="OTHER"))],
    ids=["charged", "parcel"],
)
@robust(TRIAGE, mutations=2)
def test_each(prompt, llm, ticket):
    return llm(prompt.format(ticket=ticket))

@robust(TRIAGE, mutations=2, compare=False, expected="ACCOUNT")
def test_checks_only(prompt, llm):
    answer = llm(prompt.format(ticket=TICKET))
    assert answer.text
    return answer

@robust(TRIAGE, mutations=2, expected=["BILLING"], inputs=[TICKET, "I cannot log in."])
def test_misfit(response):
    assert response.text
"""


def test_gold_answers_of_all_kinds_of_tests(project, pytester):
    pytester.makeconftest(CONFTEST)
    for workers in ((), ("-n", "1")):
        result = project(TESTS, *workers)
        result.assert_outcomes(passed=6, failed=1, errors=1)
        assert summary_of(result)["test_wrong"] == "pass"
        result.stdout.fnmatch_lines(
            [
                "Brittle: *",
                "0 % of the answers are as expected, with and without mutations: the prompt is wrong *",
                "test  *  gold *",
                "test_it.py::test_brittle *  0.00/0.00 *",
                "Robust but wrong: *test_it.py::test_*: 0 % of the answers are as expected, with*",
            ]
        )
        assert "expected= holds 1 gold answer for 2 inputs;" in result.stdout.str()
        found = {name.rpartition("::")[2]: each["gold"] for name, each in reports(pytester).items()}
        assert {name: gold and (gold["accuracy"], gold["inputs"]) for name, gold in found.items()} == {
            "test_right": (1.0, 1),
            "test_wrong": (0.0, 1),
            "test_inputs": (1.0, 1),
            "test_brittle": (0.0, 1),
            "test_each[charged]": None,
            "test_each[parcel]": (1.0, 1),
            "test_checks_only": (0.0, 1),
        }
        assert json.dumps(found["test_wrong"]["wrong"]) == (
            '[{"case": 0, "expected": "ACCOUNT", "answered": "BILLING"}]'
        )
