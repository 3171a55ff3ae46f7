"""Words, stems, sentences, and how near two spellings are."""

from __future__ import annotations

import re
from functools import lru_cache

WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
PLAIN = str.maketrans(
    {
        "\u2018": "'",
        "\u2019": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u2010": "-",
        "\u2011": "-",
        "\u2013": "-",
        "\u2014": " - ",
        "\u2026": "...",
        "\u00a0": " ",
        "\u200b": "",
        "\t": " ",
    }
)
# A full stop after these ends no sentence.
ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|no|vs|etc|e\.g|i\.e|inc|ltd|approx|fig|a\.m|p\.m|u\.s)|\b[a-z])\.$",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+|\s*\n\s*\n\s*")
SUFFIXES = (
    ("ational", "ate"),
    ("ization", "ize"),
    ("isation", "ize"),
    ("ingly", ""),
    ("ments", ""),
    ("ment", ""),
    ("ies", "y"),
    ("ied", "y"),
    ("edly", ""),
    ("ings", ""),
    ("ing", ""),
    ("ers", ""),
    ("ely", ""),
    ("ed", ""),
    ("er", ""),
    ("es", ""),
    ("ly", ""),
    ("s", ""),
    ("e", ""),
)


def listed(text: str) -> list[str]:
    """The words of a table written as a text, separated by white space."""
    return text.split()


RUN = re.compile(r"(?<=\S)[ ]{2,}(?=\S)")
STRAY = re.compile(r"(?<=[\w)\"'])[ ](?=[,.;:?!]+(?:\s|$))")


def plain(text: str) -> str:
    """``text`` with typographic quotes and dashes as ASCII, and no zero-width or no-break spaces."""
    return text.translate(PLAIN)


def even(text: str) -> str:
    """Plain text, single spaces within its lines, none before a comma or a full stop."""
    return STRAY.sub("", RUN.sub(" ", plain(text)))


def words(text: str) -> list[str]:
    """The words of a text in lower case: letters and digits, with inner apostrophes and hyphens."""
    return WORD.findall(text.lower())


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """A rough English stem, enough to bring *refund*, *refunded* and *refunding* together."""
    word = word.removesuffix("'s").replace("isation", "ization")
    if len(word) <= 3 or word.endswith("ss"):
        return word
    for suffix, instead in SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            base = word[: -len(suffix)] + instead
            if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "slz":
                return base[:-1]
            return base
    return word


def sentences(text: str) -> list[str]:
    """The sentences of a text, stripped; a blank line ends a sentence too, a decimal point or ``e.g.`` does not."""
    found: list[str] = []
    held = ""
    for part in SENTENCE_END.split(text):
        part = f"{held} {part}".strip() if held else part.strip()  # noqa: PLW2901 - the held part belongs to it
        if ABBREVIATION.search(part):
            held = part
            continue
        held = ""
        if part:
            found.append(" ".join(part.split()))
    if held:
        found.append(" ".join(held.split()))
    return found


def distance(left: str, right: str, limit: int) -> int:
    """Edits (insert, delete, replace, swap neighbours) between words; ``limit + 1`` if more than ``limit``.

    The optimal string alignment distance (Boytsov 2011, "Indexing methods for approximate dictionary searching").
    """
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    before: list[int] = []
    last = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        row = [i]
        for j, b in enumerate(right, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
        before, last = last, row
    return last[-1]


def tolerance(word: str) -> int:
    """Edits forgiven in a word: none below 5 letters, one below 9, then two."""
    return 0 if len(word) < 5 else 1 if len(word) < 9 else 2


def near(word: str, known: str) -> bool:
    """Whether ``word`` is ``known``, perhaps misspelt; the first letter must be right."""
    if word == known:
        return True
    limit = tolerance(known)
    return limit > 0 and word[:1] == known[:1] and len(word) >= 4 and distance(word, known, limit) <= limit
