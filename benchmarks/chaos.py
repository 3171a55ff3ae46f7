"""Is anything that was paid for lost when a recording run is killed, or interrupted?

    python benchmarks/chaos.py [--kills 40] [--interrupts 40] [--terminations 10] [--seed 0] [--latency-ms 40]
                               [--replays 3]

A suite of four tests (two sync, two async, the latter with up to eight calls at once) is recorded against the local
model server, which runs in this process, keeps a log of the calls, and answers every call otherwise. At a random call,
a random part of a call's time later, pytest is sent a signal: SIGKILL, SIGINT (Ctrl-C) or SIGTERM. What is durably
stored once it has ended is read from disk, and the suite is recorded again to its end. For each it is checked that

* every answer that was stored stands in the recording, as it was stored;
* none of them was asked for again: of each request the second run made what the recording needs less what was stored;
* no more is asked twice than was in flight when it ended, which nobody can know: calls that had arrived at the server
  and whose answers were not stored, at most the calls that the suite has out at once;
* the recording passes `promptfuzz cache verify`; in the last few rounds it is also replayed without the server.

Exits with 1 where that is not so.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import tempfile
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING

from measuring import machine, project, pytest_command

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.providers.requests import Request, Response
from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.recordings.checks import check
from pytest_promptfuzz.storage.recordings.entries import answer_of_json, unsealed
from pytest_promptfuzz.storage.recordings.places import recording_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pytest_promptfuzz.storage.answers import StoredAnswer

INI = """
[pytest]
promptfuzz_target = openai:gpt-5-mini
promptfuzz_inconclusive = pass
asyncio_default_fixture_loop_scope = function
"""
SUITE = '''
import openai
import pytest

from pytest_promptfuzz import robust

PROMPT = """Classify the ticket below into exactly one of: BILLING, TECHNICAL, ACCOUNT, OTHER.

Rules:
- Answer with the label only
- Do not explain your choice

