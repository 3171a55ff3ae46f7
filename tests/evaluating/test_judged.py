"""Evaluations with a judge: when it is asked, what it decides, what becomes of its failures, what it costs."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz import (
    ConfigurationError,
    JudgedPair,
    Session,
    UsageError,
    aevaluate,
    evaluate,
    guard,
    judge,
)
from pytest_promptfuzz.judging.meaning import CachedEmbedder
from pytest_promptfuzz.reporting.model import report_test
from pytest_promptfuzz.reporting.terminal.failure import failure_lines
from pytest_promptfuzz.reporting.terminal.styled_text import render
from pytest_promptfuzz.running.limits.budget import Caps
from pytest_promptfuzz.running.limits.limits import SessionLimits, Settings
from pytest_promptfuzz.server.faults import RateLimited, ServerError
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.answers import MemoryStore
from pytest_promptfuzz.storage.recordings.places import JUDGE
from pytest_promptfuzz.wire.watch import attributed, watching

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_promptfuzz import Robustness

PROMPT = "Tell me where my parcel is, please."
BASELINE = "The parcel has gone out and will be there by Monday."
OTHER = "Yours is on its way since yesterday, expect it on Monday."  # words cannot tell
NEGATED = "The parcel has not gone out and will be there by Monday."  # a guard can
WORDS = ["surely", "anyway", "indeed", "truly"]
CASES = ["upper-case", "lower-case", "title-case", "double-space"]


def answering(**answers: str) -> Callable[[str], str]:
    """Answers by the case of the prompt, else as the baseline."""

    def application(prompt: str) -> str:
        kind = (
            "upper"
            if prompt.isupper()
            else "lower"
            if prompt.islower()
            else "title"
            if prompt.istitle()
            else ""
        )
        return answers.get(kind, BASELINE)

    return application


class Telling:
    """Rates by what it is told, and keeps what it was shown."""

    name = "telling"

    def __init__(self, rating: Any = 3, **by_measure: Any) -> None:
        self.rating = rating
        self.by_measure = by_measure
        self.shown: list[JudgedPair] = []
        self.graded: list[tuple[str, str]] = []

    def rate(self, pair: JudgedPair) -> Any:
        self.shown.append(pair)
        if isinstance(self.rating, Exception):
            raise self.rating
        return self.rating(pair) if callable(self.rating) else self.rating

    def grade(self, measure: str, prompt: str, answer: str) -> Any:
        self.graded.append((measure, answer))
        grades = self.by_measure.get(measure, {})
        return grades.get(answer, 3) if isinstance(grades, dict) else grades


def evaluated(application: Any, **settings: Any) -> Robustness:
    session = settings.pop("session", None) or Session()
    # A test that is about to fail is asked again, and more pairs are put to the judge.
    given = {"operators": CASES, "mutations": len(CASES), "threshold": 0, "controls": 0, **settings}
    return evaluate(PROMPT, application, session=session, **given)


def by_operator(result: Robustness) -> dict[str, str]:
    return {each.mutation.operators[0].partition("@")[0]: each.outcome for each in result.trials}


@pytest.mark.parametrize(
    ("rating", "outcome"), [(3, "equivalent"), (2, "minor"), (1, "deviation"), (None, "undecided")]
)
def test_a_judge_is_asked_where_nothing_cheaper_can_tell(rating: int | None, outcome: str) -> None:
    mine = Telling(rating)
    result = evaluated(answering(upper=OTHER, lower=NEGATED), judge=mine)
    assert by_operator(result) == {
        "upper-case": outcome,
        "lower-case": "deviation",
        "title-case": "equivalent",
        "double-space": "equivalent",
    }
    assert mine.shown == [JudgedPair(BASELINE, OTHER, PROMPT)]
    (trial,) = [each for each in result.trials if each.value == OTHER]
    assert trial.comparison is not None
    assert (trial.comparison.reason, trial.comparison.tiers[-1].name) == ("judge", "judge")
    assert result.judging is not None
    assert result.judging.ratings == {rating: 1}
    assert evaluated(answering(upper=OTHER)).outcomes.undecided == 1


def test_always_asks_about_all_but_what_is_equal_or_contradicts() -> None:
    close = BASELINE.replace("gone out", "gone out already")
    mine = Telling(1)
    result = evaluated(
        answering(upper=close, lower=NEGATED, title=BASELINE + "!"), judge=mine, judge_when="always"
    )
    assert by_operator(result)["upper-case"] == "deviation"
    assert by_operator(result)["title-case"] == "equivalent"
    assert [each.response for each in mine.shown] == [close]
    assert by_operator(evaluated(answering(upper=close), judge=Telling(1)))["upper-case"] == "minor"


@pytest.mark.parametrize("when", ["undecided", "always"])
def test_a_contradiction_is_never_overruled(when: str) -> None:
    mine = Telling(3)
    objecting = guard("mine")(lambda baseline, response: "no greeting" if response == OTHER else None)
    result = evaluated(answering(upper=OTHER, lower=NEGATED), judge=mine, judge_when=when, guards=[objecting])
    outcomes = by_operator(result)
    assert (outcomes["upper-case"], outcomes["lower-case"]) == ("deviation", "deviation")
    assert mine.shown == []


def test_an_assertion_is_no_matter_for_a_judge() -> None:
    def application(prompt: str) -> str:
        assert not prompt.isupper(), "shouting"
        return BASELINE

    mine = Telling(3)
    assert by_operator(evaluated(application, judge=mine, judge_when="always"))["upper-case"] == "deviation"
    assert mine.shown == []


def test_the_same_answers_are_shown_once() -> None:
    mine = Telling(2)
    result = evaluated(answering(upper=OTHER, lower=OTHER, title=OTHER), judge=mine)
    assert result.outcomes.minor == 3
    assert len(mine.shown) == 1


def test_before_a_test_fails_the_judge_is_asked_about_repeats_too() -> None:
    said = iter(range(1000))

    def application(prompt: str) -> str:
        return f"{OTHER} Or so we hope, {WORDS[next(said) % len(WORDS)]}." if prompt.isupper() else BASELINE

    mine = Telling(1)
    result = evaluated(application, operators=["upper-case"], mutations=1, threshold=1, judge=mine)
    assert result.outcomes.deviation == 1
    answers = {each.baseline for each in mine.shown} | {each.response for each in mine.shown}
    assert BASELINE in answers
    assert len(answers) > 2
    assert len(mine.shown) == len(set(mine.shown)) > 2


def test_a_pair_is_shown_one_way_round() -> None:
    mine = Telling(1)
    result = evaluated(answering(upper=OTHER), threshold=1, judge=mine)
    assert result.verdict != "pass"
    assert [(each.baseline, each.response) for each in mine.shown] == [(BASELINE, OTHER)]


def test_what_is_left_out_is_not_shown() -> None:
    mine = Telling(3)
    numbers = iter(range(100))

    def application(prompt: str) -> dict[str, str]:
        return {"id": f"request {next(numbers)}", "reply": OTHER if prompt.isupper() else BASELINE}

    result = evaluated(application, ignore="$.id", judge=mine)
    assert result.outcomes.equivalent == 4
    (pair,) = mine.shown
    assert (json.loads(pair.baseline), json.loads(pair.response)) == ({"reply": BASELINE}, {"reply": OTHER})


def test_a_control_that_words_cannot_tell_is_judged_the_other_way_round() -> None:
    def application(prompt: str) -> str:
        return BASELINE if prompt == PROMPT else OTHER

    for rating, outcome in ((1, "equivalent"), (3, "deviation")):
        mine = Telling(rating, relevance=2)
        result = evaluated(
            application, operators=["answer-fixed"], mutations=1, judge=mine, quality=["relevance"]
        )
        (trial,) = result.trials
        assert (trial.mutation.relation, trial.outcome) == ("must-change", outcome)
        assert [each.relation for each in mine.shown] == ["must-change"]
        assert mine.graded == []  # what must change is no matter of quality


def test_a_judge_is_told_what_was_really_asked() -> None:
    mine = Telling(3)
    evaluate(
        "Summarize the text in one sentence.\n\nText: {text}",
        "simulated?noise=0.5&seed=1",
        inputs=["It takes four years. The tram will reach the airport."],
        judge=mine,
        judge_when="always",
    )
    assert {each.prompt.partition("Text: ")[2] for each in mine.shown} == {
        "It takes four years. The tram will reach the airport."
    }


def test_inputs_are_judged_each_with_its_own_prompt() -> None:
    mine = Telling(3)

    def application(prompt: str) -> str:
        return OTHER if prompt.isupper() else BASELINE

    prompt = "Tell me where the {thing} is, please."
    result = evaluate(
        prompt,
        application,
        inputs=["parcel", "letter"],
        operators=["upper-case"],
        mutations=1,
        judge=mine,
        part="both",
    )
    assert result.outcomes.equivalent == 2
    assert sorted(each.prompt for each in mine.shown) == [
        "Tell me where the letter is, please.",
        "Tell me where the parcel is, please.",
    ]


@pytest.mark.parametrize("rating", [ValueError("no model"), 7, "3"])
def test_a_crash_or_nonsense_is_an_error_and_never_a_deviation(rating: Any) -> None:
    result = evaluated(answering(upper=OTHER), judge=Telling(rating))
    assert (result.outcomes.error, result.outcomes.deviation) == (1, 0)
    (trial,) = [each for each in result.trials if each.error]
    assert trial.error is not None
    assert trial.error.kind == "judge"
    assert trial.error.message.startswith("The judge 'telling' r")
    text = render(failure_lines(report_test(result, test="t"), width=200), width=200, color=False)
    assert "Mend the judge: it returns 3, 2 or 1" in text
    assert "name another model" not in text
    assert result.judging is not None
    assert result.judging.failed == 1


def ratings(question: str, rating: int = 3) -> str:
    return json.dumps({"explanation": "so it is", "rating": rating})


def test_a_function_that_answers_questions_judges() -> None:
    result = evaluated(answering(upper=OTHER), judge=ratings, judge_repeats=3)
    assert result.outcomes.equivalent == 4
    assert result.judging is not None
    assert result.judging.orders is not None
    assert result.judging.repeats is not None
    assert (result.judging.orders.pairs, result.judging.repeats.pairs) == (3, 6)


def test_disagreement_is_reported() -> None:
    said = iter([3, 3, 2, 2, 3, 2])  # three in one order, three in the other

    def unsteady(question: str) -> str:
        return ratings(question, next(said))

    result = evaluated(answering(upper=OTHER), judge=unsteady, judge_repeats=3)
    assert by_operator(result)["upper-case"] == "minor"
    notes = [each for each in result.notes if each.startswith("the judge")]
    assert "both orders agreed in 2 of 3, kappa 0.40; repeats agreed in 2 of 6, kappa -0.20" in notes[0]


def in_parallel(at_once: int) -> tuple[Callable[[str], str], list[int]]:
    """A judge that waits until so many are asked at once."""
    lock, now, peak = threading.Lock(), [0], [0]

    def model(question: str) -> str:
        with lock:
            now[0] += 1
            peak[0] = max(peak[0], now[0])
        waited = time.monotonic() + 300
        while peak[0] < at_once and time.monotonic() < waited:
            time.sleep(0.005)
        with lock:
            now[0] -= 1
        return ratings(question)

    return model, peak


@pytest.mark.parametrize("asynchronous", [False, True])
def test_pairs_are_put_to_the_judge_at_once(asynchronous: bool) -> None:
    model, peak = in_parallel(3)
    application = answering(upper=OTHER + " Or so.", lower=OTHER + " I hope.", title=OTHER)
    settings: dict[str, Any] = {"operators": CASES, "mutations": 4, "judge": model, "session": Session()}
    settings["stop"] = "never"
    if asynchronous:
        result = asyncio.run(aevaluate(PROMPT, application, **settings))
    else:
        result = evaluate(PROMPT, application, **settings)
    assert result.outcomes.equivalent == 4
    assert peak == [3]


class Alike:
    """Every text means the same."""

    name = "alike"

    def embed(self, texts: Any) -> list[list[float]]:
        return [[1.0] for _ in texts]


def test_what_meaning_decides_is_no_matter_for_a_judge() -> None:
    mine = Telling(1)
    session = Session(embedder=CachedEmbedder(Alike()))
    alike = "It was posted and you will have it by Monday."
    assert evaluated(answering(upper=alike), session=session, judge=mine).outcomes.equivalent == len(CASES)
    assert mine.shown == []


def test_a_call_that_lost_its_context_is_not_the_judges() -> None:
    found: list[Any] = []
    with watching(Session().test().beside(JUDGE)):
        stray = threading.Thread(target=lambda: found.append(attributed()))
        stray.start()
        stray.join()
    assert found == [(None, ())]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with ModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        yield server


LIVE = {"judge": "openai:gpt-5-mini"}


def test_calls_are_counted_and_a_second_run_makes_none(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session(store=MemoryStore())
    first = evaluated(answering(upper=OTHER), session=session, **LIVE)
    assert (server.calls, first.spent.judge_calls, first.spent.judge_hits) == (2, 2, 0)
    assert first.spent.usage.input_tokens is not None
    monkeypatch.delenv("OPENAI_API_KEY")
    again = evaluated(answering(upper=OTHER), session=session, **LIVE)
    assert (server.calls, again.spent.judge_calls, again.spent.judge_hits) == (2, 0, 2)
    assert again.outcomes == first.outcomes
    # Its calls are among all.
    assert first.calls == evaluated(answering(upper=OTHER), session=Session()).calls + 2


def test_repeats_are_draws_of_their_own(server: ModelServer) -> None:
    session = Session(store=MemoryStore())
    for calls in (6, 0):
        result = evaluated(answering(upper=OTHER), session=session, judge_repeats=3, **LIVE)
        assert result.spent.judge_calls == calls
    assert server.calls == 6


def test_a_missing_key_is_an_error_of_the_test(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        evaluated(answering(upper=OTHER), **LIVE)
    assert evaluated(answering(), **LIVE).verdict == "pass"  # nobody had to be asked


def test_a_limit_that_passes_is_waited_out(server: ModelServer) -> None:
    server.fail(RateLimited(retry_after=0.01))
    result = evaluated(answering(upper=OTHER), **LIVE)
    assert result.outcomes.error == 0
    assert (server.calls, result.spent.retries) == (3, 1)


def test_a_failure_that_lasts_is_an_error_of_the_trial(server: ModelServer) -> None:
    server.fail(ServerError(times=None))
    result = evaluated(
        answering(upper=OTHER), session=Session(gate=SessionLimits(Settings(attempts=1))), **LIVE
    )
    (error,) = [each.error for each in result.trials if each.error]
    assert error.kind == "server"
    assert error.message.startswith("The judge could not be asked: ")


def test_a_spent_budget_is_said(server: ModelServer) -> None:
    result = evaluated(
        answering(upper=OTHER, lower=OTHER + " So."),
        session=Session(gate=SessionLimits(Settings(caps=Caps(calls=1)))),
        threshold=0.85,
        **LIVE,
    )
    assert (server.calls, result.reason) == (1, "budget-spent")


GRADED = {
    "faithfulness": {BASELINE: 3, OTHER: 2},
    "completeness": {BASELINE: 2, OTHER: 2},
}


def test_quality_is_graded_where_content_changed() -> None:
    mine = Telling(2, **GRADED)
    result = evaluated(
        answering(upper=OTHER, lower=NEGATED), judge=mine, quality=["faithfulness", "completeness"]
    )
    assert result.judging is not None
    found = result.judging.quality
    assert found is not None
    assert (found.pairs, found.shifted, found.changed) == (4, 2, 2)
    assert float(found.overall) == 0.5
    assert found.by_measure == {"faithfulness": 1, "completeness": 1}  # of the negated answer nobody was told
    assert sorted(mine.graded) == sorted(
        (measure, answer)
        for measure in ("faithfulness", "completeness")
        for answer in (BASELINE, OTHER, NEGATED)
    )
    assert any("overall 0.50" in note for note in result.notes)


def test_without_changes_nothing_is_graded() -> None:
    mine = Telling(3)
    result = evaluated(answering(), judge=mine, quality=["conciseness"])
    assert mine.graded == []
    assert result.judging is not None
    assert result.judging.quality is not None
    assert float(result.judging.quality.overall) == 1.0


def test_what_cannot_be_graded_is_left_out_and_said() -> None:
    result = evaluated(
        answering(upper=OTHER, lower=NEGATED),
        judge=Telling(2, relevance={OTHER: "good"}),
        quality=["relevance"],
    )
    assert result.judging is not None
    assert result.judging.quality is not None
    assert (result.judging.quality.pairs, result.judging.ungraded) == (3, 1)
    assert "the judge telling could not grade an answer: it graded relevance 'good'" in result.notes


def test_the_simulated_model_judges_and_grades() -> None:
    result = evaluated(
        answering(upper="Your parcel is there by Monday, it has gone out."),
        judge="simulated",
        quality=["faithfulness", "conciseness"],
    )
    assert result.spent.judge_calls >= 2
    assert result.outcomes.undecided == result.outcomes.error == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"judge": "gpt-5-mini"}, "evaluate: judge: 'gpt-5-mini' names no provider"),
        ({"judge": 3}, "evaluate: judge: 3 is neither"),
        ({"judge_when": "ever"}, "judge_when='ever' is not one of"),
        ({"judge_repeats": 0}, "judge_repeats=0 is out of range"),
        ({"quality": ["taste"], "judge": ratings}, "quality: the measure 'taste' is not one of"),
        ({"quality": "relevance", "judge": ratings}, "quality='relevance' is not a list"),
        ({"quality": ["relevance"]}, "needs a judge: name one"),
        (
            {"quality": ["relevance"], "judge": judge("own")(lambda baseline, response: 3)},
            "the judge 'own' grades no quality",
        ),
    ],
)
def test_wrong_settings_are_said_before_anything_is_asked(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        evaluated(answering(), **settings)


def test_a_judge_can_be_switched_off() -> None:
    assert evaluated(answering(upper=OTHER), judge=False).outcomes.undecided == 1
