"""Sentences of a paragraph in another order, as a list, or in paragraphs of another length."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.casing import lower
from pytest_promptfuzz.mutations.edits import Edit, insert, reorder, replace
from pytest_promptfuzz.mutations.lexicon.grammar import IMPERATIVES
from pytest_promptfuzz.mutations.lexicon.table import words
from pytest_promptfuzz.mutations.listing import line_index, listable
from pytest_promptfuzz.mutations.operator import operator
from pytest_promptfuzz.mutations.operators.tone import instructions
from pytest_promptfuzz.mutations.order import leans, sentence_runs, shuffles
from pytest_promptfuzz.mutations.said import TOKENS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.layout import Sentence
    from pytest_promptfuzz.mutations.rng import Rng

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
