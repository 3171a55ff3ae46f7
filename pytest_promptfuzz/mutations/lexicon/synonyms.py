"""The lexicon's entries: words of prompts and what may stand for them without changing what is asked. English only.

The tables hold entries parted by semicolons or line ends, ``head: alternatives``; ``a = b = c`` makes each an entry
with the others for alternatives. An underscore is a space. An alternative with a star stands for the base form only.
Only senses that prompts use are listed, and what an entry needs around it is written at its head:

``~head``
    It is another part of speech as well, so that the words around it must tell.
``head/flags``
    What may follow or which forms it has. Verbs take an object unless told otherwise; ``c`` a clause (``that``,
    ``whether``), ``p`` a preposition, ``0`` nothing, ``i`` ``to`` and a verb, ``m`` a person (``me``); ``x`` no object;
    ``t`` an object with a determiner only; ``b`` only where an instruction's verb stands; ``e`` no participle; ``v`` no
    participle before a noun; ``d`` never two objects. Nouns: ``u`` no plural, ``p`` plural only, ``s`` singular only.
    Adjectives: ``a`` only before a noun, ``q`` never, ``p`` with a preposition. Adverbs: ``s`` opens a sentence,
    ``d`` only before an adjective or adverb, ``0`` only at the end of a clause.
``head!words``
    Not when one of these words follows.
``head@words``
    Before these prepositions.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.mutations.lexicon.lexicon import PartOfSpeech

_HEAD = expression(r"(~?)([a-z][a-z_-]*)(?:/([a-z0]+))?(?:!([a-z,]+))?(?:@([a-z,]+))?")
_NONE: frozenset[str] = frozenset()


class Entry(NamedTuple):
    """A headword in one part of speech.

    Attributes:
        head: In lower case.
        ambiguous: Whether the words around it must tell that it is this part of speech.
        flags: Letters; the module says what they mean.
        barred: Words that may not follow.
        wanted: Prepositions that may (of nouns: one of them must).
        alternatives: What may stand for its base form.
        inflecting: Those of them that may stand for its other forms.
    """

    head: str
    ambiguous: bool
    flags: str
    barred: frozenset[str]
    wanted: frozenset[str]
    alternatives: tuple[str, ...]
    inflecting: tuple[str, ...]


def plain_entry(head: str, alternatives: tuple[str, ...], *, ambiguous: bool = False) -> Entry:
    """An entry without conditions of its own."""
    return Entry(head, ambiguous, "", _NONE, _NONE, alternatives, alternatives)


def read(table: str) -> dict[str, Entry]:
    """The entries of a table by headword."""
    found: dict[str, Entry] = {}
    for line in table.replace("\n", ";").split(";"):
        left, colon, right = line.strip().partition(": ")
        if not left:
            continue
        if colon:
            every = _phrases(right.replace("*", "") if "*" in right else right)
            inflecting = every
            if "*" in right:
                inflecting = _phrases(" ".join(each for each in right.split() if each[-1] != "*"))
            if left.isalpha():  # most are as plain as this
                found[left] = Entry(left, False, "", _NONE, _NONE, every, inflecting)
            else:
                entry = Entry(*_head(left), every, inflecting)
                found[entry.head] = entry
            continue
        heads = [_head(each) for each in left.split(" = ")]
        for head in heads:
            others = tuple(each[0] for each in heads if each is not head)
            found[head[0]] = Entry(*head, others, others)
    return found


def _phrases(listed: str) -> tuple[str, ...]:
    if "_" in listed:
        return tuple([each.replace("_", " ") for each in listed.split()])
    return tuple(listed.split())


def _head(text: str) -> tuple[str, bool, str, frozenset[str], frozenset[str]]:
    """What an entry says before its colon: head, ambiguous, flags, barred, wanted."""
    match = _HEAD.fullmatch(text)
    if match is None:
        raise ValueError(f"lexicon: {text!r} is no head of an entry.")
    unsure, head, flags, barred, wanted = match.groups()
    return head, bool(unsure), flags or "", _set(barred), _set(wanted)


def _set(listed: str | None) -> frozenset[str]:
    return frozenset(listed.split(",")) if listed else _NONE


@cache
def entries() -> dict[PartOfSpeech, dict[str, Entry]]:
    """Every entry of the lexicon, by part of speech and headword; read once."""
    from pytest_promptfuzz.mutations.lexicon.adjectives import ADJECTIVES
    from pytest_promptfuzz.mutations.lexicon.adverbs import ADVERBS
    from pytest_promptfuzz.mutations.lexicon.nouns import NOUNS
    from pytest_promptfuzz.mutations.lexicon.verbs import VERBS

    return {
        "verb": read(VERBS),
        "noun": read(NOUNS),
        "adjective": read(ADJECTIVES),
        "adverb": read(ADVERBS),
    }
