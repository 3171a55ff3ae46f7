"""`search`: the worst a harmless change does, through real targets, stores and servers."""

from __future__ import annotations

import asyncio
import itertools
import re
from typing import Any

import pytest

from pytest_promptfuzz import (
    BaselineFailed,
    ConfigurationError,
    Mutation,
    Prompt,
    Search,
    Session,
    TargetError,
    UsageError,
    asearch,
    search,
)
from pytest_promptfuzz.randomness import Rng, root_key
from pytest_promptfuzz.server.faults import NotFound
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.answers import MemoryStore

PROMPT = (
    "Provide a concise overview of the ticket and classify it as spam or not spam. Give the main reason.\n"
    "Ticket: I cannot log in."
)


def brittle(prompt: str) -> str:
    """Answers otherwise as soon as the prompt is not asked to be concise."""
    return "not spam" if "concise" in prompt else "spam"


def sure(prompt: str) -> dict[str, float]:
    """The less sure, the more of three words are gone; the third alone is not enough."""
    gone = sum(word not in prompt for word in ("concise", "overview", "main"))
    spam = (0.1, 0.3, 0.45, 0.8)[gone]
    return {"not spam": 1 - spam, "spam": spam}


def test_the_smallest_change_is_found_with_both_answers() -> None:
    found = search(PROMPT, brittle, operators="synonym")
    assert found.found
    assert found.counterexample is not None
    assert found.counterexample.mutation.text == PROMPT.replace(
        "concise", found.counterexample.mutation.edits[0].parts[0]
    )  # type: ignore[arg-type]
    assert (found.baseline, found.answer, found.words_changed) == ("not spam", "spam", 1)
    assert found.counterexample.minimal
    assert found.counterexample.repeats == (6, 6)
    assert found.ended == "found"
    assert 0 < found.found_at <= found.queries <= found.budget == 200
    assert found.first is not None
    assert len(found.first.edits) >= len(found.counterexample.mutation.edits)
    assert found.trace[-1].reached


def test_nothing_found_says_how_often_was_asked() -> None:
    found = search(PROMPT, lambda prompt: "not spam", queries=40)
    assert not found.found
    assert (found.counterexample, found.mutation, found.answer) == (None, None, None)
    # Ten are held back: to ask a find again, and the unmutated prompt as often.
    assert (found.ended, found.queries) == ("queries-spent", 30)
    assert found.explanation == "no change reached the goal in 30 queries"
    assert found.conclusive


def test_an_objective_that_never_varies_is_said() -> None:
    found = search(PROMPT, lambda prompt: "not spam", "rouge-l<0.5", queries=40)
    assert any("gave 0 for every answer" in note for note in found.notes)


def test_a_small_space_is_exhausted_before_the_budget() -> None:
    found = search("Give the main reason.", lambda prompt: "x", operators="synonym", method="greedy")
    assert found.ended == "exhausted"
    assert "greedy had nothing more to try" in found.explanation


def test_every_query_counts_and_no_more_than_allowed_are_made() -> None:
    asked: list[str] = []

    def target(prompt: str) -> str:
        asked.append(prompt)
        return "not spam"

    found = search(PROMPT, target, queries=30)
    assert len(asked) == found.queries == found.spent.calls == 20
    found = search(PROMPT, target, queries=30, repeats=0)
    assert found.queries == 30


@pytest.mark.parametrize(
    "method", ["sweep", "beam-annealing", "greedy", "deletion-greedy", "pwws", "textfooler", "beam"]
)
def test_confidence_leads_every_method_to_three_words(method: str) -> None:
    found = search(PROMPT, sure, "confidence", method=method, operators="synonym", queries=300)
    assert found.found
    assert found.words_changed == 3
    assert found.loss == pytest.approx(0.8)
    losses = [step.loss for step in found.trace]
    assert losses == sorted(losses)


