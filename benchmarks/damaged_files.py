"""Files that are damaged or hostile, of every kind that is read: `python benchmarks/damaged_files.py`.

A small project is run once, so that it has a good file of each kind. Each file is then damaged in many seeded ways (cut off, bits
turned, another type at each place of its JSON, deep nesting, huge numbers, keys twice, other encodings, NUL, a folder or a
pipe in its place) and read through the functions and commands that read it. What is wrong has to be said in an error of the
project's own. Any other exception, a traceback, or more than five seconds of the clock is a miss, and the script ends with status 1.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz import Prompt
from pytest_promptfuzz.cli.main import main as promptfuzz
from pytest_promptfuzz.comparing.formats.data_text import read_schema
from pytest_promptfuzz.errors import PromptfuzzError
from pytest_promptfuzz.evaluating.settings import read_tool
from pytest_promptfuzz.history.counterexamples import LocalCounterexamples
from pytest_promptfuzz.history.runs import read_run
from pytest_promptfuzz.history.snapshots import read as read_snapshot
from pytest_promptfuzz.reporting.hosts import sarif_report
from pytest_promptfuzz.reporting.html.page import html_report
from pytest_promptfuzz.reporting.markdown import markdown_report
from pytest_promptfuzz.reporting.report_files import read_document
from pytest_promptfuzz.reporting.terminal.styled_text import render
from pytest_promptfuzz.reporting.terminal.summary import document_lines
from pytest_promptfuzz.running.batches import Underway
from pytest_promptfuzz.storage.disk_store import kept_answers
from pytest_promptfuzz.storage.recordings.files import RecordingFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TESTS = '''
import pytest
from pytest_promptfuzz import Prompt, robust

TRIAGE = Prompt("""Classify the support ticket below into exactly one of: BILLING, TECHNICAL, ACCOUNT, OTHER.

