"""A SELECT statement as it comes together: which tables it reads, and which of their columns a word means."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pytest_promptfuzz.targets.simulated.tables import DATED, singular
from pytest_promptfuzz.targets.simulated.words import listed, near, stem, words

USUAL = frozenset(
    listed(
        """
        name email price age country city salary title status department category rating phone address region
        author genre amount total quantity stock level type brand color colour id
        """
    )
)
TIMED = re.compile(r"date|_at$|time|day|registered|joined|created|^year$|_year$|_on$", re.IGNORECASE)


@dataclass(slots=True)
class Query:
    """The clauses of a statement over one table and those joined to it.

    Attributes:
        table: The table read.
        tables: All tables known, each with its columns; empty where the prompt gives none.
        others: Tables joined, in order, each with its kind of join.
    """

    table: str
    tables: dict[str, list[str]]
    columns: list[str] = field(default_factory=list)
    others: dict[str, str] = field(default_factory=dict)
    where: list[str] = field(default_factory=list)
    group: str = ""
    having: str = ""
    order: str = ""
    limit: int = 0
    distinct: bool = False

    @property
    def known(self) -> bool:
        """Whether the table's columns are known."""
        return self.table in self.tables

    def column(self, word: str, *, reach: bool = True) -> str | None:
        """The column that a word means, ``{table}.column``; ``None`` if no table has one.

        Without a schema a usual name is taken at its word. ``reach`` looks in the other tables as well and joins the
        one that has it.
        """
        if not self.known:
            usual = singular(word.lower())
            return f"{{{self.table}}}{usual}" if usual in USUAL else None
        for table in [self.table, *self.others, *(self.tables if reach else ())]:
            name = _match(word, self.tables.get(table, []))
            if name is not None:
                self.join(table)
                return f"{{{table}}}{name}"
        return None

    def dated(self, request: str) -> str:
        """The column that holds the date a request is about."""
        stems = {stem(word) for word in words(request)}
        for table in [self.table, *self.others]:
            columns = [name for name in self.tables.get(table, []) if TIMED.search(name)]
            if columns:
                columns.sort(
                    key=lambda name: not any(stem(part) in stems for part in name.lower().split("_"))
                )
                return f"{{{table}}}{columns[0]}"
        found = next(
            (DATED[each] for word in words(request) for each in (stem(word), word) if each in DATED), None
        )
        return f"{{{next(iter(self.others), self.table)}}}{found or 'created_at'}"

    def join(self, table: str, kind: str = "JOIN") -> None:
        """Read ``table`` as well."""
        if table != self.table:
            self.others.setdefault(table, kind)

    def key(self, table: str) -> tuple[str, str]:
        """The columns that link the query's table and another."""
        found = self._link(self.table, table)
        if found is not None:
            return found
        mine, own = self.tables.get(self.table), f"{singular(self.table.lower())}_id"
        if mine is None or "id" in mine:
            return "id", own
        return (own if own in mine else mine[0]), own

    def _link(self, left: str, right: str) -> tuple[str, str] | None:
        """The columns by which two known tables belong together; ``None`` if neither names the other."""
        mine, its = self.tables.get(left), self.tables.get(right)
        if mine is None or its is None:
            return None
        one, two = f"{singular(left.lower())}_id", f"{singular(right.lower())}_id"
        if one in its:
            return next((name for name in ("id", one) if name in mine), mine[0]), one
        if two in mine:
            return two, next((name for name in (two, "id") if name in its), its[0])
        return next(((name, name) for name in mine if name in its and name.endswith("_id")), None)

    def _joins(self) -> list[str]:
        lines: list[str] = []
        joined = [self.table]
        waiting = list(self.others)
        for other in waiting:
            if other in joined:
                continue
            anchor = next((each for each in joined if self._link(each, other)), None)
            if anchor is None:
                # A table that links both, as enrolments do students and courses.
                between = next(
                    (
                        t
                        for t in self.tables
                        if t not in joined and self._link(self.table, t) and self._link(t, other)
                    ),
                    None,
                )
                if between is not None:
                    lines.append(self._join_line("JOIN", self.table, between))
                    joined.append(between)
                    anchor = between
            lines.append(self._join_line(self.others[other], anchor or self.table, other))
            joined.append(other)
        return lines

    def _join_line(self, kind: str, left: str, right: str) -> str:
        mine, its = self._link(left, right) or self.key(right)
        return f"{kind} {right} ON {left}.{mine} = {right}.{its}"

    def text(self) -> str:
        """The statement, a clause a line."""
        lines = [
            "SELECT " + ("DISTINCT " if self.distinct else "") + (", ".join(self.columns) or self._all())
        ]
        lines.append(f"FROM {self.table}")
        lines += self._joins()
        if self.where:
            lines.append("WHERE " + " AND ".join(dict.fromkeys(self.where)))
        for word, clause in (("GROUP BY", self.group), ("HAVING", self.having), ("ORDER BY", self.order)):
            if clause:
                lines.append(f"{word} {clause}")
        if self.limit:
            lines.append(f"LIMIT {self.limit}")
        # Columns carry their table as {table}; it is written out only where there is more than one.
        return re.sub(r"\{(\w+)\}", r"\1." if self.others else "", "\n".join(lines)) + ";"

    def _all(self) -> str:
        return f"{self.table}.*" if self.others else "*"


def _match(word: str, columns: list[str]) -> str | None:
    lower = word.lower()
    one = singular(lower)
    for column in columns:
        if column.lower() in {lower, one}:
            return column
    if len(one) < 3 or one == "date":
        # "date" means whichever column holds one, and the request says which.
        return next((name for name in columns if one == "date" and TIMED.search(name)), None)
    for column in columns:
        if column.lower().endswith(f"_{one}"):
            return column
    if len(one) >= 5:
        for column in columns:
            if near(one, column.lower()) or any(
                near(one, part) for part in column.lower().split("_") if len(part) >= 5
            ):
                return column
    wanted = stem(lower)
    for column in columns:
        parts = column.lower().split("_")
        if parts[-1] != "id" and wanted in {stem(part) for part in parts}:
            return column
    return None
