import application

from pytest_promptfuzz import Prompt, robust

TEAM = Prompt(
    "Kindly name the team for the ticket: BILLING or TECHNICAL. Answer with the name only.\n\nTicket: {ticket}"
)


@robust(
    TEAM,
    mutations=2,
    operators=["upper-case", "lower-case"],
    baseline_runs=2,
    controls=0,
    threshold=1.0,
    shrink=6,
)
def test_brittle(prompt):
    return application.whole(prompt.format(ticket="The app crashes: a brittle one."))


@robust(
    "Tell the team in one word.",
    mutations=1,
    operators=["upper-case"],
    baseline_runs=1,
    controls=0,
    threshold=0.0,
)
def test_refused(prompt):
    return application.whole(str(prompt))


@robust(TEAM, search=True, queries=20, operators=["upper-case", "lower-case"])
def test_searched(prompt):
    return application.whole(prompt.format(ticket="The app crashes: a brittle one."))
