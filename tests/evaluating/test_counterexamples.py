"""What breaks a brittle test is made as small as it can be, with the same failure, and changes no verdict."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import openai
import pytest

from pytest_promptfuzz import (
    Counterexample,
    Prompt,
    Response,
    Session,
    TargetError,
    UsageError,
    aevaluate,
    evaluate,
)
from pytest_promptfuzz.evaluating.phases import shrinking
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.answers import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_promptfuzz.providers.requests import Request

URGENCY = """You sort the tickets of a shop that sells garden tools to people in many countries.

Rate the urgency of the ticket. Write the answer as one word: high, medium or low. Do not explain it."""


def quiet() -> Session:
    return Session(store=MemoryStore())


class Application:
    """A function of an application: answers by rule, and counts."""

    def __init__(self, rule: Callable[[str], str]) -> None:
        self.rule = rule
        self.asked: list[str] = []

    def __call__(self, prompt: Prompt) -> str:
        self.asked.append(str(prompt))
        return self.rule(str(prompt))


def shouting(text: str) -> str:
    return "low" if "GARDEN" in text else "high"


def shouted(rule: Callable[[str], Any] = shouting, **settings: Any) -> Any:
    settings = {"operators": ["upper-case"], "mutations": 4, "session": Session(), **settings}
    return evaluate(URGENCY, Application(rule), **settings)


def changed(found: Counterexample) -> list[tuple[str, str]]:
    return [piece for piece in found.mutation.diff() if piece[0] != "="]


def test_the_one_word_that_breaks_is_found() -> None:
    result = shouted()
    assert result.verdict == "brittle"
    (found,) = result.counterexamples
    assert changed(found) == [("-", "garden"), ("+", "GARDEN")]
    assert (found.baseline, found.answer, found.failure) == ("high", "low", "label 'high' became 'low'")
    assert found.minimal
    assert found.repeats[0] == found.repeats[1] >= 3
    (trial,) = [trial for trial in result.trials if trial.id == found.trial]
    assert trial.mutation.change_rate > 10 * found.mutation.change_rate


def test_verdict_and_score_are_those_of_a_test_that_shrinks_nothing() -> None:
    with_, without = shouted(), shouted(shrink=0)
    assert without.counterexamples == ()
    assert replace(
        with_, counterexamples=(), spent=without.spent, cost=without.cost, trials=without.trials
    ) == replace(without)
    assert with_.outcomes == without.outcomes
    assert with_.calls == without.calls + with_.counterexamples[0].calls


def test_off_asks_nothing_more() -> None:
    assert shouted(shrink="off").calls == shouted(shrink=0).calls


def test_a_test_that_passes_shrinks_nothing() -> None:
    result = shouted(threshold=0.0)
    assert result.verdict == "pass"
    assert result.counterexamples == ()


def test_two_words_that_are_needed_together_stay() -> None:
    (found,) = shouted(
        lambda text: "low" if "GARDEN" in text and "EXPLAIN" in text else "high"
    ).counterexamples
    assert changed(found) == [("-", "garden"), ("+", "GARDEN"), ("-", "explain"), ("+", "EXPLAIN")]
    assert found.minimal


def test_another_failure_is_not_taken_for_it() -> None:
    def rule(text: str) -> str:
        # The whole gives "low". Most of its parts fail as well, and otherwise.
        if "GARDEN" in text and "EXPLAIN" in text:
            return "low"
        return "medium" if "GARDEN" in text or "TICKETS" in text else "high"

    (found,) = shouted(rule).counterexamples
    assert found.answer == "low"
    assert [text for sign, text in changed(found) if sign == "+"] == ["GARDEN", "EXPLAIN"]


def test_another_exception_is_not_taken_for_it() -> None:
    def rule(text: str) -> str:
        if "GARDEN" in text and "EXPLAIN" in text:
            raise ValueError("no label")
        if "GARDEN" in text:
            raise KeyError("label")
        return "high"

    (found,) = shouted(rule).counterexamples
    assert found.failure == "ValueError: no label"
    assert [text for sign, text in changed(found) if sign == "+"] == ["GARDEN", "EXPLAIN"]


def test_each_way_to_fail_is_shrunk_and_no_more_than_three() -> None:
    answers = {"TICKETS": "low", "GARDEN": "medium", "EXPLAIN": "none", "COUNTRIES": "many"}

    def rule(text: str) -> str:
        there = [word for word in answers if word in text]
        return answers[there[0]] if len(there) == 1 else "high"

    text = "tickets. garden. explain. countries. Rate them as high or low."
    mutations = [_mutation(text, word) for word in ("tickets", "garden", "explain", "countries")]
    result = evaluate(text, Application(rule), mutations=mutations, stop="never", session=Session())
    assert result.outcomes.deviation == 4
    assert [each.answer for each in result.counterexamples] == ["low", "medium", "none"]


WORDS = ("tickets", "garden", "explain", "countries")
SENTENCES = f"{'. '.join(WORDS)}. Give it as JSON."


def test_minor_variations_are_shrunk_only_where_nothing_deviates() -> None:
    def answers(loud: str) -> Callable[[str], str]:
        def rule(text: str) -> str:
            if text == SENTENCES:
                return '{"a": 1}'
            return loud if "GARDEN" in text else 'Here: {"a": 1}'

        return rule

    mutations = [_mutation(SENTENCES, word) for word in WORDS]
    settings: dict[str, Any] = {"mutations": mutations, "stop": "never", "threshold": 1, "session": Session()}
    result = evaluate(SENTENCES, Application(answers('{"a": 2}')), **settings)
    assert (result.outcomes.minor, result.outcomes.deviation) == (3, 1)
    assert [each.answer for each in result.counterexamples] == ['{"a": 2}']
    result = evaluate(SENTENCES, Application(answers('Here: {"a": 1}')), **settings)
    assert (result.verdict, result.outcomes.minor) == ("brittle", 4)
    assert [each.answer for each in result.counterexamples] == ['Here: {"a": 1}']


def test_only_changes_that_should_keep_the_answer_are_shrunk() -> None:
    control = replace(_mutation(SENTENCES, "explain"), relation="must-change", preserves="no")
    result = evaluate(
        SENTENCES,
        Application(shouting),
        mutations=[_mutation(SENTENCES, "garden"), control],
        session=Session(),
    )
    assert [trial.outcome for trial in result.trials] == ["deviation", "deviation"]
    assert result.verdict == "brittle"
    assert [changed(each)[-1][1] for each in result.counterexamples] == ["GARDEN."]


def _mutation(text: str, word: str) -> Any:
    from pytest_promptfuzz import Edit, Mutation

    start = text.index(word)
    edits = (Edit(start, start + len(word), (word.upper(),)), Edit(len(text), len(text), (" Thanks.",)))
    return Mutation(text, edits, ("test@1",), "lexical", 0.3, "yes")


def test_the_queries_are_never_more_than_allowed_and_what_is_smallest_by_then_is_shown() -> None:
    needed = ("TICKETS", "PEOPLE", "EXPLAIN")
    whole = shouted(lambda text: "low" if all(each in text for each in needed) else "high", shrink=0)
    sizes = []
    for queries in (1, 3, 6, 9, 12, 60):
        result = shouted(
            lambda text: "low" if all(each in text for each in needed) else "high", shrink=queries
        )
        (found,) = result.counterexamples
        assert found.calls <= queries
        assert result.calls == whole.calls + found.calls
        ended = [note for note in result.notes if "shrinking ended early" in note]
        assert bool(ended) is not found.minimal
        assert not ended or f"the {queries} queries of shrink={queries} are spent" in ended[0]
        assert all(word in found.mutation.text for word in needed)
        sizes.append(found.mutation.change_rate)
    assert sizes == sorted(sizes, reverse=True)
    assert len(changed(found)) == 6
    assert sizes[0] > sizes[-2] > sizes[-1]


def test_a_result_is_asked_again_before_it_is_shown() -> None:
    application = Application(shouting)
    (found,) = evaluate(
        URGENCY, application, operators=["upper-case"], mutations=4, session=Session()
    ).counterexamples
    assert application.asked.count(found.mutation.text) >= 3


def test_where_answers_vary_each_question_is_asked_until_it_is_told() -> None:
    rng = Random(5)

    def rule(text: str) -> str:
        return "low" if ("GARDEN" in text) != (rng.random() < 0.1) else "high"

    results = [shouted(rule, shrink=400) for _ in range(8)]
    found = [each for result in results for each in result.counterexamples if each.answer == "low"]
    assert len(found) >= 4
    assert {tuple(changed(each)) for each in found} == {(("-", "garden"), ("+", "GARDEN"))}
    told = [
        (each.calls, result.floor)
        for result in results
        for each in result.counterexamples
        if result.floor is not None and result.floor < 1
    ]
    assert told
    assert all(calls > 15 for calls, _ in told)  # 9 or 10 where nothing varies


def test_a_deviation_that_does_not_come_again_is_left_out() -> None:
    seen: set[str] = set()

    def rule(text: str) -> str:
        # One change breaks always; another one did once.
        if "EXPLAIN" in text:
            return "low"
        once = "Thanks." in text and text not in seen
        seen.add(text)
        return "medium" if once else "high"

    text = "tickets garden explain. Rate them as high or low."
    mutations = [_mutation(text, word) for word in ("tickets", "explain", "garden")]
    result = evaluate(text, Application(rule), mutations=mutations, threshold=1, session=Session())
    assert result.verdict == "brittle"
    assert [each.answer for each in result.counterexamples] == ["low"]


def test_a_failing_provider_ends_it_and_changes_no_verdict() -> None:
    down: list[str] = []
    after: list[str] = []

    def rule(text: str) -> str:
        (after if down else []).append(text)
        if "GARDEN" in text and "TICKETS" not in text:
            down.append(text)
            raise TargetError("the provider is down", kind="server")
        return shouting(text)

    result, without = shouted(rule), shouted(shrink=0)
    assert (result.verdict, result.reason, result.score) == (without.verdict, without.reason, without.score)
    assert len(down) == 1
    assert not after
    (found,) = result.counterexamples
    assert not found.minimal
    assert "TICKETS" in found.mutation.text
    assert found.mutation.change_rate < result.trials[0].mutation.change_rate
    assert any("shrinking ended early: the provider is down" in note for note in result.notes)


def test_what_could_not_be_asked_again_is_not_called_minimal() -> None:
    asked: list[str] = []

    def rule(text: str) -> str:
        asked.append(text)
        if text == URGENCY.replace("garden", "GARDEN") and asked.count(text) > 1:
            raise TargetError("the provider is down", kind="server")
        return shouting(text)

    (found,) = shouted(rule).counterexamples
    assert changed(found) == [("-", "garden"), ("+", "GARDEN")]
    assert (found.minimal, found.repeats) == (False, (1, 1))


class Renamed:
    """A provider that answers as another model once a prompt is a part of a change."""

    def answer(self, request: Request, *, sample: int = 0) -> Response:
        del sample
        text = str(request.messages[0]["content"])
        part = "GARDEN" in text and "TICKETS" not in text
        return Response(shouting(text), model="m-2" if part else "m-1")


def test_answers_of_another_model_end_it() -> None:
    with ModelServer(Renamed()) as server:
        result = evaluate(
            URGENCY,
            f"compatible:m@{server.openai_url}",
            operators=["upper-case"],
            mutations=4,
            session=quiet(),
        )
    assert (result.verdict, result.reason) == ("brittle", "score-below-threshold")
    assert not result.counterexamples[0].minimal
    assert any("shrinking ended early: m answered as m-1 and as m-2" in note for note in result.notes)


class Confused:
    """A provider that a loud garden confuses."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def answer(self, request: Request, *, sample: int = 0) -> Response:
        del sample
        self.asked.append(str(request.messages[0]["content"]))
        return Response(shouting(str(request.messages[0]["content"])), model="m")


