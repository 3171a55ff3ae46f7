"""Operators on punctuation that carries no meaning of its own."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.casing import LETTER
from pytest_promptfuzz.mutations.edits import Edit, edits_at, replace
from pytest_promptfuzz.mutations.layout import ends_abbreviation
from pytest_promptfuzz.mutations.lexicon.grammar import IMPERATIVES
from pytest_promptfuzz.mutations.lexicon.table import words
from pytest_promptfuzz.mutations.operator import operator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.layout import Sentence
    from pytest_promptfuzz.mutations.rng import Rng

_MARKS = expression(r"[-–—'’.…]+")
_OTHER = {"'": "’", "’": "'", "-": "–", "--": "—", "---": "—", "–": "-", "—": "--", "...": "…", "…": "..."}
_COMMA = expression(r",(?= ([^\W\d_]+['’]?[^\W\d_]*))")
# A comma before one of these parts clauses and no items of a list.
_JOINING = words(
    """
    and but or so then which who whose because please while whereas although though if when unless using including such
    since as where until rather even especially however instead either you we i they it he she do don't does is are
    """
)
# A sentence that begins with one of these has its first comma after the opening clause.
_OPENING = words(
    """
    if when for in after before once given based as while to please first next finally then otherwise also however note
    unless since although though because with without until where whenever instead now here using during at on from
    """
)
# What follows a negation may lie in its scope or not, by the comma alone ("Do not guess, and ask").
_NEGATION = expression(
    r"\b(?:not|never|no|none|nothing|without|cannot|avoid|refrain|unless|except)\b|n['’]t\b"
    r"|\b(?:all|any|every)\w* but\b",
    re.IGNORECASE,
)
_CLAUSE = expression(r"(?<=[^\W\d_]) (?=(because|but|although|whereas|unless|and)(?= ))")


@operator(
    "drop-terminal-punctuation",
    dimension="lexical",
    severity=0.2,
    preserves="yes",
    sources=("S1", "S2"),
    example=("Classify the ticket.", "Classify the ticket"),
    trusted=True,
)
def drop_terminal_punctuation(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """The full stop at the end of paragraphs and list items dropped (all of them, then some)."""
    sentences = draft.sentences
    places = [
        replace(sentence.end - 1, sentence.end, "")
        for sentence, following in zip(sentences, (*sentences[1:], None), strict=False)
        if (following is None or following.paragraph != sentence.paragraph)
        and sentence.end - sentence.start > 1
        and draft.free[sentence.end - 1] in ".!。"
        and draft.free[sentence.end - 2] not in ".!?"
    ]
    return rng.all_then_some(places)


@operator(
    "typographic-punctuation",
    dimension="lexical",
    severity=0.2,
    preserves="yes",
    sources=("S2",),
    example=("Don't guess - ask...", "Don’t guess – ask…"),
    trusted=True,
    cue=lambda draft: _MARKS.search(draft.free) is not None,
)
def typographic_punctuation(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Straight apostrophes, dashes and dots turned typographic and the other way (all of them, then some)."""
    places = [
        replace(*match.span(), _OTHER[match.group()])
        for match in _MARKS.finditer(draft.free)
        if match.group() in _OTHER and _typeset(draft.free, *match.span())
    ]
    return rng.all_then_some(places)


def _typeset(free: str, start: int, end: int) -> bool:
    """Whether the mark is an apostrophe in a word, a dash between words, or the dots of an ellipsis."""
    mark = free[start]
    if mark in ".…":
        return True
    if mark in "'’":
        return _letters(free[max(0, start - 1) : start] + free[end : end + 1])
    around = free[max(0, start - 2) : start] + free[end : end + 2]
    return around[1:3] == "  " and _letters(around[:1] + around[3:])


def _letters(pair: str) -> bool:
    return len(pair) == 2 and all(map(LETTER.match, pair))


def _scope(free: str, sentence: Sentence) -> int:
    """Where the first negation of a sentence stands, or its end."""
    match = _NEGATION.search(free, sentence.start, sentence.end)
    return match.start() if match else sentence.end


def _loose_marks(draft: Draft) -> list[int]:
    """Commas between clauses, and full stops between sentences: a reader needs none of them.

    Commas of lists stay, and all next to protected text.
    """
    free = draft.free
    found: list[int] = []
    for sentence in draft.sentences:
        commas = [
            match
            for match in _COMMA.finditer(free, sentence.start, sentence.end)
            if LETTER.match(free[match.start() - 1 : match.start()])
        ]
        opens = (
            len(commas) == 1
            and free.count(",", sentence.start, sentence.end) == 1
            and free[sentence.start : sentence.end].split(" ", 1)[0].lower() in _OPENING
        )
        scope = _scope(free, sentence)
        found += [
            match.start()
            for match in commas
            if match.start() < scope and (opens or match.group(1).lower() in _JOINING)
        ]
    for sentence, following in pairwise(draft.sentences):
        mark = sentence.end - 1
        if (
            sentence.paragraph == following.paragraph
            and free[mark] in ".!"
            and LETTER.match(free[mark - 1 : mark])
            and free[following.start].isupper()
            and not ends_abbreviation(draft.text, mark)
            and _scope(free, sentence) > mark
        ):
            found.append(mark)
    return sorted(found)


@operator(
    "remove-punctuation",
    dimension="lexical",
    severity=0.3,
    preserves="conditional",
    languages=("en",),
    sources=("S1", "S2", "TextAttack"),
    example=("If it is late, apologise.", "If it is late apologise."),
    trusted=True,
    default=False,
)
def remove_punctuation(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Some commas between clauses and full stops between sentences left out (half of them)."""
    return edits_at(rng.draws(_loose_marks(draft), 0.5), lambda place: replace(place, place + 1, ""))


def _room_for_marks(draft: Draft) -> list[tuple[int, int, tuple[str, ...]]]:
    """Ends of sentences whose mark can be doubled, and places before a clause that can take a comma."""
    free = draft.free
    found: list[tuple[int, int, tuple[str, ...]]] = []
    for sentence in draft.sentences:
        end = sentence.end - 1
        before, mark = free[end - 1 : end], free[end]
        if sentence.start < end and LETTER.match(before):
            if mark == "." and not ends_abbreviation(draft.text, end):
                found.append((end, end + 1, ("!", "...", "..")))
            elif mark in "!?":
                found.append((end, end + 1, (mark * 2, mark * 3)))
        for match in _CLAUSE.finditer(free, sentence.start, _scope(free, sentence)):
            place = match.start()
            word, following = match.group(1), free[match.end() : match.end() + 20].split(" ", 2)[1:2]
            if word == "and" and not (following and following[0].lower() in IMPERATIVES):
                continue  # it joins items
            found.append((place, place, (",",)))
    return sorted(found)


@operator(
    "add-punctuation",
    dimension="lexical",
    severity=0.2,
    preserves="conditional",
    sources=("S1", "S2", "TextAttack"),
    example=("Sort the tickets.", "Sort the tickets!"),
    trusted=True,
    default=False,
)
def add_punctuation(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Some marks at the end of sentences doubled or made an exclamation, and commas put before clauses (half)."""
    for places in rng.draws(_room_for_marks(draft), 0.5):
        yield [replace(start, end, rng.choice(marks)) for start, end, marks in places]
