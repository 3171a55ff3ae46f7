"""Writes the files beside it, by real runs: ``PYTHONPATH=. python tests/data/written_by_an_earlier_version/writer.py``.

A later version must read what this one wrote, so they are not written again; another folder is begun for what is new.
The model is a server on this machine that answers by the words of the prompt.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

from pytest_promptfuzz.testing import faults
from pytest_promptfuzz.testing.server import ModelServer

from pytest_promptfuzz import Response, ToolCall, Usage

HERE = Path(__file__).resolve().parent
PORT = 18123
BOTH = {"OPENAI_API_KEY": "none", "ANTHROPIC_API_KEY": "none"}
URLS = {"OPENAI_BASE_URL": f"http://127.0.0.1:{PORT}/v1", "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{PORT}"}


class Scripted:
    """A model that answers by the words of the last text it is shown."""

    def answer(self, request, *, sample=0):
        last = request.messages[-1]
        text = " ".join(str(each.get("content")) for each in request.messages)
        usage = Usage(20, 2)
        if last["role"] == "tool":
            return Response("Delivered.", (), usage, "scripted-1", "stop")
        if request.parameters.get("tools"):
            call = ToolCall("order_status", {"order": 10417}, "call_1")
            return Response("", (call,), usage, "scripted-1", "tool_calls")
        return Response(self.text(text), (), usage, "scripted-1", "stop")

    def text(self, text):
        if "You rate how far" in text:
            return '{"explanation": "Both name the same day.", "rating": 3}'
        if "parcel" in text.lower():
            return "It takes two days." if "parcel" in text else "You will have it by the day after tomorrow."
        if "PENGUIN" in text:  # as a control asks
            return "PENGUIN"
        if "brittle" in text.lower():
            return "BILLING" if "KINDLY" in text else "TECHNICAL"
        return "TECHNICAL" if "app" in text.lower() else "BILLING"


def main() -> None:
    """Write everything."""
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        with ModelServer(Scripted(), port=PORT) as server:
            server.fail(faults.BadRequest(times=None, when="TELL THE TEAM"))
            write_recorded(work)
            write_interrupted(work)
            write_stored(work)
            write_batches(work, server)
        write_simulated(work)
        write_runs(work)


def write_recorded(work: Path) -> None:
    """Recordings of the SDKs' calls, one of them compressed."""
    folder = begin(work, "recorded")
    run(folder, "pytest", "--promptfuzz-mode=record", code=1)
    zipped = folder / "__promptfuzz__" / "test_zipped.calls.jsonl"
    subprocess.run(["gzip", "-n", zipped], check=True)
    run(folder, "pytest", "--promptfuzz-mode=record", "test_zipped.py")
    run(folder, "pytest", "--promptfuzz-mode=replay", "--promptfuzz-report=json:replayed.json", code=1)
    keep(folder / "__promptfuzz__", "recorded")
    keep(folder / "replayed.json", "recorded")


def write_simulated(work: Path) -> None:
    """A recording of the simulated model."""
    folder = begin(work, "simulated")
    run(folder, "pytest", "--promptfuzz-mode=record")
    keep(folder / "__promptfuzz__", "simulated")


def write_interrupted(work: Path) -> None:
    """What a recording run leaves that is killed."""
    folder = begin(work, "interrupted")
    run(folder, "pytest", "--promptfuzz-mode=record", code=-9, KILLED="1")
    keep(folder / ".promptfuzz" / "recording", "interrupted")


def write_stored(work: Path) -> None:
    """Answers in the local store, and what is exported of it."""
    folder = begin(work, "stored")
    run(folder, "pytest")
    run(folder, "cache", "export", "answers.jsonl.gz")
    store = folder / ".promptfuzz" / "responses"
    for each in store.glob("*.db"):
        connection = sqlite3.connect(each)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("VACUUM")
        connection.close()
    keep(store, "stored")
    if (folder / ".promptfuzz" / "vectors").exists():
        keep(folder / ".promptfuzz" / "vectors", "stored")
    keep(folder / "answers.jsonl.gz", "stored")


def write_batches(work: Path, server: ModelServer) -> None:
    """Which batches are under way."""
    server.batches.polls = 10**6
    folder = begin(work, "batches")
    run(folder, "prefill", "--no-wait")
    keep(folder / ".promptfuzz" / "prefill.json", "batches")


def write_runs(work: Path) -> None:
    """Kept runs, snapshots, counterexamples and reports."""
    folder = begin(work, "runs")
    report = "--promptfuzz-report=json:first.json,html:first.html,md:first.md"
    first = ("--promptfuzz-update", "--promptfuzz-save=main", "--deselect=test_runs.py::test_unpinned")
    run(folder, "pytest", *first, report, code=1)
    second = ("--promptfuzz-compare=main", "--promptfuzz-report=json:second.json")
    run(folder, "pytest", *second, code=1, STATE="broken")
    run(folder, "pytest", code=1)
    run(folder, "pytest", code=-9, KILLED="1")
    run(folder, "report", "merge", "first.json", "second.json", "--to", "json:merged.json")
    for name in ("first.json", "second.json", "merged.json"):
        keep(folder / name, "runs")
    for name in ("history", "report", "counterexamples"):
        keep(folder / ".promptfuzz" / name, "runs")
    keep(folder / "__promptfuzz__", "runs")


def begin(work: Path, name: str) -> Path:
    """A copy of a project without what an earlier run wrote."""
    folder = work / name
    folder.mkdir()
    for each in (*(HERE / name).glob("*.py"), HERE / name / "pytest.ini", HERE / "operators.py"):
        shutil.copy(each, folder)
    return folder


def keep(path: Path, name: str) -> None:
    """Put what was written beside its project, in the place of what was there."""
    target = HERE / name / path.name
    if path.is_dir():
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(path, target, ignore=shutil.ignore_patterns(".gitignore", "*-wal", "*-shm", "claims"))
    else:
        shutil.copy(path, target)


def run(folder: Path, command: str, *arguments: str, code: int = 0, **environment: str) -> None:
    """Run pytest, or a command of ``promptfuzz``; anything but the expected exit code ends the writing."""
    program = (
        ["pytest", "-p", "no:cacheprovider"] if command == "pytest" else ["pytest_promptfuzz.cli", command]
    )
    mine = {name: value for name, value in os.environ.items() if not name.startswith(("PROMPTFUZZ_", "CI"))}
    path = os.pathsep.join([str(HERE.parents[2]), str(folder)])
    done = subprocess.run(
        [sys.executable, "-m", *program, *arguments],
        cwd=folder,
        env={**mine, **BOTH, **URLS, "PYTHONPATH": path, "COLUMNS": "160", **environment},
        check=False,
        capture_output=True,
        text=True,
    )
    print(f"$ {command} {' '.join(arguments)}\n{done.stdout}{done.stderr}", flush=True)
    if done.returncode not in {code, 256 + code, abs(code)}:
        sys.exit(f"{command} ended with {done.returncode}")


if __name__ == "__main__":
    main()
