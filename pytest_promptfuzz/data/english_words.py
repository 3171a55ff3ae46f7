"""English words and how they are written: known words, inflection, other spellings, keyboards, closed word classes."""

from __future__ import annotations

from pytest_promptfuzz.data.tables import entries, pairs, when_used, words_in

FREQUENT = words_in("words/frequent.txt")
NAMES = words_in("words/names.txt")
PROMPT_WORDS = words_in("words/prompt_words.txt")
NEAR = words_in("words/near.txt")
"""What a slip can make of a word in :data:`FREQUENT`, ``IMPERATIVES`` or :data:`PROMPT_WORDS`."""


# How the words that the lexicon replaces are inflected: irregular verbs and plurals, nouns without a plural.


OTHERS = words_in("replacements/more_adjectives.txt")
"""Adjectives that have no entry in the lexicon."""

UNCOUNTED = words_in("replacements/uncounted_nouns.txt")

IRREGULAR_PLURALS = {
    "person": "people",
    "analysis": "analyses",
    "criterion": "criteria",
    "child": "children",
    "knife": "knives",
    "man": "men",
    "woman": "women",
}

IRREGULAR: dict[str, tuple[str, str, str]] = when_used(
    lambda: dict(
        entries("replacements/irregular_verbs.tsv", lambda base, third, ing, past: (base, (third, ing, past)))
    )
)
"""Third person, gerund and participle of verbs off the rules."""


# Other spellings of words: contractions, British and American, misspellings, abbreviations, keyboard slips.


_NEGATED = {
    "do": "don't",
    "does": "doesn't",
    "did": "didn't",
    "is": "isn't",
    "are": "aren't",
    "was": "wasn't",
    "were": "weren't",
    "has": "hasn't",
    "have": "haven't",
    "had": "hadn't",
    "can": "can't",
    "could": "couldn't",
    "will": "won't",
    "would": "wouldn't",
    "should": "shouldn't",
    "must": "mustn't",
}
_JOINED = {
    ("i", "am"): "I'm",
    ("you", "are"): "you're",
    ("we", "are"): "we're",
    ("they", "are"): "they're",
    ("it", "is"): "it's",
    ("that", "is"): "that's",
    ("there", "is"): "there's",
    ("what", "is"): "what's",
    ("i", "will"): "I'll",
    ("you", "will"): "you'll",
    ("we", "will"): "we'll",
    ("they", "will"): "they'll",
    ("it", "will"): "it'll",
}

CONTRACTED: dict[tuple[str, str], str] = {
    **{(verb, "not"): short for verb, short in _NEGATED.items()},
    **_JOINED,
}
"""Two words in lower case, and what they become."""

EXPANDED: dict[str, str] = {
    **{short: f"{verb} not" for verb, short in _NEGATED.items()},
    **{short.lower(): " ".join(pair) for pair, short in _JOINED.items()},
    "can't": "cannot",
    "i'm": "I am",
    "i'll": "I will",
    "i've": "I have",
    "you've": "you have",
    "we've": "we have",
    "they've": "they have",
}
"""A contraction in lower case, and what it stands for."""

_ENDINGS = ("e", "es", "ed", "ing", "er", "ation", "ations")


def _british() -> dict[str, str]:
    stems = sorted(words_in("spelling/ize_stems.txt"))
    verbs = {f"{stem}iz{end}": f"{stem}is{end}" for stem in stems for end in _ENDINGS}
    return {**pairs("spelling/british.tsv"), **verbs}


AMERICAN_TO_BRITISH: dict[str, str] = when_used(_british)
"""Words in lower case."""


def _variants() -> dict[str, str]:
    other = {british: american for american, british in AMERICAN_TO_BRITISH.items() if british != "analyses"}
    return {**AMERICAN_TO_BRITISH, **other}


VARIANTS: dict[str, str] = when_used(_variants)
"""Either spelling, and the other; ``analyses`` is left out, being the plural of ``analysis`` too."""


def _misspellings() -> dict[str, str]:
    found: dict[str, str] = {}

    def add(right: str, wrong: str, endings: str = "") -> None:
        found.update({right + end: wrong + end for end in ("", *endings.split())})

    entries("spelling/misspellings.tsv", add)
    return found


MISSPELLINGS: dict[str, str] = when_used(_misspellings)
"""A word in lower case, and how it is often misspelt."""

HOMOPHONES = pairs("spelling/homophones.tsv")
"""A word in lower case, and what is written in its place."""


def _abbreviations(left_out: str) -> list[tuple[str, str]]:
    """Phrases and their abbreviations, without those for which only ``left_out`` is done."""
    rows = entries("spelling/abbreviations.tsv", lambda phrase, brief, only="": (phrase, brief, only))
    return [(phrase, brief) for phrase, brief, only in rows if only != left_out]


ABBREVIATED: dict[str, str] = when_used(lambda: dict(_abbreviations("spell out")))
"""A word or phrase in lower case, and its abbreviation as it is written."""

UNABBREVIATED: dict[str, str] = when_used(
    lambda: {brief.rstrip("."): phrase for phrase, brief in _abbreviations("abbreviate")}
)
"""An abbreviation as it is written, without its full stop, and what it stands for; those with one meaning only."""


# Which keys lie side by side, on the keyboards of English, French and German.


QWERTY: dict[str, str] = {
    "a": "qwsz", "b": "vghn", "c": "xdfv", "d": "serfcx", "e": "wsdr", "f": "drtgvc", "g": "ftyhbv", "h": "gyujnb",
    "i": "ujko", "j": "huikmn", "k": "jiolm", "l": "kop", "m": "njk", "n": "bhjm", "o": "iklp", "p": "ol",
    "q": "wa", "r": "edft", "s": "awedxz", "t": "rfgy", "u": "yhji", "v": "cfgb", "w": "qase", "x": "zsdc",
    "y": "tghu", "z": "asx",
}  # fmt: skip
"""A letter, and the letters around it."""


def _around(*rows: str) -> dict[str, str]:
    """The letters around each letter; a row stands half a key to the right of the one above."""
    found: dict[str, str] = {}
    for number, row in enumerate(rows):
        above = rows[number - 1] if number else ""
        below = rows[number + 1] if number + 1 < len(rows) else ""
        for place, key in enumerate(row):
            left = max(0, place - 1)
            found[key] = (
                row[left:place]
                + row[place + 1 : place + 2]
                + above[place : place + 2]
                + below[left : place + 1]
            )
    return found


AZERTY: dict[str, str] = _around("azertyuiop", "qsdfghjklm", "wxcvbn")
QWERTZ: dict[str, str] = _around("qwertzuiop", "asdfghjkl", "yxcvbnm")


# Closed word classes of English: what tells a verb from a noun, and where an instruction begins.


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
