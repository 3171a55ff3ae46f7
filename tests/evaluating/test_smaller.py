"""A find is never taken for something that was not asked."""

from __future__ import annotations

import pytest

from pytest_promptfuzz import Edit, Mutation, Prompt, evaluate, search
from pytest_promptfuzz.evaluating.search_runner import smaller
from pytest_promptfuzz.evaluating.search_settings import TriedPrompt

ORIGINAL = "Say good or bad. Answer with one word."


def test_what_no_query_is_left_for_stays_as_it_was_found() -> None:
    # Two insertions at one place, which sorting would put the other way round.
    edits = (Edit(16, 16, ("  ",)), Edit(16, 17, ("\n- ",)))
    whole = Mutation(ORIGINAL, edits, ("list@1",), "format", 0.3, "yes")
    trial = evaluate(ORIGINAL, lambda _: "x", mutations=1).trials[0]
    steps = smaller(
        TriedPrompt(whole, trial, 1.0, 3, 3), lambda _: iter(()), allows=lambda _: True, queries=0, repeats=0
    )  # type: ignore[arg-type, return-value]
    with pytest.raises(StopIteration) as stop:  # nothing may be asked
        next(steps)
    assert stop.value.value[0] == whole.text


def test_a_search_that_ends_with_its_budget_knows_what_it_asked() -> None:
    prompt = Prompt(
        "Classify the mood of the text as good or bad. Answer with one word only.\n\nText: {text}\n"
    )
    for queries in range(12, 72, 4):
        found = search(
            prompt.fill(text="A lovely day, but the train was late."),
            "simulated",
            part="both",
            queries=queries,
        )
        assert found.queries <= queries
