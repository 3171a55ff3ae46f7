"""What a judge may decide, relation by relation, and what comes of its rating."""

from __future__ import annotations

import pytest

from pytest_promptfuzz import Comparison, Rating, Response, compare
from pytest_promptfuzz.judging.ratings import by_judge, open_to_judge

PARCEL = "Your parcel left our warehouse yesterday and should be with you soon."
VAN = "It is on the road since Tuesday; expect it any day now, we would say."
SAME = PARCEL.upper()
NEGATED = PARCEL.replace("should be", "should not be")
CLOSE = PARCEL.replace("left", "has already left")


@pytest.mark.parametrize(
    ("response", "relation", "undecided", "always"),
    [
        (PARCEL, "invariance", False, False),
        (SAME, "invariance", False, False),
        ("", "invariance", False, False),
        (VAN, "invariance", True, True),
        (CLOSE, "invariance", False, True),
        (NEGATED, "invariance", False, False),
        (VAN, "not-worse", True, True),
        (NEGATED, "not-worse", True, True),
        (NEGATED, "renaming", False, False),
        (NEGATED, "must-change", False, False),
        (VAN, "must-change", True, True),
        (CLOSE, "must-change", True, True),
        (SAME, "must-change", False, False),
    ],
)
def test_when_a_judge_is_asked(response: str, relation: str, undecided: bool, always: bool) -> None:
    found = compare(PARCEL, response, relation=relation)
    assert open_to_judge(found, relation, always=False) is undecided
    assert open_to_judge(found, relation, always=True) is always


@pytest.mark.parametrize(
    ("relation", "rating", "outcome"),
    [
        ("invariance", 3, "equivalent"),
        ("invariance", 2, "minor"),
        ("invariance", 1, "deviation"),
        ("format", 3, "equivalent"),
        ("not-worse", 3, "equivalent"),
        ("not-worse", 1, "deviation"),
        ("must-change", 3, "deviation"),
        ("must-change", 2, "undecided"),
        ("must-change", 1, "equivalent"),
        ("must-change", None, "undecided"),
        ("invariance", None, "undecided"),
    ],
)
def test_a_rating_is_an_outcome(relation: str, rating: int | None, outcome: str) -> None:
    found = by_judge(compare(PARCEL, VAN, relation=relation), Rating(rating, "because"), "mine", relation)
    assert found.outcome == outcome
    assert found.reason.endswith("judge")
    assert "the judge mine" in found.explanation
    assert found.explanation.endswith(": because")
    assert found.tiers[-1].name == "judge"
    assert (found.similarity is None) == (outcome == "undecided")


def test_an_answer_that_was_cut_off_is_never_equivalent() -> None:
    found = compare(PARCEL, Response(VAN, finish_reason="length"))
    assert open_to_judge(found, "invariance", always=False)
    decided = by_judge(found, Rating(3), "mine", "invariance")
    assert (decided.outcome, decided.similarity) == ("minor", 0.99)
    assert "cut off" in decided.explanation
    assert by_judge(found, Rating(1), "mine", "invariance").outcome == "deviation"


def test_what_cheaper_tiers_found_is_kept() -> None:
    found = compare(PARCEL, VAN)
    decided = by_judge(found, Rating(2, "an hour"), "mine", "invariance")
    assert decided.tiers[: len(found.tiers)] == found.tiers
    assert isinstance(decided, Comparison)
    assert decided.explanation == "the judge mine rates the agreement 2 of 3: an hour"
    worse = by_judge(found, Rating(1), "mine", "not-worse")
    assert worse.explanation == "the judge mine finds the answer worse"
