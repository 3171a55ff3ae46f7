"""What a prompt says about the form of the answer, and where in the prompt it could stand instead.

A unit is a sentence (with those that lean on it), the lines under a lead (``Answer in this format:``), or a section
under a heading (``# Output format``). What may be data is none: text in tags, after ``Email:`` or under ``# Letter``.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.instructing import heading_above, instruction_lines, titles
from pytest_promptfuzz.mutations.layout import LineIndex, in_sections
from pytest_promptfuzz.mutations.lexicon.table import words
from pytest_promptfuzz.mutations.order import POINTING, counts, leans, places, takes_up, tied
from pytest_promptfuzz.mutations.said import TOKENS, heard, said, said_at, tokens_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.layout import Line, Sentence


class Unit(NamedTuple):
    """An output instruction that may stand elsewhere in its section.

    Attributes:
        start: Where it begins.
        end: Where it ends.
        cut_start: Where what is taken out begins: the unit with the white space on one side of it.
        cut_end: Where it ends.
        kind: ``sentence``, a ``block`` of lines under a lead, or a ``section`` under a heading.
        paragraph: Number of the paragraph of a sentence, as in ``Sentence``; -1 for lines.
    """

    start: int
    end: int
    cut_start: int
    cut_end: int
    kind: Literal["sentence", "block", "section"]
    paragraph: int


class Section(NamedTuple):
    """A message, or the whole of a text prompt.

    Attributes:
        start: Where its first line that is not blank begins, after the indent.
        end: Where the last line ends that an instruction may be put under: before a cue such as ``Label:``; -1 if
            nothing may.
        units: Its output instructions, in order.
        first: The paragraph that ``start`` lies in, -1 if that is no prose.
        last: The paragraph that ``end`` closes, -1 if that is no prose.
        cued: Whether a cue stands after ``end``.
    """

    start: int
    end: int
    units: tuple[Unit, ...]
    first: int
    last: int
    cued: bool


_FORM = (
    r"(?:only |just |exactly |valid |one |a |an |the |your |nothing|no |in |as |all |each |results?"
    r"|json|yaml|xml|html|csv)"
)
_OUTPUT = expression(
    r"(?:please |kindly |always |you (?:must|should) )?(?:"
    r"(?:answer|respond|reply)(?: only| just| briefly| concisely| strictly| exclusively){0,3}"
    r"(?: with| in| using| briefly| concisely)\b"
    rf"|(?:return|output|print) (?:{_FORM}|[\x00\"'`{{])"
    r"|(?:give|provide|write|state|put|express|present|format|structure|wrap|keep|limit|phrase) "
    r"(?:your |the |each |all )?(?:final )?(?:answers?|responses?|outputs?|repl(?:y|ies)|results?)\b"
    r"|(?:do not|don't|don’t|never) (?:explain|justify|comment on) (?:your|the)\b"
    r"|(?:do not|don't|don’t|never) (?:include|add|write|return|output|give|provide) (?:any |an? )?"
    r"(?:further |additional )?"
    r"(?:explanations?|commentary|comments|preamble|introduction|reasoning|text|words|markdown)\b"
    r"|(?:your|the) (?:final )?(?:answer|response|output|reply) (?:must|should|has to|needs to|may|is to|will)\b"
    r"|use (?:json|yaml|xml|html|markdown|csv|plain text|bullet points|a table|a bulleted list|a numbered list)\b)"
)
_OUTPUT_HEADS = words(
    "please kindly always you answer respond reply return output print give provide write state put express present"
    " format structure wrap keep limit phrase do don never your the use"
)
_FORMAT_HEADING = expression(
    r"(?:expected |desired |required )?(?:(?:output|response|answer|reply)"
    r"(?: format(?:ting)?| instructions?| requirements?| style| rules?| structure)?|format|formatting):?$"
)
# "the format above", "the labels below": what says so must keep its place to the format or the labels.
_REFERS = expression(
    r"\b(?:above|below|following|preceding|previous|aforementioned)[ \w-]{0,20}\b(?:formats?|labels?|categor\w+|rules?"
    r"|instructions?|schema|structure|requirements?|constraints?|options?|keys|fields|template)\b"
    r"|\b(?:formats?|labels?|categor\w+|rules?|instructions?|schema|structure|requirements?|constraints?|options?|keys"
    r"|fields|template)\b[ \w,]{0,20}\b(?:above|below|previously|earlier|later)\b"
    r"|\b(?:as|see|described) (?:above|below)\b"
)
_SPEAKERS = words("system user human assistant ai bot agent customer")
_OPENING_TAG = expression(r"<[A-Za-z][\w-]*>\s*$", re.ASCII)


def sections(draft: Draft) -> tuple[Section, ...]:
    """The sections of a prompt that hold output instructions which could stand elsewhere."""
    hits = {
        each.start
        for each, own in zip(draft.sentences, draft.once(said), strict=True)
        if each.kind in {"prose", "lead"} and own.tokens[0] in _OUTPUT_HEADS and _OUTPUT.match(own.free)
    }
    titles = any(
        line.kind == "heading" and _FORMAT_HEADING.match(draft.free[line.content : line.end].strip().lower())
        for line in draft.lines
    )
    if not hits and not titles:
        return ()
    made = (_section(draft, lines, hits) for lines in in_sections(draft.lines))
    return tuple(each for each in made if each is not None)


def _section(draft: Draft, lines: list[Line], hits: set[int]) -> Section | None:
    filled = [number for number, line in enumerate(lines) if line.kind != "blank"]
    if not filled:
        return None
    start, end = lines[0].start, lines[-1].end
    first = lines[filled[0]]
    if (
        first.kind == "field"
        and draft.text[first.content : first.end].partition(":")[0].strip().lower() in _SPEAKERS
    ):
        return None  # a dialogue: a sentence before the speaker's name would be nobody's
    if not POINTING.isdisjoint(draft.once(heard)):
        whole = draft.free[start:end].lower()
        if places(whole) and _REFERS.search(whole):
            return None
    sentences = [each for each in draft.sentences if start <= each.start and each.end <= end]
    index = LineIndex(lines)
    safe = instruction_lines(draft, index, hits)
    units = _apart(
        [
            *_heading_units(draft, index),
            *_lead_units(draft, index, hits, safe),
            *_sentence_units(draft, index, sentences, hits, safe),
        ]
    )
    heads = [each.start for each in sentences]
    taken = {
        number
        for unit in units
        for number in range(bisect_left(heads, unit.start), bisect_left(heads, unit.end))
    }
    if not units or all(
        number in taken or each.kind not in {"prose", "bullet", "number"}
        for number, each in enumerate(sentences)
    ):
        return None  # nothing that it could stand before or after
    begin, stop = first.start + first.indent, _stop(draft, lines, filled)
    cued = stop < lines[filled[-1]].start
    opening, closing = sentences[0], sentences[max(0, bisect_left(heads, stop) - 1)]
    return Section(
        begin,
        stop,
        tuple(units),
        opening.paragraph if opening.kind == "prose" and opening.start == begin else -1,
        closing.paragraph if closing.kind == "prose" and closing.end == stop else -1,
        cued,
    )


def _apart(units: Sequence[Unit]) -> list[Unit]:
    """The units in order, without those that lie in a larger one: nothing may be moved twice."""
    kept: list[Unit] = []
    for each in sorted(units, key=lambda unit: (unit.start, -unit.end)):
        if not kept or each.start >= kept[-1].end:
            kept.append(each)
    return kept


def _of_form(draft: Draft, heading: Line) -> bool:
    """Whether a heading says that the form of the answer is told under it."""
    return (
        _FORMAT_HEADING.match(draft.text[heading.content : heading.end].strip(" \t*_=").lower()) is not None
    )


def _stop(draft: Draft, lines: Sequence[Line], filled: list[int]) -> int:
    """Where a section ends but for the cue that the answer is to follow; -1 if the cue belongs to the data above it."""
    last = lines[filled[-1]]
    text = draft.text[last.start : last.end]
    cue = last.kind in {"lead", "heading"} or _OPENING_TAG.search(text) is not None
    if not cue:
        return last.start + len(text.rstrip())
    if len(filled) < 2 or filled[-2] == filled[-1] - 1:
        return -1
    before = lines[filled[-2]]
    return before.start + len(draft.text[before.start : before.end].rstrip())


def _sentence_units(
    draft: Draft, index: LineIndex, sentences: list[Sentence], hits: set[int], safe: set[int]
) -> Iterator[Unit]:
    """The sentences of prose, each with the sentences after it that lean on it."""
    groups: dict[int, list[Sentence]] = {}
    for each in sentences:
        if each.kind == "prose":
            groups.setdefault(each.paragraph, []).append(each)
    heads = [each.start for each in sentences]
    for group in groups.values():
        if hits.isdisjoint(each.start for each in group):
            continue
        number = index.number(group[0].start)
        above = index.lines[number - 1].kind if number else "blank"
        if index.lines[number].start not in safe or above not in {"blank", "prose", "heading", "block"}:
            continue  # it may be data, or goes on from a line that is no prose
        following = bisect_left(heads, group[-1].end)
        after = sentences[following] if following < len(sentences) else None
        heading, body = heading_above(draft, index, number), group
        if index.lines[number].start in draft.once(titles):
            heading, body = index.lines[number], group[1:]
        units = list(_units_of(draft, index, body, hits, after)) if body else []
        if heading is not None and (_of_form(draft, heading) or _covers(units, body)):
            continue  # what is left would stand under a heading that no longer fits
        yield from units


def _covers(units: Sequence[Unit], group: Sequence[Sentence]) -> bool:
    """Whether nothing would be left of a paragraph."""
    starts = [each.start for each in group]
    held = (bisect_left(starts, each.end) - bisect_left(starts, each.start) for each in units)
    return sum(held) == len(group)


def _units_of(
    draft: Draft, index: LineIndex, group: list[Sentence], hits: set[int], after: Sentence | None
) -> Iterator[Unit]:
    """The units of one paragraph; ``after`` is the sentence that follows it."""
    spoken = [draft.once(said_at)[each.start] for each in group]
    if any(counts(each.text, each.tokens) for each in spoken):
        return
    stop = 0
    while stop < len(group):
        head, stop = stop, stop + 1
        if group[head].start not in hits or _leaning(draft, group[head]) or tied(draft, group[head]):
            continue
        while stop < len(group) and _leaning(draft, group[stop], [each.text for each in spoken[head:stop]]):
            stop += 1
        texts = (each.free for each in spoken[head:stop])
        if any(places(text) or text.rstrip().endswith(":") for text in texts):
            continue
        bounds = (group[max(0, head - 1)].end, group[head].start), (group[stop - 1].end, _start(group, stop))
        if any(end == start for end, start in bounds):
            continue  # no white space between: without the one, the other would run into its neighbour
        if stop == len(group) and not _ends_well(draft, index, group[-1], after):
            continue
        yield _cut(draft, index, group, head, stop)


def _start(group: list[Sentence], number: int) -> int:
    """Where a sentence of a paragraph begins; -1 after the last."""
    return group[number].start if number < len(group) else -1


def _leaning(draft: Draft, sentence: Sentence, before: Sequence[str] = ()) -> bool:
    """Whether a sentence leans on the ones before it; in what is protected, such as a label OTHER, no word does."""
    own = draft.once(said_at)[sentence.start]
    tokens = own.tokens if own.free == own.text else tokens_of(own.free) or [""]
    return leans(own.free, tokens) or takes_up(own.free, before)


def _ends_well(draft: Draft, index: LineIndex, last: Sentence, after: Sentence | None) -> bool:
    """Whether what comes after a paragraph does not hang on it: no list, no ``It must ...``."""
    number = index.number(last.end) + 1
    if number < len(index.lines) and index.lines[number].kind in {"bullet", "number", "block", "table"}:
        return False
    before = [draft.once(said_at)[last.start].text]
    return after is None or after.kind != "prose" or not _leaning(draft, after, before)


def _cut(draft: Draft, index: LineIndex, group: list[Sentence], head: int, stop: int) -> Unit:
    """A unit of sentences, and what is taken out with it so that the paragraph's lines stay as they are."""
    start, end = group[head].start, group[stop - 1].end
    before = group[head - 1].end if head else -1
    after = _start(group, stop)
    if after >= 0 and (before < 0 or "\n" in draft.text[before:start] or "\n" not in draft.text[end:after]):
        cut = (start, after)
    elif before >= 0:
        cut = (before, end)
    else:
        cut = _cut_lines(index, start, end)
    return Unit(start, end, *cut, "sentence", group[head].paragraph)


