"""SQL queries compared by what they ask for: in a normal form, then in the canonical form of ``sqlglot``.

What is a deviation is proven: another table, column, value, operator, aggregate, order or kind of join. Queries that
are merely written differently are undecided.
"""

from __future__ import annotations

import importlib.util
import re
from itertools import pairwise
from typing import TYPE_CHECKING

from pytest_promptfuzz.comparing.comparison import Observation
from pytest_promptfuzz.comparing.formats.code import (
    Change,
    answer,
    changes_between,
    cut_off,
    likeness_of,
    plain_decimal,
    shifted_bound,
    sides_exchanged,
    what_changed,
)
from pytest_promptfuzz.comparing.reading.text import looks_like_query, strip_fence
from pytest_promptfuzz.comparing.reading.word_lists import word_set
from pytest_promptfuzz.errors import ConfigurationError, UsageError, nearest
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from pytest_promptfuzz.comparing.comparison import Comparison

_SAME_FRAME = 0.5
_MOST_CHANGES = 2


def installed() -> bool:
    """Whether ``sqlglot`` is there."""
    return importlib.util.find_spec("sqlglot") is not None


def check_dialect(name: str) -> str:
    """The name of a dialect that ``sqlglot`` reads.

    Raises:
        UsageError: It knows none of that name.
        ConfigurationError: It is not installed.
    """
    if not installed():
        raise ConfigurationError(
            "sql_dialect= needs the library sqlglot: pip install 'pytest-promptfuzz[sql]'"
        )
    from sqlglot.dialects.dialect import Dialects

    known = [each.value for each in Dialects if each.value]
    if name not in known:
        raise UsageError(f"sql_dialect={name!r:.80} is not a dialect of SQL. {nearest(name, known)}")
    return name


def compare_sql(first: str, second: str, *, dialect: str | None = None) -> Comparison | None:
    """Compare two queries in normal form, then in canonical form, then by what is sure to differ.

    Args:
        first: The baseline.
        second: The response.
        dialect: In which dialect ``sqlglot`` reads them; ``None`` takes what a query shows.

    Returns:
        ``None`` where neither answer is a query.
    """
    query_a, query_b = statement(first), statement(second)
    if query_a is None and query_b is None:
        return None
    if query_a is None or query_b is None:
        which, other, text = (
            ("response", "baseline", second) if query_b is None else ("baseline", "response", first)
        )
        return answer("deviation", 0.0, "sql-format", Observation("format-lost", other, "SQL", which, text))
    found = cut_off(bare(query_a), bare(query_b)) or _queries(query_a, query_b, dialect)
    if (query_a == first) != (query_b == second) and found.outcome == "equivalent":
        return answer("minor", 1.0, "sql-wrapped", Observation("same-query-within-text"))
    return found


def _queries(query_a: str, query_b: str, dialect: str | None) -> Comparison:
    one, two = tokens(query_a), tokens(query_b)
    if one == two:
        return answer("equivalent", 1.0, "sql", Observation("same-query"))
    one, two = unnamed(one), unnamed(two)
    if one == two:
        found = _by_canonical_form(query_a, query_b, dialect)
        return found or answer("minor", 0.95, "sql", Observation("same-query-but-columns"))
    changes = changes_between(one, two)
    found = None if _other_value(changes) else _by_canonical_form(query_a, query_b, dialect)
    if found:
        return found
    likeness, change = likeness_of(one, two, changes), what_changed(changes[0])
    verbs = [[word for last, word in pairwise([";", *each]) if last == ";"] for each in (one, two)]
    if verbs[0] != verbs[1]:
        words = (", ".join(each).upper() or Observation("nothing") for each in verbs)
        return answer("deviation", 0.0, "sql", Observation("became", *words))
    if len(changes) == 1 and _sorting(changes[0], one, two):
        return answer("minor", likeness, "sql", Observation("only-one-sorts", change))
    if likeness >= _SAME_FRAME and (sides_exchanged(one, two) or _all_proven(changes, one, two)):
        return answer("deviation", likeness, "sql", Observation("queries-differ", change))
    exchanged = _exchanged(one, two)
    if exchanged:
        change = Observation("became", *exchanged)
        return answer("deviation", likeness, "sql", Observation("queries-differ", change))
    advice = "" if installed() else Observation("extra-sql-may-tell")
    observed = Observation("queries-may-do-the-same", change, advice)
    return answer("undecided", likeness, "sql-form", observed)


