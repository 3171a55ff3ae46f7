"""Queries and programs: what says the same in another form, and what does not."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from pytest_promptfuzz.comparing.formats.sql import tokens, unnamed
from pytest_promptfuzz.judging.compare import compare

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


PROVEN = [
    # named whatever way the query is written
    ("sql", "SELECT name FROM e WHERE d IN (SELECT id FROM d WHERE city = 'Berlin')", "SELECT e.name FROM e JOIN d ON e.d = d.id WHERE d.city = 'Bonn'", "'Berlin' became city = 'Bonn'"),
    ("sql", "SELECT a FROM t WHERE b BETWEEN 1 AND 3", "SELECT a FROM t WHERE b > 1 AND b < 3", "<= became <"),
    ("sql", "SELECT a FROM t WHERE b BETWEEN 1 AND 3", "SELECT a FROM t WHERE b NOT BETWEEN 1 AND 3", "not between"),
    ("sql", "SELECT AVG(pay) FROM staff", "SELECT AVG(c.pay) AS mean FROM contractors c", "staff became contractors"),
    ("sql", "SELECT SUM(n) FROM t JOIN u ON u.id = t.id WHERE t.k = 1", "SELECT AVG(x.n) AS s FROM u, t x WHERE x.k = 1 AND x.id = u.id", "sum became avg"),
    ("sql", "SELECT a FROM t WHERE b = 1", "SELECT a FROM t WHERE b =", "breaks off"),
    # with other names
    ("code", "xs = [row['a'] for row in f(rows)]", "xs = [r['b'] for r in f(rows)]", '"a" became "b"'),
    ("code", "const names = users.map(user => user.name);", "const names = users.map((u) => u.email);", "name became email"),
    ("code", 'for file in *.jpg; do\n  convert "$file"\ndone', 'for f in *.png; do\n  convert "$f"\ndone', "jpg became png"),
    ("code", "find . -name '*.log' -delete", 'find . -type f -name "*.txt" -delete', "*.log became *.txt"),
]  # fmt: skip
OPEN = [
    ("sql", "SELECT * FROM t WHERE paid = FALSE", "SELECT * FROM t WHERE NOT paid"),
    ("sql", "SELECT a FROM t WHERE n > 17", "SELECT a FROM t WHERE n >= 18"),
    ("sql", "SELECT SUM(a) FROM t GROUP BY id", "SELECT SUM(a) FROM t GROUP BY id, name"),
    ("sql", "SELECT name FROM t JOIN u ON u.t = t.id", "SELECT t.name FROM t JOIN u ON u.t = t.id"),
    ("sql", "SELECT a FROM t", "SELECT a FROM t LIMIT 100"),
    ("sql", "SELECT x(a) FROM t WHERE NOT y(b) = 2", "SELECT x(a) FROM t WHERE y(b, 0) <> 2"),
    ("code", "if (a == b) { run(); }", "if (a === b) { run(); }"),
    ("code", "docker run -d web:1", "docker run --detach web:1"),
    ("code", "git checkout -b x", "git switch -c x"),
    ("code", "cd src/ && make all", "cd src && make all"),
    ("code", "raise ValueError('the rate must lie between 0 and 1')", "raise ValueError('expected some number up to 1')"),
    ("code", "save(a)\nload(b)", "load(b)\nsave(a)"),
]  # fmt: skip


@pytest.mark.parametrize(("task", "first", "second", "said"), PROVEN)
def test_a_proven_difference_is_named(task: str, first: str, second: str, said: str) -> None:
    found = compare(first, second, task=task)
    assert found.outcome == "deviation" == compare(second, first, task=task).outcome, found.explanation
    assert said in found.explanation


@pytest.mark.parametrize(("task", "first", "second"), OPEN)
def test_what_is_not_proven_is_undecided(task: str, first: str, second: str) -> None:
    for one, two in ((first, second), (second, first)):
        found = compare(one, two, task=task)
        assert found.outcome == "undecided", found.explanation


@pytest.mark.parametrize("half", ["open", "frozen"])
def test_rates_of_queries_and_programs(half: str) -> None:
    """128 pairs each, half of them harmless; what is frozen was written and set apart before any rule was."""
    path = Path(__file__).parent / "data" / f"programs_{half}.jsonl"
    outcomes = Counter()
    for line in path.read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        for one, two in ((pair["a"], pair["b"]), (pair["b"], pair["a"])):
            outcomes[pair["expect"], compare(one, two, task=pair["task"]).outcome] += 1
    assert outcomes["altered", "equivalent"] == 0
    assert outcomes["altered", "deviation"] >= 0.65 * 128
    assert outcomes["harmless", "deviation"] <= 0.05 * 128
