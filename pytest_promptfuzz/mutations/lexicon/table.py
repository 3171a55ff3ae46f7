"""How the tables of the lexicon are read."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())
