"""What is refused or told apart: unittest's methods, prompts of other languages, tiny and empty prompts."""

import unittest

from pytest_promptfuzz import robust


class Old(unittest.TestCase):
    @robust("Classify the mood.")
    def test_method(self):
        return "good"


@robust(
    "Ordne das Ticket genau einer Kategorie zu: RECHNUNG oder VERSAND. Antworte nur mit dem Wort.\n\nTicket: Mein Paket fehlt."
)
def test_german(prompt, llm):
    return llm(prompt)


@robust("Hi", mutations=20)
def test_tiny(prompt, llm):
    return llm(prompt)


@robust("")
def test_empty(prompt, llm):
    return llm(prompt)


@robust("How many words does the sentence have? “The shop is open.”")
def test_form(prompt, llm):
    return llm(prompt)


@robust("Ask about the user's key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789 in one sentence.", mutations=4)
def test_secret(prompt, llm):
    return llm(prompt)
