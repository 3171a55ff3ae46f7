"""SQL: one SELECT with a WHERE over one table, which the prompt describes or the request's nouns name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.targets.simulated.prompt import CREATE_TABLE, cues, near, sentences, singular, words
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.targets.simulated.prompt import Brief

_COLUMN = r"[A-Za-z_]\w*(?: [A-Za-z]\w*(?:\(\d+(?:, ?\d+)?\))?){0,4}"
_WRITTEN = expression(rf"\b([A-Za-z_]\w*) ?\(\s*({_COLUMN}(?:\s*,\s*{_COLUMN})+)\s*\)")
_ORDER = expression(
    r"(?i)^.{0,60}?\b(?:sql|query)\b(?: (?:query|statement))?(?: (?:that|which|to|for|of))?:?"
)
_USUAL = frozenset(
    ("name", "email", "price", "age", "country", "city", "salary", "title", "status", "department")
)
_NUMBER = r"[$€£]?\s?(\d[\d,]*(?:\.\d+)?)"
_SIGNS = (
    (">=", r"at least|since|>="),
    ("<=", r"at most|up to|no more than|<="),
    (">", r"(?:more|greater|higher|larger|older|later) than|over|above|after|>"),
    ("<", r"(?:less|lower|fewer|smaller|younger|cheaper|earlier) than|under|below|before|<"),
)
_MEASURED = {"older": "age", "younger": "age", "cheaper": "price"}
_LAST_DAYS = expression(r"(?i)\b(?:last|past) (\d+) (day|week|month|year)s?\b")
_QUOTE = expression(r"(?<!\w)['\"]([^'\"\n]{1,80})['\"]")
_PLACE = expression(r"\b(?i:from|in) (?:the )?([A-Z][\w-]*(?: [A-Z][\w-]*)*)(?: (\w+))?")
_COUNTED = expression(r"(?i)\bhow many\b|\bcounts?\b|\bnumber of\b")
_GROUPED = expression(r"(?i)\b(?:per|by|for each|in each|of each) (\w+)")
_WHICH_ROWS = expression(r"(?i)\b(?:where|whose|who|which|that|with|from|in|for|after|before|older)\b")


class _SqlTable(NamedTuple):
    """A table, with its columns where they are known."""

    name: str
    columns: tuple[str, ...] = ()

    def column(self, word: str) -> str | None:
        """The column that a word means; a usual name is taken at its word where the columns are not known."""
        one = _MEASURED.get(word.lower()) or singular(word.lower())
        if one == singular(self.name.lower()):
            return None
        if not self.columns:
            return one if one in _USUAL else None
        lower = {each.lower(): each for each in self.columns}
        ends = (each for each in lower if len(one) > 2 and each.endswith(f"_{one}"))
        return lower.get(word.lower()) or lower.get(one) or lower.get(next(ends, ""))

    def dated(self) -> str:
        """The column that holds a date."""
        return next((each for each in self.columns if re.search(r"date|_at$|time|_on$", each)), "created_at")

    def before(self, text: str) -> str | None:
        """The column named last in a text, within five words."""
        return next((found for word in reversed(words(text)[-5:]) if (found := self.column(word))), None)


def query(brief: Brief, variant: int = 0) -> str | None:
    """The query for the request; ``None`` where no table can be made out. ``variant`` adds a limit."""
    request = _request(brief)
    table = _table(request, _tables(f"{brief.prose}\n{brief.data}".replace("`", "")))
    if table is None:
        return None
    grouped = _GROUPED.search(request) if _COUNTED.search(request) else None
    group = table.column(grouped[1]) if grouped else None
    columns = _columns(table, request)
    if _COUNTED.search(request):
        columns = [group, "COUNT(*)"] if group else ["COUNT(*)"]
    where = " AND ".join(dict.fromkeys([*_comparisons(table, request), *_values(table, request)]))
    lines = [f"SELECT {', '.join(columns) or '*'}", f"FROM {table.name}"]
    lines += [f"WHERE {where}"] if where else []
    lines += [f"GROUP BY {group}"] if group else []
    lines += [f"LIMIT {100 + variant}"] if variant else []
    return "\n".join(lines) + ";"


def _tables(source: str) -> list[_SqlTable]:
    """The tables that a prompt describes: ``CREATE TABLE orders (…)`` or ``orders(id, total)``."""
    found = [*CREATE_TABLE.findall(source), *_WRITTEN.findall(CREATE_TABLE.sub(" ", source))]
    parts = [(name, re.sub(r"\([^()]*\)", "", columns).split(",")) for name, columns in found]
    return [
        _SqlTable(name, tuple(each.split()[0] for each in listed if each.strip())) for name, listed in parts
    ]


def _request(brief: Brief) -> str:
    """What is to be looked up, in its own words: the question, else the data, else the instructions."""
    asked = _WRITTEN.sub(" ", CREATE_TABLE.sub(" ", brief.question or brief.data))
    if len(words(asked)) > 2:
        return asked
    prose = _WRITTEN.sub(r"\1", CREATE_TABLE.sub(" ", brief.prose))
    told = [_ORDER.sub("", each) for each in sentences(prose)]
    return " ".join(each for each in told if not re.match(r"(?i)(?:return|answer|output|use|you)\b", each))


def _table(request: str, tables: list[_SqlTable]) -> _SqlTable | None:
    """The table whose name the request says, perhaps misspelt; else the one that has most of its words."""
    found = words(request)
    known = tables or [_SqlTable(each) for each in sorted(cues("table"))]
    for word in found:
        if named := next((each for each in known if singular(word) == singular(each.name.lower())), None):
            return named
    for word in found:
        if named := next((each for each in known if near(word, each.name.lower())), None):
            return named
    return max(tables, key=lambda each: sum(each.column(word) is not None for word in found), default=None)


def _columns(table: _SqlTable, request: str) -> list[str]:
    """The columns to show: those named before the request says which rows."""
    clause = _WHICH_ROWS.search(request)
    found = map(table.column, words(request[: clause.start()] if clause else request))
    return list(dict.fromkeys(each for each in found if each))


def _comparisons(table: _SqlTable, request: str) -> list[str]:
    """Conditions with a number or a date: *price over 100*, *after 2024-01-01*, *in the last 7 days*."""
    where: list[str] = []
    last = _LAST_DAYS.search(request)
    if last:
        where.append(f"{table.dated()} >= CURRENT_DATE - INTERVAL '{last[1]} {last[2].upper()}'")
    for sign, spoken in _SIGNS:
        dates = re.findall(rf"(?<!\w)(?:{spoken}) '?(\d{{4}}-\d\d-\d\d)'?", request, re.IGNORECASE)
        where += [f"{table.dated()} {sign} '{each}'" for each in dates]
        for found in re.finditer(rf"(?<!\w)({spoken}) {_NUMBER}(?![\w-])(?: (\w+))?", request, re.IGNORECASE):
            column = table.before(request[: found.end(1)]) or table.column(found[3] or "")
            where += [f"{column} {sign} {found[2].replace(',', '')}"] if column else []
    return where


def _values(table: _SqlTable, request: str) -> list[str]:
    """Conditions with a value: in quotation marks beside a column's name, or a place after *from* or *in*."""
    where: list[str] = []
    for found in _QUOTE.finditer(request):
        after = words(request[found.end() :])[:1]
        column = table.before(request[: found.start()]) or (table.column(after[0]) if after else None)
        value = found[1].replace("'", "''")
        where += [f"{column} = '{value}'"] if column else []
    place = _PLACE.search(_QUOTE.sub(" ", request))
    if place and not where:
        names = (place[2] or "", "country", "city", "department", "category", "location")
        column = next((one for each in names if (one := table.column(each))), None)
        where += [f"{column} = '{place[1]}'"] if column else []
    return where
