"""Python programs that are written differently: the same where the language guarantees it, and never otherwise."""

from __future__ import annotations

import textwrap

import pytest

from pytest_promptfuzz.judging.compare import compare

SAME = {
    "locals renamed": ("def f(items):\n    total = 0\n    for item in items:\n        total = total + item\n    return total",
                       "def f(items):\n    acc = 0\n    for x in items:\n        acc = acc + x\n    return acc"),
    "comprehension": ("def f(a):\n    return [x * 2 for x in a if x]", "def f(a):\n    return [y * 2 for y in a if y]"),
    "comprehension over its own name": ("def f(x):\n    return [x for x in x]", "def f(x):\n    return [y for y in x]"),
    "closure": ("def f():\n    n = 0\n    def g():\n        nonlocal n\n        n = 1\n    g()\n    return n",
                "def f():\n    k = 0\n    def h():\n        nonlocal k\n        k = 1\n    h()\n    return k"),
    "exception's name": ("def f():\n    try:\n        g()\n    except ValueError as e:\n        print(e)",
                         "def f():\n    try:\n        g()\n    except ValueError as error:\n        print(error)"),
    "annotations": ("def f(a: int, b: str = 'x') -> list[int]:\n    c: int = a\n    return [c]", "def f(a, b='x'):\n    c = a\n    return [c]"),
    "types joined": ("def f(a: int | None, b: dict[str, list[int]]):\n    return a", "def f(a, b):\n    return a"),
    "typing imports": ("from typing import List, Union\ndef f(a: List[int]) -> Union[int, None]:\n    return a[0]", "def f(a):\n    return a[0]"),
    "future": ("from __future__ import annotations\ndef f(a: Unknown):\n    return a", "def f(a):\n    return a"),
    "import order": ("import os\nimport re\nprint(os.sep, re.I)", "import re\nimport os\nprint(os.sep, re.I)"),
    "imports split": ("import os, re\nprint(os.sep, re.I)", "import os\nimport re\nprint(os.sep, re.I)"),
    "counting": ("def f(a):\n    n = 0\n    for x in a:\n        n += 1\n    return n", "def f(a):\n    n = 0\n    for x in a:\n        n = n + 1\n    return n"),
    "text grows": ("def f(n):\n    s = ''\n    for i in range(3):\n        s += str(i)\n    return s", "def f(n):\n    s = ''\n    for i in range(3):\n        s = s + str(i)\n    return s"),
    "length": ("def f(a):\n    n = len(a)\n    n -= 1\n    return n", "def f(a):\n    n = len(a)\n    n = n - 1\n    return n"),
    "return None": ("def f(a):\n    print(a)\n    return None", "def f(a):\n    print(a)"),
    "else after return": ("def f(a):\n    if a:\n        return 1\n    else:\n        return 2", "def f(a):\n    if a:\n        return 1\n    return 2"),
    "elif after return": ("def f(a):\n    if a > 1:\n        return 1\n    elif a > 0:\n        return 2\n    else:\n        return 3",
                          "def f(a):\n    if a > 1:\n        return 1\n    if a > 0:\n        return 2\n    return 3"),
    "not in": ("def f(a, b):\n    return not a in b", "def f(a, b):\n    return a not in b"),
    "is not": ("def f(a):\n    return not a is None", "def f(a):\n    return a is not None"),
    "module docstring": ('"""Adds."""\ndef f(a):\n    """Add."""\n    return a + 1', "def f(a):\n    return a + 1"),
    "order of functions": ("def f():\n    return g()\n\ndef g():\n    return 1", "def g():\n    return 1\n\ndef f():\n    return g()"),
    "pass": ("def f(a):\n    pass\n    return a", "def f(a):\n    return a"),
    "method": ("class A:\n    def f(self) -> int:\n        x = 1\n        return x", "class A:\n    def f(self):\n        y = 1\n        return y"),
    "two at once": ("def f(a: int):\n    n = 0\n    n += 1\n    return n", "def f(a):\n    k = 0\n    k = k + 1\n    return k"),
}  # fmt: skip

