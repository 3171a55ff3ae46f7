"""Queries that are written differently: the same where that is sure, and never where they return other rows.

Most pairs are run on a small database as well, which tells whether the comparison is right.
"""

from __future__ import annotations

import random
import sqlite3

import pytest

from pytest_promptfuzz.comparing.formats import sql
from pytest_promptfuzz.comparing.profiles import profile_for
from pytest_promptfuzz.errors import ConfigurationError, UsageError
from pytest_promptfuzz.judging.compare import compare

TABLES = {"t": "id a b d", "u": "id a k", "emp": "id name mgr pay"}

SAME = [
    ("SELECT a FROM t UNION SELECT a FROM u", "SELECT a FROM u UNION SELECT a FROM t"),
    ("SELECT a FROM t UNION ALL SELECT a FROM u", "SELECT a FROM u UNION ALL SELECT a FROM t"),
    ("SELECT a FROM t WHERE d = 1 OR b BETWEEN 1 AND 3", "SELECT a FROM t WHERE 1 = d OR (b <= 3 AND b >= 1)"),
    ("SELECT a FROM t WHERE b IN (1, 2)", "SELECT a FROM t WHERE b = 2 OR b = 1"),
    ("SELECT a FROM t WHERE b IN (1)", "SELECT a FROM t WHERE b = 1"),
    ("SELECT a FROM t WHERE b NOT IN (1, 2)", "SELECT a FROM t WHERE b <> 1 AND NOT b = 2"),
    ("SELECT a FROM t WHERE b BETWEEN 1 AND 3", "SELECT t.a FROM t WHERE 1 <= b AND b <= 3"),
    ("SELECT a FROM t WHERE NOT b BETWEEN 1 AND 3", "SELECT a FROM t WHERE b < 1 OR b > 3"),
    ("SELECT a FROM t WHERE NOT (b = 1 OR d IS NULL)", "SELECT a FROM t WHERE b <> 1 AND d IS NOT NULL"),
    ("SELECT a FROM t WHERE NOT (b > 1 AND d < 2)", "SELECT a FROM t WHERE d >= 2 OR b <= 1"),
    ("SELECT a FROM t WHERE b = 1 AND (d = 2 OR d = 3)", "SELECT a FROM t WHERE (d = 3 OR d = 2) AND 1 = b"),
    ("SELECT a FROM t WHERE b = 1 AND b = 1", "SELECT a FROM t WHERE b = 1"),
    ("SELECT a FROM t WHERE b IN (2, 1, 2) AND d = 0", "SELECT a FROM t WHERE d = 0 AND b IN (1, 2)"),
    (
        "SELECT t.a, u.k FROM t JOIN u ON t.id = u.id WHERE u.k > 1",
        "SELECT x.a, y.k FROM u y, t x WHERE y.k > 1 AND x.id = y.id",
    ),
    ("SELECT t.a FROM t CROSS JOIN u WHERE t.id = u.id", "SELECT t.a FROM t INNER JOIN u ON u.id = t.id"),
    ("SELECT t.a FROM t LEFT JOIN u ON t.id = u.id", "SELECT x.a FROM t AS x LEFT OUTER JOIN u AS y ON y.id = x.id"),
    ("SELECT a FROM t ORDER BY a, id", "SELECT a FROM t ORDER BY 1 ASC, id"),
    ("SELECT b, COUNT(*) AS n FROM t GROUP BY b ORDER BY n, b", "SELECT b, COUNT(1) AS n FROM t GROUP BY 1 ORDER BY 2, 1"),
    ("SELECT a + b AS s, COUNT(*) FROM t GROUP BY a + b", "SELECT a + b AS s, COUNT(*) FROM t GROUP BY s"),
    ("SELECT b FROM t GROUP BY b HAVING COUNT(*) > 1", "SELECT q.b FROM t q GROUP BY q.b HAVING 1 < COUNT(*)"),
    ("SELECT b, SUM(a) AS s FROM t GROUP BY b HAVING s > 2", "SELECT b, SUM(a) AS s FROM t GROUP BY b HAVING SUM(a) > 2"),
    ("SELECT DISTINCT a, b FROM t", "SELECT a, b FROM t GROUP BY a, b"),
    ("SELECT a, b, COUNT(*) FROM t GROUP BY a, b", "SELECT a, b, COUNT(*) FROM t GROUP BY b, a"),
    ("WITH x AS (SELECT id FROM t WHERE a = 1) SELECT COUNT(*) FROM x", "SELECT COUNT(*) FROM (SELECT id FROM t WHERE a = 1) AS y"),
    ("SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id)", "SELECT a FROM t WHERE EXISTS (SELECT * FROM u z WHERE t.id = z.id)"),
    ("SELECT CASE WHEN a > 1 THEN 'x' ELSE 'y' END FROM t", "SELECT IIF(1 < a, 'x', 'y') FROM t"),
    ("SELECT IFNULL(a, 0) FROM t", "SELECT COALESCE(a, 0) FROM t"),
    ("SELECT a * b FROM t", "SELECT b * a FROM t"),
    ("SELECT a FROM t ORDER BY id LIMIT 2 OFFSET 0", "SELECT a FROM t ORDER BY id LIMIT 2"),
    ("SELECT a AS a FROM t", "SELECT a FROM t"),
    ("SELECT t.a FROM t JOIN u USING (id)", "SELECT t.a FROM t JOIN u ON t.id = u.id"),
    ("SELECT t.a FROM t LEFT JOIN u USING (id)", "SELECT t.a FROM t LEFT JOIN u ON u.id = t.id"),
    ("SELECT CAST(a AS INTEGER) FROM t", "SELECT CAST(a AS INT) FROM t"),
    ("SELECT e.name FROM emp e JOIN emp m ON e.mgr = m.id WHERE e.pay > m.pay", "SELECT x.name FROM emp x, emp y WHERE y.id = x.mgr AND y.pay < x.pay"),
]  # fmt: skip

