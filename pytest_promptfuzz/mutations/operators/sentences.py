"""Operators on sentences, paragraphs and lists: another order, bullets for numbers, paragraphs split or merged."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from pytest_promptfuzz.data.english_words import IMPERATIVES
from pytest_promptfuzz.mutations.analysis.draft import TOKENS
from pytest_promptfuzz.mutations.analysis.instructions import kinds_of_lines, line_index, listable, remarkable
from pytest_promptfuzz.mutations.analysis.order import (
    free_order,
    leans,
    lists,
    order_counts,
    ordered_on_purpose,
    sentence_runs,
    shuffles,
)
from pytest_promptfuzz.mutations.engine.edits import Edit, insert, reorder, replace
from pytest_promptfuzz.mutations.engine.operator import operator
from pytest_promptfuzz.mutations.operators.tone import instructions
from pytest_promptfuzz.text.expressions import expression, lower, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.mutations.analysis.draft import Draft, Line, Sentence, Word
    from pytest_promptfuzz.randomness import Rng


_INSTRUCTS = words("do don never always please only make must")
_STOPS = frozenset(".!?")
_PAST = expression(r"[ \t\r]*(?:\Z|[^ \t\r][ \t\r]*(?:\n|\Z))")  # a line break, then a blank line or the end


@operator(
    "sentence-shuffle",
    dimension="structural",
    severity=0.6,
    version=3,
    preserves="conditional",
    languages=("en",),
    sources=("S1", "S2"),
    example=("Be brief. Classify the ticket.", "Classify the ticket. Be brief."),
    trusted=True,
)
def sentence_shuffle(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """The sentences of one paragraph in a random order; what points or leans on others stays in place."""
    return shuffles(draft.once(sentence_runs), rng)


@operator(
    "sentence-reverse",
    dimension="structural",
    severity=0.6,
    version=3,
    preserves="conditional",
    languages=("en",),
    sources=("S1",),
    example=("Be brief. Use English. Classify the ticket.", "Classify the ticket. Use English. Be brief."),
    trusted=True,
)
def sentence_reverse(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """The sentences of every paragraph from last to first, then of one paragraph at a time."""
    runs = draft.once(sentence_runs)
    if runs:
        yield [reorder(run, range(len(run))[::-1]) for run in runs]
    if len(runs) > 1:
        for run in rng.shuffled(runs):
            yield [reorder(run, range(len(run))[::-1])]


@operator(
    "instruction-reorder",
    dimension="structural",
    severity=0.5,
    version=3,
    preserves="conditional",
    languages=("en",),
    sources=("S1", "S2"),
    example=(
        "Classify the ticket. The tone is rude. Keep the answer brief.",
        "Keep the answer brief. The tone is rude. Classify the ticket.",
    ),
    trusted=True,
)
def instruction_reorder(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Two instructions of a paragraph change places; what lies between them stays."""
    heads = {each.sentence.start for each in draft.once(instructions)}
    pairs = [
        (first, second)
        for run in draft.once(sentence_runs)
        for ordered in ([segment for segment in run if segment[0] in heads],)
        for index, first in enumerate(ordered)
        for second in ordered[index + 1 : index + 4]
    ]
    for pair in rng.shuffled(pairs):
        yield [reorder(pair, (1, 0))]


