"""The job: 20 prompts, each with its 8 mutations, 180 calls of 50 or 500 ms at concurrency 20.

    python benchmarks/job.py [--rounds 7] [--latency 50 500] [--only declarative async sync peer]

The local model server runs in a process of its own. In turn, round by round: a hand-written test that asks the 180
prompts with the SDK's ``AsyncOpenAI`` and one ``asyncio.gather``, at most 20 at once (the peer); the 20 as declarative
tests, nothing stored; as ``async def`` tests that call ``llm``; and as plain tests that call ``llm``. The span is from
the arrival of the first call to the last answer, as the server saw it; the floor is latency × ceil(180 / 20). Round
trips a test are the span over latency and tests, for the tests that run one after the other.
"""

from __future__ import annotations

import argparse
import math
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from measuring import Cost, machine, project, pytest_command, run
from warm import SHOPS, TICKETS

if TYPE_CHECKING:
    from collections.abc import Iterator

INI = """
[pytest]
promptfuzz_target = openai:gpt-5-mini
promptfuzz_inconclusive = pass
promptfuzz_concurrency = 20
asyncio_default_fixture_loop_scope = function
asyncio_mode = auto
"""
PROMPTS = '''
from pytest_promptfuzz import Prompt, robust

LABELS = ["BILLING", "TECHNICAL", "ACCOUNT", "OTHER"]
PROMPT = """You are a support assistant of the {shop}, desk {number}.
Classify the ticket below into exactly one of: BILLING, TECHNICAL, ACCOUNT, OTHER.

Rules:
- Answer with the label only
- Do not explain your choice

Ticket:
{{ticket}}"""
'''
BODIES = {
    "declarative": """
@robust({prompt}, inputs=[{ticket!r}], mutations={mutations}, threshold=0.0)
def test_triage_{number}(response):
    assert response.text in LABELS
""",
    "async": """
@robust({prompt}, mutations={mutations}, threshold=0.0)
async def test_triage_{number}(prompt, llm):
    answer = await llm(prompt.format(ticket={ticket!r}))
    assert answer.text in LABELS
""",
    "sync": """
@robust({prompt}, mutations={mutations}, threshold=0.0)
def test_triage_{number}(prompt, llm):
    answer = llm(prompt.format(ticket={ticket!r}))
    assert answer.text in LABELS
""",
}
PEER = """
import asyncio
import json
from pathlib import Path

from openai import AsyncOpenAI

LABELS = ["BILLING", "TECHNICAL", "ACCOUNT", "OTHER"]
TEXTS = json.loads(Path(__file__).with_name("texts.json").read_text())

async def ask_all():
    limit = asyncio.Semaphore(20)
    async with AsyncOpenAI() as client:
        async def ask(text):
            async with limit:
                answer = await client.chat.completions.create(
                    model="gpt-5-mini", messages=[{"role": "user", "content": text}]
                )
                return answer.choices[0].message.content
        return await asyncio.gather(*map(ask, TEXTS))

def test_all():
    answers = asyncio.run(ask_all())
    assert sum(answer in LABELS for answer in answers) > 90
"""
SERVER = """
import sys, time
from pytest_promptfuzz.server.model_server import ModelServer

times = []
latency = float(sys.argv[1])
with ModelServer(latency=latency, on_request=lambda record, status: times.append(time.perf_counter())) as server:
    print(server.openai_url, flush=True)
    for line in sys.stdin:
        print(len(times), times[-1] - times[0] + latency if times else 0.0, flush=True)
        times.clear()
"""


@dataclass(slots=True)
class Seen:
    """One run: what the process cost, and the span of its calls in seconds."""

    cost: Cost
    calls: int
    span: float


class Server:
    """The model server in a process of its own."""

    def __init__(self, latency: float) -> None:
        self.child = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(latency)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        self.url = self._line()

    def _line(self) -> str:
        assert self.child.stdout is not None
        return self.child.stdout.readline().strip()

    def take(self) -> tuple[int, float]:
        """Calls and their span since the last time."""
        assert self.child.stdin is not None
        self.child.stdin.write("\n")
        calls, span = self._line().split()
        return int(calls), float(span)

    def stop(self) -> None:
        """End it."""
        assert self.child.stdin is not None
        self.child.stdin.close()
        self.child.wait()


