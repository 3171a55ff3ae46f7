"""Queries in a canonical form by ``sqlglot``, in which what provably returns the same rows is written the same.

Each rule holds for three-valued logic and whatever the tables hold. What would need to be known of them, such as whose
column an unqualified name is among several tables, is left as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.eliminate_subqueries import eliminate_subqueries

from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable

_LONGEST = 4_000  # characters: a sum of as many terms takes the library the square of its length
_TOP = expression(r"\bselect\s+(?:distinct\s+)?top\b", re.IGNORECASE)
_NULLS = expression(r"\bnulls\s+(?:first|last)\b", re.IGNORECASE)
_STRINGS = expression(r"'(?:[^']|'')*'")
_VOLATILE = expression(
    r"\b(?:rand|random|newid|uuid|gen_random_uuid|nextval|now|clock_timestamp)\b", re.IGNORECASE
)


@lru_cache(maxsize=256)
def canonical(query: str, *, dialect: str | None, names: bool) -> str | None:
    """A query in canonical form, as text for comparison only.

    Args:
        query: One statement.
        dialect: In which dialect it is read; ``None`` takes what its quotes and its ``TOP`` show.
        names: Whether the names that it gives to the columns of its result count.

    Returns:
        ``None`` where ``sqlglot`` cannot read it.
    """
    if len(query) > _LONGEST:
        return None
    try:
        statements = [each for each in sqlglot.parse(query, read=dialect or _dialect_of(query)) if each]
        if len(statements) != 1 or not isinstance(statements[0], exp.Query):
            return None
        form = _Form(statements[0], nulls=bool(_NULLS.search(query)), volatile=bool(_VOLATILE.search(query)))
        return form.written(names=names)
    except (SqlglotError, RecursionError, ValueError, KeyError, TypeError, AttributeError):
        return None  # what another release of the library cannot read is not told apart


def _dialect_of(query: str) -> str | None:
    bare = _STRINGS.sub("''", query)
    if "`" in bare:
        return "mysql"
    return "tsql" if "[" in bare or _TOP.search(bare) else None


_PLAIN_NAME = expression(r"[a-z_][a-z0-9_]*")


class _Form:
    """One query, rewritten step by step.

    Args:
        tree: The query as it was parsed; it is changed.
        nulls: As ``_Rewriting`` has it.
        volatile: The same.
    """

    def __init__(self, tree: Any, *, nulls: bool, volatile: bool) -> None:
        self._rewriting = _Rewriting(nulls=nulls, volatile=volatile)
        self._text = self._rewriting.text
        self._tree = exp.Subquery(this=eliminate_subqueries(tree))
        self._identifiers()
        self._queries_named()
        for select in self._tree.find_all(exp.Select):
            self._positions(select)
            self._joins(select)
        self._sources()
        self._everywhere(self._rewriting.rewritten)

    def written(self, *, names: bool) -> str:
        """The canonical text."""
        root = self._tree.this
        if not names and isinstance(root, exp.Select):
            root.set("expressions", [each.unalias() for each in root.expressions])
        return self._text(root)

    def _everywhere(self, rewrite: Callable[[Any], Any]) -> None:
        """Rewrite every node, those within it first."""
        for node in reversed(list(self._tree.this.walk())):
            new = rewrite(node)
            if new is not node:
                node.replace(new)

    def _identifiers(self) -> None:
        for each in self._tree.find_all(exp.Identifier):
            if not each.args.get("quoted"):
                each.set("this", each.name.lower())
            elif _PLAIN_NAME.fullmatch(each.name):
                each.set("quoted", False)

    def _queries_named(self) -> None:
        """Give the queries of ``WITH`` names by their order."""
        queries = [each for each in self._tree.find_all(exp.CTE) if not each.args["alias"].columns]
        new = {each.alias: f"_q{number}" for number, each in enumerate(queries, 1)}
        if len(new) < len(queries):
            return
        for each in queries:
            each.args["alias"].set("this", exp.to_identifier(new[each.alias]))
        for table in self._tree.find_all(exp.Table):
            if table.name in new and not table.db:
                if not table.alias:
                    table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name)))
                table.set("this", exp.to_identifier(new[table.name]))

    def _positions(self, select: Any) -> None:
        """``ORDER BY 1``, or by a name given in ``SELECT``, by what stands there; so ``GROUP BY`` and ``HAVING``."""
        shown = select.expressions
        starred = any(each.find(exp.Star) for each in shown if not each.find(exp.AggFunc))
        given = {each.alias: each.this for each in shown if isinstance(each, exp.Alias)}

        def meant(node: Any) -> Any:
            if (
                isinstance(node, exp.Literal)
                and node.is_int
                and not starred
                and len(node.name) < len(str(len(shown))) + 1
                and 1 <= int(node.name) <= len(shown)
            ):
                return shown[int(node.name) - 1].unalias().copy()
            if isinstance(node, exp.Column) and not node.table and node.name in given:
                return given[node.name].copy()
            return node

        def grouped_by(node: Any, others: set[str]) -> Any:
            found = meant(node)
            columns = {each.name for each in found.find_all(exp.Column)}
            # Where a table has a column of that name, some databases group by it: not where that would be an error.
            named = found is not node and isinstance(node, exp.Column)
            return node if named and (node.name in columns or columns <= others) else found

        order, group, having = (select.args.get(name) for name in ("order", "group", "having"))
        for each in order.expressions if order else []:
            each.set("this", meant(each.this))
        if group:
            plain = {each.name for each in group.expressions if isinstance(each, exp.Column)}
            grouped = [
                grouped_by(each, plain - ({each.name} if isinstance(each, exp.Column) else set()))
                for each in group.expressions
            ]
            if not any(each.find(exp.AggFunc) for each in grouped):
                group.set("expressions", grouped)
        for column in list(having.find_all(exp.Column)) if having else []:
            named = None if column.table else given.get(column.name)
            if named is not None and named.find(exp.AggFunc) and not column.find_ancestor(exp.AggFunc):
                column.replace(exp.Paren(this=named.copy()))
        self._distinct(select)

    def _distinct(self, select: Any) -> None:
        """``SELECT a FROM t GROUP BY a`` is ``SELECT DISTINCT a FROM t``."""
        group = select.args.get("group")
        plain = group and group.expressions and len([key for key, value in group.args.items() if value]) == 1
        if not plain or select.args.get("having") or select.args.get("distinct"):
            return
        shown = {self._text(each.unalias()) for each in select.expressions}
        if shown == {self._text(each) for each in group.expressions} and not select.find(exp.AggFunc):
            select.set("group", None)
            select.set("distinct", exp.Distinct())

    def _joins(self, select: Any) -> None:
        """Conditions of inner joins stand in ``WHERE``, and the tables in alphabetical order if no ``*`` shows it."""
        joins = select.args.get("joins") or []
        source = select.args.get("from_") or select.args.get("from")
        starred = any(each.find(exp.Star) for each in select.expressions if not each.find(exp.AggFunc))
        if len(joins) == 1 and joins[0].side == "RIGHT" and not joins[0].args.get("using") and not starred:
            first = source.this
            source.set("this", joins[0].this)
            joins[0].set("this", first)
            joins[0].set("side", "LEFT")
        if len(joins) == 1 and not starred:
            self._using(select, source.this, joins[0])
        for join in joins:
            if join.kind == "OUTER":
                join.set("kind", None)  # LEFT OUTER JOIN
        if not joins or not all(self._inner(each) for each in joins):
            return
        conditions = [each.args["on"] for each in joins if each.args.get("on")]
        where = select.args.get("where")
        whole = [exp.Paren(this=each) for each in [*conditions, *([where.this] if where else [])]]
        if whole:
            select.set("where", exp.Where(this=exp.and_(*whole, copy=False)))
        tables = [source.this, *(each.this for each in joins)]
        if not starred:
            tables.sort(key=lambda table: [self._text(part) for part in table.parts])
        source.set("this", tables[0])
        select.set("joins", [exp.Join(this=each) for each in tables[1:]])

    def _using(self, select: Any, first: Any, join: Any) -> None:
        """``USING (id)`` as a condition, where no column's owner depends on it."""
        shared = [each.name for each in join.args.get("using") or []]
        unowned = {each.name for each in select.find_all(exp.Column) if not each.table}
        if not shared or not unowned.isdisjoint(shared) or join.side not in {"", "LEFT"}:
            return
        sides = first.alias_or_name, join.this.alias_or_name
        same = [
            exp.EQ(this=exp.column(name, sides[0]), expression=exp.column(name, sides[1])) for name in shared
        ]
        join.set("using", None)
        join.set("on", exp.and_(*same, copy=False))

    def _inner(self, join: Any) -> bool:
        plain = join.side == "" and join.kind in {"", "INNER", "CROSS"} and join.method == ""
        return plain and not join.args.get("using") and isinstance(join.this, exp.Table)

    def _sources(self) -> None:
        """Number the tables, and say of every column whose it is where that is certain."""
        names: dict[int, dict[str, str]] = {}
        number = 0
        for select in self._tree.find_all(exp.Select):
            source = select.args.get("from_") or select.args.get("from")
            joins = select.args.get("joins") or []
            own = names.setdefault(id(select), {})
            for each in [source.this, *(join.this for join in joins)] if source else []:
                number += 1
                own[each.alias_or_name] = f"_t{number}"
                if isinstance(each, exp.Table):
                    each.set("alias", exp.TableAlias(this=exp.to_identifier(f"_t{number}")))
        for column in list(self._tree.find_all(exp.Column)):
            above = self._selects_above(column)
            if column.table:
                found = next((own for each in above if column.table in (own := names[id(each)])), None)
                if found:
                    column.set("table", exp.to_identifier(found[column.table]))
            elif len(above) == 1 and len(names[id(above[0])]) == 1 and not above[0].args.get("laterals"):
                given = {each.alias for each in above[0].expressions if each.alias != each.unalias().name}
                if column.name not in given:
                    column.set("table", exp.to_identifier(next(iter(names[id(above[0])].values()))))

    def _selects_above(self, node: Any) -> list[Any]:
        """The queries whose tables a node can see, the nearest first."""
        found = []
        while node is not None and not isinstance(node, exp.CTE):
            if isinstance(node, exp.Select):
                found.append(node)
            node = node.parent
        return found


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


class _Rewriting:
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
