"""Which lines of a prompt instruct, and which may be the data that is to be worked on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.lexicon.grammar import IMPERATIVES
from pytest_promptfuzz.mutations.lexicon.table import words
from pytest_promptfuzz.mutations.said import TOKENS

if TYPE_CHECKING:
    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.layout import Line, LineIndex

# What a heading is called whose text instructs; under any other there may be data.
_INSTRUCTING = words(
    """
    task tasks rule rules instruction instructions role output format formatting style guideline guidelines requirement
    requirements constraint constraints goal goals objective objectives answer answers answering response responses
    reply replies tone language you your how do don must may policy limits important
    """
)
_MARKED_TITLE = expression(r"(?:\*\*|__)[^*_.!?\n]{1,60}(?:\*\*|__)|={2,}[^=.!?\n]{1,60}={2,}")
_TAG = expression(r"<(/?)([A-Za-z][\w-]*)(?:\s[^<>\n]*)?>", re.ASCII)


def titles(draft: Draft) -> frozenset[int]:
    """The starts of the lines of prose that head what is under them: ``**Letter**``, ``=== Letter ===``, ``LETTER``.

    A title without a mark stands between blank lines, in three words at most, a capital first and no stop at the end.
    """
    lines = draft.lines
    found: set[int] = set()
    for number, line in enumerate(lines):
        if line.kind not in {"prose", "block"} or line.end - line.start > 70:
            continue
        text = draft.text[line.start : line.end].strip()
        if _MARKED_TITLE.fullmatch(text):
            found.add(line.start)
        elif (
            line.kind == "prose"
            and text[0].isupper()
            and text[-1].isalpha()
            and len(text.split()) < 4
            and (not number or lines[number - 1].kind == "blank")
            and number + 1 < len(lines)
            and lines[number + 1].kind == "blank"
        ):
            head = TOKENS.match(text.lower())
            if head is not None and head.group() not in IMPERATIVES:
                found.add(line.start)
    return frozenset(found)


def heading_above(draft: Draft, index: LineIndex, number: int) -> Line | None:
    """The heading or title right above a line of a section, blank lines aside."""
    line = index.before(number)
    titled = draft.once(titles)
    return line if line is not None and (line.kind == "heading" or line.start in titled) else None


def instruction_lines(draft: Draft, index: LineIndex, leads: set[int]) -> set[int]:
    """The starts of the lines that cannot be data: none in tags, none after or under what introduces literal text.

    Args:
        draft: The prompt.
        index: The lines of one section.
        leads: Where the sentences begin that ask for a form of the answer; such a lead introduces no data.
    """
    lines = index.lines
    safe: set[int] = set()
    tagged = [
        (match.start(), match[1], match[2].lower())
        for match in _TAG.finditer(draft.text, lines[0].start, lines[-1].end)
        if draft.free[match.start()] == "\x00"
    ]
    closed = {name for _, slash, name in tagged if slash}
    depth: list[str] = []
    data = False
    seen = 0
    titled = draft.once(titles)
    for number, line in enumerate(lines):
        while seen < len(tagged) and tagged[seen][0] < line.end:
            _, slash, name = tagged[seen]
            seen += 1
            if name in closed:
                if slash and name in depth:
                    depth.remove(name)
                elif not slash:
                    depth.append(name)
        if line.kind == "heading" or line.start in titled:
            title = TOKENS.findall(draft.free[line.content : line.end].lower())
            data = _INSTRUCTING.isdisjoint(title)
        elif line.kind == "field":
            rest = draft.free[line.content : line.end].partition(":")[2]
            data = data or any(map(str.isalpha, rest))
        elif line.kind == "lead" and line.content not in leads:
            following = index.after(number)
            data = data or (following is not None and following.kind in {"prose", "field", "lead", "heading"})
        if not data and not depth:
            safe.add(line.start)
    return safe
