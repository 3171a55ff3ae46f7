"""The interval of a score, and where its variance comes from, as ``evaluate`` gives them."""

from __future__ import annotations

from collections import Counter

import pytest

from pytest_promptfuzz import Session, evaluate
from pytest_promptfuzz.reporting.model import report_test
from pytest_promptfuzz.stats.intervals import adjusted_interval, score_interval
from pytest_promptfuzz.storage.answers import MemoryStore

PROMPT = """Is the ticket about billing? Answer yes or no.

Ticket:
{ticket}"""
ONE = {"charged": "I was charged twice."}
TICKETS = {"charged": "I was charged twice.", "crash": "The app crashes.", "login": "I cannot log in."}


class Application:
    """Answers "yes"; "no" to every nth text that it has not seen before, and what it said before to one that it has.

    ``moody`` texts, counted likewise, are answered now one way, now the other.
    """

    def __init__(self, *, no: frozenset[int] = frozenset(), moody: frozenset[int] = frozenset()) -> None:
        self.no, self.moody = no, moody
        self.seen: dict[str, int] = {}
        self.asked: Counter[str] = Counter()

    def __call__(self, prompt: str) -> str:
        number = self.seen.setdefault(prompt, len(self.seen))
        self.asked[prompt] += 1
        if number in self.moody:
            return "yes" if self.asked[prompt] % 2 else "no"
        return "no" if number in self.no else "yes"


def quiet() -> Session:
    return Session(store=MemoryStore())


def credited(result: object) -> list[tuple[str, float]]:
    credit = {"equivalent": 1.0, "minor": 0.7, "deviation": 0.0}
    return [
        (" + ".join(trial.mutation.operators), credit[trial.outcome])
        for trial in result.trials  # type: ignore[attr-defined]
        if trial.mutation.relation == "invariance"
    ]


def test_a_prompt_asked_once_has_the_interval_of_its_raw_score() -> None:
    result = evaluate(
        PROMPT, "simulated", mutations=8, threshold=0.2, stop="never", inputs=ONE, session=quiet()
    )
    expected = score_interval(credited(result))
    assert result.noise.baselines == 1
    assert result.interval == expected
    assert 0.2 < expected.low < result.score <= expected.high


def test_two_answers_to_the_prompt_say_next_to_nothing_of_the_floor() -> None:
    result = evaluate(
        PROMPT,
        Application(no=frozenset({3})),
        mutations=8,
        threshold=0.5,
        stop="never",
        inputs=ONE,
        session=quiet(),
    )
    raw = score_interval(credited(result))
    assert (result.score, result.noise.baselines) == (0.875, 2)
    assert result.interval == adjusted_interval(credited(result), floor=1.0, answers=2)
    assert result.interval.low == pytest.approx(raw.low, abs=0.1)
    assert result.interval.high == 1.0 > raw.high
    assert result.variance is None
    assert report_test(result, test="t")["variance"] is None


def test_where_the_floor_is_known_it_is_that_of_the_adjusted_score() -> None:
    result = evaluate(
        PROMPT,
        Application(no=frozenset({3})),
        mutations=8,
        threshold=0.5,
        baseline_runs=5,
        stop="never",
        inputs=ONE,
        session=quiet(),
    )
    assert (result.floor, result.adjusted_score) == (1, 0.875)
    expected = adjusted_interval(credited(result), floor=1, answers=5)
    assert result.interval == expected
    raw = score_interval(credited(result))
    assert expected.high > raw.high


def test_several_inputs_asked_twice_tell_where_the_variance_comes_from() -> None:
    # Texts 0, 5 and 10 are the unmutated ones. One mutation of the first input always deviates, one is moody.
    result = evaluate(
        PROMPT,
        Application(no=frozenset({2}), moody=frozenset({8})),
        mutations=4,
        samples=2,
        threshold=0,
        inputs=TICKETS,
        session=quiet(),
    )
    found = result.variance
    assert found is not None
    assert (found.items, found.runs) == (3, 24)
    assert found.inference == pytest.approx(0.5 / 12)
    assert found.perturbation is not None
    assert found.perturbation > 0
    assert found.share_range is not None
    reported = report_test(result, test="t")["variance"]
    assert reported is not None
    assert reported["inference"] == 0.0417
    assert reported["share"] == pytest.approx(found.share, abs=1e-4)
    assert reported["share_range"] == pytest.approx(found.share_range, abs=1e-4)


def test_asked_once_each_it_is_not_identifiable() -> None:
    result = evaluate(
        PROMPT, Application(no=frozenset({2})), mutations=4, threshold=0, inputs=TICKETS, session=quiet()
    )
    found = report_test(result, test="t")["variance"]
    assert found is not None
    assert (found["perturbation"], found["share"], found["share_range"]) == (None, None, None)
    assert "samples=2" in found["notes"][0]


def test_the_effects_of_operators_need_several_inputs_and_no_second_run() -> None:
    def application(prompt: str) -> str:
        return "no" if "IS THE TICKET" in prompt else "yes"

    asked = {"mutations": 3, "threshold": 0, "operators": ["upper-case", "double-space", "trailing-space"]}
    result = evaluate(PROMPT, application, inputs=TICKETS, session=quiet(), **asked)
    worst, *others = result.effects
    assert (worst.operator, worst.mean, worst.items) == ("upper-case", -1, 3)
    assert [each.mean for each in others] == [0.5, 0.5]
    reported = report_test(result, test="t")["variance"]
    assert reported is not None
    assert [each["operator"] for each in reported["effects"]] == [each.operator for each in result.effects]
    assert evaluate(PROMPT, application, inputs=ONE, session=quiet(), **asked).effects == ()
