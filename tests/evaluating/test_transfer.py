"""`transfer`: whether what breaks one target breaks another, through real targets, stores and servers."""

from __future__ import annotations

import asyncio
import json

import pytest

from pytest_promptfuzz import Prompt, Session, TargetError, UsageError, atransfer, mutate, search, transfer
from pytest_promptfuzz.server.faults import ServerError
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.answers import MemoryStore

PROMPT = "Provide a concise overview of the ticket and classify it as spam or not spam. Give the main reason."


def brittle(prompt: str) -> str:
    return "not spam" if "concise" in prompt else "spam"


def steady(prompt: str) -> str:
    return "not spam"


FOUND = search(PROMPT, brittle, operators="synonym")


def test_a_find_that_breaks_the_other_as_well() -> None:
    carried = transfer([FOUND], brittle)
    assert (carried.broke, carried.rate, carried.left_out) == (1, 1.0, ())
    assert FOUND.counterexample is not None
    assert carried.asked[0].counterexample is not None
    assert carried.asked[0].counterexample.mutation == FOUND.counterexample.mutation
    assert carried.asked[0].counterexample.repeats == (3, 3)
    assert carried.interval == pytest.approx((0.2065, 1.0), abs=1e-4)
    assert json.loads(json.dumps(carried.to_json()))["of"] == 1


def test_a_find_that_does_not_is_asked_once_only() -> None:
    asked: list[str] = []

    def other(prompt: str) -> str:
        asked.append(prompt)
        return "not spam"

    carried = transfer([FOUND], other)
    assert (carried.broke, carried.rate) == (0, 0.0)
    assert FOUND.mutation is not None
    assert asked == [PROMPT, PROMPT, FOUND.mutation.text]


def test_what_breaks_now_and_then_is_not_believed() -> None:
    seen: dict[str, int] = {}

    def other(prompt: str) -> str:
        seen[prompt] = seen.get(prompt, 0) + 1
        return "spam" if "concise" not in prompt and seen[prompt] == 1 else "not spam"

    assert transfer([FOUND], other).broke == 0
    seen.clear()
    assert transfer([FOUND], other, repeats=0).broke == 1


def test_searches_counterexamples_and_mutations_are_taken() -> None:
    assert FOUND.counterexample is not None
    nothing = search(PROMPT, steady, queries=5)
    given = [FOUND, FOUND.counterexample, FOUND.counterexample.mutation, nothing]
    assert len(transfer(given, brittle).asked) == 3
    assert transfer(FOUND, brittle).broke == 1
    with pytest.raises(UsageError, match="'a text' is neither"):
        transfer(["a text"], brittle)  # type: ignore[list-item]
    empty = transfer([nothing], brittle)
    assert (empty.rate, empty.interval, empty.asked) == (None, None, ())


def test_a_prompt_that_fails_there_unmutated_is_left_out() -> None:
    assert FOUND.mutation is not None

    def unlike(baseline: str, answer: str) -> bool:
        return answer != "not spam"

    carried = transfer([FOUND], lambda prompt: "spam", unlike)
    assert carried.left_out == ((FOUND.mutation.id, "the unmutated prompt's answer reaches the goal there"),)
    answers = iter(["not spam", "spam"] * 9)
    carried = transfer([FOUND], lambda prompt: next(answers))
    assert "No change of the prompt is needed for that, so none can be blamed" in carried.left_out[0][1]
    assert carried.rate is None


def test_a_target_that_does_not_answer_is_left_out() -> None:
    def silent(prompt: str) -> str:
        if "concise" not in prompt:
            raise TargetError("overloaded", kind="server")
        return "not spam"

    assert transfer([FOUND], silent).left_out[0][1] == "the changed prompt got no answer"
    with ModelServer(faults=[ServerError(times=None)]) as server:
        carried = transfer([FOUND], f"compatible:none@{server.openai_url}")
        assert carried.asked == ()
        assert len(carried.left_out) == 1


def test_models_are_asked_over_the_wire_and_a_rerun_is_free() -> None:
    mutations = mutate(PROMPT, 3)
    session = Session(store=MemoryStore())
    with ModelServer() as server:
        target = f"compatible:model@{server.openai_url}"
        first = asyncio.run(atransfer(mutations, target, "rouge-l<0.9", session=session))
        asked = server.calls
        assert 6 <= asked <= 15
        again = transfer(mutations, target, "rouge-l<0.9", session=session)
        assert server.calls == asked
    assert len(first.asked) == 3
    assert [each.found for each in first.asked] == [each.found for each in again.asked]
    assert first.target == target


def test_chats_and_filled_slots_stay_what_they_are() -> None:
    messages = [{"role": "system", "content": PROMPT}, {"role": "user", "content": "Hello"}]
    chat = search(messages, lambda given: brittle(given[0]["content"]), operators="synonym")
    assert transfer([chat], lambda given: brittle(given[0]["content"])).broke == 1
    prompt = Prompt("Classify: {text}").fill(text="Provide a concise overview of it.")
    filled = search(prompt, brittle, operators="synonym", part="input")
    assert transfer([filled], brittle).broke == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"repeats": -1}, "transfer: repeats=-1"),
        ({"baseline_runs": 0}, "baseline_runs=0"),
        ({"objective": "labl"}, "transfer: objective='labl' is unknown"),
        ({"thresold": 1}, "thresold"),
    ],
)
def test_a_wrong_setting_is_named(given: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        transfer([FOUND], steady, **given)  # type: ignore[arg-type]