OTHER = [
    ("SELECT a FROM t UNION SELECT a FROM u UNION ALL SELECT a FROM t", "SELECT a FROM t UNION ALL SELECT a FROM u UNION SELECT a FROM t"),
    ("SELECT a FROM t UNION ALL SELECT b FROM t", "SELECT b FROM t UNION ALL SELECT d FROM t"),
    ("SELECT a FROM t WHERE NOT b BETWEEN 1 AND 2", "SELECT a FROM t WHERE NOT b >= 1 AND b <= 2"),
    ("SELECT a FROM t WHERE b IN (1, 2)", "SELECT a FROM t WHERE b = 2 AND b = 1"),
    ("SELECT a FROM t WHERE b NOT IN (1, 2)", "SELECT a FROM t WHERE b <> 1 OR NOT b = 2"),
    ("SELECT a FROM t WHERE b BETWEEN 1 AND 3", "SELECT a FROM t WHERE b > 1 AND b < 3"),
    ("SELECT a FROM t WHERE b BETWEEN 1 AND 3", "SELECT a FROM t WHERE b BETWEEN 3 AND 1"),
    ("SELECT a FROM t WHERE b = 1 AND (d = 2 OR id = 3)", "SELECT a FROM t WHERE b = 1 AND d = 2 OR id = 3"),
    ("SELECT (a + b) * d FROM t", "SELECT a + b * d FROM t"),
    ("SELECT a - b FROM t", "SELECT b - a FROM t"),
    ("SELECT t.a FROM t LEFT JOIN u ON t.id = u.id", "SELECT t.a FROM t JOIN u ON t.id = u.id"),
    ("SELECT t.a FROM t LEFT JOIN u ON t.id = u.id AND u.k = 1", "SELECT t.a FROM t LEFT JOIN u ON t.id = u.id WHERE u.k = 1"),
    ("SELECT t.a FROM t LEFT JOIN u ON t.id = u.id", "SELECT u.a FROM u LEFT JOIN t ON t.id = u.id"),
    ("SELECT DISTINCT a FROM t", "SELECT a FROM t"),
    ("SELECT COUNT(a) FROM t", "SELECT COUNT(*) FROM t"),
    ("SELECT COUNT(DISTINCT a) FROM t", "SELECT COUNT(a) FROM t"),
    ("SELECT a FROM t ORDER BY a, id", "SELECT a FROM t ORDER BY a DESC, id"),
    ("SELECT a FROM t ORDER BY a, b", "SELECT a FROM t ORDER BY b, a"),
    ("SELECT a, b FROM t ORDER BY 1, id", "SELECT a, b FROM t ORDER BY 2, id"),
    ("SELECT a FROM t ORDER BY id LIMIT 2", "SELECT a FROM t ORDER BY id LIMIT 2 OFFSET 1"),
    ("SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = 99)", "SELECT a FROM t WHERE EXISTS (SELECT COUNT(*) FROM u WHERE u.id = 99)"),
    ("SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id)", "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = u.id)"),
    ("SELECT a FROM t UNION SELECT a FROM u", "SELECT a FROM t UNION ALL SELECT a FROM u"),
    ("SELECT a FROM t EXCEPT SELECT a FROM u", "SELECT a FROM u EXCEPT SELECT a FROM t"),
    ("SELECT e.name FROM emp e JOIN emp m ON e.mgr = m.id", "SELECT e.name FROM emp e JOIN emp m ON m.mgr = e.id"),
    ("SELECT t.a FROM t JOIN u USING (id)", "SELECT t.a FROM t JOIN u ON t.id = u.a"),
    ("SELECT t.a FROM t JOIN u USING (id, a)", "SELECT t.a FROM t JOIN u ON t.id = u.id"),
    ("SELECT MAX(a) FROM t", "SELECT MIN(a) FROM t"),
    ("SELECT b, SUM(a) FROM t GROUP BY b HAVING SUM(a) > 2", "SELECT b, SUM(a) FROM t WHERE a > 2 GROUP BY b"),
    ("SELECT a FROM t WHERE b = NULL", "SELECT a FROM t WHERE b IS NULL"),
    ("SELECT COALESCE(a, b) FROM t", "SELECT COALESCE(b, a) FROM t"),
    ("SELECT CASE WHEN a > 1 THEN 'x' ELSE 'y' END FROM t", "SELECT IIF(a > 1, 'y', 'x') FROM t"),
    ("SELECT ABS(b) AS b, COUNT(*) FROM t GROUP BY 1", "SELECT ABS(b) AS b, COUNT(*) FROM t GROUP BY b"),
    ("SELECT * FROM t JOIN u ON t.id = u.id", "SELECT * FROM u JOIN t ON t.id = u.id"),
    ("WITH x AS (SELECT id FROM t WHERE a = 1) SELECT COUNT(*) FROM x", "SELECT COUNT(*) FROM (SELECT id FROM t WHERE a = 2) AS y"),
]  # fmt: skip