def test_a_stored_answer_confirms_nothing() -> None:
    model = Confused()
    with ModelServer(model) as server:
        (found,) = evaluate(
            URGENCY,
            f"compatible:m@{server.openai_url}",
            operators=["upper-case"],
            mutations=4,
            session=quiet(),
        ).counterexamples
    assert found.repeats == (3, 3)
    assert model.asked.count(found.mutation.text) == 3


def test_a_part_that_does_not_reach_the_model_breaks_nothing() -> None:
    with (
        ModelServer(Confused()) as server,
        openai.OpenAI(api_key="none", base_url=server.openai_url) as client,
    ):

        def application(prompt: Prompt) -> str:
            # It undoes what is not loud from the start.
            text = str(prompt) if "TICKETS" in str(prompt) else URGENCY
            answer = client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
            return str(answer.choices[0].message.content)

        result = evaluate(URGENCY, application, operators=["upper-case"], mutations=4, session=quiet())
    (found,) = result.counterexamples
    assert [text for sign, text in changed(found) if sign == "+"] == ["TICKETS", "GARDEN"]
    assert found.minimal


def test_an_error_of_ours_changes_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a mistake")

    monkeypatch.setattr(shrinking, "shrunk", broken)
    result = shouted()
    assert result.verdict == "brittle"
    assert "what breaks the test was not made smaller: RuntimeError: a mistake" in result.notes


