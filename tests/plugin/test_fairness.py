"""A provider that enforces its limit, two workers and two models: few refusals, and nobody starves."""

from __future__ import annotations

import threading
import time
from collections import Counter

import pytest

from pytest_promptfuzz.server.faults import RateLimited
from pytest_promptfuzz.server.model_server import ModelServer

SUITE = """
import openai
import pytest

@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("model", ["narrow", "wide"])
@robust(TRIAGE, mutations=4)
def test_it(prompt, model, number):
    with openai.OpenAI() as client:
        messages = [{"role": "user", "content": f"{number}: " + str(prompt.format(ticket=TICKET))}]
        return client.chat.completions.create(model=model, messages=messages).choices[0].message.content
"""
TESTS, CALLS = 3, 5
LIMIT, WINDOW = 4, 1.0


class Enforcing:
    """Refuses a model's fifth request within a second, by a clock of the server's."""

    def __init__(self) -> None:
        self._since = 0.0
        self._count = 0
        self._lock = threading.Lock()
        self.refused = 0

    def __call__(self, body: str) -> bool:
        if '"narrow"' not in body:
            return False
        with self._lock:
            now = time.monotonic()
            if now - self._since >= WINDOW:
                self._since, self._count = now, 0
            self._count += 1
            self.refused += self._count > LIMIT
            return self._count > LIMIT


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_limit_that_is_learned_is_shared_and_holds_up_no_other_model(project, monkeypatch, workers):
    answered: Counter[str] = Counter()

    def count(request, status):
        if status == 200:
            answered["narrow" if '"narrow"' in request.text else "wide"] += 1

    enforcing = Enforcing()
    with ModelServer(on_request=count) as server:
        server.fail(RateLimited(times=None, retry_after=WINDOW), when=enforcing)
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "any")
        result = project(SUITE, "-o", "promptfuzz_target=", "-n", workers, "--promptfuzz-mode=live")
        result.assert_outcomes(passed=2 * TESTS)
        assert answered == {"narrow": TESTS * CALLS, "wide": TESTS * CALLS}
        # Each window of the provider's may end in the refusals of a round; what was learned keeps them fewer than that.
        assert enforcing.refused <= TESTS * CALLS
        assert server.calls == 2 * TESTS * CALLS + enforcing.refused


def test_a_model_that_is_shut_leaves_the_others_alone(project, monkeypatch):
    with ModelServer() as server:
        server.fail(RateLimited(times=None, retry_after=900), when='"narrow"')
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "any")
        result = project(SUITE, "-o", "promptfuzz_target=", "-n", "2", "--promptfuzz-mode=live")
        result.assert_outcomes(passed=TESTS, errors=TESTS)
        # Both workers know of it after the first refusal; one may have asked meanwhile.
        assert server.calls <= TESTS * CALLS + 2
