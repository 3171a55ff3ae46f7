"""Queries and programs: what says the same in another form, and what does not."""

from __future__ import annotations

import pytest

from pytest_promptfuzz.comparing.compare import compare
from pytest_promptfuzz.comparing.formats.sql import tokens, unnamed

SQL = [
    ("SELECT a FROM t WHERE n > 3", "select a from t where 3 < n;", "equivalent"),
    ("SELECT COUNT(1) FROM t", "SELECT COUNT(*) FROM t", "equivalent"),
    ("SELECT a FROM t WHERE x = 1 AND y = 2", "SELECT a FROM t WHERE y = 2 AND 1 = x", "equivalent"),
    (
        "SELECT a FROM t WHERE x BETWEEN 1 AND 5 AND y = 2",
        "SELECT a FROM t WHERE y = 2 AND x BETWEEN 1 AND 5",
        "equivalent",
    ),
    (
        "SELECT a FROM t WHERE x = 1 AND (y = 2 OR z = 3)",
        "SELECT a FROM t WHERE (y = 2 OR z = 3) AND x = 1",
        "equivalent",
    ),
    (
        "SELECT a FROM t WHERE x = 1 AND y = 2 OR z = 3",
        "SELECT a FROM t WHERE y = 2 AND x = 1 OR z = 3",
        "equivalent",
    ),
    (
        "SELECT a FROM t WHERE x = 1 OR y = 2 AND b = 3",
        "SELECT a FROM t WHERE b = 3 AND x = 1 OR y = 2",
        "deviation",
    ),
    ("SELECT COUNT(*) FROM t", "SELECT COUNT(*) AS n FROM t", "minor"),
    ("SELECT a FROM t", "SELECT a FROM t ORDER BY a", "minor"),
    ("SELECT a FROM t", "Here it is:\n```sql\nSELECT a FROM t\n```\nEnjoy!", "minor"),
    ("SELECT a FROM t WHERE x = 1", "SELECT a FROM t", "deviation"),
    ("SELECT a FROM t WHERE x = 1", "DELETE FROM t WHERE x = 1", "deviation"),
    ("UPDATE t SET a = b WHERE c = 1", "UPDATE t SET b = a WHERE c = 1", "deviation"),
    ("SELECT a FROM t", "I cannot see your schema.", "deviation"),
    ("I cannot see your schema.", "SELECT a FROM t", "deviation"),
    (
        "SELECT a FROM t WHERE id IN (SELECT t_id FROM u)",
        "SELECT DISTINCT t.a FROM t JOIN u ON u.t_id = t.id",
        "undecided",
    ),
]
CODE = [
    ("print('hello')", 'print("hello")', "equivalent"),
    ('def f(x):\n    """Double."""\n    return 2 * x', "def f(x):\n  return 2*x  # twice", "equivalent"),
    ("if a > b:\n    run()", "if b < a:\n    run()", "equivalent"),
    ("const f = (x) => x + 1;", "const f = x => x + 1", "equivalent"),
    ("def f(a):\n    return a * 2", "def f(value):\n    return value * 2", "minor"),
    ("def f(a, b):\n    return a - b", "def f(a, b):\n    return b - a", "deviation"),
    ("def f(a, b):\n    return a * b", "def f(a, b):\n    return b * a", "undecided"),
    ("if any(x):\n    run()", "if all(x):\n    run()", "deviation"),
    ("timeout = 5 * 60", "timeout = 300", "equivalent"),
    ("def f(xs):\n    return sorted(xs)[0]", "def f(xs):\n    return sorted(x", "deviation"),
    ("docker stop web-1", "docker stop db-1", "deviation"),
    ("psql -c 'SELECT a FROM t'", "psql -c 'SELECT a FROM", "deviation"),
    ("docker stop web-1", "docker kill web-1", "deviation"),
    ("docker run -d web", "docker run --detach web", "undecided"),
    ("import os\nos.remove(p)", "I can't help with deleting files.", "deviation"),
    ("O(n)", "The function runs in O(n) time.", "equivalent"),
    ("if a and b:\n    run()", "if a or b:\n    run()", "deviation"),
    ("const f = x => !x.done", "const f = x => x.done", "deviation"),
    ("for x in y:\n    f(x)\ng()", "for x in y:\n    f(x)\n    g()", "deviation"),
    ("x = 10", "x = 11", "deviation"),
    ("x += 1", "x = x + 1", "undecided"),
    ("for i in range(n):\n    f(i)", "for i in range(0, n):\n    f(i)", "undecided"),
]


@pytest.mark.parametrize(("first", "second", "outcome"), SQL)
def test_queries(first: str, second: str, outcome: str) -> None:
    for one, two in ((first, second), (second, first)):
        found = compare(one, two, task="sql")
        assert found.outcome == outcome, found.explanation


@pytest.mark.parametrize(("first", "second", "outcome"), CODE)
def test_programs(first: str, second: str, outcome: str) -> None:
    for one, two in ((first, second), (second, first)):
        found = compare(one, two, task="code")
        assert found.outcome == outcome, found.explanation


def test_a_columns_name_gives_way_to_its_expression() -> None:
    named = tokens("SELECT a, SUM(b) AS total FROM t GROUP BY a ORDER BY total DESC")
    assert unnamed(named) == tokens("SELECT a, SUM(b) FROM t GROUP BY a ORDER BY SUM(b) DESC")
