"""Gold answers, of inputs and of a test."""

from pytest_promptfuzz import robust

TRIAGE = """Classify the ticket into exactly one of: BILLING, TECHNICAL, ACCOUNT, OTHER.
Answer with the label only.

Ticket:
{ticket}"""


@robust(
    TRIAGE,
    inputs={
        "charged": "I was charged twice.",
        "crash": "The app crashes.",
        "thanks": "Many thanks for your help.",
    },
    expected={"charged": "BILLING", "crash": "TECHNICAL", "thanks": "ACCOUNT"},
    mutations=4,
)
def test_labels(response):
    assert response.text.isupper()


@robust(
    "Extract the city as JSON with the key city.\n\nText: Ana lives in Lyon, France.",
    expected={"city": "Lyon"},
)
def test_city(prompt, llm):
    return llm(prompt)
