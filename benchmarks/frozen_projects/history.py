"""A test that gets worse from run to run, held against the runs before."""

import os

from pytest_promptfuzz import robust

TRIAGE = "Classify the support ticket below. Name one of these teams: billing, shipping.\n\nTicket: I was charged twice."
LATER = os.environ["FROZEN_STEP"] != "first"


def application(text):
    return text.rpartition("single word ")[2].strip(".") if "single word" in text else "billing"


@robust(TRIAGE, mutations=12, controls=0, stop="never")
def test_worse(prompt):
    text = str(prompt)
    return "shipping" if LATER and ("  " in text or text.isupper() or "Please" in text) else application(text)


@robust(TRIAGE, mutations=12, controls=0, stop="never")
def test_same(prompt):
    return application(str(prompt))
