"""Relations other than invariance are judged, and stand beside the score instead of in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz import Edit, Operator, Robustness, Session, evaluate, mutate, operator
from pytest_promptfuzz.storage.answers import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_promptfuzz.mutations.analysis.draft import Draft
    from pytest_promptfuzz.mutations.engine.mutation import Relation
    from pytest_promptfuzz.randomness import Rng

PROMPT = "Say whether the parcel has arrived. Answer yes or no."


def marking(word: str, relation: Relation) -> Operator:
    """Puts words at the end by which the application below can tell the relation."""

    @operator(
        f"mark-{word}",
        dimension="control" if relation == "must-change" else "format",
        severity=0.5,
        preserves="no" if relation == "must-change" else "yes",
        relation=relation,
        summary="Marks the prompt.",
    )
    def mark(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
        end = len(draft.text)
        for number in range(10):
            yield [Edit(end, end, (f" {word} number {number}",))]

    return mark


KEPT = marking("kept", "invariance")
CONTROL = marking("control", "must-change")
NOWHERE = Operator(
    "nowhere",
    lambda draft, rng: (),
    "control",
    0.5,
    preserves="no",
    relation="must-change",
    summary="Never acts.",
)
FORMAT = marking("format", "format")


def run(answers: dict[str, str], weights: dict[Operator, int]) -> Robustness:
    """Evaluate an application that answers by the mark it finds."""

    def application(prompt: str) -> str:
        return next((answer for word, answer in answers.items() if word in prompt), "yes")

    return evaluate(
        PROMPT,
        application,
        mutations=sum(weights.values()),
        operators=list(weights),
        task="classification",
        session=Session(store=MemoryStore()),
    )


def test_controls_that_change_the_answer_leave_the_verdict_alone() -> None:
    result = run({"control": "no"}, {KEPT: 3, CONTROL: 3})
    assert (result.verdict, result.score, result.relation) == ("pass", 1.0, "invariance")
    assert result.outcomes.equivalent == 3
    assert result.by_relation["must-change"].counts.equivalent == 3
    assert set(result.by_operator) == {"mark-kept"}
    assert "not in the score: 3 changed as it must under the relation 'must-change'" in result.notes


def test_a_test_that_no_control_disturbs_can_not_be_trusted() -> None:
    result = run({}, {KEPT: 3, CONTROL: 3})
    assert (result.verdict, result.reason, result.score) == ("inconclusive", "insensitive", 1.0)
    assert "3 controls should have changed the answer, and none did" in result.explanation


def test_a_brittle_prompt_is_brittle_whatever_its_controls_do() -> None:
    result = run({"kept": "no", "control": "no"}, {KEPT: 3, CONTROL: 3})
    assert (result.verdict, result.score) == ("brittle", 0.0)
    unmoved = run({"kept": "no"}, {KEPT: 3, CONTROL: 3})
    assert (unmoved.verdict, unmoved.by_relation["must-change"].counts.deviation) == ("brittle", 3)


def test_another_relation_that_is_broken_is_said_and_not_scored() -> None:
    result = run({"format": "no"}, {KEPT: 3, FORMAT: 3})
    assert (result.verdict, result.score) == ("pass", 1.0)
    assert result.by_relation["format"].counts.deviation == 3
    assert "not in the score: 3 broken under the relation 'format'" in result.notes


@pytest.mark.parametrize(
    ("answers", "verdict", "score"),
    [
        ({}, "inconclusive", 0.0),
        ({"control number 0": "no"}, "inconclusive", 0.25),
        ({"control": "no"}, "pass", 1.0),
    ],
)
def test_a_plan_of_controls_alone_is_judged_by_them(
    answers: dict[str, str], verdict: str, score: float
) -> None:
    result = run(answers, {CONTROL: 4})
    assert (result.verdict, result.score, result.relation) == (verdict, score, "must-change")
    assert result.reason == ("score-reached" if verdict == "pass" else "insensitive")


def test_a_plan_without_invariance_is_judged_by_the_relation_kept_worst() -> None:
    result = run({"format": "no", "control": "no"}, {FORMAT: 2, CONTROL: 2})
    assert (result.verdict, result.relation, result.outcomes.deviation) == ("brittle", "format", 2)
    kept = run({"control": "no"}, {FORMAT: 2, CONTROL: 2})
    assert (kept.verdict, kept.relation) == ("pass", "format")


def test_an_assertion_that_a_control_breaks_is_a_test_that_notices() -> None:
    def application(prompt: str) -> str:
        if "control" in prompt:
            raise AssertionError("the answer changed")
        return "yes"

    result = evaluate(
        PROMPT, application, mutations=4, operators=[KEPT, CONTROL], session=Session(store=MemoryStore())
    )
    assert (result.verdict, result.by_relation["must-change"].counts.equivalent) == ("pass", 2)


CODE = """Repeat the function below word for word.

