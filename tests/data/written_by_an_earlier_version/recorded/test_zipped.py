import application

from pytest_promptfuzz import Prompt, robust

TEAM = Prompt(
    "Name the team for the ticket: BILLING or TECHNICAL. Answer with the name only.\n\nTicket: {ticket}"
)


@robust(TEAM, mutations=1, baseline_runs=1, controls=0)
def test_zipped(prompt):
    return application.whole(prompt.format(ticket="Where is my refund?"))
