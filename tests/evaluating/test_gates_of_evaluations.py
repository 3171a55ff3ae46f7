"""Gates of whole evaluations: what is asked, what is refused before, what is said."""

from __future__ import annotations

import pytest

from pytest_promptfuzz import Session, TargetError, UsageError, evaluate, mutate
from pytest_promptfuzz.reporting.model import report_test
from pytest_promptfuzz.storage.answers import MemoryStore

PROMPT = """Is the ticket about billing? Answer yes or no.

Ticket:
{ticket}"""
ONE = {"charged": "I was charged twice."}


class Application:
    """Answers "yes"; "no" to every text that is among the ``no``, counted as they come."""

    def __init__(self, *no: int) -> None:
        self.no = no
        self.seen: dict[str, int] = {}
        self.calls = 0

    def __call__(self, prompt: str) -> str:
        self.calls += 1
        return "no" if self.seen.setdefault(prompt, len(self.seen)) in self.no else "yes"


def quiet() -> Session:
    return Session(store=MemoryStore())


def refused(**settings: object) -> str:
    application = Application()
    with pytest.raises(UsageError) as error:
        evaluate(PROMPT, application, session=quiet(), gate="confident", **settings)  # type: ignore[arg-type]
    assert application.calls == 0
    return str(error.value)


def test_a_gate_that_cannot_pass_says_so_before_any_call_and_the_n_it_names_passes() -> None:
    message = refused(inputs=ONE)
    assert message.startswith("evaluate: gate='confident' at threshold=0.85 cannot pass with 8 mutations: ")
    needed = int(message.rpartition("mutations=")[2].rstrip("."))
    assert message.endswith(f"it needs mutations={needed}.")
    assert needed >= 19
    result = evaluate(
        PROMPT, Application(), inputs=ONE, mutations=needed, session=quiet(), gate="confident", controls=0
    )
    assert (result.verdict, result.reason, result.gate) == ("pass", "score-reached", "confident")
    assert "The score's lower bound at 95 %" in result.explanation
    assert report_test(result, test="t")["gate"] == "confident"
    fewer = refused(inputs=ONE, mutations=needed - 1)
    assert f"with {needed - 1} mutations" in fewer


def test_a_threshold_of_one_is_never_proved() -> None:
    assert "no test proves a score of 1" in refused(inputs=ONE, threshold=1)


def test_mutations_of_one_operator_are_worth_less() -> None:
    message = refused(inputs=ONE, mutations={"keyboard-typo": 20, "upper-case": 4})
    assert "at least mutations=19, and of more operators" in message


def test_controls_do_not_count() -> None:
    different = {each.operators: each for each in mutate(PROMPT, 48)}
    controls = mutate(PROMPT, {"answer-fixed": 1, "instruction-negated": 1})
    message = refused(inputs=ONE, mutations=[*list(different.values())[:18], *controls])
    assert "cannot pass with 18 mutations: it needs at least mutations=19." in message


def test_errors_that_could_decide_leave_a_sure_pass_open() -> None:
    class Failing(Application):
        def __call__(self, prompt: str) -> str:
            if super().__call__(prompt) == "no":
                raise TargetError("Too many requests", kind="rate-limit", status=429)
            return "yes"

    settings = {"inputs": ONE, "mutations": 32, "gate": "confident"}
    result = evaluate(PROMPT, Failing(4, 5), session=quiet(), **settings)  # type: ignore[arg-type]
    assert (result.verdict, result.reason, result.outcomes.error) == ("inconclusive", "errors-decide", 2)
    assert "2 trials without an outcome decide" in result.explanation


def test_a_prompt_that_allows_too_few_is_named() -> None:
    application = Application()
    with pytest.raises(
        UsageError, match="cannot pass with 8 mutations, and this prompt allows no plan that could"
    ):
        evaluate("Hello?", application, session=quiet(), gate="confident", threshold=0.98)
    assert application.calls == 0


def test_a_sure_failure_is_brittle_and_an_unsure_pass_is_inconclusive() -> None:
    brittle = evaluate(
        PROMPT,
        Application(*range(1, 13)),
        inputs=ONE,
        mutations=32,
        session=quiet(),
        gate="confident",
    )
    assert (brittle.verdict, brittle.noise.significant) == ("brittle", True)
    unsure = evaluate(
        PROMPT, Application(3, 4, 5), inputs=ONE, mutations=32, session=quiet(), gate="confident"
    )
    assert (unsure.verdict, unsure.reason) == ("inconclusive", "not-confident")
    assert unsure.score is not None
    assert unsure.score >= 0.85


def test_stopping_early_does_not_cut_short_what_a_sure_pass_needs() -> None:
    settings = {"inputs": ONE, "mutations": 32, "gate": "confident", "stop": "certain"}
    good = Application()
    result = evaluate(PROMPT, good, session=quiet(), **settings, controls=0)  # type: ignore[arg-type]
    assert (result.verdict, result.outcomes.not_needed, result.outcomes.equivalent) == ("pass", 0, 32)
    settings["stop"] = "sprt"  # ends a good run early at the gate 'point'
    assert evaluate(PROMPT, Application(), session=quiet(), **settings, controls=0).outcomes.equivalent == 32  # type: ignore[arg-type]
    bad = evaluate(PROMPT, Application(*range(1, 40)), session=quiet(), **settings, controls=0)  # type: ignore[arg-type]
    assert bad.verdict == "brittle"
    assert bad.outcomes.not_needed > 8


