"""``promptfuzz prefill`` against the batch interfaces of the model server, through the real SDKs."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from pytest_promptfuzz.server.faults import Unauthorized
from tests import warm
from tests.in_process import promptfuzz

SUITE = """
from pathlib import Path

@robust(TRIAGE, inputs=TICKETS, mutations=3, threshold=0.0)
def test_openai(response):
    assert response.text

@robust(TRIAGE, inputs=TICKETS[:2], mutations=3, threshold=0.0, target="anthropic:claude-sonnet-5")
def test_anthropic(response):
    assert response.text

@robust(TRIAGE, inputs=TICKETS[:1], mutations=3, threshold=0.0, target="simulated")
def test_simulated(response):
    assert response.text

def test_plain():
    Path("ran").touch()
"""
OPENAI, ANTHROPIC = 4 * 4, 2 * 4


def start(*arguments):
    command = [sys.executable, "-m", "pytest_promptfuzz.cli", "prefill", "--poll", "0.05", *arguments]
    return warm.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def prefill(*arguments):
    done = promptfuzz("prefill", "--poll", "0.05", *arguments, together=True)
    return done.returncode, done.stdout


def passes_without_a_call(pytester, models, tests, *more):
    models.fail(Unauthorized())
    result = pytester.runpytest("--promptfuzz-attempts=1", *more)
    result.assert_outcomes(passed=tests)
    assert models.calls == 0, "every answer is in the store"


def test_what_is_prefilled_is_what_the_tests_ask(pytester, suite, models):
    suite(SUITE)
    status, out = prefill("--dry-run")
    assert (status, models.batches.submitted) == (0, [])
    assert f"{OPENAI + ANTHROPIC} requests to make, 0 stored" in out
    status, out = prefill()
    assert status == 0, out
    assert f"{OPENAI + ANTHROPIC} answers stored" in out
    assert sorted(models.batches.submitted) == [ANTHROPIC, OPENAI]
    assert not (pytester.path / "ran").exists()
    status, out = prefill()
    assert status == 0
    assert "0 requests to make, 24 stored" in out
    assert len(models.batches.submitted) == 2
    passes_without_a_call(pytester, models, 4)


def test_killed_while_it_waits_it_goes_on(pytester, suite, models):
    suite(SUITE)
    models.batches.polls = 10**6
    process = start()
    deadline = time.monotonic() + 600
    while len(models.batches.submitted) < 2:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    models.batches.polls = 0
    status, out = prefill()
    assert status == 0, out
    assert "24 answers stored" in out
    assert models.batches.submitted == [OPENAI, ANTHROPIC]


def test_what_no_batch_takes_is_left(pytester, suite, models):
    suite(
        f"""
@robust(TRIAGE, inputs=TICKETS[:1], mutations=2, threshold=0.0, target="compatible:llama@{models.url}/other/v1")
def test_elsewhere(response):
    pass

@robust(TRIAGE, mutations=2, threshold=0.0)
def test_own(prompt, llm):
    raise AssertionError("the body ran")
"""
    )
    status, out = prefill("--no-bodies")
    assert status == 0, out
    left = f"not in a batch, called when the test runs: 3 requests of test_it.py::test_elsewhere to {models.url}/other/v1/chat/completions: "
    assert left + "no batch takes what is asked there" in out
    assert "0 answers stored" in out
    assert "not planned: test_it.py::test_own: its calls show only when its body runs" in out
    assert models.batches.submitted == []


def test_a_stream_is_left_and_said_to_be_one(suite):
    suite(
        """
import openai

@robust(TRIAGE, mutations=2, threshold=0.0)
def test_streamed(prompt):
    asked = [{"role": "user", "content": prompt.format(ticket=TICKETS[1])}]
    parts = openai.OpenAI(api_key="key-of-nobody").chat.completions.create(model="gpt-5-mini", messages=asked, stream=True)
    return "".join(each.choices[0].delta.content or "" for each in parts if each.choices)
"""
    )
    status, out = prefill()
    assert status == 0, out
    assert "not in a batch, called when the test runs: " in out
    assert "/v1/chat/completions: a stream" in out


BODIES = """
import asyncio
import anthropic, openai
import pytest

@robust(TRIAGE, mutations=3, threshold=0.0)
def test_llm(prompt, llm):
    answer = llm(prompt.format(ticket=TICKETS[0]))
    assert answer.text

@robust(TRIAGE, mutations=3, threshold=0.0)
def test_sdk(prompt):
    asked = [{"role": "user", "content": prompt.format(ticket=TICKETS[1])}]
    answer = openai.OpenAI().chat.completions.create(model="gpt-5-mini", messages=asked)
    return answer.choices[0].message.content

@robust(mutate="role:system", mutations=3, threshold=0.0)
def test_wire():
    answer = anthropic.Anthropic().messages.create(
        model="claude-sonnet-5", max_tokens=50, system="Classify the ticket as BILLING or OTHER. Answer in one word.",
        messages=[{"role": "user", "content": TICKETS[2]}],
    )
    return answer.content[0].text

@robust(TRIAGE, mutations=3, threshold=0.0)
@pytest.mark.asyncio
async def test_at_once(prompt):
    client = openai.AsyncOpenAI()
    async def ask(ticket, late):
        await asyncio.sleep(late)
        asked = [{"role": "user", "content": prompt.format(ticket=ticket)}]
        return await client.chat.completions.create(model="gpt-5-mini", messages=asked)
    answers = await asyncio.gather(ask("It is broken.", 0), ask("It is too dear.", 0.2))
    return [each.choices[0].message.content for each in answers]

