"""The control of robust tests, in pytest: what it shows, what a recording holds of it, how it is switched off."""

from __future__ import annotations

import json

import pytest

from pytest_promptfuzz.server.model_server import ModelServer
from tests.plugin.conftest import PROMPT

LLM = (
    PROMPT
    + """
@robust(TRIAGE, mutations=4, stop="never")
def test_triage(prompt, llm):
    return llm(prompt.format(ticket=TICKET))
"""
)
SDK = (
    PROMPT
    + """
import openai

@robust(TRIAGE, mutations=4, stop="never")
def test_sdk(prompt):
    return openai.OpenAI(max_retries=0).chat.completions.create(
        model="gpt-5-mini", messages=[{"role": "user", "content": prompt.format(ticket=TICKET)}]
    ).choices[0].message.content
"""
)
LOOSE = (
    PROMPT
    + """
@robust(TRIAGE, mutations=4, stop="never", compare=False)
def test_it_answers(prompt, llm):
    assert llm(prompt.format(ticket=TICKET)).text
"""
)
UNABLE = (
    PROMPT
    + """
@robust(TRIAGE, mutations=4, stop="never")
def test_unable(prompt):
    assert prompt.format(ticket=TICKET)
"""
)
DEAD = (
    PROMPT
    + """
@robust(TRIAGE, mutations=4)
def test_dead(prompt, llm):
    llm(prompt.format(ticket=TICKET))
    return "BILLING"
"""
)
DECLARED = (
    PROMPT
    + """
@robust(TRIAGE, inputs=[TICKET, "I cannot log in."], mutations=4, stop="never")
def test_declared(response):
    assert response.text
"""
)


@pytest.fixture
def server(monkeypatch):
    for name in ("CI", "PROMPTFUZZ_MODE", "PROMPTFUZZ_TARGET", "PROMPTFUZZ_CONTROLS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-no-known-shape-17")
    with ModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        yield server


@pytest.fixture
def run(pytester: pytest.Pytester, server, monkeypatch):
    monkeypatch.delenv("PROMPTFUZZ_CONTROLS", raising=False)  # pytester sets it
    pytester.makefile(
        ".ini",
        pytest="[pytest]\nasyncio_default_fixture_loop_scope = function\npromptfuzz_target = openai:gpt-5-mini\n",
    )

    def run(source: str, *arguments: str) -> pytest.RunResult:
        pytester.makepyfile(test_it=source)
        return pytester.runpytest("-p", "no:cacheprovider", *arguments)

    return run


@pytest.mark.parametrize("source", [LLM, SDK], ids=["llm", "sdk"])
def test_the_run_says_how_many_were_asked(run, server, source) -> None:
    result = run(source)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*1 robust test: *6 calls made;*1 control;*"])
    assert len(server.requests) == 6


@pytest.mark.parametrize("source", [LLM, SDK], ids=["llm", "sdk"])
def test_a_recording_without_one_is_replayed_without_one(run, server, source, pytester) -> None:
    run(source, "--promptfuzz-mode=record", "--promptfuzz-controls=off").assert_outcomes(passed=1)
    before = len(server.requests)
    (file,) = pytester.path.glob("__promptfuzz__/*.calls.jsonl")
    recorded = file.read_bytes()
    for mode in ("replay", "auto"):
        result = run(source, f"--promptfuzz-mode={mode}", "--promptfuzz-cache-dir=elsewhere")
        result.assert_outcomes(passed=1)
        result.stdout.no_fnmatch_line("*control*")
    assert len(server.requests) == before
    assert file.read_bytes() == recorded


@pytest.mark.parametrize("source", [LLM, SDK, DECLARED], ids=["llm", "sdk", "declared"])
def test_a_recording_holds_its_control(run, server, source, pytester) -> None:
    run(source, "--promptfuzz-mode=record").assert_outcomes(passed=1)
    before = len(server.requests)
    (file,) = pytester.path.glob("__promptfuzz__/*.calls.jsonl")
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    plans = [line["plan"]["mutations"] for line in lines if "plan" in line]
    assert [[each["relation"] for each in plan].count("must-change") for plan in plans] == [1]
    for argument, says in (("--promptfuzz-controls=1", True), ("--promptfuzz-controls=off", False)):
        result = run(source, "--promptfuzz-mode=replay", argument, "--promptfuzz-cache-dir=elsewhere")
        result.assert_outcomes(passed=1)
        assert ("1 control" in result.stdout.str()) is says
    assert len(server.requests) == before


def test_what_the_control_changed_unnoticed_is_a_note(run) -> None:
    result = run(LOOSE)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["note test_it.py::test_it_answers: 1 control (answer-fixed) changed the answer, and no assertion*"]
    )


def test_a_test_that_cannot_fail_is_inconclusive_and_a_mark_or_an_option_lets_it_pass(run) -> None:
    run(DEAD).assert_outcomes(errors=1)
    run(DEAD).stdout.fnmatch_lines(["*2 controls (answer-fixed, answer-fixed-first)*none did*"])
    run(DEAD, "--promptfuzz-controls=0").assert_outcomes(passed=1)
    run(DEAD.replace("mutations=4", 'mutations=4, controls="off"')).assert_outcomes(passed=1)


def test_an_unchanged_control_is_no_trial_to_be_replayed(run, pytester) -> None:
    run(DEAD).assert_outcomes(errors=1)
    assert list(pytester.path.glob(".promptfuzz/counterexamples/**/*.json")) == []


def test_a_number_of_controls_that_is_none_is_refused(run) -> None:
    result = run(LLM, "--promptfuzz-controls=3")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--promptfuzz-controls*3*1, or 0 or off*"])


def test_declared_inputs_share_one_and_a_dry_run_counts_it(run, server) -> None:
    result = run(DECLARED, "--promptfuzz-dry-run")
    result.stdout.fnmatch_lines(["*test_declared: 11 calls*"])
    result = run(DECLARED)
    result.assert_outcomes(passed=1)
    assert len(server.requests) == 11


def test_its_trial_can_be_run_alone(run, server, pytester) -> None:
    run(LLM, "--promptfuzz-report=json:report.json")
    report = json.loads((pytester.path / "report.json").read_text(encoding="utf-8"))
    (control,) = [each for each in report["tests"][0]["trials"] if each.get("relation") == "must-change"]
    before = len(server.requests)
    result = run(LLM, f"--promptfuzz-trial={control['id']}", "--promptfuzz-mode=live")
    result.assert_outcomes(passed=1)
    assert len(server.requests) == before + 2


def test_assertions_that_pass_under_a_control_are_named(run) -> None:
    result = run(UNABLE)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            (
                "note test_it.py::test_unable: 1 control (answer-fixed) should have changed the answer, and the assertions of "
                "this test passed all the same: they may be unable to fail; *"
            )
        ]
    )
