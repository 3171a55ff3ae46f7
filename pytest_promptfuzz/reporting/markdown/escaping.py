"""Texts of others in Markdown: always code, never markup.

GitHub and GitLab take what stands in code for no mention, issue, commit, link, picture, emoji, formula, command or tag.
Characters with a meaning there cannot all be escaped one by one: the hosts look for mentions and commits after Markdown
is read. So what a model, a test or a target's name says is a code span or a block; only our own words are prose.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.reporting.safe import safe, show_white

if TYPE_CHECKING:
    from collections.abc import Iterable

_TICKS = re.compile(r"`+")
_PIPES = re.compile(r"(\\*)\|")
# Bots read a comment as it was written, code or not: `@bot do this`, or `/command` at the start of a line.
_BOT = re.compile(r"@(?=\w)")
_COMMAND = re.compile(r"^(?=/)")
_PLAIN = re.compile(
    r"[A-Za-z0-9 ,;()=+%<>“”…']+(?:(?:\.(?=[ 0-9]|\Z)|:(?= |\Z)|-(?=[a-z]))[A-Za-z0-9 ,;()=+%<>“”…']*)*"
)
# What a host could take for a commit, an issue or a link, and what would begin a list or a heading.
_MEANT = re.compile(r"\b(?:[0-9a-f]{7,}|www|GH)\b|^\d+[.)](?=\s|\Z)|^[=+<>]", re.IGNORECASE)


def code(text: str, *, limit: int = 120) -> str:
    r"""A code span on one line: white space at the edges visible, line feeds as ``⏎``, backticks within longer ones.

    Args:
        text: Any string.
        limit: The most characters of it that are kept; the rest is counted.

    >>> code("a`b")
    '``a`b``'
    """
    return _span(_flat(text, limit))


def _span(shown: str) -> str:
    shown = _COMMAND.sub(r"\\", shown)
    fence = "`" * (_longest_ticks(shown) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def cell(text: str, *, limit: int = 120) -> str:
    r"""A code span in a table, where a pipe would begin another cell.

    >>> cell("a|b")
    '`a\\|b`'
    """
    # After a backslash, hosts differ in whether the pipe is escaped: there another sign stands for it.
    return _PIPES.sub(lambda found: found[1] + ("¦" if found[1] else r"\|"), code(text, limit=limit))


def tagged(text: str, *, limit: int = 120) -> str:
    """Code in HTML, for what Markdown does not reach: the ``<summary>`` of folded details."""
    return f"<code>{html.escape(_flat(text, limit))}</code>"


def prose(text: str, *, limit: int = 1000) -> str:
    """A sentence as it is if it is made of words and numbers alone; anything else as code."""
    flat = _flat(text, limit)
    if _PLAIN.fullmatch(flat) and not _MEANT.search(flat):
        return flat.replace("<", "&lt;").replace(">", "&gt;")
    return _span(flat)


def block(rows: Iterable[tuple[str, str]], *, language: str = "", exact: bool = False) -> str:
    """A block of code, its fence longer than any in it.

    Args:
        rows: Each with the sign it begins with (``-``, ``+`` or a blank), so that no text begins a line.
        language: ``diff`` colours rows by their sign.
        exact: For a command to be copied: mentions are left as they are.
    """
    shown = ((sign, safe(text) if exact else _unmentioned(safe(text))) for sign, text in rows)
    lines = [f"{sign or ' '} {each}".rstrip() for sign, text in shown for each in text.split("\n")]
    fence = "`" * max(3, 1 + max(map(_longest_ticks, lines), default=0))
    return "\n".join([fence + language, *lines, fence])


def _flat(text: str, limit: int) -> str:
    body = text.strip() or show_white(text) or "(empty)"
    return _unmentioned(safe(body, limit=limit)).replace("\n", "⏎").replace("\t", "→")


def _unmentioned(text: str) -> str:
    return _BOT.sub(r"@\\", text)


def _longest_ticks(text: str) -> int:
    return max(map(len, _TICKS.findall(text)), default=0)
