"""Several targets: of marks, functions, and of `promptfuzz run`."""

from pytest_promptfuzz import robust

MOOD = "Classify the mood as good or bad. Answer with one word only.\n\nText: {text}"


def application(prompt):
    return "bad" if "awful" in str(prompt) else "good"


@robust(MOOD, inputs=["A lovely day!", "An awful day."], target=application, mutations=5)
def test_function(response):
    assert response in {"good", "bad"}


@robust(MOOD, inputs=["A lovely day!", "An awful day."], target="simulated?seed=3", mutations=5)
def test_simulated(response):
    assert response.text in {"good", "bad"}


@robust(MOOD, inputs=["A lovely day!", "An awful day."], target="simulated?noise=0.1&seed=2", mutations=5)
def test_noise(response):
    assert response.text in {"good", "bad"}
