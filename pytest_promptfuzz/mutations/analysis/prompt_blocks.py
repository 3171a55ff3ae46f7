"""Blocks of a prompt that may move: instructions about the form of the answer, and documents side by side.

A unit is a sentence (with those that lean on it), the lines under a lead (``Answer in this format:``), or a section
under a heading (``# Output format``). What may be data is none: text in tags, after ``Email:`` or under ``# Letter``.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_promptfuzz.mutations.analysis.draft import (
    BOUND,
    TOKENS,
    LineIndex,
    heard,
    in_sections,
    said,
    said_at,
    tokens_of,
)
from pytest_promptfuzz.mutations.analysis.instructions import heading_above, instruction_lines, titles
from pytest_promptfuzz.mutations.analysis.order import (
    LEANING_HEADS,
    POINTING,
    SEQUENCE_HEADS,
    counts,
    leans,
    places,
    takes_up,
    tells_order,
    tied,
)
from pytest_promptfuzz.text.expressions import expression, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_promptfuzz.mutations.analysis.draft import Draft, Line, Sentence


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


# Documents that stand side by side in a prompt: ``Document 1: …``, ``[1] …``, ``<doc>…</doc>``, ``Context A``.
#
# They may change places where each has a label that moves with it, or where nothing cites them by number; and where
# neither the prompt nor a document speaks of their order.


Segment = tuple[int, int]

_NOUN = (
    r"doc|document|source|passage|context|article|text|excerpt|snippet|file|report|review|abstract|paper|record"
    r"|agreement|contract|response|candidate|reference|extract|essay|story|profile"
)
_LABEL = expression(
    r"[ \t]*(?P<label>(?P<style>\#{1,6}[ \t]+|\*\*)?"
    rf"(?:(?P<noun>{_NOUN})[ \t]+(?P<mark>\d{{1,3}}|[a-z])(?![\w-])(?=[ \t]*(?:[:(.*)—–-]|$))"
    r"|\[(?P<cite>\d{1,3})\](?=[ \t:])))",
    re.IGNORECASE | re.MULTILINE | re.ASCII,
)
_TAG = expression(rf"<(?P<close>/?)(?P<name>{_NOUN})(?P<rest>[ \t][^<>\n]*)?>", re.IGNORECASE | re.ASCII)
_ATTRIBUTE = expression(
    r"\b(?:index|id|number|n|name|title|source|label)\s*=\s*[\"']?([^\"'>]+)", re.IGNORECASE
)

_ORDERED = expression(
    r"\b(?:first|second|third|fourth|fifth|last|final|next|former|latter|previous|preceding|earlier|later|order(?:ed)?"
    r"|sequence|chronolog\w*|respectively|sorted|rank(?:ed|ing)|newest|oldest|latest|most recent|in turn|consecutive"
    r"|one by one|adjacent|opening|beginning)\b|\d(?:st|nd|rd|th)\b",
    re.IGNORECASE,
)
_LINKS = words("above below previous preceding following earlier later former latter next aforementioned")
_PRONOUNS = words("it its they them their he him his she her these those this that such then")
_CITED = expression(rf"\[\d|\b(?:{_NOUN})s?[ \t]+\d", re.IGNORECASE)


def documents(draft: Draft) -> tuple[tuple[Segment, ...], ...]:
    """The sets of two or more documents of a prompt that may change places, each with the label it travels with."""
    text = draft.text
    found = [*_labelled(draft), *_tagged(draft)]
    return tuple(
        tuple(segments)
        for segments, labels in found
        if len(set(labels) - {""}) in {0, len(labels)} and _free_order(draft, segments, labels, text)
    )


def _labelled(draft: Draft) -> Iterator[tuple[list[Segment], list[str]]]:
    """Runs of documents that a label opens, on lines of their own."""
    starts = {start for start, _ in draft.spans}
    heads: dict[int, re.Match[str]] = {}
    for match in _labels(draft.text):
        noun, at = match["noun"], match.start("label")
        if draft.free[at : at + 1] != "\x00" if noun else at in starts or match["style"]:
            heads[at] = match
    if len(heads) < 2:
        return
    lines = draft.lines
    at_line = {line.start + line.indent: number for number, line in enumerate(lines)}
    numbers = [(at_line[at], match) for at, match in heads.items() if at in at_line]
    runs: list[list[tuple[int, re.Match[str]]]] = []
    for number, match in numbers:
        kind = (match["style"] or "", (match["noun"] or "").lower(), lines[number].section)
        before = runs[-1][-1] if runs else None
        if before is not None and kind == (
            before[1]["style"] or "",
            (before[1]["noun"] or "").lower(),
            lines[before[0]].section,
        ):
            runs[-1].append((number, match))
        else:
            runs.append([(number, match)])
    for run in runs:
        segments = _segments(draft, lines, [number for number, _ in run]) if len(run) > 1 else []
        if segments:
            yield segments, [(match["mark"] or match["cite"]).lower() for _, match in run]


def _labels(text: str) -> Iterator[re.Match[str]]:
    """The labels that lines begin with; asking each line is much quicker than a search of the text."""
    start = 0
    while True:
        match = _LABEL.match(text, start)
        if match is not None:
            yield match
        start = text.find("\n", start) + 1
        if not start:
            return


def _segments(draft: Draft, lines: Sequence[Line], heads: list[int]) -> list[Segment]:
    """Where each document begins and ends; empty when one has several paragraphs, as the last one's end is unsure."""
    ends: list[int] = []
    fields: set[str] = set()
    most = 0
    for index, head in enumerate(heads):
        last = index == len(heads) - 1
        limit = len(lines) if last else heads[index + 1]
        end = _paragraph_end(lines, head, limit, draft)
        body = lines[head + 1 : end]
        if last:
            for number, line in enumerate(body):
                if line.kind in {"field", "lead", "heading"} and _field(draft, line) not in fields:
                    end = head + 1 + number
                    break
            end = min(end, head + most)
        elif any(line.kind != "blank" for line in lines[end:limit]):
            return []
        else:
            fields |= {_field(draft, line) for line in body if line.kind in {"field", "lead", "heading"}}
            most = max(most, end - head)
        while lines[end - 1].kind == "blank":
            end -= 1
        ends.append(end)
    return [
        (lines[head].start + lines[head].indent, lines[end - 1].end)
        for head, end in zip(heads, ends, strict=True)
    ]


