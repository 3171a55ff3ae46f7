"""The headings of a prompt, however they are written: ``## Task``, ``**Task**``, ``=== Task ===``, ``Task:``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.lexicon.grammar import IMPERATIVES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.layout import Line

STYLES = ("**", ":", "===")
"""Styles without levels; that of ``#`` has levels."""


class Heading(NamedTuple):
    """A heading on a line of its own.

    Attributes:
        start: Where its marks begin.
        title: Where its title begins.
        title_end: Where its title ends.
        end: Where its closing marks end.
        body_end: Where the last line ends that stands under it.
        style: ``#`` or one of :data:`STYLES`.
        level: Number of ``#``; 1 in the other styles.
        closing: Whether the title ends in punctuation.
        plain: Whether the title holds nothing that is protected.
    """

    start: int
    title: int
    title_end: int
    end: int
    body_end: int
    style: str
    level: int
    closing: bool
    plain: bool


_MARKED = expression(
    r"(?:(?P<hash>\#{1,6})[ \t]+(?P<a>[^\s#](?:[^\n]*[^\s#])?)(?P<tail>[ \t]+\#+)?"
    r"|\*\*(?P<b>[^\s*:][^\n*:]{0,60}?)(?::\*\*|\*\*:?)"
    r"|={2,5} ?(?P<c>[^\s=][^\n=]{0,60}?) ?={2,5}"
    r"|(?P<d>[A-Za-z][\w'’ /&-]{2,40}):)[ \t]*$",
    re.ASCII,
)
_STYLE_WORDS = expression(
    r"\b(?:headings?|headers?|headlines?|subheadings?|titles?|titled|markdown|bold(?:face)?|sections|outline)\b"
    r"|\b(?:this|following|exact|same|below|above|fixed|given) (?:format|structure|template|layout|form)\b"
    r"|\btemplates?\b|\bfill (?:in|out)\b",
    re.IGNORECASE,
)


def speaks_of_style(draft: Draft) -> bool:
    """Whether a prompt speaks of headings, sections or a form to be kept, so that their style may matter."""
    marks = {(each.start, each.end) for each in draft.once(headings)}
    return any(
        not any(start <= match.start() < end for start, end in marks)
        for match in _STYLE_WORDS.finditer(draft.free)
    )


def headings(draft: Draft) -> tuple[Heading, ...]:
    """The headings of a prompt, in order, all of one style.

    Empty if one of them has nothing under it: it is part of a form to be filled in, or a cue for the answer.
    """
    if _fence_left_open(draft):
        return ()  # headings in it would keep their style
    found: dict[str, list[tuple[int, re.Match[str]]]] = {}
    lines = draft.lines
    for number, line in enumerate(lines):
        if line.kind in {"heading", "prose", "lead"}:
            match = _MARKED.match(draft.free, line.start + line.indent, line.end)
            if match is not None:
                style = {"a": "#", "b": "**", "c": "===", "d": ":"}[_title(match)]
                found.setdefault(style, []).append((number, match))
    for style in ("#", "===", "**", ":"):
        if style in found:
            made = _headings(draft, lines, found[style], style)
            return tuple(made) if _sound(draft, lines, made, style) else ()
    return ()


def _fence_left_open(draft: Draft) -> bool:
    """Whether a code fence that nothing closes protects the rest of the prompt."""
    start, end = draft.spans[-1] if draft.spans else (0, 0)
    return (
        end == len(draft.text)
        and draft.text.startswith("```", start)
        and not draft.text.endswith("```", start + 3)
    )


def _title(match: re.Match[str]) -> str:
    return next(name for name in ("a", "b", "c", "d") if match[name] is not None)


def _headings(
    draft: Draft, lines: Sequence[Line], found: Sequence[tuple[int, re.Match[str]]], style: str
) -> list[Heading]:
    made: list[Heading] = []
    numbers = [number for number, _ in found]
    for (number, match), following in zip(found, [*numbers[1:], len(lines)], strict=True):
        line = lines[number]
        body = [
            each
            for each in lines[number + 1 : following]
            if each.kind != "blank" and each.section == line.section
        ]
        first, last = match.span(_title(match))
        made.append(
            Heading(
                line.start + line.indent,
                first,
                last,
                line.start + len(draft.text[line.start : line.end].rstrip()),
                body[-1].start + len(draft.text[body[-1].start : body[-1].end].rstrip()) if body else -1,
                style,
                len(match["hash"]) if match["hash"] else 1,
                closing=draft.text[last - 1] in ".!?:;,",
                plain="\x00" not in draft.free[first:last],
            )
        )
    return made


