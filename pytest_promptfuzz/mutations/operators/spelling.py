"""Other spellings of the same words: contractions, British and American."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.mutations import abroad
from pytest_promptfuzz.mutations.casing import like
from pytest_promptfuzz.mutations.edits import Edit, replace
from pytest_promptfuzz.mutations.fields import data_spans, inside
from pytest_promptfuzz.mutations.lexicon.sparing import own_words
from pytest_promptfuzz.mutations.lexicon.spelling import CONTRACTED, EXPANDED, VARIANTS
from pytest_promptfuzz.mutations.lexicon.table import words
from pytest_promptfuzz.mutations.operator import operator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.rng import Rng

_SUBJECTS = words("i you he she it we they the this that there any")
_SPELLINGS = words("spelling spellings spell spelled spelt british american")
# "Keep the keys exactly as they are and ...": the verb is the last word of its clause, and has the stress.
_COMPARING = frozenset(["as", "than"])
_GOING_ON = words(
    "and or but nor if when while because before after unless until so then though although as than"
)
_NOT_AFTER_S = frozenset(["been", "got", "had", "become"])  # it's been: it has been


_CONTRACTED = frozenset(second for _, second in CONTRACTED)


@operator(
    "contraction",
    dimension="lexical",
    severity=0.1,
    version=2,
    preserves="yes",
    languages=("en",),
    sources=("S4",),
    example=("Do not explain what you are doing.", "Don't explain what you're doing."),
    trusted=True,
    cue=lambda draft: not _CONTRACTED.isdisjoint(draft.once(own_words)),
)
def contraction(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """``do not`` becomes ``don't`` (all of them, then some); a stressed NOT stays."""
    words = draft.words
    places: list[Edit] = []
    for index, second in enumerate(words[1:]):
        if second[3] not in _CONTRACTED:
            continue
        first = words[index]
        short = CONTRACTED.get((first.lower, second.lower))
        if short is None or draft.text[first.end : second.start] != " " or second.form != second.lower:
            continue
        if places and places[-1].end > first.start:
            continue
        # "as short as it is." cannot be contracted: something must follow.
        following = draft.text[second.end : second.end + 2]
        if second.lower != "not" and not (
            following[:1] == " " and following[1:].isascii() and following[1:].isalpha()
        ):
            continue
        if second.lower != "not" and (
            (index and words[index - 1].lower in _COMPARING and words[index - 1].end + 1 == first.start)
            or (index + 2 < len(words) and words[index + 2].lower in _GOING_ON)
        ):
            continue
        if second.lower == "is" and index + 2 < len(words) and words[index + 2].lower == "not":
            continue
        places.append(
            replace(first.start, second.end, like(first.form if len(first.form) > 1 else "x", short))
        )
    return rng.all_then_some(places)


@operator(
    "expansion",
    dimension="lexical",
    severity=0.1,
    preserves="yes",
    languages=("en",),
    sources=("S4",),
    example=("Don't guess if you're unsure.", "Do not guess if you are unsure."),
    trusted=True,
    cue=lambda draft: "'" in draft.free or "’" in draft.free,
)
def expansion(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """``don't`` becomes ``do not`` (all of them, then some); not in questions, where the words would have to move."""
    words = draft.words
    places: list[Edit] = []
    for index, word in enumerate(words):
        if "'" not in word.lower:
            continue
        long = EXPANDED.get(word.lower)
        following = words[index + 1].lower if index + 1 < len(words) else ""
        if long is None or (word.lower.endswith("n't") and following in _SUBJECTS):
            continue
        if word.lower.endswith("'s") and following in _NOT_AFTER_S:
            continue
        places.append(
            replace(
                word.start, word.end, like(word.form[:1] if word.form[1:2].islower() else word.form, long)
            )
        )
    return rng.all_then_some(places)


@operator(
    "spelling-variant",
    version=2,
    dimension="lexical",
    severity=0.1,
    preserves="yes",
    languages=("en", "de", "fr", "es"),
    sources=("S2", "S4"),
    example=("Summarize the color.", "Summarise the colour."),
    trusted=True,
    cue=lambda draft: draft.language != "en" or not VARIANTS.keys().isdisjoint(draft.once(own_words)),
)
def spelling_variant(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """British spelling for American and the other way (all, then some); not in data or where spelling is the topic."""
    if draft.language != "en":
        return rng.all_then_some(abroad.spelled_otherwise(draft))
    if not _SPELLINGS.isdisjoint(draft.once(own_words)):
        return iter(())
    places = [
        replace(word.start, word.end, like(word.form, VARIANTS[word.lower]))
        for word in draft.words
        if word.lower in VARIANTS and not inside(draft.once(data_spans), word.start)
    ]
    return rng.all_then_some(places)