def _cut_lines(index: LineIndex, start: int, end: int) -> tuple[int, int]:
    """Whole lines, with the blank ones after them, or before them at the end of a section."""
    first = index.number(start)
    after = index.after(index.number(end))
    if after is not None:
        return index.lines[first].start, after.start
    before = index.before(first)
    return (before.end if before is not None else start), end


def _lead_units(draft: Draft, index: LineIndex, hits: set[int], safe: set[int]) -> Iterator[Unit]:
    """Leads such as ``Answer in this format:`` with the lines under them."""
    lines = index.lines
    for number, line in enumerate(lines):
        if line.kind != "lead" or line.content not in hits or line.start not in safe:
            continue
        if (number and lines[number - 1].kind != "blank") or heading_above(draft, index, number) is not None:
            continue
        title = draft.free[line.content : line.end].lower()
        if re.search(r"\b(?:above|previous|preceding|earlier|below)\b", title) or leans(
            title, [each for each in TOKENS.findall(title) if each != "this"] or [""]
        ):
            continue
        stop = number + 1
        while stop < len(lines) and lines[stop].kind == "blank":
            stop += 1
        under = stop
        while stop < len(lines) and lines[stop].kind != "blank":
            stop += 1
        if stop == under:
            continue
        end = lines[stop - 1].end
        yield Unit(line.start + line.indent, end, *_cut_lines(index, line.start, end), "block", -1)


def _heading_units(draft: Draft, index: LineIndex) -> Iterator[Unit]:
    """Sections under a heading such as ``# Output format``, where the whole prompt is in sections of one level."""
    lines = index.lines
    heads = [number for number, line in enumerate(lines) if line.kind == "heading"]
    if len(heads) < 2:
        return
    filled = next(line for line in lines if line.kind != "blank")
    levels = {draft.text[lines[each].start : lines[each].content].strip() for each in heads}
    if len(levels) > 1 or filled.kind != "heading":
        return
    for place, number in enumerate(heads):
        line = lines[number]
        if not _FORMAT_HEADING.match(draft.free[line.content : line.end].strip().lower()):
            continue
        stop = heads[place + 1] if place + 1 < len(heads) else len(lines)
        body = [each for each in range(number + 1, stop) if lines[each].kind != "blank"]
        if not body or (place + 1 == len(heads) and body[-1] - body[0] >= len(body)):
            continue  # no body: a cue; several paragraphs at the end: data may be among them
        end = lines[body[-1]].end
        if not places(draft.free[line.content : end].lower()):
            yield Unit(line.start + line.indent, end, *_cut_lines(index, line.start, end), "section", -1)
