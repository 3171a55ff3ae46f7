"""Tasks that end in the text they are about: ``Classify the following review: {review}``."""

from __future__ import annotations

import re
from bisect import bisect_right
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.edits import Edit, Ref, replace
from pytest_promptfuzz.mutations.layout import in_sections
from pytest_promptfuzz.mutations.lexicon.grammar import IMPERATIVES
from pytest_promptfuzz.mutations.order import places

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.layout import Line


class _Task(NamedTuple):
    start: int
    colon: int
    data: tuple[int, int]
    end: int


_INLINE = expression(r"[^\n:]*[^\s:]: ?(?P<data>\x00+)\.?[ \t]*$")
_OPENERS = ("{", "$", "<", "%", '"', "“", "«", "'", "`", "‘", "[[", "~~~")
_TEXT = (
    r"texts?|reviews?|tweets?|articles?|passages?|paragraphs?|sentences?|messages?|e-?mails?|letters?|tickets?|comments?"
    r"|documents?|quer(?:y|ies)|questions?|statements?|posts?|stor(?:y|ies)|inputs?|content|context|transcript|complaint"
    r"|conversation|dialogue|dialog|report|notes|essay|poem|headline|feedback|abstract|product|code|function|snippet"
)
_POINTS_AT = expression(
    rf"\b(?:(?:the (?P<down>following)|this|these) (?:[a-z]+ ){{0,2}}?(?:{_TEXT})\b"
    rf"|the (?:[a-z]+ ){{0,2}}?(?:{_TEXT}) (?P<below>below)\b|the (?:[a-z]+ ){{0,2}}?(?:{_TEXT})$)",
    re.IGNORECASE,
)
_LISTS = expression(
    r"\b(?:categor\w+|labels?|options?|classes|list|keywords|topics|formats?|tags|following|schema)\b"
)


def text_pulled(draft: Draft) -> Iterator[list[Edit]]:
    """The text that a task ends in, put before everything else in its section; the task then ends in a full stop."""
    for lines in in_sections(line for line in draft.lines if line.kind != "blank"):
        tasks = [task for number in range(len(lines)) for task in _task(draft, lines, number)]
        if len(tasks) == 1 and _alone(lines, tasks[0]):
            edits = _pulled(draft, lines, tasks[0])
            if edits:
                yield edits


def _task(draft: Draft, lines: Sequence[Line], number: int) -> Iterator[_Task]:
    """The task that a line ends in with its text, on the same line or on those after it."""
    line = lines[number]
    text = draft.free[line.start : line.end].rstrip()
    if line.kind in {"prose", "field"}:
        match = _INLINE.match(text)
        if match is None:
            return
        colon = line.start + text.rindex(":")
        data = (line.start + match.start("data"), line.start + match.end("data"))
        end = line.start + len(text)
    elif line.kind == "lead" and text.endswith(":"):
        colon = line.start + len(text) - 1
        stop = number + 1
        while stop < len(lines) and lines[stop].kind == "block":
            stop += 1
        if stop == number + 1:
            return
        data = (lines[number + 1].start + lines[number + 1].indent, lines[stop - 1].end)
        end = data[1]
    else:
        return
    if not draft.text.startswith(_OPENERS, data[0]):
        return  # labels or numbers, which are no text
    place = bisect_right(draft.sentences, colon, key=itemgetter(0)) - 1
    sentence = draft.sentences[place] if place >= 0 else None
    if sentence is not None and colon < sentence.end and _opens(draft, sentence.start, colon):
        yield _Task(sentence.start, colon, data, end)


def _opens(draft: Draft, start: int, colon: int) -> bool:
    """Whether ``[start, colon)`` is an instruction."""
    words = re.findall("[a-z]+", draft.free[start:colon].lower())[:2]
    return bool(words) and (words[0] in IMPERATIVES or (words[0] == "please" and words[-1] in IMPERATIVES))


def _alone(lines: Sequence[Line], task: _Task) -> bool:
    """Whether a section holds no other data: what pairs with what would be unsure."""
    return all(
        task.start <= line.end and line.start < task.end
        for line in lines
        if line.kind in {"block", "field", "table"}
    )


def _pulled(draft: Draft, lines: Sequence[Line], task: _Task) -> list[Edit]:
    start, colon, data, end = task
    said = draft.free[start:colon].lower()
    match = _POINTS_AT.search(said)
    if match is None or _LISTS.search(said, match.end()):
        return []
    swap = next((match.span(name) for name in ("down", "below") if match[name]), None)
    rest = said if swap is None else said[: swap[0]] + said[swap[1] :]
    first = lines[0].start + lines[0].indent
    if any(map(places, (rest, draft.free[first:start].lower(), draft.free[end : lines[-1].end].lower()))):
        return []
    gap = "\r\n\r\n" if "\r\n" in draft.text else "\n\n"
    edits = [Edit(first, first, (Ref(*data), gap))]
    if swap is not None:
        edits.append(replace(start + swap[0], start + swap[1], "above"))
    edits.append(replace(colon, end, "."))
    return edits
