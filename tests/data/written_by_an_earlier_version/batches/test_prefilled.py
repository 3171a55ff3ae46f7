from operators import courtesy

from pytest_promptfuzz import robust

TEAM = "Name the team for the ticket: BILLING or TECHNICAL. Ticket: The app crashes."


@robust(TEAM, mutations=1, operators=[courtesy], target="openai:gpt-5-mini")
def test_openai(response):
    assert response.text == "TECHNICAL"


@robust(TEAM, mutations=1, operators=[courtesy], target="anthropic:claude-sonnet-5")
def test_anthropic(response):
    assert response.text == "TECHNICAL"
