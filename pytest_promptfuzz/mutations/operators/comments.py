"""Operators on code in a prompt that means the same: comments changed or removed, other spaces and blank lines."""

from __future__ import annotations

import ast
import re
import warnings
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.data.english_words import IMPERATIVES
from pytest_promptfuzz.data.tables import pairs
from pytest_promptfuzz.mutations.engine.edits import Edit, apply_edits, edits_at, insert, replace
from pytest_promptfuzz.mutations.engine.operator import operator
from pytest_promptfuzz.text.expressions import capitalised, expression, lower, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_promptfuzz.mutations.analysis.draft import Draft
    from pytest_promptfuzz.randomness import Rng


# Where a prompt holds program text, and in which language.


_FENCE = expression(
    r"(?P<mark>```|~~~)(?P<language>[\w+#-]*)[^\n`]*\n(?P<program>.*?)\n?[ \t]*(?P=mark)", re.DOTALL
)
_INLINE = expression(r"(`{1,2})(?P<program>[^`\n]+)\1")
_PYTHON = frozenset({"python", "py", "python3", ""})
_BRACED = pairs("mutations/braced_languages.tsv")

SLOT = expression(
    r"\{\{?[^{}\n:,\"']{1,80}(?:[:!][^{}\n\"', ]{0,40})?\}|\$\w+|%\(\w+\)|<[^\W\d]\w*>|\{[%#][^\n]{1,200}?[%#]\}"
)
"""What may be a slot inside a program: ``{total}`` is filled wherever it stands; ``{a, b}`` and ``{a: 1}`` are code."""

LONGEST = 20_000
"""Characters of program text up to which a block is read."""


class ProgramBlock(NamedTuple):
    """A piece of program text.

    Attributes:
        start: Where the program begins in the prompt's text, behind the fence.
        end: Where it ends.
        family: ``python`` (perhaps: a fence that names no language), ``javascript``, ``braces`` (another language
            with ``//`` comments), ``inline`` (between backticks), or ``other``.
    """

    start: int
    end: int
    family: str


def blocks(draft: Draft) -> list[ProgramBlock]:
    """The program text of a prompt, in order; none where no kinds of span are known."""
    found: list[ProgramBlock] = []
    for start, end in draft.of_kind("code"):
        match = _FENCE.fullmatch(draft.text, start, end)
        if match is not None:
            language = match["language"].lower()
            family = "python" if language in _PYTHON else _BRACED.get(language, "other")
        else:
            match = _INLINE.fullmatch(draft.text, start, end)
            family = "inline"
        if match is not None and match.end("program") - match.start("program") <= LONGEST:
            found.append(ProgramBlock(*match.span("program"), family))
    return found


# Python program text: its tokens and its syntax tree, read alike by every Python from 3.10 on.
#
# What only a newer Python can parse is not parsed at all, so that the same prompt gives the same mutations everywhere.


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


class ProgramToken(NamedTuple):
    """A token of a program: ``comment``, ``string``, ``name``, ``number``, ``space``, ``line`` or ``sign``."""

    kind: str
    start: int
    end: int
    text: str


def tokens(program: str) -> list[ProgramToken] | None:
    """All tokens of a program, which join to it; ``None`` if it cannot be cut alike for every Python."""
    found: list[ProgramToken] = []
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
        found.append(ProgramToken(kind, position, match.end(), text))
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


# Comments of program text: where they stand, and which of them say nothing but what the code does.


