"""Annotations of a Python program that raise nothing and that nothing reads, taken away."""

from __future__ import annotations

import ast
import builtins
import collections.abc
import typing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_HARMLESS_DECORATORS = frozenset({"staticmethod", "classmethod", "property", "abstractmethod"})
TYPING = {
    "typing": frozenset(typing.__all__),
    "collections.abc": frozenset(collections.abc.__all__),
    "__future__": frozenset({"annotations"}),
}
"""Modules that only annotations need, and what they have."""

_TYPES = frozenset(name for name in dir(builtins) if isinstance(getattr(builtins, name), type))
_GENERIC = frozenset({"list", "dict", "set", "frozenset", "tuple", "type"})
_ARITY = {
    **dict.fromkeys(
        ("List", "Set", "FrozenSet", "Type", "Iterable", "Iterator", "Sequence", "Collection"), 1
    ),
    "Dict": 2,
    "Mapping": 2,
    "Tuple": None,
    "Union": None,
}
"""Of those, what takes types in brackets, and how many; ``None`` takes any."""


def without_annotations(tree: ast.Module, bound: set[str]) -> None:
    """Take away annotations that raise nothing and that nothing reads."""
    postponed = any(
        isinstance(each, ast.ImportFrom)
        and each.module == "__future__"
        and any(alias.name == "annotations" for alias in each.names)
        for each in tree.body
    )
    known, generic = _TYPES - bound, _GENERIC - bound
    for statement in tree.body:
        for node in ast.walk(statement):
            if isinstance(node, FUNCTIONS) and _is_plain(node):
                for argument in arguments_of(node.args):
                    if postponed or _is_safe(argument.annotation, known, generic):
                        argument.annotation = None
                if postponed or _is_safe(node.returns, known, generic):
                    node.returns = None
                _assigned(node)
        if isinstance(statement, ast.ImportFrom) and statement.module in TYPING:
            here = TYPING[statement.module]
            names = {each.name for each in statement.names if each.name in here and not each.asname} - bound
            known, generic = known | names, generic | (names & _ARITY.keys())
        elif isinstance(statement, ast.ClassDef) and statement.name not in bound:
            known |= {statement.name}
    for index, each in enumerate(tree.body):
        if isinstance(each, ast.AnnAssign) and each.value and _is_safe(each.annotation, known, generic):
            tree.body[index] = ast.Assign(targets=[each.target], value=each.value, lineno=each.lineno)


def _is_plain(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return all(isinstance(each, ast.Name) and each.id in _HARMLESS_DECORATORS for each in node.decorator_list)


def arguments_of(arguments: ast.arguments) -> list[ast.arg]:
    """All parameters, in whatever way they are given."""
    found = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [*found, *(each for each in (arguments.vararg, arguments.kwarg) if each)]


def _is_safe(annotation: ast.expr | None, known: frozenset[str], generic: frozenset[str]) -> bool:
    """Whether an annotation cannot raise when the function is defined: ``int[str]`` and ``"Order" | None`` would."""
    if annotation is None:
        return True
    if isinstance(annotation, ast.Constant):
        return annotation.value is None or isinstance(annotation.value, str)
    if isinstance(annotation, ast.Name):
        return annotation.id in known
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        sides = annotation.left, annotation.right
        named = not any(isinstance(each, ast.Constant) and each.value is not None for each in sides)
        return named and _is_safe(sides[0], known, generic) and _is_safe(sides[1], known, generic)
    if isinstance(annotation, ast.Subscript) and isinstance(annotation.value, ast.Name):
        inner = annotation.slice
        parts = inner.elts if isinstance(inner, (ast.Tuple, ast.List)) else [inner]
        open_ended = [each for each in parts if not (isinstance(each, ast.Constant) and each.value is ...)]
        arity = _ARITY.get(annotation.value.id)
        if arity is not None and len(parts) != arity:
            return False
        return annotation.value.id in generic and all(_is_safe(each, known, generic) for each in open_ended)
    return False


def _assigned(function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Have annotated assignments to a function's own names be plain ones: their annotations are never evaluated."""
    for node in ast.walk(function):
        if isinstance(node, ast.ClassDef):
            return  # in a class they are kept
    for block in blocks(function):
        for index, each in enumerate(block):
            if isinstance(each, ast.AnnAssign) and each.value and isinstance(each.target, ast.Name):
                block[index] = ast.Assign(targets=[each.target], value=each.value, lineno=each.lineno)


def blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements in a tree, each of which can be changed."""
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                yield block
