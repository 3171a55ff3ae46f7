import os

import application
from operators import courtesy

from pytest_promptfuzz import robust

TEAM = os.environ.get(
    "WORDING", "Name the team for the ticket: BILLING or OTHER. Ticket: I was charged twice."
)


@robust(TEAM, mutations=8, operators=[courtesy], threshold=0.5)
def test_team(prompt):
    return application.team(str(prompt))


@robust(
    "Name the team for the letter: BILLING or OTHER. Letter: I was charged twice.",
    mutations=2,
    operators=[courtesy],
)
def test_brittle(prompt):
    return application.sender(str(prompt))


@robust(
    "Name the team for the note: BILLING or OTHER. Note: I was charged twice.",
    mutations=2,
    operators=[courtesy],
)
def test_unpinned(prompt):
    return application.sender(str(prompt))


def test_killed():
    if "KILLED" in os.environ:
        os._exit(9)
