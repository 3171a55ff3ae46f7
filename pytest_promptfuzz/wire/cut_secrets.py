"""Credentials that were cut in the middle to fit a line: ``sk-p...7890ABCD`` still shows parts of a key."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_HIDDEN = "[redacted]"
_CUT = r"(?:\.\.\.|…)"
_FEWEST = 4  # characters of a key on one side of the cut; fewer tell nothing, and would be found in prose
_STARTS = (
    r"(?:sk-|AIza|(?:gsk|hf|r8|pplx|xai|nvapi)[_\-]|gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|eyJ|A[KS]IA(?=[A-Z0-9]*"
    + _CUT
    + r"[A-Z0-9]{4}))"
)
_SHAPE = re.compile(
    rf"(?<![A-Za-z0-9]){_STARTS}(?:[\w\-]*{_CUT}[\w\-]{{{_FEWEST},}}|[\w\-]{{{_FEWEST},}}{_CUT})"
)
_ANY = re.compile(_CUT)
_WORD = re.compile(r"[\w\-]*")


def hide_cut(text: str, values: Iterable[str] = ()) -> str:
    """``text`` without what is left of keys that were cut.

    Args:
        text: What was shortened, with ``...`` or ``…`` where something is left out.
        values: Credentials known whole: what ends before a cut as one of them begins, or goes on after it as one
            ends, is hidden.

    >>> hide_cut("assert 'a' == 'use sk-p...7890ABCD'"), hide_cut("it was hunt...-two", ["hunter-and-two"])
    ("assert 'a' == 'use [redacted]'", 'it was [redacted]...[redacted]')
    """
    text = _hide_shapes(text)
    known = [each for each in values if len(each) > _FEWEST]
    if not known:
        return text
    pieces: list[str] = []
    end = 0
    for cut in _ANY.finditer(text):
        pieces += [text[end : cut.start()], cut[0]]
        end = cut.end()
    pieces.append(text[end:])
    for at in range(1, len(pieces), 2):
        before = max((_beginning(pieces[at - 1], each) for each in known), default=0)
        if before:
            pieces[at - 1] = pieces[at - 1][:-before] + _HIDDEN
        after = max((_ending(pieces[at + 1], each) for each in known), default=0)
        if after:
            pieces[at + 1] = _HIDDEN + pieces[at + 1][after:]
    return "".join(pieces)


def _hide_shapes(text: str) -> str:
    """The text without keys that are known by how they begin; only what touches a cut is looked at."""
    pieces: list[str] = []
    end = 0  # of what was kept or hidden
    seen = 0
    for cut in _ANY.finditer(text):
        word = _WORD.match(text[max(end, seen) : cut.start()][::-1])
        begin = cut.start() - (word.end() if word else 0)
        after = _WORD.match(text, cut.end())
        seen = cut.end()
        found = _SHAPE.search(text, begin, after.end() if after else cut.end()) if begin >= end else None
        if found:
            pieces += [text[end : found.start()], _HIDDEN]
            end = found.end()
    return "".join([*pieces, text[end:]])


def _beginning(text: str, value: str) -> int:
    """How many characters at the end of ``text`` are the first of ``value``."""
    return next((n for n in range(len(value), _FEWEST - 1, -1) if text.endswith(value[:n])), 0)


def _ending(text: str, value: str) -> int:
    """How many characters at the start of ``text`` are the last of ``value``."""
    return next((n for n in range(len(value), _FEWEST - 1, -1) if text.startswith(value[-n:])), 0)
