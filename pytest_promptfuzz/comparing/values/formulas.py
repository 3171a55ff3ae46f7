"""Formulas in plain text and LaTeX, compared by what they compute: x² is x^2, one half is 0.5, 3x - 4 is not 3x + 4."""

from __future__ import annotations

import ast
import cmath
import operator
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.comparing.comparison import Observation, decided
from pytest_promptfuzz.data.tables import entries, when_used
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_promptfuzz.comparing.comparison import Comparison

Key = tuple[str, tuple[complex, ...]]
"""Its relation and what each side comes to at three points; sides of an equation in either order."""


class Formula(NamedTuple):
    """A formula of a text.

    Attributes:
        text: As it is written.
        start: Where it begins.
        end: Where it ends.
        key: What it is the same by.
    """

    text: str
    start: int
    end: int
    key: Key

    @property
    def is_equation(self) -> bool:
        """Whether it says what something equals."""
        return self.key[0] == "="


@lru_cache(maxsize=4096)
def formulas(text: str) -> tuple[Formula, ...]:
    r"""The formulas of a text in order.

    >>> [each.text for each in formulas(r"From $\frac{x}{2} = 3$ follows x = 6.")]
    ['$\\frac{x}{2} = 3$', 'x = 6']
    """
    found: list[Formula] = []
    if _CUE.search(text):
        for each in _SPAN.finditer(text):
            written = each[0]
            key = key_of(written) if each["marked"] or _IS_MATH.search(written) else None
            if key is not None:
                found.append(Formula(written, each.start(), each.end(), key))
    return tuple(found)


def whole(text: str) -> Formula | None:
    """The formula or number that an answer is and nothing else."""
    bare = _ANSWER_IS.sub("", text.strip()).strip(" .*")
    key = key_of(bare) if 0 < len(bare) <= _LONGEST else None
    return None if key is None else Formula(bare, 0, len(text), key)


def result(text: str) -> Formula | None:
    r"""What an answer comes to: all of it, what is boxed, stands behind "Answer:", or ends a calculation.

    >>> result("3x - 4 = 8, so 3x = 12 and x = 4.").text
    'x = 4'
    """
    entire = whole(text)
    if entire:
        return entire
    found = formulas(text)
    equations = [each for each in found if each.is_equation]
    boxed = [each for each in found if "\\boxed" in each.text]
    if boxed:
        return boxed[-1]
    last_line = text.rstrip().rsplit("\n", 1)[-1]
    stated = _STATED.search(last_line)
    if stated and equations:
        return whole(stated[1])
    if len(equations) > 1 and _ENDS.fullmatch(text, found[-1].end):
        return found[-1]
    return None


def same_result(one: Formula, two: Formula) -> bool:
    """Whether two results are equal; of an equation with an unknown its value alone may be given: 4 is x = 4."""
    if one.key == two.key:
        return True
    return any(
        long.is_equation
        and not short.key[0]
        and short.key[1] in (long.key[1][:_POINTS], long.key[1][_POINTS:])
        for long, short in ((one, two), (two, one))
    )


def compare_formulas(first: str, second: str) -> Comparison | str | None:
    """Compare two answers by their formulas.

    Where both are a formula, or both come to a result, that decides. Otherwise a formula that has another in its place,
    in the same words, is a deviation.

    Returns:
        The response with equal formulas written as in the baseline where that does not decide; ``None`` without any.
    """
    if max(len(first), len(second)) > _MOST or not (_CUE.search(first) or _CUE.search(second)):
        return None
    known = formulas(first), formulas(second)
    if not any(known):
        return None
    one, two = result(first), result(second)
    if one and two:
        if same_result(one, two):
            return decided("equivalent", "formula", Observation("same-result", two.text))
        return decided("deviation", "formula", Observation("answer-became", one.text, two.text))
    if not all(known):
        return None
    texts = [_without(text, found) for text, found in zip((first, second), known, strict=True)]
    if len(known[0]) == len(known[1]) and texts[0] == texts[1]:
        for old, new in zip(*known, strict=True):
            if old.key != new.key:
                return decided("deviation", "formula", Observation("answer-became", old.text, new.text))
    written = _as_written(second, known[1], {each.key: each.text for each in known[0]})
    if written == first != second:
        return decided("equivalent", "formula", Observation("same-but-formulas"))
    return written


def _without(text: str, found: tuple[Formula, ...]) -> list[str]:
    """The words of a text beside its formulas."""
    blank = _as_written(text, found, {each.key: " " for each in found})
    return [word.strip(".,;:!?*").casefold() for word in blank.split()]


def _as_written(text: str, found: tuple[Formula, ...], written: dict[Key, str]) -> str:
    """A text with formulas written as given, by key."""
    for each in reversed(found):
        text = text[: each.start] + written.get(each.key, each.text) + text[each.end :]
    return text


@lru_cache(maxsize=8192)
def key_of(written: str) -> Key | None:
    """What a formula is the same by; ``None`` for what is none."""
    parts = _RELATION.split(_in_one_notation(written))
    sides = [_values(part) for part in parts[::2]]
    known = [side for side in sides if side is not None]
    if len(known) != len(sides) or len(set(parts[1::2])) > 1:
        return None
    relation = parts[1] if len(parts) > 1 else ""
    if relation in _TURNED:
        relation, known = _TURNED[relation], known[::-1]
    ordered = sorted(known, key=str) if relation == "=" and len(known) == _TWO else known
    return relation, tuple(value for side in ordered for value in side)


def _in_one_notation(written: str) -> str:
    """A formula in the notation of a program, but for the signs of multiplication that it leaves out."""
    text = written.strip().strip("$").strip()
    for pattern, plain in _NOTATION:
        for _ in range(_NESTED):
            text, count = pattern.subn(plain, text)
            if not count:
                break
    return text.translate(_SIGNS)