# Words only: no code that is commented out, no value, no label, no slot, no directive with a colon.
_PLAIN = expression(r"(?P<mark>#|//) ?(?P<words>[A-Za-z][a-z]*(?:[ ,;'-]+[A-Za-z]+)+[.]?)\Z")
# What a tool reads, and what asks for work.
_DIRECTIVE = expression(
    r"\b(?:todo|fixme|xxx|hack|noqa|pragma|pylint|nosec|fmt|isort|mypy|ruff|pyright|flake8|yapf|nolint|eslint|prettier"
    r"|istanbul|region|endregion|your|implement|complete|fill|insert|write|add your|coding)\b",
    re.IGNORECASE,
)
# What says more than the code does: what it expects, and how it ought to be.
_TELLING = expression(
    r"\b(?:note|warning|important|caution|bug|bugs|buggy|error|wrong|fix|expected?|examples?|e\.g|outputs?|returns?|inputs?"
    r"|prints?|hint|must|should|shall|assumes?|never|only|always|guaranteed?|license|copyright|author|deprecated|unsafe"
    r"|precondition|invariant|here|begin|end|start|stop|not|no|do not|without|except|unless|before|after)\b",
    re.IGNORECASE,
)
# What code does is told by a verb first; a noun ("weekly wage", "in metres") tells what the code does not.
_DOING = words(
    """
    append close collect copy cut divide double drop get increment initialise initialize iterate join load loop merge
    mix move multiply open pop push rename reset reverse round save scale set shift shuffle skip store strip subtract
    sum swap trim try update wait walk
    """
)
_LINE = expression(r"^[ \t]*(?P<comment>//[^\n]*?)[ \t\r]*$", re.MULTILINE)
_UNCLEAR = expression(r"`|/\*|\"\"\"|'''|\bR\"|<<-?\s?['\"A-Z]|\\\n")


class Comment(NamedTuple):
    """A plain comment.

    Attributes:
        start: Where it begins, with its mark.
        end: Where it ends.
        first: Where what must go begins, if it is taken out: with the space before it, or its whole line.
        last: Where that ends.
        alone: Whether it has a line of its own.
        words: Its text without the mark.
        idle: Whether it says nothing but what the code does.
    """

    start: int
    end: int
    first: int
    last: int
    alone: bool
    words: str
    idle: bool

    def moved(self, by: int) -> Comment:
        """The same comment, ``by`` characters further on."""
        return self._replace(
            start=self.start + by, end=self.end + by, first=self.first + by, last=self.last + by
        )


def python_comments(program: str) -> list[Comment]:
    """The plain comments of a Python program; none if it cannot be read or holds no statement."""
    tree = tree_of(program)
    if tree is None or not tree.body:
        return []
    found = [
        _comment(program, each.start, each.end) for each in tokens(program) or () if each.kind == "comment"
    ]
    return [each for each in found if each is not None]


def line_comments(program: str) -> list[Comment]:
    """The plain comments with ``//`` that have a line of their own, of a language with such comments."""
    if _UNCLEAR.search(program):
        return []
    found = [_comment(program, *match.span("comment")) for match in _LINE.finditer(program)]
    return [each for each in found if each is not None and each.last - each.first < len(program.strip())]


def _comment(program: str, start: int, end: int) -> Comment | None:
    text = program[start:end].rstrip()
    plain = _PLAIN.match(text)
    if plain is None or _DIRECTIVE.search(text) or SLOT.search(text):
        return None
    said = plain["words"]
    verb = said.split()[0].lower()
    idle = (verb in _DOING or verb in IMPERATIVES) and not _TELLING.search(said)
    stop = start + len(text)
    line = program.rfind("\n", 0, start) + 1
    alone = not program[line:start].strip()
    if not alone:
        first = line + len(program[line:start].rstrip())
        return Comment(start, stop, first, end, False, said, idle)
    after = program.find("\n", end)
    first, last = (line, after + 1) if after >= 0 else (max(0, line - 1), len(program))
    return Comment(start, stop, first, last, True, said, idle)


# Space in Python programs that can change without changing what they are, and statements that can bear a comment.


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


class ProgramStatement(NamedTuple):
    """A statement that begins a line.

    Attributes:
        start: Where it begins, behind its indentation.
        indent: The white space before it.
        remark: What a comment can say of it.
    """

    start: int
    indent: str
    remark: str

    def moved(self, by: int) -> ProgramStatement:
        """The same statement, ``by`` characters further on."""
        return self._replace(start=self.start + by)


def statements(program: str) -> list[ProgramStatement]:
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
            found.append(ProgramStatement(start, indent, remark))
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


