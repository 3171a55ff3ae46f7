"""What is recorded, replayed, and recorded anew."""

import os

from pytest_promptfuzz import robust

MOOD = """Classify the mood as good or bad. Answer with one word only.

Text: {text}"""


@robust(MOOD, mutations=4)
def test_mood(prompt, llm):
    more = {"temperature": 0} if os.environ["FROZEN_STEP"] == "changed" else {}
    assert llm(prompt.format(text="What a lovely day!"), **more).text == "good"


@robust(MOOD, inputs={"sun": "A lovely day!", "rain": "What an awful day."}, mutations=5, seed=4)
def test_declared(response):
    return response.text


@robust(
    "Summarize it in one sentence.\n\nText: Rates rose again. Markets fell. Shops open at nine.", mutations=6
)
def test_summary(prompt, llm):
    return llm(prompt)
