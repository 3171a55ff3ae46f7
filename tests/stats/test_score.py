"""Eq. 1 and Eq. 2 in exact arithmetic, bounds, and the verdict."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_promptfuzz.stats.scores import Counts, bounds, exact, robustness, weighted
from pytest_promptfuzz.stats.verdict import decide
from pytest_promptfuzz.wording.verdicts import explained

amounts = st.integers(0, 40)
counts = st.builds(Counts, amounts, amounts, amounts, amounts, amounts)
thresholds = st.fractions(0, 1)


def test_equation_1() -> None:
    assert robustness(Counts(equivalent=2, minor=4)) == Fraction(8, 10)
    assert robustness(Counts(minor=3, deviation=3)) == Fraction(35, 100)
    assert robustness(Counts(error=3)) is None


def test_the_threshold_is_met_exactly() -> None:
    # In floating point (7 + 7 * 0.7) / 14 is below 0.85.
    assert decide(Counts(equivalent=7, minor=7), exact(0.85)).verdict == "pass"
    assert decide(Counts(equivalent=7, minor=7), exact(0.850001)).verdict == "brittle"


@given(counts)
def test_the_score_lies_within_its_bounds(each: Counts) -> None:
    low, high = bounds(each)
    assert 0 <= low <= high <= 1
    score = robustness(each)
    if score is not None:
        assert low <= score
        assert score * each.decided + each.unknown == high * each.total
        assert each.unknown or low == high == score


@given(counts, thresholds, st.none() | st.integers(0, 10))
def test_a_verdict_holds_however_the_unknown_trials_would_have_ended(
    each: Counts, threshold: Fraction, most: int | None
) -> None:
    judgement = decide(each, threshold, max_deviations=most)
    if not each.total:
        assert judgement.verdict == "inconclusive"
        return
    all_fine = Counts(each.equivalent + each.unknown, each.minor, each.deviation)
    all_bad = Counts(each.equivalent, each.minor, each.deviation + each.unknown)
    ends = {
        decide(all_fine, threshold, max_deviations=most).verdict,
        decide(all_bad, threshold, max_deviations=most).verdict,
    }
    assert ends <= {"pass", "brittle"}
    assert judgement.verdict == (ends.pop() if len(ends) == 1 else "inconclusive")


def test_equation_2_weighs_by_severity() -> None:
    assert weighted([(0.1, 1.0), (0.3, 0.5)]) == pytest.approx(0.625)
    assert weighted([]) is None
    assert weighted([(0.0, 1.0)]) is None


def test_explanations_say_what_decided() -> None:
    assert (
        explained(decide(Counts(equivalent=8), exact(0.85))) == "The score 1.00 reaches the threshold 0.85."
    )
    passed = decide(Counts(equivalent=7, deviation=1), exact(0.85))
    assert explained(passed) == "Passed with 1 deviation: the score 0.875 reaches the threshold 0.85."
    limited = decide(Counts(equivalent=7, deviation=1), exact(0.85), max_deviations=0)
    assert (limited.verdict, limited.reason) == ("brittle", "too-many-deviations")
    assert (
        explained(limited)
        == "1 deviation; this test allows 0 (max_deviations). The score 0.875 alone would pass."
    )
    unknown = decide(Counts(equivalent=5, error=2, undecided=1), exact(0.85))
    assert (unknown.verdict, unknown.reason) == ("inconclusive", "errors-decide")
    assert explained(unknown).startswith(
        "2 of 8 trials ended in an error and 1 is undecided: the score lies between 0.625 and 1.00"
    )
    open_ = explained(decide(Counts(equivalent=5, undecided=3), exact(0.85)))
    assert open_.startswith("3 of 8 trials are undecided: the score lies between 0.625 and 1.00")
    assert decide(Counts(equivalent=5, undecided=3), exact(0.85)).reason == "undecided-decide"
    assert decide(Counts(), exact(0.85)).reason == "nothing-scored"
