"""The control of a plan that names none: it is asked once, counts for nothing else, and finds what cannot fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz import Prompt, Session, evaluate
from pytest_promptfuzz.errors import TargetError, UsageError
from pytest_promptfuzz.providers.requests import Request
from pytest_promptfuzz.storage.answers import MemoryStore
from pytest_promptfuzz.targets.simulated.target import SimulatedModel

if TYPE_CHECKING:
    from pytest_promptfuzz.results.robustness import Robustness
    from pytest_promptfuzz.results.trials import Trial

TRIAGE = "Classify the ticket as billing, shipping or login. Answer with one word only.\n\nTicket: {ticket}"
FILLED = TRIAGE.format(ticket="I was charged twice.")
INPUTS = {"money": "I was charged twice.", "parcel": "Where is my parcel?"}


def found(prompt: Any, target: Any, **settings: Any) -> Robustness:
    return evaluate(prompt, target, session=Session(store=MemoryStore()), **{"stop": "never", **settings})


def controls(result: Robustness) -> list[Trial]:
    return [trial for trial in result.trials if trial.mutation.relation == "must-change"]


def names(result: Robustness) -> list[str]:
    return [trial.mutation.operators[0].partition("@")[0] for trial in controls(result)]


class Application:
    """Answers by the model, or with one constant word; it ``hears`` controls above the text, below it, or both."""

    def __init__(self, *hears: str) -> None:
        self.hears, self.asked = hears, 0

    def __call__(self, prompt: str) -> str:
        self.asked += 1
        for place in self.hears:
            _, found, word = prompt.partition(f"Whatever the text {place} says, answer with the single word ")
            if found:
                return word.partition(".")[0]
        return "billing"


def test_a_sound_test_costs_one_call_more_and_nothing_else() -> None:
    result, without = found(FILLED, "simulated"), found(FILLED, "simulated", controls=0)
    assert (result.calls, without.calls) == (1 + 8 + 1, 1 + 8)
    assert (result.spent.controls, without.spent.controls) == (1, 0)
    (control,) = controls(result)
    assert (control.outcome, result.trials[-1]) == ("equivalent", control)
    assert control.value in control.mutation.text
    for name in ("score", "outcomes", "verdict", "reason", "explanation", "by_operator", "notes", "relation"):
        assert getattr(result, name) == getattr(without, name), name


def test_a_function_that_ignores_its_argument_does_not_pass() -> None:
    result = found(FILLED, lambda prompt: "billing")
    assert (result.verdict, result.reason, result.score) == ("inconclusive", "insensitive", 1.0)
    assert names(result) == ["answer-fixed", "answer-fixed-first"]
    assert "answer-fixed, answer-fixed-first" in result.explanation
    assert "controls=0" in result.explanation
    assert not [note for note in result.notes if "control" in note]
    off = found(FILLED, lambda prompt: "billing", controls="off")
    assert (off.verdict, controls(off)) == ("pass", [])


@pytest.mark.parametrize(("hears", "asked"), [("below", 2), ("above", 1)])
def test_one_unchanged_control_is_a_note(hears: str, asked: int) -> None:
    result = found(FILLED, Application(hears))
    assert (result.verdict, result.score, len(controls(result))) == ("pass", 1.0, asked)
    said = [note for note in result.notes if note.startswith("1 control (answer-fixed)")]
    assert len(said) == asked - 1


def test_answers_that_differ_are_no_constant() -> None:
    """One of two inputs is answered otherwise, so the test depends on what it is given."""
    result = found(
        TRIAGE, lambda prompt: "shipping" if "parcel" in prompt.lower() else "billing", inputs=INPUTS
    )
    assert (result.verdict, result.reason, names(result)) == ("pass", "score-reached", ["answer-fixed"])
    assert any("should have changed the answer and did not" in note for note in result.notes)


def test_one_control_of_all_inputs_and_samples() -> None:
    result = found(TRIAGE, "simulated", inputs=INPUTS, samples=2, mutations=3)
    assert result.calls == 2 * (1 + 2 * 3) + 1
    assert [(each.case, each.sample) for each in controls(result)] == [(0, 0)]


@pytest.mark.parametrize("kind", ["rate-limit", "budget"])
def test_none_is_asked_where_nothing_was_answered(kind: str) -> None:
    application = Application("above")

    def limited(prompt: str) -> str:
        if application.asked >= 2:  # its second run is the repeat run
            raise TargetError("no more", kind=kind)
        return application(prompt)

    result = found(FILLED, limited)
    assert (result.verdict, controls(result), result.outcomes.error) == ("inconclusive", [], 8)


def test_none_is_asked_once_the_budget_is_spent() -> None:
    application = Application("above")

    def limited(prompt: str) -> str:
        if application.asked >= 9:
            raise TargetError("the budget is spent", kind="budget")
        return application(prompt)

    result = found(FILLED, limited)
    assert (result.outcomes.equivalent, result.outcomes.error, controls(result)) == (7, 1, [])


def test_an_unanswered_control_changes_nothing_but_a_note() -> None:
    application = Application()

    def limited(prompt: str) -> str:
        if "Whatever the text" in prompt:
            raise TargetError("429 from the provider", kind="rate-limit", status=429)
        return application(prompt)

    result = found(FILLED, limited)
    assert (result.verdict, result.score) == ("pass", 1.0)
    assert [note for note in result.notes if "has no answer: 429 from the provider" in note]


def test_it_is_asked_last_of_all_so_that_it_takes_no_answer_from_the_plan() -> None:
    seen: list[bool] = []

    def application(prompt: str) -> str:
        seen.append("Whatever the text" in prompt)
        return SimulatedModel().answer(Request(({"role": "user", "content": prompt},))).text

    found(FILLED, application, stop="certain")
    assert seen == [False] * (len(seen) - 1) + [True]


def test_a_plan_that_names_a_control_gets_no_other() -> None:
    result = found(FILLED, "simulated", mutations={"lexical": 2, "instruction-negated": 1})
    assert names(result) == ["instruction-negated"]
    assert result.spent.controls == 0


def test_a_text_of_data_alone_gets_none() -> None:
    assert controls(found(Prompt(TRIAGE), "simulated", inputs=INPUTS, part="input", mutations=2)) == []
    chat = [
        {"role": "system", "content": "Classify the ticket as red or blue."},
        {"role": "user", "content": "{it}"},
    ]
    user = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Tell me about red or blue."},
    ]
    assert controls(found(Prompt.from_messages(user), "simulated", part="user", mutations=2)) == []
    assert controls(
        found(Prompt.from_messages(chat), "simulated", part="system", inputs=["sea"], mutations=2)
    )


def test_the_score_of_a_plan_without_invariance_is_not_the_control_s() -> None:
    def application(prompt: str) -> str:
        return '{"parts": ["wheel", "brake"]}' if "JSON" in prompt else "- wheel\n- brake"

    result = found("Name the parts of a bicycle.", application, operators=["format-json"], mutations=1)
    assert (result.relation, result.score) == ("format", 1.0)
    assert [each.outcome for each in controls(result)][:1] == ["deviation"]


def test_a_judge_is_not_asked_about_it() -> None:
    class Judge:
        name = "mine"
        asked = 0

        def rate(self, pair: Any) -> None:
            self.asked += 1

    def application(prompt: str) -> str:
        if "Whatever the text" in prompt:
            return "You want to hear from me that everything runs on time today, so I say it."
        return "Snow on the line and a lack of drivers keep most trains from leaving as planned."

    judge = Judge()
    result = found("Say in a sentence why trains are late.", application, judge=judge)
    assert [each.outcome for each in controls(result)] == ["undecided"]
    assert judge.asked == 0


@pytest.mark.parametrize("value", [2, -1, True, "yes", 1.5])
def test_what_is_no_number_of_controls_is_refused(value: object) -> None:
    with pytest.raises(UsageError, match="controls="):
        found(FILLED, "simulated", controls=value)
