"""Parts of the project's own."""

from pytest_promptfuzz import robust

SUMMARY = "Summarize the text in one sentence.\n\nText: Rates rose again, said Lena. Markets fell sharply in autumn."


@robust(SUMMARY, operators=["sign-off"], mutations=2)
def test_operator(prompt, llm):
    return llm(prompt)


@robust(SUMMARY, guards=["advice"], mutations=4, controls=0, stop="never")
def test_guard(prompt):
    return (
        "We recommend to wait." if str(prompt).isupper() or "  " in str(prompt) else "It is better to wait."
    )


@robust(SUMMARY, tiers=["seasons"], mutations=4, controls=0)
def test_tier(prompt):
    return (
        "I would go there in autumn."
        if str(prompt) == SUMMARY
        else "Autumn is what most people would choose."
    )


@robust(SUMMARY, judge="length", mutations=4, controls=0, stop="never")
def test_judge(prompt):
    return (
        "Prices rose in May, and so did rents."
        if str(prompt) == SUMMARY
        else "Rents and much else went up last spring."
    )


@robust(SUMMARY, mutations=6, judge="simulated", quality=["faithfulness", "conciseness"], stop="never")
def test_judged(prompt, llm):
    return llm(prompt)
