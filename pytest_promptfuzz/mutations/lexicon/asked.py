"""Any lexicon as a source of substitutes: word forms traced to lemmas, what it answers filtered and inflected. English.

Our own entries say what they need around them; another lexicon's words come without. So a word that it knows as two
parts of speech counts as ambiguous and waits for a context that tells, verbs take a direct object only, and what
replaces a word must be frequent or in use in our own lexicon.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from pytest_promptfuzz.mutations.lexicon.classes import CLASSES
from pytest_promptfuzz.mutations.lexicon.forms import INFLECT, inflected, reading_of
from pytest_promptfuzz.mutations.lexicon.inflection import gerund, lemmas, participle, plural
from pytest_promptfuzz.mutations.lexicon.synonyms import entries, plain_entry
from pytest_promptfuzz.prompts.logic import logic_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_promptfuzz.mutations.draft import Word
    from pytest_promptfuzz.mutations.lexicon.forms import Form, Reading
    from pytest_promptfuzz.mutations.lexicon.lexicon import Kind, Lexicon, PartOfSpeech

_MOST = 50_000  # forms kept; a run meets far fewer
_EVERY: tuple[PartOfSpeech, ...] = ("noun", "verb", "adjective", "adverb")
_SHORTEST = 3


@cache
def usual_words() -> frozenset[str]:
    """Words frequent enough to stand in a prompt unnoticed: those of our lexicon, and the frequent ones."""
    from pytest_promptfuzz.mutations.lexicon.frequent import FREQUENT

    found = set(FREQUENT)
    for table in entries().values():
        for entry in table.values():
            found.add(entry.head)
            for each in entry.alternatives:
                found.update(each.split())
    return frozenset(found)


class Asked:
    """The readings that a lexicon gives to the words of English prompts.

    Args:
        lexicon: What is asked, once for each form.
        kind: What it is asked for.
    """

    def __init__(self, lexicon: Lexicon, kind: Kind) -> None:
        self._ask: Callable[[str, PartOfSpeech, str], Sequence[str]] = {
            "synonym": lexicon.synonyms,
            "near": lexicon.near,
            "wider": lexicon.wider,
            "narrower": lexicon.narrower,
        }[kind]
        self._known: dict[str, tuple[Reading, ...]] = {}

    def hits(self, found: Sequence[Word]) -> list[tuple[int, tuple[Reading, ...]]]:
        """The words it has substitutes for: their numbers and their readings."""
        return [
            (index, readings) for index, word in enumerate(found) if (readings := self.readings(word.lower))
        ]

    def readings(self, word: str) -> tuple[Reading, ...]:
        """The readings of a word in lower case; none for function words and words of logic."""
        known = self._known.get(word)
        if known is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            known = self._known[word] = self._readings(word)
        return known

    def _readings(self, word: str) -> tuple[Reading, ...]:
        if len(word) < _SHORTEST or not word.isalpha() or word in CLASSES or logic_words(word):
            return ()
        found = [
            (pos, form, lemma, answers)
            for form, lemma in lemmas(word)
            for pos in _EVERY
            if _inflects(lemma, pos, form, word) and (answers := self._answers(lemma, pos))
        ]
        ambiguous = len({pos for pos, _, _, _ in found}) > 1
        readings = []
        for pos, form, lemma, answers in found:
            entry = plain_entry(lemma, answers, ambiguous=ambiguous)
            alternatives = tuple(each for each in inflected(entry, pos, form) if each != word)
            if alternatives:
                readings.append(reading_of(pos, form, entry, alternatives))
        return tuple(readings)

    def _answers(self, lemma: str, pos: PartOfSpeech) -> tuple[str, ...]:
        return tuple(
            each
            for each in dict.fromkeys(self._ask(lemma, pos, "en"))
            if each != lemma
            and all(map(_usual, each.split(" ")))
            and not any(part in CLASSES for part in each.split(" ")[:1])
            and not logic_words(each)
        )


def _usual(word: str) -> bool:
    """Whether a word is frequent in one of its forms."""
    usual = usual_words()
    return word in usual or any(make(word) in usual for make in (plural, participle, gerund))


def _inflects(lemma: str, pos: PartOfSpeech, form: Form, word: str) -> bool:
    """Whether a lemma has that form in that part of speech."""
    if form == "base":
        return True
    if pos == "verb":
        return INFLECT[form](lemma) == word
    return pos == "noun" and form == "s" and plural(lemma) == word
