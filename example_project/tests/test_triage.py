"""The application's own OpenAI calls; its prompt is replaced where it stands, in ``support_app.prompts``."""

from __future__ import annotations

import pytest

from pytest_promptfuzz import robust
from support_app import triage

TICKETS = {
    "billing": "I was charged twice for order 48213, please refund one of the payments.",
    "shipping": "The tracking page says delivered, but no parcel has arrived.",
    "technical": "The checkout page crashes with an error every time I press pay.",
    "account": "I forgot my password and cannot log in.",
}


@pytest.mark.parametrize(("team", "ticket"), TICKETS.items(), ids=TICKETS)
@robust(mutate="support_app.prompts.TRIAGE")
def test_ticket_goes_to_its_team(team, ticket):
    assert triage.team_for(ticket) == team


@robust(mutate="support_app.prompts.URGENCY")
def test_stolen_account_is_urgent():
    level = triage.urgency_of("Somebody changed my e-mail address, I think my account was stolen.")
    assert level == "high"
    return level


@pytest.mark.xfail(
    strict=True,
    reason="urgency.txt does not say which level goes first when two fit, so the order of its list decides",
)
@robust(mutate="support_app.prompts.URGENCY", operators=["bullet-reorder"], mutations=4)
def test_order_of_levels_does_not_matter():
    return triage.urgency_of("My payment is lost, and my parcel is late.")
