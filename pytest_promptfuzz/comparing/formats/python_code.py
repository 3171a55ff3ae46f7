"""Python programs in a canonical form: two programs of the same form do the same, whatever they are given.

Only what the language guarantees is set aside: names that nothing outside a function can see, annotations that nothing
reads, the order of imports of the standard library, ``x += 1`` where ``x`` is a number. ``total += price`` stays,
since a price may be a list. A program that looks at itself (``locals``, ``inspect``, dataclasses) has no such form.
"""

from __future__ import annotations

import ast
import builtins
import collections.abc
import copy
import sys
import typing
import warnings
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, TypeGuard

from pytest_promptfuzz.comparing.reading.word_lists import word_set

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LIMIT = 20_000  # characters: a longer program is compared by its tokens alone


def dumped(program: str) -> str | None:
    """A Python program's syntax tree as text, without positions, comments and docstrings, ``a > b`` as ``b < a``.

    Returns:
        ``None`` if it is not Python.
    """
    tree = tree_of(program)
    return None if tree is None else ast.dump(tree)


def canonical_form(program: str) -> str | None:
    """The canonical form of a Python program, as ``dumped`` has it; ``None`` if it has none, or is not Python."""
    tree = tree_of(program)
    if tree is None:
        return None
    try:
        return _canonical(tree)
    except RecursionError:
        return None


@lru_cache(maxsize=256)
def tree_of(program: str) -> ast.Module | None:
    """A Python program's syntax tree, as ``dumped`` has it; ``None`` if it is not Python."""
    if len(program) > _LIMIT:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and ast.get_docstring(
            node, clean=False
        ):
            node.body = node.body[1:] or [ast.Pass()]
        if (
            isinstance(node, ast.Compare)
            and len(node.ops) == 1
            and isinstance(node.ops[0], (ast.Gt, ast.GtE))
            and not (_calls(node.left) and _calls(node.comparators[0]))
        ):
            node.ops = [ast.Lt() if isinstance(node.ops[0], ast.Gt) else ast.LtE()]
            node.left, node.comparators = node.comparators[0], [node.left]
    return tree


def _calls(node: ast.expr) -> bool:
    """Whether evaluating a node may run something, whose order would count."""
    running = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
    return any(isinstance(each, running) for each in ast.walk(node))


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


def _canonical(tree: ast.Module) -> str | None:
    """The canonical form of a program as text for comparison only; ``None`` where it has none.

    Args:
        tree: The program; it is left as it is.
    """
    tree = copy.deepcopy(tree)
    names = {name for node in ast.walk(tree) for name in _names_in(node)}
    if names & _REFLECTIVE:
        return None
    bound = {name for node in ast.walk(tree) for name in _binds(node)}
    if _roots(tree) <= sys.stdlib_module_names:  # a framework may read what it is given
        _without_annotations(tree, bound)
    for node, block in _blocks(tree):
        block[:] = _statements(block, last=isinstance(node, _FUNCTIONS) and block is node.body)
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS):
            _spelled_out(node, _BUILTIN - bound)
    tree = _Expressions().visit(tree)
    tree.body = _in_order(_imports(tree.body, names, tree))
    return ast.dump(_Renaming().visit(tree))


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


def _binds(node: ast.AST) -> Iterator[str]:
    """What a node binds, imports and classes apart."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, _FUNCTIONS) or (isinstance(node, ast.ExceptHandler) and node.name):
        yield str(node.name)


def _binds_otherwise(node: ast.AST) -> Iterator[str]:
    """The classes and modules that a node binds, and the names that it takes from elsewhere."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from ((each.asname or each.name).partition(".")[0] for each in node.names)
    elif isinstance(node, (ast.Global, ast.Nonlocal)):
        yield from node.names
    elif isinstance(node, ast.ClassDef):
        yield node.name


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
    for _, block in _blocks(function):
        for index, each in enumerate(block):
            target = getattr(each, "target", None)
            if isinstance(each, ast.AugAssign) and isinstance(target, ast.Name) and target.id in immutable:
                left = ast.Name(id=target.id, ctx=ast.Load())
                value = ast.BinOp(left=left, op=each.op, right=each.value)
                block[index] = ast.Assign(targets=[target], value=value, lineno=each.lineno)


def _immutable(function: ast.FunctionDef | ast.AsyncFunctionDef, builtin: frozenset[str]) -> set[str]:
    """A function's names that only ever hold numbers and texts."""
    values: dict[str, list[ast.expr]] = {}
    plain: set[int] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Match):
            return set()
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value: ast.expr | None = None
        if isinstance(node, ast.AugAssign) or (isinstance(node, ast.Assign) and len(node.targets) == 1):
            value = node.value
        elif isinstance(node, ast.For) and _is_call(node.iter, builtin & {"range"}):
            value = ast.Constant(value=0)
        if isinstance(target, ast.Name) and value:
            values.setdefault(target.id, []).append(value)
            plain.add(id(target))
    bound = {
        name
        for node in ast.walk(function)
        if id(node) not in plain
        for name in (*_binds(node), *_binds_otherwise(node))
    }
    found = values.keys() - bound
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
    for _, run in groupby(body, key=lambda each: isinstance(each, (ast.Import, ast.ImportFrom))):
        imports: list[ast.Import | ast.ImportFrom] = []
        for each in run:
            if not isinstance(each, (ast.Import, ast.ImportFrom)):
                found.append(each)
                continue
            for alias in each.names:
                single = copy.copy(each)
                single.names = [alias]
                module = (each.module or "") if isinstance(each, ast.ImportFrom) else alias.name
                name = next(_binds_otherwise(single))
                unused = not annotated if module == "__future__" else name not in used
                if not (alias.name in _TYPING.get(module, ()) and unused and "__all__" not in names):
                    imports.append(single)
        found += _sorted_run(imports)
    return found


