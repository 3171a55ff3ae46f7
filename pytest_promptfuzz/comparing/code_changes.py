"""What changed between two programs that cannot leave them doing the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing import code

if TYPE_CHECKING:
    from collections.abc import Sequence

_OPERATORS = (
    frozenset({"all", "any"}),
    frozenset({"min", "max", "sum", "len"}),
    frozenset({"startswith", "endswith"}),
    frozenset({"upper", "lower"}),
    frozenset({"floor", "ceil"}),
    frozenset({"break", "continue"}),
    frozenset({"encode", "decode"}),
    frozenset({"add", "remove"}),
    frozenset({"push", "pop"}),
    frozenset({"get", "post", "put", "patch", "delete"}),
    frozenset({"<", "<=", ">", ">=", "==", "!=", "===", "!=="}),
    frozenset({"+", "-", "*", "/", "//", "%", "**"}),
    frozenset({"+=", "-=", "*=", "/="}),
    frozenset({"and", "or"}),
    frozenset({"&&", "||"}),
    frozenset({"True", "False"}),
    frozenset({"true", "false"}),
)
_NEGATIONS = ({"not"}, {"!"}, {"-"})
_QUOTES = "\"'"


def surely_differ(
    first: list[str], second: list[str], changes: Sequence[tuple[Sequence[str], Sequence[str]]]
) -> bool:
    """Whether small changes in an equal frame cannot leave a program doing the same.

    One operator, number or string literal for another, a negation more or less, a line indented otherwise, one name
    for another that both programs use, or the sides of a minus exchanged. ``x += 1`` for
    ``x = x + 1`` is none of these.
    """
    if _exchanged(first, second):
        return True
    shared = {*first} & {*second}
    kinds = {_kind(old, new, shared) for old, new in changes}
    return len(changes) <= _FEW and len(kinds) == 1 and "" not in kinds


_FEW = 2
_ORDERED = frozenset({"-", "/", "//", "%", "**", "<", "<=", ">", ">=", "<<", ">>"})


def _exchanged(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether all that differs is that ``a - b`` became ``b - a``."""
    apart = [index for index, (old, new) in enumerate(zip(first, second, strict=False)) if old != new]
    if len(first) != len(second) or len(apart) != 2:
        return False
    one, two = apart
    return (
        two == one + 2
        and first[one + 1] in _ORDERED
        and [first[one], first[two]] == [second[two], second[one]]
    )


def _kind(old: Sequence[str], new: Sequence[str], shared: set[str]) -> str:
    if not old or not new:
        return "negation" if len(old) + len(new) == 1 and {*old, *new} in _NEGATIONS else ""
    if len(old) != 1 or len(new) != 1:
        return ""
    one, two = old[0], new[0]
    if one[0] == "\n" == two[0]:
        return "indentation"
    same_class = any(one in group and two in group for group in _OPERATORS)
    numbers = one[0].isdigit() and two[0].isdigit()
    if same_class or numbers or (one[0] in _QUOTES and two[0] in _QUOTES):
        return "value"
    return "name" if one.isidentifier() and two.isidentifier() and {one, two} <= shared else ""


def other_argument(first: str, second: str) -> tuple[str, str] | None:
    """The one argument that differs between two command lines of the same program; an option is none."""
    one, two = first.split(), second.split()
    if (
        len(one) != len(two)
        or len(one) < _SHORTEST
        or one[0] != two[0]
        or "\n" in first.strip() + second.strip()
    ):
        return None
    if not one[0].isalpha() or any(code.python_tree(each) is not None for each in (first, second)):
        return None
    apart = [
        (old, new) for old, new in zip(one, two, strict=True) if old.strip(_QUOTES) != new.strip(_QUOTES)
    ]
    return apart[0] if len(apart) == 1 and not any(each[0] == "-" for each in apart[0]) else None


_SHORTEST = 3
