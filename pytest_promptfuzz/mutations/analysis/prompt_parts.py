"""The parts of a prompt that may stand elsewhere: the context it works on, its task, and what it says of the output.

A part is a sentence that introduces something (``You are given the following case:``) with all it introduces, a
section under a title, or a paragraph.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from pytest_promptfuzz.data.english_words import IMPERATIVES
from pytest_promptfuzz.mutations.analysis.answer_format import repeats_fields
from pytest_promptfuzz.mutations.analysis.draft import in_sections, tokens_of
from pytest_promptfuzz.mutations.analysis.instructions import titles
from pytest_promptfuzz.prompts.slots import Slots
from pytest_promptfuzz.text.expressions import expression, like, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_promptfuzz.mutations.analysis.draft import Draft, Line

PartRole: TypeAlias = Literal["context", "task", "output"]


class Part(NamedTuple):
    """A part of a prompt.

    Attributes:
        start: Where it begins.
        end: Where it ends.
        role: What it is.
        lead: Where the sentence ends that introduces the rest of it; its start where there is none.
        items: What stands side by side in it: documents, fields, list items; none where order may count.
    """

    start: int
    end: int
    role: PartRole
    lead: int
    items: tuple[tuple[int, int], ...]


_OUTPUT = expression(
    r"(?:^|[.!?:]\s+|\n)(?:please |then |finally )?"
    r"(?:output|return|respond|reply|format|provide|give|write|present|answer)\b"
    r"[^.\n]{0,60}\b(?:format|json|xml|yaml|html|markdown|plain text|structure|schema|table|bullet points?)\b"
    r"|\b(?:your|the) (?:final )?(?:answer|response|output|reply) (?:must|should|has to|needs to|is to)\b"
    r"|^(?:answer|respond|reply|return|output) (?:only|with|in)\b",
    re.IGNORECASE | re.ASCII,
)
_OUTPUT_TITLE = expression(
    r"\W*(?:expected |desired |required )?(?:output|response|answer|reply)"
    r" (?:format(?:ting)?|structure|instructions?|requirements?|style|rules?)\W*\Z|\W*format(?:ting)?\W*\Z",
    re.IGNORECASE | re.ASCII,
)
_INTRODUCES = expression(
    r"\b(?:following|below)\b|\A(?:here|this|these) (?:is|are)\b", re.IGNORECASE | re.ASCII
)
_TAG = expression(r"<(?P<name>[A-Za-z][\w-]*)(?:\s[^<>\n]*)?>", re.ASCII)
_SENTENCE_GAP = expression(r"(?<=[.!?])\s+")
_LOWEST = 7  # headings have six levels
_RULE = expression(r"[ \t]*([-*_=~#])(?:[ \t]*\1){2,}[ \t]*")
_MARKED = frozenset(["bullet", "number"])
_HELD = frozenset(["block", "field", "table"])


def parts_of(draft: Draft) -> tuple[tuple[Part, ...], ...]:
    """The parts of each message, or of a text; none where worked examples repeat their fields.

    A cue at the end (``Label:``), which waits for the answer, is no part. Ask for it with ``draft.once(parts_of)``.
    """
    if repeats_fields(draft):
        return ()
    return tuple(_Reader(draft, lines).parts() for lines in in_sections(draft.lines))


class _Reader:
    """Reads the lines of one section into parts."""

    def __init__(self, draft: Draft, lines: Sequence[Line]) -> None:
        self._draft = draft
        self._lines = [line for line in lines if line.kind != "blank"]
        while self._lines and self._lines[-1].kind in {"lead", "heading"}:
            self._lines.pop()  # what waits for the answer stays last
        self._titles = draft.once(titles)
        blank = {line.start for line in lines if line.kind == "blank"}
        self._opens = [
            not number or any(self._lines[number - 1].end < each < line.start for each in blank)
            for number, line in enumerate(self._lines)
        ]

    def parts(self) -> tuple[Part, ...]:
        found: list[Part] = []
        number = 0
        while number < len(self._lines):
            first = number
            if self._text(first).lstrip().startswith("</") or _RULE.fullmatch(self._text(first)):
                return ()  # it closes what was opened within another part, or parts sections in a way of its own
            number, lead, items = self._taken(number)
            start = self._lines[first].start + self._lines[first].indent
            lead_end = self._lines[lead].end if lead >= 0 else start
            found.append(
                Part(start, self._end(number - 1), self._role(first, number), lead_end, tuple(items))
            )
        return tuple(found)

    def _end(self, number: int) -> int:
        line = self._lines[number]
        return line.start + len(self._draft.text[line.start : line.end].rstrip())

    def _taken(self, first: int) -> tuple[int, int, list[tuple[int, int]]]:
        """Where the part ends that a line opens, the line that introduces the rest, and what stands side by side."""
        closing = self._closing(first)
        if closing is not None:
            return closing + 1, -1, []
        if self._is_title(first):
            return self._section(first), first, []
        if self._lines[first].kind in _HELD or self._labels(first):
            end, items = self._data(first)
            return end, -1, items
        if self._lines[first].kind in _MARKED:
            end, items = self._listed(first)
            return end, -1, items
        last = self._paragraph(first)
        if last + 1 == len(self._lines) or not self._introduces(last):
            return last + 1, -1, []
        following = last + 1
        closing = self._closing(following)
        if closing is not None:
            return closing + 1, last, []
        if self._lines[following].kind in _HELD or self._labels(following):
            end, items = self._data(following)
        elif self._lines[following].kind in _MARKED or self._is_titled_item(following):
            end, items = self._listed(following)
        elif self._lines[last].kind == "lead":
            end, items = self._paragraph(following) + 1, []
        else:
            return last + 1, -1, []
        return end, last, items

    def _closing(self, first: int) -> int | None:
        """The line that closes the tag that a line opens; ``None`` where it opens none, or no line closes it."""
        opened = self._tag(first)
        if opened is None:
            return None
        for number in range(first, len(self._lines)):
            if f"</{opened}>" in self._text(number):
                return number
        return None

    def _tag(self, number: int) -> str | None:
        match = _TAG.match(self._text(number).lstrip())
        return None if match is None else match["name"]

    def _text(self, number: int) -> str:
        line = self._lines[number]
        return self._draft.text[line.start : line.end]

    def _paragraph(self, first: int) -> int:
        """The last line of the paragraph that a line opens."""
        last = first
        while (
            self._lines[last].kind == "prose"
            and last + 1 < len(self._lines)
            and self._lines[last + 1].kind in {"prose", "lead"}
            and not self._opens[last + 1]
        ):
            last += 1
        return last

    def _data(self, first: int) -> tuple[int, list[tuple[int, int]]]:
        """Data from a line on: fields, blocks, and blocks under labels of their own."""
        items: list[tuple[int, int]] = []
        number = first
        while number < len(self._lines) and self._closing(number) is None:
            if self._labels(number):
                end = number + 2
            elif self._lines[number].kind in _HELD:
                end = number + 1
            else:
                break
            if items and self._opens[number] and self._lines[number].kind == "block":
                break  # a second block without a label is another matter
            if items and self._lines[number].kind in {"block", "table"}:
                items[-1] = (items[-1][0], self._end(end - 1))  # it goes on
                number = end
                continue
            items.append((self._lines[number].start + self._lines[number].indent, self._end(end - 1)))
            number = end
        return number, items

    def _labels(self, number: int) -> bool:
        """Whether a line is the label of the block under it: ``Doc 1:``, and no sentence."""
        line = self._lines[number]
        return (
            line.kind == "lead"
            and number + 1 < len(self._lines)
            and self._lines[number + 1].kind == "block"
            and len(self._draft.text[line.start : line.end].split()) < 4
        )

    def _listed(self, first: int) -> tuple[int, list[tuple[int, int]]]:
        """List items from a line on, each under a title of its own or none."""
        items: list[tuple[int, int]] = []
        number = first
        titled = self._is_titled_item(first)
        numbered = False
        while number < len(self._lines):
            end = number
            if titled:
                if not self._is_titled_item(number):
                    break
                end = number + 1
                while end < len(self._lines) and self._lines[end].kind in _MARKED:
                    end += 1
            elif self._lines[number].kind in _MARKED:
                end = number + 1
                while end < len(self._lines) and self._lines[end].indent > self._lines[first].indent:
                    end += 1
            else:
                break
            numbered = numbered or self._lines[number].kind == "number"
            items.append((self._lines[number].start + self._lines[number].indent, self._end(end - 1)))
            number = end
        return number, [] if numbered else items

    def _is_titled_item(self, number: int) -> bool:
        """Whether a line is the title of list items under it, and no sentence."""
        line = self._lines[number]
        text = self._draft.text[line.start : line.end].strip()
        return (
            line.kind in {"prose", "heading"}
            and number + 1 < len(self._lines)
            and self._lines[number + 1].kind in _MARKED
            and len(text.split()) < 6
            and text[-1:].isalpha()
        )

    def _is_title(self, number: int) -> bool:
        line = self._lines[number]
        return line.kind == "heading" or line.start in self._titles

    def _section(self, first: int) -> int:
        """Where the section ends that a title opens: before the next title; one on the output, before context too."""
        number = first + 1
        of_output = self._on_output(first)
        level = self._level(first)
        while number < len(self._lines) and not (self._is_title(number) and self._level(number) <= level):
            end = self._taken(number)[0] if of_output else number + 1
            if of_output and self._role(number, end) == "context":
                break
            number = end
        return number

    def _level(self, title: int) -> int:
        """How many ``#`` a title has; a title without any heads less than all others."""
        marks = len(self._text(title).lstrip()) - len(self._text(title).lstrip().lstrip("#"))
        return marks or _LOWEST

    def _on_output(self, title: int) -> bool:
        line = self._lines[title]
        return _OUTPUT_TITLE.match(self._draft.text[line.content : line.end]) is not None

    def _introduces(self, number: int) -> bool:
        """Whether the sentence that ends a line introduces what stands under it."""
        line = self._lines[number]
        if line.kind == "lead":
            return True
        text = self._draft.text[line.start : line.end].strip()
        return _INTRODUCES.search(_SENTENCE_GAP.split(text)[-1]) is not None

    def _role(self, first: int, end: int) -> PartRole:
        opening = self._lines[first]
        tag = self._tag(first)
        if tag is not None:
            if _OUTPUT_TITLE.match(tag.replace("_", " ").replace("-", " ")):
                return "output"
            held = any(self._lines[each].kind in _HELD for each in range(first + 1, end - 1))
            return "context" if held or Slots([self._text(first)]).names else "task"
        text = self._draft.text[opening.start : self._end(end - 1)]
        if self._is_title(first):
            if self._on_output(first):
                return "output"
        elif _OUTPUT.search(text.partition("\n\n")[0]):
            return "output"
        return "context" if any(self._lines[each].kind in _HELD for each in range(first, end)) else "task"


