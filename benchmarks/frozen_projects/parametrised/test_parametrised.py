"""Parametrised prompts, marks on modules and classes, fixtures, and subjects that are not the argument `prompt`."""

import app
import pytest

from pytest_promptfuzz import Prompt, robust

pytestmark = pytest.mark.robust(mutations=3)
MOOD = Prompt("Classify the mood as good or bad. Answer with one word only.\n\nText: {text}")


@pytest.fixture(params=["A lovely day!", "An awful day."])
def text(request):
    return request.param


@robust(MOOD)
def test_fixture(prompt, llm, text):
    return llm(prompt.format(text=text))


@pytest.mark.parametrize("prompt", [MOOD.format(text="Good."), "Is the mood of “so what” good or bad?"])
def test_prompts(prompt, llm):
    return llm(prompt)


@robust(mutate="app.PROMPTS.triage")
def test_path(llm):
    return llm(app.PROMPTS["triage"])


@robust(mutate="question", mutations=4)
@pytest.mark.parametrize(
    "question", ["Where is my parcel? I ordered it in May.", "The app crashes when I log in."]
)
def test_argument(question, llm):
    return llm(
        f"Classify the message as billing, shipping or technical. Answer with one word only.\n\n{question}"
    )


@pytest.mark.robust(MOOD, fixtures="fresh")
class TestFresh:
    def test_method(self, prompt, llm, text):
        assert llm(prompt.format(text=text)).text in {"good", "bad"}
