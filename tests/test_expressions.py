"""Expressions of a module are compiled at their first use, and are then what ``re`` makes of them."""

from __future__ import annotations

import copy
import importlib
import pkgutil
import re

import pytest

import pytest_promptfuzz
from pytest_promptfuzz.text import expressions
from pytest_promptfuzz.text.expressions import expression

ROOMS = ("prompts", "mutations", "comparing")


def test_it_is_compiled_once_and_at_its_first_use(monkeypatch) -> None:
    asked: list[str] = []
    make = re.compile
    monkeypatch.setattr(re, "compile", lambda pattern, flags: asked.append(pattern) or make(pattern, flags))
    number = expression(r"(?P<whole>\d+)")
    assert (asked, number.pattern) == ([], r"(?P<whole>\d+)")
    assert [number.sub("n", "7 of 12"), number.findall("7 of 12")] == ["n of n", ["7", "12"]]
    assert number.search("at 12")["whole"] == "12"
    assert asked == [r"(?P<whole>\d+)"]


def test_it_is_what_re_makes_of_it() -> None:
    lazy, eager = expression("a(b)?", re.IGNORECASE | re.ASCII), re.compile("a(b)?", re.IGNORECASE | re.ASCII)
    assert (lazy.flags, lazy.groups, lazy.pattern) == (eager.flags, eager.groups, eager.pattern)
    assert lazy.fullmatch("AB")
    assert not lazy.fullmatch("Abb")
    assert lazy.match("xab", 1).span(1) == (2, 3)
    assert expression("ſ", re.IGNORECASE).search("S")
    assert not expression("ſ", re.IGNORECASE | re.ASCII).search("S")


def test_what_it_has_not_is_missing_as_ever() -> None:
    fresh = expression("a")
    assert not hasattr(fresh, "_nothing")
    with pytest.raises(AttributeError, match="nothing"):
        _ = fresh.nothing
    assert repr(fresh) == "expression('a', 0)"
    assert copy.deepcopy(fresh).search("ba").start() == 1


def test_a_mistake_shows_when_it_is_used() -> None:
    with pytest.raises(re.error, match="unterminated"):
        expression("(a").search("a")


def lazy_ones() -> list[expressions._Expression]:
    """All of the package's, also those in tables."""
    found: dict[int, expressions._Expression] = {}

    def look(value: object) -> None:
        if isinstance(value, expressions._Expression):
            found[id(value)] = value
        elif isinstance(value, dict):
            for each in value.values():
                look(each)
        elif isinstance(value, list | tuple | set | frozenset):
            for each in value:
                look(each)

    for room in ROOMS:
        package = importlib.import_module(f"{pytest_promptfuzz.__name__}.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for value in vars(importlib.import_module(module.name)).values():
                look(value)
    return list(found.values())


def test_every_expression_of_the_package_compiles() -> None:
    found = lazy_ones()
    assert len(found) > 400
    assert [each for each in found if not isinstance(re.compile(each.pattern, each._flags), re.Pattern)] == []
