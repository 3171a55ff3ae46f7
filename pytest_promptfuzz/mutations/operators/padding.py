"""Quotes, spaces, new lines and special characters around a prompt.

In a chat, one message is padded. What is added never touches a word or protected text, but for spaces and quotes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.mutations.casing import LETTER
from pytest_promptfuzz.mutations.draft import BLANK
from pytest_promptfuzz.mutations.edits import Edit, insert
from pytest_promptfuzz.mutations.layout import sections_of
from pytest_promptfuzz.mutations.operator import operator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.rng import Rng

_QUOTES = (('"', '"'), ("'", "'"), ("“", "”"), ("«", "»"))
_BLOCK_QUOTES = ('"""', "'''")
_RULES = ("###", "***", "-----", "=====", "+++++", "_____", ".....")
_MOST_SPACES = 12
_MOST_LINES = 6
_DEEPEST = 3  # spaces before a line that begins a list or a heading: one more, and markdown reads code


def _sections(draft: Draft) -> tuple[tuple[int, int], ...]:
    """The text, or the messages of a chat; those without words of their own are left out where others have some."""
    found = tuple(sections_of(len(draft.text), draft.walls))
    return tuple([each for each in found if LETTER.search(draft.free, *each)]) or found


def _amount(rng: Rng, most: int) -> int:
    """How many characters are added: drawn, or the intensity (an int is a count, a float a share of ``most``)."""
    wanted = rng.intensity
    if wanted is None:
        return 1 + rng.below(most)
    return max(1, wanted if isinstance(wanted, int) else int(most * wanted + 0.5))


def _sides(rng: Rng) -> tuple[bool, bool]:
    """Whether to pad before, and after: one of them, or both."""
    drawn = rng.below(3)
    return drawn != 1, drawn != 0


def _newline(draft: Draft) -> str:
    return "\r\n" if "\r\n" in draft.text else "\n"


def _both(start: int, before: str, end: int, after: str) -> list[Edit]:
    """Insertions at the two ends of a section, which is not empty; an insertion of nothing is none."""
    return [insert(place, text) for place, text in ((start, before), (end, after)) if text]


@operator(
    "pad-quotes",
    dimension="padding",
    severity=0.2,
    preserves="yes",
    sources=("S4",),
    example=("Classify {text} now.", '"Classify {text} now."'),
    trusted=True,
    default=False,
)
def pad_quotes(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Quotation marks around the prompt or one message, on lines of their own where it ends in a slot or a colon."""
    sections = draft.once(_sections)
    newline = _newline(draft)
    choices: list[list[Edit]] = []
    for start, end in sections:
        piece = draft.text[start:end]
        free = draft.free
        inline = BLANK not in (free[start], free[end - 1]) and not piece.rstrip().endswith((":", "："))
        if inline:
            choices += [
                _both(start, opening, end, closing)
                for opening, closing in _QUOTES
                if opening not in piece and closing not in piece
            ]
        if not inline or newline in piece:
            choices += [
                _both(start, marks + newline, end, newline + marks)
                for marks in _BLOCK_QUOTES
                if marks not in piece
            ]
    yield from rng.shuffled(choices)


@operator(
    "pad-spaces",
    dimension="padding",
    severity=0.1,
    preserves="yes",
    surface=True,
    sources=("S4",),
    example=("Classify {text}", "Classify {text} "),
    trusted=True,
    default=False,
)
def pad_spaces(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """One to twelve spaces before or after the prompt or one message, or on both sides (intensity: how many)."""
    sections = draft.once(_sections)
    opening = {line.start: line.kind for line in draft.lines}
    while sections:
        start, end = rng.choice(sections)
        before, after = _sides(rng)
        lead = _amount(rng, _MOST_SPACES)
        if opening.get(start) not in {"prose", "lead"}:
            lead = min(lead, _DEEPEST)
        yield _both(start, " " * lead * before, end, " " * _amount(rng, _MOST_SPACES) * after)


@operator(
    "pad-newlines",
    dimension="padding",
    severity=0.1,
    preserves="yes",
    surface=True,
    sources=("S4",),
    example=("Classify {text}", "\nClassify {text}"),
    trusted=True,
    default=False,
)
def pad_newlines(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """One to six line breaks before or after the prompt or one message, or on both sides (intensity: how many)."""
    sections = draft.once(_sections)
    newline = _newline(draft)
    while sections:
        start, end = rng.choice(sections)
        before, after = _sides(rng)
        yield _both(
            start,
            newline * _amount(rng, _MOST_LINES) * before,
            end,
            newline * _amount(rng, _MOST_LINES) * after,
        )


@operator(
    "pad-characters",
    dimension="padding",
    severity=0.2,
    preserves="yes",
    sources=("S4",),
    example=("Sort it.", "###\n\nSort it."),
    trusted=True,
    default=False,
)
def pad_characters(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """A line of ``###``, ``-----`` or the like before or after the prompt or one message, or on both sides.

    Never one that the text uses itself, and none below a last line that waits for its answer (``Label:``).
    """
    sections = draft.once(_sections)
    newline = _newline(draft)
    while sections:
        start, end = rng.choice(sections)
        piece = draft.text[start:end]
        rule = rng.choice(_RULES)
        before, after = _sides(rng)
        if piece.rstrip().endswith((":", "：")):
            before, after = True, False
        if rule[:3] in piece:
            yield []
            continue
        yield _both(start, (rule + newline * 2) * before, end, (newline * 2 + rule) * after)