@pytest.fixture(scope="module")
def databases():
    made = []
    for seed in range(12):
        draw = random.Random(seed)
        database = sqlite3.connect(":memory:")
        for table, columns in TABLES.items():
            names = columns.split()
            database.execute(f"CREATE TABLE {table} ({', '.join(names)})")
            for number in range(9):
                values = [
                    number + 4 * (table == "u"),
                    *(draw.choice([-2, -1, 0, 1, 2, 3, None]) for _ in names[1:]),
                ]
                database.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", values)
        made.append(database)
    yield made
    for each in made:
        each.close()


def rows(database, query):
    found = database.execute(query).fetchall()
    return found if "ORDER BY" in query else sorted(found, key=repr)


@pytest.mark.parametrize(("first", "second"), SAME)
def test_what_returns_the_same_rows_is_equivalent(first, second, databases):
    for database in databases:
        assert rows(database, first) == rows(database, second)
    for one, two in ((first, second), (second, first)):
        found = compare(one, two, task="sql")
        assert found.outcome == "equivalent", found.explanation


@pytest.mark.parametrize(("first", "second"), OTHER)
def test_what_may_return_other_rows_is_never_equivalent(first, second, databases):
    assert any(rows(database, first) != rows(database, second) for database in databases)
    for one, two in ((first, second), (second, first)):
        found = compare(one, two, task="sql")
        assert found.outcome in {"deviation", "undecided"}, found


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        # dialects
        ("SELECT TOP 5 [a] FROM [t] ORDER BY a DESC", "SELECT a FROM t ORDER BY a DESC LIMIT 5", "equivalent"),
        ("SELECT `a` FROM `t` LIMIT 5", 'SELECT "a" FROM t FETCH FIRST 5 ROWS ONLY', "equivalent"),
        ("SELECT a FROM t LIMIT 5", "SELECT a FROM t FETCH FIRST 5 ROWS WITH TIES", "undecided"),
        ("SELECT TOP 5 a FROM t", "SELECT TOP 5 PERCENT a FROM t", "deviation"),
        ("SELECT a::int FROM t", "SELECT CAST(a AS INT) FROM t", "equivalent"),
        ("SELECT a FROM t WHERE EXTRACT(YEAR FROM d) = 2024", "SELECT a FROM t WHERE YEAR(d) = 2024", "equivalent"),
        ("SELECT a FROM t WHERE EXTRACT(YEAR FROM d) = 2024", "SELECT a FROM t WHERE MONTH(d) = 2024", "undecided"),
        ('SELECT "A" FROM t WHERE b IN (1)', "SELECT a FROM t WHERE b = 1", "undecided"),
        # names of columns
        ("SELECT a, SUM(b) AS s FROM t GROUP BY a HAVING s > 5", "SELECT a, SUM(b) AS total FROM t GROUP BY 1 HAVING SUM(b) > 5", "minor"),
        # what would need to be known of the tables
        ("SELECT name FROM t JOIN u ON t.id = u.id", "SELECT t.name FROM u JOIN t ON t.id = u.id", "undecided"),
        ("SELECT name FROM t JOIN u USING (id)", "SELECT name FROM t JOIN u ON t.id = u.id AND t.k = u.k", "undecided"),
        # a value is never overruled, and what changes from call to call is not said twice
        ("SELECT a FROM t WHERE b = 1", "SELECT a FROM t WHERE b = 2", "deviation"),
        ("SELECT a FROM t WHERE b = '1'", "SELECT a FROM t WHERE b = 1", "deviation"),
        ("SELECT a FROM t WHERE RANDOM() BETWEEN 1 AND 2", "SELECT a FROM t WHERE RANDOM() >= 1 AND RANDOM() <= 2", "undecided"),
        # around the query
        ("SELECT a FROM t WHERE b IN (1)", "Here you are:\n```sql\nSELECT a FROM t WHERE b = 1;\n```", "minor"),
        ("SELECT a FROM t WHERE b IN (1)", "```sql\nSELECT a FROM t WHERE b = 1;\n```", "equivalent"),
        ("SELECT a FROM t WHERE b IN (1)", "SELECT a FROM t WHERE b = 1; DROP TABLE t", "deviation"),
        ("SELECT a FROM t WHERE b IN (1)", "SELECT a FROM t WHERE b == == 1", "undecided"),
    ],
)  # fmt: skip
def test_what_a_small_database_cannot_show(first, second, outcome):
    for one, two in ((first, second), (second, first)):
        assert compare(one, two, task="sql").outcome == outcome


