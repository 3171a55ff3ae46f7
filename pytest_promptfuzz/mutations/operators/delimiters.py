"""Operators on headings, rules and tags, which set the parts of a prompt apart."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.data.english_words import IMPERATIVES
from pytest_promptfuzz.mutations.engine.edits import Edit, insert, replace
from pytest_promptfuzz.mutations.engine.operator import operator
from pytest_promptfuzz.prompts.spans import logic_spans
from pytest_promptfuzz.text.expressions import capitalised, expression, lower

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_promptfuzz.mutations.analysis.draft import Draft, Line
    from pytest_promptfuzz.randomness import Rng


# The headings of a prompt, however they are written: ``## Task``, ``**Task**``, ``=== Task ===``, ``Task:``.


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


_HEADING_RULE = expression(r"[ \t]*(?:-{3,}|\*{3,}|_{3,}|={3,})[ \t]*\r?")
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
        elif _HEADING_RULE.fullmatch(draft.free, line.start, line.end):
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


@operator(
    "heading-restyle",
    dimension="structural",
    severity=0.3,
    preserves="conditional",
    languages=("en",),
    sources=("S2",),
    example=(
        "## Task\nSum up the letter.\n\n## Letter\n{letter}",
        "**Task**\nSum up the letter.\n\n**Letter**\n{letter}",
    ),
    trusted=True,
    cue=lambda draft: bool(draft.once(headings)),
)
def heading_restyle(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """All headings in another style (``## Task``, ``**Task**``, ``Task:``); not where a prompt speaks of headings."""
    found = draft.once(headings)
    if not found or speaks_of_style(draft):
        return
    if found[0].style == "#":
        levels = sorted({each.level for each in found})
        shifts = [by for by in (1, 2, -1) if levels[0] + by >= 1 and levels[-1] + by <= 4]
        others = [*(f"#{by}" for by in shifts), *(STYLES if len(levels) == 1 else ())]
    else:
        others = ["#2", "#3", *(style for style in STYLES if style != found[0].style)]
    if any(each.closing or not each.plain for each in found):
        others = [style for style in others if style != ":"]  # "What is it?:" is no heading
    for style in rng.shuffled(others):
        yield [edit for each in found for edit in _restyled(each, style)]


def _restyled(heading: Heading, style: str) -> Iterator[Edit]:
    """The marks around a heading's title exchanged; the title stays."""
    if style[0] == "#":
        level = heading.level + int(style[1:]) if heading.style == "#" else int(style[1:])
        before, after = "#" * level + " ", ""
    else:
        before, after = {"**": ("**", "**"), ":": ("", ":"), "===": ("=== ", " ===")}[style]
    (start, first), (last, end) = (heading.start, heading.title), (heading.title_end, heading.end)
    if first > start or before:
        yield replace(start, first, before)
    if end > last or after:
        yield replace(last, end, after)


_RULE = expression(r"^[ \t]{0,3}(?P<rule>-{3,40}|\*{3,40}|_{3,40}|={3,40}|\#{3,40})[ \t]*\r?$", re.MULTILINE)
_RULES = "-*=#_"
_SEPARATORS = expression(
    r"\b(?:delimit\w*|separat\w*|dash(?:es|ed)?|hash(?:es|tags?)?|asterisks?|equals signs?|hyphens?|underscores?"
    r"|divid(?:er|ers|ing)|horizontal|rules? line|between (?:the |these |both |two ){0,2}(?:rules|lines|bars)"
    r"|(?:above|below|under|after|before|beneath) the (?:rule|line|bar)|marked (?:by|with)|markdown)\b",
    re.IGNORECASE,
)


_RULE_AHEAD = expression(r"[-*_=#](?:--|\*\*|__|==|##)")  # a class comes first, for the quick search


@operator(
    "rule-restyle",
    version=2,
    dimension="structural",
    severity=0.2,
    preserves="conditional",
    languages=("en",),
    sources=("S2", "S4"),
    example=("Sum up the letter.\n\n---\n\n{letter}", "Sum up the letter.\n\n***\n\n{letter}"),
    trusted=True,
    cue=lambda draft: _RULE_AHEAD.search(draft.free) is not None,
)
def rule_restyle(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """All rules between parts (``---``) in another style (``***``, ``===``, ``###``); not where they are spoken of."""
    found = [match.span("rule") for match in _RULE.finditer(draft.free)]
    if not found or _SEPARATORS.search(draft.free):
        return
    text = draft.text
    used = {text[start] for start, _ in found}
    marks = {text[start : start + 3] for start, _ in found}
    places = set(found)
    lines = draft.lines
    for number, line in enumerate(lines):
        here = (line.start + line.indent, line.start + len(text[line.start : line.end].rstrip()))
        if here not in places:
            if any(mark in text[line.start : line.end] for mark in marks) and line.kind not in {
                "table",
                "heading",
            }:
                return  # the same signs in a line of words: a rule is spoken of, or the signs mean something else
            continue
        before = lines[number - 1] if number else None
        if before is None or before.section != line.section or _underlined(draft, before):
            return  # front matter begins with a rule; a rule under a title is a heading
    for mark in rng.shuffled([each for each in _RULES if each not in used]):
        yield [replace(start, end, mark * 3) for start, end in found]


def _underlined(draft: Draft, line: Line) -> bool:
    """Whether a rule under this line makes a title of it."""
    text = draft.text[line.start : line.end].rstrip()
    return line.kind == "prose" and not text.endswith((".", "!", "?", ":"))


@operator(
    "headings-to-tags",
    version=2,
    dimension="structural",
    severity=0.4,
    preserves="conditional",
    languages=("en",),
    sources=("S2",),
    example=(
        "## Task\nSum up the letter.\n\n## Letter\n{letter}",
        "<task>\nSum up the letter.\n</task>\n\n<letter>\n{letter}\n</letter>",
    ),
    trusted=True,
    default=False,
)
def headings_to_tags(draft: Draft, _rng: Rng) -> Iterator[list[Edit]]:
    """Sections under headings of one level put in tags named like them, where it is clear how far each reaches."""
    found = draft.once(headings)
    names = [_tag_name(draft, each) for each in found]
    if (
        not found
        or found[0].style == ":"
        or len({each.level for each in found}) > 1
        or len(set(names)) < len(names)
        or not all(names)
        or any(f"<{name}" in draft.text or f"</{name}" in draft.text for name in names)
        or speaks_of_style(draft)
    ):
        return
    line = "\r\n" if "\r\n" in draft.text else "\n"
    edits: list[Edit] = []
    for each, name in zip(found, names, strict=True):
        end = section_end(draft, each)
        if end is None:
            return
        edits.append(replace(each.start, each.end, f"<{name}>"))
        edits.append(insert(end, f"{line}</{name}>"))
    yield edits


def _tag_name(draft: Draft, heading: Heading) -> str:
    """What a section's tag is called; empty if the title is more than a name."""
    title = draft.text[heading.title : heading.title_end]
    words = title.split()
    plain = heading.plain and len(words) <= 2 and all(word.isascii() and word.isalpha() for word in words)
    return lower("_".join(words)) if plain and not logic_spans(title) else ""


_OPEN = expression(r"<([A-Za-z][A-Za-z_-]{1,30})>")
_TAG_WORDS = expression(r"\b(?:tags?|tagged|xml|html|elements?|markup|headings?|headers?)\b", re.IGNORECASE)


@operator(
    "tags-to-headings",
    dimension="structural",
    severity=0.4,
    preserves="conditional",
    touches=("tag",),
    languages=("en",),
    sources=("S2",),
    example=(
        "<task>\nSum up the letter.\n</task>\n\n<letter>\n{letter}\n</letter>",
        "## Task\nSum up the letter.\n\n## Letter\n{letter}",
    ),
    trusted=True,
    default=False,
)
def tags_to_headings(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Sections in tags put under headings; only where every tag is a section's, and none is spoken of."""
    sections = _tagged_sections(draft)
    if not sections:
        return
    for marks in rng.shuffled(("## ", "# ", "### ")):
        edits: list[Edit] = []
        for (start, end), (first, last) in sections:
            title = capitalised(lower(draft.text[start + 1 : end - 1]).replace("_", " ").replace("-", " "))
            edits += [replace(start, end, marks + title), replace(first, last, "")]
        yield edits


def _tagged_sections(draft: Draft) -> Sequence[tuple[tuple[int, int], tuple[int, int]]]:
    """Each section's opening tag, and its closing one with the line break before it; empty if one is no section's."""
    tags = draft.of_kind("tag")
    text = draft.text
    if len(tags) < 4 or len(tags) % 2 or _TAG_WORDS.search(draft.free):
        return ()
    found: list[tuple[tuple[int, int], tuple[int, int]]] = []
    names: set[str] = set()
    for number in range(0, len(tags), 2):
        opening, closing = tags[number], tags[number + 1]
        match = _OPEN.fullmatch(text, *opening)
        name = match[1] if match else ""
        before = text[found[-1][1][1] : opening[0]] if found else "\n"
        if (
            text[slice(*closing)] != f"</{name}>"
            or lower(name) in names
            or (before.strip() and found)
            or (opening[0] and text[opening[0] - 1] != "\n")
            or not text[opening[1] :].lstrip(" \t").startswith(("\n", "\r\n"))
            or text[closing[0] - 1] != "\n"
            or logic_spans(name.replace("_", " ").replace("-", " "))
        ):
            return ()
        names.add(lower(name))
        first = closing[0] - (2 if text[closing[0] - 2 : closing[0]] == "\r\n" else 1)
        found.append((opening, (first, closing[1])))
    if text[found[-1][1][1] :].strip():
        return ()  # what follows would read as the last section
    return found


# What stands between the name of a field and its value.


_FIELD_SEPARATORS = (" - ", ":: ", " = ", " | ", " => ", " :: ")
# Fields under a line that asks for them, and those that stand for what is to be written, are the answer's form.
_PRESCRIBES = expression(
    r"\b(?:format|outputs?|answer|answers|respond|reply|return|write|template|like this|as follows|form|structure)\b",
    re.IGNORECASE,
)
_PLACEHOLDER = expression(r"<[^<>\n]+>\s*(?:\n|\Z)|\[[^\]\n]+\]\s*(?:\n|\Z)|\.\.\.|…|_{2,}")
_FIELD_NAME = expression(r"(?:\*\*)?[^\W\d_][^\s:]*(?: [^\s:]+){0,2}(?P<separator>: ?)(?=[^\s:])")


@operator(
    "field-separators",
    dimension="structural",
    severity=0.3,
    preserves="conditional",
    sources=("S4",),
    example=(
        "Name the mood.\n\nText: {text}\nAuthor: {author}",
        "Name the mood.\n\nText - {text}\nAuthor - {author}",
    ),
    trusted=True,
    default=False,
)
def field_separators(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """The colon after the names of all fields (``Text: ...``) in another way: a dash, an equals sign, two colons."""
    places: list[tuple[int, int]] = []
    prescribed = False
    for line in draft.lines:
        if line.kind not in {"field", "blank"}:
            prescribed = _PRESCRIBES.search(draft.free, line.start, line.end) is not None
        match = _FIELD_NAME.match(draft.free, line.start + line.indent) if line.kind == "field" else None
        if match is None or match.end() > line.end or prescribed:
            continue
        if not _PLACEHOLDER.match(draft.text, match.end()):
            places.append(match.span("separator"))
    named = {draft.text[draft.text.rfind("\n", 0, start) + 1 : start].strip() for start, _ in places}
    leads = [draft.text[each.start : each.end].strip() for each in draft.lines if each.kind == "lead"]
    waiting = [line for line in draft.lines if line.kind != "blank"][-1:]
    if (waiting and waiting[0].kind == "lead") or any(each.rstrip(":") in named for each in leads):
        return  # a cue such as "Label:" would be left with another mark
    for separator in (_FIELD_SEPARATORS[0], *rng.shuffled(_FIELD_SEPARATORS[1:])):
        yield [replace(start, end, separator) for start, end in rng.some(places, 1.0)]
