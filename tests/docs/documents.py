"""Runs the examples of a markdown document, in order, in one scratch folder.

* A fenced block with ``title="NAME"`` is written to the file NAME.
* A ``console`` block is run: ``$ command`` lines, each followed by what it prints. A line ``...`` stands for any lines.
* A ``pycon`` block is run as a doctest; the names of one document's blocks are shared.
* A test file that no command names is run at the end and must pass.
* After a comment ``<!-- examples: after PAGE -->`` the files are there that the examples of PAGE leave behind.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from tests.in_process import promptfuzz, run_pytest, run_python

FENCE = re.compile(
    r"^```(?P<kind>\w*)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
AFTER = re.compile(r"^<!-- examples: after (?P<page>\S+) -->$", re.MULTILINE)
PROGRAMS = {"pytest": run_pytest, "promptfuzz": promptfuzz, "python": run_python}
VOLATILE = (
    (re.compile(r"\b\d+(?:\.\d+)?m?s\b"), "0s"),
    (re.compile(r"(?<=\b0s) +[\d,]+$"), " 0"),  # tokens, last in the table
    (re.compile(r"\b[0-9a-f]{12}\b"), "trial"),
    (re.compile(r"0x[0-9a-f]+"), "0x0"),
    (re.compile(r"([=_])\1{2,}"), r"\1\1\1"),
    (re.compile(r"\s+"), " "),
)
EXAMPLE = Path(__file__).parents[2] / "example_project"
# CI and BUILD_NUMBER among them: pytest then cuts no line short.
FOREIGN = ("PYTEST_", "PROMPTFUZZ_", "OPENAI_", "ANTHROPIC_", "COV_", "CI", "BUILD_NUMBER")
SEMANTIC = "semantic comparison"


@dataclass(frozen=True)
class Block:
    kind: str
    title: str | None
    body: str
    line: int


def blocks(text: str) -> list[Block]:
    return [
        Block(found["kind"], found["title"], found["body"], text.count("\n", 0, found.start()) + 1)
        for found in FENCE.finditer(text)
    ]


def run_document(document: Path, folder: Path) -> None:
    """Run all of a document's examples; raises AssertionError at the first that does not do what it shows."""
    untested: set[str] = set()
    names: dict[str, object] = {}
    text = document.read_text(encoding="utf-8")
    for found in AFTER.finditer(text):
        run_document(document.parent / found["page"], folder)
    for block in blocks(text):
        where = f"{document.name}:{block.line}"
        if block.title is not None:
            file = folder / block.title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.body, encoding="utf-8")
            if file.name.startswith("test_"):
                untested.add(block.title)
        elif block.kind == "console":
            for command, expected in commands(block.body):
                untested -= {title for title in untested if title in command}
                check(expected, run(command, folder)[1], f"{where}: $ {command}")
        elif block.kind == "pycon":
            run_doctest(block, names, where, folder)
        else:
            assert block.kind != "python", f"{where}: give the block a title, so that it is run"
    if untested:
        status, shown = run("pytest --promptfuzz-target=simulated " + shlex.join(sorted(untested)), folder)
        assert status == 0, f"{document.name}: {shown}"


def commands(body: str) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []
    for line in body.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            assert found, f"output before a command: {line!r}"
            found[-1][1].append(line)
    return found


def run(command: str, folder: Path) -> tuple[int, str]:
    program, *arguments = shlex.split(command)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    environment |= {"COLUMNS": "80", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8", "HF_HUB_OFFLINE": "1"}
    paths = [str(EXAMPLE), environment.get("PYTHONPATH", "")]
    environment |= {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "OPENAI_API_KEY": "none"}
    started = PROGRAMS[program](*arguments, folder=folder, environment=environment, together=True)
    return started.returncode, started.stdout


def check(expected: list[str], shown: str, where: str) -> None:
    """Hold what was printed against what the document shows."""
    given = [line for line in map(plain, shown.splitlines()) if line]
    pattern = ""
    for line in filter(None, map(plain, expected)):
        pattern += r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n"
    text = "".join(f"{line}\n" for line in given if SEMANTIC not in line)
    assert re.fullmatch(pattern, text), f"{where} printed\n{shown}\ninstead of\n" + "\n".join(expected)


def plain(line: str) -> str:
    for pattern, replacement in VOLATILE:
        line = pattern.sub(replacement, line)
    return line.strip()


def run_doctest(block: Block, names: dict[str, object], where: str, folder: Path) -> None:
    test = doctest.DocTestParser().get_doctest(block.body, names, where, where, block.line)
    assert test.examples, f"{where}: no example"
    report: list[str] = []
    before = Path.cwd()
    os.chdir(folder)
    try:
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        failed = runner.run(test, out=report.append, clear_globs=False).failed
    finally:
        os.chdir(before)
    names |= test.globs
    assert not failed, "".join(report)
