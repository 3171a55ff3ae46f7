"""Regular expressions that are compiled when they are first used; upper case, lower case and case folding.

The package holds some five hundred of them, and a run over one prompt uses less than a fifth: compiling them all as
their modules are loaded takes as long as making the mutations of ten prompts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable


class _Expression:
    """Stands for a compiled expression, whose attributes and methods are its own once one of them was asked for."""

    def __init__(self, pattern: str | Callable[[], str], flags: int) -> None:
        self._pattern = pattern
        self._flags = flags

    def __repr__(self) -> str:
        return f"expression({self._pattern!r}, {self._flags!r})"

    @property
    def pattern(self) -> str:
        """What is compiled."""
        return self._pattern if isinstance(self._pattern, str) else self._pattern()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        vars(self).update(
            {each: getattr(compiled, each) for each in dir(compiled) if not each.startswith("_")}
        )
        return getattr(compiled, name)


def expression(pattern: str | Callable[[], str], flags: int = 0) -> re.Pattern[str]:
    """As ``re.compile(pattern, flags)``, but compiled, and where ``pattern`` is a function made, at its first use.

    For expressions of a module; one that a user wrote is compiled where it is read, so that a mistake shows there.
    ``isinstance(…, re.Pattern)`` and the functions of ``re`` do not know it: use its methods.
    """
    return cast("re.Pattern[str]", _Expression(pattern, int(flags)))


# Upper and lower case that do not depend on Python's Unicode version.
#
# Only Latin, Greek, Cyrillic and Armenian letters change case: their mappings are the same in every Unicode since 13
# (Python 3.10), but for U+019B and U+0264, which gained capitals later. Other characters stay as they are.


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


# How the tables of the lexicon are read.


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())