def test_nothing_hostile_is_a_crash():
    deep = "SELECT a FROM t WHERE " + "(" * 3000 + "b = 1" + ")" * 3000
    for query in (
        deep,
        "SELECT '",
        "SELECT a FROM t WHERE " + "b = 1 AND " * 5000 + "b = 2",
        "SELECT \x00 FROM t",
    ):
        assert compare("SELECT a FROM t WHERE b IN (1)", query, task="sql").outcome in {
            "deviation",
            "undecided",
        }


def test_a_dialect_can_be_named():
    pair = "SELECT a FROM t WHERE b IN (1)", "SELECT a FROM t WHERE 1 = b"
    assert compare(*pair, profile=profile_for("sql", sql_dialect="postgres")).outcome == "equivalent"
    with pytest.raises(UsageError, match="Did you mean 'postgres'"):
        profile_for("sql", sql_dialect="postgress")
    with pytest.raises(UsageError, match="is not the name of an SQL dialect"):
        profile_for("sql", sql_dialect=3)


def test_without_the_library_the_answer_says_what_would_help(monkeypatch):
    monkeypatch.setattr(sql, "installed", lambda: False)
    first, second = (
        "SELECT t.a FROM t JOIN u ON t.id = u.id WHERE u.k > 1",
        "SELECT x.a FROM u y, t x WHERE y.k > 1 AND x.id = y.id",
    )
    found = compare(first, second, task="sql")
    assert found.outcome == "undecided"
    assert found.explanation.endswith("the extra 'sql' can tell in more cases")
    with pytest.raises(ConfigurationError, match=r"pip install 'pytest-promptfuzz\[sql\]'"):
        profile_for("sql", sql_dialect="postgres")
