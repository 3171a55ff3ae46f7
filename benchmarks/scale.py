"""How time and memory grow with the number of tests: suites of 100, 1,000 and 10,000, each test with 9 stored answers.

    python benchmarks/scale.py [--tests 100 1000 10000] [--mutations 8] [--rounds 1] [--replay]

The suites are those of ``warm.py``. Their answers are put into the local store without a call, or, with ``--replay``,
recorded from the local model server, 11 calls a test, and the store removed. Then in turn, for each size: as many
trivial tests without the plugin (bare), and the suite. Processor time and the most memory that a run held (Linux),
medians; what a test adds is the difference to the smallest size, so that what a run costs once falls out. Exits with
1 if a test of the largest size takes 1.3 times the processor time of one of the size before, or adds more than 15 KiB
to what a bare one adds.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
from typing import TYPE_CHECKING

from measuring import Cost, machine, project, pytest_command, run
from warm import INI, SHOPS, TEST, TICKETS, suite, used

from pytest_promptfuzz import Prompt, mutate
from pytest_promptfuzz.providers.requests import Request
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.disk_store import ResponseStore
from pytest_promptfuzz.targets.resolution import resolve
from pytest_promptfuzz.wire.exchange import Exchange
from pytest_promptfuzz.wire.watch import RunSettings, Watch

if TYPE_CHECKING:
    from pathlib import Path

TEXT = TEST.split('"""')[1].replace("{{", "{").replace("}}", "}")
ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-5-mini-2025-08-07",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "BILLING"}, "finish_reason": "stop"}
    ],
    "usage": {"prompt_tokens": 60, "completion_tokens": 2, "total_tokens": 62},
}


def fill(root: Path, tests: int, mutations: int, url: str) -> None:
    """Store an answer to everything that the suite asks."""
    store = ResponseStore(root / ".promptfuzz")
    target = resolve("openai:gpt-5-mini", base_url=url)
    body = json.dumps(ANSWER).encode()
    for number in range(tests):
        prompt = Prompt(TEXT.replace("{shop}", SHOPS[number % len(SHOPS)]))
        ticket = TICKETS[number % len(TICKETS)].format(number=number)
        for each in (prompt, *(mutation.prompt for mutation in mutate(prompt, mutations))):
            request = Request(({"role": "user", "content": each.format(ticket=ticket)},))
            exchange = Exchange(Watch(RunSettings(store=store)), target.prepare(request), parse=target.parse)
            exchange.answered(200, "application/json", body)
    store.close()


def measure(tests: int, mutations: int, rounds: int, *, replay: bool) -> tuple[list[Cost], list[Cost]]:
    """The costs of the bare runs and of those from the store."""
    bare = "".join(f"def test_bare_{number}():\n    assert True\n" for number in range(tests))
    files = {"pytest.ini": INI, "test_suite.py": suite(tests, mutations), "test_bare.py": bare}
    with project(files) as (root, env):
        options = ["-q", "-p", "no:cacheprovider"]
        command = pytest_command("test_suite.py", *options)
        with ModelServer() as server:
            env |= {"OPENAI_BASE_URL": server.openai_url, "OPENAI_API_KEY": "none"}
            if replay:
                run([*command, "--promptfuzz-mode=record"], cwd=root, env=env)
                shutil.rmtree(root / ".promptfuzz")
                command.append("--promptfuzz-mode=replay")
            else:
                fill(root, tests, mutations, server.openai_url)
        commands = (pytest_command("test_bare.py", "-p", "no:promptfuzz", *options), command)
        found: tuple[list[Cost], list[Cost]] = ([], [])
        for each in commands:  # compiles the suite: a large syntax tree
            run([*each, "--collect-only"], cwd=root, env=env)
        for _ in range(rounds):
            for costs, each in zip(found, commands, strict=True):
                cost, output = run(each, cwd=root, env=env)
                costs.append(cost)
    made, hits = used(output)
    if made or hits != tests * (mutations + 1):
        raise SystemExit(f"{made} calls were made, {hits} answers came from the store:\n{output[-2000:]}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tests", type=int, nargs="+", default=[100, 1000, 10_000], help="from few to many")
    parser.add_argument("--mutations", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--replay", action="store_true", help="from recordings, not from the local store")
    asked = parser.parse_args()
    print(f"{machine()}, {asked.mutations + 1} answers a test, {asked.rounds} rounds, medians")
    print(f"{'tests':>7} {'':<6}{'wall s':>9}{'CPU s':>9}{'peak MiB':>10}{'ms a test':>11}{'KiB a test':>12}")
    first: list[tuple[int, float, float]] = []
    added: list[list[tuple[float, float]]] = []
    for tests in asked.tests:
        found = measure(tests, asked.mutations, asked.rounds, replay=asked.replay)
        rows = []
        for place, (name, costs) in enumerate(zip(("bare", "suite"), found, strict=True)):
            wall = statistics.median(cost.wall for cost in costs)
            cpu = statistics.median(cost.cpu for cost in costs)
            peak = statistics.median(cost.peak for cost in costs) / 1024
            line = f"{tests:>7} {name:<6}{wall:9.2f}{cpu:9.2f}{peak:10.1f}"
            if len(first) < 2:
                first.append((tests, cpu, peak))
            else:
                count = tests - first[place][0]
                rows.append(((cpu - first[place][1]) / count * 1000, (peak - first[place][2]) / count * 1024))
                line += f"{rows[-1][0]:11.2f}{rows[-1][1]:12.1f}"
            print(line, flush=True)
        if rows:
            added.append(rows)
    if not added:
        return
    growth = added[-1][1][0] / added[-2][1][0] if len(added) > 1 else 1.0
    more = added[-1][1][1] - added[-1][0][1]
    print(f"time a test against the size before: {growth:.2f}; memory above a bare test: {more:.1f} KiB")
    raise SystemExit(growth > 1.3 or more > 15)


if __name__ == "__main__":
    main()
