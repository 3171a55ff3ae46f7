"""Operators that make typing errors: slips, misspellings, misread letters (OCR), homoglyphs, leetspeak."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from pytest_promptfuzz.data.english_words import AZERTY, QWERTY, QWERTZ
from pytest_promptfuzz.mutations.analysis.spared_text import (
    binds,
    hittable,
    is_known,
    naming_words,
    own_words,
)
from pytest_promptfuzz.mutations.engine.edits import Edit, edits_at, replace
from pytest_promptfuzz.mutations.engine.operator import Operator, operator
from pytest_promptfuzz.text.expressions import like

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_promptfuzz.mutations.analysis.draft import Draft, Word
    from pytest_promptfuzz.randomness import Rng

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


# Damage that scanners, keyboards and hurried writers do: OCR, homoglyphs, homophones, leetspeak, misspellings.


# Shapes that recognisers of print take for each other; a digit among them stands between letters only.
_OCR = {
    "rn": ("m",), "m": ("rn",), "cl": ("d",), "d": ("cl",), "h": ("b",), "b": ("h",), "e": ("c",), "c": ("e",),
    "w": ("vv",), "li": ("h",), "g": ("q",), "q": ("g",), "t": ("f",), "f": ("t",), "l": ("I",), "nn": ("m",),
    "ni": ("m",), "u": ("ii",), "n": ("ri",), "o": ("0",), "tl": ("d",),
}  # fmt: skip
# Cyrillic and Greek letters that look like Latin ones; all of them are as old as Unicode 3.0.
_ALIKE = {
    "a": "\u0430", "c": "\u0441", "e": "\u0435", "i": "\u0456", "j": "\u0458", "o": "\u043e\u03bf", "p": "\u0440",
    "s": "\u0455", "v": "\u03bd", "x": "\u0445", "y": "\u0443",
}  # fmt: skip
_LEET = {"a": "4", "e": "3", "i": "1", "o": "0", "s": "5", "t": "7"}


def _misspelt(draft: Draft) -> tuple[tuple[Word, str], ...]:
    """The words that have a common misspelling, each with it."""
    from pytest_promptfuzz.data.english_words import MISSPELLINGS

    text = draft.text
    own = draft.once(own_words)
    named = draft.once(naming_words)
    starts = draft.starts
    loud: bool | None = None
    found: list[tuple[Word, str]] = []
    for word in draft.words:
        wrong = MISSPELLINGS.get(word[3])
        if wrong is None or wrong in own or word.start in named or binds(word.lower):
            continue
        if word.form != word.lower and word.start not in starts:
            # A name, a keyword of SQL, an answer in capitals: unless all is in capitals.
            loud = all(each.form.isupper() for each in draft.words) if loud is None else loud
            if not loud:
                continue
        if text[word.end : word.end + 1] != ":":
            found.append((word, wrong))
    return tuple(found)


@operator(
    "misspelling",
    dimension="lexical",
    severity=0.3,
    preserves="conditional",
    languages=("en",),
    sources=("S2", "nlpaug", "NL-Augmenter"),
    example=("Separate the relevant ones.", "Seperate the relevant ones."),
    trusted=True,
)
def misspelling(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Common misspellings (``recieve``) of some words that have one (a tenth of them)."""
    return edits_at(rng.draws(draft.once(_misspelt), 0.1), _rewritten)


def _rewritten(place: tuple[Word, str]) -> Edit:
    word, other = place
    return replace(word.start, word.end, like(word.form, other))


@operator(
    "ocr",
    dimension="lexical",
    severity=0.3,
    preserves="conditional",
    languages=("en",),
    sources=("S2", "nlpaug"),
    example=("Summarize the article.", "Surnmarize the article."),
    trusted=True,
    default=False,
)
def ocr(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Letters misread as others of their shape (``rn`` for ``m``), in one long word in ten."""
    own = draft.once(own_words)

    def misread(word: Word) -> Edit | None:
        # Not at the ends: a digit there could be read with what follows, and the first letter carries the word.
        lower = word.lower
        size = 1 + rng.below(2)
        start = 1 + rng.below(len(lower) - 1 - size)
        read = _OCR.get(lower[start : start + size])
        if read is None:
            size = 3 - size
            read = _OCR.get(lower[start : start + size]) if start + size < len(lower) else None
        if read is None:
            return None
        new = rng.choice(read)
        wrong = (lower[:start] + new + lower[start + size :]).lower()
        if wrong in own or is_known(wrong):
            return None
        return replace(word.start + start, word.start + start + size, new)

    return edits_at(rng.draws(draft.once(hittable), 0.1), misread)


@operator(
    "homoglyph",
    dimension="lexical",
    severity=0.3,
    preserves="conditional",
    sources=("S2", "NL-Augmenter"),
    example=("Describe the scene.", "Dеscribe the scene."),
    trusted=True,
    default=False,
)
def homoglyph(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """A Latin letter turned into a Cyrillic or Greek one that looks the same, in one long word in ten."""

    def lookalike(word: Word) -> Edit | None:
        place = 1 + rng.below(word.end - word.start - 1)
        alike = _ALIKE.get(word.lower[place])
        if alike is None:
            return None
        return replace(word.start + place, word.start + place + 1, rng.choice(alike))

    return edits_at(rng.draws(draft.once(hittable), 0.1), lookalike)


def _sounding(draft: Draft) -> tuple[tuple[Word, str], ...]:
    """The words that have a homophone, each with it."""
    from pytest_promptfuzz.data.english_words import HOMOPHONES

    text = draft.text
    named = draft.once(naming_words)
    starts = draft.starts
    return tuple(
        [
            (word, other)
            for word in draft.words
            if (other := HOMOPHONES.get(word.lower)) is not None
            and word.start not in named
            and text[word.end : word.end + 1] != ":"
            and (word.form == word.lower or (word.start in starts and word.form[1:].islower()))
        ]
    )


@operator(
    "homophone",
    dimension="lexical",
    severity=0.3,
    preserves="conditional",
    languages=("en",),
    sources=("S2", "NL-Augmenter"),
    example=("Write their names.", "Write there names."),
    trusted=True,
    default=False,
)
def homophone(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Words taken for others that sound the same (``your`` for ``you're``), a third of those that can be."""
    return edits_at(rng.draws(draft.once(_sounding), 0.33), _rewritten)


@operator(
    "leetspeak",
    dimension="lexical",
    severity=0.4,
    preserves="conditional",
    sources=("NL-Augmenter", "PromptBench"),
    example=("Read the message.", "Read the m3ssage."),
    trusted=True,
    default=False,
)
def leetspeak(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """One or two letters inside a word written as the digits that look like them, in one long word in five."""
    for chosen in rng.draws(draft.once(hittable), 0.2):
        edits: list[Edit] = []
        for word in chosen:
            last = word.end - word.start - 1
            first = 1 + rng.below(last - 1)
            # A digit stands between two letters, so that no number comes about.
            for place in (first, first + 2 + rng.below(3)):
                digit = _LEET.get(word.lower[place]) if place < last else None
                if digit is not None:
                    edits.append(replace(word.start + place, word.start + place + 1, digit))
        yield edits
