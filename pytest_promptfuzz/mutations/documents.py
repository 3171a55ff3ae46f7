"""Documents that stand side by side in a prompt: ``Document 1: …``, ``[1] …``, ``<doc>…</doc>``, ``Context A``.

They may change places where each has a label that moves with it, or where nothing cites them by number; and where
neither the prompt nor a document speaks of their order.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.lexicon.table import words
from pytest_promptfuzz.mutations.order import LEANING_HEADS, SEQUENCE_HEADS
from pytest_promptfuzz.mutations.said import BOUND, TOKENS
from pytest_promptfuzz.mutations.sequence import tells_order

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.layout import Line

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
