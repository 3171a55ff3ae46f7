"""From a reworded text to the edits that make it: word by word, protected spans as references."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.mutations.edits import Edit, Ref
from pytest_promptfuzz.mutations.sequence_diff import opcodes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.assisting.marks import Marked, Part

# A word, a character of a script that puts no spaces between words, or a sign; each with the white space before it.
_TOKEN = re.compile(
    r"\s*(?:[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
    r"|[^\W\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+(?:['’][^\W\u3040-\u30ff]+)*|[^\w\s])|\s+\Z"
)


class _Token(NamedTuple):
    key: Part
    start: int
    end: int


def edits_between(stretch: Marked, parts: Sequence[Part]) -> list[Edit]:
    """The smallest runs of words to replace in a stretch so that it reads like ``parts``.

    Args:
        stretch: What was reworded.
        parts: What :meth:`Marked.read` found: every span of the stretch exactly once.

    Returns:
        Edits in ascending order. A span that kept its place among its neighbours is in none of them; one that moved is
        a ``Ref`` in the edit where it went.
    """
    old = _original_tokens(stretch)
    new: list[Part] = []
    for part in parts:
        new += [part] if isinstance(part, int) else [match[0] for match in _TOKEN.finditer(part)]
    groups: list[tuple[int, int, int, int]] = []
    for tag, low, high, start, end in opcodes([token.key for token in old], new):
        if tag == "equal":
            continue
        if groups and not any(_is_anchor(token.key) for token in old[groups[-1][1] : low]):
            groups[-1] = (groups[-1][0], high, groups[-1][2], end)
        else:
            groups.append((low, high, start, end))
    edits: list[Edit] = []
    for low, high, start, end in groups:
        left = old[low].start if low < len(old) else stretch.end
        right = old[high - 1].end if high > low else left
        edit = _edit(stretch, left, right, new[start:end])
        if edit is not None:
            edits.append(edit)
    return edits


def _is_anchor(key: Part) -> bool:
    """Whether a kept token is worth splitting an edit in two: a word or a span, not a comma."""
    return isinstance(key, int) or any(map(str.isalnum, key))


def _original_tokens(stretch: Marked) -> list[_Token]:
    tokens: list[_Token] = []
    position = stretch.start
    for index, piece in enumerate(stretch.free()):
        tokens += [
            _Token(match[0], position + match.start(), position + match.end())
            for match in _TOKEN.finditer(piece)
        ]
        if index < len(stretch.spans):
            tokens.append(_Token(index, *stretch.spans[index]))
            position = stretch.spans[index][1]
    return tokens


def _edit(stretch: Marked, left: int, right: int, new: Sequence[Part]) -> Edit | None:
    parts: list[str | Ref] = []
    for part in new:
        if isinstance(part, int):
            parts.append(Ref(*stretch.spans[part]))
        elif parts and isinstance(parts[-1], str):
            parts[-1] += part
        else:
            parts.append(part)
    spans = any(left < end and start < right for start, end in stretch.spans)
    if not spans and parts and isinstance(parts[0], str):
        # The white space before a replaced word is the same as a rule; leave it out of the edit.
        shared = 0
        limit = min(right - left, len(parts[0]))
        while shared < limit and parts[0][shared].isspace():
            if stretch.original[left - stretch.start + shared] != parts[0][shared]:
                break
            shared += 1
        left += shared
        parts[0] = parts[0][shared:]
        if not parts[0]:
            del parts[0]
    if left == right and not parts:
        return None
    return Edit(left, right, tuple(parts) or ("",))