def test_the_nearest_is_shown_where_the_goal_is_not_reached() -> None:
    found = search(PROMPT, sure, "confidence", operators="synonym", max_words=2)
    assert not found.found
    assert found.nearest is not None
    assert found.words_changed == 2
    assert found.loss == pytest.approx(0.45)
    assert found.answer == {"not spam": pytest.approx(0.55), "spam": 0.45}


def test_the_same_search_asks_the_same_and_a_rerun_is_free() -> None:
    session = Session(store=MemoryStore())
    first = search(PROMPT, "simulated", "rouge-l<0.5", queries=30, session=session)
    again = search(PROMPT, "simulated", "rouge-l<0.5", queries=30, session=session)
    assert first.spent.calls > 10
    assert (again.spent.calls, again.spent.hits) == (0, first.spent.calls + first.spent.hits)
    assert [first.trace, first.mutation] == [again.trace, again.mutation]


def test_slot_values_are_searched_where_they_are_named() -> None:
    prompt = Prompt("Classify: {text}").fill(text="Provide a concise overview of it.")
    with pytest.raises(UsageError, match="no operator finds anything"):
        search(prompt, brittle, operators="synonym")
    found = search(prompt, brittle, operators="synonym", part="input")
    assert found.found


def test_an_order_that_matters_is_found_among_many_words_that_do_not() -> None:
    prompt = "Choose a level for the ticket.\n\n- high: outages\n- medium: late parcels\n- low: thanks\n\nAnswer with the level."

    def first(prompt: str) -> str:
        return min(("high", "medium", "low"), key=lambda level: prompt.lower().find(f"- {level}"))

    for method in ("sweep", "random"):
        found = search(prompt, first, queries=100, method=method)
        assert found.counterexample is not None
        assert found.counterexample.mutation.operators[0].startswith("bullet-reorder")
        assert found.found_at <= 60


def test_chat_messages_are_searched() -> None:
    messages = [{"role": "system", "content": PROMPT}, {"role": "user", "content": "Hello"}]
    found = search(messages, lambda chat: brittle(chat[0]["content"]), operators="synonym")
    assert found.words_changed == 1


def test_a_find_is_made_smaller_within_the_word_that_it_changes() -> None:
    found = search(PROMPT, lambda prompt: "not spam" if "main" in prompt else "spam", operators="upper-case")
    assert found.counterexample is not None
    assert found.counterexample.minimal
    assert found.counterexample.mutation.text == PROMPT.replace("main", "MAIN")
    assert found.queries <= 200
    whole = search(
        PROMPT,
        lambda prompt: "not spam" if "main" in prompt else "spam",
        operators="upper-case",
        prune=False,
    )
    assert whole.words_changed > 10


def test_what_is_left_fails_in_the_same_way() -> None:
    def target(prompt: str) -> str:
        """Shouting more than half a line breaks it in one way, a single shouted word in another."""
        shouted = sum(word.isupper() and len(word) > 1 for word in prompt.split())
        return "not spam" if not shouted else "spam" if shouted > 4 else "other"

    found = search(PROMPT, target, operators="upper-case", queries=300)
    assert found.counterexample is not None
    assert found.answer == "spam"
    assert sum(word.isupper() and len(word) > 1 for word in found.counterexample.mutation.text.split()) == 5


def test_labels_are_compared_as_labels() -> None:
    found = search(
        PROMPT, lambda prompt: "Not spam." if "main" in prompt else "not spam", "label", queries=40
    )
    assert not found.found


def test_bleu_of_another_answer_falls_below_a_fifth() -> None:
    pytest.importorskip("sacrebleu")
    long = "The customer cannot log in and asks for help with the account."
    found = search(
        PROMPT, lambda prompt: long if "main" in prompt else "Nothing of the kind was ever said here.", "bleu"
    )
    assert found.found
    assert found.objective == "bleu below 0.2"


def test_an_objective_of_ones_own_sees_both_answers() -> None:
    def longer(baseline: Any, answer: Any) -> float:
        return min(1.0, len(answer) / len(baseline) / 3)

    found = search(
        PROMPT, lambda prompt: "no" if "main" in prompt else "no no no", longer, operators="synonym"
    )
    assert found.found
    assert found.objective == "longer"