def goes_on(draft: Draft, parts: Sequence[Part]) -> bool:
    """Whether data that is text and no slot may go on in the paragraph after it, which instructs nobody."""
    for part, after in pairwise(parts):
        if part.role != "context" or after.role != "task" or draft.once(titles) & {after.start}:
            continue
        held = (line.partition(":")[2] or line for line in draft.free[part.lead : part.end].split("\n"))
        head = tokens_of(draft.free[after.start : after.end].lower())[:1]
        if any(tokens_of(each.lower()) for each in held) and not (
            head and (head[0] in IMPERATIVES or head[0] in _INSTRUCTS)
        ):
            return True
    return False


# Parts in another order, with the words that point from one to another.


class Pointer(NamedTuple):
    """A word that says where something stands.

    Attributes:
        start: Where it begins.
        end: Where it ends.
        part: The number of the part that it stands in.
        target: The number of the part that it means.
    """

    start: int
    end: int
    part: int
    target: int


_POINTER = expression(r"\b(?:above|below|following)\b", re.IGNORECASE | re.ASCII)
_INSTRUCTS = words("you your please do don never always if when unless only not make must rules")
_UNMAPPED = words("preceding previous next earlier later aforementioned")
_ANY_DATA = words(
    "context text information input content material data passage source code function program script snippet query"
)
_ANY_OWN = words("case example list point item")  # what a part may call something of its own
_NEAR = 5  # words after a pointer that may name what it means
_STOP = expression(r"[.,;:!?()\n\x00]")
_NOUN = expression(
    r" (?!(?:and|or|to|in|as|is|are|for|with|by|from|using|into|of|that|which)\b)[a-z]", re.ASCII
)


