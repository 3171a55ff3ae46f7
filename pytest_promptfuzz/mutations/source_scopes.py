"""Scopes of a Python program: which of its names are variables of functions, and seen nowhere else.

The rules are those of the language reference (4.2, Naming and binding). The standard library's ``symtable`` tells the
same, but differently from one Python to the next.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Kind = Literal["module", "class", "function", "comprehension"]


@dataclass(slots=True, eq=False)
class Scope:
    """One scope: what it binds, reads and declares.

    Attributes:
        kind: ``function`` for lambdas too.
        parent: The scope around it; None for the module.
        bound: Names it binds itself.
        read: Names it reads.
        outer: Names it declares ``global``.
        nonlocal_: Names it declares ``nonlocal``.
    """

    kind: Kind
    parent: Scope | None = None
    bound: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    outer: set[str] = field(default_factory=set)
    nonlocal_: set[str] = field(default_factory=set)

    def owner(self, name: str) -> Scope | None:
        """The scope whose variable ``name`` is here; None for a global that the program does not bind."""
        if name not in self.outer:
            if name in self.bound and name not in self.nonlocal_:
                return self
            scope = self.parent
            while scope is not None and scope.parent is not None:
                if scope.kind != "class":
                    if name in scope.outer:
                        break
                    if name in scope.bound and name not in scope.nonlocal_:
                        return scope
                scope = scope.parent
        module = self
        while module.parent is not None:
            module = module.parent
        return module if name in module.bound else None


def scopes(tree: ast.Module) -> list[Scope]:
    """All scopes of a program, the module's first."""
    reader = _Reader()
    for statement in tree.body:
        reader.visit(statement)
    return reader.found


def variables(tree: ast.Module) -> tuple[frozenset[str], frozenset[str]]:
    """The names that are variables of functions wherever they stand, and those that are the module's functions.

    Returns:
        Names bound in functions, lambdas and comprehensions only; and names that nothing but a ``def`` of the module
        binds. Whatever else a name is anywhere in the program takes it out of both.
    """
    owned: dict[str, set[Kind | None]] = {}
    for scope in scopes(tree):
        for name in scope.bound | scope.read | scope.outer | scope.nonlocal_:
            owner = scope.owner(name)
            owned.setdefault(name, set()).add(None if owner is None else owner.kind)
    inner = {name for name, kinds in owned.items() if kinds <= {"function", "comprehension"}}
    defined = {each.name for each in tree.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}
    assigned = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }
    functions = {name for name in defined - assigned if owned.get(name) == {"module"}}
    return frozenset(inner), frozenset(functions)


class _Reader(ast.NodeVisitor):
    """Walks a tree and notes what each scope binds and reads."""

    def __init__(self) -> None:
        self.scope = Scope("module")
        self.found = [self.scope]

    def _within(self, kind: Kind, nodes: Iterable[ast.AST | None], bound: Iterable[str] = ()) -> None:
        outside = self.scope
        self.scope = Scope(kind, outside, set(bound))
        self.found.append(self.scope)
        self._all(nodes)
        self.scope = outside

    def _all(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        (self.scope.read if isinstance(node.ctx, ast.Load) else self.scope.bound).add(node.id)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.scope.bound.add(node.name)
        self._all([*node.decorator_list, node.returns, *_annotations(node.args)])
        self._function(node.args, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._function(node.args, [node.body])

    def _function(self, arguments: ast.arguments, body: Iterable[ast.AST]) -> None:
        self._all([*arguments.defaults, *arguments.kw_defaults])
        self._within("function", body, (each.arg for each in parameters(arguments)))

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.scope.bound.add(node.name)
        self._all([*node.decorator_list, *node.bases, *node.keywords])
        self._within("class", node.body)

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> None:
        self._comprehension(node.generators, [node.elt])

    visit_SetComp = visit_GeneratorExp = visit_ListComp  # noqa: N815

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node.generators, [node.key, node.value])

    def _comprehension(self, generators: list[ast.comprehension], results: list[ast.expr]) -> None:
        self.visit(generators[0].iter)  # the first one is evaluated outside
        inner: list[ast.AST] = []
        for number, each in enumerate(generators):
            inner += [each.target, *([each.iter] if number else []), *each.ifs]
        self._within("comprehension", [*inner, *results])

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        scope = self.scope
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        scope.bound.add(node.target.id)
        self.scope.read.add(node.target.id)
        self.visit(node.value)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self._bind(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        self._bind(node.name)
        self.generic_visit(node)

    visit_MatchStar = visit_MatchAs  # noqa: N815

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self._bind(node.rest)
        self.generic_visit(node)

    def _bind(self, name: str | None) -> None:
        if name is not None:
            self.scope.bound.add(name)

    def visit_Global(self, node: ast.Global) -> None:
        self.scope.outer.update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.scope.nonlocal_.update(node.names)

    def visit_alias(self, node: ast.alias) -> None:
        self.scope.bound.add((node.asname or node.name).partition(".")[0])


def parameters(arguments: ast.arguments) -> Iterator[ast.arg]:
    """All parameters of a function, in order."""
    yield from arguments.posonlyargs
    yield from arguments.args
    if arguments.vararg is not None:
        yield arguments.vararg
    yield from arguments.kwonlyargs
    if arguments.kwarg is not None:
        yield arguments.kwarg


def _annotations(arguments: ast.arguments) -> list[ast.expr | None]:
    return [each.annotation for each in parameters(arguments)]
