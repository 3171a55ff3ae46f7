"""Gates: the score itself, or what it exceeds for sure."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from pytest_promptfuzz.stats.intervals import adjusted_interval, adjusted_lower_bound, lower_bound, smallest_n
from pytest_promptfuzz.stats.repeats import RepeatEvidence
from pytest_promptfuzz.stats.scores import Counts
from pytest_promptfuzz.stats.stopping import Ending, PlanGate, Stopping, settled
from pytest_promptfuzz.stats.verdict import Sampled, decide, decide_at
from pytest_promptfuzz.wording.verdicts import explained

GATE = Fraction(85, 100)


def fine(size: int, bad: int = 0) -> Sampled:
    return Sampled([(str(number), 0.0 if number < bad else 1.0) for number in range(size)])


def test_a_confident_gate_is_passed_from_the_n_that_it_needs() -> None:
    assert smallest_n(GATE) == 19
    for size, verdict in ((18, "inconclusive"), (19, "pass")):
        assert decide_at("point", Counts(equivalent=size), GATE, sampled=fine(size)).verdict == "pass"
        found = decide_at("confident", Counts(equivalent=size), GATE, sampled=fine(size))
        assert found.verdict == verdict
    assert "0.85, reaches 0.85" in explained(found)
    few = decide_at("confident", Counts(equivalent=18), GATE, sampled=fine(18))
    assert few.reason == "not-confident"
    assert "0.84, does not reach 0.85" in explained(few)
    assert "About 19 mutations are enough" in explained(few)


def test_it_says_how_many_mutations_would_tell_or_that_none_would() -> None:
    sampled = fine(40, bad=2)
    needed = sampled.needed(0.85)
    assert needed is not None
    assert lower_bound(sampled.credits, times=needed / 40) >= 0.85
    assert lower_bound(sampled.credits, times=(needed - 1) / 40) < 0.85
    close = decide_at("confident", Counts(equivalent=17, deviation=3), GATE, sampled=fine(20, bad=3))
    assert close.verdict == "inconclusive"
    assert "fix the prompt" in explained(close)


@pytest.mark.parametrize("counts", [Counts(equivalent=5, deviation=3), Counts(equivalent=20, error=9)])
def test_what_the_point_gate_does_not_pass_the_confident_one_does_not_either(counts: Counts) -> None:
    one, other = decide(counts, GATE), decide_at("confident", counts, GATE, sampled=fine(8))
    assert one == other
    assert one.verdict != "pass"


def test_brittle_is_said_only_of_what_is_significant() -> None:
    counts = Counts(equivalent=5, deviation=3)
    sure = RepeatEvidence(Fraction(1), 1.0, Fraction(5, 8), p=0.001, baselines=8, answers=8)
    unsure = RepeatEvidence(
        Fraction(1), 1.0, Fraction(5, 8), p=0.4, baselines=8, answers=8, confirmed=Fraction(5, 8)
    )
    assert decide_at("confident", counts, GATE, evidence=sure, sampled=fine(8, bad=3)).verdict == "brittle"
    found = decide_at("confident", counts, GATE, evidence=unsure, sampled=fine(8, bad=3))
    assert (found.verdict, found.reason) == ("inconclusive", "not-significant")


def test_trials_without_an_outcome_count_as_deviations_before_a_pass_is_sure() -> None:
    credits_ = [(str(number), 1.0) for number in range(40)]
    counts = Counts(equivalent=40, error=2)
    lost = Sampled(credits_, lost=("typo", "casing"))
    assert lost.least(at_worst=False) > lost.least()
    found = decide_at("confident", counts, Fraction(92, 100), sampled=lost)
    assert (found.verdict, found.reason) == ("inconclusive", "errors-decide")
    undecided = decide_at("confident", Counts(equivalent=40, undecided=2), Fraction(92, 100), sampled=lost)
    assert undecided.reason == "undecided-decide"
    assert decide_at("confident", counts, GATE, sampled=lost).verdict == "pass"
    partly = Sampled(credits_, missing=(0.5, 0.5, *(0.0,) * 38))
    assert lost.least() < partly.least() < partly.least(at_worst=False)


def test_the_bound_of_an_adjusted_score_lies_within_what_its_parts_allow() -> None:
    kept = [(str(number), 0.9) for number in range(32)]
    bound = adjusted_lower_bound(kept, floor=0.9, answers=200)
    assert lower_bound(kept) < bound < 1
    assert bound > adjusted_lower_bound(kept, floor=0.9, answers=60)
    assert adjusted_lower_bound(kept, floor=0.9, answers=200, times=4) > bound
    assert adjusted_interval(kept, floor=0.9, answers=200).low < bound
    with pytest.raises(ValueError, match="adjusts nothing"):
        adjusted_lower_bound(kept, floor=0, answers=16)


def test_a_floor_that_is_hardly_known_is_named_as_what_to_mend() -> None:
    sampled = Sampled([(str(number), 0.9) for number in range(32)], floor=Fraction(9, 10), answers=2)
    assert sampled.needed(0.95) is None
    found = decide_at("confident", Counts(equivalent=32), Fraction(95, 100), sampled=sampled)
    assert found.reason == "not-confident"
    assert "baseline_runs=" in explained(found)


@pytest.mark.parametrize("broken", [0.15, 0.20])
def test_few_prompts_at_or_below_the_threshold_pass_a_confident_gate(broken: float) -> None:
    rng = random.Random(f"confident {broken}")
    passed = 0
    for _ in range(400):
        bad = sum(rng.random() < broken for _ in range(32))
        counts = Counts(equivalent=32 - bad, deviation=bad)
        passed += decide_at("confident", counts, GATE, sampled=fine(32, bad)).verdict == "pass"
    assert passed / 400 <= 0.065
    if broken == 0.15:
        assert passed  # at the threshold itself it does err now and then


class Enough:
    """A rule that has seen enough of good answers."""

    def ending(self, counts: Counts) -> Ending:
        return "brittle" if counts.deviation else "pass"


def test_where_a_score_is_not_enough_no_pass_is_certain_early_and_a_failure_is() -> None:
    by_score, sure = PlanGate(16, GATE), PlanGate(16, GATE, by_score=False)
    good, bad = Counts(equivalent=15), Counts(equivalent=8, deviation=5)
    assert (by_score.ending(good), sure.ending(good)) == ("pass", None)
    assert sure.to_pass(good) is None
    assert by_score.ending(bad) == sure.ending(bad) == "brittle"
    assert Stopping(by_score, Enough()).ending(Counts(equivalent=4)) == "pass"
    assert Stopping(sure, Enough()).ending(Counts(equivalent=4)) is None
    assert Stopping(sure, Enough()).ending(Counts(equivalent=4, deviation=1)) == "brittle"


def test_what_noise_excuses_is_not_settled_before_the_plan_was_asked() -> None:
    excused = RepeatEvidence(
        Fraction(7, 10), 0.9, Fraction(1), p=0.5, baselines=16, answers=16, confirmed=Fraction(1)
    )
    counts = Counts(equivalent=10, deviation=5)
    assert settled(Stopping(PlanGate(16, GATE)), counts, excused)
    assert not settled(Stopping(PlanGate(16, GATE, by_score=False)), counts, excused)
