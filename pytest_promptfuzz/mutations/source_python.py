"""Python program text: its tokens and its syntax tree, read alike by every Python from 3.10 on.

What only a newer Python can parse is not parsed at all, so that the same prompt gives the same mutations everywhere.
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import NamedTuple

from pytest_promptfuzz.expressions import expression

_TOKEN = expression(
    r"(?P<comment>\#[^\n]*)"
    r"|(?P<string>(?<!\w)[rRbBuUfF]{0,2}(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''"
    r"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'))"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<number>(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?\w*)"
    r"|(?P<space>(?:[ \t\f\r]|\\\r?\n)+)"
    r"|(?P<line>\n)"
    r"|(?P<sign>\*\*=|//=|>>=|<<=|\.\.\.|->|:=|[=!<>]=|\*\*|//|>>|<<|[+*/%&|^@-]=|[^\s\w\"'\\\#])",
    re.DOTALL,
)
_DOUBLED = expression(r"\{\{|\}\}")
_INNER = expression(r"\{[^{}]*[\\\#]")
# Of a Python newer than 3.10.
_NEWER = frozenset({"TryStar", "TypeAlias", "TypeVar", "ParamSpec", "TypeVarTuple", "TemplateStr"})


class Token(NamedTuple):
    """A token of a program: ``comment``, ``string``, ``name``, ``number``, ``space``, ``line`` or ``sign``."""

    kind: str
    start: int
    end: int
    text: str


def tokens(program: str) -> list[Token] | None:
    """All tokens of a program, which join to it; ``None`` if it cannot be cut alike for every Python."""
    found: list[Token] = []
    position = 0
    while position < len(program):
        match = _TOKEN.match(program, position)
        if match is None:
            return None
        kind = match.lastgroup or ""
        text = match[0]
        if kind == "string":
            # t"..." is a string since 3.14; f"{x["a"]}" is one since 3.12.
            if found and found[-1].kind == "name" and found[-1].end == position:
                return None
            if "f" in text[:2].lower() and not _plain_format(text):
                return None
        elif kind == "name" and found and found[-1].kind == "string" and found[-1].end == position:
            return None
        found.append(Token(kind, position, match.end(), text))
        position = match.end()
    return found


def _plain_format(text: str) -> bool:
    bare = _DOUBLED.sub("", text)
    return bare.count("{") == bare.count("}") and _INNER.search(bare) is None


def tree_of(program: str) -> ast.Module | None:
    """The syntax tree of a program; ``None`` if some Python from 3.10 on cannot parse it."""
    if not program.strip() or tokens(program) is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(program, feature_version=(3, 10))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in ast.walk(tree):
        if type(node).__name__ in _NEWER:
            return None
        if isinstance(node, ast.Subscript) and _starred(node.slice):
            return None
        if isinstance(node, ast.arg) and isinstance(node.annotation, ast.Starred):
            return None
    return tree


def _starred(node: ast.AST) -> bool:
    elements = node.elts if isinstance(node, ast.Tuple) else [node]
    return any(isinstance(each, ast.Starred) for each in elements)


def same_tree(first: str, second: str) -> bool:
    """Whether two programs have the same syntax tree."""
    one, two = tree_of(first), tree_of(second)
    return one is not None and two is not None and ast.dump(one) == ast.dump(two)
