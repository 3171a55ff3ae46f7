"""JSON objects and arrays inside prose, nested to any depth."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.prompts.words import Found

# An opening bracket that looks like JSON: `{"key"`, `{key: `, `{{"key"` (escaped for str.format), `[1`, `["a"`, `[{`.
_LIKELY = expression(
    r"""\{\s{0,80}(?:\{?\s{0,80}["'][^"'\n]{0,200}["']\s{0,8}:|\w{1,60}\s{0,4}:\s|\{?\s{0,8}\n)"""
    r"""|\[\s{0,80}(?:["'{\[]|-?\d|true\b|false\b|null\b)"""
)
# A string is skipped whole, so that a bracket in it does not count; an escape outside a string is skipped as well.
_INSIDE = expression(r'\\.|"(?:[^"\\\n]|\\.){0,2000}"|[{}\[\]]', re.DOTALL)
_OPENER = expression(r"[{\[]")
_CLOSES = {"}": "{", "]": "["}


def json_spans(text: str) -> list[Found]:
    """The outermost JSON-like objects and arrays of ``text`` whose brackets balance."""
    if "{" not in text and "[" not in text:
        return []
    first = _LIKELY.search(text)
    if first is None:
        return []
    found: list[Found] = []
    stack: list[tuple[str, int]] = []
    waiting = {"{": 0, "[": 0}
    position = first.start()
    # One pass with a stack: strings are looked for only inside brackets, where a quote is surely one of JSON's.
    while (token := (_INSIDE if stack else _OPENER).search(text, position)) is not None:
        position = token.end()
        character = token[0]
        if character in waiting:
            stack.append((character, token.start()))
            waiting[character] += 1
        elif character in _CLOSES and waiting[_CLOSES[character]]:
            while True:
                opener, start = stack.pop()
                waiting[opener] -= 1
                if opener == _CLOSES[character]:
                    break
            if _LIKELY.match(text, start):
                while found and found[-1][0] > start:
                    found.pop()
                found.append((start, position, "json"))
    return found
