"""Known English words: a typo must not turn one into another (form for from, trail for trial)."""

from __future__ import annotations

from pytest_promptfuzz.data.tables import words_in

FREQUENT = words_in("words/frequent.txt")
NAMES = words_in("words/names.txt")
PROMPT_WORDS = words_in("words/prompt_words.txt")
NEAR = words_in("words/near.txt")
"""What a slip can make of a word in :data:`FREQUENT`, ``IMPERATIVES`` or :data:`PROMPT_WORDS`."""
