# ruff: noqa: A002, ARG001 - what pytest and the plugin call has these names
"""Declarative tests of several inputs, of templates, inputs and both, with samples."""

import json

from pytest_promptfuzz import robust

MOOD = "Classify the mood as good or bad. Answer with one word only.\n\nText: {text}"
TEXTS = {
    "sun": "A lovely day!",
    "rain": "What an awful day.",
    "so": "I do not think that anyone would call it good.",
}


@robust(MOOD, inputs=TEXTS, samples=2, mutations=6, stop="never")
def test_template(response):
    assert response.text in {"good", "bad"}


@robust(MOOD, inputs=list(TEXTS.values()), part="input", mutations=4)
def test_input(response, input):
    return response


@robust(MOOD, inputs=[{"text": each} for each in TEXTS.values()], part="both", mutations=4)
def test_both(response, prompt):
    return response.text


@robust(
    'Extract the city and the country as JSON with the keys "city" and "country". Answer with JSON only.\n\nText: {text}',
    inputs=["Ana lives in Lyon, France.", "We met in Oslo, Norway."],
    mutations=6,
)
def test_extract(response, input):
    found = json.loads(response.text)
    assert found["city"] in input
    return found
