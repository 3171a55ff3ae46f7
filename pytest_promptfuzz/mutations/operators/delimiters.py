"""How the parts of a prompt are set apart: headings, rules and tags."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.casing import capitalised, lower
from pytest_promptfuzz.mutations.edits import Edit, insert, replace
from pytest_promptfuzz.mutations.headings import STYLES, headings, section_end, speaks_of_style
from pytest_promptfuzz.mutations.operator import operator
from pytest_promptfuzz.prompts.spans import logic_spans

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.headings import Heading
    from pytest_promptfuzz.mutations.layout import Line
    from pytest_promptfuzz.mutations.rng import Rng


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
