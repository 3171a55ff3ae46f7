"""Tests that freeze the clock of their application: what waits for a provider goes on, and keeps real time."""

from __future__ import annotations

import asyncio
import threading
import time

import anyio
import freezegun
import pytest
import time_machine

from pytest_promptfuzz import Session, aevaluate, evaluate
from pytest_promptfuzz.clocks import asleep, monotonic, now, sleep
from pytest_promptfuzz.running.limits.limits import SessionLimits
from pytest_promptfuzz.server.faults import RateLimited, ServerError
from pytest_promptfuzz.storage.answers import MemoryStore

PROMPT = (
    "Classify the ticket as billing or shipping. Answer with one word only.\n\nTicket: My parcel is lost."
)
FREEZERS = {
    "freezegun": lambda: freezegun.freeze_time("2020-02-29"),
    "freezegun, ticking": lambda: freezegun.freeze_time("2020-02-29", tick=True),
    "freezegun, real asyncio": lambda: freezegun.freeze_time("2020-02-29", real_asyncio=True),
    "time-machine": lambda: time_machine.travel("2020-02-29", tick=False),
}


def bounded(run, seconds=60.0):
    """What ``run`` returns; a failure where it waits for ever."""
    found: list = []
    thread = threading.Thread(target=lambda: found.append(run()), daemon=True)
    thread.start()
    thread.join(seconds)
    assert found, "it waits for ever"
    return found[0]


@pytest.mark.parametrize("name", FREEZERS)
def test_the_real_clock_goes_on(name):
    before, day = monotonic(), now()
    with FREEZERS[name]():
        sleep(0.05)
        assert 0.04 < monotonic() - before < 30
        assert abs(now() - day) < 30
        assert time.gmtime().tm_year == 2020  # the application's own is frozen
        for backend in ("asyncio", "trio"):
            bounded(lambda backend=backend: anyio.run(asleep, 0.05, backend=backend) or True)
    assert monotonic() - before < 60


@pytest.mark.parametrize("name", ["freezegun", "time-machine"])
@pytest.mark.parametrize("fault", [RateLimited(retry_after=0.3), ServerError(status=502)])
def test_a_frozen_test_waits_for_the_provider_and_goes_on(promptfuzz_server, name, fault):
    target = f"compatible:any@{promptfuzz_server.openai_url}"
    settings = {"mutations": 2, "stop": "never", "controls": 0}

    def run(how):
        promptfuzz_server.reset()
        promptfuzz_server.fail(fault, next=2)
        session = Session(store=MemoryStore(), gate=SessionLimits())
        with FREEZERS[name]():
            if how == "sync":
                return evaluate(PROMPT, target, session=session, **settings)
            return asyncio.run(aevaluate(PROMPT, target, session=session, **settings))

    for how in ("sync", "async"):
        result = bounded(lambda how=how: run(how))
        assert (result.verdict, result.outcomes.error) == ("pass", 0)
        assert promptfuzz_server.calls == 5


FROZEN = """
import datetime
import freezegun
import openai
import pytest

@freezegun.freeze_time("2020-02-29")
@robust(TRIAGE, mutations=2)
def test_frozen(prompt):
    assert datetime.date.today().year == 2020
    with openai.OpenAI(api_key="any") as client:
        messages = [{"role": "user", "content": prompt.format(ticket=TICKET)}]
        return client.chat.completions.create(model="any", messages=messages).choices[0].message.content

@freezegun.freeze_time("2020-02-29")
@robust(TRIAGE, mutations=2)
@pytest.mark.asyncio
async def test_frozen_async(prompt):
    assert datetime.date.today().year == 2020
    async with openai.AsyncOpenAI(api_key="any") as client:
        messages = [{"role": "user", "content": prompt.format(ticket=TICKET)}]
        done = await client.chat.completions.create(model="any", messages=messages)
    return done.choices[0].message.content
"""


def test_tests_that_freeze_time_recover(project, promptfuzz_server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", promptfuzz_server.openai_url)
    promptfuzz_server.fail(RateLimited(retry_after=0.2), every=3, next=4)
    result = project(FROZEN, "-o", "promptfuzz_target=", "--promptfuzz-mode=live", "--timeout=120")
    result.assert_outcomes(passed=2)


CASSETTE = """
import urllib.error
import urllib.request

import openai
import pytest

@pytest.mark.vcr
@robust(TRIAGE, mutations=2)
def test_taped(prompt):
    with openai.OpenAI(api_key="any") as client:
        messages = [{"role": "user", "content": prompt.format(ticket=TICKET)}]
        return client.chat.completions.create(model="any", messages=messages).choices[0].message.content

@pytest.mark.vcr
@robust(TRIAGE, mutations=2)
def test_another_request(prompt, llm):
    import os
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(os.environ["OPENAI_BASE_URL"] + "/nothing")
    return llm(prompt.format(ticket=TICKET))
"""


def test_tests_with_cassettes_run(project_forked, promptfuzz_server, monkeypatch):
    """vcrpy puts classes of its own in the place of http.client's."""
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setenv("OPENAI_BASE_URL", promptfuzz_server.openai_url)
    for mode, calls in (("once", 6), ("none", 0)):
        options = ("-o", "promptfuzz_target=openai:any", "--promptfuzz-mode=live", f"--record-mode={mode}")
        promptfuzz_server.reset()
        project_forked(CASSETTE, *options).assert_outcomes(passed=2)
        assert promptfuzz_server.calls == calls
