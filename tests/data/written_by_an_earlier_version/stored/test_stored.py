import anthropic
import openai
from operators import courtesy

from pytest_promptfuzz import robust

URL = "http://127.0.0.1:18123"
TEAM = "Name the team for the ticket: BILLING or TECHNICAL. Ticket: The app crashes."


@robust(TEAM, mutations=2, operators=[courtesy], samples=2)
def test_chat(prompt):
    with openai.OpenAI(base_url=f"{URL}/v1", api_key="none", max_retries=0) as client:
        asked = [{"role": "user", "content": str(prompt)}]
        return client.chat.completions.create(model="gpt-5-mini", messages=asked).choices[0].message.content


@robust(TEAM, mutations=1, operators=[courtesy])
def test_stream(prompt):
    with anthropic.Anthropic(base_url=URL, api_key="none", max_retries=0) as client:
        asked = [{"role": "user", "content": str(prompt)}]
        with client.messages.stream(model="claude-sonnet-5", max_tokens=64, messages=asked) as events:
            return events.get_final_text()


@robust(TEAM, mutations=1, operators=[courtesy], target=f"compatible:scripted-1@{URL}/v1")
def test_llm(prompt, llm):
    return llm(prompt, temperature=0)


@robust(
    "Say in a sentence when the parcel comes.",
    mutations=1,
    operators=[courtesy],
    task="generation",
    minor_at=0.0,
    threshold=0.0,
)
def test_vectors(prompt):
    if "Thanks" in str(prompt):
        return "You should get the parcel from us on Monday, in the course of the morning."
    return "The parcel comes on Monday morning, as far as we know from the people who bring it."
