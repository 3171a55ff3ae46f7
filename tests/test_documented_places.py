"""Whatever the documentation of an earlier version let users import is importable from there, and is the same object."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path
from typing import Any

import pytest_promptfuzz
from tests import warm

PLACES = Path(__file__).parent / "data" / "documented_places.txt"


def documented() -> list[tuple[str, str]]:
    """Module and name of each place."""
    lines = PLACES.read_text(encoding="utf-8").splitlines()
    return [tuple(line.split(":")) for line in lines if line and not line.startswith("#")]


def found(module: str, name: str) -> Any:
    """What is at a place, which may be a module; a sentence where nothing is."""
    try:
        home = importlib.import_module(module)
        return getattr(home, name) if hasattr(home, name) else importlib.import_module(f"{module}.{name}")
    except ImportError as error:
        return f"{module}:{name} is gone: {error}"


def test_every_documented_place_has_what_it_had() -> None:
    places = documented()
    assert len(places) == len({*places}) > 190
    objects = {place: found(*place) for place in places}
    assert [each for each in objects.values() if isinstance(each, str)] == []
    public = {name: getattr(pytest_promptfuzz, name) for name in pytest_promptfuzz.__all__}
    another = [
        f"{module}:{name} is another object than pytest_promptfuzz.{name}"
        for (module, name), each in objects.items()
        if name in public and each is not public[name]
    ]
    assert another == []
    assert [said for place, each in objects.items() if (said := copied(place, each))] == []


def copied(place: tuple[str, str], value: Any) -> str:
    """Of a class or function, whether the module that it says it is from has another one."""
    home, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(home, str) or not isinstance(name, str) or "<locals>" in name:
        return ""
    there = pkgutil.resolve_name(f"{home}:{name}")
    return "" if there is value else f"{':'.join(place)} is another object than {home}:{name}"


def test_documented_places_are_found_in_processes_that_are_forked() -> None:
    code = "from pytest_promptfuzz.scoring.trial import Trial; print(Trial.__module__)"
    done = warm.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("pytest_promptfuzz.results.trials\n", "")


def test_documented_places_can_be_written_in_every_way() -> None:
    for module, name in documented():
        names: dict[str, Any] = {}
        exec(f"from {module} import {name} as first\nimport {module} as second\nimport {module}", names)
        named = pkgutil.resolve_name(f"{module}:{name}")
        value = names["pytest_promptfuzz"]
        for part in [*module.split(".")[1:], name]:
            value = getattr(value, part)
        assert names["first"] is getattr(names["second"], name) is named is value, f"{module}:{name}"


def test_no_file_of_the_package_is_loaded_twice() -> None:
    """As it would be by an old name that loads a module anew: its classes would be others than those of the new name."""
    for place in documented():
        found(*place)
    loaded: dict[str, set[int]] = {}
    for name, module in [*sys.modules.items()]:
        if name.partition(".")[0] == "pytest_promptfuzz" and getattr(module, "__file__", None):
            loaded.setdefault(str(module.__file__), set()).add(id(module))
    assert len(loaded) > 50
    assert [file for file, modules in loaded.items() if len(modules) > 1] == []
