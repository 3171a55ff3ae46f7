"""Misspelt words of a request put right before a query is made of it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_promptfuzz.targets.simulated.tables import plural, singular
from pytest_promptfuzz.targets.simulated.words import listed, near

if TYPE_CHECKING:
    from collections.abc import Collection

PEOPLE = listed("user customer employee student person member client author subscriber patient visitor")
ENTITIES = frozenset(
    [*PEOPLE, *listed(
        """
        order product purchase invoice payment transaction sale item book article post comment
        review ticket department company city country category event session flight hotel
        booking account subscription shipment course message movie
        """
    )]
)  # fmt: skip
QUERY_WORDS = frozenset(
    listed(
        """
        contains containing starts starting whose older younger average total count number lowest highest between
        table columns distinct greater sorted ordered ascending descending cheapest expensive newest latest oldest
        largest smallest maximum minimum without before after names titles where
        """
    )
)
NOT_MENDED = frozenset(
    listed(
        "county country order other others there these those while which their about above below tables column"
    )
)
# Words on their own that are spelt like others: "flights".
REAL = frozenset(
    listed("counties curse curses evens evenly fights moves parson ports pasts couriers costumer costumers")
)
KNOWN = QUERY_WORDS | {each for one in ENTITIES for each in (one, plural(one)) if len(each) > 4}
BY_LETTER = {letter: tuple(sorted(w for w in KNOWN if w[0] == letter)) for letter in {w[0] for w in KNOWN}}


@lru_cache(maxsize=4096)
def _meant(word: str) -> str:
    return next((each for each in BY_LETTER.get(word[0], ()) if near(word, each)), word)


def mended(text: str, named: Collection[str] = ()) -> str:
    """A text with the misspelt words of a query put right, but for names of the tables and what is quoted."""
    kept = {*named} | {plural(each) for each in named if len(each) > 1}

    def mend(match: re.Match[str]) -> str:
        word = match.group()
        if word in KNOWN or word in NOT_MENDED or word in REAL or word in kept or singular(word) in ENTITIES:
            return word
        return _meant(word)

    return re.sub(r"(?<![\w'\"%@.])[a-z]{5,}(?![\w'\"%@])", mend, text)
