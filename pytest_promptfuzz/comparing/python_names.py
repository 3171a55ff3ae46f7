"""Names of a Python program that nothing outside a function can see, numbered by their order."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def renamed(tree: ast.Module) -> ast.Module:
    """The program with the local variables of functions and comprehensions numbered; parameters keep their names."""
    found: ast.Module = _Renaming().visit(tree)
    return found


class _Renaming(ast.NodeTransformer):
    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._number = 0

    def _fresh(self, names: Sequence[str]) -> dict[str, str]:
        found = {}
        for name in dict.fromkeys(names):
            self._number += 1
            found[name] = f"${self._number}"  # no name can look so
        return found

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.AST:
        node.names = sorted(self._names.get(each, each) for each in node.names)
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        if node.name:
            node.name = self._names.get(node.name, node.name)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        node.name = self._names.get(node.name, node.name)
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        outer, parameters = self._names, self._parameters(node.args)
        if node.returns:
            node.returns = self.visit(node.returns)
        outside, nonlocals = _declared(node.body)
        kept = {*parameters, *outside, *nonlocals}
        self._names = {**outer, **{each: each for each in (*parameters, *sorted(outside))}}
        own = [each for each in _bound(node.body) if each not in kept]
        self._names |= {each: each for each in own} if _is_seen(node) else self._fresh(own)
        node.body = [self.visit(each) for each in node.body]
        self._names = outer
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        outer, parameters = self._names, self._parameters(node.args)
        self._names = {**outer, **{each: each for each in parameters}}
        node.body = self.visit(node.body)
        self._names = outer
        return node

    def _parameters(self, arguments: ast.arguments) -> list[str]:
        """Rename within defaults and annotations, which stand outside; return the parameters' names."""
        self.generic_visit(arguments)
        found = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        return [each.arg for each in (*found, arguments.vararg, arguments.kwarg) if each]

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = self._names.get(node.name, node.name)
        outer = self._names
        node.bases = [self.visit(each) for each in node.bases]
        node.keywords = [self.visit(each) for each in node.keywords]
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        self._names = {**outer, **{each: each for each in _bound(node.body)}}
        node.body = [self.visit(each) for each in node.body]
        self._names = outer
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        return self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        return self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return self._comprehension(node)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> ast.AST:
        first = self.visit(node.generators[0].iter)  # evaluated outside
        outer = self._names
        targets = [name for each in node.generators for name in _stored(each.target)]
        self._names = {**outer, **self._fresh(targets)}
        node.generators[0].iter = ast.Constant(value=None)
        self.generic_visit(node)
        node.generators[0].iter = first
        self._names = outer
        return node


def _is_seen(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function's names can be seen in ways that are not followed: by a class in it, or by ``match``."""
    return any(isinstance(each, (ast.ClassDef, ast.Match)) for each in ast.walk(function))


def _declared(body: Sequence[ast.stmt]) -> tuple[set[str], set[str]]:
    """The names of a scope that are global or that an import binds, and those of the function around it."""
    outside: set[str] = set()
    nonlocals: set[str] = set()
    for node in _within(body):
        if isinstance(node, ast.Global):
            outside |= {*node.names}
        elif isinstance(node, ast.Nonlocal):
            nonlocals |= {*node.names}
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            outside |= {(each.asname or each.name).partition(".")[0] for each in node.names}
    return outside, nonlocals


def _bound(body: Sequence[ast.stmt]) -> list[str]:
    """The names that a scope binds, in the order in which they stand there."""
    found: list[str] = []
    for node in _within(body):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.append(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) or (
            isinstance(node, ast.ExceptHandler) and node.name
        ):
            found.append(str(node.name))
    return found


def _stored(target: ast.expr) -> list[str]:
    return [
        node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]


def _within(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of a scope in order, without those of the scopes within; of comprehensions what they bind outside."""
    for node in body:
        if isinstance(node, _COMPREHENSIONS):
            for each in ast.walk(node):
                if isinstance(each, ast.NamedExpr):
                    yield each.target
            continue
        yield node
        if not isinstance(node, _SCOPES):
            yield from _within(list(ast.iter_child_nodes(node)))
