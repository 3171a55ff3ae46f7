"""Tests that are asked no further than their verdict needs: sync, async and declarative, recorded and replayed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.server.model_server import ModelServer
from tests.plugin.reported import CONFTEST, fresh, reports

if TYPE_CHECKING:
    from collections.abc import Iterator

SUITE = '''
import openai
import pytest
from pytest_promptfuzz import Prompt, robust

TRIAGE = Prompt("""Classify the support ticket below into exactly one of: BILLING, TECHNICAL, ACCOUNT, OTHER.

Rules:
- Answer with the label only
- Do not explain your choice

Ticket:
{ticket}""")
TICKET = "I was charged twice for my subscription this month and want a refund."
shared = openai.OpenAI()

def said(prompt):
    return {"model": "m", "messages": [{"role": "user", "content": str(prompt.format(ticket=TICKET))}]}

@robust(TRIAGE)
def test_sync(prompt):
    return shared.chat.completions.create(**said(prompt)).choices[0].message.content

@pytest.mark.asyncio
@robust(TRIAGE)
async def test_async(prompt):
    async with openai.AsyncOpenAI() as client:
        return (await client.chat.completions.create(**said(prompt))).choices[0].message.content

@robust(TRIAGE, inputs=[TICKET, "The app crashes at once."])
def test_declared(response):
    assert response.text

@robust(TRIAGE, stop="never", compare=False)
def test_whole(prompt, llm):
    assert llm(prompt.format(ticket=TICKET)).text

@robust(TRIAGE, compare=False)
def test_brittle(prompt, llm):
    assert prompt.text == TRIAGE.text
    llm(prompt.format(ticket=TICKET))
'''
SKIPPED = {"test_sync": 1, "test_async": 1, "test_declared": 2, "test_whole": 0, "test_brittle": 1}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(latency=0.02) as running:
        yield running


@pytest.fixture
def live(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, server: ModelServer):
    """Run the suite against the server in a process of its own."""
    monkeypatch.delenv("PROMPTFUZZ_STOP")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
    pytester.makeconftest(CONFTEST)
    pytester.makefile(
        ".ini",
        pytest="[pytest]\npromptfuzz_target = openai:gpt-5-mini\nfilterwarnings = error\n"
        "asyncio_default_fixture_loop_scope = function\n",
    )
    pytester.makepyfile(test_it=SUITE)

    def run(*arguments: str) -> pytest.RunResult:
        return pytester.runpytest("-p", "no:cacheprovider", *arguments)

    return run


def skipped(pytester: pytest.Pytester) -> dict[str, int]:
    return {name.partition("::")[2]: each["counts"]["not-needed"] for name, each in reports(pytester).items()}


def test_what_is_skipped_follows_from_the_answers_alone(pytester, live, server) -> None:
    found = []
    for arguments in (
        ("--promptfuzz-concurrency=1",),
        (),
        ("--promptfuzz-speculate=off", "--promptfuzz-lookahead=0"),
    ):
        fresh(pytester)
        server.reset()
        result = live("--promptfuzz-stop=certain", *arguments)
        assert result.parseoutcomes() == {"passed": 4, "failed": 1}, result.stdout.str()
        assert skipped(pytester) == SKIPPED
        result.stdout.fnmatch_lines(
            [
                "*7 deviations, 0 errors. The last one could not change the verdict.",
                "*; stopping early saved 5 calls;*",
            ]
        )
        found.append(
            [
                (name, [(trial["id"], trial["outcome"]) for trial in each["trials"]])
                for name, each in sorted(reports(pytester).items())
            ]
        )
        asked = sum(each["spent"]["calls"] for each in reports(pytester).values())
        assert server.calls == asked
    assert found[0] == found[1] == found[2]


def test_calls_that_are_made_early_are_those_of_a_batch(pytester, live, server) -> None:
    live("--promptfuzz-stop=certain", "-k", "sync or declared").assert_outcomes(passed=3, deselected=2)
    spent = {name.partition("::")[2]: each["spent"] for name, each in reports(pytester).items()}
    assert server.calls == 8 + 2 * 8  # the async test asks what the sync one was answered
    # After one mutation of the seven that could make "pass" certain, the six others.
    assert (spent["test_sync"]["speculated"], spent["test_sync"]["unused"]) == (6, 0)


def test_a_recording_holds_everything_and_its_replay_skips_nothing(pytester, live, server) -> None:
    only = ("-k", "sync or declared")
    live("--promptfuzz-stop=certain", "--promptfuzz-mode=record", *only).assert_outcomes(
        passed=3, deselected=2
    )
    assert set(skipped(pytester).values()) == {0}
    before = server.calls
    live("--promptfuzz-stop=certain", "--promptfuzz-mode=replay", *only).assert_outcomes(
        passed=3, deselected=2
    )
    assert set(skipped(pytester).values()) == {0}
    assert server.calls == before


def test_ways_of_stopping_have_names(pytester, live) -> None:
    result = live("--promptfuzz-stop=soon")
    result.stderr.fnmatch_lines(["*--promptfuzz-stop*soon*"])
    pytester.makepyfile(test_it=SUITE.replace('stop="never"', 'stop="soon"'))
    live("-k", "whole").stdout.fnmatch_lines(["*stop='soon' is not one of certain*"])
