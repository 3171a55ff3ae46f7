"""The probability ratio, the interval that holds at every look, and how often both are wrong."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.stats.scores import Counts
from pytest_promptfuzz.stats.stopping import (
    AlwaysValid,
    PlanGate,
    ProbabilityRatio,
    Stop,
    StoppingRule,
    operating,
    stopping,
)
from pytest_promptfuzz.stats.verdict import decide

GATE = Fraction(85, 100)


def test_the_probability_ratio_ends_where_wald_puts_it() -> None:
    # ln 19 = 2.944; a deviation adds ln 2 = 0.693, an equivalent answer takes ln(0.85 / 0.70) = 0.194.
    rule = ProbabilityRatio(0.15)
    assert rule.broken == pytest.approx(0.30)
    assert [rule.ending(Counts(deviation=number)) for number in (4, 5)] == [None, "brittle"]
    assert [rule.ending(Counts(equivalent=number)) for number in (15, 16)] == [None, "pass"]
    # Three minor variations lose 0.9 deviations and keep 2.1 equivalents: 0.624 - 0.408 = 0.216, so 14 x 3 end it.
    assert [rule.ending(Counts(minor=number)) for number in (40, 41)] == [None, "brittle"]


def test_a_threshold_of_one_allows_nothing_lost() -> None:
    for rule in (ProbabilityRatio(0.0), AlwaysValid(0.0)):
        assert rule.ending(Counts(equivalent=9, minor=1)) == "brittle"
    assert ProbabilityRatio(0.0).ending(Counts(equivalent=19)) == "pass"  # 0.85 ** 19 < 1 / 19
    assert ProbabilityRatio(0.0).ending(Counts(equivalent=18)) is None
    assert AlwaysValid(0.0).ending(Counts(equivalent=1000)) is None


@pytest.mark.parametrize("rule", [ProbabilityRatio(0.15), AlwaysValid(0.15)])
@given(
    counts=st.builds(
        Counts,
        st.integers(0, 60),
        st.integers(0, 20),
        st.integers(0, 20),
        st.integers(0, 5),
        st.integers(0, 5),
    )
)
def test_trials_without_an_outcome_count_either_way(rule: StoppingRule, counts: Counts) -> None:
    best = Counts(counts.equivalent + counts.unknown, counts.minor, counts.deviation)
    worst = Counts(counts.equivalent, counts.minor, counts.deviation + counts.unknown)
    found = rule.ending(counts)
    assert (found == "brittle") == (rule.ending(best) == "brittle")
    assert (found == "pass") == (rule.ending(worst) == "pass")


def _ever(rule: StoppingRule, losses: dict[str, float], looks: int, verdicts: set[str]) -> float:
    """The exact probability that a rule that looks after every trial ever gives one of the verdicts."""
    courses = {(0, 0, 0): 1.0}
    ended = 0.0
    for _ in range(looks):
        following: dict[tuple[int, int, int], float] = {}
        for counts, likely in courses.items():
            for place, name in enumerate(("equivalent", "minor", "deviation")):
                if losses.get(name):
                    then = tuple(number + (where == place) for where, number in enumerate(counts))
                    following[then] = following.get(then, 0.0) + likely * losses[name]  # type: ignore[index,arg-type]
        found = {counts: rule.ending(Counts(*counts)) for counts in following}
        ended += sum(likely for counts, likely in following.items() if found[counts] in verdicts)
        courses = {counts: likely for counts, likely in following.items() if found[counts] is None}
    return ended


@pytest.mark.parametrize(
    "losses",
    [
        {"equivalent": 0.85, "deviation": 0.15},
        {"equivalent": 0.5, "minor": 0.5},  # 0.15 lost, too
        {"equivalent": 0.7, "minor": 0.2143, "deviation": 0.0857},
    ],
)
def test_a_prompt_at_the_threshold_is_rarely_ended_as_brittle_however_often_one_looks(
    losses: dict[str, float],
) -> None:
    assert (
        0 < _ever(ProbabilityRatio(0.15), losses, 90, {"brittle"}) <= 0.0527
    )  # (1 - 0.95) / 0.95 for Wald's bounds
    # One that loses more may well be ended as brittle.
    assert _ever(ProbabilityRatio(0.15), {"equivalent": 0.5, "deviation": 0.5}, 90, {"brittle"}) > 0.99
    assert _ever(AlwaysValid(0.15), losses, 90, {"brittle", "pass"}) <= 0.05
    assert _ever(AlwaysValid(0.15), {"equivalent": 0.5, "deviation": 0.5}, 90, {"brittle"}) > 0.99


def test_a_prompt_that_breaks_at_twice_the_share_rarely_passes() -> None:
    assert _ever(ProbabilityRatio(0.15), {"equivalent": 0.7, "deviation": 0.3}, 200, {"pass"}) <= 0.0527


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 4))
def test_the_interval_holds_what_was_seen_and_ends_where_the_bet_does(
    kept: int, broken: int, unknown: int
) -> None:
    counts = Counts(equivalent=kept, deviation=broken, error=unknown)
    low, high = AlwaysValid(0.15).interval(counts)
    assert 0 <= low <= high <= 1
    if kept + broken:
        assert low <= kept / (kept + broken) <= high
    for end, beyond in ((low, -1e-6), (high, 1e-6)):
        share = 1 - end - beyond
        if 0 < share < 1:
            assert AlwaysValid(share).ending(counts) is not None


def test_the_interval_by_hand() -> None:
    # 5 of 5 kept: B(0.5, 5.5) / B(0.5, 0.5) = 63/256, so (1 - p)^5 = 63 / (256 * 20).
    low, high = AlwaysValid(0.15).interval(Counts(equivalent=5))
    assert high == 1
    assert low == pytest.approx((63 / 5120) ** 0.2)
    assert AlwaysValid(0.15).interval(Counts()) == (0, 1)


@pytest.mark.parametrize("stop", ["certain", "sprt", "sequential", "never"])
@pytest.mark.parametrize("limit", [None, 0])
def test_rates_are_those_of_all_courses(stop: Stop, limit: int | None) -> None:
    gate, share = PlanGate(10, Fraction(7, 10), limit), 0.35
    how = stopping(stop, gate)
    brittle = asked = batches = 0.0
    for course in product(("equivalent", "deviation"), repeat=10):
        probability = math.prod(share if each == "deviation" else 1 - share for each in course)
        had, taken, found = 0, 0, None
        while found is None and had < 10:
            had += how.batch(Counts.of(course[:had])) if how is not None else 10  # type: ignore[arg-type]
            taken += 1
            found = how.ending(Counts.of(course[:had])) if how is not None else None  # type: ignore[arg-type]
        found = found or decide(Counts.of(course), gate.threshold, max_deviations=limit).verdict  # type: ignore[arg-type,assignment]
        brittle += probability * (found == "brittle")
        asked += probability * had
        batches += probability * taken
    rates = operating(how, gate, share)
    assert (rates.brittle, rates.asked, rates.batches) == pytest.approx((brittle, asked, batches))


@pytest.mark.parametrize("planned", [8, 16, 32, 64])
@pytest.mark.parametrize("share", [0.0, 0.05, 0.15, 0.3, 0.45, 0.6, 1.0])
def test_certain_stopping_errs_as_often_as_the_whole_plan(planned: int, share: float) -> None:
    gate = PlanGate(planned, GATE)
    least = math.floor(planned * 0.15) + 1
    binomial = sum(
        math.comb(planned, broken) * share**broken * (1 - share) ** (planned - broken)
        for broken in range(least, planned + 1)
    )
    assert operating(stopping("certain", gate), gate, share).brittle == pytest.approx(binomial)
    assert operating(None, gate, share).brittle == pytest.approx(binomial)


@pytest.mark.parametrize("planned", [8, 16, 32, 64])
def test_certain_stopping_saves_what_is_promised(planned: int) -> None:
    gate = PlanGate(planned, GATE)
    saved = {
        share: 1 - operating(stopping("certain", gate), gate, share).asked / planned
        for share in (0.0, 0.45, 0.6)
    }
    assert saved[0.0] >= 0.12
    assert min(saved[0.45], saved[0.6]) >= 0.40


def test_evidence_ends_a_long_plan_before_it_is_certain() -> None:
    gate = PlanGate(64, GATE)
    certain, ratio, interval = (
        operating(stopping(stop, gate), gate, 0.0) for stop in ("certain", "sprt", "sequential")
    )
    assert (certain.asked, ratio.asked, interval.asked) == (55, 16, 33)
    assert operating(stopping("sprt", gate), gate, 0.30).brittle >= 0.95
    assert operating(stopping("sprt", gate), gate, 0.15).brittle < operating(None, gate, 0.15).brittle
