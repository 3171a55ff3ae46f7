import application
import pytest

from pytest_promptfuzz import Prompt, robust

TEAM = Prompt(
    "Name the team for the ticket: BILLING or TECHNICAL. Answer with the name only.\n\nTicket: {ticket}"
)
CHAT = Prompt.from_messages(
    [
        {"role": "system", "content": "Name the team: BILLING or TECHNICAL. Answer with the name only."},
        {"role": "user", "content": "Ticket: {ticket}"},
    ]
)
TICKET = "I was charged twice."


@robust(TEAM, mutations=2)
def test_repeated_and_with_a_control(prompt):
    return application.whole(prompt.format(ticket=TICKET))


@robust(TEAM, mutations=1, samples=2, baseline_runs=1, controls=0)
@pytest.mark.parametrize("ticket", [TICKET, "The app crashes."], ids=["money", "app"])
def test_samples(prompt, ticket):
    return application.responses(prompt.format(ticket=ticket))


@robust(TEAM, mutations=1, baseline_runs=1, controls=0)
def test_stream(prompt):
    return application.streamed(prompt.format(ticket=TICKET))


@robust(TEAM, mutations=1, baseline_runs=1, controls=0)
def test_messages(prompt):
    assert application.messages(prompt.format(ticket=TICKET)) == "BILLING"


@pytest.mark.asyncio
@robust(TEAM, mutations=2, baseline_runs=1, controls=0)
async def test_messages_stream(prompt):
    return await application.messages_streamed(prompt.format(ticket=TICKET))


@robust("Say in one word where order 10417 is. Use the tool.", mutations=1, baseline_runs=1, controls=0)
def test_tool(prompt):
    return application.with_a_tool(str(prompt))


@robust(TEAM, mutations=1, baseline_runs=1, controls=0)
def test_embedding(prompt):
    return application.embedded(prompt.format(ticket=TICKET))


@robust(mutate="role:system", mutations=1, baseline_runs=1, controls=0)
def test_system(llm):
    assert application.reply("My invoice is wrong.") == "BILLING"


@robust(
    CHAT,
    part=["system", "user:input"],
    mutations=2,
    baseline_runs=1,
    controls=0,
    target="compatible:scripted-1@http://127.0.0.1:18123/v1",
)
def test_chat(prompt, llm):
    return llm(prompt.format(ticket="I was charged two times and want my money back."), temperature=0)


@robust(
    TEAM,
    inputs={"money": TICKET, "app": "The app crashes."},
    expected={"money": "BILLING", "app": "TECHNICAL"},
    mutations=2,
    baseline_runs=1,
    target="compatible:scripted-1@http://127.0.0.1:18123/v1",
)
def test_declared(response):
    assert response.text in {"BILLING", "TECHNICAL"}


@robust(
    "Say in a sentence how long a parcel takes.",
    mutations=1,
    operators=["upper-case"],
    baseline_runs=1,
    controls=0,
    judge="compatible:judge-1@http://127.0.0.1:18123/v1",
)
def test_judged(prompt):
    return application.whole(str(prompt))
