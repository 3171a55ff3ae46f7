"""A plan is asked no further than its verdict needs: what is skipped, what it is called, and that verdicts stay."""

from __future__ import annotations

import asyncio

import pytest

from pytest_promptfuzz import aevaluate, evaluate
from pytest_promptfuzz.evaluating.session import Session
from pytest_promptfuzz.mutations.engine.planner import mutate
from pytest_promptfuzz.reporting.model import report_test
from pytest_promptfuzz.reporting.terminal.failure import failure_lines
from pytest_promptfuzz.reporting.terminal.styled_text import render
from pytest_promptfuzz.reporting.terminal.summary import summary_lines
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.answers import MemoryStore
from tests.evaluating.test_evaluate import TRIAGE, Renamed

PROMPT = (
    "You are a careful assistant of a large shop. Read the message of a customer, and decide whether they want "
    "their money back. Answer with yes or no only. Do not explain your choice to them."
)
INPUTS = ["Give me my money.", "Where is my parcel?", "It broke after a day!"]


def quiet(**more) -> Session:
    return Session(store=MemoryStore(), **more)


def breaking(share: float):
    """An application that the first so many of 16 mutations break, in the order in which they are planned."""
    planned = [each.text for each in mutate(PROMPT, 16)]
    broken = set(planned[: round(share * 16)])
    asked: list[str] = []

    def application(prompt: str) -> str:
        asked.append(prompt)
        return "no" if prompt in broken else "yes"

    return application, asked


@pytest.mark.parametrize("share", [number / 16 for number in range(17)])
def test_the_verdict_is_that_of_the_whole_plan_and_fewer_are_asked(share: float) -> None:
    application, _ = breaking(share)
    whole = evaluate(PROMPT, application, mutations=16, session=quiet())
    found = evaluate(PROMPT, application, mutations=16, stop="certain", session=quiet())
    assert found.verdict == whole.verdict
    skipped = found.outcomes.not_needed
    assert skipped >= 1 if share in {0.0, 1.0} else skipped >= 0
    assert found.outcomes.total + skipped == 16
    assert found.bounds[0] <= whole.score <= found.bounds[1]
    assert [each.id for each in found.trials] == [each.id for each in whole.trials]
    for one, other in zip(found.trials, whole.trials, strict=True):
        assert one.outcome in {other.outcome, "not-needed"}


def test_a_robust_prompt_is_asked_as_often_as_it_has_to_pass() -> None:
    application, asked = breaking(0)
    found = evaluate(PROMPT, application, stop="certain", session=quiet(), controls=0)
    assert (found.verdict, found.score) == ("pass", 1.0)
    assert (found.outcomes.equivalent, found.outcomes.not_needed, found.spent.saved) == (7, 1, 1)
    assert found.bounds == (0.875, 1.0)
    assert len(asked) == 1 + 1 + 7  # baseline, control, mutations
    assert found.explanation.endswith("1 of 8 trials could not change the verdict.")


def test_a_brittle_prompt_is_asked_again_and_the_rest_of_its_plan_is_not() -> None:
    application, _ = breaking(1)
    found = evaluate(PROMPT, application, mutations=16, stop="certain", session=quiet())
    assert (found.verdict, found.score) == ("brittle", 0.0)
    assert (found.outcomes.deviation, found.outcomes.not_needed) == (6, 10)
    assert found.noise.significant


def test_what_turns_out_to_be_noise_is_asked_to_the_end() -> None:
    """The first answers deviate; asked again they do not, so the rest of the plan has to be asked."""
    seen: dict[str, int] = {}

    def application(prompt: str) -> str:
        seen[prompt] = seen.get(prompt, 0) + 1
        first = prompt != PROMPT and seen[prompt] == 1 and len(seen) < 6
        return "no" if first else "yes"

    found = evaluate(PROMPT, application, mutations=16, stop="certain", session=quiet())
    assert (found.verdict, found.reason) == ("pass", "not-repeated")
    assert (found.outcomes.deviation, found.outcomes.not_needed) == (4, 0)


@pytest.mark.parametrize("stop", ["certain", "sprt", "sequential"])
def test_the_same_trials_are_skipped_one_by_one_and_at_once(stop: str) -> None:
    def shown(result):
        return [(each.case, each.id, each.outcome) for each in result.trials], result.verdict, result.noise

    async def application(prompt: str) -> str:
        await asyncio.sleep(0)
        return "no" if prompt.isupper() or "Read" not in prompt else "yes"

    settings = {"mutations": 64, "stop": stop}
    found = [
        shown(asyncio.run(aevaluate(PROMPT, application, session=quiet(concurrency=number), **settings)))
        for number in (1, 3, 8)
    ]
    assert found[0] == found[1] == found[2]
    assert any(outcome == "not-needed" for _, _, outcome in found[0][0])


