"""An unchanged application whose model is noisy is not called worse, through real pytest processes and a real server."""

from __future__ import annotations

from pytest_promptfuzz.history.runs import Runs
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.targets.simulated.target import SimulatedModel

TESTS = """
import openai
import pytest

@robust(TRIAGE, mutations=8, threshold=0.01)
@pytest.mark.parametrize("number", range(3))
def test_reply(prompt, number):
    with openai.OpenAI(api_key="any") as client:
        messages = [{"role": "user", "content": f"{prompt.format(ticket=TICKET)} {number}"}]
        return client.chat.completions.create(model="m", messages=messages).choices[0].message.content
"""
# Clients that are collected late are none of this test's business.
LIVE = ("-o", "promptfuzz_target=", "--promptfuzz-mode=live", "-p", "no:unraisableexception")


def test_an_unchanged_run_of_a_noisy_model_is_no_drop(project, pytester, monkeypatch) -> None:
    with ModelServer(model=SimulatedModel(noise=0.3)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        for workers in ((), ("-n", "2")):
            result = project(TESTS, *LIVE, "--promptfuzz-fail-on=score drop", *workers)
            result.assert_outcomes(passed=3)
            assert result.ret == 0
            assert "more than noise" not in result.stdout.str()
    outcomes = [
        "".join("".join(each["trials"]["0"].values()) for each in run.tests().values())
        for run in Runs(pytester.path / ".promptfuzz").every()
    ]
    assert len(set(outcomes)) == 2  # the answers did differ
    assert "Since the last run (20" in result.stdout.str()
