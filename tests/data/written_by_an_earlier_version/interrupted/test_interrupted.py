import os

from operators import courtesy

from pytest_promptfuzz import robust

TEAM = "Name the team for the ticket: BILLING or TECHNICAL. Ticket: The app crashes."


@robust(TEAM, mutations=2, operators=[courtesy], baseline_runs=1, controls=0)
def test_complete(prompt, llm):
    return llm(prompt)


def test_killed():
    if "KILLED" in os.environ:
        os._exit(9)