def test_an_interrupt_is_no_error_and_goes_on_to_the_caller() -> None:
    def rule(text: str) -> str:
        if "GARDEN" in text and "TICKETS" not in text:
            raise KeyboardInterrupt
        return shouting(text)

    with pytest.raises(KeyboardInterrupt):
        shouted(rule)


def test_stored_answers_serve_a_second_run() -> None:
    session = Session(store=MemoryStore())

    def run() -> Any:
        return evaluate(
            "Rate the mood as good or bad, and please answer with one word.\n\nText: I hate it, it is awful.",
            "simulated",
            mutations=12,
            seed=3,
            operators=["upper-case", "imperative-to-question", "drop-stop-words", "politeness"],
            max_deviations=0,
            equivalent_at=1.0,
            session=session,
        )

    first, second = run(), run()
    assert second.calls == 0
    assert [each.to_json() for each in second.counterexamples] == [
        each.to_json() for each in first.counterexamples
    ]


def test_inputs_and_async_calls() -> None:
    template = "Rate the urgency of the ticket as high or low. Do not explain it.\n\nTicket: {ticket}"

    async def rule(prompt: Prompt) -> str:
        await asyncio.sleep(0)
        return "low" if "URGENCY" in str(prompt) and "fire" in str(prompt) else "high"

    result = asyncio.run(
        aevaluate(
            template,
            rule,
            inputs={"quiet": "No hurry.", "loud": "The house is on fire."},
            operators=["upper-case"],
            mutations=4,
            threshold=1,
            session=Session(),
        )
    )
    assert result.verdict == "brittle"
    (found,) = result.counterexamples
    assert "loud" in result.cases[found.case]
    assert changed(found) == [("-", "urgency"), ("+", "URGENCY")]


def test_one_trial_alone_is_not_shrunk() -> None:
    trial = shouted().trials[0]
    result = shouted(only=trial.id)
    assert result.verdict == "brittle"
    assert result.counterexamples == ()


def test_the_messages_of_a_chat_stay() -> None:
    messages = [
        {"role": "system", "content": "You sort tickets. Do not explain it."},
        {"role": "user", "content": "Rate the urgency of the ticket as high or low."},
    ]

    def application(prompt: Prompt) -> str:
        assert [each["role"] for each in prompt.messages] == ["system", "user"]
        return "low" if "URGENCY" in str(prompt.messages[1]["content"]) else "high"

    result = evaluate(messages, application, operators=["upper-case"], mutations=4, session=Session())
    (found,) = result.counterexamples
    assert changed(found) == [("-", "urgency"), ("+", "URGENCY")]
    assert re.sub("URGENCY", "urgency", found.mutation.text) == found.mutation.original


@pytest.mark.parametrize("value", [-1, "yes", True, 1.5, None, "60"])
def test_what_is_no_number_of_queries_is_told(value: Any) -> None:
    with pytest.raises(UsageError, match=r"shrink=.*is not a number of queries"):
        evaluate(URGENCY, Application(shouting), shrink=value)
