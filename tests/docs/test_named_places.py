"""Every file, folder and module that docs/architecture.md and CONTRIBUTING.md name is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import pytest_promptfuzz

PACKAGE = Path(pytest_promptfuzz.__file__).parent
ROOT = Path(__file__).parents[2]
PAGES = ("docs/architecture.md", "CONTRIBUTING.md")
CODE = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"[a-z_.][\w.*/-]*\.(?:py|md|toml|tsv|txt|json|yml)|\.?[a-z_]\w*(?:/[a-z_]\w*)*/")
MODULE = re.compile(r"[a-z_]+(?:\.[a-z_]+)+(?:\.[A-Z]\w*)?")
ROOM_AND_MODULE = re.compile(r"([a-z_]+)/[a-z_/]+")
# What the checkout does not hold: an environment, and a module that a contributor is to write.
ELSEWHERE = re.compile(r"\.venv/|.*\bNAME\b")


def named(text: str) -> list[tuple[str, str]]:
    """Each file, folder or dotted module in backticks, and the room that its paragraph is about, if it is about one."""
    found = []
    for paragraph in text.split("\n\n"):
        about = re.match(r"\*\*`(\w+)/`\*\*", paragraph)
        room = about[1] if about else ""
        found += [(name, room) for name in CODE.findall(paragraph)]
    return [(name, room) for name, room in found if is_place(name)]


def is_place(name: str) -> bool:
    if ELSEWHERE.match(name):
        return False
    of_room = MODULE.fullmatch(name) or ROOM_AND_MODULE.fullmatch(name)
    return bool(FILE.fullmatch(name) or (of_room and (PACKAGE / re.split(r"[./]", name)[0]).is_dir()))


def exists(name: str, room: str) -> bool:
    """Whether a name is a place in the package, the checkout, its tests, or any folder of the room that is spoken of."""
    if not FILE.fullmatch(name):
        return defines(name.replace("/", "."))
    path = name.rstrip("/")
    inside = (PACKAGE / room).rglob(path) if room else ()
    return any(
        any(each) for each in (PACKAGE.glob(path), ROOT.glob(path), (ROOT / "tests").glob(path), inside)
    )


def defines(dotted: str) -> bool:
    """Whether ``room.module`` is a module, and ``room.module.Name`` stands in one."""
    path = PACKAGE / dotted.replace(".", "/")
    if path.is_dir() or path.with_suffix(".py").is_file():
        return True
    module = path.parent.with_suffix(".py")
    return module.is_file() and bool(
        re.search(rf"^(?:class )?{path.name}\b", module.read_text(encoding="utf-8"), re.MULTILINE)
    )


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_names_is_there(page: str) -> None:
    places = named((ROOT / page).read_text(encoding="utf-8"))
    assert len(places) > 50
    missing = sorted({name for name, room in places if not exists(name, room)})
    assert missing == [], (
        f"{page} names what is not there: write the name of today (the first line of a module says what it holds), "
        "or leave it out"
    )


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("`wire/watch.py` and `docs/reference.md`", []),
        ("`wire/wtach.py`, `wire/wtach`, `wire/watch`, `weir/`", ["wire/wtach.py", "wire/wtach", "weir/"]),
        ("**`mutations/`** `planner.py` is in `engine/`, `watch.py` is not.", ["watch.py"]),
        ("`planner.py`", ["planner.py"]),
        ("`data/*/units.txt`, `data/*/unit.txt`", ["data/*/unit.txt"]),
        ("`wire.watch.Watch`, `wire.watch.Look`, `wire.look`", ["wire.watch.Look", "wire.look"]),
        ("`promptfuzz.operators`, `application/json`, `part=`, `.venv/bin/pytest`, `providers/NAME.py`", []),
    ],
)
def test_a_name_that_nothing_has_is_seen(text: str, missing: list[str]) -> None:
    assert [name for name, room in named(text) if not exists(name, room)] == missing
