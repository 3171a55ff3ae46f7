"""Two runs trial by trial, and the gate that holds one against the other."""

from __future__ import annotations

from fractions import Fraction

import pytest

from pytest_promptfuzz.stats.regressions import Paired
from pytest_promptfuzz.stats.repeats import RepeatEvidence
from pytest_promptfuzz.stats.scores import Counts
from pytest_promptfuzz.stats.verdict import decide_at, tells
from pytest_promptfuzz.wording.verdicts import explained

GATE = Fraction(85, 100)
SURE = RepeatEvidence(Fraction(1), 1.0, Fraction(9, 10), p=0.001, baselines=8, answers=8)
NOISE = RepeatEvidence(Fraction(7, 10), 0.9, Fraction(1), p=0.6, baselines=16, answers=16)


def test_trials_are_paired_by_name_and_what_had_no_outcome_is_left_out() -> None:
    before = {
        "a": "equivalent",
        "b": "minor",
        "c": "deviation",
        "d": "error",
        "e": "equivalent",
        "f": "minor",
    }
    today = {
        "a": "minor",
        "b": "deviation",
        "c": "equivalent",
        "d": "deviation",
        "e": "undecided",
        "f": "minor",
        "g": "deviation",
    }
    found = Paired.of(before, today, alpha=0.05)  # type: ignore[arg-type]
    assert (found.worse, found.better, found.same, found.unknown, found.pairs) == (2, 1, 1, 1, 5)
    assert found.before == Fraction(10 + 7 + 0 + 10 + 7, 50)
    assert Paired.of({}, {"a": "deviation"}, alpha=0.05).pairs == 0


@pytest.mark.parametrize(
    ("worse", "better", "p"), [(0, 0, 1.0), (5, 0, 1 / 32), (4, 0, 1 / 16), (6, 1, 8 / 128), (1, 1, 0.75)]
)
def test_the_sign_test_is_exact(worse: int, better: int, p: float) -> None:
    found = Paired(worse, better, 10)
    assert found.p == p
    assert found.is_worse == (p <= 0.05)
    assert Paired(2000, 1000, 0).p < 1e-60  # and no overflow


def test_so_few_pairs_that_none_could_show_anything_leave_the_point_gate() -> None:
    assert not tells(Paired(4, 0, 0))
    assert tells(Paired(5, 0, 0))
    assert not tells(Paired(8, 0, 0, alpha=0.0025))
    counts = Counts(equivalent=4, deviation=4)
    assert decide_at("no-worse", counts, GATE, paired=Paired(4, 0, 0)) == decide_at("point", counts, GATE)
    assert decide_at("no-worse", counts, GATE) == decide_at("point", counts, GATE)


def test_a_score_that_reaches_the_threshold_fails_where_it_became_worse() -> None:
    counts = Counts(equivalent=58, deviation=6)
    worse = Paired(6, 0, 58)
    assert decide_at("point", counts, GATE).verdict == "pass"
    asked = decide_at("no-worse", counts, GATE, paired=worse)
    assert (asked.verdict, asked.reason) == ("brittle", "worse-than-before")  # and is asked again
    assert explained(asked) == (
        "Of 64 trials that the stored run has as well, 6 came out worse and 0 better; that is more than chance."
    )
    assert decide_at("no-worse", counts, GATE, evidence=SURE, paired=worse).verdict == "brittle"
    noise = decide_at("no-worse", counts, GATE, evidence=NOISE, paired=worse)
    assert noise.verdict == "pass"
    assert "no more than the model's own noise" in explained(noise)


def test_what_chance_makes_passes_and_the_point_gate_still_holds() -> None:
    few = decide_at("no-worse", Counts(equivalent=61, deviation=3), GATE, paired=Paired(3, 1, 60))
    assert (few.verdict, few.reason) == ("pass", "score-reached")
    assert explained(few).endswith("3 came out worse and 1 better; that is no more than chance.")
    assert "p =" not in explained(few)
    low = Counts(equivalent=6, deviation=2)
    assert decide_at("no-worse", low, GATE, paired=Paired(2, 0, 6)).reason == "score-below-threshold"


def test_what_was_accepted_below_the_threshold_may_stay_there() -> None:
    counts = Counts(equivalent=8, deviation=8)
    as_bad = Paired(1, 1, 14, before=Fraction(1, 2))
    found = decide_at("no-worse", counts, GATE, evidence=SURE, paired=as_bad)
    assert (found.verdict, found.reason) == ("pass", "no-worse")
    assert explained(found).startswith("The stored run's score 0.50 was below the threshold 0.85 as well.")
    worse = Paired(6, 0, 10, before=Fraction(3, 4))
    assert decide_at("no-worse", counts, GATE, evidence=SURE, paired=worse).reason == "worse-than-before"
    limited = decide_at("no-worse", counts, GATE, max_deviations=7, paired=as_bad)
    assert (limited.verdict, limited.reason) == ("brittle", "too-many-deviations")


def test_an_odd_answer_to_the_unmutated_prompt_does_not_make_all_trials_worse() -> None:
    counts = Counts(equivalent=4, deviation=28)
    worse = Paired(26, 1, 5, before=Fraction(29, 32))
    assert worse.is_worse
    assert not worse.lasting(Fraction(29, 32)).is_worse
    assert worse.lasting(Fraction(20, 32)) == Paired(10, 1, 21, before=Fraction(29, 32))
    assert worse.lasting(Fraction(0)) == worse
    odd = RepeatEvidence(
        Fraction(1), 1.0, Fraction(9, 10), p=0.001, confirmed=Fraction(29, 32), baselines=8, answers=8
    )
    found = decide_at("no-worse", counts, GATE, evidence=odd, paired=worse)
    assert found.verdict == "pass"
    assert "Asked again, no more of them than chance explains came out worse." in explained(found)


def test_trials_without_an_outcome_bound_the_comparison() -> None:
    counts = Counts(equivalent=57, error=3, deviation=4)
    open_ = Paired(4, 0, 57, unknown=3)
    assert not open_.is_worse
    assert open_.may_be_worse
    found = decide_at("no-worse", counts, GATE, paired=open_)
    assert (found.verdict, found.reason) == ("inconclusive", "errors-decide")
    surely = Paired(12, 0, 50, unknown=2)
    assert surely.is_worse
    assert not Paired(5, 0, 50, unknown=2).is_worse