def _ends_operand(token: ProgramToken) -> bool:
    if token.kind == "name":
        return token.text not in _KEYWORDS
    return token.kind in {"number", "string"} or token.text in {")", "]", "}"}


def _begins_operand(token: ProgramToken) -> bool:
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


_ABOUT_COMMENTS = expression(r"\b(?:comments?|docstrings?|document(?:s|ed|ing|ation)?)\b", re.IGNORECASE)
_ABOUT_STYLE = expression(
    r"\b(?:styles?|format(?:s|ted|ting|ter)?|indent\w*|pep ?8?|black|lint\w*|whitespace|spac(?:e|es|ing)|blanks?)\b",
    re.IGNORECASE,
)
_LINE_NUMBER = expression(r"\b(?:lines?|row|column)\b", re.IGNORECASE)


def _comments(draft: Draft) -> list[Comment]:
    """The plain comments of all code in the prompt, none where the prompt speaks of comments."""
    found: list[Comment] = []
    programs = draft.once(blocks)
    if not programs or _ABOUT_COMMENTS.search(draft.free):
        return found
    for block in programs:
        program = draft.text[block.start : block.end]
        if block.family == "python":
            inside = python_comments(program)
        elif block.family in {"braces", "javascript"}:
            inside = line_comments(program)
        else:
            continue
        found += [each.moved(block.start) for each in inside]
    return found


