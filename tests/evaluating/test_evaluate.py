"""`evaluate` and `aevaluate`: a prompt, a target, a verdict, without pytest."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz import (
    BaselineFailed,
    ConfigurationError,
    Prompt,
    Response,
    Session,
    TargetError,
    UsageError,
    aevaluate,
    evaluate,
)
from pytest_promptfuzz.server.faults import RateLimited, ServerError
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.answers import MemoryStore
from pytest_promptfuzz.targets.simulated import SimulatedModel

if TYPE_CHECKING:
    from pytest_promptfuzz.providers.requests import Request

TRIAGE = """Classify the support ticket below into exactly one of: BILLING, TECHNICAL, ACCOUNT, OTHER.

Rules:
- Answer with the label only
- Do not explain your choice

Ticket:
I was charged twice for my subscription this month and want a refund."""


def quiet() -> Session:
    """Compare without the semantic tier, whatever is installed."""
    return Session(store=MemoryStore())


def test_the_simulated_model_is_robust_on_a_plain_prompt() -> None:
    result = evaluate(TRIAGE, "simulated", stop="never", session=quiet(), controls=0)
    assert (result.verdict, result.score, result.reason) == ("pass", 1.0, "score-reached")
    assert result.outcomes.as_dict() == {
        "equivalent": 8,
        "minor": 0,
        "deviation": 0,
        "undecided": 0,
        "error": 0,
        "not-needed": 0,
    }
    assert (result.calls, result.baseline, result.target) == (9, "BILLING", "simulated")
    assert result.task == "classification (inferred)"
    assert set(result.by_dimension) == {"lexical", "semantic", "structural"}
    assert all(0 < group.weighted <= 1 for group in result.by_dimension.values())
    assert [trial.id for trial in result.trials] == [
        t.id for t in evaluate(TRIAGE, "simulated", controls=0).trials
    ]


def test_a_second_evaluation_makes_no_call() -> None:
    session = quiet()
    assert evaluate(TRIAGE, "simulated", session=session, controls=0).calls == 8  # seven of eight suffice
    again = evaluate(TRIAGE, "simulated", session=session, controls=0)
    assert (again.calls, again.spent.hits, again.verdict) == (0, 8, "pass")
    live = Session(store=session.store, mode="live")
    assert evaluate(TRIAGE, "simulated", session=live, controls=0).calls == 8


def test_async_gives_the_same() -> None:
    result = asyncio.run(aevaluate(TRIAGE, "simulated", session=quiet()))
    one = evaluate(TRIAGE, "simulated", session=quiet())
    assert (result.verdict, result.outcomes) == (one.verdict, one.outcomes)
    assert [trial.value for trial in result.trials] == [trial.value for trial in one.trials]


def by_words(prompt: str) -> str:
    return "BILLING" if "Classify" in prompt and "- Do not" in prompt else "TECHNICAL"


async def by_words_later(prompt: str) -> str:
    await asyncio.sleep(0)
    return by_words(prompt)


def test_a_function_of_the_application_is_a_target() -> None:
    result = evaluate(TRIAGE, by_words, stop="never", session=quiet(), controls=0)
    assert result.verdict == "brittle"
    deviating = [trial for trial in result.trials if trial.outcome == "deviation"]
    assert {trial.value for trial in deviating} == {"TECHNICAL"}
    assert all(trial.comparison.explanation for trial in deviating)
    assert result.noise.significant
    # Its own calls are not seen: the repeat run asks it again, and is a second answer to the unmutated prompt.
    shrinking = sum(each.calls for each in result.counterexamples)
    assert result.calls == 8 + result.noise.baselines + result.noise.repeats + shrinking
    later = asyncio.run(aevaluate(TRIAGE, by_words_later, stop="never", session=quiet(), controls=0))
    assert (later.verdict, later.outcomes) == (result.verdict, result.outcomes)


def test_a_function_that_rolls_dice_is_not_called_brittle() -> None:
    answers = iter(["BILLING", "TECHNICAL"] * 40)
    result = evaluate(TRIAGE, lambda prompt: next(answers), session=quiet())
    assert (result.verdict, result.reason) == ("noisy", "noise-floor")
    assert result.noise.baselines > 2


def test_the_second_run_of_a_function_is_an_answer_like_any_other() -> None:
    result = evaluate(TRIAGE, lambda prompt: "BILLING", session=quiet(), controls=0)
    assert (result.verdict, result.calls, result.noise.baselines) == ("pass", 9, 2)


def test_a_part_that_differs_each_time_is_named_where_the_function_is_its_own_model() -> None:
    numbers = itertools.count()
    result = evaluate(TRIAGE, lambda prompt: {"team": "BILLING", "id": next(numbers)}, session=quiet())
    assert result.verdict == "noisy"
    assert "ignore=['$.id']" in " ".join(result.notes)
    result = evaluate(
        TRIAGE, lambda prompt: {"team": "BILLING", "id": next(numbers)}, ignore=["$.id"], session=quiet()
    )
    assert result.verdict == "pass"


def test_errors_of_the_infrastructure_bound_the_verdict() -> None:
    asked: list[str] = []

    def limited(prompt: str) -> str:
        asked.append(prompt)
        if len(asked) > 2 + 4:
            raise TargetError("429 from the provider", kind="rate-limit", status=429)
        return "BILLING"

    result = evaluate(TRIAGE, limited, session=quiet())
    assert (result.verdict, result.reason) == ("inconclusive", "errors-decide")
    assert result.outcomes.error == 4
    assert result.bounds == (0.5, 1.0)
    asked.clear()
    assert evaluate(TRIAGE, limited, session=quiet(), threshold=0.5).verdict == "pass"


def test_an_exception_on_a_mutation_is_a_deviation_and_on_the_baseline_a_failure() -> None:
    def strict(prompt: str) -> str:
        if "- Do not" not in prompt:
            raise ValueError("the rule is gone")
        return "BILLING"

    result = evaluate(TRIAGE, strict, session=quiet(), threshold=0)
    failed = [trial for trial in result.trials if trial.failure is not None]
    assert failed
    assert {trial.failure.message for trial in failed} == {"the rule is gone"}
    assert {trial.outcome for trial in failed} == {"deviation"}

    def broken(prompt: str) -> str:
        raise ZeroDivisionError("always")

    with pytest.raises(BaselineFailed, match="already fails: ZeroDivisionError: always") as raised:
        evaluate(TRIAGE, broken, session=quiet())
    assert isinstance(raised.value.exception, ZeroDivisionError)


def test_a_baseline_that_fails_once_and_passes_once_is_noisy() -> None:
    runs: list[str] = []

    def flaky(prompt: str) -> str:
        runs.append(prompt)
        if len(runs) == 1:
            raise AssertionError("only the first time")
        return "BILLING"

    result = evaluate(TRIAGE, flaky, session=quiet())
    assert (result.verdict, result.reason, len(runs)) == ("noisy", "baseline-mixed", 2)


def test_a_provider_that_fails_on_the_baseline() -> None:
    with ModelServer() as server:
        target = f"compatible:any@{server.openai_url}"
        server.fail(ServerError(status=500, times=None))
        result = evaluate(TRIAGE, target, session=quiet())
        assert (result.verdict, result.reason) == ("inconclusive", "baseline-error")
        server.reset()
        server.fail(RateLimited(retry_after=0, times=2))
        assert evaluate(TRIAGE, target, session=quiet()).verdict == "pass"


class Renamed(SimulatedModel):
    """Answers under another name from the fourth call on, as a provider does when it moves an alias."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0
        self.switch = 4

    def answer(self, request: Request, *, sample: int = 0) -> Response:
        import dataclasses

        self.asked += 1
        answer = super().answer(request, sample=sample)
        return dataclasses.replace(answer, model="model-1" if self.asked < self.switch else "model-2")


