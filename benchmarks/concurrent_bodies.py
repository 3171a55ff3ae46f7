"""Does the order in which a model answers change a verdict? Bodies that make four calls at once and return nothing.

A local server answers without chance, but each call after a time of its own, drawn anew. The application asks it four
different things at once, two through the OpenAI SDK and two through the Anthropic SDK: in threads, with
``asyncio.gather``, in a task group. It is sound, or brittle in one of the four calls, each of them in its turn. Each
kind is run so often live, in record mode, and then in replay.

    python benchmarks/concurrent_bodies.py [--runs 50] [--latency 0.02]

A sound test is right if it passes with a score of 1.00, a brittle one if it is brittle. It ends with 1 if one is not,
or if the replay made a call.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from pytest_promptfuzz.providers.requests import Response
from pytest_promptfuzz.server.faults import Slow
from pytest_promptfuzz.server.model_server import ModelServer

KINDS = ("threads", "gather", "task_group")
STEPS = 8
SYSTEM = """Classify the message of a customer. Read it twice before you answer.

- billing: money, invoices, refunds
- shipping: parcels, delivery, addresses
- technical: errors, crashes, logins

Answer with exactly one word."""
LABELS = {
    "I was charged twice for May.": "billing",
    "Where is my parcel?": "shipping",
    "The page shows an error.": "technical",
    "My address is another one now.": "shipping",
}
MODULE = """
import asyncio, ssl
from concurrent.futures import ThreadPoolExecutor
import anthropic, anyio, httpx2, openai, pytest
from pytest_promptfuzz import robust

SYSTEM, TICKETS, URL = {constants}
TLS = ssl.create_default_context()
limits = httpx2.Limits(max_keepalive_connections=0)
client = openai.OpenAI(api_key="none", base_url=URL + "/v1")
claude = anthropic.Anthropic(api_key="none", base_url=URL)
http = openai.DefaultAsyncHttpxClient(verify=TLS, limits=limits)
aclient = openai.AsyncOpenAI(api_key="none", base_url=URL + "/v1", http_client=http)
http = anthropic.DefaultAsyncHttpxClient(verify=TLS, limits=limits)
aclaude = anthropic.AsyncAnthropic(api_key="none", base_url=URL, http_client=http)

def asked(system, text):
    return {{"model": "m", "messages": [{{"role": "system", "content": system}}, {{"role": "user", "content": text}}]}}

def asked_of_claude(system, text):
    return {{"model": "c", "max_tokens": 9, "system": system, "messages": [{{"role": "user", "content": text}}]}}

def ask(number, system, text):
    if number % 2:
        return claude.messages.create(**asked_of_claude(system, text))
    return client.chat.completions.create(**asked(system, text))

async def aask(number, system, text):
    if number % 2:
        return await aclaude.messages.create(**asked_of_claude(system, text))
    return await aclient.chat.completions.create(**asked(system, text))

def calls(prompt, how, number):
    return [(each, str(prompt), f"{{text}} ({{how}} {{number}})") for each, text in enumerate(TICKETS)]

pytestmark = [pytest.mark.parametrize("number", range({runs})), pytest.mark.parametrize("how", ["sound", "brittle"])]
given = dict(mutations=2, stop="never", shrink=0)

@robust(SYSTEM, **given)
def test_threads(prompt, how, number):
    with ThreadPoolExecutor(4) as pool:
        for each in [pool.submit(ask, *call) for call in calls(prompt, "threads " + how, number)]:
            each.result()

@pytest.mark.asyncio
@robust(SYSTEM, **given)
async def test_gather(prompt, how, number):
    await asyncio.gather(*[aask(*call) for call in calls(prompt, "gather " + how, number)])

@pytest.mark.asyncio
@robust(SYSTEM, **given)
async def test_task_group(prompt, how, number):
    async with anyio.create_task_group() as group:
        for call in calls(prompt, "group " + how, number):
            group.start_soon(aask, *call)
"""


class Clerk:
    """Knows each ticket; of a brittle test one of the four only under the prompt as it stands."""

    version = "clerk-1"

    def answer(self, request, *, sample=0):
        """The label."""
        del sample
        text = json.dumps(list(request.messages), ensure_ascii=False)
        place, label = next(
            (place, label) for place, (ticket, label) in enumerate(LABELS.items()) if ticket in text
        )
        number = text.partition("brittle ")[2].partition(")")[0]
        changed = json.dumps(SYSTEM)[1:-1] not in text
        return Response("nothing" if number and changed and int(number) % len(LABELS) == place else label)


def late(step: int):
    """Whether a request is so many steps late: each as often as any other."""
    return lambda _: random.random() < 1 / (STEPS - step)


def run(folder: Path, mode: str) -> list[dict[str, object]]:
    """The report of each test of one pytest run."""
    arguments = [
        "-q",
        "-p",
        "no:cacheprovider",
        "--promptfuzz-controls=0",  # the server answers what it is told to, whatever the prompt says
        f"--promptfuzz-mode={mode}",
        "--promptfuzz-report=json:report.json",
    ]
    (folder / "report.json").unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    if not (folder / "report.json").exists():
        sys.exit(done.stdout[-4000:] + done.stderr[-4000:])
    return json.loads((folder / "report.json").read_text(encoding="utf-8"))["tests"]


def right(test: dict[str, object]) -> bool:
    """Whether a test has the verdict that it has to have."""
    if "sound" in str(test["test"]):
        return (test["verdict"], test["score"]) == ("pass", 1.0)
    return test["verdict"] == "brittle"


def main() -> int:
    """Print how many verdicts are right, by kind."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=50, help="tests of each kind")
    parser.add_argument("--latency", type=float, default=0.02, help="seconds, on average")
    asked = parser.parse_args()
    slow = [
        Slow(times=None, seconds=2 * asked.latency * step / (STEPS - 1), when=late(step))
        for step in range(STEPS)
    ]
    wrong = 0
    with ModelServer(Clerk(), faults=slow) as server, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        constants = repr((SYSTEM, list(LABELS), server.url))
        (folder / "test_at_once.py").write_text(
            MODULE.format(constants=constants, runs=asked.runs), encoding="utf-8"
        )
        (folder / "pytest.ini").write_text(
            "[pytest]\nasyncio_default_fixture_loop_scope = function\n", encoding="utf-8"
        )
        for mode in ("record", "replay"):
            before, began = server.calls, time.perf_counter()
            tests = run(folder, mode)
            found: Counter[tuple[str, str]] = Counter()
            for test in tests:
                kind = next(each for each in KINDS if f"test_{each}[" in str(test["test"]))
                found[kind, "sound" if "sound" in str(test["test"]) else "brittle"] += right(test)
                if not right(test):
                    print(test["test"], test["verdict"], test["score"], test.get("explanation", ""))
            made = server.calls - before
            print(
                f"{mode}: {len(tests)} tests, {made} calls, {time.perf_counter() - began:.0f} s by the clock"
            )
            for kind in KINDS:
                print(
                    f"  {kind:<12}",
                    *(f"{how} {found[kind, how]} of {asked.runs}" for how in ("sound", "brittle")),
                )
            wrong += 2 * len(KINDS) * asked.runs - found.total()
            wrong += made if mode == "replay" else 0
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