Ticket: I was charged twice for my subscription and want a refund.""")

@robust(TRIAGE, mutations=2, target="simulated")
def test_label(prompt, llm):
    return llm(prompt)

@robust(TRIAGE, mutations=4, target="simulated", shrink=20)
def test_brittle(prompt, llm):
    said = llm(prompt)
    assert str(prompt) == str(TRIAGE)
'''
PYPROJECT = """
[tool.promptfuzz.limits]
"*" = { rpm = 60 }
[tool.promptfuzz.prices]
"m" = { input = 1.0, output = 2.0 }
[tool.promptfuzz.profiles.mine]
task = "classification"
equivalent_at = 0.9
"""
SECONDS = 5


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def made(folder: Path) -> dict[str, Path]:
    """A good file of each kind, by kind."""
    (folder / "test_it.py").write_text(TESTS, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (folder / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    (folder / "chat.json").write_text(
        '[{"role": "user", "content": "Say {word} in one word."}]', encoding="utf-8"
    )
    (folder / "inputs.jsonl").write_text('{"word": "a"}\n{"word": "b"}\n', encoding="utf-8")
    (folder / "schema.json").write_text(
        '{"type": "object", "properties": {"a": {"type": "string"}}}', encoding="utf-8"
    )
    environment = {name: value for name, value in os.environ.items() if name not in {"CI", "PYTEST_ADDOPTS"}}
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore"]
    options = ["--promptfuzz-mode=record", "--promptfuzz-update", "--promptfuzz-report=json:run.json"]
    subprocess.run([*pytest, *options], cwd=folder, env=environment, capture_output=True, check=False)
    with _inside(folder), contextlib.redirect_stdout(io.StringIO()):
        promptfuzz(["cache", "export", "answers.jsonl"])
    one = {"provider": "openai", "token": "t", "names": ["a"], "id": "b1", "before": ""}
    state = folder / ".promptfuzz" / "prefill.json"
    state.write_text(json.dumps({"format": 1, "batches": [one]}), encoding="utf-8")
    below = folder / "__promptfuzz__"
    found = {
        "recording": below / "test_it.calls.jsonl",
        "snapshot": min((below / "test_it.snap").glob("*.json")),
        "report": folder / "run.json",
        "lines": min((folder / ".promptfuzz" / "report").glob("*.jsonl")),
        "history": min((folder / ".promptfuzz" / "history").glob("*")),
        "counterexample": min((folder / ".promptfuzz" / "counterexamples").glob("*.json")),
        "answers": folder / "answers.jsonl",
        "store": folder / ".promptfuzz" / "responses" / "cache.db",
        "prefill": state,
        "pyproject": folder / "pyproject.toml",
        "chat": folder / "chat.json",
        "inputs": folder / "inputs.jsonl",
        "schema": folder / "schema.json",
    }
    missing = [kind for kind, path in found.items() if not path.is_file()]
    if missing:
        raise SystemExit(f"no file of {', '.join(missing)}")
    return found


# ---- damage


def _cut(data: bytes, random: random.Random) -> bytes:
    return data[: random.randrange(len(data))]


def _turned(data: bytes, random: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.randint(1, 8)):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _twice(data: bytes, random: random.Random) -> bytes:
    start = random.randrange(len(data))
    return data[:start] + data[start : start + random.randint(1, 400)] * 2 + data[start:]


def _spliced(data: bytes, random: random.Random) -> bytes:
    start = random.randrange(len(data))
    piece = random.choice(
        [
            b"\0",
            b"\xff\xfe",
            b"\n\n",
            b"\xed\xa0\x80",
            b"\\ud800",
            b"<<<<<<< HEAD\n",
            b"9" * 5_000,
            b"[" * 3_000,
            b"\xe2\x80\xa8",
        ]
    )
    return data[:start] + piece + data[start + random.choice([0, 1, len(piece)]) :]


def _encoded(data: bytes, random: random.Random) -> bytes:
    text = data.decode("utf-8", "replace")
    return random.choice(
        [
            lambda: text.encode("utf-16"),
            lambda: text.encode("utf-16-le"),
            lambda: text.encode("utf-32"),
            lambda: text.encode("cp1252", "replace"),
            lambda: b"\xef\xbb\xbf" + data,
            lambda: data.replace(b"\n", b"\r\n"),
            lambda: data.replace(b"\n", b"\r"),
            lambda: data[::-1],
            lambda: b"\0" * len(data),
            lambda: b"",
            lambda: b"\n",
            lambda: b"null",
            lambda: b"[]",
            lambda: b"{}",
            lambda: b'"a"',
            lambda: b"NaN",
            lambda: b"[" * 100_000,
            lambda: b'{"a":' * 50_000,
            lambda: b"9" * 10_000,
            lambda: b"x" * 100_000,
        ]
    )()


STRANGE: list[Any] = [
    None, True, 0, -1, 3, 10**30, 1e308, 0.5, float("nan"), float("inf"), "", "x", "\ud800", "\0", "9" * 5_000, "2024-99-99T00:00:00Z", [], {}, [[]], [{}], [None],
    ["x"], {"x": None}, {"": {}}, {"\ud800": 1}, [1, "a", None, {}], "x" * 10_000,
]  # fmt: skip


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    if isinstance(value, dict):
        for name in value:
            yield from _places(value[name], (*at, name))
    elif isinstance(value, list):
        for index, each in enumerate(value[:4]):
            yield from _places(each, (*at, index))


def _deep(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


def _retyped(data: bytes, random: random.Random) -> bytes:
    """Another value at one place of the JSON of one line, or of the whole."""
    lines = data.split(b"\n")
    try:
        json.loads(data)
        lines, number = [data], 0
    except ValueError:
        number = random.choice([n for n, line in enumerate(lines) if line.startswith(b"{")] or [-1])
        if number < 0:
            return _turned(data, random)
    value = json.loads(lines[number])
    *before, last = random.choice([each for each in _places(value) if each] or [("x",)])
    owner = value
    for step in before:
        owner = owner[step]
    what = random.random()
    if what < 0.15:
        del owner[last]
    elif what < 0.2 and isinstance(owner, dict):
        owner[f"{last}x"] = owner.pop(last)
    elif what < 0.25:
        owner[last] = _deep(random.choice([50, 400]))
    else:
        owner[last] = random.choice(STRANGE)
    lines[number] = _sealed(value)
    return b"\n".join(lines)


def _sealed(value: Any) -> bytes:
    """As one line, with the checksum that a recording's line has, so that what is behind it is reached."""
    if isinstance(value, dict) and "check" in value:
        from pytest_promptfuzz.storage.recordings.entries import sealed

        with contextlib.suppress(Exception):
            return sealed({name: each for name, each in value.items() if name != "check"}).rstrip(b"\n")
    return json.dumps(value).encode()


