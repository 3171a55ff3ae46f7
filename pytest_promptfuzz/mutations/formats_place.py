"""Where a sentence may be added to the instructions of a prompt, and never to the text they speak of."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.edits import Edit, insert
from pytest_promptfuzz.mutations.lexicon.table import words
from pytest_promptfuzz.mutations.operators.tone import instructions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.layout import Line


class Place(NamedTuple):
    """Where instructions end.

    Attributes:
        at: The offset after their last character.
        joint: What parts the last instruction from what is added: a space, or a blank line.
    """

    at: int
    joint: str

    def added(self, sentence: str) -> Edit:
        """The edit that adds a sentence."""
        return insert(self.at, self.joint + sentence)


_WORDS = expression(r"[^\W\d_]+")
_TOLD = words(
    "note important rule rules format task instruction instructions role goal tone style remember hint tip requirements"
    " constraints guidelines language length aufgabe wichtig tâche importante tarea taak compito nota hinweis"
)
_ENDS = (".", "!", "?", "。", "！", "？", ".)", '."', ".”")
_DATA_HEADING = expression(
    r"(?:text|input|article|document|documents|context|question|review|message|email|ticket|data|example|examples|source"
    r"|conversation|transcript|content)\b",
    re.IGNORECASE,
)
# "Courriel : {courriel}", which is no field to the layout since a space parts the colon.
_SLOT_FIELD = expression(r"[^\W\d_][^:：.,\x00\n]{0,30}[:：]\s*\x00\W*\Z")
_GOES_ON = expression(
    r"[-*•#\d.) \t]*(?:do not|don['’]t|never|always|then|also|finally|otherwise|lastly|include|rules|make sure)\b",
    re.IGNORECASE | re.ASCII,
)
# A line that ends so goes on in the next one, whatever that holds: "The rule is", "it holds that".
_UNENDED = expression(
    r"\b(?:that|is|are|was|be|equals?|as|where|with|of|and|or|but|the|an?|to|for|by|in|from|than|which|if|when|because"
    r"|est|sont|que|qui|de|et|ist|sind|dass|und|oder|es|son|y|è|sono|che|e|dat|zijn|en|é|são)\Z"
)
_SAYS_WHAT = expression(
    r"\b(?:must|should|you are|you will|your task|your job|needs? to|is to)\b", re.IGNORECASE | re.ASCII
)


def words_of(draft: Draft) -> frozenset[str]:
    """The distinct words of the text in lower case, protected or not; use with ``draft.once``."""
    return frozenset(_WORDS.findall(draft.text.lower()))


def instructions_end(draft: Draft) -> Place | None:
    """Where a sentence can be added after the instructions; ``None`` where it cannot be told where they end.

    The first message or text that has instructions is taken. They end before the first line that holds what they
    speak of (a slot on its own, ``Text: ...``, a tag), or before the first paragraph that instructs no one.
    """
    sections: dict[int, list[Line]] = {}
    for line in draft.lines:
        sections.setdefault(line.section, []).append(line)
    for lines in sections.values():
        place = _end_in(draft, lines)
        if place is not None:
            return place
    return None


def beginning(draft: Draft) -> tuple[int, str]:
    """Where a sentence can be put before the prompt, and what parts the two."""
    line = next((each for each in draft.lines if each.kind != "blank"), None)
    if line is None:
        return 0, "\n\n"
    return line.start + line.indent, " " if line.kind == "prose" and not line.indent else "\n\n"


def repeats_fields(draft: Draft) -> bool:
    """Whether a field such as ``Text:``, or an arrow, stands there more than once, as among examples."""
    arrows = sum(
        "=>" in draft.text[line.start : line.end] or "->" in draft.text[line.start : line.end]
        for line in draft.lines
    )
    if arrows > 1:
        return True
    names = Counter(
        draft.text[line.content : line.end].partition(":")[0].strip("* ").lower()
        for line in draft.lines
        if line.kind in {"field", "lead"}
    )
    return any(count > 1 for count in names.values())


def _openings(draft: Draft) -> list[int]:
    """Where the sentences that instruct begin, ascending; none where they are not known."""
    return [each.sentence.start for each in draft.once(instructions)] if draft.language == "en" else []


def _end_in(draft: Draft, lines: list[Line]) -> Place | None:
    openings = draft.once(_openings)
    last: Line | None = None
    instructs = False
    for chunk in _chunks(lines):
        told = _told(draft, chunk)
        if told:
            start, end = told[0].start, told[-1].end
            text = draft.text[start:end]
            first = bisect_left(openings, start)
            opens = first < len(openings) and openings[first] < end if openings else True
            body = next((line.start for line in told if line.kind != "heading"), end)
            listed = told[0].kind == "lead" and len(told) > 1
            if opens or (
                instructs and (listed or _GOES_ON.match(draft.text, body) or _SAYS_WHAT.search(text))
            ):
                last, instructs = told[-1], True
            elif instructs:
                break
        if instructs and len(told) < len(chunk):
            break
    if last is None or (not openings and not _sure(draft, lines, last)):
        return None
    content = draft.text[last.start : last.end].rstrip()
    end = last.start + len(content)
    before = bisect_left(draft.spans, (end,)) - 1  # the last protected span that begins before the place
    if before >= 0 and end < draft.spans[before][1]:
        return None
    joins = last.kind == "prose" and content.endswith(_ENDS) and draft.is_free(end - 1, end)
    if (
        last.kind == "prose"
        and not joins
        and (content.endswith((":", ",", ";", "：")) or _UNENDED.search(content))
    ):
        return None
    return Place(end, " " if joins else "\n\n")


def _chunks(lines: list[Line]) -> Iterator[list[Line]]:
    """Runs of lines between blank ones; a heading belongs to what it heads."""
    chunk: list[Line] = []
    for line in lines:
        if line.kind != "blank":
            chunk.append(line)
        elif chunk and chunk[-1].kind not in {"heading", "lead"}:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _told(draft: Draft, chunk: list[Line]) -> list[Line]:
    """The lines of a chunk up to the first that holds data; none where it is data from the start."""
    told: list[Line] = []
    for index, line in enumerate(chunk):
        if line.kind == "heading" and _DATA_HEADING.match(draft.text, line.content):
            break
        if line.kind in {"block", "table"}:
            break
        if _is_field(draft, line):
            label = draft.text[line.content : line.end].partition(":")[0].strip("* ").lower()
            if _TOLD.isdisjoint(label.split()):
                break
        if line.kind == "lead" and (
            index + 1 == len(chunk) or chunk[index + 1].kind not in {"bullet", "number"}
        ):
            break
        told.append(line)
    while told and told[-1].kind in {"heading", "lead"}:
        told.pop()
    return told


def _is_field(draft: Draft, line: Line) -> bool:
    """Whether a line is a field, such as ``Text: ...`` or ``Texte : {texte}``."""
    return line.kind == "field" or (
        line.kind == "prose" and _SLOT_FIELD.match(draft.free[line.content : line.end]) is not None
    )


def _sure(draft: Draft, lines: list[Line], last: Line) -> bool:
    """Whether instructions that no imperative tells are still known to end here: data follows, or nothing does."""
    rest = [line for line in lines if line.start > last.start and line.kind != "blank"]
    return not rest or rest[0].kind in {"block", "lead", "heading", "table"} or _is_field(draft, rest[0])
