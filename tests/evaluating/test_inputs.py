"""``inputs=`` of evaluate and aevaluate: several cases, one result."""

from __future__ import annotations

import asyncio

import pytest

from pytest_promptfuzz import BaselineFailed, Prompt, Session, UsageError, aevaluate, evaluate
from pytest_promptfuzz.evaluating.evaluate import read_inputs
from pytest_promptfuzz.storage.answers import MemoryStore

TRIAGE = """Classify the support ticket into exactly one of: BILLING, TECHNICAL, ACCOUNT, OTHER.
Answer with the label only.

Ticket:
{ticket}"""
TICKETS = {
    "charged": "I was charged twice for my subscription this month and want a refund.",
    "crash": "The app crashes whenever I open the settings.",
}


def quiet() -> Session:
    return Session(store=MemoryStore())


def test_every_input_has_the_same_mutations_and_a_baseline_of_its_own() -> None:
    result = evaluate(
        TRIAGE, "simulated", inputs=TICKETS, mutations=4, stop="never", session=quiet(), controls=0
    )
    assert result.calls == 10
    assert result.cases == ("'charged'", "'crash'")
    assert result.baselines == ("BILLING", "TECHNICAL")
    ids = [[trial.id for trial in result.trials if trial.case == case] for case in (0, 1)]
    assert len(set(ids[0])) == 4
    assert ids[0] == ids[1]
    assert result.notes == ()


def test_async_gives_the_same_result() -> None:
    one = evaluate(TRIAGE, "simulated", inputs=TICKETS, mutations=4, session=quiet())
    other = asyncio.run(aevaluate(TRIAGE, "simulated", inputs=TICKETS, mutations=4, session=quiet()))
    assert (one.score, one.verdict, one.calls, one.baselines) == (
        other.score,
        other.verdict,
        other.calls,
        other.baselines,
    )
    assert [trial.value for trial in one.trials] == [trial.value for trial in other.trials]


def test_a_function_is_given_the_filled_prompt() -> None:
    seen = []

    def application(prompt: str) -> str:
        seen.append(prompt)
        return "yes"

    result = evaluate(
        "Is {one} larger than {two}? Answer yes or no.",
        application,
        inputs=[{"one": "an ant", "two": "a cat"}, {"one": "a house", "two": "a cat"}],
        mutations=2,
        controls=0,
    )
    assert result.verdict == "pass"
    assert all("{" not in each for each in seen)
    assert sum("a house" in each for each in seen) == len(seen) / 2


def test_part_input_mutates_each_input() -> None:
    result = evaluate(TRIAGE, "simulated", inputs=TICKETS, part="input", mutations=3, session=quiet())
    ids = [{trial.id for trial in result.trials if trial.case == case} for case in (0, 1)]
    assert not ids[0] & ids[1]
    assert all(trial.mutation.original.startswith(TRIAGE[:60]) for trial in result.trials)


def test_one_failing_input_counts_in_the_one_score() -> None:
    def application(prompt: str) -> str:
        return "other" if "crash" in prompt.lower() and "Classify" not in prompt else "same"

    operators = ["upper-case", "lower-case"]
    result = evaluate(
        TRIAGE,
        application,
        inputs=TICKETS,
        mutations=2,
        operators=operators,
        threshold=0.9,
        stop="never",
        controls=0,
    )
    assert [trial.case for trial in result.trials if trial.outcome == "deviation"] == [1, 1]
    assert (result.score, result.verdict) == (0.5, "brittle")


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([], "inputs= is empty"),
        ({}, "inputs= is empty"),
        ("a text", "is one text; write a list"),
        (iter(["a"]), "can be read only once"),
        ({"a", "b"}, "not set"),
        (7, "not int"),
        ({"ticket": "x"}, "which is one input"),
        ([{"ticket": "x", "more": "y"}], "input 1 .*no slot 'more'"),
        (["fine", None], r"input 2 \(None\) is of type NoneType"),
    ],
)
def test_inputs_that_do_not_fit_say_what_to_write(inputs: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        evaluate(TRIAGE, "simulated", inputs=inputs)


def test_names_are_short_and_number_the_inputs() -> None:
    found = read_inputs(["x" * 200, "y"], Prompt(TRIAGE), "here")
    assert found[0].name.startswith("1 ('xxx")
    assert len(found[0].name) < 50
    assert found[1].name == "2 ('y')"
    assert read_inputs(None, Prompt("No slot here."), "here")[0].name == ""


def test_inputs_at_once_are_mutated_each_for_itself_and_fail_each_for_itself() -> None:
    one = evaluate(TRIAGE, "simulated", inputs=TICKETS, part="input", mutations=3, session=quiet())
    other = asyncio.run(
        aevaluate(TRIAGE, "simulated", inputs=TICKETS, part="input", mutations=3, session=quiet())
    )
    assert [(each.case, each.id, each.value) for each in one.trials] == [
        (each.case, each.id, each.value) for each in other.trials
    ]

    async def application(prompt: str) -> str:
        if "crashes" in prompt:
            raise ValueError("no crash is known")
        return "fine"

    with pytest.raises(BaselineFailed, match="on input 'crash': ValueError"):
        asyncio.run(aevaluate(TRIAGE, application, inputs=TICKETS, mutations=2, session=quiet()))
