"""A model that does not agree with itself."""

from pytest_promptfuzz import robust

TRIAGE = """Classify the ticket as billing, shipping or technical. Answer with one word only.

Ticket: My parcel is lost."""


@robust(TRIAGE, target="simulated?noise=0.5&seed=1")
def test_half(prompt, llm):
    return llm(prompt)


@robust(TRIAGE, target="simulated?noise=0.2&seed=3", mutations=12, stop="never")
def test_fifth(prompt, llm):
    return llm(prompt)


@robust(TRIAGE, target="simulated?noise=0.3&seed=5", stop="sequential", mutations=24)
def test_sequential(prompt, llm):
    return llm(prompt)