def test_assertions_are_deviations() -> None:
    def target(prompt: str) -> str:
        assert "overview" in prompt, "nothing to overview"
        return "fine"

    found = search(PROMPT, target, operators="synonym")
    assert found.counterexample is not None
    assert found.counterexample.failure == "AssertionError: nothing to overview"


@pytest.mark.parametrize("rate", [0.05, 0.2])
def test_noise_is_not_taken_for_a_find(rate: float) -> None:
    """The answers do not depend on the prompt at all; each reaches the goal with this probability.

    How often noise is taken for a find, in hundreds of searches, is what ``benchmarks/search`` measures.
    """
    found = []
    for seed in range(4):
        draws = Rng(root_key(seed, "noise"), "answers")
        result = search(
            PROMPT,
            lambda prompt, draws=draws: "spam" if draws.below(1000) < 1000 * rate else "not spam",
            seed=seed,
        )
        found.append(result.found)
    assert not any(found)


@pytest.mark.parametrize("rate", [0.9, 1.0])
def test_what_mostly_breaks_is_found_all_the_same(rate: float) -> None:
    found = 0
    for seed in range(20):
        draws = Rng(root_key(seed, "noise"), "breaks")

        def target(prompt: str, draws: Rng = draws) -> str:
            return "spam" if "concise" not in prompt and draws.below(1000) < 1000 * rate else "not spam"

        result = search(PROMPT, target, operators="synonym", seed=seed)
        found += result.found
    assert found >= 17


def test_a_find_of_the_last_queries_is_no_find() -> None:
    calls = itertools.count(1)
    found = search(
        PROMPT, lambda prompt: "spam" if next(calls) >= 20 else "not spam", queries=30, baseline_runs=1
    )
    assert not found.found


def test_what_cannot_be_asked_again_is_not_certain() -> None:
    lost = itertools.count()

    def target(prompt: str) -> str:
        """The first changed prompt reaches the goal, and is answered no more."""
        if prompt == PROMPT:
            return "not spam"
        if next(lost):
            raise TargetError("overloaded", kind="server")
        return "spam"

    found = search(PROMPT, target, queries=12, baseline_runs=1, repeats=3, batch=1)
    assert not found.found
    assert found.ended in {"unconfirmed", "target-failed"}
    assert not found.conclusive


def test_a_find_without_its_control_says_so() -> None:
    calls = itertools.count()

    def target(prompt: str) -> str:
        if prompt == PROMPT and next(calls) > 1:
            raise TargetError("overloaded", kind="server")
        return brittle(prompt)

    found = search(PROMPT, target, operators="synonym")
    assert found.found
    assert any("answered only 0 of 5 times" in note for note in found.notes)
    assert found.errors == 5


def test_a_target_that_answers_now_this_now_that_is_not_searched() -> None:
    answers = iter(["not spam", "spam"] * 100)
    found = search(PROMPT, lambda prompt: next(answers), queries=60)
    assert found.ended == "noisy"
    assert "first 'not spam' and then 'spam'. No change of the prompt is needed for that" in found.explanation
    assert found.queries < 10


def test_a_goal_that_is_reached_already_is_refused() -> None:
    def always(baseline: Any, answer: Any) -> bool:
        return True

    with pytest.raises(UsageError, match=r"reaches the goal \(always\) already.*Choose another objective"):
        search(PROMPT, brittle, always)


def test_a_first_answer_that_reaches_the_goal_by_chance_is_noise() -> None:
    answers = iter(["spam", *["not spam"] * 100])
    found = search(
        PROMPT, lambda prompt: next(answers), lambda baseline, answer: answer == "spam", queries=60
    )
    assert (found.ended, found.conclusive, found.queries, found.loss) == ("noisy", False, 2, 0.0)
    assert "first 'spam' and then 'not spam'" in found.explanation


