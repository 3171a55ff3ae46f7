"""Other spellings of words: contractions, British and American, misspellings, abbreviations, keyboard slips."""

from __future__ import annotations

from pytest_promptfuzz.data.tables import entries, pairs, when_used, words_in

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
