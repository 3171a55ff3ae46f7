"""Closed word classes of English: what tells a verb from a noun, and where an instruction begins."""

from __future__ import annotations

from pytest_promptfuzz.data.tables import entries, when_used, words_in

_PLACES = "words/places.tsv"
DETERMINERS = words_in(_PLACES, "determiner")
"""Words after which a noun follows, with an adjective between at most."""

BEFORE_VERB = words_in(_PLACES, "before a verb")
"""Words after which the base form of a verb follows."""

BEFORE_GERUND = words_in(_PLACES, "before a gerund")
BEFORE_PARTICIPLE = words_in(_PLACES, "before a participle")
"""Words after which a participle follows, as a verb or before a noun."""

AFTER_NOUN = words_in(_PLACES, "after a noun")
"""Words that end a noun phrase; before any other, a noun may be the first half of a compound."""

TERM_HEADS = words_in(_PLACES, "head of a term")
"""Nouns of terms: what stands before them is part of a name (``primary key``, ``complex numbers``)."""

IMPERATIVES = words_in(_PLACES, "imperative")
"""Base forms that open an instruction."""

OPENERS_AFTER = words_in(_PLACES, "after an opening verb")
"""Words after an opening base form that show it to be a verb (``Answer the ...``, not ``Answer key``)."""


# Closed word classes of English as bits, so that what stands around a word is told by one look-up.


DETERMINER = 1
PREPOSITION = 2
CONJUNCTION = 4
BE = 8
AUXILIARY = 16
CLAUSE = 32
SUBJECT = 64
OBJECT = 128
ADVERB = 256
SUBORDINATOR = 512
TO = 1024
NUMBER = 2048
PARTICLE = 4096
PERSON = 8192
FOCUS = 16384
DEGREE = 32768

_BITS = {
    "determiner": DETERMINER,
    "preposition": PREPOSITION,
    "conjunction": CONJUNCTION,
    "be": BE,
    "auxiliary": AUXILIARY,
    "clause": CLAUSE,
    "subject": SUBJECT,
    "object": OBJECT,
    "adverb": ADVERB,
    "subordinator": SUBORDINATOR,
    "to": TO,
    "number": NUMBER,
    "particle": PARTICLE,
    "person": PERSON,
    "focus": FOCUS,
    "degree": DEGREE,
}


def _classes() -> dict[str, int]:
    found: dict[str, int] = {}
    for name, word in entries("words/closed_classes.tsv", lambda name, word: (name, word)):
        found[word] = found.get(word, 0) | _BITS[name]
    return found


CLASSES: dict[str, int] = when_used(_classes)
"""The classes of each word of the closed classes, in lower case; any other word is open: a noun, a verb, ..."""
