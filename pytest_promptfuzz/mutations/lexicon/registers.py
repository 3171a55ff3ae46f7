"""Phrases put in another register, wherever they stand in a draft."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from pytest_promptfuzz.mutations.casing import LETTER, capitalised
from pytest_promptfuzz.mutations.edits import Edit, replace
from pytest_promptfuzz.mutations.lexicon.grammar import BEFORE_VERB, DETERMINERS
from pytest_promptfuzz.mutations.lexicon.table import words
from pytest_promptfuzz.mutations.said import TOKENS, heard

if TYPE_CHECKING:
    from pytest_promptfuzz.mutations.draft import Draft

_BE = words("is are was were be been being very")


Direction: TypeAlias = Literal["formal", "casual", "other"]


@cache
def _register(direction: Direction) -> dict[str, tuple[tuple[str, ...], tuple[tuple[str, str], ...]]]:
    """By first word: phrases, the longest first, and what says the same in the register wanted.

    Before them stands what comes after the first letter of one of them.
    """
    from pytest_promptfuzz.mutations.lexicon.phrases import ONE_WAY, REGISTER

    other: dict[str, str] = {}
    for formal, casual in REGISTER:
        if direction != "formal":
            other.setdefault(formal, casual)
        if direction != "casual" and casual not in ONE_WAY:
            other.setdefault(casual, formal)
    found: dict[str, list[tuple[str, str]]] = {}
    for phrase in sorted(other, key=lambda each: (-len(each), each)):
        found.setdefault(phrase.split()[0], []).append((phrase, other[phrase]))
    return {first: (tuple(phrase[1:] for phrase, _ in pairs), tuple(pairs)) for first, pairs in found.items()}


@cache
def _telling(direction: Direction) -> frozenset[str]:
    """The longest word of each phrase: a text without any of them holds none of the phrases."""
    _, known = zip(*_register(direction).values(), strict=True)
    return frozenset(max(TOKENS.findall(phrase), key=len) for pairs in known for phrase, _ in pairs)


def has_phrases(draft: Draft, direction: Direction) -> bool:
    """Whether a draft may hold phrases of a register; the words in it tell."""
    return not _telling(direction).isdisjoint(draft.once(heard))


def phrases(draft: Draft, direction: Direction) -> list[Edit]:
    """Edits that put every phrase of one register in the other, or each in the one it is not in (``other``)."""
    register = _register(direction)
    free = draft.free
    places: list[Edit] = []
    found = draft.words
    for index, word in enumerate(found):
        if word[3] not in register:
            continue
        tails, known = register[word[3]]
        start = word[0]
        if not free.startswith(tails, start + 1):
            continue
        previous = found[index - 1] if index else None
        adjacent = previous.lower if previous is not None and previous.end + 1 == start else ""
        for phrase, new in known:
            end = start + len(phrase)
            old = free[start:end]
            if old[1:] == phrase[1:] and old[:1].lower() == phrase[0] and not _glued(free, end):
                if phrase == "otherwise" and free[end : end + 1] != ",":
                    break  # "If not write NO" lacks its comma
                if (not places or places[-1].end <= start) and _fits(
                    phrase, adjacent, opens=start in draft.starts
                ):
                    places.append(replace(start, end, capitalised(new) if old[0].isupper() else new))
                break
    return places


def _fits(phrase: str, before: str, *, opens: bool) -> bool:
    """Whether a phrase has the sense that the register knows, by where it stands and the word before it."""
    from pytest_promptfuzz.mutations.lexicon.phrases import ABOUT, OPENING, VERBAL

    if phrase == "with regard to":
        return before in ABOUT  # "cancelled with regard to the waves" gives a reason
    if phrase in OPENING:
        return opens
    if phrase in VERBAL:
        return not before or before in BEFORE_VERB or before == "or"
    if phrase == "regarding":
        return bool(before) and before not in _BE  # ", regarding it as a limit" is a verb
    return before not in DETERMINERS and before not in _BE


def _glued(free: str, end: int) -> bool:
    """Whether a word goes on at ``end``."""
    following = free[end : end + 1]
    return LETTER.match(following) is not None or following in {"\x00", "'", "’", "-", "_", *"0123456789"}
