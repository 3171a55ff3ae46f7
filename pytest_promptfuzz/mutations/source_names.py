"""Which names of a program can be changed so that nobody but the program itself would notice."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.mutations.lexicon.table import words
from pytest_promptfuzz.mutations.source_python import tokens, tree_of
from pytest_promptfuzz.mutations.source_scopes import parameters, variables

if TYPE_CHECKING:
    from collections.abc import Iterator

_RESERVED = words(
    """
    False None True and as assert async await break class continue def del elif else except finally for from global if
    import in is lambda nonlocal not or pass raise return try while with yield match case type _ print self cls super
    abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile complex copyright
    credits delattr dict dir divmod enumerate eval exec exit filter float format frozenset getattr globals hasattr hash
    help hex id input int isinstance issubclass iter len license list locals map max memoryview min next object oct open
    ord pow property quit range repr reversed round set setattr slice sorted staticmethod str sum tuple vars zip
    """
)
# Programs that look at their own names.
_REFLECTION = expression(
    r"\b(?:eval|exec|compile|locals|vars|globals|dir|inspect|format_map|_getframe|signature|get_type_hints|"
    r"__dict__|__code__|__annotations__|__qualname__|getsource|argspec)\b|\.__name__\b"
)
_DECORATORS = words(
    """
    staticmethod classmethod property setter getter deleter cache lru_cache wraps cached_property contextmanager
    abstractmethod override total_ordering
    """
)


class Names(NamedTuple):
    """The names of one piece of program text.

    Attributes:
        free: Those that may change as far as this program goes.
        functions: Those of ``free`` that are functions of the module.
        places: Where names stand: ``(name, start, end)``, in characters of the program.
        texts: What else it holds: strings (f-strings among them) and comments; a name in these must stay.
    """

    free: frozenset[str]
    functions: frozenset[str]
    places: list[tuple[str, int, int]]
    texts: list[str]


def python_names(program: str) -> Names | None:
    """The names of a Python program; ``None`` if it cannot be read, or looks at its own names.

    Free are variables of functions, lambdas and comprehensions, parameters, nested functions, and functions of the
    module that begin with one underscore. Not free is what is also an attribute, a keyword argument, an import, a
    built-in, a class, or a parameter that a framework or a caller may know by its name.
    """
    tree = tree_of(program)
    cut = tokens(program)
    if tree is None or cut is None or _REFLECTION.search(program):
        return None
    inner, functions = variables(tree)
    private = frozenset(name for name in functions if name[0] == "_")
    taken = frozenset(_seen(tree, inner | functions))
    free = frozenset(name for name in (inner | private) - taken if _plain(name))
    places = [(each.text, each.start, each.end) for each in cut if each.kind == "name"]
    texts = [each.text for each in cut if each.kind in {"string", "comment"}]
    return Names(free, free & private, places, texts)


def inline_names(program: str) -> Names | None:
    """The names of an expression or a statement between backticks: all but those that are seen from outside."""
    tree = tree_of(program)
    cut = tokens(program)
    if tree is None or cut is None:
        return None
    places = [(each.text, each.start, each.end) for each in cut if each.kind == "name"]
    free = {name for name, _, _ in places} - set(_seen(tree, frozenset()))
    texts = [each.text for each in cut if each.kind in {"string", "comment"}]
    return Names(frozenset(free), frozenset(), places, texts)


def _plain(name: str) -> bool:
    return name.isascii() and not name.startswith("__") and name.strip("_") != "" and name not in _RESERVED


def _seen(tree: ast.Module, own: frozenset[str]) -> Iterator[str]:
    """The names that something other than a variable bears, or that somebody may look for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.keyword):
            yield node.arg or ""
        elif isinstance(node, ast.MatchClass):
            yield from node.kwd_attrs
        elif isinstance(node, ast.alias):
            yield from (*node.name.split("."), node.asname or "")
        elif isinstance(node, ast.ClassDef):
            yield node.name
            if node.bases or node.keywords or node.decorator_list:
                for method in node.body:
                    if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
                        yield from (each.arg for each in parameters(method.args))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from (each.arg for each in node.args.kwonlyargs)
            if node.name.startswith("test") or not all(_harmless(each, own) for each in node.decorator_list):
                yield from (each.arg for each in parameters(node.args))


def _harmless(decorator: ast.expr, own: frozenset[str]) -> bool:
    """Whether a decorator does not look at the names of parameters."""
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = (
        target.attr
        if isinstance(target, ast.Attribute)
        else target.id
        if isinstance(target, ast.Name)
        else ""
    )
    return name in _DECORATORS or (isinstance(target, ast.Name) and name in own)
