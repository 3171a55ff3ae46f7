"""Lists: their items in another order or as sentences, their markers in another style."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.edits import Edit, insert, replace
from pytest_promptfuzz.mutations.lexicon.grammar import IMPERATIVES
from pytest_promptfuzz.mutations.lexicon.table import words
from pytest_promptfuzz.mutations.listing import kinds_of_lines, remarkable
from pytest_promptfuzz.mutations.operator import operator
from pytest_promptfuzz.mutations.order import free_order, lists, ordered_on_purpose, shuffles
from pytest_promptfuzz.mutations.sequence import order_counts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.mutations.draft import Draft, Word
    from pytest_promptfuzz.mutations.layout import Line
    from pytest_promptfuzz.mutations.rng import Rng

_MARKERS = "-*•"
_INSTRUCTS = words("do don't never always please only if when unless you your make must")
_LISTED = expression(
    r"\b(?:bullets?|bulleted|lists|listed|items?|points?|(?:the|this|a|each) list|steps?|order|sequence|in turn"
    r"|one by one|first|then|finally)\b",
    re.IGNORECASE,
)


def _bulleted(draft: Draft) -> bool:
    return "bullet" in draft.once(kinds_of_lines)


def _numbered(draft: Draft) -> bool:
    return "number" in draft.once(kinds_of_lines)


def _marker(line: Line, text: str) -> Edit:
    """An edit of the marker alone; the white space after it stays."""
    start = line.start + line.indent
    old = line.content - start
    return replace(start, start + old, text)


@operator(
    "bullet-reorder",
    dimension="structural",
    severity=0.5,
    version=3,
    preserves="conditional",
    languages=("en",),
    sources=("S2",),
    example=("Rules:\n- Be brief\n- Use English", "Rules:\n- Use English\n- Be brief"),
    trusted=True,
    cue=_bulleted,
)
def bullet_reorder(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """The items of a bulleted list in a random order; not if an order is told or one leans; no steps, no form."""
    found = [
        [(line.content, end) for line, end in items]
        for items in lists(draft, "bullet")
        if free_order(draft, items)
    ]
    return shuffles(found, rng)


@operator(
    "bullet-restyle",
    dimension="structural",
    severity=0.2,
    preserves="yes",
    sources=("S2",),
    example=("Rules:\n- Be brief\n- Use English", "Rules:\n* Be brief\n* Use English"),
    trusted=True,
    cue=_bulleted,
)
def bullet_restyle(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """The bullets of all lists drawn with another mark (``-``, ``*``, ``•``)."""
    bullets = [line for line in draft.lines if line.kind == "bullet"]
    if not bullets:
        return
    for mark in rng.shuffled(_MARKERS):
        yield [
            replace(line.start + line.indent, line.start + line.indent + 1, mark)
            for line in bullets
            if draft.text[line.start + line.indent] != mark
        ]


@operator(
    "numbered-to-bulleted",
    dimension="structural",
    severity=0.4,
    version=2,
    preserves="conditional",
    touches=("list-marker",),
    languages=("en",),
    sources=("S2",),
    example=("Rules:\n1. Be brief\n2. Use English", "Rules:\n- Be brief\n- Use English"),
    trusted=True,
    cue=_numbered,
)
def numbered_to_bulleted(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Numbered lists of rules with bullets; not in a prompt that speaks of steps, numbers or an order."""
    found = [items for items in lists(draft, "number") if remarkable(draft, items)]
    if not found or ordered_on_purpose(draft):
        return
    for mark in rng.shuffled(_MARKERS):
        yield [_marker(line, mark + " ") for items in found for line, _ in items]


@operator(
    "bulleted-to-numbered",
    dimension="structural",
    severity=0.4,
    version=2,
    preserves="conditional",
    languages=("en",),
    sources=("S2",),
    example=("Rules:\n- Be brief\n- Use English", "Rules:\n1. Be brief\n2. Use English"),
    trusted=True,
    cue=_bulleted,
)
def bulleted_to_numbered(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Bulleted lists of rules with numbers; not in a prompt that speaks of steps, numbers or an order."""
    found = [items for items in lists(draft, "bullet") if remarkable(draft, items)]
    if not found or ordered_on_purpose(draft):
        return
    for style in rng.shuffled((".", ")")):
        yield [
            _marker(line, f"{number}{style} ")
            for items in found
            for number, (line, _) in enumerate(items, start=1)
        ]


@operator(
    "bullets-to-sentences",
    dimension="structural",
    severity=0.4,
    preserves="conditional",
    languages=("en",),
    sources=("S2",),
    example=("Rules:\n- Be brief\n- Use English", "Rules:\nBe brief. Use English."),
    trusted=True,
    cue=_bulleted,
    default=False,
)
def bullets_to_sentences(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """A bulleted list of instructions as a paragraph; not where a prompt speaks of the list, its items or an order."""
    openings = {word.start: word for word in draft.words}
    found = [items for items in lists(draft, "bullet") if _sentences(draft, items, openings)]
    if not found or _LISTED.search(draft.free) or draft.once(order_counts):
        return
    if len(found) > 1:
        yield [edit for items in found for edit in _as_sentences(draft, items)]
    for items in rng.shuffled(found):
        yield _as_sentences(draft, items)


def _sentences(draft: Draft, items: list[tuple[Line, int]], openings: dict[int, Word]) -> bool:
    """Whether each item is an instruction on one line, and all end alike: in a full stop or in none."""
    stops = set()
    for line, end in items:
        text = draft.free[line.content : line.end].rstrip()
        first = openings.get(line.content)
        if end != line.end or first is None or not first.form[0].isupper() or " " not in text:
            return False
        if first.lower not in IMPERATIVES and first.lower not in _INSTRUCTS:
            return False
        if ":" in text or text[-1] in ",;!?":
            return False
        stops.add(text[-1] == ".")
    return len(stops) == 1


def _as_sentences(draft: Draft, items: list[tuple[Line, int]]) -> list[Edit]:
    """The markers and line breaks of a list taken away, full stops put where there are none."""
    ends = [line.start + len(draft.text[line.start : line.end].rstrip()) for line, _ in items]
    stop = "" if draft.free[ends[0] - 1] == "." else "."
    first = items[0][0]
    edits = [replace(first.start, first.content, "")]
    edits += [
        replace(end, line.content, stop + " ")
        for end, (_, (line, _)) in zip(ends, pairwise(items), strict=False)
    ]
    return [*edits, insert(ends[-1], stop)] if stop else edits
