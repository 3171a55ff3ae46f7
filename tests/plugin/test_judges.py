"""Judges in pytest runs: named by mark, option and hook; recorded and replayed; counted."""

from __future__ import annotations

import json

import pytest

from pytest_promptfuzz.server.model_server import ModelServer
from tests.plugin.conftest import summary_of

# The model under test is asked so that the mutation arrives; what the body returns is known, and words cannot tell.
BODY = """
from pytest_promptfuzz import robust

PROMPT = "How are you doing on this fine day?"

@robust(PROMPT, mutations=2, operators=["upper-case", "lower-case"], target="simulated"{keys})
def test_mood(prompt, llm):
    llm(prompt)
    if str(prompt) == PROMPT:
        return "Hello there, we all are well and kicking."
    return {other!r}
"""
OTHER = "Everything over here goes as it should, thanks for asking me."
DIFFERS = OTHER.replace("over here", "around here")


def body(keys: str = "", other: str = OTHER) -> str:
    return BODY.format(keys=keys and f", {keys}", other=other)


@pytest.fixture
def server(monkeypatch):
    for name in ("CI", "PROMPTFUZZ_MODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with ModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        yield server


def test_a_judge_named_for_the_run(project):
    result = project(body(), "--promptfuzz-judge=simulated")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["promptfuzz: *, target simulated, judge simulated, local cache *"])
    result.stdout.fnmatch_lines(["*the judge simulated rates the agreement 1 of 3*"])
    result.stdout.fnmatch_lines(
        ["*the judge simulated was shown 1 pair*of answers: * different; both orders agreed in*"]
    )
    result.stdout.fnmatch_lines(["*judge calls*"])
    again = project(body(), "--promptfuzz-judge=simulated")
    again.stdout.fnmatch_lines(["*2 judge calls, 2 of*"])


def test_the_mark_wins_over_the_run(project):
    project(body("judge=False"), "--promptfuzz-judge=simulated").assert_outcomes(errors=1)
    project(body("judge='simulated', judge_repeats=3")).assert_outcomes(failed=1)


def test_a_judge_of_the_project(project):
    conftest = """
    from pytest_promptfuzz import judge

    @judge("kind")
    def kind(baseline, response):
        return 2

    def pytest_promptfuzz_judges(config):
        return [kind]
    """
    result = project(body(), "--promptfuzz-judge=kind", "-o", "promptfuzz_threshold=0.7", conftest=conftest)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*the judge kind was shown 1 pair of answers*"])
    project(body("judge='kind', threshold=0.7"), "-n1", conftest=conftest).assert_outcomes(passed=1)
    misspelt = project(body("judge='kint'"), conftest=conftest)
    misspelt.assert_outcomes(errors=1)
    misspelt.stdout.fnmatch_lines(
        ["UsageError: *judge='kint' is no model and no judge of this project. Did you mean 'kind'[?]*"]
    )


def test_a_judge_that_fails_is_an_error_and_said(project):
    conftest = """
    from pytest_promptfuzz import judge

    @judge("unwell")
    def unwell(baseline, response):
        raise RuntimeError("not today")

    def pytest_promptfuzz_judges(config):
        return [unwell]
    """
    result = project(body("judge='unwell'"), conftest=conftest)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*The judge 'unwell' raised RuntimeError: not today.*"])
    assert summary_of(result) == {"test_mood": "inconclusive"}


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--promptfuzz-judge-when=sometimes", "*'sometimes' is not*"),
        ("--promptfuzz-judge-repeats=0", "*'0' is not*"),
        ("--promptfuzz-judge=gpt-5-mini", "*judge: 'gpt-5-mini' names no provider*"),
    ],
)
def test_a_wrong_option_is_said(project, option, message):
    result = project(body(), option)
    assert result.ret != 0
    assert any(
        line for line in [*result.outlines, *result.errlines] if message.strip("*").split("*")[0] in line
    )


def test_a_judge_is_recorded_and_replayed_without_a_key(project, server, monkeypatch, pytester):
    keys = "judge='openai:gpt-5-mini', threshold=0.0"
    project(body(keys), "--promptfuzz-mode=record").assert_outcomes(passed=1)
    assert server.calls == 2
    (recording,) = pytester.path.glob("__promptfuzz__/*.calls.jsonl")
    lines = [json.loads(line) for line in recording.read_text(encoding="utf-8").splitlines()]
    judged = [each for each in lines if each.get("trial") == "judge"]
    assert len(judged) == 2
    monkeypatch.delenv("OPENAI_API_KEY")
    result = project(body(keys), "--promptfuzz-mode=replay", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*; 2 judge calls, 2 of*"])
    assert server.calls == 2
    result = project(body(keys, DIFFERS), "--promptfuzz-mode=replay")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*the request of the judge differs from the recording*"])
    assert server.calls == 2


def test_a_test_over_the_wire_has_its_judge_there_too(project, server):
    source = """
    import openai
    from pytest_promptfuzz import robust

    PROMPT = "How are you doing on this fine day?"

    @robust(PROMPT, mutations=2, operators=["upper-case", "lower-case"], target="openai:gpt-5-mini",
            judge="openai:gpt-5", threshold=0.0)
    async def test_mood(prompt, llm):
        await llm(prompt)
        return "Hello there, we all are well and kicking." if str(prompt) == PROMPT else "All goes as it should over here."
    """
    result = project("", "-p", "no:randomly", "-o", "asyncio_mode=auto", test_wire=source)
    result.assert_outcomes(passed=1)
    asked = [each.body["model"] for each in server.requests]
    assert sorted(asked) == ["gpt-5"] * 2 + ["gpt-5-mini"] * 3


def test_a_judge_that_was_not_measured_is_refused_where_agreement_is_asked_for(project):
    asked = ("--promptfuzz-judge=simulated", "-o", "promptfuzz_judge_min_agreement=0.6")
    result = project(body(), *asked)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*the judge 'simulated' has not been measured (no promptfuzz-judges.json here or*"]
    )
    project(body(), *asked[:1], "--promptfuzz-judge-min-agreement=60").stderr.fnmatch_lines(
        ["*'60' is not*from 0 to 1*"]
    )
