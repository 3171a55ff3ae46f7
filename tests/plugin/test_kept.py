"""What a run keeps of tests that are over: long suites have thousands, and pytest keeps every report to its end."""

from __future__ import annotations

import json

import pytest

SUITE = """
from pytest_promptfuzz import Prompt, robust

PROMPT = Prompt("Classify the ticket as BILLING or OTHER, and answer with the label only.\\n\\nTicket: {ticket}")

@robust(PROMPT, mutations=4, threshold=0.0)
def test_asking(prompt, llm):
    return llm(prompt.format(ticket="I was charged twice."))

@robust(PROMPT, mutations=4, threshold=0.0)
async def test_asking_async(prompt, llm):
    return await llm(prompt.format(ticket="I was charged twice."))

@robust(PROMPT, inputs=["I was charged twice."], mutations=4, threshold=0.0)
def test_declared(response):
    assert response.text

@robust(PROMPT, mutations=4, max_deviations=4, threshold=0.0)
def test_deviating(prompt, llm):
    assert str(prompt) == str(PROMPT)

@robust(PROMPT, mutations=4)
def test_brittle(prompt, llm):
    assert str(prompt) == str(PROMPT)
"""
CONFTEST = """
import gc
import json
from pathlib import Path

import pytest

seen = {}

@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    if hasattr(report, "promptfuzz"):
        seen[report.nodeid.partition("::")[2]] = json.dumps(report.promptfuzz)

def pytest_sessionstart():
    gc.disable()

def pytest_sessionfinish(session):
    names = ("Engine", "Evaluation", "Mutation", "StoredAnswer", "Calls")
    alive = [type(each).__name__ for each in gc.get_objects()]
    reporter = session.config.pluginmanager.getplugin("terminalreporter")
    kept = {
        each.nodeid.partition("::")[2]: json.dumps(each.promptfuzz)
        for each in reporter.stats.get("passed", []) + reporter.stats.get("failed", [])
        if hasattr(each, "promptfuzz")
    }
    found = {"seen": seen, "kept": kept, "alive": {name: alive.count(name) for name in names}}
    Path("found.json").write_text(json.dumps(found))
"""


@pytest.fixture
def found(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """Run the suite; what was seen of its reports, what is kept of them, and what is still alive."""
    for name in ("CI", "PROMPTFUZZ_TARGET"):
        monkeypatch.delenv(name, raising=False)
    pytester.makeconftest(CONFTEST)
    pytester.makeini("[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n")
    pytester.makepyfile(test_suite=SUITE)

    def run(*arguments: str, **outcomes: int):
        result = pytester.runpytest_subprocess(
            "--promptfuzz-target=simulated", "-p", "no:cacheprovider", *arguments
        )
        result.assert_outcomes(**outcomes)
        return json.loads((pytester.path / "found.json").read_text()), result

    return run


@pytest.mark.parametrize("arguments", [(), ("-n1",)], ids=["here", "xdist"])
def test_little_is_kept_of_a_test_that_passed(found, arguments):
    found, result = found(*arguments, passed=4, failed=1)
    result.stdout.fnmatch_lines(["*Passed with 4 deviations (*"])
    seen = {name: json.loads(text) for name, text in found["seen"].items()}
    kept = {name: json.loads(text) for name, text in found["kept"].items()}
    assert len(kept) == 5
    assert {len(report["trials"]) for report in seen.values()} == {4}
    assert kept["test_brittle"] == seen["test_brittle"]
    assert len(kept["test_deviating"]["trials"]) == 4
    for name in ("test_asking", "test_asking_async", "test_declared"):
        assert kept[name]["trials"] == []
        assert kept[name] == {key: seen[name][key] for key in kept[name]} | {"trials": []}
        assert "prompt" not in kept[name]


def test_nothing_of_a_test_that_passed_waits_for_the_garbage_collector(found):
    found, _ = found("-k", "asking or declared", passed=3, deselected=2)
    assert set(found["alive"].values()) == {0}