def test_answers_of_another_model_are_not_compared_with_the_baselines() -> None:
    with ModelServer(Renamed()) as server:
        result = evaluate(
            TRIAGE, f"compatible:any@{server.openai_url}", stop="never", session=quiet(), controls=0
        )
        assert result.verdict == "pass"
        assert result.calls == 18
        assert result.model in {"model-1", "model-2"}
        assert (
            "answered as model-1 and as model-2, so every answer of this test was asked for again"
            in result.notes[0]
        )
    flapping = Renamed()
    flapping.switch = 13  # in the second round as well
    with ModelServer(flapping) as server:
        session = Session(store=MemoryStore(), mode="live")
        flapping.switch = 4
        result = evaluate(TRIAGE, f"compatible:any@{server.openai_url}", session=session, controls=0)
        assert (result.verdict, result.reason) == ("inconclusive", "mixed-models")


@pytest.mark.parametrize(
    ("prompt", "target", "settings", "error", "message"),
    [
        ("", "simulated", {}, UsageError, "The prompt is empty"),
        ("{ticket}", "simulated", {}, UsageError, "evaluate: "),
        (
            TRIAGE,
            "simulated",
            {"threshold": 85},
            UsageError,
            "threshold=85 is out of range.*Did you mean 0.85",
        ),
        (TRIAGE, "simulated", {"threshold": 2}, UsageError, r"Write a number from 0 to 1\.$"),
        (
            TRIAGE,
            "simulated",
            {"threshold": "high"},
            UsageError,
            "threshold='high' is not a number from 0 to 1",
        ),
        (TRIAGE, "simulated", {"threshold": float("nan")}, UsageError, "threshold=nan is out of range"),
        (
            TRIAGE,
            "simulated",
            {"mutations": 0},
            UsageError,
            "mutations=0 is out of range. Write a whole number from 1",
        ),
        (
            TRIAGE,
            "simulated",
            {"mutations": True},
            UsageError,
            "mutations=True is not a whole number",
        ),
        (TRIAGE, "simulated", {"seed": 1.5}, UsageError, "seed=1.5 is not a whole number"),
        (
            TRIAGE,
            "simulated",
            {"task": "clasification"},
            UsageError,
            "task='clasification' is not one of .*Did you mean 'class",
        ),
        (TRIAGE, "simulated", {"operators": ["uper-case"]}, UsageError, "operators: .*uper-case.*upper-case"),
        (TRIAGE, "simulated", {"ignore": "id"}, UsageError, "ignore='id'"),
        (
            TRIAGE,
            "simulated",
            {"minor_at": 0.9, "equivalent_at": 0.8},
            UsageError,
            "minor_at=0.9 is above equivalent_at",
        ),
        (
            TRIAGE,
            "simulated",
            {"mutatons": 3},
            UsageError,
            "unknown setting 'mutatons'. Did you mean 'mutations'",
        ),
        (TRIAGE, "gpt-5-mini", {}, UsageError, "openai:gpt-5-mini"),
        (TRIAGE, "opnai:gpt-5-mini", {}, UsageError, "Did you mean 'openai:gpt-5-mini'"),
        (TRIAGE, 7, {}, UsageError, "target=7 is neither"),
        (TRIAGE, len, {"parameters": {"temperature": 0}}, UsageError, "parameters= are for models"),
    ],
)
def test_bad_input(
    prompt: Any, target: Any, settings: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        evaluate(prompt, target, session=quiet(), **settings)


def test_a_missing_key_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        evaluate(TRIAGE, "openai:gpt-5-mini", session=quiet())


def test_a_response_that_is_not_text() -> None:
    result = evaluate(TRIAGE, lambda prompt: None, session=quiet())
    assert (result.verdict, result.reason) == ("inconclusive", "baseline-error")
    assert "a response that is not text" in result.explanation


def test_one_trial_and_progress() -> None:
    whole = evaluate(TRIAGE, "simulated", session=quiet())
    seen: list[int] = []
    one = evaluate(TRIAGE, "simulated", session=quiet(), only=whole.trials[3].id, progress=seen.append)
    assert [trial.id for trial in one.trials] == [whole.trials[3].id]
    assert seen == [1, 2, 3]
    with pytest.raises(UsageError, match="there is no trial 'nowhere'"):
        evaluate(TRIAGE, "simulated", session=quiet(), only="nowhere")


def test_a_chat_prompt() -> None:
    prompt = Prompt.from_messages(
        [
            {
                "role": "system",
                "content": "Classify the ticket into one of: BILLING, TECHNICAL. Answer with the label only.",
            },
            {"role": "user", "content": "Ticket: I was charged twice and want my money back."},
        ]
    )
    result = evaluate(prompt, "simulated", session=quiet(), mutations=6)
    assert (result.verdict, result.baseline) == ("pass", "BILLING")


def test_importing_the_package_and_evaluating_imports_no_sdk() -> None:
    code = (
        "import sys, pytest_promptfuzz as p\n"
        "assert 'pytest' not in sys.modules\n"
        f"r = p.evaluate({TRIAGE!r}, 'simulated', mutations=4, session=p.Session())\n"
        "assert r.verdict == 'pass', r\n"
        "heavy = {'openai', 'anthropic', 'httpx', 'httpx2', 'torch', 'numpy', 'jsonschema', 'diskcache', 'pytest'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_slots_that_were_not_filled_are_named() -> None:
    result = evaluate("Classify {ticket} as SPAM or HAM.", "simulated", session=quiet(), mutations=3)
    assert (
        "the prompt was sent with its slots unfilled: ticket; fill them with inputs= or format()"
        in result.notes
    )
    assert not evaluate(TRIAGE, "simulated", session=quiet(), mutations=3).notes


def test_runs_that_cannot_be_had_again_are_said() -> None:
    asked = []

    def failing_later(prompt: str) -> str:
        asked.append(prompt)
        if len(asked) > 10:  # baseline, control and eight mutations
            raise TargetError("The provider is overloaded.", kind="server-error", status=503)
        return by_words(prompt)

    result = evaluate(TRIAGE, failing_later, session=quiet())
    assert (result.verdict, result.reason) == ("inconclusive", "not-significant")
    assert any(
        "to measure noise have no answer (The provider is overloaded)" in each for each in result.notes
    )