def _paragraph_end(lines: Sequence[Line], head: int, limit: int, draft: Draft) -> int:
    """The line after a label's paragraph; a label alone on its line may be parted from it by blank lines."""
    end = head + 1
    line = lines[head]
    alone = line.kind in {"lead", "heading"} or draft.text[line.start : line.end].rstrip().endswith("**")
    if alone:
        while end < limit and lines[end].kind == "blank":
            end += 1
    while end < limit and lines[end].kind != "blank" and lines[end].section == line.section:
        end += 1
    return end


def _field(draft: Draft, line: Line) -> str:
    return draft.text[line.content : line.end].partition(":")[0].strip().lower()


def _tagged(draft: Draft) -> Iterator[tuple[list[Segment], list[str]]]:
    """Runs of elements of one name with nothing between them."""
    if "</" not in draft.text:
        return
    spans = set(draft.spans)
    names: dict[str, list[re.Match[str]]] = {}
    for match in _TAG.finditer(draft.text):
        if match.span() in spans:
            names.setdefault(match["name"], []).append(match)
    for tags in names.values():
        if len(tags) % 2 or any(bool(tag["close"]) != bool(number % 2) for number, tag in enumerate(tags)):
            continue  # one inside the other, or not closed
        segments: list[Segment] = []
        labels: list[str] = []
        for opening, closing in zip(tags[::2], tags[1::2], strict=True):
            if segments and draft.text[segments[-1][1] : opening.start()].strip():
                if len(segments) > 1:
                    yield segments, labels
                segments, labels = [], []
            segments.append((opening.start(), closing.end()))
            attribute = _ATTRIBUTE.search(opening["rest"] or "")
            labels.append(attribute[1].strip().lower() if attribute else "")
        if len(segments) > 1:
            yield segments, labels


def _free_order(draft: Draft, segments: Sequence[Segment], labels: Sequence[str], text: str) -> bool:
    """Whether neither the prompt nor a document says anything that another order would make untrue."""
    first, last = segments[0][0], segments[-1][1]
    if any(first < end and start < last for start, end in draft.walls):
        return False
    cuts = [0, *(place for segment in segments for place in segment), len(text)]
    outside = "\n".join(text[start:end] for start, end in zip(cuts[::2], cuts[1::2], strict=True))
    if _ORDERED.search(outside) or tells_order(outside):
        return False
    cited = _CITED.search(outside) is not None
    if cited and not all(label.isdigit() for label in labels):
        return False
    return not any(_linked(draft.free[start:end].lower()) for start, end in segments)


def _linked(document: str) -> bool:
    """Whether a document, in lower case with its protected parts blanked, leans on the one before it."""
    body = (
        document.partition("\n")[2]
        if document.partition("\n")[0].rstrip().endswith((":", "**"))
        else document
    )
    body = body.partition(":")[2] if re.match(r"[\w\x00 *#]{1,30}:", body) else body
    head = TOKENS.search(body)
    opens = head is not None and not body[: head.start()].strip(" \n\t\x00*#<>[]()-—–.")
    if head is not None and opens and head.group() in LEANING_HEADS | SEQUENCE_HEADS | _PRONOUNS:
        return True
    return not _LINKS.isdisjoint(TOKENS.findall(BOUND.sub("", document)))
