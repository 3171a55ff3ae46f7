"""What must not be excused as noise: changes that break now and then, refusals of everything, parts that look one way."""

from __future__ import annotations

import hashlib
import itertools
import random
from collections import Counter

import pytest

from pytest_promptfuzz import evaluate, guard
from pytest_promptfuzz.evaluating.session import Session
from pytest_promptfuzz.server.faults import BadRequest
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.answers import MemoryStore

TRIAGE = "Classify the ticket as billing, shipping or technical. Answer with one word only.\n\nTicket: My parcel is lost."


def quiet(tests: int = 1) -> Session:
    return Session(store=MemoryStore(), tests=tests)


def breaking(rate: float, seed: int):
    """A model that is steady on the prompt itself, and broken so often on each call with a changed one."""
    rng = random.Random(seed)
    return lambda prompt: "billing" if prompt != TRIAGE and rng.random() < rate else "shipping"


@pytest.mark.parametrize(
    "settings", [{"mutations": 32, "stop": "never"}, {"mutations": 16}, {"max_deviations": 0}]
)
def test_changes_that_break_now_and_then_are_not_called_noise(settings) -> None:
    verdicts: Counter[str] = Counter()
    for seed in range(20):
        result = evaluate(TRIAGE, breaking(0.4, seed), session=quiet(), **settings)
        verdicts[result.verdict if result.reason != "score-reached" else "by its score"] += 1
    assert verdicts["pass"] <= 1
    assert verdicts["brittle"] >= 8


def test_the_first_answers_of_all_mutations_tell_as_well() -> None:
    # Asked again, each breaks once in three times, where the prompt itself never does.
    results = [evaluate(TRIAGE, breaking(0.4, seed), mutations=64, session=quiet()) for seed in range(8)]
    assert sum(result.verdict == "brittle" for result in results) >= 5


def test_where_the_provider_refuses_everything_nothing_is_concluded() -> None:
    asked = itertools.count()
    with ModelServer() as server:
        server.fail(BadRequest(times=None), when=lambda body: next(asked) > 0)
        result = evaluate(TRIAGE, f"compatible:any@{server.openai_url}", mutations=6, session=quiet())
    assert (result.verdict, result.reason) == ("inconclusive", "errors-decide")
    assert result.outcomes.deviation == 0
    assert result.outcomes.error > 0
    said = [trial.error.message for trial in result.trials if trial.error is not None]
    assert all("The unmutated prompt, asked again, was refused as well" in each for each in said)


def test_a_mutation_that_alone_is_refused_deviates() -> None:
    with ModelServer() as server:
        server.fail(BadRequest(times=None), when=lambda body: TRIAGE not in str(body).replace("\\n", "\n"))
        result = evaluate(
            TRIAGE, f"compatible:any@{server.openai_url}", mutations=6, session=quiet(), stop="never"
        )
    assert (result.verdict, result.outcomes.deviation) == ("brittle", 6)


def test_a_guard_that_looks_one_way_only_is_asked_that_way() -> None:
    @guard("one-way")
    def advice(baseline: str, response: str) -> str | None:
        return "gives advice" if "we recommend" in response and "we recommend" not in baseline else None

    prompt = "Summarize the text in one sentence.\n\nText: Rates rose again. Markets fell sharply."

    def app(text: str) -> str:
        broken = text != prompt and int(hashlib.md5(text.encode()).hexdigest(), 16) % 100 < 50
        return "Rates rose again and markets fell." + (" And we recommend to sell." if broken else "")

    result = evaluate(prompt, app, mutations=16, guards=[advice], stop="never", session=quiet())
    assert result.outcomes.deviation > 3
    assert (result.verdict, result.floor) == ("brittle", 1)
    assert result.adjusted_score == pytest.approx(result.score)


@pytest.mark.parametrize("tests", [1, 20, 100])
def test_a_judge_that_no_pair_needs_costs_no_proof(tests: int) -> None:
    settings = {"mutations": 8, "stop": "never"}
    app = lambda prompt: "shipping" if prompt == TRIAGE else "billing"  # noqa: E731
    plain = evaluate(TRIAGE, app, session=quiet(tests), **settings)
    judged = evaluate(TRIAGE, app, judge="simulated", session=quiet(tests), **settings)
    assert plain.verdict == judged.verdict == "brittle"
    assert plain.calls == judged.calls
