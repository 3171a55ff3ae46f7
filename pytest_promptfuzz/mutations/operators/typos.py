"""Slips of the fingers that never make another word."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from pytest_promptfuzz.mutations.edits import Edit, replace
from pytest_promptfuzz.mutations.lexicon.keyboards import AZERTY, QWERTY, QWERTZ
from pytest_promptfuzz.mutations.lexicon.sparing import hittable, is_known, own_words
from pytest_promptfuzz.mutations.operator import operator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_promptfuzz.mutations.draft import Draft, Word
    from pytest_promptfuzz.mutations.rng import Rng

    Slip: TypeAlias = "Callable[[str, Rng], tuple[int, int, str]]"

_SHARE = 0.04  # of the words that may be hit: one in a prompt of 60 words
# No dictionary of other languages is at hand: there the slip is inside a long word, whose neighbours are no words, and
# spares its inflection.
_FOREIGN_SHORTEST = 8
_ENDING = 2


def _slips(draft: Draft, rng: Rng, slip: Slip) -> Iterator[list[Edit]]:
    """Mutations in which ``slip`` hits a share of the words; a slip that gives a known word is none."""
    targets: Sequence[Word] = draft.once(hittable)
    ending = 0
    if draft.language != "en":
        targets = [word for word in targets if word.end - word.start >= _FOREIGN_SHORTEST]
        ending = _ENDING
    own = draft.once(own_words) if targets else frozenset()
    while targets:
        edits = []
        for word in rng.some(targets, _SHARE):
            start, end, new = slip(word.lower[: len(word.lower) - ending], rng)
            wrong = word.lower[:start] + new + word.lower[end:]
            if wrong != word.lower and wrong not in own and not is_known(wrong):
                edits.append(replace(word.start + start, word.start + end, new))
        yield edits


def _neighbour_on(keys: dict[str, str]) -> Slip:
    def neighbour(word: str, rng: Rng) -> tuple[int, int, str]:
        place = 1 + rng.below(len(word) - 1)
        return place, place + 1, rng.choice(keys[word[place]])

    return neighbour


_qwerty, _azerty, _qwertz = map(_neighbour_on, (QWERTY, AZERTY, QWERTZ))


def _swap(word: str, rng: Rng) -> tuple[int, int, str]:
    place = 1 + rng.below(len(word) - 2)
    return place, place + 2, word[place + 1] + word[place]


def _inner(word: str, rng: Rng) -> int:
    """A letter that is neither the first nor the last: without its ending a word may be another form of itself."""
    return 1 + rng.below(len(word) - 2)


def _omit(word: str, rng: Rng) -> tuple[int, int, str]:
    place = _inner(word, rng)
    return place, place + 1, ""


def _insert(word: str, rng: Rng) -> tuple[int, int, str]:
    place = _inner(word, rng)
    return place, place, rng.choice(QWERTY[word[place]])


def _double(word: str, rng: Rng) -> tuple[int, int, str]:
    place = _inner(word, rng)
    return place, place, word[place]


@operator(
    "keyboard-typo",
    dimension="lexical",
    severity=0.3,
    version=2,
    preserves="conditional",
    languages=("en",),
    sources=("S2", "S4", "nlpaug"),
    example=("Sort the items.", "Sort the itens."),
    trusted=True,
)
def keyboard_typo(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """A letter struck on a neighbouring key (QWERTY), in one word in 25."""
    return _slips(draft, rng, _qwerty)


@operator(
    "transposition-typo",
    dimension="lexical",
    severity=0.3,
    version=2,
    preserves="conditional",
    languages=("en",),
    sources=("S2", "S4", "nlpaug"),
    example=("Sort the items.", "Sort the itmes."),
    trusted=True,
)
def transposition_typo(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Two neighbouring letters swapped, in one word in 25."""
    return _slips(draft, rng, _swap)


@operator(
    "omission-typo",
    dimension="lexical",
    severity=0.3,
    preserves="conditional",
    languages=("en",),
    sources=("S2", "S4", "TextAttack"),
    example=("Sort the items.", "Sort the itms."),
    trusted=True,
)
def omission_typo(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """A letter inside a word left out, in one word in 25."""
    return _slips(draft, rng, _omit)


@operator(
    "insertion-typo",
    dimension="lexical",
    severity=0.3,
    preserves="conditional",
    languages=("en",),
    sources=("S2", "S4", "TextAttack"),
    example=("Sort the items.", "Sort the itrems."),
    trusted=True,
)
def insertion_typo(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """A neighbouring key (QWERTY) struck before the right one, in one word in 25."""
    return _slips(draft, rng, _insert)


@operator(
    "doubling-typo",
    dimension="lexical",
    severity=0.2,
    preserves="conditional",
    languages=("en",),
    sources=("S2", "S4"),
    example=("Sort the items.", "Sort the itemms."),
    trusted=True,
)
def doubling_typo(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """A letter inside a word struck twice, in one word in 25."""
    return _slips(draft, rng, _double)


@operator(
    "azerty-typo",
    dimension="lexical",
    severity=0.3,
    preserves="conditional",
    languages=("en", "fr"),
    sources=("S2", "NL-Augmenter"),
    example=("Read the message.", "Read the messqge."),
    trusted=True,
    default=False,
)
def azerty_typo(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """A letter struck on a neighbouring key of a French keyboard, in one word in 25."""
    return _slips(draft, rng, _azerty)


@operator(
    "qwertz-typo",
    dimension="lexical",
    severity=0.3,
    preserves="conditional",
    languages=("en", "de"),
    sources=("S2", "NL-Augmenter"),
    example=("Sort the items.", "Sort the izems."),
    trusted=True,
    default=False,
)
def qwertz_typo(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """A letter struck on a neighbouring key of a German keyboard, in one word in 25."""
    return _slips(draft, rng, _qwertz)