@operator(
    "comment-change",
    dimension="code",
    severity=0.1,
    preserves="yes",
    touches=("code",),
    sources=("S4",),
    example=(
        "Explain.\n\n```python\nx = 1  # the first number\n```",
        "Explain.\n\n```python\nx = 1  # The first number.\n```",
    ),
    trusted=True,
    default=False,
)
def comment_change(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Comments get another case or full stop, and statements a comment that says what they are (half of the places)."""
    sites: list[Comment | ProgramStatement] = [*draft.once(_comments), *draft.once(_bare_statements)]
    sites.sort(key=lambda each: each.start)
    return edits_at(rng.draws(sites, 0.5), lambda site: _changed(site, rng))


def _bare_statements(draft: Draft) -> list[ProgramStatement]:
    """The statements of Python code that a comment can be put above."""
    programs = draft.once(blocks)
    if not programs or _ABOUT_COMMENTS.search(draft.free) or _LINE_NUMBER.search(draft.free):
        return []
    return [
        each.moved(block.start)
        for block in programs
        if block.family == "python"
        for each in statements(draft.text[block.start : block.end])
    ]


def _changed(site: Comment | ProgramStatement, rng: Rng) -> Edit:
    if isinstance(site, ProgramStatement):
        return insert(site.start, f"# {site.remark}\n{site.indent}")
    words = site.words
    bare = words.rstrip(".")
    forms = [lower(bare[0]) + bare[1:], capitalised(bare)] if bare[1:2].islower() else [bare]
    others = [form + end for form in forms for end in ("", ".") if form + end != words]
    return replace(site.end - len(words), site.end, rng.choice(others))


@operator(
    "comment-removal",
    version=2,
    dimension="code",
    severity=0.2,
    preserves="conditional",
    touches=("code",),
    sources=("S4",),
    example=(
        "Explain.\n\n```python\n# add the numbers\nx = 1 + 2\n```",
        "Explain.\n\n```python\nx = 1 + 2\n```",
    ),
    trusted=True,
    default=False,
)
def comment_removal(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Plain comments are taken out of code (all, then some); not those that tools read or that ask for something."""
    sites = [each for each in draft.once(_comments) if each.idle]
    if any(each.alone for each in sites) and _LINE_NUMBER.search(draft.free):
        sites = [each for each in sites if not each.alone]
    return edits_at(rng.all_then_some(sites), lambda site: replace(site.first, site.last, ""))


@operator(
    "code-spacing",
    dimension="code",
    severity=0.1,
    preserves="yes",
    touches=("code",),
    surface=True,
    sources=("S4",),
    example=("Explain.\n\n```python\nx=1+2\n```", "Explain.\n\n```python\nx = 1 + 2\n```"),
    trusted=True,
    default=False,
)
def code_spacing(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Python code gets or loses spaces around operators and blank lines between statements (all places, then half)."""
    return rng.all_then_some(draft.once(_spaces))


def _spaces(draft: Draft) -> list[Edit]:
    """The places of Python code where space can change, with the change."""
    found: list[Edit] = []
    programs = draft.once(blocks)
    if not programs or _ABOUT_STYLE.search(draft.free):
        return found
    numbered = _LINE_NUMBER.search(draft.free) is not None
    for block in programs:
        if block.family != "python":
            continue
        program = draft.text[block.start : block.end]
        inside = operator_spaces(program)
        if not numbered:
            inside += blank_lines(program)
        found += [
            replace(block.start + each.start, block.start + each.end, str(each.parts[0])) for each in inside
        ]
    return sorted(found)


# Annotations are read at run time in classes and under decorators, so those stay.
_ABOUT_TYPES = expression(
    r"\b(?:typ(?:e|es|ed|ing)|annotat\w+|hints?|signatures?|mypy|pyright|pydantic|dataclass\w*)\b",
    re.IGNORECASE,
)


@operator(
    "type-removal",
    dimension="code",
    severity=0.2,
    preserves="conditional",
    touches=("code",),
    sources=("S4",),
    example=(
        "Explain.\n\n```python\ndef f(x: int) -> int:\n    return x + 1\n```",
        "Explain.\n\n```python\ndef f(x):\n    return x + 1\n```",
    ),
    trusted=True,
    default=False,
)
def type_removal(draft: Draft, rng: Rng) -> Iterator[list[Edit]]:
    """Annotations of Python functions are taken out (all, then some); not of classes or decorated functions."""
    return rng.all_then_some(draft.once(_annotations))


def _annotations(draft: Draft) -> list[Edit]:
    """The edits that take one annotation out each, with its colon or arrow."""
    found: list[Edit] = []
    programs = draft.once(blocks)
    if not programs or _ABOUT_TYPES.search(draft.free):
        return found
    for block in programs:
        program = draft.text[block.start : block.end]
        tree = tree_of(program) if block.family == "python" else None
        if tree is None or _evaluated(tree):
            continue
        starts = _line_starts(program)
        for start, end in sorted(_annotated(tree, program, starts)):
            found.append(replace(block.start + start, block.start + end, ""))
    return found


def _evaluated(tree: ast.Module) -> bool:
    """Whether a program may read annotations itself."""
    return any(
        (isinstance(node, ast.Attribute) and node.attr == "__annotations__")
        or (isinstance(node, ast.Name) and node.id in {"get_type_hints", "singledispatch", "locals"})
        for node in ast.walk(tree)
    )


def _annotated(tree: ast.AST, program: str, starts: list[int]) -> Iterator[tuple[int, int]]:
    """Where annotations of functions stand that no decorator reads, from the end of what they annotate."""

    def place(line: int, column: int) -> int:
        start = starts[line - 1]
        text = program[start : starts[line] - 1]
        return start + len(text.encode()[:column].decode())

    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef) or (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.decorator_list
        ):
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _of_function(node, program, place)
        yield from _annotated(node, program, starts)


def _of_function(
    node: ast.FunctionDef | ast.AsyncFunctionDef, program: str, place: Callable[[int, int], int]
) -> Iterator[tuple[int, int]]:
    arguments = node.args
    every = [
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    ]
    for each in every:
        if each is not None and each.annotation is not None:
            end = place(each.annotation.end_lineno or 0, each.annotation.end_col_offset or 0)
            yield place(each.lineno, each.col_offset) + len(each.arg), end
    if node.returns is not None:
        start = place(node.returns.lineno, node.returns.col_offset)
        end = place(node.returns.end_lineno or 0, node.returns.end_col_offset or 0)
        arrow = program.rfind("->", 0, start)
        if not program[arrow + 2 : start].strip() and program[end:].lstrip()[:1] == ":":
            yield len(program[:arrow].rstrip()), end
