"""Space in Python programs that can change without changing what they are, and statements that can bear a comment."""

from __future__ import annotations

import ast
from itertools import pairwise
from typing import NamedTuple

from pytest_promptfuzz.mutations.edits import Edit, apply_edits, insert, replace
from pytest_promptfuzz.mutations.lexicon.table import words
from pytest_promptfuzz.mutations.source_blocks import SLOT
from pytest_promptfuzz.mutations.source_python import Token, same_tree, tokens, tree_of

_BINARY = words("= == != <= >= < > + - * / // % ** += -= *= /= //= %= & | ^ >> <<")
_KEYWORDS = words(
    """
    and as assert async await def del elif else except for from if import in is lambda not or raise return while with
    yield case
    """
)
# What can be said of any such statement.
_REMARKS: tuple[tuple[type[ast.stmt], str, str], ...] = (
    (ast.Return, "return", "Return the result"),
    (ast.For, "for", "Go through the items"),
    (ast.While, "while", "Repeat while the condition holds"),
    (ast.If, "if", "Check the condition"),
    (ast.Try, "try", "Handle errors"),
    (ast.With, "with", "Use the resource"),
)


class Statement(NamedTuple):
    """A statement that begins a line.

    Attributes:
        start: Where it begins, behind its indentation.
        indent: The white space before it.
        remark: What a comment can say of it.
    """

    start: int
    indent: str
    remark: str

    def moved(self, by: int) -> Statement:
        """The same statement, ``by`` characters further on."""
        return self._replace(start=self.start + by)


def statements(program: str) -> list[Statement]:
    """The statements of a program that a comment can be put above, in order; none if it cannot be read."""
    tree = _tree(program)
    if tree is None:
        return []
    starts = _line_starts(program)
    firsts = _firsts(program)
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt):
            continue
        line = starts[node.lineno - 1]
        rest = program[line : starts[node.lineno] - 1]
        indent = rest[: len(rest) - len(rest.lstrip(" \t"))]
        start = line + len(indent)
        remark = _remark(node, rest[len(indent) :])
        if remark and len(indent) == node.col_offset and start in firsts:  # not behind "else:" or a semicolon
            found.append(Statement(start, indent, remark))
    found.sort()
    lines = [insert(each.start, f"# x\n{each.indent}") for each in found]
    return found if same_tree(program, apply_edits(program, lines)) else []


def _firsts(program: str) -> frozenset[int]:
    """Where the first token of a line stands, unless a backslash continues the line before."""
    cut = tokens(program) or []
    found = set()
    fresh = True
    for each in cut:
        if each.kind == "line":
            fresh = True
        elif each.kind != "space":
            if fresh:
                found.add(each.start)
            fresh = False
    return frozenset(found)


def _remark(node: ast.stmt, source: str) -> str:
    if isinstance(node, ast.Return) and node.value is None:
        return ""
    for kind, keyword, remark in _REMARKS:
        if isinstance(node, kind) and source.startswith(keyword):  # an "elif" is an ast.If as well
            return remark
    return ""


def operator_spaces(program: str) -> list[Edit]:
    """The edits that put a space on both sides of a program's operators, or take both away where they stand."""
    cut = tokens(program)
    if cut is None or _tree(program) is None:
        return []
    edits: list[Edit] = []
    for index in range(1, len(cut) - 1):
        sign = cut[index]
        if sign.kind != "sign" or sign.text not in _BINARY:
            continue
        gap = cut[index - 1].text if cut[index - 1].kind == "space" else ""
        other = cut[index + 1].text if cut[index + 1].kind == "space" else ""
        if gap != other or gap not in {"", " "} or not len(gap) < index < len(cut) - 1 - len(gap):
            continue
        if _ends_operand(cut[index - 1 - len(gap)]) and _begins_operand(cut[index + 1 + len(gap)]):
            edits.append(
                replace(sign.start - len(gap), sign.end + len(gap), sign.text if gap else f" {sign.text} ")
            )
    return edits if same_tree(program, apply_edits(program, edits)) else []


def _ends_operand(token: Token) -> bool:
    if token.kind == "name":
        return token.text not in _KEYWORDS
    return token.kind in {"number", "string"} or token.text in {")", "]", "}"}


def _begins_operand(token: Token) -> bool:
    return token.kind in {"name", "number", "string"} or token.text in {"(", "[", "{"}


def blank_lines(program: str) -> list[Edit]:
    """The edits that put a blank line between two statements of the module, or take one away."""
    tree = _tree(program)
    if tree is None:
        return []
    starts = _line_starts(program)
    edits: list[Edit] = []
    for before, node in pairwise(tree.body):
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(each.lineno for each in decorators)])
        last = before.end_lineno or before.lineno
        if first <= last:
            continue
        end = starts[first - 1]
        between = program[starts[last] : end]
        if not between:
            edits.append(insert(end, "\n"))
        elif not between.strip():
            edits.append(replace(starts[first - 2], end, ""))
    return edits if same_tree(program, apply_edits(program, edits)) else []


def _tree(program: str) -> ast.Module | None:
    """The tree of a program whose lines are what they seem and that is no template."""
    if "\r" in program or "\f" in program or _holds_slots(program):
        return None
    return tree_of(program)


def _holds_slots(program: str) -> bool:
    """Whether a slot may stand in the code itself, not in a string or comment of it."""
    slots = [match.start() for match in SLOT.finditer(program)]
    if not slots:
        return False
    texts = [
        range(each.start, each.end) for each in tokens(program) or () if each.kind in {"string", "comment"}
    ]
    return not all(any(slot in each for each in texts) for slot in slots)


def _line_starts(program: str) -> list[int]:
    starts = [0]
    for line in program.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts
