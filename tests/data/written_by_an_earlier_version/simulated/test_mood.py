from pytest_promptfuzz import robust


@robust(
    "Classify the mood as good or bad. Answer with one word only.\n\nText: {text}",
    mutations=2,
    baseline_runs=1,
)
def test_mood(prompt, llm):
    return llm(prompt.format(text="What a lovely day!"))