def pointers(draft: Draft, parts: Sequence[Part]) -> tuple[Pointer, ...] | None:
    """The words that point from one part to another; ``None`` where one of them may mean anything."""
    found: list[Pointer] = []
    for number, part in enumerate(parts):
        said = draft.free[part.start : part.end].lower()
        if not _UNMAPPED.isdisjoint(tokens_of(said)):
            return None
        for match in _POINTER.finditer(draft.free, part.start, part.end):
            target = _meant(draft, parts, number, match)
            if target is None:
                return None
            if target != number:
                found.append(Pointer(*match.span(), number, target))
    return tuple(found)


def _meant(draft: Draft, parts: Sequence[Part], number: int, match: re.Match[str]) -> int | None:
    """The part that a pointer means: its own, one that has the noun beside it, or the nearest context."""
    part = parts[number]
    upward = match[0].lower() == "above"
    if not upward and match.end() <= part.lead:
        return number  # it introduces the rest of its own part
    nouns = _nouns(draft, part, match)
    others: Sequence[int] = range(number - 1, -1, -1) if upward else range(number + 1, len(parts))
    contexts = [other for other in others if parts[other].role == "context"]
    for other in (*contexts, *others):
        if not nouns.isdisjoint(_stems(draft.free[parts[other].start : parts[other].end])):
            return other
    if contexts and not nouns.isdisjoint(_ANY_DATA):
        return contexts[0]
    own = draft.free[part.start : match.start()] if upward else draft.free[match.end() : part.end]
    return number if not nouns.isdisjoint(_stems(own) | _ANY_OWN) else None


