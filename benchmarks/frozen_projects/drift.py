"""A snapshot, and what differs from it: the prompt, the answers, the comparison."""

import os

from pytest_promptfuzz import robust

LATER = os.environ["FROZEN_STEP"] not in {"update", "same"}
TRIAGE = "Classify the support ticket below. Name one of these teams: billing, shipping.\n\nTicket: I was charged twice."


def application(prompt):
    if LATER and "ticket" not in str(prompt):
        return "none"
    return "billing" if "ticket" in str(prompt).lower() else "shipping"


@robust(TRIAGE + ("\n\nAnswer with the name only." if LATER else ""), mutations=6, controls=0)
def test_prompt(prompt):
    return application(prompt)


@robust(TRIAGE, mutations=6, controls=0)
def test_answers(prompt):
    return ("the team is " if LATER else "") + application(prompt)


@robust(TRIAGE, mutations=6, controls=0, equivalent_at=0.9 if LATER else None)
def test_comparison(prompt):
    return application(prompt)


@robust(TRIAGE, mutations=6, controls=0, operators=["upper-case", "lower-case", "synonym"])
def test_trials(prompt):
    return application(prompt)


if LATER:

    @robust(TRIAGE, mutations=3, controls=0)
    def test_new(prompt):
        return application(prompt)
