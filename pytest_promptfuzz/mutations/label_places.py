"""Where a prompt's labels stand: in the list they are chosen from, and wherever else a word means one."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.casing import lower
from pytest_promptfuzz.prompts.labels import label_occurrences
from pytest_promptfuzz.prompts.logic import logic_words

if TYPE_CHECKING:
    from pytest_promptfuzz.mutations.draft import Draft

OPEN = ("label", "quote", "number")
"""The kinds of protected text that may be labels."""

_AND = "(?:or|and|oder|und|ou|et|o|y|e|или|и)"
_JOINT = expression(rf"\s?(?:[,;/|、，]\s{{0,2}}(?:{_AND}\s)?|(?<=\s){_AND}\s)|または|或者?|和")
_NOTE = expression(r"\s?\([^()\n]{1,160}\)")
_PAIRS = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "„": "“", "`": "`", "*": "*", "「": "」"}
# "the category blue", "answer blue": what names a label outside of the list.
_NAMED = expression(
    r"\b(?:labels?|categor(?:y|ies)|class(?:es)?|options?|tags?|answer|reply|respond|return|choose|pick|select|write|say|use"
    r"|output)(?: is| as| with| only| just| the(?: (?:label|category|class|option|tag|word))?){0,3}:? \Z",
    re.IGNORECASE,
)


_NEAR = 80  # characters before a word that may name it


def label_places(text: str, names: tuple[str, ...] | list[str]) -> list[tuple[int, int]]:
    """Where labels stand, the longest of those that overlap."""
    found: list[tuple[int, int]] = []
    for start, end, _ in sorted(label_occurrences(text, names), key=lambda each: (each[0], -each[1])):
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found


def joined(draft: Draft, before: tuple[int, int], after: tuple[int, int]) -> bool:
    """Whether what stands between two labels makes them neighbours in a list; "of" does in Dutch only."""
    between = draft.text[before[1] : after[0]]
    return _JOINT.fullmatch(between) is not None or (between == " of " and draft.language == "nl")


def marked(text: str, start: int, end: int) -> tuple[int, int]:
    """A label with the quotes or asterisks around it."""
    while start and end < len(text) and _PAIRS.get(text[start - 1]) == text[end]:
        start, end = start - 1, end + 1
    return start, end


def noted(text: str, start: int, end: int) -> tuple[int, int]:
    """A label with the note in parentheses behind it."""
    note = _NOTE.match(text, end)
    return start, note.end() if note else end


def is_open(draft: Draft, start: int, end: int) -> bool:
    """Whether ``[start, end)`` holds or cuts nothing protected but labels, and these whole."""
    index = bisect_right(draft.spans, (start, start))
    index -= index > 0 and draft.spans[index - 1][1] > start
    while index < len(draft.spans) and draft.spans[index][0] < end:
        first, last = draft.spans[index]
        if draft.kinds[index] not in OPEN or first < start or last > end:
            return False
        index += 1
    return True


def one_list(draft: Draft, names: tuple[str, ...], places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The places of the one list they stand in; none if they do not, or a logical word (``no``) stands elsewhere."""
    text = draft.text
    forms = [lower(text[start:end]) for start, end in places]
    if any(logic_words(name) and forms.count(lower(name)) > 1 for name in names):
        return []
    items = [noted(text, *marked(text, *place)) for place in places]
    heads = {line.content for line in draft.lines if line.content > line.start}
    run = [0]
    for number in range(1, len(places)):
        before, after = items[number - 1], items[number]
        if {before[0], after[0]} <= heads or joined(draft, before, after):
            run.append(number)
        elif {forms[each] for each in run} >= {*forms}:
            break
        else:
            run = [number]
    return [places[each] for each in run] if {forms[each] for each in run} >= {*forms} else []


def names_label(draft: Draft, place: tuple[int, int], forms: set[str], *, capitals: bool) -> bool:
    """Whether a label's word outside the list is the label: marked, in its capitals, or what a cue or field names."""
    text = draft.text
    start, end = place
    if capitals:
        return text[start:end] in forms
    if marked(text, start, end) != place:
        return True
    line_end = text.find("\n", end)
    alone = not text[end : line_end if line_end >= 0 else len(text)].strip(" .\r")
    before = text[max(text.rfind("\n", 0, start) + 1, start - _NEAR) : start]
    return _NAMED.search(before) is not None or (alone and before.rstrip().endswith((":", "->", "=>", "→")))
