"""Slips of the fingers that never make another word."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from pytest_promptfuzz.mutations.edits import Edit, edits_at, replace
from pytest_promptfuzz.mutations.lexicon.keyboards import AZERTY, QWERTY, QWERTZ
from pytest_promptfuzz.mutations.lexicon.sparing import hittable, is_known, own_words
from pytest_promptfuzz.mutations.operator import Operator, operator

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

    def slipped(word: Word) -> Edit | None:
        start, end, new = slip(word.lower[: len(word.lower) - ending], rng)
        wrong = word.lower[:start] + new + word.lower[end:]
        if wrong == word.lower or wrong in own or is_known(wrong):
            return None
        return replace(word.start + start, word.start + end, new)

    return edits_at(rng.draws(targets, _SHARE), slipped)


def _neighbour_on(keys: dict[str, str]) -> Slip:
    def neighbour(word: str, rng: Rng) -> tuple[int, int, str]:
        place = 1 + rng.below(len(word) - 1)
        return place, place + 1, rng.choice(keys[word[place]])

    return neighbour


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


def _typo(
    name: str,
    slip: Slip,
    summary: str,
    example: tuple[str, str],
    *sources: str,
    severity: float = 0.3,
    version: int = 1,
    language: str | None = None,
) -> Operator:
    """The operator of one slip; a keyboard of another ``language`` is left to those who name it."""

    def propose(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
        return _slips(draft, rng, slip)

    return operator(
        name,
        dimension="lexical",
        severity=severity,
        version=version,
        preserves="conditional",
        languages=("en",) if language is None else ("en", language),
        sources=("S2", *sources),
        summary=f"{summary}, in one word in 25.",
        example=example,
        trusted=True,
        default=language is None,
    )(propose)


keyboard_typo = _typo(
    "keyboard-typo",
    _neighbour_on(QWERTY),
    "A letter struck on a neighbouring key (QWERTY)",
    ("Sort the items.", "Sort the itens."),
    "S4",
    "nlpaug",
    version=2,
)
transposition_typo = _typo(
    "transposition-typo",
    _swap,
    "Two neighbouring letters swapped",
    ("Sort the items.", "Sort the itmes."),
    "S4",
    "nlpaug",
    version=2,
)
omission_typo = _typo(
    "omission-typo",
    _omit,
    "A letter inside a word left out",
    ("Sort the items.", "Sort the itms."),
    "S4",
    "TextAttack",
)
insertion_typo = _typo(
    "insertion-typo",
    _insert,
    "A neighbouring key (QWERTY) struck before the right one",
    ("Sort the items.", "Sort the itrems."),
    "S4",
    "TextAttack",
)
doubling_typo = _typo(
    "doubling-typo",
    _double,
    "A letter inside a word struck twice",
    ("Sort the items.", "Sort the itemms."),
    "S4",
    severity=0.2,
)
azerty_typo = _typo(
    "azerty-typo",
    _neighbour_on(AZERTY),
    "A letter struck on a neighbouring key of a French keyboard",
    ("Read the message.", "Read the messqge."),
    "NL-Augmenter",
    language="fr",
)
qwertz_typo = _typo(
    "qwertz-typo",
    _neighbour_on(QWERTZ),
    "A letter struck on a neighbouring key of a German keyboard",
    ("Sort the items.", "Sort the izems."),
    "NL-Augmenter",
    language="de",
)
