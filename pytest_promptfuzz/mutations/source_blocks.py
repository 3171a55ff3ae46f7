"""Where a prompt holds program text, and in which language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.mutations.draft import Draft

_FENCE = expression(
    r"(?P<mark>```|~~~)(?P<language>[\w+#-]*)[^\n`]*\n(?P<program>.*?)\n?[ \t]*(?P=mark)", re.DOTALL
)
_INLINE = expression(r"(`{1,2})(?P<program>[^`\n]+)\1")
_PYTHON = frozenset({"python", "py", "python3", ""})
_BRACED = {
    "js": "javascript",
    "javascript": "javascript",
    "mjs": "javascript",
    "ts": "javascript",
    "typescript": "javascript",
    "java": "braces",
    "c": "braces",
    "cpp": "braces",
    "c++": "braces",
    "csharp": "braces",
    "cs": "braces",
    "c#": "braces",
    "go": "braces",
    "golang": "braces",
    "kotlin": "braces",
    "scala": "braces",
    "swift": "braces",
    "rust": "braces",
    "rs": "braces",
    "dart": "braces",
}

SLOT = expression(
    r"\{\{?[^{}\n:,\"']{1,80}(?:[:!][^{}\n\"', ]{0,40})?\}|\$\w+|%\(\w+\)|<[^\W\d]\w*>|\{[%#][^\n]{1,200}?[%#]\}"
)
"""What may be a slot inside a program: ``{total}`` is filled wherever it stands; ``{a, b}`` and ``{a: 1}`` are code."""

LONGEST = 20_000
"""Characters of program text up to which a block is read."""


class Block(NamedTuple):
    """A piece of program text.

    Attributes:
        start: Where the program begins in the prompt's text, behind the fence.
        end: Where it ends.
        family: ``python`` (perhaps: a fence that names no language), ``javascript``, ``braces`` (another language
            with ``//`` comments), ``inline`` (between backticks), or ``other``.
    """

    start: int
    end: int
    family: str


def blocks(draft: Draft) -> list[Block]:
    """The program text of a prompt, in order; none where no kinds of span are known."""
    found: list[Block] = []
    for start, end in draft.of_kind("code"):
        match = _FENCE.fullmatch(draft.text, start, end)
        if match is not None:
            language = match["language"].lower()
            family = "python" if language in _PYTHON else _BRACED.get(language, "other")
        else:
            match = _INLINE.fullmatch(draft.text, start, end)
            family = "inline"
        if match is not None and match.end("program") - match.start("program") <= LONGEST:
            found.append(Block(*match.span("program"), family))
    return found