def _sound(draft: Draft, lines: Sequence[Line], made: list[Heading], style: str) -> bool:
    """Whether these are headings of a prompt's sections, each with something under it."""
    for each, following in zip(made, [*made[1:], None], strict=True):
        deeper = following is not None and following.level > each.level
        if each.body_end < 0 and not deeper:
            return False
    if style != ":":
        return True
    titles = [draft.text[each.title : each.title_end] for each in made]
    return len({title.lower() for title in titles}) == len(titles) and all(
        _names(lines, each, title) for each, title in zip(made, titles, strict=True)
    )


def _names(lines: Sequence[Line], heading: Heading, title: str) -> bool:
    """Whether ``Title:`` alone on its line is a section's name, rather than an instruction or the head of a field."""
    words = title.lower().split()
    if len(words) > 3 or not title[0].isupper() or words[0] in IMPERATIVES or not heading.plain:
        return False
    number = next(index for index, line in enumerate(lines) if line.start <= heading.start <= line.end)
    above = lines[number - 1] if number else None
    if above is not None and above.kind != "blank" and above.section == lines[number].section:
        return False
    # A name goes for one paragraph, a heading for all up to the next one.
    under = [line.kind == "blank" for line in lines[number + 1 :] if line.start < heading.body_end]
    return not any(under[under.index(False) :])


_RULE = expression(r"[ \t]*(?:-{3,}|\*{3,}|_{3,}|={3,})[ \t]*\r?")
_SLOTS = expression(r"[\W\x00]*\x00[\W\x00]*")
_DATA = frozenset({"block", "table", "bullet", "number", "field"})
_HOLDS_DATA = expression(
    r"(?:the |your |input |source )*(?:text|input|article|documents?|context|question|review|message|e-?mail|ticket"
    r"|data|source|conversation|transcript|content|letter|notes)\b",
    re.IGNORECASE,
)
_OPENING = expression(r"\W*(?:please |kindly |do not |don['’]t |never )*(?P<verb>[A-Za-z]+)\b", re.IGNORECASE)


def section_end(draft: Draft, heading: Heading) -> int | None:
    """Where that ends which a heading names: before a rule, and before what is told after its data or its list.

    Returns:
        The offset behind its last character; ``None`` where it cannot be told.
    """
    paragraphs: list[list[Line]] = [[]]
    for line in draft.lines:
        if not heading.end < line.start < heading.body_end:
            continue
        if line.kind == "blank":
            paragraphs.append([])
        elif _RULE.fullmatch(draft.free, line.start, line.end):
            break
        else:
            paragraphs[-1].append(line)
    paragraphs = [each for each in paragraphs if each]
    title = draft.text[heading.title : heading.title_end].lower()
    data = next((n for n, each in enumerate(paragraphs) if not _is_data(draft, each)), len(paragraphs))
    if title.startswith("example") and (
        data < len(paragraphs) or "\x00" in draft.free[heading.end : heading.body_end]
    ):
        return None  # the last of the examples may be the question itself
    if not paragraphs or (
        not data and _HOLDS_DATA.match(title) and any(_instructs(draft, each[0]) for each in paragraphs[1:])
    ):
        return None
    last = paragraphs[(data or len(paragraphs)) - 1][-1]
    return last.start + len(draft.text[last.start : last.end].rstrip())


def _is_data(draft: Draft, lines: Sequence[Line]) -> bool:
    """Whether a paragraph is a list, a table, fields or nothing but slots."""
    return all(each.kind in _DATA or _SLOTS.fullmatch(draft.free, each.start, each.end) for each in lines)


def _instructs(draft: Draft, line: Line) -> bool:
    """Whether a line begins with an instruction."""
    match = _OPENING.match(draft.free, line.content, line.end)
    return match is not None and match["verb"].lower() in IMPERATIVES