@robust(TRIAGE, mutations=3, threshold=0.0)
def test_chain(prompt, llm):
    try:
        label = llm(prompt.format(ticket=TICKETS[3])).text
    except Exception:
        label = llm("What would be the label?").text
    return llm("Say in one sentence why a ticket is " + label).text

@robust(TRIAGE, mutations=3, threshold=0.0)
def test_twice(prompt, llm):
    return [llm(prompt.format(ticket="Twice the same.")).text for _ in range(2)]
"""
ONE_CALL = 4 + 4 + 4 + 2 * 4


def test_bodies_are_planned_and_then_make_no_call(pytester, suite, models):
    suite(BODIES)
    status, out = prefill("--dry-run")
    assert status == 0, out
    assert models.calls == 0
    assert f"{ONE_CALL + 4 + 4} requests to make, 0 stored" in out
    assert "prefill sends them in further rounds" in out
    status, out = prefill()
    assert status == 0, out
    assert "round 2: " in out
    assert "not planned" not in out
    assert models.calls == 0
    passes_without_a_call(pytester, models, 6)


def test_a_chain_goes_one_call_further_with_each_round(pytester, suite, models):
    suite(
        """
@robust(TRIAGE, mutations=2, threshold=0.0)
def test_chain(prompt, llm):
    said = llm(prompt.format(ticket=TICKETS[0])).text
    for step in range(3):
        said = llm(f"{step}: {said}").text
"""
    )
    status, out = prefill()
    assert status == 0, out
    assert [each for each in ("round 2: ", "round 3: ", "round 4: ", "round 5: ") if each in out] == [
        "round 2: ",
        "round 3: ",
        "round 4: ",
    ]
    passes_without_a_call(pytester, models, 1)


def test_what_is_left_of_a_round_is_not_asked_again_by_the_next(pytester, suite, models):
    suite(
        """
@robust(TRIAGE, mutations=2, threshold=0.0)
def test_chain(prompt, llm):
    return llm("After " + llm(prompt.format(ticket=TICKETS[0])).text).text

@robust(TRIAGE, mutations=2, threshold=0.0)
def test_fails(prompt, llm):
    return llm(prompt.format(ticket="Rotten")).text
"""
    )
    models.batches.fails = "Rotten"
    status, out = prefill()
    assert status == 3, out
    assert out.count("no answer: test_it.py::test_fails") == 3
    assert models.batches.submitted[0] == 6
    assert sum(models.batches.submitted) <= 6 + 3
    models.batches.fails = ""
    status, out = prefill()
    assert status == 0, out
    assert "3 answers stored" in out
    passes_without_a_call(pytester, models, 2)


def test_what_cannot_be_planned_is_named_with_the_reason(pytester, suite, models):
    suite(
        """
import uuid, pytest

@robust(TRIAGE, mutations=2, threshold=0.0)
def test_clock(prompt, llm):
    return llm(prompt.format(ticket=str(uuid.uuid4()))).text

@robust(TRIAGE, mutations=2, threshold=0.0)
def test_early(prompt, llm):
    raise ValueError("before any call")

@robust(TRIAGE, mutations=2, threshold=0.0)
def test_silent(prompt):
    return prompt.format(ticket="")

@robust(mutate="nowhere", mutations=2, threshold=0.0)
def test_wrong(llm):
    pass

@robust(TRIAGE, mutations=2, threshold=0.0)
def test_fine(prompt, llm):
    return llm(prompt.format(ticket=TICKETS[0])).text
"""
    )
    status, out = prefill("--dry-run")
    assert status == 0, out
    assert "3 requests to make" in out
    for test, why in (
        ("test_clock", "it asks something else each time it is run"),
        ("test_early", "it raises ValueError before it asks a model"),
        ("test_silent", "it asks no model that is seen"),
        ("test_wrong", "nowhere"),
    ):
        assert any(
            f"not planned: test_it.py::{test}: " in line and why in line for line in out.splitlines()
        ), out
    assert models.calls == 0


def test_the_cost_is_shown_at_half_the_price(pytester, suite, models):
    suite(SUITE)
    pytester.makefile(
        ".toml",
        pyproject="""
[tool.promptfuzz.prices]
"gpt-5*" = {input = 2.0, output = 8.0}
"claude*" = {input = 2.0, output = 8.0}
""",
    )
    _, out = prefill("--dry-run", "test_it.py::test_openai")
    line = next(each for each in out.splitlines() if "requests to make" in each)
    full = pytester.runpytest("--promptfuzz-dry-run", "test_it.py::test_openai")
    low, high = re.search(r"\$([0-9.]+) to \$([0-9.]+)", full.stdout.str()).groups()
    half_low, half_high = re.search(r"\$([0-9.]+) to \$([0-9.]+) at half the price", line).groups()
    assert float(half_low) == pytest.approx(float(low) / 2, abs=1e-4)
    assert float(half_high) == pytest.approx(float(high) / 2, abs=1e-4)


def test_a_text_that_shows_only_later_is_mutated_when_it_shows(pytester, suite, models):
    suite(
        """
import anthropic

@robust(mutate="role:system", mutations=2, threshold=0.0)
def test_late():
    client = anthropic.Anthropic()
    first = client.messages.create(
        model="claude-sonnet-5", max_tokens=50, messages=[{"role": "user", "content": TICKETS[2]}]
    )
    second = client.messages.create(
        model="claude-sonnet-5", max_tokens=50, system="Classify the ticket as BILLING or OTHER. Answer in one word.",
        messages=[{"role": "user", "content": first.content[0].text}],
    )
    return second.content[0].text
"""
    )
    status, out = prefill()
    assert status == 0, out
    assert "1 request to make" in out
    assert "not planned" not in out
    assert models.batches.submitted == [1, 3]
    passes_without_a_call(pytester, models, 1)