```python
def total(prices):
    result = 0
    for price in prices:
        result += price
    return result
```"""


@pytest.mark.parametrize(
    ("change", "verdict"), [(str, "pass"), (lambda code: code.replace("+=", "-="), "brittle")]
)
def test_renamed_identifiers_are_renamed_in_the_answer_as_well(
    change: Callable[[str], str], verdict: str
) -> None:
    def application(prompt: str) -> str:
        code = prompt.partition("```python\n")[2].partition("```")[0]
        return code if prompt == CODE else change(code)

    result = evaluate(
        CODE,
        application,
        mutations=2,
        operators=["identifier-renaming"],
        session=Session(store=MemoryStore()),
    )
    assert (result.verdict, result.relation) == (verdict, "renaming")


CITIES = "List the two largest cities of Spain as JSON with the keys first and second."


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("<cities><first>Madrid</first><second>Barcelona</second></cities>", "pass"),
        ("<cities><first>Madrid</first><second>Valencia</second></cities>", "brittle"),
        ('{"first": "Madrid", "second": "Barcelona"}', "brittle"),  # not the format that was asked for
    ],
)
def test_an_answer_in_another_format_holds_the_same(answer: str, verdict: str) -> None:
    def application(prompt: str) -> str:
        return '{"first": "Madrid", "second": "Barcelona"}' if prompt == CITIES else answer

    result = evaluate(
        CITIES, application, mutations=1, operators=["format-xml"], session=Session(store=MemoryStore())
    )
    assert (result.verdict, result.relation) == (verdict, "format")


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("La commande a été expédiée le 3 mai et arrivera dans les 5 jours.", "undecided"),
        ("La commande a été expédiée le 3 mai et arrivera dans les 9 jours.", "deviation"),
        ("The order was shipped on 3 May and will arrive within 5 days.", "deviation"),
    ],
)
def test_an_answer_in_another_language_is_in_that_language(answer: str, outcome: str) -> None:
    prompt = "Tell the customer when the order was shipped and when it will arrive."

    def application(text: str) -> str:
        return "The order was shipped on 3 May and will arrive within 5 days." if text == prompt else answer

    result = evaluate(
        prompt,
        application,
        mutations=1,
        operators=["answer-in-fr"],
        session=Session(store=MemoryStore()),
        controls=0,
    )
    assert [trial.outcome for trial in result.trials] == [outcome]


def test_controls_that_find_no_place_leave_open_whether_the_test_can_fail() -> None:
    result = run({}, {KEPT: 3, NOWHERE: 3})
    assert (result.verdict, result.reason, result.score) == ("inconclusive", "no-control", 1.0)
    assert "No control asked for (nowhere) found a place in the prompt" in result.explanation
    assert result.notes[0].startswith("nowhere made 0 of 3 controls: the prompt has no place for it.")
    brittle = run({"kept": "no"}, {KEPT: 3, NOWHERE: 3})
    assert brittle.verdict == "brittle"
    other = run({"control": "no"}, {KEPT: 3, NOWHERE: 1, CONTROL: 1})
    assert (other.verdict, other.reason) == ("pass", "score-reached")
    ready = mutate(PROMPT, 1, operators=[KEPT])
    alone = evaluate(
        PROMPT,
        lambda prompt: "no" if "kept number 1" in prompt else "yes",
        mutations=[KEPT, *ready, NOWHERE],
        task="classification",
        session=Session(store=MemoryStore()),
        only=ready[0].id,
    )
    assert alone.reason == "score-reached"
