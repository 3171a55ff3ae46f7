"""Words replaced by others of a nearby sense: almost the same, wider, narrower. None of them keeps the meaning.

They are there for searches of the worst case and for studies of how much a word matters, and are drawn on only when
named.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from pytest_promptfuzz.mutations.operator import operator
from pytest_promptfuzz.mutations.operators.synonyms import sites, substitutions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.edits import Edit
    from pytest_promptfuzz.mutations.lexicon.forms import Forms
    from pytest_promptfuzz.mutations.operators.synonyms import Site
    from pytest_promptfuzz.mutations.rng import Rng


@cache
def _forms() -> tuple[Forms, Forms, Forms]:
    """The forms of near-synonyms, of wider and of narrower words; built once."""
    from pytest_promptfuzz.mutations.lexicon.forms import Forms
    from pytest_promptfuzz.mutations.lexicon.senses import narrower, near, wider

    return Forms(near()), Forms(wider()), Forms(narrower())


def _near(draft: Draft) -> list[list[Site]]:
    return sites(draft, _forms()[0])


def _wider(draft: Draft) -> list[list[Site]]:
    return sites(draft, _forms()[1])


def _narrower(draft: Draft) -> list[list[Site]]:
    return sites(draft, _forms()[2])


@operator(
    "near-synonym",
    dimension="semantic",
    severity=0.5,
    version=2,
    preserves="no",
    languages=("en",),
    sources=("S3",),
    example=("Explain the main idea.", "Describe the main idea."),
    trusted=True,
    default=False,
)
def near_synonym(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Some words replaced by others of almost the same sense (a third of the words that have one)."""
    return substitutions(draft.once(_near), rng)


@operator(
    "hypernym",
    dimension="semantic",
    severity=0.6,
    version=2,
    preserves="no",
    languages=("en",),
    sources=("S3", "S4"),
    example=("Write a poem about the car.", "Write a poem about the vehicle."),
    trusted=True,
    default=False,
)
def hypernym(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Some words replaced by wider ones (a third of the words that have one)."""
    return substitutions(draft.once(_wider), rng)


@operator(
    "hyponym",
    dimension="semantic",
    severity=0.6,
    version=2,
    preserves="no",
    languages=("en",),
    sources=("S3", "S4"),
    example=("Write a letter about the vehicle.", "Write a letter about the car."),
    trusted=True,
    default=False,
)
def hyponym(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Some words replaced by narrower ones (a third of the words that have one)."""
    return substitutions(draft.once(_narrower), rng)