Ticket:
{ticket}"""
TICKETS = ["I was charged twice.", "The app closes at once.", "Change my address.", "Where is my parcel?"]


@robust(PROMPT, mutations=8, threshold=0.0)
@pytest.mark.parametrize("ticket", TICKETS[:2])
def test_sync(prompt, llm, ticket):
    return llm(prompt.format(ticket=ticket))


@robust(PROMPT, mutations=8, threshold=0.0)
@pytest.mark.parametrize("ticket", TICKETS[2:])
@pytest.mark.asyncio
async def test_async(prompt, ticket):
    async with openai.AsyncOpenAI() as client:
        done = await client.chat.completions.create(
            model="gpt-5-mini", messages=[{"role": "user", "content": prompt.format(ticket=ticket)}]
        )
    return done.choices[0].message.content
'''
TESTS = 4
CALLS = TESTS * (3 + 8)
AT_ONCE = 8
INTERRUPTED = 2  # pytest's exit status
SECONDS = 120.0


class Numbering:
    """Answers every call with a number of its own, so that no two answers can be taken for each other."""

    version = "numbering-1"

    def __init__(self) -> None:
        self._count = 0
        self._lock = threading.Lock()

    def answer(self, request: Request, *, sample: int = 0) -> Response:
        del request, sample
        with self._lock:
            self._count += 1
            return Response(f"Answer {self._count}", finish_reason="stop")


class Lost(Exception):  # noqa: N818 - it says what happened
    """Something that was paid for was lost, or asked for again."""


class Late(Exception):  # noqa: N818 - as above
    """The run came to its end before its signal."""


def request_of(body: object) -> str:
    return json.dumps(body, sort_keys=True)


def stored(root: Path) -> dict[tuple[str, str], StoredAnswer]:
    """What is on disk of a recording run, by test (its file) and key; half a line counts for nothing."""
    found: dict[tuple[str, str], StoredAnswer] = {}
    for path in sorted((root / ".promptfuzz" / "recording").glob("*.spool.jsonl")):
        head, *lines = path.read_bytes().splitlines(keepends=True) or [b""]
        try:
            test = unsealed(head)["test"]
        except StoreError:
            continue  # killed while it wrote the first line
        for line in lines:
            try:
                value = unsealed(line)
            except StoreError:
                continue
            if "key" in value:
                key, answer = answer_of_json(value)
                found[test, key] = answer
    return found


def recorded(root: Path) -> dict[tuple[str, str], StoredAnswer]:
    checked = check(recording_of(root / "test_it.py"))
    if checked.problems:
        raise Lost(f"the recording does not pass: {checked.problems[0]}")
    return {(each.test, each.key): each.answer for each in checked.entries}


def counted(answers: Iterable[StoredAnswer]) -> Counter[str]:
    return Counter(request_of(each.request) for each in answers)


def start(root: Path, env: dict[str, str], mode: str) -> subprocess.Popen[bytes]:
    command = pytest_command(
        "-q", "-p", "no:cacheprovider", "--promptfuzz-controls=0", f"--promptfuzz-mode={mode}", "test_it.py"
    )
    log = (root / f"{mode}.log").open("wb")
    with log:
        return subprocess.Popen(command, cwd=root, env=env, stdout=log, stderr=subprocess.STDOUT)


def finish(root: Path, env: dict[str, str], mode: str) -> None:
    status = start(root, env, mode).wait(SECONDS)
    if status:
        raise SystemExit(f"{mode} ended with {status}:\n{(root / f'{mode}.log').read_text(encoding='utf-8')}")


def end_once(
    server: ModelServer, how: signal.Signals, at: int, later: float, bytecode: str, *, replay: bool
) -> tuple[int, int, int]:
    """One signal; how many answers were stored then, how many calls were in flight, and how many were asked twice.

    Args:
        server: The model.
        how: The signal.
        at: How many calls have arrived when it is sent.
        later: Seconds after that.
        bytecode: A folder for compiled modules, shared by all rounds.
        replay: Whether to replay the recording, without the server, in the end.

    Raises:
        Late: The run came to its end before.
        Lost: Something that was paid for was lost, or asked for again.
    """
    with project({"pytest.ini": INI, "test_it.py": SUITE}) as (root, env):
        env |= {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": server.openai_url}
        env["PYTHONPYCACHEPREFIX"] = bytecode
        env.pop("CI", None)
        server.reset()
        run = start(root, env, "record")
        until = time.monotonic() + SECONDS
        while server.calls < at and run.poll() is None and time.monotonic() < until:
            time.sleep(0.001)
        time.sleep(later)
        run.send_signal(how)
        status = run.wait(SECONDS)
        if status == 0:
            raise Late
        if status not in (-how, INTERRUPTED):
            raise SystemExit(f"the run ended with {status}:\n{(root / 'record.log').read_text()}")
        settle(server)
        kept, arrived = stored(root), server.calls
        first = [each.body for each in server.requests if each.method == "POST"]
        server.reset()
        finish(root, env, "record")
        second = Counter(request_of(each.body) for each in server.requests if each.method == "POST")
        final = recorded(root)
        for place, answer in kept.items():
            if final.get(place) is None or json.loads(final[place].body) != json.loads(answer.body):
                raise Lost(f"{place} was stored, and is recorded otherwise")
        need, have = counted(final.values()), counted(kept.values())
        if len(final) != CALLS:
            raise Lost(f"{len(final)} of {CALLS} answers are recorded")
        if second != need - have:
            raise Lost(f"asked for again: {second - (need - have)}, not asked for: {need - have - second}")
        twice = (Counter(map(request_of, first)) + second - need).total()
        flying = arrived - len(kept)
        if twice > flying or flying > AT_ONCE:
            raise Lost(f"{twice} calls were made twice, {flying} were in flight, of at most {AT_ONCE}")
        if replay:
            server.reset()
            finish(root, env, "replay")
            if server.calls:
                raise Lost(f"a replay made {server.calls} calls")
        return len(kept), flying, twice


def settle(server: ModelServer) -> None:
    """Wait until the server has seen what the killed process had sent."""
    seen, quiet = -1, 0
    while quiet < 10:
        quiet = quiet + 1 if seen == server.calls else 0
        seen = server.calls
        time.sleep(0.05)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--interrupts", type=int, default=40)
    parser.add_argument("--terminations", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--latency-ms", type=float, default=40.0)
    parser.add_argument("--replays", type=int, default=3)
    options = parser.parse_args()
    # A shell that starts this in the background has Ctrl-C ignored, by the processes that this starts too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signals = {
        signal.SIGKILL: options.kills,
        signal.SIGINT: options.interrupts,
        signal.SIGTERM: options.terminations,
    }
    failed = 0
    with (
        tempfile.TemporaryDirectory(prefix="promptfuzz-benchmark-") as bytecode,
        ModelServer(Numbering(), latency=options.latency_ms / 1000) as server,
    ):
        for how, rounds in signals.items():
            failed += told(how, rounds, server, bytecode, options)
    raise SystemExit(1 if failed else 0)


def told(
    how: signal.Signals, rounds: int, server: ModelServer, bytecode: str, options: argparse.Namespace
) -> int:
    """Send one signal so many times, and print what became of it; how often something was lost."""
    rng = random.Random(options.seed)
    rows: list[tuple[int, int, int]] = []
    failed = 0
    number = 0
    while number < rounds:
        at, later = rng.randint(1, CALLS - 1), rng.uniform(0, options.latency_ms / 1000)
        replay = number >= rounds - options.replays
        try:
            rows.append(end_once(server, how, at, later, bytecode, replay=replay))
        except Late:
            continue
        except Lost as lost:
            failed += 1
            print(f"{how.name} {number} at call {at}, {1000 * later:.0f} ms later: {lost}", flush=True)
        number += 1
    if rows:
        kept, flying, twice = ([row[column] for row in rows] for column in range(3))
        print(
            f"{machine()}: {how.name}: {rounds} of a recording run of {CALLS} calls, {failed} with a loss\n"
            f"  stored when the run had ended: {min(kept)} to {max(kept)}, {sum(kept)} in all; asked for again: 0\n"
            f"  in flight then: {min(flying)} to {max(flying)}, {sum(flying)} in all\n"
            f"  of these made twice: {min(twice)} to {max(twice)}, {sum(twice)} in all",
            flush=True,
        )
    return failed


if __name__ == "__main__":
    main()
