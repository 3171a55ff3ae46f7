"""Program text: the same but for comments, spacing, quotes and names."""

from __future__ import annotations

import ast
import re
import warnings
from functools import lru_cache

from pytest_promptfuzz.comparing.text import strip_fence
from pytest_promptfuzz.expressions import expression

_FENCED = expression(r"```[\w+-]*[ \t]*\n(.*?)```", re.DOTALL)
_STARTS = expression(
    r"^\s*(?:def \w+\(|class \w+[(:]|import \w+|from [\w.]+ import "
    r"|function\s*\w*\(|(?:const|let|var) \w+ ?=|#include|public |package \w)",
    re.MULTILINE,
)
_LANGUAGE = expression(
    r"\A\s*```(?:python|py|javascript|js|typescript|ts|java|c|cpp|csharp|cs|go|rust|ruby|php|swift|kotlin|bash|sh|r|scala)"
    r"[ \t]*\n",
    re.IGNORECASE,
)
_LIMIT = 20_000  # characters: a longer program is compared by its tokens alone


def block(text: str) -> str:
    """The program in an answer: the only fenced block, else the whole text."""
    inner = strip_fence(text)
    if inner is not text:
        return inner
    found = _FENCED.findall(text)
    if found:
        return found[0] if len(found) == 1 else text
    return _without_talk(text)


_BLANK = expression(r"\n[ \t]*\n")
_LEADING = expression(r"\A[A-Z][\w' ,’-]{2,120}:\Z")
_CLOSING = expression(r"\A[A-Z][a-z'’]*(?:[ ,'’-]+[\w'’-]+){2,30}[.!?]\Z")


def _without_talk(text: str) -> str:
    """A program without a line such as "This does it:" above it and "Hope that helps!" below it, each a paragraph."""
    parts = _BLANK.split(text.strip())
    if len(parts) == 1 or len(parts[-1]) > _TALK < len(parts[0]):
        return text
    start = 1 if len(parts[0]) <= _TALK and _LEADING.match(parts[0]) else 0
    end = len(parts) - 1 if len(parts[-1]) <= _TALK and _CLOSING.match(parts[-1]) else len(parts)
    return "\n\n".join(parts[start:end]) if start < end and end - start < len(parts) else text


_TALK = 200
"""Characters up to which a paragraph beside a program is taken for talk."""


def looks_like(text: str) -> bool:
    """Whether an answer is mostly program text."""
    return bool(_LANGUAGE.match(text)) or bool(_STARTS.match(strip_fence(text)))


def python_form(program: str) -> str | None:
    """A Python program's syntax tree as text, without positions, comments and docstrings, ``a > b`` as ``b < a``.

    Returns:
        ``None`` if it is not Python.
    """
    tree = python_tree(program)
    return None if tree is None else ast.dump(tree)


def python_canonical(program: str) -> str | None:
    """The canonical form of a Python program, as ``python_form`` has it; ``None`` if it has none, or is not Python."""
    tree = python_tree(program)
    if tree is None:
        return None
    from pytest_promptfuzz.comparing.python_form import canonical

    try:
        return canonical(tree)
    except RecursionError:
        return None


@lru_cache(maxsize=256)
def python_tree(program: str) -> ast.Module | None:
    """A Python program's syntax tree, as ``python_form`` has it; ``None`` if it is not Python."""
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


def lines(program: str) -> list[str]:
    """The lines of a program without trailing space and blank lines."""
    return [line.rstrip() for line in program.strip("\n").splitlines() if line.strip()]


_TOKEN = expression(
    r"(?P<comment>/\*.*?\*/|(?<![:\w])//[^\n]*|(?:(?<=\s)|\A)#(?![\w\[])[^\n]*)"
    r"|(?P<string>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
    r"|(?P<word>[^\W\d]\w*)|(?P<number>\d[\w.]*)|(?P<line>\n[ \t]*)"
    r"|(?P<sign>=>|->|[=!]==?|[<>]=|&&|\|\||\+\+|--|\*\*|//|::|[+*/%&|^-]=|[^\s\w])",
    re.DOTALL,
)