def test_too_small_a_budget_says_what_it_buys() -> None:
    found = search(PROMPT, brittle, method="pwws", operators="synonym", queries=5)
    assert any("which is too few to try a change" in note for note in found.notes)
    assert not any(
        "they buy" in note for note in search(PROMPT, brittle, operators="synonym", queries=5).notes
    )


def test_a_target_that_fails_now_and_then_costs_queries_only() -> None:
    calls = [0]

    def target(prompt: str) -> str:
        calls[0] += 1
        if calls[0] > 4 and calls[0] % 3 == 0:
            raise TargetError("overloaded", kind="server")
        return brittle(prompt)

    found = search(PROMPT, target, operators="synonym")
    assert found.found
    assert 0 < found.errors < found.queries / 2


def test_a_target_that_fails_for_good_ends_the_search_and_loses_nothing() -> None:
    calls = [0]

    def target(prompt: str) -> dict[str, float]:
        calls[0] += 1
        if calls[0] > 20:
            raise TargetError("the provider is gone", kind="server")
        return sure(prompt)

    found = search(PROMPT, target, "confidence", max_words=2)
    assert found.ended == "target-failed"
    assert "8 queries in a row got no answer; the last: " in found.explanation
    assert "the provider is gone" in found.explanation
    assert found.nearest is not None


def test_a_provider_that_fails_for_good_ends_the_search() -> None:
    seen = itertools.count()
    with ModelServer() as server:
        target = f"compatible:model@{server.url}/v1"
        server.fail(NotFound(times=None, when=lambda _: next(seen) > 6))
        found = search(PROMPT, target, "rouge-l<0.1", queries=40)
        assert found.ended == "target-failed"
        assert "does not exist" in found.explanation


def test_ctrl_c_keeps_what_was_found() -> None:
    calls = [0]

    def target(prompt: str) -> str:
        calls[0] += 1
        if calls[0] == 40:
            raise KeyboardInterrupt
        return "not spam"

    found = search(PROMPT, target, queries=100)
    assert found.ended == "interrupted"
    assert 30 <= found.queries <= 48


def test_ctrl_c_before_the_first_answer_is_passed_on() -> None:
    def target(prompt: str) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search(PROMPT, target)


def test_time_is_kept() -> None:
    found = search(PROMPT, lambda prompt: "not spam", max_seconds=1e-9, baseline_runs=1)
    assert found.ended == "time-spent"


def test_a_budget_in_money_needs_a_price() -> None:
    with ModelServer() as server, pytest.raises(ConfigurationError, match="price"):
        search(PROMPT, f"compatible:unknown-model@{server.url}/v1", max_cost=1.0, queries=20)


def test_the_limits_of_the_prompt_are_kept() -> None:
    seen: list[str] = []

    def target(prompt: str) -> str:
        seen.append(prompt)
        return "not spam"

    search(PROMPT, target, max_change_rate=0.1, allows=lambda mutation: "\t" not in mutation.text, queries=50)
    total = len(PROMPT.split())
    for text in seen:
        assert "\t" not in text
    assert total // 10 == 2


def test_a_predicate_gets_mutations() -> None:
    seen: list[Mutation] = []

    def allows(mutation: Mutation) -> bool:
        seen.append(mutation)
        return False

    found = search(PROMPT, brittle, allows=allows, queries=30)
    assert seen
    assert not found.found
    assert found.queries == 2


def test_async_targets_are_asked_a_batch_at_once() -> None:
    running = [0, 0]

    async def target(prompt: str) -> str:
        running[0] += 1
        running[1] = max(running)
        await asyncio.sleep(0.001)
        running[0] -= 1
        return brittle(prompt)

    found = asyncio.run(asearch(PROMPT, target, operators="synonym"))
    assert found.found
    assert running[1] > 1
    sync = search(PROMPT, brittle, operators="synonym")
    assert found.counterexample is not None
    assert sync.counterexample is not None
    assert found.counterexample.mutation == sync.counterexample.mutation


def test_models_are_asked_over_the_wire() -> None:
    with ModelServer() as server:
        found = search(PROMPT, f"compatible:model@{server.url}/v1", "rouge-l<0.9", queries=20)
        assert found.spent.calls == server.calls