OTHER = {
    "list grows in place": ("def f(a):\n    a += [1]\n    return a", "def f(a):\n    a = a + [1]\n    return a"),
    "unknown summand": ("def f(a):\n    n = 0\n    for x in a:\n        n += x\n    return n", "def f(a):\n    n = 0\n    for x in a:\n        n = n + x\n    return n"),
    "list bound later": ("def f(a):\n    n = 0\n    n = a\n    n += 1\n    return n", "def f(a):\n    n = 0\n    n = a\n    n = n + 1\n    return n"),
    "own len": ("def len(a):\n    return [a]\ndef f(a):\n    n = len(a)\n    n += len(a)\n    return n", "def len(a):\n    return [a]\ndef f(a):\n    n = len(a)\n    n = n + len(a)\n    return n"),
    "two locals swapped": ("def f(p):\n    a = 1\n    b = 2\n    return a - b", "def f(p):\n    a = 1\n    b = 2\n    return b - a"),
    "two locals become one": ("def f(p):\n    a = p()\n    b = p()\n    return a, b", "def f(p):\n    a = p()\n    a = p()\n    return a, a"),
    "global for local": ("x = 1\ndef f():\n    global x\n    x = 2", "x = 1\ndef f():\n    x = 2"),
    "global read in a closure": ("def f():\n    x = 1\n    def g():\n        return x\n    return g", "def f():\n    y = 1\n    def g():\n        return x\n    return g"),
    "closure's own name": ("def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = 2\n    g()\n    return x", "def f():\n    x = 1\n    def g():\n        x = 2\n    g()\n    return x"),
    "import within": ("def f():\n    os = 1\n    def g():\n        import os\n        return os\n    return g", "def f():\n    z = 1\n    def g():\n        import os\n        return z\n    return g"),
    "which one is nonlocal": ("def f(p):\n    a = p()\n    b = p()\n    def g():\n        nonlocal a\n        a = 3\n    g()\n    return a", "def f(p):\n    a = p()\n    b = p()\n    def g():\n        nonlocal b\n        b = 3\n    g()\n    return a"),
    "two globals": ("def f():\n    global a, b\n    a = 1\n    b = 2", "def f():\n    global a, b\n    b = 1\n    a = 2"),
    "locals are looked at": ("def f():\n    a = 1\n    return locals()", "def f():\n    b = 1\n    return locals()"),
    "parameter renamed": ("def f(a):\n    return a", "def f(b):\n    return b"),
    "keyword of a call": ("def f():\n    x = 1\n    return g(x=x)", "def f():\n    y = 1\n    return g(y=y)"),
    "annotation that raises": ("def f(a: List[int]):\n    return a", "def f(a):\n    return a"),
    "text or None": ("def f(a: 'A' | None):\n    return a", "def f(a):\n    return a"),
    "no such type": ("from typing import Lisst\ndef f(a):\n    return a", "def f(a):\n    return a"),
    "no generic of typing": ("from typing import Any\ndef f(a: Any[int]):\n    return a", "from typing import Any\ndef f(a: Any):\n    return a"),
    "too many types": ("from typing import List\ndef f(a: List[int, str]):\n    return a", "def f(a):\n    return a"),
    "no generic": ("def f(a: int[str]):\n    return a", "def f(a):\n    return a"),
    "a module for a type": ("import datetime\ndef f(a: datetime | None):\n    return a", "import datetime\ndef f(a):\n    return a"),
    "a name bound twice": ("def f(a: int):\n    return a\nint = 5", "def f(a):\n    return a\nint = 5"),
    "dataclass": ("from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int = 1", "from dataclasses import dataclass\n@dataclass\nclass A:\n    x = 1"),
    "a framework reads annotations": ("import typer\ndef main(n: int):\n    print(n)\ntyper.run(main)", "import typer\ndef main(n):\n    print(n)\ntyper.run(main)"),
    "decorated": ("@route\ndef f(a: int):\n    return a", "@route\ndef f(a):\n    return a"),
    "imports that shadow": ("from os import path\nfrom sys import path\nprint(path)", "from sys import path\nfrom os import path\nprint(path)"),
    "imports of others": ("import gevent.monkey\nimport requests", "import requests\nimport gevent.monkey"),
    "missing import": ("import os\nimport re\nprint(re.I)", "import re\nprint(re.I)"),
    "not equal": ("def f(a, b):\n    return not a == b", "def f(a, b):\n    return a != b"),
    "order of calls": ("def f():\n    return g() > h()", "def f():\n    return h() < g()"),
    "functions redefined": ("def f():\n    return 1\n\ndef f():\n    return 2", "def f():\n    return 2\n\ndef f():\n    return 1"),
    "defaults evaluated": ("def f(a=g()):\n    return a\n\ndef h(a=k()):\n    return a", "def h(a=k()):\n    return a\n\ndef f(a=g()):\n    return a"),
    "else without return": ("def f(a):\n    if a:\n        g()\n    else:\n        h()", "def f(a):\n    if a:\n        g()\n    h()"),
    "comprehension leaks nothing": ("def f(a):\n    x = 1\n    [x for x in a]\n    return x", "def f(a):\n    x = 1\n    [y for y in a]\n    x = a\n    return x"),
    "walrus": ("def f(a):\n    any((y := x) for x in a)\n    return y", "def f(a):\n    any((x := y) for y in a)\n    return y"),
    "debugging text": ("def f():\n    a = 1\n    return f'{a=}'", "def f():\n    b = 1\n    return f'{b=}'"),
    "another number": ("def f(a):\n    n = 0\n    n += 1\n    return n", "def f(a):\n    k = 0\n    k = k + 2\n    return k"),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_what_the_language_guarantees_is_equivalent(name):
    for first, second in (SAME[name], SAME[name][::-1]):
        found = compare(first, second, task="code")
        assert found.outcome == "equivalent", found.explanation
        fenced = compare(first, f"```python\n{second}\n```", task="code")
        assert fenced.outcome == "equivalent"


@pytest.mark.parametrize("name", OTHER)
def test_what_it_does_not_is_never_equivalent(name):
    for first, second in (OTHER[name], OTHER[name][::-1]):
        found = compare(first, second, task="code")
        assert found.outcome != "equivalent", found.explanation


RUN = {
    "closure": "f()",
    "counting": "f([1, 2, 3])",
    "text grows": "f(1)",
    "length": "f('abc')",
    "elif after return": "[f(2), f(1), f(0)]",
    "comprehension over its own name": "f([3, 4])",
    "comprehension": "f([1, 0])",
    "annotations": "f(1)",
    "two at once": "f(1)",
    "not in": "f(1, [2])",
}


@pytest.mark.parametrize("name", RUN)
def test_what_is_called_the_same_does_the_same(name):
    results = []
    for program in SAME[name]:
        space: dict = {}
        exec(program, space)
        results.append(eval(RUN[name], space))
    assert results[0] == results[1]


def test_deep_programs_are_no_crash():
    first = "x = " + "(" * 80 + "1" + ")" * 80
    second = "def f():\n    return " + "+".join(["1"] * 3000)
    assert compare(first, second, task="code").outcome != "equivalent"
    assert compare(second, second.replace("f", "g", 1), task="code").outcome != "equivalent"


def test_a_file_of_many_parts():
    first = textwrap.dedent('''
        """Counts words."""
        import re
        from collections import Counter
        from typing import Dict

        def words(text: str) -> list:
            """Split."""
            found = re.findall(r"\\w+", text)
            return [word.lower() for word in found]

        def count(text: str) -> Dict[str, int]:
            result: Counter = Counter()
            for word in words(text):
                result[word] += 1
            return dict(result)
        ''')
    second = textwrap.dedent("""
        from collections import Counter
        import re

        def count(text):
            counts = Counter()
            for w in words(text):
                counts[w] += 1
            return dict(counts)

        def words(text):
            tokens = re.findall(r"\\w+", text)
            return [t.lower() for t in tokens]
        """)
    assert compare(first, second, task="code").outcome == "equivalent"
    assert compare(first, second.replace("+= 1", "+= 2"), task="code").outcome != "equivalent"
    assert compare(first, second.replace("t.lower()", "t.upper()"), task="code").outcome != "equivalent"
