"""How near does a study come to the provider's latency, and what does a table of 100,000 cells cost?

    python benchmarks/study.py [--runs 5] [--latency-ms 50] [--concurrency 16] [--rounds 3] [--cells 100000]

A study of 4 tasks with 2 inputs each × 3 models × 20 operators × runs asks a local model server in a process of its own,
in turn with a hand-written ``asyncio.gather`` over ``AsyncOpenAI`` with as many calls and as many of them at once. The
floor is calls × latency / concurrency. Then a file of cells is written, and read into each table by the command.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from measuring import machine, run

from pytest_promptfuzz import Prompt, Study, StudyModel, StudyTask, study
from pytest_promptfuzz.evaluating.evaluate import read_inputs
from pytest_promptfuzz.studies.cells import Cell, CellChange, CellSpending, write_cells

if TYPE_CHECKING:
    from collections.abc import Iterator

SERVER = """
import sys
from pytest_promptfuzz.server.model_server import ModelServer
with ModelServer(latency=float(sys.argv[1])) as server:
    print(server.openai_url, flush=True)
    sys.stdin.read()
"""
TEXT = (
    "You are a support agent. Please classify the support ticket below. Choose billing, shipping or other. "
    "Don't explain your choice, just give me the label. Answer with one word only.\n\nTicket: {ticket}"
)
TASKS, MODELS, INPUTS = 4, 3, 2
OPERATORS = [
    "upper-case",
    "lower-case",
    "double-space",
    "keyboard-typo:1",
    "keyboard-typo:2",
    "keyboard-typo:3",
    "omission-typo",
    "insertion-typo",
    "transposition-typo",
    "synonym",
    "politeness",
    "doubling-typo",
    "random-case",
    "title-case",
    "trailing-space",
    "misspelling",
    "instruction-paraphrase",
    "imperative-to-question",
    "contraction",
    "abbreviation",
]
TABLES = ("robustness", "operators", "gold", "brittlebench", "ranks", "variance")


@contextlib.contextmanager
def server(latency: float) -> Iterator[None]:
    """A model server in a process of its own, and the variables that name it."""
    command = [sys.executable, "-c", SERVER, str(latency)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        os.environ.update(OPENAI_BASE_URL=process.stdout.readline().strip(), OPENAI_API_KEY="none")
        yield


def a_study(runs: int) -> Study:
    prompt = Prompt(TEXT)
    tasks = [
        StudyTask(
            f"task {number}",
            prompt,
            read_inputs([f"Order {number}{item} is late." for item in range(INPUTS)], prompt, "study"),
            tuple(OPERATORS),
            1,
            {"task": "classification"},
        )
        for number in range(TASKS)
    ]
    models = [StudyModel(f"model {number}", f"openai:gpt-{number}") for number in range(MODELS)]
    return Study("benchmark", tuple(tasks), tuple(models), runs=runs)


def by_hand(calls: int, concurrency: int) -> None:
    """As many calls, as one writes it."""
    from openai import AsyncOpenAI

    async def ask() -> None:
        places = asyncio.Semaphore(concurrency)
        async with AsyncOpenAI() as client:

            async def one(number: int) -> None:
                content = TEXT.format(ticket=f"Order {number} is late.")
                async with places:
                    await client.chat.completions.create(
                        model="gpt-1", messages=[{"role": "user", "content": content}]
                    )

            await asyncio.gather(*map(one, range(calls)))

    asyncio.run(ask())


def timed(rounds: int, runs: int, concurrency: int) -> tuple[int, list[float], list[float]]:
    """How many calls; seconds of the study, and of the calls by hand."""
    ours, theirs, calls = [], [], 0
    for _ in range(rounds):
        started = time.perf_counter()
        cells = study(a_study(runs), concurrency=concurrency)
        ours.append(time.perf_counter() - started)
        calls = len({(each.model, each.run, each.input, each.task, each.change.mutation) for each in cells})
        if any(each.outcome == "error" for each in cells):
            raise SystemExit("a cell of the study is an error")
        started = time.perf_counter()
        by_hand(calls, concurrency)
        theirs.append(time.perf_counter() - started)
    return calls, ours, theirs


def some_cells(count: int) -> list[Cell]:
    """Cells of 4 tasks × 5 models × 20 operators × 10 runs × as many inputs as it takes."""
    outcomes = ("equivalent", "equivalent", "minor", "deviation")
    inputs = count // (TASKS * 5 * 10 * (1 + len(OPERATORS))) + 1
    ranges = (range(TASKS), range(5), range(10), range(inputs), range(1 + len(OPERATORS)))
    found = []
    for task, model, turn, item, place in itertools.islice(itertools.product(*ranges), count):
        draw = (task * 7 + model * 5 + turn * 3 + item * 11 + place * 13) % 17
        change = CellChange(OPERATORS[place - 1], "lexical", 0, f"{place:012x}") if place else CellChange()
        cell = Cell(
            "benchmark", f"task {task}", f"model {model}", "", f"input {item}", turn, change, "baseline"
        )
        if place:
            cell = cell._replace(outcome=outcomes[draw % 4], similarity=1.0 - draw / 20)
        found.append(
            cell._replace(gold=draw % 3 > 0, answer="shipping", spent=CellSpending(0.5, 40, 2, 0.0001))
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--latency-ms", type=float, default=50.0)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cells", type=int, default=100_000)
    options = parser.parse_args()
    print(machine())
    latency = options.latency_ms / 1000
    with server(latency):
        calls, ours, theirs = timed(options.rounds, options.runs, options.concurrency)
    floor = calls * latency / options.concurrency
    mine, hand = statistics.median(ours), statistics.median(theirs)
    print(
        f"{calls} calls, {options.concurrency} at once: floor {floor:.2f} s, study {mine:.2f} s ({mine / floor:.2f}), "
        f"by hand {hand:.2f} s ({hand / floor:.2f})"
    )
    with tempfile.TemporaryDirectory(prefix="promptfuzz-benchmark-") as directory:
        path = Path(directory, "cells.csv")
        write_cells(path, some_cells(options.cells))
        print(f"{options.cells} cells, {path.stat().st_size / 1e6:.0f} MB of CSV")
        for table in TABLES:
            command = [
                sys.executable,
                "-m",
                "pytest_promptfuzz.cli",
                "study",
                "table",
                str(path),
                "--table",
                table,
            ]
            cost, _ = run(command, cwd=Path.cwd(), env=dict(os.environ))
            print(f"  {table}: {cost.wall:.1f} s, {cost.peak / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