def test_a_result_is_plain_data() -> None:
    import json

    found = search(PROMPT, brittle, operators="synonym")
    data = json.loads(json.dumps(found.to_json()))
    assert data["found"] is True
    assert data["counterexample"]["mutation"]["original"] == PROMPT
    assert isinstance(found, Search)


def test_an_applications_function_that_fails_on_the_unmutated_prompt_is_said() -> None:
    def target(prompt: str) -> str:
        raise ValueError("never")

    with pytest.raises(BaselineFailed, match="ValueError: never"):
        search(PROMPT, target)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"queries": 0}, "queries=0 is not a whole number from 1"),
    ({"queries": True}, "queries=True"),
    ({"batch": 0}, "batch=0"),
    ({"repeats": -1}, "repeats=-1"),
    ({"baseline_runs": 0}, "baseline_runs=0"),
    ({"max_change_rate": 0}, "max_change_rate=0"),
    ({"max_change_rate": 1.5}, "max_change_rate=1.5"),
    ({"max_words": 0}, "max_words=0"),
    ({"max_cost": -1}, "max_cost=-1"),
    ({"max_seconds": float("nan")}, "max_seconds=nan"),
    ({"min_cosine": 2}, "min_cosine=2"),
    ({"allows": 3}, "allows=3"),
    ({"prune": 1}, "prune=1"),
    ({"seed": 1.5}, "seed=1.5"),
    ({"method": "pws"}, "the search method 'pws' is unknown"),
    ({"objective": "labl"}, "objective='labl' is unknown"),
    ({"objective": "rouge-l<much"}, "'much' is no number"),
    ({"objective": "rouge-l<2"}, "objective='rouge-l<2': 2 must"),
    ({"objective": 4}, "objective=4"),
    ({"objective": "judge"}, "needs judge="),
    ({"operators": "nonsense"}, "nonsense"),
    ({"part": "middle"}, "middle"),
    ({"thresold": 0.5}, "thresold"),
]


@pytest.mark.parametrize(("given", "message"), WRONG, ids=[str(given)[:40] for given, _ in WRONG])
def test_a_wrong_setting_is_named_before_anything_is_asked(given: dict[str, Any], message: str) -> None:
    asked: list[str] = []
    with pytest.raises(UsageError, match=re.escape(message)):
        search(PROMPT, lambda prompt: asked.append(prompt) or "x", **given)
    assert not asked


@pytest.mark.parametrize(
    ("said", "message"), [(1.5, "returned 1.5"), ("yes", "returned 'yes'"), (None, "returned None")]
)
def test_what_an_objective_must_not_return_is_named(said: object, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        search(PROMPT, brittle, lambda baseline, answer: said)


def test_confidence_needs_confidences() -> None:
    with pytest.raises(UsageError, match="is no mapping of labels to confidences"):
        search(PROMPT, brittle, "confidence")


def test_measures_say_what_the_change_did_to_the_text() -> None:
    found = search(PROMPT, brittle, operators="synonym", measures={"length": len})
    assert found.mutation is not None
    assert found.quality == {"length": len(found.mutation.text), "length_before": len(PROMPT)}
    assert search(PROMPT, lambda _: "x", queries=5, measures={"length": len}).quality == {}
    with pytest.raises(UsageError, match="length returned 'long'"):
        search(PROMPT, brittle, operators="synonym", measures={"length": lambda _: "long"})  # type: ignore[dict-item, return-value]
    with pytest.raises(UsageError, match="must map names to functions"):
        search(PROMPT, brittle, measures=[len])  # type: ignore[arg-type]


def test_what_is_conclusive() -> None:
    assert search(PROMPT, brittle, operators="synonym").conclusive
    assert search(PROMPT, lambda _: "x", queries=40).conclusive
    assert not search(PROMPT, lambda _: "x", queries=12).conclusive
    assert not search(PROMPT, brittle, method="pwws", operators="synonym", queries=5).conclusive