def _nouns(draft: Draft, part: Part, match: re.Match[str]) -> frozenset[str]:
    """The words beside a pointer that may name what it means: after ``the above``, else before it."""
    after = _STOP.split(draft.free[match.end() : part.end], maxsplit=1)[0]
    near = tokens_of(after.lower())[:_NEAR]
    if not near or not _attributive(draft.free, match.end()):
        before = _STOP.split(draft.free[part.start : match.start()])[-1]
        near = tokens_of(before.lower())[-2:]
    return frozenset(_stem(each) for each in near if len(each) > 3)


def _attributive(text: str, end: int) -> bool:
    """Whether a pointer stands before its noun (``the above case``), not after it (``the case above``)."""
    return _NOUN.match(text, end) is not None


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(_stem, tokens_of(text.lower())))


def _stem(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word.removesuffix("s")


def turned(draft: Draft, pointers: Sequence[Pointer], order: Sequence[int]) -> Iterator[tuple[int, int, str]]:
    """What pointers become when the parts stand in an order: ``(start, end, word)`` of those that must change."""
    place = {number: index for index, number in enumerate(order)}
    for each in pointers:
        if (each.target < each.part) == (place[each.target] < place[each.part]):
            continue
        word = draft.free[each.start : each.end]
        down = "following" if _attributive(draft.free, each.end) else "below"
        yield each.start, each.end, like(word, down if word.lower() == "above" else "above")