def _other_value(changes: list[Change]) -> bool:
    """Whether one value stands in another's place, and not only elsewhere: no rewriting makes that the same."""
    gone, come = ({token for change in changes for token in change[side]} for side in (0, 1))
    return any(
        len(old) == len(new) == 1
        and _is_literal(old[0])
        and _is_literal(new[0])
        and (old[0] not in come or new[0] not in gone)
        for old, new in changes
    )


def _by_canonical_form(first: str, second: str, dialect: str | None) -> Comparison | None:
    """That two queries are the same however they are written; ``None`` where that does not show."""
    if not installed():
        return None
    from pytest_promptfuzz.comparing.formats.sql_trees import canonical

    for names in (True, False):
        one, two = (canonical(bare(each), dialect=dialect, names=names) for each in (first, second))
        if one is not None and one == two and names:
            return answer("equivalent", 1.0, "sql-canonical", Observation("same-query-otherwise-written"))
        if one is not None and one == two:
            observed = Observation("same-query-otherwise-written-but-columns")
            return answer("minor", 0.95, "sql-canonical", observed)
    return None


def _sorting(change: Change, one: list[str], two: list[str]) -> bool:
    """Whether the only difference is an ``ORDER BY`` at the end."""
    extra = [*change[0], *change[1]]
    whole = one if change[0] else two
    return not all(change) and extra[:2] == ["order", "by"] and whole[-len(extra) :] == extra


_AGGREGATES = frozenset({"count", "sum", "avg", "min", "max"})
_RIVALS = (
    frozenset({"<", "<=", ">", ">=", "=", "<>"}),
    frozenset({"+", "-", "*", "/", "%"}),
    frozenset({"and", "or"}),
    frozenset({"=", "is"}),
    frozenset({"all", "any"}),
    frozenset({"left", "right", "full", "cross"}),
    frozenset({"union", "intersect", "except"}),
    frozenset({"upper", "lower"}),
    frozenset({"year", "month", "day"}),
    frozenset({"floor", "ceil"}),
    frozenset({"rank", "dense_rank", "row_number", "ntile"}),
    frozenset({"lead", "lag"}),
    _AGGREGATES,
)
"""Words and signs of which one for another asks for something else."""
_DECISIVE = frozenset({"not", "distinct", "desc", "left", "right", "full", "all", "percent", "ties", ")"})
"""What asks for something else where one query has it alone; a bracket goes with the function before it."""
_CLAUSES = frozenset({"where", "and", "or", "having", "union", "intersect", "except", "set", ","})
_PSEUDO = word_set(
    """year month day week hour minute second interval date time timestamp current_date current_timestamp
    current_time localtime localtimestamp sysdate text int integer varchar numeric decimal float"""
)
"""Words that look like columns."""


def _all_proven(changes: list[Change], one: list[str], two: list[str]) -> bool:
    """Whether all that differs in an equal frame is sure to ask for something else.

    A bound that moved together with its sign (``> 17``, ``>= 18``) is not, nor a ``NOT`` for another sign, nor one more
    column that rows are grouped by: the columns before it may settle it.
    """
    (rest_a, grouped_a), (rest_b, grouped_b) = _grouping(one), _grouping(two)
    if rest_a == rest_b and (grouped_a < grouped_b or grouped_b < grouped_a):
        return False
    negated = any(set(old + new) == {"not"} for old, new in changes)
    if len(changes) > (1 if negated else _MOST_CHANGES) or shifted_bound(changes):
        return False
    names = [_tables(one) | _tables(two), _columns(one) | _columns(two), _given(one) & _given(two)]
    ordered = "order" in one and "order" in two
    return all(_is_proven(change, names, ordered=ordered) for change in changes)


