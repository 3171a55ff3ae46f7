"""Upper and lower case that do not depend on Python's Unicode version.

Only Latin, Greek, Cyrillic and Armenian letters change case: their mappings are the same in every Unicode since 13
(Python 3.10), but for U+019B and U+0264, which gained capitals later. Other characters stay as they are.
"""

from __future__ import annotations

from pytest_promptfuzz.expressions import expression

_STABLE = expression("[A-Za-zªµºÀ-ƚƜ-ɏͰ-֏Ḁ-῿]+")
CASED = expression("[A-Za-zµÀ-ÖØ-öø-ƚƜ-ƺƼ-ƿDŽ-ɏͰ-ͳͶͷΆΈ-Ͼ-ҁҊ-Ֆա-և]")


LETTER = expression("[^\x00-\x40\x5b-\x60\x7b-\xa9\u2000-\u2bff\u3000-\u303f\uff00-\uff20]")
"""A letter of any script: what is no ASCII sign, punctuation block or symbol block, the same on every Python."""


def upper(text: str) -> str:
    """``text`` in upper case; may be longer (ß becomes SS)."""
    return text.upper() if text.isascii() else _STABLE.sub(lambda m: m.group().upper(), text)


def lower(text: str) -> str:
    """``text`` in lower case."""
    return text.lower() if text.isascii() else _STABLE.sub(lambda m: m.group().lower(), text)


def capitalised(word: str) -> str:
    """``word`` with its first character in upper case, the rest as it is."""
    return upper(word[:1]) + word[1:]


# For ASCII in one pass: what each byte becomes, and those that are dropped, which are what `str.split` splits at.
_LOWERED = bytes(range(256)).lower()
_WHITE = bytes(code for code in range(128) if chr(code).isspace())


def fold(text: str) -> str:
    """What two texts share that differ in case and white space only."""
    if text.isascii():
        return text.encode().translate(_LOWERED, _WHITE).decode()
    return "".join(lower(text).split())


def like(model: str, word: str) -> str:
    """``word`` in the case of ``model``: lower, Capitalised or UPPER."""
    if len(model) > 1 and model.isupper():
        return upper(word)
    return capitalised(word) if model[:1].isupper() else word
