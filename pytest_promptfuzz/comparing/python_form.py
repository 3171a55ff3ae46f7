"""Python programs in a canonical form: two programs of the same form do the same, whatever they are given.

Only what the language guarantees is set aside: names that nothing outside a function can see, annotations that nothing
reads, the order of imports of the standard library, ``x += 1`` where ``x`` is a number. ``total += price`` stays,
since a price may be a list. A program that looks at itself (``locals``, ``inspect``, dataclasses) has no such form.
"""

from __future__ import annotations

import ast
import copy
import sys
from typing import TYPE_CHECKING, TypeGuard

from pytest_promptfuzz.comparing.lexicon import word_set
from pytest_promptfuzz.comparing.python_annotations import (
    FUNCTIONS,
    TYPING,
    arguments_of,
    blocks,
    without_annotations,
)
from pytest_promptfuzz.comparing.python_names import renamed

if TYPE_CHECKING:
    from collections.abc import Iterator

_REFLECTIVE = word_set(
    """locals vars eval exec dir globals inspect __annotations__ __doc__ __code__ get_type_hints signature _getframe
    builtins __builtins__ settrace singledispatch dataclass dataclasses NamedTuple TypedDict BaseModel pydantic attrs
    attr ctypes gc dis __dict__ __defaults__ __import__ importlib doctest"""
)

# Importing these does something that others can see.
_LOUD = frozenset({"this", "antigravity", "readline", "rlcompleter", "turtledemo", "idlelib", "test"})
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_BUILTIN = frozenset({"len", "int", "float", "str", "ord", "chr", "range"})
"""Builtin functions that return numbers, texts, or (``range``) numbers one by one."""


def canonical(tree: ast.Module) -> str | None:
    """The canonical form of a program as text for comparison only; ``None`` where it has none.

    Args:
        tree: The program; it is left as it is.
    """
    tree = copy.deepcopy(tree)
    names = {name for node in ast.walk(tree) for name in _names_in(node)}
    if names & _REFLECTIVE:
        return None
    bound = {name for node in ast.walk(tree) for name in _bound_by(node)}
    if _roots(tree) <= sys.stdlib_module_names:  # a framework may read what it is given
        without_annotations(tree, bound)
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                setattr(node, field, _statements(block, last=isinstance(node, FUNCTIONS) and field == "body"))
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS):
            _spelled_out(node, _BUILTIN - bound)
    tree = _Expressions().visit(tree)
    tree.body = _in_order(_imports(tree.body, names, tree))
    return ast.dump(renamed(tree))


def _names_in(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for each in node.names:
            yield each.name.partition(".")[0]
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def _bound_by(node: ast.AST) -> Iterator[str]:
    """What a node binds, imports and classes apart."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, FUNCTIONS) or (isinstance(node, ast.ExceptHandler) and node.name):
        yield str(node.name)


def _roots(tree: ast.Module) -> set[str]:
    """The packages that a program imports from."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." if node.level else str(node.module).partition(".")[0])
    return found


class _Expressions(ast.NodeTransformer):
    """``not a in b`` is ``a not in b``, and ``60 * 60`` is 3600, by the language's definition."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        left, right = _whole(node.left), _whole(node.right)
        if left is None or right is None:
            return node
        if isinstance(node.op, ast.Mult):
            return ast.Constant(value=left * right)
        if isinstance(node.op, ast.Add):
            return ast.Constant(value=left + right)
        return ast.Constant(value=left - right) if isinstance(node.op, ast.Sub) and left >= right else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        inner = node.operand
        if isinstance(node.op, ast.Not) and isinstance(inner, ast.Compare) and len(inner.ops) == 1:
            opposite: ast.cmpop | None = {ast.In: ast.NotIn(), ast.Is: ast.IsNot()}.get(type(inner.ops[0]))
            if opposite:
                return ast.Compare(left=inner.left, ops=[opposite], comparators=inner.comparators)
        return node


_LARGEST = 10**9


def _whole(node: ast.expr) -> int | None:
    """The value of a whole number as it is written, up to a bound that keeps what is worked out small."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if type(value) is int and value <= _LARGEST else None


def _statements(block: list[ast.stmt], *, last: bool) -> list[ast.stmt]:
    """A block without statements that do nothing, and without ``else`` after what leaves it.

    Args:
        block: Its statements.
        last: Whether it is a function's whole body, at whose end ``return`` says nothing.
    """
    found: list[ast.stmt] = []
    for each in block:
        if isinstance(each, ast.Return) and isinstance(each.value, ast.Constant) and each.value.value is None:
            each.value = None
        if isinstance(each, ast.Pass) or (
            isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
        ):
            continue
        found.append(each)
        if isinstance(each, ast.If) and each.orelse and isinstance(each.body[-1], _ENDS):
            found.extend(_statements(each.orelse, last=False))
            each.orelse = []
    if last and found and isinstance(found[-1], ast.Return) and found[-1].value is None:
        found.pop()
    return found or ([ast.Pass()] if block else [])


