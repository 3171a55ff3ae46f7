"""What may change in a sentence: the same for every method. Substitutes of WordNet as published (S3), and ours."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.analysis.lexicon import KINDS
from pytest_promptfuzz.mutations.engine.registry import default_pool
from pytest_promptfuzz.mutations.operators.synonyms import synonym, synonyms_from
from pytest_promptfuzz.searching.space import space_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.mutations.analysis.lexicon import Lexicon
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.searching.space import Space


class Spaces:
    """Makes the space of a prompt.

    Args:
        lexicon: Of substitutes: synonyms, near ones, wider and narrower words.
        more: Whatever else a plan would do as well: characters, punctuation, layout, order of sentences.
    """

    def __init__(self, lexicon: Lexicon, *, more: bool = False) -> None:
        self._operators = [synonym, *(synonyms_from(lexicon, kind=kind) for kind in KINDS)]
        if more:
            pool = [each for several in default_pool().values() for each in several]
            self._operators += [
                each for each in pool if each.name != synonym.name and each.relation == "invariance"
            ]

    def of(self, prompt: str | Prompt) -> Space | None:
        """The space of a prompt; ``None`` where nothing may change."""
        try:
            return space_of(prompt, operators=self._operators, any_sense=True)
        except UsageError:
            return None


def described(spaces: Sequence[Space]) -> str:
    """How much there is to choose from."""
    choices = [len(place.choices) for each in spaces for place in each.places]
    words = mean(len(each.original.split()) for each in spaces)
    return f"on average {mean(map(len, spaces)):.1f} places of {words:.1f} words, {mean(choices):.1f} choices each"
