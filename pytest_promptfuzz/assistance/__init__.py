"""Mutations with help from outside: a model that rewords, a WordNet that knows more words."""

from pytest_promptfuzz.assistance.lexicons import wordnet
from pytest_promptfuzz.assistance.operators import (
    back_translation,
    model_translation,
    model_translations,
    paraphrase,
)
from pytest_promptfuzz.wire.calls import answers_kept_in

__all__ = [
    "answers_kept_in",
    "back_translation",
    "model_translation",
    "model_translations",
    "paraphrase",
    "wordnet",
]
