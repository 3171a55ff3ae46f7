"""Code in a prompt with other comments and other space, which means the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.casing import capitalised, lower
from pytest_promptfuzz.mutations.edits import Edit, edits_at, insert, replace
from pytest_promptfuzz.mutations.operator import operator
from pytest_promptfuzz.mutations.source_blocks import blocks
from pytest_promptfuzz.mutations.source_comments import Comment, line_comments, python_comments
from pytest_promptfuzz.mutations.source_layout import Statement, blank_lines, operator_spaces, statements

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_promptfuzz.mutations.draft import Draft
    from pytest_promptfuzz.mutations.rng import Rng

_ABOUT_COMMENTS = expression(r"\b(?:comments?|docstrings?|document(?:s|ed|ing|ation)?)\b", re.IGNORECASE)
_ABOUT_STYLE = expression(
    r"\b(?:styles?|format(?:s|ted|ting|ter)?|indent\w*|pep ?8?|black|lint\w*|whitespace|spac(?:e|es|ing)|blanks?)\b",
    re.IGNORECASE,
)
_LINE_NUMBER = expression(r"\b(?:lines?|row|column)\b", re.IGNORECASE)


def _comments(draft: Draft) -> list[Comment]:
    """The plain comments of all code in the prompt, none where the prompt speaks of comments."""
    found: list[Comment] = []
    programs = draft.once(blocks)
    if not programs or _ABOUT_COMMENTS.search(draft.free):
        return found
    for block in programs:
        program = draft.text[block.start : block.end]
        if block.family == "python":
            inside = python_comments(program)
        elif block.family in {"braces", "javascript"}:
            inside = line_comments(program)
        else:
            continue
        found += [each.moved(block.start) for each in inside]
    return found


@operator(
    "comment-change",
    dimension="code",
    severity=0.1,
    preserves="yes",
    touches=("code",),
    sources=("S4",),
    example=(
        "Explain.\n\n```python\nx = 1  # the first number\n```",
        "Explain.\n\n```python\nx = 1  # The first number.\n```",
    ),
    trusted=True,
    default=False,
)
def comment_change(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Comments get another case or full stop, and statements a comment that says what they are (half of the places)."""
    sites: list[Comment | Statement] = [*draft.once(_comments), *draft.once(_bare_statements)]
    sites.sort(key=lambda each: each.start)
    return edits_at(rng.draws(sites, 0.5), lambda site: _changed(site, rng))


def _bare_statements(draft: Draft) -> list[Statement]:
    """The statements of Python code that a comment can be put above."""
    programs = draft.once(blocks)
    if not programs or _ABOUT_COMMENTS.search(draft.free) or _LINE_NUMBER.search(draft.free):
        return []
    return [
        each.moved(block.start)
        for block in programs
        if block.family == "python"
        for each in statements(draft.text[block.start : block.end])
    ]


def _changed(site: Comment | Statement, rng: Rng) -> Edit:
    if isinstance(site, Statement):
        return insert(site.start, f"# {site.remark}\n{site.indent}")
    words = site.words
    bare = words.rstrip(".")
    forms = [lower(bare[0]) + bare[1:], capitalised(bare)] if bare[1:2].islower() else [bare]
    others = [form + end for form in forms for end in ("", ".") if form + end != words]
    return replace(site.end - len(words), site.end, rng.choice(others))


@operator(
    "comment-removal",
    version=2,
    dimension="code",
    severity=0.2,
    preserves="conditional",
    touches=("code",),
    sources=("S4",),
    example=(
        "Explain.\n\n```python\n# add the numbers\nx = 1 + 2\n```",
        "Explain.\n\n```python\nx = 1 + 2\n```",
    ),
    trusted=True,
    default=False,
)
def comment_removal(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Plain comments are taken out of code (all, then some); not those that tools read or that ask for something."""
    sites = [each for each in draft.once(_comments) if each.idle]
    if any(each.alone for each in sites) and _LINE_NUMBER.search(draft.free):
        sites = [each for each in sites if not each.alone]
    return edits_at(rng.all_then_some(sites), lambda site: replace(site.first, site.last, ""))


@operator(
    "code-spacing",
    dimension="code",
    severity=0.1,
    preserves="yes",
    touches=("code",),
    surface=True,
    sources=("S4",),
    example=("Explain.\n\n```python\nx=1+2\n```", "Explain.\n\n```python\nx = 1 + 2\n```"),
    trusted=True,
    default=False,
)
def code_spacing(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Python code gets or loses spaces around operators and blank lines between statements (all places, then half)."""
    return rng.all_then_some(draft.once(_spaces))


def _spaces(draft: Draft) -> list[Edit]:
    """The places of Python code where space can change, with the change."""
    found: list[Edit] = []
    programs = draft.once(blocks)
    if not programs or _ABOUT_STYLE.search(draft.free):
        return found
    numbered = _LINE_NUMBER.search(draft.free) is not None
    for block in programs:
        if block.family != "python":
            continue
        program = draft.text[block.start : block.end]
        inside = operator_spaces(program)
        if not numbered:
            inside += blank_lines(program)
        found += [
            replace(block.start + each.start, block.start + each.end, str(each.parts[0])) for each in inside
        ]
    return sorted(found)