def suite(kind: str, tests: int, mutations: int) -> str:
    """The source of the tests."""
    parts = [PROMPTS]
    for number in range(tests):
        prompt = f"Prompt(PROMPT.format(shop={SHOPS[number % len(SHOPS)]!r}, number={number}))"
        ticket = TICKETS[number % len(TICKETS)].format(number=number)
        parts.append(BODIES[kind].format(prompt=prompt, ticket=ticket, mutations=mutations, number=number))
    return "".join(parts)


def texts(tests: int, mutations: int) -> list[str]:
    """What the suite asks, for the peer to ask the same."""
    from pytest_promptfuzz import Prompt, mutate

    return [
        text
        for number in range(tests)
        for text in _asked(
            Prompt(_template().format(shop=SHOPS[number % len(SHOPS)], number=number)),
            TICKETS[number % len(TICKETS)].format(number=number),
            mutations,
            mutate,
        )
    ]


def _template() -> str:
    return PROMPTS.split('"""')[1]


def _asked(prompt, ticket, mutations, mutate) -> Iterator[str]:
    yield prompt.format(ticket=ticket)
    for mutation in mutate(prompt, mutations):
        yield mutation.prompt.format(ticket=ticket)


def measure(
    latency: float, kinds: list[str], rounds: int, tests: int, mutations: int
) -> dict[str, list[Seen]]:
    """The runs of each kind, interleaved."""
    import json

    files = {
        "pytest.ini": INI,
        "texts.json": json.dumps(texts(tests, mutations)),
        "test_peer.py": PEER,
        **{f"test_{kind}.py": suite(kind, tests, mutations) for kind in BODIES},
    }
    found: dict[str, list[Seen]] = {kind: [] for kind in kinds}
    server = Server(latency)
    try:
        with project(files) as (root, env):
            env |= {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "none"}
            for round_ in range(rounds + 1):
                for kind in kinds:
                    shutil.rmtree(root / ".promptfuzz", ignore_errors=True)
                    command = pytest_command(f"test_{kind}.py", "-p", "no:cacheprovider", "-q")
                    cost, _ = run(command, cwd=root, env=env)
                    calls, span = server.take()
                    if round_:  # the first compiles
                        found[kind].append(Seen(cost, calls, span))
    finally:
        server.stop()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--tests", type=int, default=20)
    parser.add_argument("--mutations", type=int, default=8)
    parser.add_argument("--latency", type=float, nargs="+", default=[50.0, 500.0], help="milliseconds")
    parser.add_argument("--only", nargs="+", default=["peer", "declarative", "async", "sync"])
    asked = parser.parse_args()
    print(f"{machine()}, {asked.tests} tests, {asked.mutations} mutations, {asked.rounds} rounds, medians")
    for milliseconds in asked.latency:
        latency = milliseconds / 1000
        floor = latency * math.ceil(asked.tests * (1 + asked.mutations) / 20)
        found = measure(latency, asked.only, asked.rounds, asked.tests, asked.mutations)
        print(f"\n{milliseconds:g} ms a call, floor {floor:.2f} s")
        columns = ("calls", "span s", "/floor", "/peer", "process s", "/peer", "CPU s", "trips")
        print(" " * 14 + "".join(f"{each:>10}" for each in columns))
        for kind, each in found.items():
            span = statistics.median(seen.span for seen in each)
            wall = statistics.median(seen.cost.wall for seen in each)
            cpu = statistics.median(seen.cost.cpu for seen in each)
            peers = found.get("peer", each)
            of_span = statistics.median(a.span / b.span for a, b in zip(each, peers, strict=True))
            of_wall = statistics.median(a.cost.wall / b.cost.wall for a, b in zip(each, peers, strict=True))
            figures = [span, span / floor, of_span, wall, of_wall, cpu]
            figures += [span / latency / asked.tests] if kind in {"async", "sync"} else []
            print(
                f"{kind:<14}{each[-1].calls:>10}" + "".join(f"{each:10.2f}" for each in figures), flush=True
            )


if __name__ == "__main__":
    main()
