"""Local variables of JavaScript and TypeScript, as far as plain tokens tell; where they do not, there are none."""

from __future__ import annotations

import re

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.source_names import Names

_TOKEN = expression(
    r"(?P<text>/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
    r"|(?P<name>[^\W\d][\w$]*)|(?P<number>\d[\w.]*)|(?P<space>\s+)|(?P<sign>=>|\?\.|\.\.\.|[^\s\w\"'`\\])",
    re.DOTALL,
)
# What plain tokens cannot tell: template literals, regular expressions (a slash that divides is rare), JSX, reflection.
_UNCLEAR = expression(r"[`\\]|(?<![/*])/(?![/*])|</?\w|\b(?:eval|with|arguments|Function)\b")
_DECLARING = frozenset({"let", "const", "var"})


def javascript_names(program: str) -> Names | None:
    """The names of a program; ``None`` if it holds what plain tokens cannot tell.

    Free is what ``let``, ``const`` or ``var`` declares inside braces, before ``=``, ``of``, ``in`` or ``;``, and what
    does not also stand outside these braces, behind a dot, before a colon, or alone in an object.
    """
    cut = _tokens(program)
    if cut is None or _UNCLEAR.search(program):
        return None
    signs = [each for each in cut if each[0] in {"name", "number", "sign"}]
    opened: list[int] = []
    ranges: dict[int, int] = {}
    declared: dict[str, list[int]] = {}
    for index, (kind, text, _) in enumerate(signs):
        if text == "{":
            opened.append(index)
        elif text == "}":
            if not opened:
                return None
            ranges[opened.pop()] = index
        elif kind == "name" and index and signs[index - 1][1] in _DECLARING:
            following = signs[index + 1][1] if index + 1 < len(signs) else ""
            if following in {"=", "of", "in", ";"}:
                declared.setdefault(text, []).append(opened[0] if opened else -1)
    if opened:
        return None
    free = {
        name
        for name, where in declared.items()
        if name.isascii()
        and all(outer >= 0 for outer in where)
        and _only_local(signs, name, [(outer, ranges[outer]) for outer in where])
    }
    places = [(text, start, start + len(text)) for kind, text, start in cut if kind == "name"]
    texts = [text for kind, text, _ in cut if kind == "text"]
    return Names(frozenset(free), frozenset(), places, texts)


def _tokens(program: str) -> list[tuple[str, str, int]] | None:
    found = []
    position = 0
    while position < len(program):
        match = _TOKEN.match(program, position)
        if match is None:
            return None
        found.append((match.lastgroup or "", match[0], position))
        position = match.end()
    return found


def _only_local(signs: list[tuple[str, str, int]], name: str, ranges: list[tuple[int, int]]) -> bool:
    for index, (_, text, _) in enumerate(signs):
        if text != name:
            continue
        before = signs[index - 1][1] if index else ""
        after = signs[index + 1][1] if index + 1 < len(signs) else ""
        if not any(first < index < last for first, last in ranges):
            return False
        if before in {".", "?.", "#"} or after == ":" or (before in {"{", ","} and after in {"}", ","}):
            return False
        if before == "...":
            return False
    return True