@operator(
    "sentences-to-bullets",
    dimension="structural",
    severity=0.5,
    version=2,
    preserves="conditional",
    sources=("S2",),
    example=("Be brief. Classify the ticket.", "- Be brief.\n- Classify the ticket."),
    trusted=True,
)
def sentences_to_bullets(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """The sentences of a paragraph that instructs as a bulleted list; not where it may be data."""
    runs = [run for run in draft.once(sentence_runs) if _alone(draft, run) and listable(draft, run)]
    for run in rng.shuffled(runs):
        gap = _line_break(draft) + "- "
        edits = [insert(run[0][0], "- "), *(replace(a[1], b[0], gap) for a, b in pairwise(run))]
        yield edits


def _alone(draft: Draft, run: list[tuple[int, int]]) -> bool:
    """Whether a run fills its paragraph: nothing else stands on its first and last line."""
    before = draft.text.rfind("\n", 0, run[0][0]) + 1
    after = draft.text.find("\n", run[-1][1])
    rest = draft.free[before : run[0][0]] + draft.free[run[-1][1] : after if after >= 0 else len(draft.text)]
    between = (draft.free[a[1] : b[0]] for a, b in pairwise(run))
    return (
        not rest.strip()
        and not any(each.strip() for each in between)
        and all("\n\n" not in each for each in between)
    )


@operator(
    "paragraph-split",
    version=2,
    dimension="structural",
    severity=0.2,
    preserves="yes",
    surface=True,
    sources=("S2",),
    example=("You are an editor. Correct the text.", "You are an editor.\n\nCorrect the text."),
    trusted=True,
    default=False,
)
def paragraph_split(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """A paragraph parted between two sentences (one gap in three); not before a sentence that leans on the last one."""
    line = _line_break(draft)
    gaps = [
        replace(a.end, b.start, line * 2)
        for a, b in pairwise(draft.sentences)
        if a.kind == "prose" and a.paragraph == b.paragraph and draft.text[a.end : b.start] == " "
        if not _leaning(draft, b)
    ]
    return rng.draws(gaps, 0.34)


@operator(
    "paragraph-merge",
    dimension="structural",
    severity=0.2,
    preserves="yes",
    surface=True,
    languages=("en",),
    sources=("S2",),
    example=(
        "You are an editor.\n\nCorrect the text.\n\n{text}",
        "You are an editor. Correct the text.\n\n{text}",
    ),
    trusted=True,
    default=False,
)
def paragraph_merge(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Two paragraphs made one (one gap in two); only where the second instructs and data comes later."""
    lines = draft.lines
    data = max((line.start for line in lines if line.kind in {"block", "field", "lead"}), default=-1)
    gaps = [
        replace(a.end, b.start, " ")
        for a, b in pairwise(draft.sentences)
        if a.kind == b.kind == "prose" and a.paragraph != b.paragraph and b.start < data
        if _one_line(draft, a) and _one_line(draft, b) and draft.text[a.end - 1] in _STOPS
        if not draft.text[a.end : b.start].strip() and _opens(draft, b)
    ]
    return rng.draws(gaps, 0.5)


def _line_break(draft: Draft) -> str:
    return "\r\n" if "\r\n" in draft.text else "\n"


def _leaning(draft: Draft, sentence: Sentence) -> bool:
    text = draft.text[sentence.start : sentence.end].lower()
    return leans(text, TOKENS.findall(text) or [""])


def _opens(draft: Draft, sentence: Sentence) -> bool:
    """Whether a sentence is an instruction."""
    head = TOKENS.match(lower(draft.free[sentence.start : sentence.start + 40]))
    return head is not None and (head.group() in IMPERATIVES or head.group() in _INSTRUCTS)


def _one_line(draft: Draft, sentence: Sentence) -> bool:
    """Whether a sentence's paragraph is one line between blank ones."""
    index = draft.once(line_index)
    line = index.lines[index.number(sentence.start)]
    if not line.start <= sentence.start <= line.end:
        return False
    text = draft.text
    before = line.start
    while before and text[before - 1] in " \t":
        before -= 1
    opens = not before or text.endswith(("\n\n", "\n\r\n"), 0, before)
    return opens and _PAST.match(text, line.end) is not None


# Lists: their items in another order or as sentences, their markers in another style.


_MARKERS = "-*•"
_ITEM_INSTRUCTS = words("do don't never always please only if when unless you your make must")
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
        if first.lower not in IMPERATIVES and first.lower not in _ITEM_INSTRUCTS:
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
