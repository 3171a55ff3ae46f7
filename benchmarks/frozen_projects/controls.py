"""Controls, and relations that are not invariance."""

from pytest_promptfuzz import Prompt, robust

TRIAGE = Prompt(
    "Classify the ticket as billing, shipping or technical. Answer with one word only.\n\nTicket: My parcel is lost."
)
FACTS = "Answer the question in one sentence from the text.\n\nQuestion: When do shops open?\n\nText: Shops open at 9. Markets open at 6."


@robust(TRIAGE, mutations=["answer-fixed", "answer-fixed-first", "instruction-negated", "labels-replaced"])
def test_must_change(prompt, llm):
    return llm(prompt)


@robust(TRIAGE, mutations={"upper-case": 2, "answer-fixed": 1, "number-changed": 1}, stop="never")
def test_mixed(prompt, llm):
    return llm(prompt)


@robust(TRIAGE, mutations=["answer-fixed"])
def test_deaf(prompt):
    return "shipping" if str(prompt) else ""


@robust(TRIAGE, controls=3, mutations=4)
def test_three(prompt, llm):
    return llm(prompt)


@robust(FACTS, mutations=["format-json", "format-yaml", "answer-in-de", "answer-in-fr", "synonym"])
def test_relations(prompt, llm):
    return llm(prompt)


@robust(FACTS, mutations=["persona", "irrelevant-context", "emotion-prompt", "pad-spaces"], controls="off")
def test_added(prompt, llm):
    return llm(prompt)
