"""What verdicts rest on, as sentences: each code has one of its own."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, get_args

import pytest

from pytest_promptfuzz.stats.regressions import Paired
from pytest_promptfuzz.stats.repeats import RepeatEvidence
from pytest_promptfuzz.stats.scores import Counts
from pytest_promptfuzz.stats.verdict import (
    ComparedCode,
    ComparedGround,
    ControlsCode,
    ControlsGround,
    Judgement,
    ScoreGround,
    SureCode,
    SureGround,
    UnaskedGround,
)
from pytest_promptfuzz.wording.verdicts import decimal, explained

if TYPE_CHECKING:
    from pytest_promptfuzz.stats.verdict import Ground, Reason

GATE = Fraction(85, 100)
COUNTS = Counts(equivalent=6, deviation=2, error=1, undecided=1)
EVIDENCE = RepeatEvidence(
    Fraction(9, 10), 0.95, Fraction(8, 10), 0.01, 0.05, 0.001, Fraction(9, 10), 1, 8, 4, 8
)
SCORED: tuple[Reason, ...] = (
    "nothing-scored",
    "score-reached",
    "errors-decide",
    "score-below-threshold",
    "noise-floor",
    "adjusted-reached",
    "not-repeated",
    "not-significant",
)
FAMILIES: dict[str, list[Ground]] = {
    "score": [ScoreGround(code, COUNTS, GATE, 10, EVIDENCE) for code in SCORED],
    "run before": [ComparedGround(code, Paired(3, 1, 8), GATE) for code in get_args(ComparedCode)],
    "lower bound": [SureGround(code, GATE, 0.8, 2, 40) for code in get_args(SureCode)],
    "controls": [ControlsGround(code, ("answer-fixed",), 4, 1, GATE) for code in get_args(ControlsCode)],
}


def sentence(ground: Ground) -> str:
    return explained(Judgement("inconclusive", "errors-decide", (ground,)))


@pytest.mark.parametrize("family", FAMILIES)
def test_each_code_has_a_sentence_of_its_own(family: str) -> None:
    said = [sentence(each) for each in FAMILIES[family]]
    assert len(set(said)) == len(said)
    assert all(each[0].isupper() or each[0].isdigit() for each in said)
    assert all(each.endswith(".") for each in said)


def test_grounds_follow_each_other() -> None:
    judgement = Judgement("pass", "score-reached", ("One thing is so.",)).besides(UnaskedGround(3, 8))
    assert explained(judgement) == "One thing is so. 3 of 8 trials could not change the verdict."
    assert judgement.reason == "score-reached"


def test_one_is_no_plural() -> None:
    one = ControlsGround("none-changed", asked=1)
    assert sentence(one).startswith("1 control should")
    assert sentence(ComparedGround("could-be-worse", Paired(0, 0, 0, unknown=1), GATE)).startswith(
        "Of 1 trial that"
    )


@pytest.mark.parametrize(("number", "text"), [("0.85", "0.85"), ("0.875", "0.875"), ("0.8494", "0.849")])
def test_a_number_does_not_look_equal_to_what_it_is_not(number: str, text: str) -> None:
    assert decimal(Fraction(number)) == text
