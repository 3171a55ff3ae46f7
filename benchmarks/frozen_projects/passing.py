"""Tests that pass: with `llm`, with a returned value, with a threshold of their own."""

from pytest_promptfuzz import robust

TRIAGE = """Classify the ticket as billing, shipping or technical. Answer with one word only.

Ticket: {ticket}"""


@robust(TRIAGE)
def test_parcel(prompt, llm):
    return llm(prompt.format(ticket="My parcel is lost."))


@robust(TRIAGE, threshold=1.0, stop="never", operators={"lexical": 3, "bullet-reorder": 1, "synonym": 1})
def test_invoice(prompt, llm):
    assert llm(prompt.format(ticket="The invoice is wrong.")).text == "billing"


@robust(TRIAGE, mutations=4, gate="confident", threshold=0.4)
class TestMore:
    def test_confident(self, prompt, llm):
        return llm(prompt.format(ticket="The app crashes."))

    @robust(mutations={"upper-case": 1, "double-space": 4}, samples=2)
    def test_samples(self, prompt, llm):
        return llm(prompt.format(ticket="The app crashes."))


def test_by_hand(promptfuzz):
    found = promptfuzz.evaluate(
        "Classify the mood as good or bad. Answer with one word only.\n\nText: A lovely day!"
    )
    assert found.passed