def _grouping(sequence: list[str]) -> tuple[list[str], set[str]]:
    """A query without the columns that it groups by, and these."""
    if sequence.count("group") != 1:
        return sequence, set()
    start = sequence.index("group")
    end = next((at for at, word in enumerate(sequence) if at > start + 1 and word in _AFTER), len(sequence))
    return [*sequence[:start], *sequence[end:]], {*sequence[start:end]}


def _is_proven(change: Change, named: list[set[str]], *, ordered: bool) -> bool:
    old, new = change
    if not old or not new:
        extra = old or new
        piece = extra[0] in _CLAUSES or extra[-1] in {"and", "or", ","} or extra[0] in _AGGREGATES
        limited = ordered and extra[0] in {"limit", "offset"}
        moved = "=" in extra and {*extra} <= named[1] | {"="}  # SET a = b, SET b = a
        return piece or limited or moved or not _DECISIVE.isdisjoint({extra[0], extra[-1]})
    if any((word in old) != (word in new) for word in ("distinct", "not")):
        return True
    if len(old) == len(new) == 1 and (
        any(old[0] in group and new[0] in group for group in _RIVALS)
        or (_is_literal(old[0]) and _is_literal(new[0]))
    ):
        return True
    return any(all({*each} <= names | {",", ".", "*"} for each in change) for names in named)


def _exchanged(one: list[str], two: list[str]) -> tuple[str, str] | None:
    """What stands for something else however a query is written: a table, a value, an aggregate or a column."""
    values_a, values_b = _values(one), _values(two)
    for key in sorted(values_a.keys() & values_b.keys()):
        old, new = sorted(values_a[key] - values_b[key]), sorted(values_b[key] - values_a[key])
        if old and new and old[0][0].isdigit() == new[0][0].isdigit() and old[0][:-1] not in new[0]:
            return " ".join([*key, old[0]]), " ".join([*key, new[0]])
    for facts in (_tables, _aggregates, _columns):
        old, new = sorted(facts(one) - facts(two)), sorted(facts(two) - facts(one))
        if old and new:
            return ", ".join(old), ", ".join(new)
    return None


def _tables(sequence: list[str]) -> set[str]:
    """The tables a query names, without the queries that ``WITH`` names."""
    before = {"from", "join", "into", "update"}
    found = {word for last, word in pairwise(sequence) if last in before and _is_name(word)}
    return found - {each for each, following in pairwise(sequence) if following == "as"} - _given(sequence)


def _given(sequence: list[str]) -> set[str]:
    """The names that a query gives: after ``AS``, after a name, a bracket or ``END``."""
    return {
        word
        for last, word in pairwise(sequence)
        if _is_name(word) and (last in {"as", ")", "end"} or (_is_name(last) and last not in _PSEUDO))
    }


def _columns(sequence: list[str]) -> set[str]:
    told = {word for word, following in pairwise([*sequence, ""]) if following in {"(", ".", "as"}}
    names = {word for word in sequence if _is_name(word)}
    return names - told - _tables(sequence) - _given(sequence) - _PSEUDO


def _aggregates(sequence: list[str]) -> set[str]:
    """The one aggregate of a query; none where it has several, or counts by ``CASE``."""
    found = {*sequence} & _AGGREGATES
    return found if len(found) == 1 and "case" not in sequence else set()