def _keys_twice(data: bytes, random: random.Random) -> bytes:
    at = data.find(b"{", random.randrange(len(data)))
    return data[: at + 1] + b'"test": 1, "format": 2, "format": 1, "version": null, ' + data[at + 1 :]


DAMAGES: list[tuple[int, Callable[[bytes, random.Random], bytes]]] = [
    (2, _cut), (3, _turned), (1, _twice), (2, _spliced), (2, _encoded), (9, _retyped), (1, _keys_twice),
]  # fmt: skip


def _folder(path: Path) -> None:
    path.mkdir()


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _nowhere(path: Path) -> None:
    path.symlink_to("/nowhere/at/all")


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


PLACES: list[Callable[[Path], None]] = [_folder, _pipe, _loop, _nowhere, _device]


# ---- reading


def _document(path: Path) -> None:
    found = read_document(path)
    render(document_lines(found), width=80, color=False)
    html_report(found)
    markdown_report(found)
    sarif_report(found)


def _recording(path: Path) -> None:
    file = RecordingFile(path)
    for test in file.tests:
        file.read(test)


def _store(path: Path) -> None:
    list(kept_answers(path.parent.parent))


def _tool(path: Path) -> None:
    from pytest_promptfuzz.comparing.profiles import profiles_from

    tool = read_tool(path.parent)
    profiles_from(tool.get("profiles", {}), "[tool.promptfuzz.profiles]")


READERS: dict[str, list[Callable[[Path], object]]] = {
    "recording": [_recording],
    "snapshot": [read_snapshot],
    "report": [_document],
    "lines": [_document],
    "history": [lambda path: read_run(path).tests(), lambda path: read_run(path, results=False)],
    "counterexample": [lambda path: list(LocalCounterexamples(path.parent.parent).every())],
    "store": [_store],
    "prefill": [lambda path: Underway(path.parent)],
    "pyproject": [_tool],
    "chat": [Prompt.from_file],
    "schema": [read_schema],
}
COMMANDS: dict[str, list[str]] = {
    "recording": ["cache verify {path}", "cache stats {path}", "cache diff {path} {good}", "cache import {path}", "cache prune {path} --damaged"],
    "snapshot": ["cache verify {path}", "cache verify ."],
    "report": ["report --from {path}", "report --from {path} --to html:o.html,md:o.md,sarif:o.sarif,gitlab:o.json", "report merge {path} {good} -o o.json", "compare {good} {path}"],
    "lines": ["report", "replay"],
    "history": ["history", "compare last", "trend test_it.py::test_label", "gc --dry-run", "compare {path} {good}"],
    "counterexample": ["replay"],
    "answers": ["cache import {path}", "cache verify {path}"],
    "store": ["cache stats", "cache verify", "cache export o.jsonl"],
    "chat": ["mutate {path} -n 2", "run {path} --target simulated -n 2 --set word=a"],
    "inputs": ["search chat.json --target simulated --queries 2 --inputs {path}"],
    "report2": [],
}  # fmt: skip


class TooLong(BaseException):
    pass


def _ring(*_: object) -> None:
    raise TooLong


@dataclass
class Miss:
    kind: str
    damage: str
    seed: int
    reader: str
    error: str
    data: bytes = b""