def _values(side: str) -> tuple[complex, ...] | None:
    """What one side of a formula comes to at three points; ``None`` where it is no expression."""
    tokens: list[str] = []
    at = 0
    while at < len(side):
        found = _TOKEN.match(side, at)
        if found is None or found.end() == at:
            return None
        token = found[1]
        if tokens and _ENDS_OPERAND.fullmatch(tokens[-1]) and _BEGINS_OPERAND.fullmatch(token):
            tokens.append("*")
        tokens.append(token)
        at = found.end()
    try:
        tree = ast.parse("".join(f" {each}" for each in tokens).strip(), mode="eval").body
        return tuple(_rounded(_computed(tree, point)) for point in range(_POINTS))
    except (SyntaxError, ValueError, ArithmeticError, KeyError, TypeError, RecursionError):
        return None


def _computed(node: ast.expr, point: int) -> complex:
    match node:
        case ast.Constant(value=int() | float() as value):
            return complex(value)
        case ast.Name(id=name):
            return complex(_CONSTANTS.get(name) or 0.7 + (ord(name) * 37 + point * 53) % 101 / 31)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_computed(operand, point)
        case ast.Call(func=ast.Name(id=name), args=[argument]):
            return _FUNCTIONS[name](_computed(argument, point))
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_computed(left, point), _computed(right, point))
    raise ValueError(node)


def _rounded(value: complex) -> complex:
    return complex(float(f"{value.real:.9g}"), float(f"{value.imag:.6g}") if abs(value.imag) > _TINY else 0.0)


_POINTS = 3
_TWO = 2
_NESTED = 5
_LONGEST = 120
_MOST = 20_000
_TINY = 1e-9
_CUE = expression(r"[=^×÷√²³⁴\\$]|\d[a-z]\b|\s[-+*/−<>≤≥]\s")
_OPERAND = (
    r"[-−]?\(*(?:√?\d+(?:,\d{3})*(?:\.\d+)?(?:[a-zA-Z]{1,2}(?![a-zA-Z]))?|[a-zA-Z]\([a-z]\)|[a-zA-Zπθ]{1,2}(?![a-zA-Z\d]))(?:\^\{?[-\w]+\}?|[²³⁴⁵⁶⁷⁸⁹])?"
    r"(?:[a-z](?![a-zA-Z])(?:\^\{?[-\w]+\}?|[²³⁴⁵⁶⁷⁸⁹])?)*\)*"
)
_SPAN = expression(
    r"(?P<marked>\$\$.{1,200}?\$\$|\$(?=[^\s\d]|\d+[^\d\s.,])[^$\n]{1,200}?(?<=\S)\$(?!\d)|\\\(.{1,200}?\\\)|\\\[.{1,200}?\\\]"
    r"|\\boxed\{(?:[^{}]|\{[^{}]*\})*\})"
    rf"|(?<![\w.&?/€£$%-]){_OPERAND}(?:\s*(?:[-+*/×·÷−=<>≤≥]|(?<=\d )x(?= \d))\s*{_OPERAND})+(?![\w%/-]|\.\d)"
    rf"|(?<![\w.])(?:\d*[a-zA-Z])(?:\^\{{?[-\w]+\}}?|[²³⁴⁵⁶⁷⁸⁹])(?!\w)",
    re.DOTALL,
)
_IS_MATH = expression(
    r"=|\^|[²³⁴⁵⁶⁷⁸⁹√]|\d[a-z](?![a-zA-Z])\s*[-+*/−]|[-+*/−]\s*\d[a-z](?![a-zA-Z])|\b[b-hj-z]\s[-+*/−<>≤≥]\s[\db-hj-z]\b"
)
_ANSWER_IS = expression(r"\A(?:the )?(?:final )?(?:answer|result|solution)(?: is)?\s*:?\s*", re.IGNORECASE)
_STATED = expression(r"(?:answer|result|solution)\W*(?:is|:|=)\W*?([-−(\d\\$a-z][^:]{0,80})\Z", re.IGNORECASE)
_ENDS = expression(r"(?:\s*[\w²³°%/]{1,12})?[.!*_)\s$]*")
"""What may stand behind a result: its unit."""
_RELATION = expression(r"\s*(<=|>=|[=<>≤≥≠])\s*")
_TURNED = {">": "<", "≥": "≤", ">=": "≤"}
_NOTATION = when_used(
    lambda: entries("values/formula_notation.tsv", lambda pattern, plain="": (expression(pattern), plain))
)
_SIGNS = str.maketrans("²³⁴⁵⁶⁷⁸⁹×·÷−–{}", "23456789**/--()")
_TOKEN = expression(
    r"\s*(\d+(?:\.\d+)?|\.\d+|(?:sqrt|sin|cos|tan|log|ln|exp|pi|theta)(?![a-z])|[^\W\d_](?![^\W\d_]{2})|\*\*|[-+*/()])\s*"
)
_ENDS_OPERAND = expression(r"[\d.]+|pi|theta|[^\W\d_]|\)")
_BEGINS_OPERAND = expression(r"[\d.]+|[^\W\d_]+|\(")
_CONSTANTS = {"pi": cmath.pi, "π": cmath.pi, "theta": 1.3, "θ": 1.3}
_FUNCTIONS: dict[str, Callable[[complex], complex]] = {
    "sqrt": cmath.sqrt, "sin": cmath.sin, "cos": cmath.cos, "tan": cmath.tan,
    "log": cmath.log10, "ln": cmath.log, "exp": cmath.exp,
}  # fmt: skip
_OPERATORS: dict[type, Callable[[complex, complex], complex]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
