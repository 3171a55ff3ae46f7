"""Plain equations and arithmetic in prose: ``x^2 + 3x = 7``, ``2 + 2``, ``f(x) >= 0``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.expressions import expression
from pytest_promptfuzz.prompts.words import places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.prompts.words import Found

_GATE = expression(r"[=^+×÷√≤≥≠±∑∫*<>−]")
_OPERAND = r"-?(?:√?\(?\w{1,24}(?:\.\d{1,12})?(?:\([^()\n]{1,40}\))?\)?(?:\^-?[\w{(]{1,12}[)}]?|[²³⁴ⁿ])?)"
# An operator has a space on both sides or on neither: "-7 and +3" is no sum.
_SIGN = r"(?:[=!<>]=|\*\*|[=+×÷≤≥≠≈±^*/<>−])"
_OPERATOR = rf"(?:\s{_SIGN}\s|{_SIGN}|\s-\s|-(?=\d))"
_EQUATION = expression(rf"(?<![\w*<>/=^.]){_OPERAND}(?:{_OPERATOR}{_OPERAND})+")
# What makes it mathematics rather than "and/or" or "well-known".
_MATHEMATICS = expression(r"[=^×÷√≤≥≠±²³−]|\d\s?[+*/<>-]\s?[\w(]|\w\s?[+*/<>]\s?\d|\b\w\s?[+*<>]\s?\w\b")
_SYMBOL = expression(r"(?<![^\W\d_])[b-zB-HJ-Z](?![^\W\d_])")


def equation_spans(text: str) -> list[Found]:
    """Equations, comparisons and arithmetic written without delimiters, kind ``math``."""
    if _GATE.search(text) is None:
        return []
    return [(m.start(), m.end(), "math") for m in _EQUATION.finditer(text) if _MATHEMATICS.search(m[0])]


def symbol_spans(text: str, found: Sequence[Found]) -> list[Found]:
    """The variables of the mathematics in ``found``, wherever else they stand alone in ``text``, kind ``math``.

    A variable is one letter; ``a``, ``A`` and ``I`` are words of their own and left out.
    """
    symbols = {
        letter for start, end, kind in found if kind == "math" for letter in _SYMBOL.findall(text, start, end)
    }
    return [(start, end, "math") for start, end in places(text, sorted(symbols))] if symbols else []
