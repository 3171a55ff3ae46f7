"""How the words that the lexicon replaces are inflected: irregular verbs and plurals, nouns without a plural."""

from __future__ import annotations

from pytest_promptfuzz.data.tables import entries, when_used, words_in

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
