"""What the network guard costs: an audit hook hears every audited event of the process, of which few concern it.

    python benchmarks/network_guard.py [--rounds 5] [--tests 20] [--mutations 8]

The suite of ``warm.py`` is run warm, and the events that the hook hears are counted. What one event costs is measured
in a loop, without the hook, with it, and while tests are watched (processor time, the least of the rounds). Their
product is held against the processor time of the warm run. Exits with 1 above ``--limit`` per cent.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import time

from measuring import machine, project, pytest_command, run
from warm import INI, suite

from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.wire.transports import intercepting
from pytest_promptfuzz.wire.watch import Watch, watching

EVENTS = 200_000
COUNTING = """
import sys
heard = 0

def count(event, arguments):
    global heard
    heard += hasattr(sys, "_promptfuzz_audit")

sys.addaudithook(count)

def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"heard {heard} events")
"""


def nanoseconds(rounds: int) -> float:
    """Processor time of one audited event, the least of the rounds."""
    audit, found = sys.audit, []
    for _ in range(rounds):
        started = time.process_time()
        for _ in range(EVENTS):
            audit("benchmark.event", 1)
        found.append(time.process_time() - started)
    return min(found) / EVENTS * 1e9


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tests", type=int, default=20)
    parser.add_argument("--mutations", type=int, default=8)
    parser.add_argument("--limit", type=float, default=1.0, help="per cent")
    asked = parser.parse_args()
    without = nanoseconds(asked.rounds)
    with intercepting():
        pass
    idle = nanoseconds(asked.rounds)
    with intercepting(), watching(Watch()):
        watched = nanoseconds(asked.rounds)
    files = {"pytest.ini": INI, "test_suite.py": suite(asked.tests, asked.mutations)}
    with project(files) as (root, env):
        command = pytest_command("test_suite.py", "-p", "no:cacheprovider")
        with ModelServer() as server:
            env |= {"OPENAI_BASE_URL": server.openai_url, "OPENAI_API_KEY": "none"}
            run(command, cwd=root, env=env)
        cpu = statistics.median(run(command, cwd=root, env=env)[0].cpu for _ in range(asked.rounds))
        (root / "conftest.py").write_text(COUNTING)
        counted = re.search(r"heard (\d+) events", run(command, cwd=root, env=env)[1])
    heard = int(counted[1]) if counted else 0
    share = heard * (watched - without) / 1e9 / cpu * 100
    print(f"{machine()}, {asked.tests} tests, {asked.mutations} mutations")
    print(
        f"one audited event: {without:.0f} ns, {idle:.0f} ns with the hook, {watched:.0f} ns while tests run"
    )
    print(f"{heard:,} events in a warm run of {cpu:.2f} s processor time: {share:.2f} %")
    raise SystemExit(not heard or share > asked.limit)


if __name__ == "__main__":
    main()
