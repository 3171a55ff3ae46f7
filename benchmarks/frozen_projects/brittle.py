"""Prompts that break: by the order of a list, by capitals, by an assertion, by minor differences."""

from pytest_promptfuzz import robust

URGENCY = """Classify the urgency of the support ticket into exactly one of these levels: high, medium, low.

- high: outages, lost payments, stolen accounts
- medium: late parcels, broken products
- low: questions, wishes, thanks

Answer with the level only.

Ticket: My payment is lost, and my parcel is late."""

SUMMARY = (
    "Summarize the text in one sentence.\n\nText: Rates rose again. Markets fell sharply. Shops open at nine."
)


@robust(URGENCY, mutations={"bullet-reorder": 4})
def test_order(prompt, llm):
    return llm(prompt)


@robust(SUMMARY, operators=["upper-case", "sentence-case", "synonym"], mutations=6, stop="never")
def test_summary(prompt, llm):
    return llm(prompt)


@robust(SUMMARY, max_deviations=0, shrink=0)
def test_strict(prompt, llm):
    assert "RATES" not in llm(prompt).text


@robust("Tell me how loud this text is, and why you think that it is so.", mutations=8, stop="never")
def test_raises(prompt):
    if str(prompt).isupper() or "  " in str(prompt):
        raise KeyError("loud")
    return "quiet"