def tokens(program: str) -> list[str]:
    """The tokens of a program in any language, without comments; strings in one style of quotes.

    Where indentation has a meaning, a token that begins with a line feed stands for the depth of the next line. In
    languages with braces, semicolons, the parentheses of a sole arrow parameter and trailing commas say nothing.
    """
    tree = python_tree(program)
    if tree is not None:
        program = ast.unparse(tree)
    indented = tree is not None or not _BRACES.search(program)
    found: list[str] = []
    depths = [0]
    for each in _TOKEN.finditer(program.strip()):
        kind, text = each.lastgroup, each[0]
        if kind == "comment":
            continue
        if kind == "line":
            if indented:
                if found and found[-1][0] == "\n":
                    found.pop()
                width = len(text.expandtabs(4)) - 1
                while width < depths[-1]:
                    depths.pop()
                if width > depths[-1]:
                    depths.append(width)
                found.append("\n" + "  " * (len(depths) - 1))
        elif kind == "string" and (text[0] == "'" and '"' not in text and "\\" not in text):
            found.append(f'"{text[1:-1]}"')
        elif kind == "number":
            found.append(plain_decimal(text))
        else:
            found.append(text)
    return found if tree is not None else _plainer(found)


def comments(program: str) -> list[str]:
    """What the comments and the docstrings of a program say, in order, each without its signs."""
    if not any(sign in program for sign in _SIGNS):
        return []
    found = []
    for each in _REMARK.finditer(program):
        if each["doc"] is not None or each["remark"] is not None:
            said = " ".join(line.strip(" \t*/#\"'") for line in (each["doc"] or each["remark"]).splitlines())
            found.append(said.strip())
    return found


_SIGNS = ("#", "//", "/*", '"""', "'''", "--")
_REMARK = expression(
    r"(?:(?<=:\n)|\A|(?<=\n))[ \t]*(?P<doc>\"{3}.*?\"{3}|'{3}.*?'{3})"
    r"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'"
    r"|(?P<remark>/\*.*?\*/|(?<![:\w])//[^\n]*|(?:(?<=\s)|\A)(?:#(?![\w\[])|--[ \t])[^\n]*)",
    re.DOTALL,
)


_BRACES = expression(r"[{};]\s*$|=>", re.MULTILINE)


def plain_decimal(number: str) -> str:
    """A number as a program writes it, without the zeros at its end: ``2.50`` is ``2.5``, and ``1.00`` is ``1.0``."""
    whole, point, rest = number.partition(".")
    if not point or not whole.isdigit() or not rest.isdigit():
        return number
    return f"{whole}.{rest.rstrip('0') or '0'}"


def _plainer(found: list[str]) -> list[str]:
    result: list[str] = []
    loops = "for" in found
    for index, word in enumerate(found):
        following = found[index + 1] if index + 1 < len(found) else ""
        if word == ";" and following[:1] in {"", "\n", "}"}:
            continue
        if word == ";" and not loops:
            continue
        if word == "," and following in {"}", "]", ")"}:
            continue
        if word == "=>" and len(result) > 2 and result[-1] == ")" and result[-3] == "(":
            result[-3:] = [result[-2]]
        result.append(word)
    return result


_BINDING = frozenset({"def", "function", "func", "fn", "const", "let", "var", "for", "lambda", "class", "as"})


def renaming(first: list[str], second: list[str]) -> list[tuple[str, str]]:
    """The names that changed, each to another one throughout, where nothing else changed; else an empty list.

    Only names a program binds itself count: what it calls or reads from elsewhere may not be renamed.
    """
    if len(first) != len(second):
        return []
    forth: dict[str, str] = {}
    back: dict[str, str] = {}
    for index, (old, new) in enumerate(zip(first, second, strict=True)):
        if old != new and not (old.isidentifier() and new.isidentifier()):
            return []
        if old.isidentifier() and (forth.setdefault(old, new) != new or back.setdefault(new, old) != old):
            return []
        if old != new and index and first[index - 1] == ".":
            return []
    changed = [(old, new) for old, new in forth.items() if old != new]
    bound = _bound(first)
    return changed if all(old in bound for old, _ in changed) else []


def _bound(sequence: list[str]) -> set[str]:
    found: set[str] = set()
    parameters = 0
    for index, word in enumerate(sequence):
        previous = sequence[index - 1] if index else ""
        following = sequence[index + 1] if index + 1 < len(sequence) else ""
        if parameters:
            parameters += (word == "(") - (word == ")")
        elif word == "(" and index > 1 and sequence[index - 2] in _BINDING:
            parameters = 1
        if word.isidentifier() and (
            previous in _BINDING
            or following in {"=", "=>"}
            or (parameters and previous in {"(", ",", "*", "**"})
        ):
            found.add(word)
    return found
