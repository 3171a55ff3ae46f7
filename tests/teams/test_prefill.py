"""``promptfuzz prefill`` against the batch interfaces of the model server, through the real SDKs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from pytest_promptfuzz.running.batches.state import Submitted, Underway, alone
from pytest_promptfuzz.testing.faults import Overloaded

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
    models.fail(Overloaded())
    result = pytester.runpytest_subprocess("--promptfuzz-attempts=1", *more)
    result.assert_outcomes(passed=tests)
    assert models.calls == 0


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


def test_what_comes_later_is_resumed_and_never_submitted_twice(pytester, suite, models):
    suite(SUITE)
    models.batches.polls = 1000
    status, out = prefill("--no-wait")
    assert status == 0, out
    assert "24 requests under way" in out
    prefill("--no-wait")
    assert len(models.batches.submitted) == 2
    text = (pytester.path / ".promptfuzz" / "prefill.json").read_text()
    assert "Classify" not in text
    assert "none-needed-here" not in text
    models.batches.polls = 0
    status, out = prefill("--resume")
    assert status == 0, out
    assert "24 answers stored" in out
    assert json.loads((pytester.path / ".promptfuzz" / "prefill.json").read_text())["batches"] == []
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


def test_killed_between_submission_and_answer_it_finds_its_batches(pytester, suite, models):
    suite(SUITE)
    models.batches.polls = 10**6
    prefill("--no-wait")
    underway = Underway(pytester.path / ".promptfuzz")
    for each in underway.batches:
        each.id = ""  # as it stands when the process ends before the provider has answered
    underway.save()
    models.batches.polls = 0
    status, out = prefill()
    assert status == 0, out
    assert "24 answers stored" in out
    assert models.batches.submitted == [OPENAI, ANTHROPIC]


def test_a_batch_that_never_arrived_is_submitted(pytester, suite, models):
    suite(SUITE)
    folder = pytester.path / ".promptfuzz"
    folder.mkdir()
    underway = Underway(folder)
    underway.batches = [Submitted("openai", "t", time.time(), ["x"]), Submitted("anthropic", "t", 0.0, ["x"])]
    underway.save()
    status, out = prefill()
    assert status == 0, out
    assert models.batches.submitted == [OPENAI, ANTHROPIC]


@pytest.mark.parametrize(("what", "said"), [("fails", "The model failed."), ("expires", "expired")])
def test_partial_failures_are_told_and_asked_live(pytester, suite, models, what, said):
    suite(SUITE)
    setattr(models.batches, what, "hats")
    status, out = prefill("test_it.py", "--", "-k", "openai or anthropic")
    assert status == 3, out
    assert "20 answers stored" in out
    assert out.count("no answer: test_it.py::test_openai") == 4
    assert said in out
    pytester.runpytest_subprocess().assert_outcomes(passed=4)
    assert models.calls == 4


def test_cancelled_batches_keep_what_was_answered(pytester, suite, models):
    suite(SUITE)
    models.batches.polls = 10**6
    prefill("--no-wait")
    status, out = prefill("--cancel")
    assert status == 3, out
    assert "2 answers stored" in out
    assert "22 requests" not in out
    assert len(models.batches.submitted) == 2


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


def test_mistakes_are_one_clear_message(pytester, suite, models, monkeypatch):
    suite("def test_plain(): pass\n")
    assert prefill()[0] == 2
    suite(SUITE)
    status, out = prefill("missing.py")
    assert status == 2
    assert "could not plan the suite" in out
    (pytester.path / ".promptfuzz").mkdir(exist_ok=True)
    state = pytester.path / ".promptfuzz" / "prefill.json"
    state.write_text('{"format": 9, "batches": []}')
    status, out = prefill()
    assert status == 2
    assert "its format is 9" in out
    state.unlink()
    with alone(pytester.path / ".promptfuzz"):
        status, out = prefill()
    assert status == 2
    assert "Another prefill is at work" in out
    monkeypatch.delenv("OPENAI_API_KEY")
    status, out = prefill()
    assert status == 2
    assert "OPENAI_API_KEY" in out
    assert "Traceback" not in out
    assert models.batches.submitted == []