def _sorted_run(run: list[ast.Import | ast.ImportFrom]) -> list[ast.Import | ast.ImportFrom]:
    modules = [each.module or "" if isinstance(each, ast.ImportFrom) else each.names[0].name for each in run]
    roots = {each.partition(".")[0] for each in modules}
    bound = [name for each in run for name in _binds_otherwise(each)]
    relative = any(isinstance(each, ast.ImportFrom) and each.level for each in run)
    quiet = roots <= sys.stdlib_module_names - _LOUD and not relative and "*" not in bound
    return sorted(run, key=ast.dump) if quiet and len({*bound}) == len(bound) else run


def _in_order(body: list[ast.stmt]) -> list[ast.stmt]:
    """Functions that stand together in one order, where defining them runs nothing."""
    found: list[ast.stmt] = []
    for inert, run in groupby(body, key=_is_inert):
        stood = [*run]
        names = [getattr(each, "name", "") for each in stood]
        if inert and len({*names}) == len(names):
            stood.sort(key=lambda each: getattr(each, "name", ""))
        found += stood
    return found


def _is_inert(statement: ast.stmt) -> bool:
    if not isinstance(statement, _FUNCTIONS) or statement.decorator_list:
        return False
    arguments = statement.args
    annotations = [statement.returns, *(each.annotation for each in _arguments_of(arguments))]
    return not arguments.defaults and not any(arguments.kw_defaults) and not any(annotations)


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_HARMLESS_DECORATORS = frozenset({"staticmethod", "classmethod", "property", "abstractmethod"})
_TYPING = {
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


def _without_annotations(tree: ast.Module, bound: set[str]) -> None:
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
            if isinstance(node, _FUNCTIONS) and _is_plain(node):
                for argument in _arguments_of(node.args):
                    if postponed or _is_safe(argument.annotation, known, generic):
                        argument.annotation = None
                if postponed or _is_safe(node.returns, known, generic):
                    node.returns = None
                _assigned(node)
        if isinstance(statement, ast.ImportFrom) and statement.module in _TYPING:
            here = _TYPING[statement.module]
            names = {each.name for each in statement.names if each.name in here and not each.asname} - bound
            known, generic = known | names, generic | (names & _ARITY.keys())
        elif isinstance(statement, ast.ClassDef) and statement.name not in bound:
            known |= {statement.name}
    for index, each in enumerate(tree.body):
        if isinstance(each, ast.AnnAssign) and each.value and _is_safe(each.annotation, known, generic):
            tree.body[index] = ast.Assign(targets=[each.target], value=each.value, lineno=each.lineno)


def _is_plain(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return all(isinstance(each, ast.Name) and each.id in _HARMLESS_DECORATORS for each in node.decorator_list)


def _arguments_of(arguments: ast.arguments) -> list[ast.arg]:
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
    for _, block in _blocks(function):
        for index, each in enumerate(block):
            if isinstance(each, ast.AnnAssign) and each.value and isinstance(each.target, ast.Name):
                block[index] = ast.Assign(targets=[each.target], value=each.value, lineno=each.lineno)


def _blocks(tree: ast.AST) -> Iterator[tuple[ast.AST, list[ast.stmt]]]:
    """The lists of statements in a tree, each of which can be changed, and whose they are."""
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                yield node, block


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class _Renaming(ast.NodeTransformer):
    """Numbers the local variables of functions and comprehensions; parameters keep their names."""

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

    visit_FunctionDef = visit_AsyncFunctionDef = _function  # noqa: N815 - named as ast names its nodes

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        outer, parameters = self._names, self._parameters(node.args)
        self._names = {**outer, **{each: each for each in parameters}}
        node.body = self.visit(node.body)
        self._names = outer
        return node

    def _parameters(self, arguments: ast.arguments) -> list[str]:
        """Rename within defaults and annotations, which stand outside; return the parameters' names."""
        self.generic_visit(arguments)
        return [each.arg for each in _arguments_of(arguments)]

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

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension  # noqa: N815 - likewise


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
            outside |= {*_binds_otherwise(node)}
    return outside, nonlocals


def _bound(body: Sequence[ast.stmt]) -> list[str]:
    """The names that a scope binds, in the order in which they stand there."""
    return [
        name
        for node in _within(body)
        for name in ([node.name] if isinstance(node, ast.ClassDef) else _binds(node))
    ]


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
