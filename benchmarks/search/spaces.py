"""What may change in a sentence: the same for every method. Substitutes of WordNet as published (S3), and ours."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.mutations.lexicon.lexicon import KINDS
from pytest_promptfuzz.mutations.operators.synonyms import synonym, synonyms_from
from pytest_promptfuzz.searching.candidates import space_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.mutations.lexicon.lexicon import Lexicon
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.searching.space import Space


def spaces_of(prompts: Sequence[str | Prompt], lexicon: Lexicon, *, more: bool = False) -> list[Space | None]:
    """The space of each prompt; ``None`` where nothing may change.

    Args:
        prompts: Whose.
        lexicon: Of substitutes: synonyms, near ones, wider and narrower words.
        more: Whatever else a plan would do as well: characters, punctuation, layout, order of sentences.
    """
    operators = [synonym, *(synonyms_from(lexicon, kind=kind) for kind in KINDS)]
    if more:
        from pytest_promptfuzz.mutations.registry import default_pool

        pool = [each for several in default_pool().values() for each in several]
        operators += [each for each in pool if each.name != synonym.name and each.relation == "invariance"]
    return [_space(each, operators) for each in prompts]


def _space(prompt: str | Prompt, operators: Sequence[object]) -> Space | None:
    try:
        return space_of(prompt, operators=operators, any_sense=True)
    except UsageError:
        return None


def described(spaces: Sequence[Space | None]) -> str:
    """How much there is to choose from."""
    there = [each for each in spaces if each is not None]
    choices = [len(place.choices) for each in there for place in each.places]
    return (
        f"{len(there)} of {len(spaces)} have a word that may change, on average {mean(map(len, there)):.1f} words of "
        f"{mean(len(each.original.split()) for each in there):.1f}, with {mean(choices):.1f} choices each"
    )