def _spelled_out(function: ast.FunctionDef | ast.AsyncFunctionDef, builtin: frozenset[str]) -> None:
    """``x += 1`` as ``x = x + 1`` where ``x`` is a number or a text whenever it is bound."""
    immutable = _immutable(function, builtin)
    for block in blocks(function):
        for index, each in enumerate(block):
            target = getattr(each, "target", None)
            if isinstance(each, ast.AugAssign) and isinstance(target, ast.Name) and target.id in immutable:
                left = ast.Name(id=target.id, ctx=ast.Load())
                value = ast.BinOp(left=left, op=each.op, right=each.value)
                block[index] = ast.Assign(targets=[target], value=value, lineno=each.lineno)


def _immutable(function: ast.FunctionDef | ast.AsyncFunctionDef, builtin: frozenset[str]) -> set[str]:
    """A function's names that only ever hold numbers and texts."""
    values: dict[str, list[ast.expr]] = {}
    bound = {
        each.arg
        for node in ast.walk(function)
        if isinstance(node, ast.arguments)
        for each in arguments_of(node)
    }
    plain: set[int] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            values.setdefault(node.targets[0].id, []).append(node.value)
            plain.add(id(node.targets[0]))
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            values.setdefault(node.target.id, []).append(node.value)
            plain.add(id(node.target))
        elif (
            isinstance(node, ast.For)
            and _is_call(node.iter, builtin & {"range"})
            and isinstance(node.target, ast.Name)
        ):
            values.setdefault(node.target.id, []).append(ast.Constant(value=0))
            plain.add(id(node.target))
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            bound |= {*node.names}
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.ExceptHandler)):
            bound.add(str(node.name))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            bound |= {(each.asname or each.name).partition(".")[0] for each in node.names}
        elif isinstance(node, ast.Match):
            return set()
    stored = {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in plain
    }
    found = values.keys() - bound - stored
    while True:
        kept = {name for name in found if all(_is_value(each, found, builtin) for each in values[name])}
        if kept == found:
            return kept
        found = kept


def _is_value(node: ast.expr, names: set[str], builtin: frozenset[str]) -> bool:
    """Whether an expression can be nothing but a number or a text."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float, complex, str, bytes))
    if isinstance(node, ast.BinOp):
        return _is_value(node.left, names, builtin) and _is_value(node.right, names, builtin)
    if isinstance(node, ast.UnaryOp):
        return _is_value(node.operand, names, builtin)
    if isinstance(node, ast.Name):
        return node.id in names
    return isinstance(node, ast.JoinedStr) or _is_call(node, builtin - {"range"})


def _is_call(node: ast.expr, of: frozenset[str]) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in of


def _imports(body: list[ast.stmt], names: set[str], tree: ast.Module) -> list[ast.stmt]:
    """Imports one by one; those of the standard library in one order, those of types only where they are used."""
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    annotated = any(
        getattr(node, "annotation", None) or getattr(node, "returns", None) for node in ast.walk(tree)
    )
    found: list[ast.stmt] = []
    run: list[ast.Import | ast.ImportFrom] = []
    for each in (*body, None):
        if isinstance(each, (ast.Import, ast.ImportFrom)):
            for alias in each.names:
                single = copy.copy(each)
                single.names = [alias]
                module = (each.module or "") if isinstance(each, ast.ImportFrom) else alias.name
                name = (alias.asname or alias.name).partition(".")[0]
                idle = alias.name in TYPING.get(module, ()) and (
                    not annotated if module == "__future__" else name not in used
                )
                if not (idle and "__all__" not in names):
                    run.append(single)
            continue
        found += _sorted_run(run)
        run = []
        if each is not None:
            found.append(each)
    return found


def _sorted_run(run: list[ast.Import | ast.ImportFrom]) -> list[ast.Import | ast.ImportFrom]:
    modules = [each.module or "" if isinstance(each, ast.ImportFrom) else each.names[0].name for each in run]
    roots = {each.partition(".")[0] for each in modules}
    bound = [(each.names[0].asname or each.names[0].name).partition(".")[0] for each in run]
    relative = any(isinstance(each, ast.ImportFrom) and each.level for each in run)
    quiet = roots <= sys.stdlib_module_names - _LOUD and not relative and "*" not in bound
    return sorted(run, key=ast.dump) if quiet and len({*bound}) == len(bound) else run


def _in_order(body: list[ast.stmt]) -> list[ast.stmt]:
    """Functions that stand together in one order, where defining them runs nothing."""
    found: list[ast.stmt] = []
    run: list[ast.FunctionDef | ast.AsyncFunctionDef] = []
    for each in (*body, None):
        if isinstance(each, FUNCTIONS) and _is_inert(each):
            run.append(each)
            continue
        names = [function.name for function in run]
        if len({*names}) == len(names):
            run.sort(key=lambda function: function.name)
        found += run
        run = []
        if each is not None:
            found.append(each)
    return found


def _is_inert(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    arguments = function.args
    annotations = [function.returns, *(each.annotation for each in arguments_of(arguments))]
    defaults = [*arguments.defaults, *(each for each in arguments.kw_defaults if each)]
    return not function.decorator_list and not defaults and not any(annotations)