def test_one_trial_of_a_plan_is_run_whatever_the_gate() -> None:
    planned = evaluate(PROMPT, Application(), inputs=ONE, session=quiet())
    alone = evaluate(
        PROMPT, Application(), inputs=ONE, session=quiet(), gate="confident", only=planned.trials[0].id
    )
    assert alone.outcomes.total == 1


def test_inputs_that_are_mutated_themselves_count_together() -> None:
    tickets = [f"I was charged twice for order number {word} by mistake." for word in ("one", "two", "ten")]
    result = evaluate(
        PROMPT, Application(), inputs=tickets, part="input", mutations=8, session=quiet(), gate="confident"
    )
    assert result.outcomes.equivalent == 24
    assert result.verdict == "inconclusive"
    assert "About 28 mutations are enough" in result.explanation


def test_a_misspelt_gate_is_told_what_was_meant() -> None:
    with pytest.raises(UsageError, match=r"gate='confidnet' is not one of .*Did you mean 'confident'\?"):
        evaluate(PROMPT, Application(), inputs=ONE, gate="confidnet")
    with pytest.raises(UsageError, match="gate=3 is not one of point"):
        evaluate(PROMPT, Application(), inputs=ONE, gate=3)


def worse_and_better(
    *no: int, before: object = None, mutations: int = 32, threshold: float = 0.7, **settings: object
) -> object:
    given = {
        "gate": "no-worse",
        "controls": 0,
        **({"before": before} if before is not None else {}),
        **settings,
    }
    return evaluate(
        PROMPT,
        Application(*no),
        inputs=ONE,
        mutations=mutations,
        threshold=threshold,
        **{"session": quiet(), **given},  # type: ignore[arg-type]
    )


def test_a_run_is_held_against_the_one_before() -> None:
    before = evaluate(
        PROMPT,
        Application(),
        inputs=ONE,
        mutations=32,
        threshold=0.7,
        session=quiet(),
        stop="never",
        controls=0,
    )
    same = worse_and_better(before=before)
    assert (same.verdict, same.paired.worse, same.paired.pairs) == ("pass", 0, 32)
    assert not any("no-worse" in note for note in same.notes)
    few = worse_and_better(3, 4, before=before)
    assert (few.verdict, few.reason, few.paired.p) == ("pass", "score-reached", 0.25)
    worse = worse_and_better(*range(2, 9), before=before)
    assert (worse.verdict, worse.reason, worse.paired.worse) == ("brittle", "worse-than-before", 7)
    assert worse.score > 0.7
    assert worse.noise.significant
    found = report_test(worse, test="t")
    assert found["paired"] == {
        "worse": 7,
        "better": 0,
        "same": 25,
        "unknown": 0,
        "p": 0.0078125,
        "alpha": 0.05,
    }
    again = worse_and_better(*range(2, 9), before=report_test(before, test="t"))
    assert again.reason == "worse-than-before"
    shared = worse_and_better(*range(2, 9), before=before, session=Session(store=MemoryStore(), tests=20))
    assert (shared.verdict, shared.paired.alpha) == ("pass", 0.05 / 20)
    no_better = worse_and_better(*range(2, 9), before=worse)
    assert no_better.verdict == "pass"
    assert evaluate(PROMPT, Application(), inputs=ONE, session=quiet(), controls=0).paired is None


def test_what_was_accepted_below_the_threshold_is_asked_in_full_and_may_stay_there() -> None:
    lost = range(1, 17)
    before = evaluate(PROMPT, Application(*lost), inputs=ONE, mutations=32, session=quiet(), stop="never")
    assert before.verdict == "brittle"
    same = worse_and_better(*lost, before=before, stop="certain")
    assert (same.verdict, same.reason, same.paired.pairs) == ("pass", "no-worse", 32)
    assert same.outcomes.not_needed == 0


def test_only_trials_that_are_scored_are_paired() -> None:
    plan = {"lexical": 6, "semantic": 4, "answer-fixed": 1}
    settings = {"inputs": ONE, "mutations": plan, "stop": "never"}
    before = evaluate(PROMPT, Application(*range(1, 2)), session=quiet(), **settings)  # type: ignore[arg-type]
    assert len(before.trials) == 11
    after = worse_and_better(before=before, mutations=plan)  # type: ignore[arg-type]
    assert after.paired.pairs == 10


def test_where_there_is_nothing_to_hold_it_against_it_says_so_and_is_the_point_gate() -> None:
    none = worse_and_better()
    assert none.verdict == "pass"
    assert none.notes[0] == (
        "there is no earlier run to compare with, so gate='no-worse' acts as 'point'. Give one: before=, or --against "
        "FILE on the command line (a file that --json wrote)."
    )
    assert worse_and_better(*range(1, 20)).reason == "score-below-threshold"
    other = evaluate(
        "Is {ticket} about money? Say yes or no.", Application(), inputs=ONE, session=quiet(), controls=0
    )
    unlike = worse_and_better(before=other)
    assert unlike.notes[0].startswith("the earlier run has none of these trials (another prompt,")
    few = evaluate(PROMPT, Application(), inputs=ONE, mutations=4, session=quiet(), controls=0)
    assert (
        "4 trials are too few for gate='no-worse', so it acts as 'point'. Raise mutations."
        in (worse_and_better(before=few, mutations=4).notes[0])
    )


def test_a_run_before_that_is_none_is_refused() -> None:
    with pytest.raises(
        UsageError, match="before= must be the result of a run, or its JSON report, not 'main'"
    ):
        worse_and_better(before="main")
    with pytest.raises(UsageError, match="before= is for gate='no-worse'"):
        worse_and_better(before={"trials": []}, gate="point")