def _values(sequence: list[str]) -> dict[tuple[str, str], set[str]]:
    """The values that columns are compared with, by column and sign."""
    found: dict[tuple[str, str], set[str]] = {}
    columns = _columns(sequence)
    for column, sign, value in zip(sequence, sequence[1:], sequence[2:], strict=False):
        if column in columns and sign in {*_MIRRORED, "like"} and _is_literal(value):
            found.setdefault((column, sign), set()).add(value)
    return found


_TOKEN = expression(
    r"(?P<comment>--[^\n]*|/\*.*?\*/)"
    r"|(?P<string>'(?:[^']|'')*')"
    r"|(?P<quoted>\"(?:[^\"]|\"\")*\"|`[^`]*`)"
    r"|(?P<number>\d+(?:\.\d+)?)"
    r"|(?P<word>[^\W\d]\w*)"
    r"|(?P<sign><=|>=|<>|!=|\|\||::|[^\s\w])",
    re.DOTALL,
)
_KEYWORDS = word_set(
    """select distinct all from where and or not in is null like between exists as on using join inner left
    right full outer cross natural group by order asc desc having limit offset fetch first next rows
    only union intersect except insert into values update set delete create table view index with case
    when then else end over partition interval true false cast extract for lateral returning recursive
    nulls last top begin commit alter drop add column primary key references"""
)


_FENCED = expression(r"```\w*[ \t]*\n(.*?)```", re.DOTALL)


def statement(text: str) -> str | None:
    """The query in an answer: the whole of it, or the only block that is one; ``None`` where there is none."""
    if looks_like_query(text):
        return text
    found = [block for block in _FENCED.findall(text) if looks_like_query(block)]
    if not found and "```" not in text:
        found = [block for block in _amid_talk(text) if looks_like_query(block)]
    return found[0] if len(found) == 1 else None


def _amid_talk(text: str) -> list[str]:
    """The paragraphs of a text, what a query's first line and a semicolon enclose, and what a sentence leads to."""
    if len(text) > _LONGEST_TALK:
        return []
    if "\n" not in text.strip():
        led = _LED_TO.match(text)
        return [led["query"]] if led and not _WARNS.search(led["lead"]) else []
    found: list[str] = []
    for paragraph in _BLANK.split(text.strip()):
        lines = paragraph.splitlines()
        start = next((at for at, line in enumerate(lines) if looks_like_query("\n".join(lines[at:]))), None)
        if start is None:
            continue
        end = next(
            (at for at in range(start, len(lines)) if lines[at].rstrip().endswith(";")), len(lines) - 1
        )
        if any(line.rstrip().endswith(";") for line in (*lines[:start], *lines[end + 1 :])):
            return []
        found.append("\n".join(lines[start : end + 1]))
    return found


_BLANK = expression(r"\n[ \t]*\n")
_LONGEST_TALK = 20_000
_LED_TO = expression(r"\s*(?P<lead>[A-Z][^:;=<>()\n]{2,160}):\s+(?P<query>[^;\n]+;?)\s*\Z")
"""A query after a sentence that leads to it: "To count them you can run: SELECT …;"."""
_WARNS = expression(
    r"\b(?:not|never|no|avoid|wrong|instead|cannot|without|unsafe|fails?|invalid|incorrect|rather)\b|n['’]t\b",
    re.IGNORECASE,
)


def bare(text: str) -> str:
    """A query without its fence and the semicolon at its end."""
    return strip_fence(text).strip().rstrip(";")