def tried(use: Callable[[], object]) -> str:
    """What went wrong; nothing where it was read, or refused in the project's own words."""
    signal.signal(signal.SIGALRM, _ring)
    signal.alarm(SECONDS)
    shown = io.StringIO()
    try:
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
            use()
    except PromptfuzzError as error:
        lines = str(error).splitlines()
        return "an error of more than four lines" if len(lines) > 4 else ""
    except TooLong:
        return f"took more than {SECONDS} seconds"
    except BaseException as error:
        frames = [
            each for each in traceback.extract_tb(error.__traceback__) if "pytest_promptfuzz" in each.filename
        ]
        at = (
            f"{frames[-1].filename.rpartition('pytest_promptfuzz/')[2]}:{frames[-1].lineno}"
            if frames
            else "?"
        )
        return f"{type(error).__name__} at {at}: {error}"[:200]
    finally:
        signal.alarm(0)
    return "a traceback was printed" if "Traceback (most recent" in shown.getvalue() else ""


def damaged(kind: str, good: bytes, seed: int) -> tuple[str, bytes | Callable[[Path], None]]:
    picked = random.Random(f"{kind} {seed}")
    if seed < len(PLACES):
        return PLACES[seed].__name__, PLACES[seed]
    (change,) = picked.choices([each for _, each in DAMAGES], [weight for weight, _ in DAMAGES])
    return change.__name__, change(good, picked)


def put(path: Path, content: bytes | Callable[[Path], None]) -> None:
    removed(path)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        content(path)


def removed(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def check(
    folder: Path, files: dict[str, Path], count: int, kinds: list[str], commands_each: int = 4
) -> Iterator[Miss | None]:
    """Damage each kind of file in ``count`` ways; what was missed, or ``None`` for each case that went well."""
    for kind in kinds:
        path = files[kind]
        good = path.read_bytes()
        beside = (
            path.with_name(f"good-{path.name}") if kind in {"recording", "report"} else folder / "good.any"
        )
        whole = folder / "whole"
        shutil.copytree(folder / ".promptfuzz", whole, symlinks=True)
        try:
            for seed in range(count):
                name, content = damaged(kind, good, seed)
                uses: list[tuple[str, Callable[[], object]]] = [
                    (getattr(reader, "__name__", "read"), lambda reader=reader: reader(path))
                    for reader in READERS.get(kind, [])
                ]
                commands = COMMANDS.get(kind, [])
                start = seed if seed >= len(PLACES) else 0
                several = len(commands) if seed < len(PLACES) else commands_each
                for command in [
                    *commands[start % max(1, len(commands)) :],
                    *commands[: start % max(1, len(commands))],
                ][:several]:
                    words = [word.format(path=path, good=beside) for word in command.split()]
                    uses.append((command, lambda words=words: promptfuzz(words)))
                for reader, use in uses:
                    beside.write_bytes(good)
                    put(path, content)
                    with _inside(folder):
                        error = tried(use)
                    yield (
                        Miss(kind, name, seed, reader, error, content if isinstance(content, bytes) else b"")
                        if error
                        else None
                    )
                    if kind not in {
                        "recording",
                        "report",
                        "snapshot",
                        "chat",
                        "inputs",
                        "schema",
                        "pyproject",
                        "answers",
                    }:
                        put(path, good)
                        if kind == "store":
                            shutil.rmtree(folder / ".promptfuzz")
                            shutil.copytree(whole, folder / ".promptfuzz", symlinks=True)
        finally:
            put(path, good)
            removed(beside)
            shutil.rmtree(whole)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=160, help="ways in which each kind of file is damaged")
    parser.add_argument("--kind", action="append", help="one kind of file; may be given again")
    parser.add_argument("--verbose", action="store_true", help="show each miss as it is found")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        files = made(folder)
        total = 0
        missed: dict[str, list[Miss]] = {}
        for found in check(folder, files, options.count, options.kind or list(files)):
            total += 1
            if found:
                if options.verbose:
                    print(found.kind, found.damage, found.seed, found.reader, found.error, flush=True)
                missed.setdefault(f"{found.kind}: {found.error.partition(': ')[0]}", []).append(found)
        for what, those in missed.items():
            one = those[0]
            print(
                f"{len(those):4} × {what}\n       {one.damage} (seed {one.seed}), {one.reader}: {one.error}",
                flush=True,
            )
        print(
            f"{total} readings of {len(options.kind or files)} kinds of files, {sum(map(len, missed.values()))} ended in no error of ours"
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
