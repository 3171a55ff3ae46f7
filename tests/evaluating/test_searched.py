"""What a test that is a search comes to, and how inputs share what it may spend."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.evaluating.evaluate import EvaluateOptions, TargetEvaluation
from pytest_promptfuzz.evaluating.search_settings import SearchSettings
from pytest_promptfuzz.evaluating.search_tests import SearchedTest
from pytest_promptfuzz.running.run import drive

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_promptfuzz.results.robustness import Robustness

PROMPT = "Provide a concise overview of the ticket and classify it as spam or not spam. Give the main reason.\n\n{ticket}"


def searched(
    target: Callable[[str], Any], inputs: list[str], **settings: Any
) -> tuple[SearchedTest, Robustness]:
    """Search every input in turn, as a test does; each reading of the clock takes a second."""
    search_settings = SearchSettings.of(where="here", **settings)
    clock = count().__next__
    asking = TargetEvaluation(
        PROMPT,
        target,
        {},
        EvaluateOptions(inputs),
        make=lambda given: SearchedTest(
            given, search_settings=search_settings, inputs=len(inputs), clock=lambda: float(clock())
        ),
        where="here",
    )
    with asking.watched():
        for given in asking.cases.inputs:
            drive(asking.case(given), asking.body)
    assert isinstance(asking.evaluation, SearchedTest)
    return asking.evaluation, asking.evaluation.conclude()


def test_each_input_has_an_equal_part_of_what_is_left() -> None:
    asked: list[str] = []

    def target(prompt: str) -> str:
        asked.append(prompt)
        return "spam"

    job, result = searched(target, ["one", "two", "three"], queries=100)
    # Ten of each are held back to make sure of a find; what is not needed is for the next.
    assert [runner.budget.queries for runner in job.runners] == [23, 28, 39]
    assert len(asked) == result.calls == 90
    assert (result.verdict, result.reason) == ("pass", "none-found")
    assert result.explanation == "No counterexample in 90 queries over 3 inputs (sweep)."
    assert result.score is None


def test_what_an_input_leaves_is_for_the_next() -> None:
    job, _ = searched(lambda prompt: "spam", ["one", "two"], queries=100, operators=["synonym"], words=1)
    assert {runner.ending.why for runner in job.runners} == {"exhausted"}
    assert job.asked < 50
    assert "which had nothing more to try" in job.conclude().explanation


def test_time_that_was_spent_is_said_and_what_was_asked_counts() -> None:
    job, result = searched(lambda prompt: "spam", ["one"], queries=1000, seconds=12.0, batch=1)
    assert (result.verdict, result.reason) == ("pass", "none-found")
    assert (
        result.explanation
        == f"No counterexample in {job.asked} queries (sweep), before max_seconds=12 was reached."
    )
    assert 3 < job.asked < 20


def test_time_is_shared_and_its_end_is_the_end() -> None:
    job, result = searched(lambda prompt: "spam", ["one", "two", "three"], queries=1000, seconds=9.0, batch=1)
    assert [runner.ending.why for runner in job.runners] == ["time-spent"]
    assert job.runners[0].settings.seconds == 3.0
    assert result.notes[-1] == "2 more inputs were not searched, because the search had ended"


def test_the_first_finding_ends_the_search_and_may_be_made_smaller_with_all_that_is_left() -> None:
    job, result = searched(
        lambda prompt: "spam" if "concise" in prompt or "one" in prompt else "not spam",
        ["one", "two", "three"],
        queries=90,
    )
    assert (result.verdict, result.reason) == ("brittle", "counterexample-found")
    assert [runner.case for runner in job.runners] == [0, 1]
    assert (job.runners[1].settings.queries, job.runners[1].spare) == (35, 35)
    (found,) = result.counterexamples
    assert (found.case, found.minimal, found.answer) == (1, True, "not spam")
    assert result.searched is not None
    assert result.searched.found is not None
    assert result.searched.found.id == found.id
    assert 20 < result.searched.found_at <= 55
    assert job.asked <= 90


@pytest.mark.parametrize(("method", "queries"), [("deletion-greedy", 8), ("pwws", 12)])
def test_a_budget_that_buys_questions_only_proves_nothing(method: str, queries: int) -> None:
    _, result = searched(lambda prompt: "spam", ["one"], method=method, queries=queries)
    assert (result.verdict, result.reason) == ("inconclusive", "budget-spent")
    assert result.explanation.startswith("No changed prompt was asked: ")
    assert any("which is too few to try a change" in note for note in result.notes)


def test_the_nearest_of_all_inputs_is_kept() -> None:
    def sure(prompt: str) -> dict[str, float]:
        gone = ("concise" not in prompt) + ("overview" not in prompt) * ("two" in prompt)
        return {"spam": 1 - gone / 5, "not spam": gone / 5}

    _, result = searched(sure, ["one", "two", "three"], objective="confidence", queries=240)
    assert result.verdict == "pass"
    assert result.searched is not None
    assert result.searched.loss == pytest.approx(0.4)
    assert result.searched.nearest is not None
    assert result.searched.nearest.case == 1
