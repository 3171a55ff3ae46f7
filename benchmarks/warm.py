"""What a warm run costs: 20 robust tests whose answers are all in the store.

    python benchmarks/warm.py [--rounds 7] [--tests 20] [--mutations 8] [--replay] [--profile]

A generated suite, each test with a prompt and a ticket of its own, asks ``openai:gpt-5-mini`` through ``llm`` once for
the baseline and once for each mutation. The first run is cold, against the local model server, which is then stopped.
After that, in turn: a pytest run of one trivial test, the suite with ``--promptfuzz=off``, the suite warm, and so on.
Median seconds of a run, and what a warm run costs above the trivial one (median of the rounds' differences).
``--replay`` records in the first run, and replays in the others, the local store being gone. ``--profile`` prints where
one warm run spends its time instead. Exits with 1 if a warm run made a call, or costs more than ``--limit`` seconds of
processor time above the trivial run (it waits for nothing, so that on an idle machine the clock says the same).
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import sys
from typing import TYPE_CHECKING

from measuring import Cost, Paired, machine, project, pytest_command, run

from pytest_promptfuzz.server.model_server import ModelServer

if TYPE_CHECKING:
    from pathlib import Path

INI = """
[pytest]
promptfuzz_target = openai:gpt-5-mini
promptfuzz_inconclusive = pass
asyncio_default_fixture_loop_scope = function
"""
HEAD = """
from pytest_promptfuzz import Prompt, robust

LABELS = ["BILLING", "TECHNICAL", "ACCOUNT", "OTHER"]
"""
TEST = '''
PROMPT_{number} = Prompt("""You are a support assistant of the {shop}.
Classify the ticket below into exactly one of: BILLING, TECHNICAL, ACCOUNT, OTHER.

Rules:
- Answer with the label only
- Do not explain your choice

Ticket:
{{ticket}}""")

@robust(PROMPT_{number}, mutations={mutations}, threshold=0.0)
def test_triage_{number}(prompt, llm):
    answer = llm(prompt.format(ticket="{ticket}"))
    assert answer.text in LABELS
    return answer
'''
SHOPS = ("book shop", "bicycle maker", "travel agency", "energy supplier", "music school")
TICKETS = (
    "I was charged twice for order {number} and want a refund.",
    "The app closes as soon as I open page {number}.",
    "Please change the e-mail address of my account {number}.",
    "My invoice number {number} shows the wrong amount.",
)
TRIVIAL = "def test_nothing():\n    assert True\n"
CALLS = re.compile(r"; ([\d,]+) calls? made; ([\d,]+) answers? from the store")


def suite(tests: int, mutations: int) -> str:
    """The suite's source."""
    return HEAD + "".join(
        TEST.format(
            number=number,
            mutations=mutations,
            shop=SHOPS[number % len(SHOPS)],
            ticket=TICKETS[number % len(TICKETS)].format(number=number),
        )
        for number in range(tests)
    )


def used(output: str) -> tuple[int, int]:
    """Calls made and answers from the store, as the run's own table says."""
    found = CALLS.search(" ".join(output.split()))
    if found is None:
        raise SystemExit(f"the run shows no count of calls:\n{output[-2000:]}")
    return int(found[1].replace(",", "")), int(found[2].replace(",", ""))


def show_profile(root: Path, env: dict[str, str], command: list[str]) -> None:
    profiled = [command[0], "-m", "cProfile", "-o", "warm.prof", *command[1:]]
    run(profiled, cwd=root, env=env)
    show = "import pstats; pstats.Stats('warm.prof').strip_dirs().sort_stats('{}').print_stats({})"
    for order, rows in (("cumulative", 70), ("tottime", 30)):
        print(run([sys.executable, "-c", show.format(order, rows)], cwd=root, env=env)[1])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--tests", type=int, default=20)
    parser.add_argument("--mutations", type=int, default=8)
    parser.add_argument("--limit", type=float, default=0.4, help="seconds")
    parser.add_argument("--replay", action="store_true", help="from recordings, not from the local store")
    parser.add_argument("--profile", action="store_true")
    asked = parser.parse_args()
    files = {
        "pytest.ini": INI,
        "test_suite.py": suite(asked.tests, asked.mutations),
        "test_trivial.py": TRIVIAL,
    }
    with project(files) as (root, env):
        suite_run = pytest_command("test_suite.py", "-p", "no:cacheprovider")
        warm = [*suite_run, *(["--promptfuzz-mode=replay"] if asked.replay else [])]
        commands = {
            "trivial": pytest_command("test_trivial.py", "-p", "no:cacheprovider"),
            "off": [*warm, "--promptfuzz=off"],
            "warm": warm,
        }
        with ModelServer() as server:
            env |= {"OPENAI_BASE_URL": server.openai_url, "OPENAI_API_KEY": "none"}
            record = ["--promptfuzz-mode=record"] if asked.replay else []
            cold, output = run([*suite_run, *record], cwd=root, env=env)
            calls = server.calls
        if asked.replay:
            shutil.rmtree(root / ".promptfuzz")
        if used(output)[0] != calls:
            raise SystemExit(f"the server was asked {calls} times, and the run says otherwise:\n{output}")
        if asked.profile:
            run(warm, cwd=root, env=env)
            show_profile(root, env, warm)
            return
        costs: dict[str, list[Cost]] = {name: [] for name in commands}
        for command in commands.values():  # compiles what the cold run did not
            run(command, cwd=root, env=env)
        for _ in range(asked.rounds):
            for name, command in commands.items():
                cost, output = run(command, cwd=root, env=env)
                costs[name].append(cost)
        made, hits = used(output)
    print(f"{machine()}, {asked.tests} tests, {asked.mutations} mutations, {asked.rounds} rounds")
    print(f"{'':<28} {'wall s':>8} {'CPU s':>8}")
    print(f"{f'cold, {calls} calls':<28} {cold.wall:8.2f} {cold.cpu:8.2f}")
    for name, each in costs.items():
        wall = statistics.median(cost.wall for cost in each)
        cpu = statistics.median(cost.cpu for cost in each)
        title = (
            f"{'replay' if asked.replay else 'warm'}, {made} calls, {hits} hits" if name == "warm" else name
        )
        print(f"{title:<28} {wall:8.2f} {cpu:8.2f}")
    above = 0.0
    for base in ("trivial", "off"):
        by_wall = Paired([c.wall for c in costs[base]], [c.wall for c in costs["warm"]])
        by_cpu = Paired([c.cpu for c in costs[base]], [c.cpu for c in costs["warm"]])
        print(f"{f'warm above {base}':<28} {by_wall.difference:+8.2f} {by_cpu.difference:+8.2f}", end="")
        print(f"   ratio {by_wall.ratio:.2f} and {by_cpu.ratio:.2f}")
        above = above or by_cpu.difference
    raise SystemExit(bool(made) or above > asked.limit)


if __name__ == "__main__":
    main()
