"""The tables of words that stand in data files."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_promptfuzz.data import tables
from pytest_promptfuzz.data.tables import alternatives, entries, listed, pairs, when_used, words_in

DATA = Path(tables.__file__).parent
SUITES = DATA / "suites"  # copied by people, and no tables
TABLES = sorted(
    path for path in DATA.rglob("*") if path.suffix in {".tsv", ".txt"} and not path.is_relative_to(SUITES)
)
ASKING = """
import importlib, pkgutil, sys
read = []
sys.addaudithook(lambda event, of: event == "open" and "data" in str(of[0]) and read.append(str(of[0])))
import pytest_promptfuzz
for module in pkgutil.walk_packages(pytest_promptfuzz.__path__, "pytest_promptfuzz."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
tables = lambda: sorted(each for each in read if each.endswith((".tsv", ".txt")))
print(tables())
from pytest_promptfuzz import compare, mutate
compare("The museum is open on Monday.", "On Mondays, the museum is closed.")
mutate("Summarize the text below in one sentence. Do not add an opinion.", n=4)
print(len(tables()) > 12, len(tables()) == len(set(tables())))
"""


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Puts a table into a folder of data of its own."""
    monkeypatch.setattr(tables, "_folder", lambda: tmp_path)
    clear()

    def put(text):
        (tmp_path / "table.tsv").write_text(text, encoding="utf-8")
        return "table.tsv"

    yield put
    clear()


def clear():
    for each in (tables._lines, tables._listed, tables._word_sets, tables._words):
        each.cache_clear()


def test_no_table_is_read_before_it_is_used_nor_twice() -> None:
    done = subprocess.run([sys.executable, "-c", ASKING], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.splitlines() == ["[]", "True True"]


def test_an_entry_a_line_without_remarks(table) -> None:
    name = table("# of what\nfour\t4\n\nzwölf\t12\n")
    assert entries(name, lambda word, number: (word, int(number))) == [("four", 4), ("zwölf", 12)]


@pytest.mark.parametrize("line", ["five", "five\t5\t6", "five\tfive"])
def test_a_line_that_cannot_be_read_is_named(table, line) -> None:
    name = table(f"# of what\nfour\t4\n{line}\n")
    with pytest.raises(ValueError, match=r"table\.tsv, line 3: "):
        entries(name, lambda word, number: (word, int(number)))


def test_words_are_sets_and_kinds_keep_their_order(table) -> None:
    assert words_in(table("# small\n# ones\nof\nthe\n")) & {"of", "the", "small"} == {"of", "the"}
    clear()
    name = table("# of what\nlong\twalk\nshort\tnap\nlong\tnight of it\n")
    assert words_in(name, "long") | {"x"} == {"x", "walk", "night of it"}
    assert dict(listed(name)) == {"long": ("walk", "night of it"), "short": ("nap",)}
    assert dict(pairs(name)) == {"long": "night of it", "short": "nap"}


def test_names_in_expressions_stand_for_their_lines(table) -> None:
    name = table("opening\t<SURE>[.!]\nopening\there is\nSURE\tsure(?: <WHAT>)?\nSURE\tok\nWHAT\tthing\n")
    found = re.compile(alternatives(name, "opening"))
    assert [bool(found.fullmatch(text)) for text in ("sure thing!", "ok.", "here is", "ok")] == [1, 1, 1, 0]


def test_what_is_made_when_used_is_made_once_and_like_any_other() -> None:
    made = []
    some = when_used(lambda: made.append("once") or frozenset({"a", "b"}))
    other = when_used(lambda: {"b": 1, "c": 2})
    assert (made, repr(some)[:9]) == ([], "when_used")
    assert ("a" in some, "c" in some, sorted(some), len(some)) == (True, False, ["a", "b"], 2)
    assert (some | {"c"}, some & {"a"}, some - {"a"}) == ({"a", "b", "c"}, {"a"}, {"b"})
    assert ({"c"} | some, {"a"} & some, {"a", "c"} - some) == ({"a", "b", "c"}, {"a"}, {"c"})
    assert (some.isdisjoint({"c"}), frozenset({"a"}).isdisjoint(some)) == (True, False)
    assert (other["b"], other.get("d", 3), dict(other), some & other.keys()) == (
        1,
        3,
        {"b": 1, "c": 2},
        {"b"},
    )
    assert made == ["once"]
    with pytest.raises(AttributeError):
        _ = some.__array__


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_a_table_says_what_it_is_and_has_no_entry_twice(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ")
    told = [line for line in lines if line and not line.startswith("#")]
    assert [line for line in told if line != line.strip()] == []
    assert sorted(each for each in set(told) if told.count(each) > 1) == []
