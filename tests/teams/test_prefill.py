"""``promptfuzz prefill`` against the batch interfaces of the model server, through the real SDKs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

from pytest_promptfuzz.testing.faults import Unauthorized

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
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def prefill(*arguments):
    process = start(*arguments)
    out, _ = process.communicate(timeout=120)
    return process.returncode, out


def passes_without_a_call(pytester, models, tests, *more):
    models.fail(Unauthorized())
    result = pytester.runpytest_subprocess("--promptfuzz-attempts=1", *more)
    result.assert_outcomes(passed=tests)
    assert models.calls == 0, "every answer is in the store"


def test_what_is_prefilled_is_what_the_tests_ask(pytester, suite, models):
    suite(SUITE)
    status, out = prefill("--dry-run")
    assert (status, models.batches.submitted) == (0, [])
    assert f"{OPENAI + ANTHROPIC} requests to make, 0 answered" in out
    status, out = prefill()
    assert status == 0, out
    assert f"{OPENAI + ANTHROPIC} answers stored" in out
    assert sorted(models.batches.submitted) == [ANTHROPIC, OPENAI]
    assert not (pytester.path / "ran").exists()
    status, out = prefill()
    assert status == 0
    assert "0 requests to make, 24 answered in the store" in out
    assert len(models.batches.submitted) == 2
    passes_without_a_call(pytester, models, 4)


def test_killed_while_it_waits_it_goes_on(pytester, suite, models):
    suite(SUITE)
    models.batches.polls = 10**6
    process = start()
    deadline = time.monotonic() + 60
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
    status, out = prefill()
    assert status == 0, out
    assert f"left to be asked live: 3 requests to {models.url}/other/v1/chat/completions" in out
    assert "not planned: test_it.py::test_own" in out
    assert models.batches.submitted == []
