"""Runs of pytest within pytest, as pytester makes them: what one makes known is gone when it has ended."""

from __future__ import annotations

import json

import pytest

import pytest_promptfuzz
from pytest_promptfuzz.comparing.custom_checks import GUARDS
from pytest_promptfuzz.mutations.engine import registry
from pytest_promptfuzz.providers.formats import endpoint_of
from tests.plugin.conftest import INI, PROMPT

CONFTEST = """
from pytest_promptfuzz import guard, operator
from pytest_promptfuzz.mutations.engine.edits import replace

@operator("nested-shout", dimension="lexical", severity=0.1, preserves="yes", example=("a.", "a!"))
def shout(draft, rng):
    yield [replace(len("Classify"), len("Classify "), "! ")]

@guard("nested-guard")
def nothing(baseline, response):
    return None

def pytest_promptfuzz_operators(config):
    return [shout]

def pytest_promptfuzz_guards(config):
    return [nothing]
"""
BODY = """
@robust(TRIAGE, operators=["nested-shout"], mutations=1, guards=["nested-guard"])
def test_it(prompt, llm):
    return llm(prompt.format(ticket=TICKET))
"""


@pytest.fixture
def nested(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("COLUMNS", "400")
    pytester.makefile(".ini", pytest=f"{INI}promptfuzz_endpoints = nested.example/ask  text=$.text\n")
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_it=PROMPT + BODY)
    return pytester


def test_operators_guards_and_endpoints_end_with_the_run_that_offered_them(nested):
    for _ in range(2):
        result = nested.runpytest_inprocess("-p", "no:asyncio", "-p", "no:anyio", "-W", "default")
        result.assert_outcomes(passed=1)
    assert "nested-shout" not in registry.all_operators()
    assert "nested-guard" not in GUARDS.names()
    assert endpoint_of("https://nested.example/ask") is None


def test_what_the_package_exports_is_of_its_modules_of_today(nested):
    prompt = pytest_promptfuzz.Prompt
    nested.runpytest_inprocess("-p", "no:asyncio", "-p", "no:anyio", "-W", "default")
    assert pytest_promptfuzz.Prompt is prompt
    assert "Prompt" not in vars(pytest_promptfuzz)


def test_collected_tests_are_those_of_one_run(nested, monkeypatch):
    file = nested.path / "collected.json"
    monkeypatch.setenv("PROMPTFUZZ_COLLECTED", str(file))
    for _ in range(2):
        result = nested.runpytest("--collect-only", "-p", "pytest_promptfuzz.plugin.collection")
        assert result.ret == 0
        assert json.loads(file.read_text()) == [[str(nested.path / "test_it.py"), "test_it", True]]
