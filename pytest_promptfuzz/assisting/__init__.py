"""Mutations with help from outside: a model that rewords, a wordnet that knows more words."""

from pytest_promptfuzz.assisting.operators import (
    back_translation,
    model_translation,
    model_translations,
    paraphrase,
)
from pytest_promptfuzz.assisting.wordnet import wordnet
from pytest_promptfuzz.wire.aside import answers_kept_in

__all__ = [
    "answers_kept_in",
    "back_translation",
    "model_translation",
    "model_translations",
    "paraphrase",
    "wordnet",
]
