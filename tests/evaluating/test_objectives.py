"""What a search looks for, in a person's words, and when a search that found nothing tells something."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_promptfuzz import search
from pytest_promptfuzz.evaluating.search_settings import ObservedAnswer, objective_of, said

PROMPT = "Provide a concise overview of the ticket and classify it as spam or not spam. Give the main reason."


def is_other(baseline: object, answer: object) -> bool:
    return baseline != answer


@pytest.mark.parametrize(
    ("wanted", "before", "now", "why"),
    [
        ("deviation", "a", ObservedAnswer("b", "deviation", 0.1, "AssertionError: no"), "AssertionError: no"),
        ("label", {"label": "a"}, ObservedAnswer({"label": "b"}), "label 'a' became 'b'"),
        (
            "confidence",
            {"a": 0.9, "b": 0.1},
            ObservedAnswer({"a": 0.25, "b": 0.75}),
            "label 'a' (0.9 sure) became 'b' (0.75 sure)",
        ),
        ("bleu", "one two three four five", ObservedAnswer("nothing of it"), "BLEU 0 is below 0.2"),
        ("rouge-l<0.7", "a b c", ObservedAnswer("a b d"), "ROUGE-L 0.666 is below 0.7"),
        (is_other, "a", ObservedAnswer("b"), "is_other says that it is what must not happen"),
    ],
)
def test_an_objective_says_why_an_answer_is_there(
    wanted: Any, before: Any, now: ObservedAnswer, why: str
) -> None:
    objective = objective_of(wanted, "search")
    assert objective(ObservedAnswer(before), now).reached
    assert said(objective, ObservedAnswer(before), now) == why


def test_an_objective_that_says_nothing_is_named() -> None:
    class Mute:
        name = "mute"

        def __call__(self, baseline: ObservedAnswer, answer: ObservedAnswer) -> Any: ...

    assert said(Mute(), ObservedAnswer(1), ObservedAnswer(2)) == "mute is reached"


def test_a_search_that_time_or_few_queries_ended_tells_nothing() -> None:
    whole = search(PROMPT, lambda prompt: "spam", queries=40)
    assert (whole.ended, whole.conclusive) == ("queries-spent", True)
    few = search(PROMPT, lambda prompt: "spam", queries=3)
    assert (few.ended, few.prompts, few.conclusive) == ("queries-spent", 1, False)
    assert not replace(whole, ended="time-spent").conclusive
    assert not replace(whole, ended="cost-spent").conclusive
    assert replace(few, ended="exhausted").conclusive