def tokens(text: str) -> list[str]:
    """The normal form of a query, as tokens.

    Upper case is kept in string literals and in quoted identifiers only. ``INNER``, ``OUTER``, ``ASC`` and ``AS``
    say nothing new and go; ``!=`` is ``<>``; a table's alias becomes the table's name wherever the table occurs once;
    the sides of ``a = b`` and the conditions that ``AND`` joins stand in alphabetical order.
    """
    result: list[str] = []
    for found in _TOKEN.finditer(strip_fence(text)):
        kind, value = found.lastgroup, found[0]
        if kind == "comment":
            continue
        if kind == "quoted":
            inner = value[1:-1]
            result.append(inner.lower() if inner.isidentifier() and inner == inner.lower() else value)
        elif kind == "word":
            result.append(_SAME.get(value.lower(), value.lower()))
        elif kind == "number":
            result.append(plain_decimal(value))
        else:
            result.append("<>" if value == "!=" else value)
    for at in range(len(result) - 2, -1, -1):
        if result[at : at + 4] == ["count", "(", "1", ")"]:
            result[at + 2] = "*"
        elif result[at] in _PSEUDO and result[at + 1 : at + 3] == ["(", ")"]:
            del result[at + 1 : at + 3]
    while result and result[-1] == ";":
        result.pop()
    result = _sorted_members([token for token in result if token not in {"inner", "outer", "asc"}])
    return _sorted_parts(_sorted_conditions(_sorted_sides(_bounds(_without_aliases(result)))))