def test_inputs_share_the_batches_and_the_verdict() -> None:
    def application(prompt: str) -> str:
        return "yes"

    one = evaluate(f"{PROMPT} {{message}}", application, inputs=INPUTS, stop="certain", session=quiet())
    other = asyncio.run(
        aevaluate(f"{PROMPT} {{message}}", application, inputs=INPUTS, stop="certain", session=quiet())
    )
    assert [(each.case, each.outcome) for each in one.trials] == [
        (each.case, each.outcome) for each in other.trials
    ]
    skipped = [each.case for each in one.trials if each.outcome == "not-needed"]
    assert skipped == [0, 1, 2]  # 21 of 24 are 0.875: one of each input


def test_what_is_asked_first_is_a_fair_part_of_the_plan() -> None:
    application, _ = breaking(1)
    found = evaluate(PROMPT, application, mutations=32, stop="certain", session=quiet())
    asked = [each.mutation.dimension for each in found.trials if each.outcome != "not-needed"]
    planned = [each.mutation.dimension for each in found.trials]
    assert 0 < len(asked) < 32
    for dimension in set(planned):
        assert abs(asked.count(dimension) - planned.count(dimension) * len(asked) / 32) <= 1.5


def test_controls_are_always_asked() -> None:
    application, _ = breaking(0)
    found = evaluate(
        PROMPT, application, mutations={"lexical": 8, "answer-fixed": 1}, stop="certain", session=quiet()
    )
    assert found.by_relation["must-change"].counts.total == 1
    assert found.by_relation["invariance"].counts.not_needed == 1


def test_a_probability_ratio_ends_a_long_plan_sooner() -> None:
    application, _ = breaking(0)
    found = evaluate(PROMPT, application, mutations=64, stop="sprt", session=quiet(), controls=0)
    planned = found.outcomes.total + found.outcomes.not_needed
    assert found.verdict == "pass"
    assert found.outcomes.total < 0.6 * planned
    assert found.bounds[0] < 0.85  # it is probable, and not certain
    (note,) = [each for each in found.notes if each.startswith("stopped on the evidence")]
    assert "0.15" in note
    assert "0.30" in note


def test_a_threshold_of_zero_is_asked_for_its_score() -> None:
    application, _ = breaking(0.5)
    found = evaluate(PROMPT, application, threshold=0, mutations=16, stop="certain", session=quiet())
    assert found.outcomes.total == 16


def test_every_sample_counts_as_a_trial() -> None:
    application, _ = breaking(0)
    found = evaluate(PROMPT, application, samples=2, stop="certain", session=quiet(), controls=0)
    assert (found.outcomes.total, found.outcomes.not_needed) == (14, 2)
    assert [each.sample for each in found.trials] == [0, 1] * 8


def test_reports_say_what_was_not_needed() -> None:
    application, _ = breaking(1)
    found = evaluate(PROMPT, application, stop="certain", session=quiet())
    report = report_test(found, test="test_x.py::test_x")
    assert report["counts"]["not-needed"] == 5
    assert report["spent"]["saved"] == 5
    assert [each["outcome"] for each in report["trials"]].count("not-needed") == 5
    assert "3 deviations, 0 errors. The last 5 could not change the verdict" in " ".join(
        render(failure_lines(report), width=80, color=False).split()
    )
    assert "stopping early saved 5 calls" in " ".join(
        render(summary_lines([report]), width=80, color=False).split()
    )


def test_answers_of_two_models_in_a_later_batch_are_asked_again() -> None:
    renamed = Renamed()
    renamed.switch = 6  # the baseline and the first three mutations come before
    with ModelServer(renamed) as server:
        found = evaluate(
            TRIAGE, f"compatible:any@{server.openai_url}", stop="certain", session=quiet(), controls=0
        )
        assert found.verdict == "pass"
        assert (found.outcomes.equivalent, found.outcomes.not_needed) == (7, 1)
        assert "every answer of this test was asked for again" in found.notes[0]
        assert found.calls == 2 * 8


def test_a_stricter_gate_asks_the_whole_plan() -> None:
    application, _ = breaking(0)
    found = evaluate(PROMPT, application, mutations=32, gate="confident", session=quiet(), controls=0)
    assert (found.verdict, found.outcomes.not_needed, found.outcomes.equivalent) == ("pass", 0, 32)
    assert evaluate(PROMPT, application, mutations=32, session=quiet(), controls=0).outcomes.not_needed == 4


def test_the_rest_is_asked_once_the_unmutated_prompt_is_seen_to_vary() -> None:
    application, _ = breaking(0.5)
    seen: list[str] = []

    def moody(prompt: str) -> str:
        seen.append(prompt)
        return "no" if prompt == PROMPT and seen.count(PROMPT) == 3 else application(prompt)

    steady = evaluate(PROMPT, application, mutations=16, session=quiet())
    varying = evaluate(PROMPT, moody, mutations=16, session=quiet())
    assert steady.verdict == "brittle"
    assert steady.outcomes.not_needed > 0
    assert varying.noise.floor < 1
    assert varying.outcomes.not_needed == 0
