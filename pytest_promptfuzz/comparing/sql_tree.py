"""A query as a tree: tables, their names and what is known of columns, in one form. Needs ``sqlglot``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp
from sqlglot.optimizer.eliminate_subqueries import eliminate_subqueries

from pytest_promptfuzz.comparing.sql_conditions import Rewriting
from pytest_promptfuzz.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable

_PLAIN_NAME = expression(r"[a-z_][a-z0-9_]*")


class Form:
    """One query, rewritten step by step.

    Args:
        tree: The query as it was parsed; it is changed.
        nulls: As ``Rewriting`` has it.
        volatile: The same.
    """

    def __init__(self, tree: Any, *, nulls: bool, volatile: bool) -> None:
        self._rewriting = Rewriting(nulls=nulls, volatile=volatile)
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
