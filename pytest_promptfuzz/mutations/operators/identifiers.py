"""The operator that renames variables and functions in Python and JavaScript code of a prompt."""

from __future__ import annotations

import ast
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_promptfuzz.mutations.engine.edits import Edit, replace
from pytest_promptfuzz.mutations.engine.operator import operator
from pytest_promptfuzz.mutations.operators.comments import SLOT, blocks, tokens, tree_of
from pytest_promptfuzz.prompts.prompt import as_prompt
from pytest_promptfuzz.text.expressions import expression, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pytest_promptfuzz.mutations.analysis.draft import Draft
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.randomness import Rng


# Scopes of a Python program: which of its names are variables of functions, and seen nowhere else.
#
# The rules are those of the language reference (4.2, Naming and binding). The standard library's ``symtable`` tells the
# same, but differently from one Python to the next.


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
    reader = _ScopeReader()
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


class _ScopeReader(ast.NodeVisitor):
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


# Which names of a program can be changed so that nobody but the program itself would notice.


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


# Local variables of JavaScript and TypeScript, as far as plain tokens tell; where they do not, there are none.


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


_WORD = expression(r"\w+")
_SNAKE = expression(r"_*[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
_SHARE = 0.5
_READERS = {"python": python_names, "javascript": javascript_names, "inline": inline_names}
# Prompts that ask about the names themselves.
_ABOUT_NAMES = expression(
    r"\b(?:(?:variable|parameter|argument|function|identifier|method)s?(?:'s?)? nam\w+|names|naming|renam\w+"
    r"|identifiers?|readab\w+|obfuscat\w+)\b",
    re.IGNORECASE,
)
_FORMS = ("my_{}", "the_{}", "{}_var", "var_{}")


@operator(
    "identifier-renaming",
    dimension="code",
    severity=0.3,
    preserves="yes",
    relation="renaming",
    touches=("code",),
    sources=("S4",),
    example=(
        "Explain.\n\n```python\ndef f(prices):\n    return sum(prices)\n```",
        "Explain.\n\n```python\ndef f(my_prices):\n    return sum(my_prices)\n```",
    ),
    trusted=True,
    default=False,
)
def identifier_renaming(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Variables, parameters, private functions of Python and JavaScript get other names throughout (half of them)."""
    sites = draft.once(_sites)
    names = sorted(sites)
    used = frozenset(_WORD.findall(draft.text))
    for chosen in rng.draws(names, _SHARE):
        renaming = _fresh(chosen, used, _FORMS[rng.below(len(_FORMS))])
        yield sorted(replace(start, end, renaming[name]) for name in chosen for start, end in sites[name])


@operator(
    "camel-case",
    dimension="code",
    severity=0.3,
    preserves="conditional",
    relation="renaming",
    touches=("code",),
    sources=("S4",),
    example=(
        "Explain.\n\n```python\ndef f(all_prices):\n    return sum(all_prices)\n```",
        "Explain.\n\n```python\ndef f(allPrices):\n    return sum(allPrices)\n```",
    ),
    trusted=True,
    default=False,
)
def camel_case(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Variables, parameters, private functions in snake_case get names in camelCase throughout (all, then some)."""
    sites = draft.once(_sites)
    used = frozenset(_WORD.findall(draft.text))
    renaming = {name: _camel(name) for name in sorted(sites) if _SNAKE.fullmatch(name)}
    new = Counter(renaming.values())
    names = [name for name, other in renaming.items() if other not in used and new[other] == 1]
    for chosen in rng.all_then_some(names):
        yield sorted(replace(start, end, renaming[name]) for name in chosen for start, end in sites[name])


def _camel(name: str) -> str:
    bare = name.lstrip("_")
    first, *rest = bare.split("_")
    return name[: len(name) - len(bare)] + first + "".join(each.capitalize() for each in rest)


_RENAMING = frozenset(["identifier-renaming", "camel-case"])


def renaming_of(mutation: Mutation) -> dict[str, str]:
    """Which names a mutation changed: old to new; empty unless an operator that renames had a part in it."""
    if not any(each.partition("@")[0] in _RENAMING for each in mutation.operators):
        return {}
    prompt = mutation.source if mutation.source is not None else as_prompt(mutation.original)
    code = [(start, end) for start, end, kind in prompt.spans if kind == "code"]
    found: dict[str, str] = {}
    for edit in mutation.edits:
        old, new = mutation.original[edit.start : edit.end], edit.replacement(mutation.original)
        if (
            old.isidentifier()
            and new.isidentifier()
            and any(a <= edit.start and edit.end <= b for a, b in code)
        ):
            found[old] = new
    return found


def _sites(draft: Draft) -> Mapping[str, list[tuple[int, int]]]:
    """Where each name stands that may change, in the whole prompt."""
    found: dict[str, list[tuple[int, int]]] = {}
    programs = draft.once(blocks)
    if not programs or _ABOUT_NAMES.search(draft.free):
        return found
    text = draft.text
    free: set[str] = set()
    kept: set[str] = set()
    position = 0
    for block in programs:
        reader = _READERS.get(block.family)
        names = None if reader is None else reader(text[block.start : block.end])
        if names is None:
            continue
        kept.update(_WORD.findall(text, position, block.start))
        position = block.end
        for each in names.texts:
            kept.update(_WORD.findall(each))
        for name, start, end in names.places:
            found.setdefault(name, []).append((block.start + start, block.start + end))
            if name not in names.free:
                kept.add(name)
        if block.family != "inline":
            free |= names.free
    kept.update(_WORD.findall(text, position))
    for slot in SLOT.finditer(text):
        kept.update(_WORD.findall(slot[0]))
    return {name: found[name] for name in free - kept}


def _fresh(names: list[str], used: frozenset[str], form: str) -> dict[str, str]:
    """New names that no word of the prompt bears, in the style of the old ones."""
    taken = set(used)
    renaming: dict[str, str] = {}
    for number, name in enumerate(names, 1):
        bare = name.lstrip("_")
        base = form.format(number if form == "var_{}" else bare)
        new = _styled(base, bare, form)
        candidate = name[: len(name) - len(bare)] + new
        again = 2
        while candidate in taken:
            candidate = f"{name[: len(name) - len(bare)]}{new}{again}"
            again += 1
        taken.add(candidate)
        renaming[name] = candidate
    return renaming


def _styled(new: str, bare: str, form: str) -> str:
    """``my_total`` for ``total``, ``MY_TOTAL`` for ``TOTAL``, ``myItemCount`` for ``itemCount``."""
    if len(bare) > 1 and bare.isupper():
        return new.upper()
    if "_" in bare or bare == bare.lower() or form == "var_{}":
        return new
    prefix = form.partition("_")[0]
    return prefix + bare[0].upper() + bare[1:] if prefix != "{}" else bare + "Var"
