"""What queries say, in one form: conditions, clauses, and text to compare them by. Needs ``sqlglot``."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

_MOST_VALUES = 50
"""Values of an ``IN`` up to which it is written as equalities."""

# How a dialect reads a division or joins strings is no part of a query: both run in the same place.
_READING = frozenset({"typed", "safe", "coalesce", "big_int", "comments"})
_OPPOSITES: dict[Any, Any] = {
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.LT: exp.GTE,
    exp.LTE: exp.GT,
    exp.GT: exp.LTE,
    exp.GTE: exp.LT,
}
_MIRRORED: dict[Any, Any] = {exp.GT: exp.LT, exp.GTE: exp.LTE}


class Rewriting:
    """The rules for single nodes.

    Args:
        nulls: Whether the query says where nulls are sorted; otherwise what a dialect assumes does not count.
        volatile: Whether it calls what gives another value each time, and so must not be said twice.
    """

    def __init__(self, *, nulls: bool, volatile: bool) -> None:
        self._skipped = _READING if nulls else _READING | {"nulls_first"}
        self._volatile = volatile

    def rewritten(self, node: Any) -> Any:
        """A node whose inner nodes are rewritten, in canonical form; ``None`` where it says nothing."""
        if isinstance(node, exp.Paren):
            return node.this
        if isinstance(node, exp.Not):
            return self._negated(node.this) or node
        if isinstance(node, exp.In):
            return self._membership(node)
        if isinstance(node, exp.Between) and not node.args.get("symmetric") and not self._volatile:
            low, high = node.args["low"], node.args["high"]
            return self._sorted(
                exp.And,
                [self._ordered(exp.LTE, low, node.this), self._ordered(exp.LTE, node.this.copy(), high)],
            )
        if isinstance(node, (exp.And, exp.Or)):
            return self._sorted(type(node), [node.this, node.expression])
        if isinstance(node, (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)):
            return self._ordered(type(node), node.this, node.expression)
        if isinstance(node, exp.Mul) and self.text(node.expression) < self.text(node.this):
            return exp.Mul(this=node.expression, expression=node.this)
        if isinstance(node, exp.Count) and isinstance(node.this, exp.Literal):
            return exp.Count(this=exp.Star())
        return self._clause(node)

    def _clause(self, node: Any) -> Any:
        if isinstance(node, exp.Fetch):
            options = node.args.get("limit_options")
            whole = not any(
                each.args.get(name) for each in (node, options) if each for name in ("percent", "with_ties")
            )
            if node.args.get("direction", "FIRST") in {"FIRST", "NEXT"} and whole:
                return exp.Limit(expression=node.args.get("count") or exp.Literal.number(1))
        elif isinstance(node, exp.Offset) and self.text(node.expression) == "0":
            return None
        elif isinstance(node, exp.Group):
            node.set("expressions", sorted(node.expressions, key=self.text))
        elif isinstance(node, exp.If) and not isinstance(node.parent, exp.Case):
            case = exp.If(this=node.this, true=node.args["true"])
            return exp.Case(ifs=[case], default=node.args.get("false"))
        elif isinstance(node, exp.Extract) and node.name.upper() in {"YEAR", "MONTH", "DAY"}:
            return {"YEAR": exp.Year, "MONTH": exp.Month, "DAY": exp.Day}[node.name.upper()](
                this=node.expression
            )
        elif (
            isinstance(node, exp.Alias) and isinstance(node.this, exp.Column) and node.alias == node.this.name
        ):
            return node.this
        elif isinstance(node, exp.Exists) and isinstance(node.this, exp.Select):
            inner = node.this
            if not inner.find(exp.AggFunc) and not inner.args.get("distinct"):
                inner.set("expressions", [exp.Literal.number(1)])
        return node

    def _negated(self, inner: Any) -> Any:
        """What ``NOT`` before a condition says without it; ``None`` where it has to stand."""
        if isinstance(inner, exp.Not):
            return inner.this
        if isinstance(inner, (exp.And, exp.Or)):
            parts = [self._negated(each) or exp.Not(this=each) for each in self._flat(type(inner), inner)]
            return self._sorted(exp.Or if isinstance(inner, exp.And) else exp.And, parts)
        opposite = _OPPOSITES.get(type(inner))
        return self._ordered(opposite, inner.this, inner.expression) if opposite else None

    def _membership(self, node: Any) -> Any:
        """``x IN (1, 2)`` is ``x = 1 OR x = 2``."""
        values = node.expressions
        extra = any(value for key, value in node.args.items() if key not in {"this", "expressions"})
        if extra or not values or len(values) > _MOST_VALUES:
            return node
        if self._volatile and node.this.find(exp.Func):
            return node
        return self._sorted(exp.Or, [self._ordered(exp.EQ, node.this.copy(), each) for each in values])

    def _ordered(self, kind: Any, left: Any, right: Any) -> Any:
        """A comparison with ``<`` for ``>``, and the sides of ``=`` in one order."""
        if kind in _MIRRORED:
            return _MIRRORED[kind](this=right, expression=left)
        if kind in {exp.EQ, exp.NEQ} and self.text(right) < self.text(left):
            left, right = right, left
        return kind(this=left, expression=right)

    def _flat(self, kind: Any, node: Any) -> list[Any]:
        if isinstance(node, kind):
            return [*self._flat(kind, node.this), *self._flat(kind, node.expression)]
        return [node]

    def _sorted(self, kind: Any, parts: list[Any]) -> Any:
        """What ``AND`` or ``OR`` joins, each once, in one order."""
        flat = {self.text(each): each for part in parts for each in self._flat(kind, part)}
        ordered = [flat[text] for text in sorted(flat)]
        whole = ordered[0]
        for each in ordered[1:]:
            whole = kind(this=whole, expression=each)
        return whole

    def text(self, node: Any) -> str:
        """A node as text that says how it is nested."""
        if isinstance(node, exp.Identifier):
            return f'"{node.name}"' if node.args.get("quoted") else str(node.name)
        if isinstance(node, exp.Literal):
            return repr(node.name) if node.is_string else str(node.name)
        if isinstance(node, exp.Column):
            return ".".join(self.text(part) for part in node.parts)
        if isinstance(node, exp.Boolean):
            return str(node.this).lower()
        if not isinstance(node, exp.Expression):
            return str(node)
        inner = [
            f"{key}=[{', '.join(map(self.text, value))}]"
            if isinstance(value, list)
            else f"{key}={self.text(value)}"
            for key, value in sorted(node.args.items())
            if value and key not in self._skipped
        ]
        return f"{type(node).__name__}({', '.join(inner)})"
