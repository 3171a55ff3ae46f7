"""What words leave undecided, settled claim by claim by a model of entailment."""

from __future__ import annotations

import pytest

from pytest_promptfuzz import compare
from pytest_promptfuzz.comparing.meaning import Verdict
from pytest_promptfuzz.errors import UsageError

BASELINE = (
    "The customer wants to send the parcel back. The label came late, so we pay for the way back. "
    "The office is closed on Sundays."
)
REWORDED = (
    "We bear the cost of returning the shipment since its label arrived with a delay. Nobody works at the "
    "bureau on Sundays. The buyer would like to return what was delivered."
)
FOLLOWS, OPEN, CONTRADICTS = Verdict(0.9, 0.08, 0.02), Verdict(0.1, 0.85, 0.05), Verdict(0.02, 0.08, 0.9)


class Scripted:
    """Says of each pair what a function of premise and hypothesis says, and keeps what it was asked."""

    name = stamp = "scripted"

    def __init__(self, says):
        self.says = says
        self.asked = []

    def scores(self, pairs):
        self.asked += pairs
        return [self.says(*pair) for pair in pairs]


def judged(says):
    return compare(BASELINE, REWORDED, task="generation", entailment=Scripted(says))


def test_words_leave_it_undecided() -> None:
    assert compare(BASELINE, REWORDED, task="generation").outcome == "undecided"


def test_all_claims_of_both_following_is_equivalent() -> None:
    found = judged(lambda premise, claim: FOLLOWS)
    assert (found.outcome, found.reason, found.similarity) == ("equivalent", "entailment", 1.0)
    assert found.tiers[-1].name == "entailment"


def test_one_contradiction_is_a_deviation_and_both_claims_are_named() -> None:
    found = judged(lambda premise, claim: CONTRADICTS if "Nobody" in premise + claim else FOLLOWS)
    assert found.outcome == "deviation"
    assert "contradicts" in found.explanation
    assert "'Nobody works at the bureau on Sundays.'" in found.explanation
    assert "'The office is closed on Sundays.'" in found.explanation


def test_what_contradicts_one_way_only_decides_nothing() -> None:
    found = judged(lambda premise, claim: CONTRADICTS if "Nobody" in claim else FOLLOWS)
    assert (found.outcome, found.reason) == ("undecided", "claims")


def test_a_claim_of_one_answer_that_is_open_is_minor_and_named() -> None:
    found = judged(lambda premise, claim: OPEN if "Nobody" in claim else FOLLOWS)
    assert (found.outcome, found.similarity) == ("minor", 0.8)
    assert found.explanation == "only the response says 'Nobody works at the bureau on Sundays.'"
    found = judged(lambda premise, claim: OPEN if claim.startswith("The office") else FOLLOWS)
    assert found.explanation == "only the baseline says 'The office is closed on Sundays.'"


def test_open_claims_of_both_stay_undecided() -> None:
    found = judged(lambda premise, claim: OPEN if "Sundays" in claim else FOLLOWS)
    assert (found.outcome, found.reason) == ("undecided", "claims")
    assert (found.tiers[-1].name, found.tiers[-1].similarity) == ("entailment", None)
    assert "the entailment model cannot tell either; a judge" in found.explanation
    assert "model install" not in found.explanation


def test_what_is_too_long_to_compare_is_not_asked_about() -> None:
    model = Scripted(lambda premise, claim: FOLLOWS)
    one, two = (f"{word} and more of it. " * 9000 for word in ("Sea", "Sky"))
    assert compare(one, two, task="generation", entailment=model).outcome != "equivalent"
    assert model.asked == []


def test_a_claim_is_held_against_the_statements_that_speak_of_it_in_their_order() -> None:
    model = Scripted(lambda premise, claim: FOLLOWS)
    compare(BASELINE, REWORDED, task="generation", entailment=model)
    assert len(model.asked) == 6
    (premise,) = [premise for premise, claim in model.asked if claim == "The office is closed on Sundays."]
    assert "Nobody works at the bureau on Sundays." in premise


def test_what_a_guard_contradicts_is_not_asked_about() -> None:
    model = Scripted(lambda premise, claim: FOLLOWS)
    other = BASELINE.replace("Sundays", "Mondays")
    assert compare(BASELINE, other, task="generation", entailment=model).outcome == "deviation"
    assert model.asked == []


def test_the_same_words_in_another_arrangement_are_never_lifted() -> None:
    one = "In the evening the doctor visited the nurse, and the nurse thanked the porter for the keys of the ward."
    two = "In the evening the nurse thanked the doctor, and the porter visited the nurse for the keys of the ward."
    model = Scripted(lambda premise, claim: FOLLOWS)
    assert compare(one, two, task="generation", entailment=model).outcome not in {"equivalent", "minor"}
    one = "The team that wrote the plan praised the board of the town in its long report last week."
    two = "The plan praised the team that the board of the city wrote in its long report last week."
    found = compare(one, two, task="generation", entailment=model)
    assert (found.outcome, model.asked != []) == ("undecided", True)


@pytest.mark.parametrize("wrong", ["a folder", 1])
def test_what_is_no_model_is_refused(wrong) -> None:
    with pytest.raises(UsageError, match=r"entailment=.* is not True, False or a model"):
        compare("a", "b", entailment=wrong)
