"""What a prompt holds in prose that is no instruction: the names of fields, and data.

A field that the answer must have is called what the prompt calls it, so nothing may reword it.
``Extract the name, the quantity and the delivery date as JSON`` names three keys although none is quoted. Where a
sentence extracts things or speaks of a structured format, what it lists is taken for names: too many rather than too
few, for a name left alone costs one place to act, and a name replaced costs the answer.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.lexicon.sparing import own_words
from pytest_promptfuzz.mutations.lexicon.table import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_promptfuzz.mutations.draft import Draft

_STRUCTURED = expression(
    r"\b(?:JSON|YAML|XML|CSV|TSV|TOML|HTML|Markdown table|schema|dict(?:ionary)?|key[- ]value|keys?|fields?|columns?"
    r"|attributes?|properties|headers?|headings|entities|slots?|tuple|spreadsheet|rows?)\b",
    re.IGNORECASE | re.ASCII,
)
_TAKING = expression(
    r"\b(?:extract|capture|parse|pull out|scrape|populate|fill in|record)\b", re.IGNORECASE | re.ASCII
)
_ASKING = expression(
    r"\b(?:return|output|give|list|provide|identify|find|include|including|containing|contains?|with|report|produce"
    r"|collect|named|called|following|namely)\b",
    re.IGNORECASE | re.ASCII,
)
_LISTING = expression(
    r"\b(?:return|output|give|list|provide|identify|include|report|produce)\b", re.IGNORECASE | re.ASCII
)
_NAMING = expression(
    r"\b(?:keys?|fields?|columns?|attributes?|properties|headers?|headings|entities|slots?|elements?)\b",
    re.IGNORECASE | re.ASCII,
)
_STOP = expression(
    r"\b(?:from|as|into|using|when|if|where|that|which|who|so|then|but|because|unless|return|output|respond|answer|use"
    r"|write|do|give|put|convert|format)\b|[.;!?]",
    re.IGNORECASE | re.ASCII,
)
_TRIGGERS = words(
    """
    json yaml xml csv tsv toml html schema dict dictionary key keys field fields column columns attribute attributes
    property properties header headers headings entities slot slots tuple spreadsheet row rows extract capture parse
    pull scrape populate fill record table
    """
)
_TOLD = words(
    """
    task tasks instruction instructions goal goals role rule rules format output note notes requirement requirements
    constraint constraints objective objectives guideline guidelines style tone language steps step important persona
    audience answer reply do don't must should how what remember please
    """
)
_ITEM_NAME = expression(r"[A-Za-z][^:\n.;!?\x00]{0,60}(?=:|$| [-–—] )")


def field_spans(draft: Draft) -> tuple[tuple[int, int], ...]:
    """The spans ``(start, end)`` of a draft that name fields of the answer, ascending and apart.

    Ask for it with ``draft.once(field_spans)``; :func:`inside` tells whether a word lies in one.
    """
    text, free = draft.text, draft.free
    # A format may be protected itself: "Return JSON with a summary".
    if _TRIGGERS.isdisjoint(draft.once(own_words)) and _TRIGGERS.isdisjoint(
        [text[start:end].lower() for start, end in draft.spans]
    ):
        return ()
    found: list[tuple[int, int]] = []
    asked = False  # whether the sentence before announced a list of names
    structured_prompt = _STRUCTURED.search(text) is not None
    for sentence in draft.sentences:
        start, end = sentence.start, sentence.end
        if sentence.kind in {"bullet", "number"} and asked:
            name = _ITEM_NAME.match(free, start, end)
            found.append((start, name.end() if name else end))
            continue
        taking = _TAKING.search(free, start, end)
        structured = _STRUCTURED.search(text, start, end)
        asked = free[end - 1] in ":：" and (taking is not None or structured is not None or structured_prompt)
        if taking is not None:
            stop = _STOP.search(free, taking.end(), end)
            found.append((taking.end(), stop.start() if stop else end))
        naming = _NAMING.search(free, start, end)
        if naming is not None:
            found.append((naming.start(), end))
        elif structured_prompt and taking is None:
            asking = (_ASKING if structured else _LISTING).search(free, start, end)
            if asking is not None and asking.end() < end:
                found.append((asking.end(), end))
    return merged(found)


def merged(spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The same spans, ascending and apart; empty ones are left out."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        elif start < end:
            found.append((start, end))
    return tuple(found)


def inside(spans: Sequence[tuple[int, int]], position: int) -> bool:
    """Whether a position lies in one of some spans, which are ascending and apart."""
    index = bisect_right(spans, (position, sys.maxsize)) - 1
    return index >= 0 and position < spans[index][1]


def data_spans(draft: Draft) -> tuple[tuple[int, int], ...]:
    """The spans ``(start, end)`` of a draft that look like data, ascending: text that nobody is asked to follow.

    Data is a field whose name speaks of no instruction (``Review: It broke.``), what follows a short lead or heading of
    that kind up to the next one, and what stands between tags on lines of their own.
    """
    found: list[tuple[int, int]] = []
    data = tagged = False
    for line in draft.lines:
        start, end, kind = line.start, line.end, line.kind
        if kind == "blank":
            continue
        text = draft.free[line.content : end]
        if kind == "block":
            raw = draft.text[start + line.indent : end]
            tagged = (raw[:1] == "<" and raw[:2] != "</") or (tagged and raw[:1] != "<")
        elif kind == "field":
            data = False
            if not _speaks(text.partition(":")[0]):
                found.append((start, end))
        elif kind in {"lead", "heading"} and not tagged:
            data = not _speaks(text)
        elif data or tagged:
            found.append((start, end))
    return tuple(found)


def _speaks(label: str) -> bool:
    """Whether a label announces instructions: a long one, or one that says so."""
    said = label.replace("*", " ").replace("#", " ").replace(":", " ").lower().split()
    return len(said) > 3 or not _TOLD.isdisjoint(said)
