"""The folders are layers: imports point up the table of docs/architecture.md only."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest_promptfuzz

PACKAGE = Path(pytest_promptfuzz.__file__).parent
LAYERS = [
    "errors",
    "clocks",
    "expressions",
    "files",
    "prompts",
    "mutations",
    "targets",
    "wire",
    "running",
    "embedding",
    "comparing",
    "scoring",
    "assisting",
    "judging",
    "searching",
    "history",
    "evaluating",
    "reporting",
    "testing",
    "plugin",
    "cli",
]
PURE = {"prompts", "mutations", "comparing", "scoring", "searching"}
IMPURE_MODULES = {
    "pytest",
    "_pytest",
    "openai",
    "anthropic",
    "random",
    "time",
    "socket",
    "subprocess",
    "httpx",
    "httpx2",
}
HEAVY = {
    "openai",
    "anthropic",
    "torch",
    "numpy",
    "jsonschema",
    "diskcache",
    "sentence_transformers",
    "onnxruntime",
    "tokenizers",
    "sacrebleu",
}


@cache
def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


def room(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imports(tree: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            module = node.module or ""
            found.add(module)
            found |= {f"{module}.{alias.name}" for alias in node.names}
    return found


def top_level_imports(tree: ast.Module) -> set[str]:
    body = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return imports(ast.Module(body=list(body), type_ignores=[]))


def test_imports_point_up() -> None:
    unknown = {room(path) for path in trees()} - {"__init__", *LAYERS}
    assert not unknown, f"not rooms of docs/architecture.md: {sorted(unknown)}"
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {name}"
        for path, tree in trees().items()
        if room(path) != "__init__"
        for name in sorted(imports(tree))
        if (parts := name.split("."))[0] == "pytest_promptfuzz" and len(parts) > 1 and parts[1] in LAYERS
        if LAYERS.index(parts[1]) > LAYERS.index(room(path))
    ]
    assert wrong == [], "a room imports only rooms above it in docs/architecture.md"


def test_rooms_keep_to_themselves() -> None:
    wrong = []
    for path, tree in trees().items():
        here, where = room(path), path.relative_to(PACKAGE)
        roots = {name.split(".")[0] for name in imports(tree)}
        if here not in {"plugin", "testing"} and roots & {"pytest", "_pytest"}:
            wrong.append(f"{where}: only plugin/ and testing/ import pytest")
        if here in PURE and roots & IMPURE_MODULES:
            wrong.append(f"{where}: {here}/ does no I/O and reads no clock")
        if heavy := {name.split(".")[0] for name in top_level_imports(tree)} & HEAVY:
            wrong.append(f"{where}: import {', '.join(sorted(heavy))} where it is used, not at the top")
    assert wrong == []


def test_the_table_of_the_docs_names_every_room() -> None:
    text = (PACKAGE.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = {room(path) for path in trees()} - {"__init__"}
    assert [each for each in sorted(rooms) if f"`{each}" not in text] == []


BY_NAME = {"python", "python3", "pip", "pytest", "promptfuzz"}
STARTING = {"run", "Popen", "call", "check_call", "check_output", "create_subprocess_exec", "spawn"}


def started_by_name(tree: ast.AST) -> list[int]:
    """The lines that start a program by a name that only an activated environment has on its path."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        first = node.args[0]
        first = first.elts[0] if isinstance(first, ast.List | ast.Tuple) and first.elts else first
        if name in STARTING and isinstance(first, ast.Constant) and first.value in BY_NAME:
            found.append(node.lineno)
    return found


def test_no_test_starts_a_program_by_its_bare_name() -> None:
    assert started_by_name(ast.parse("pytester.run('python', '-m', 'pip')\nsubprocess.run(['pytest'])")) == [
        1,
        2,
    ]
    tests = Path(__file__).parent
    found = [
        f"{path.relative_to(tests)}:{line}"
        for path in sorted(tests.rglob("*.py"))
        for line in started_by_name(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == [], "start it as sys.executable -m …"


def test_no_two_test_modules_have_one_name() -> None:
    names = Counter(path.name for path in Path(__file__).parent.rglob("test_*.py"))
    assert [name for name, times in names.items() if times > 1] == []  # pytest imports them by that name
