"""The forms that headwords take, and what each may be replaced by; worked out when a form is first met."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from pytest_promptfuzz.mutations.lexicon.inflection import gerund, participle, plural, third_person
from pytest_promptfuzz.mutations.lexicon.nouns import UNCOUNTED
from pytest_promptfuzz.mutations.lexicon.spelling import AMERICAN_TO_BRITISH
from pytest_promptfuzz.mutations.lexicon.synonyms import Entry, entries

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_promptfuzz.mutations.draft import Word
    from pytest_promptfuzz.mutations.lexicon.lexicon import PartOfSpeech

Form: TypeAlias = Literal["base", "s", "ing", "ed"]

INFLECT = {"s": third_person, "ing": gerund, "ed": participle}
"""What makes the forms of a verb."""

_LOGIC = frozenset(["excluding", "excepting"])


class Reading(NamedTuple):
    """One way to read a word form.

    Attributes:
        pos: The part of speech.
        form: ``base``; ``s``, ``ing`` or ``ed`` of verbs; ``s`` of nouns.
        entry: The headword's, with the conditions for its use.
        alternatives: What may stand for it, in the same form.
        single: Those of them that are one word.
    """

    pos: PartOfSpeech
    form: Form
    entry: Entry
    alternatives: tuple[str, ...]
    single: tuple[str, ...]


def reading_of(pos: PartOfSpeech, form: Form, entry: Entry, alternatives: tuple[str, ...]) -> Reading:
    """The reading with these alternatives."""
    return Reading(pos, form, entry, alternatives, tuple(each for each in alternatives if " " not in each))


def inflected(entry: Entry, pos: PartOfSpeech, form: Form) -> tuple[str, ...]:
    """What may stand for a form of a headword, in that form."""
    if form == "base":
        return entry.alternatives
    if pos == "noun":
        return tuple(plural(each) for each in entry.inflecting if each not in UNCOUNTED)
    # A participle of several words would be torn by what it stands before or after: "the worked out answer".
    return tuple(INFLECT[form](each) for each in entry.inflecting if form != "ed" or " " not in each)


def forms_of(entry: Entry, pos: PartOfSpeech) -> list[tuple[str, Form]]:
    """The forms that a headword is met in."""
    head, flags = entry.head, entry.flags
    found: list[tuple[str, Form]] = [] if pos == "noun" and "p" in flags else [(head, "base")]
    if pos == "verb":
        found += [(third_person(head), "s"), (gerund(head), "ing")]
        if "e" not in flags and "b" not in flags:
            found.append((participle(head), "ed"))
    elif pos == "noun" and "u" not in flags and "s" not in flags:
        found.append((plural(head), "s"))
    return found


class Forms:
    """The readings of the forms of some entries.

    Args:
        tables: Entries by part of speech and headword.
    """

    def __init__(self, tables: Mapping[PartOfSpeech, Mapping[str, Entry]]) -> None:
        self._entries: dict[str, list[tuple[PartOfSpeech, Form, Entry]]] = {}
        self._known: dict[str, tuple[Reading, ...]] = {}
        for pos, table in tables.items():
            for entry in table.values():
                for word, form in forms_of(entry, pos):
                    if word not in _LOGIC:
                        self._entries.setdefault(word, []).append((pos, form, entry))
        self._american = {
            british: american
            for american, british in AMERICAN_TO_BRITISH.items()
            if american in self._entries
        }
        self._entries |= {british: self._entries[american] for british, american in self._american.items()}

    def hits(self, found: Sequence[Word]) -> list[tuple[int, tuple[Reading, ...]]]:
        """The words that are forms of an entry: their numbers and their readings."""
        entries = self._entries
        get = self.readings
        return [(index, get(word[3])) for index, word in enumerate(found) if word[3] in entries]

    def readings(self, word: str) -> tuple[Reading, ...]:
        """The readings of a word in lower case; empty where it is no form of an entry."""
        known = self._known.get(word)
        if known is None:
            british = word in self._american
            known = self._known[word] = tuple(
                reading_of(pos, form, entry, alternatives)
                for pos, form, entry in self._entries.get(word, ())
                if (alternatives := _spelt(inflected(entry, pos, form), british=british))
            )
        return known

    @property
    def words(self) -> tuple[str, ...]:
        """Every form, in either spelling."""
        return tuple(self._entries)


def _spelt(alternatives: tuple[str, ...], *, british: bool) -> tuple[str, ...]:
    if not british:
        return alternatives
    return tuple(
        " ".join(AMERICAN_TO_BRITISH.get(word, word) for word in each.split(" ")) for each in alternatives
    )


@cache
def forms() -> Forms:
    """The forms of the lexicon's synonyms; built once."""
    return Forms(entries())