_SAME = {"true": "1", "false": "0", "now": "current_timestamp", "curdate": "current_date"}
_CONDITION = frozenset({"where", "on", "having"})
_BEFORE = _CONDITION | {"and", "or", "("}
_AFTER = word_set(
    """and or ) group order limit having union intersect except join left right full cross natural where offset
    fetch returning window"""
) | {""}
_MIRRORED = {"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}


def _sorted_sides(sequence: list[str]) -> list[str]:
    result = list(sequence)
    for at, sign in enumerate(sequence):
        if sign not in _MIRRORED:
            continue
        start, end = at, at + 1
        while start and _operand(result[start - 1]):
            start -= 1
        while end < len(result) and _operand(result[end]):
            end += 1
        before = result[start - 1] if start else ""
        after = result[end] if end < len(result) else ""
        left, right = result[start:at], result[at + 1 : end]
        if before not in _BEFORE or after not in _AFTER or not left or not right:
            continue
        if (_is_literal(left[0]), left) > (_is_literal(right[0]), right):
            result[start:end] = [*right, _MIRRORED[sign], *left]
    return result


def _bounds(sequence: list[str]) -> list[str]:
    """``x BETWEEN 1 AND 5`` as two comparisons, where ``x`` is a name."""
    result = list(sequence)
    for at in reversed([at for at, word in enumerate(sequence) if word == "between"]):
        start, end = at, at + 1
        while start and _operand(result[start - 1]):
            start -= 1
        low, high = result[end : end + 1], result[end + 2 : end + 3]
        plain = start < at and all(each and _operand(each[0]) for each in (low, high))
        before, after = result[start - 1] if start else "", "".join(result[end + 3 : end + 4])
        if plain and before in _BEFORE and after in _AFTER and result[end + 1] == "and":
            name = result[start:at]
            result[start : end + 3] = [*name, ">=", *low, "and", *name, "<=", *high]
    return result


def _sorted_parts(sequence: list[str]) -> list[str]:
    """The queries that ``UNION`` joins in one order, where they show the same columns and nothing sorts the rows."""
    if "union" not in sequence or not {"(", "order", "limit", "fetch", "intersect", "except"}.isdisjoint(
        sequence
    ):
        return sequence
    parts: list[list[str]] = [[]]
    for word in sequence:
        if word == "union":
            parts.append([])
        parts[-1].append(word)
    parts[0] = [*parts[1][: 2 if parts[1][1] == "all" else 1], *parts[0]]
    if len({tuple(part[: (part.index("from") if "from" in part else None)]) for part in parts}) != 1:
        return sequence
    joined = [word for part in sorted(parts) for word in part]
    return joined[joined.index("select") :]


def _operand(word: str) -> bool:
    return word == "." or ((word[0].isalnum() or word[0] in "'_\"`") and word not in _KEYWORDS)


def _sorted_members(sequence: list[str]) -> list[str]:
    """``IN (3, 8)`` for ``IN (8, 3)``, where nothing but values stands there."""
    result = list(sequence)
    for at in range(len(sequence) - 1):
        if sequence[at : at + 2] != ["in", "("] or ")" not in sequence[at:]:
            continue
        end = sequence.index(")", at)
        members = sequence[at + 2 : end]
        if set(members[1::2]) == {","} and len(members) % 2 and all(map(_is_literal, members[::2])):
            for place, member in zip(range(at + 2, end, 2), sorted(members[::2]), strict=True):
                result[place] = member
    return result


def _is_literal(word: str) -> bool:
    return word[0].isdigit() or word[0] == "'"


def _sorted_conditions(sequence: list[str]) -> list[str]:
    result: list[str] = []
    at = 0
    while at < len(sequence):
        word = sequence[at]
        result.append(word)
        at += 1
        if word not in _CONDITION:
            continue
        depth, end = 0, at
        while end < len(sequence) and (depth or sequence[end] not in _AFTER - {"and", "or"}):
            depth += (sequence[end] == "(") - (sequence[end] == ")")
            end += 1
        parts = _conjuncts(sequence[at:end])
        if len(parts) > 1:
            parts.sort()
            for index, part in enumerate(parts):
                result += [*(["and"] if index else []), *part]
            at = end
    return result


def _conjuncts(condition: list[str]) -> list[list[str]]:
    """What ``AND`` joins in a condition; none where ``OR`` or ``CASE`` stands on the same level."""
    parts: list[list[str]] = [[]]
    depth = 0
    between = False
    for word in condition:
        depth += (word == "(") - (word == ")")
        if not depth and word in {"or", "case"}:
            return []
        if not depth and word == "and" and not between:
            parts.append([])
            continue
        between = not depth and (word == "between" or (between and word != "and"))
        parts[-1].append(word)
    return parts


def unnamed(sequence: list[str]) -> list[str]:
    """A query's tokens without the names it gives to its columns: where one is used, its expression stands."""
    if sequence[:1] != ["select"] or "from" not in sequence:
        return sequence
    expressions: dict[str, list[str]] = {}
    kept = ["select"]
    depth = 0
    item: list[str] = []
    start = sequence.index("from")
    for word in [*sequence[1:start], "from"]:
        depth += (word == "(") - (word == ")")
        if depth or word not in {",", "from"}:
            item.append(word)
            continue
        if len(item) > 1 and _is_name(item[-1]) and (item[-2] in {")", "end"} or _is_name(item[-2])):
            expressions[item.pop()] = item
        kept += [*item, word]
        item = []
    for index, word in enumerate(sequence[start + 1 :], start + 1):
        kept += [word] if sequence[index - 1] == "." else expressions.get(word, [word])
    return kept


def _without_aliases(sequence: list[str]) -> list[str]:
    """Tables for their aliases, and no name of an only table before columns; nothing where a table occurs twice."""
    padded = [*sequence, "", "", ""]
    tables: list[str] = []
    aliases: dict[str, str] = {}
    for at, word in enumerate(sequence):
        if word in {"from", "join"} and _is_name(padded[at + 1]):
            tables.append(padded[at + 1])
            alias = padded[at + 3] if padded[at + 2] == "as" else padded[at + 2]
            if _is_name(alias):
                aliases[alias] = padded[at + 1]
    if len({*tables}) != len(tables):
        return sequence
    only = tables[0] if len(tables) == 1 else None
    result: list[str] = []
    for previous, word, following in zip(["", *sequence], sequence, padded[1:], strict=False):
        introduced = word in aliases and following != "." and (previous in tables or previous == "as")
        spoken = word == "as" and (following in aliases or following != "(")
        name = aliases.get(word, word) if following == "." else word
        owner = following == "." and name == only
        dot = word == "." and only is not None and aliases.get(previous, previous) == only
        if not (introduced or spoken or owner or dot):
            result.append(name)
    return result


def _is_name(token: str) -> bool:
    return token.isidentifier() and token not in _KEYWORDS
