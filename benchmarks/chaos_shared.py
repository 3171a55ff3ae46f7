"""Is an answer lost, or paid for twice, when one of two hosts that share a Redis is killed?

    python benchmarks/chaos_shared.py [--kills 20] [--seed 0] [--latency-ms 40]

Two pytest processes with caches of their own, as two hosts have them, run the same suite at the same time over one
`redis-server`. The model server, which runs in this process, answers every call otherwise. At a random call, a random
part of a call's time later, one of the hosts is killed with SIGKILL. The other runs to its end, and the killed one is
started again. For each kill it is checked that

* every answer that was in Redis at the kill is still the one that is there in the end;
* no request whose answer was in Redis at the kill was asked for again;
* no request was asked for more than twice, and twice at most as many as the killed host can have had out at once;
* in the end Redis holds the answers to all requests, and no claim once the killed host's have run out: a host that is
  killed after it shared an answer and before it gave its claim back leaves one that nobody waits for.

Exits with 1 where that is not so. It needs `redis-server` and the extra `redis`.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import signal
import socket
import subprocess
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from chaos import AT_ONCE, INI, SECONDS, SUITE, TESTS, Lost, Numbering, request_of
from measuring import machine, project, pytest_command

from pytest_promptfuzz.server.model_server import ModelServer
from pytest_promptfuzz.storage.answers import decode_answer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REQUESTS = TESTS * (1 + 8)
HOSTS = ("one", "two")
LEASE = 2
"""Seconds that a killed host's claims stand."""


@contextlib.contextmanager
def redis_server(folder: Path) -> Iterator[tuple[int, Any]]:
    """A server on a free port, and a client of it."""
    import redis

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["redis-server", "--bind", "127.0.0.1", "--port", str(port), "--save", "", "--dir", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    client = redis.Redis(port=port)
    try:
        until = time.monotonic() + SECONDS
        while True:
            try:
                client.ping()
                break
            except redis.exceptions.ConnectionError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)
        yield port, client
    finally:
        client.close()
        process.kill()
        process.wait()


def start(root: Path, env: dict[str, str], host: str, port: int) -> subprocess.Popen[bytes]:
    command = pytest_command("-q", "-p", "no:cacheprovider", f"--promptfuzz-cache-dir={host}", "test_it.py")
    command.append("--promptfuzz-controls=0")
    command.append(f"--promptfuzz-store=redis://127.0.0.1:{port}/0?lease={LEASE}s")
    with (root / f"{host}.log").open("wb") as log:
        return subprocess.Popen(command, cwd=root, env=env, stdout=log, stderr=subprocess.STDOUT)


def shared(client: Any) -> dict[str, bytes]:
    """What Redis holds, by the request that it answers."""
    found = {}
    for key in client.keys("promptfuzz:1:*"):
        value = client.get(key)
        found[request_of(decode_answer(value).request)] = value
    return found


def outlasting(client: Any) -> int:
    """How many claims are there longer than a dead host's may be."""
    until = time.monotonic() + LEASE + 0.5
    while claims := len(client.keys("promptfuzz:claim:*")):
        if time.monotonic() > until:
            break
        time.sleep(0.05)
    return claims


def kill_once(server: ModelServer, at: int, later: float, host: str) -> tuple[int, int]:
    """One kill; how many answers were in Redis then, and how many calls were made twice.

    Args:
        server: The model.
        at: How many calls have arrived when the host is killed.
        later: Seconds after that.
        host: Which one.

    Raises:
        Lost: Something that was paid for was lost, or asked for again.
    """
    with (
        project({"pytest.ini": INI, "test_it.py": SUITE}) as (root, env),
        redis_server(root) as (port, client),
    ):
        env |= {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": server.openai_url}
        env.pop("CI", None)
        server.reset()
        running = {name: start(root, env, name, port) for name in HOSTS}
        until = time.monotonic() + SECONDS
        while server.calls < at and time.monotonic() < until:
            time.sleep(0.001)
        time.sleep(later)
        kept = shared(client)
        running[host].send_signal(signal.SIGKILL)
        if running[host].wait() != -signal.SIGKILL:
            raise SystemExit(
                f"{host} came to its end before it was killed:\n{(root / f'{host}.log').read_text()}"
            )
        arrived = server.calls
        (other,) = (name for name in HOSTS if name != host)
        finish(root, other, running[other])
        finish(root, host, start(root, env, host, port))
        final = shared(client)
        for request, value in kept.items():
            if final.get(request) != value:
                raise Lost("an answer that was shared is gone, or another stands in its place")
        bodies = [each.body for each in server.requests if each.method == "POST"]
        asked = Counter(map(request_of, bodies))
        again = Counter(map(request_of, bodies[arrived:]))
        if lost := again.keys() & kept.keys():
            raise Lost(f"{len(lost)} requests were asked for again though their answers were shared")
        twice = asked.total() - len(asked)
        if max(asked.values()) > 2 or twice > AT_ONCE:
            raise Lost(f"{twice} calls were made twice, one of them {max(asked.values())} times")
        if len(final) != len(asked) or len(final) != REQUESTS:
            raise Lost(f"{len(final)} of {REQUESTS} answers are shared")
        if claims := outlasting(client):
            raise Lost(f"{claims} claims were left")
        return len(kept), twice


def finish(root: Path, host: str, run: subprocess.Popen[bytes]) -> None:
    status = run.wait(SECONDS)
    if status:
        raise SystemExit(f"{host} ended with {status}:\n{(root / f'{host}.log').read_text(encoding='utf-8')}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--latency-ms", type=float, default=40.0)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    rows: list[tuple[int, int]] = []
    failed = 0
    with ModelServer(Numbering(), latency=options.latency_ms / 1000) as server:
        for number in range(options.kills):
            at, later = rng.randint(1, REQUESTS - 1), rng.uniform(0, options.latency_ms / 1000)
            try:
                rows.append(kill_once(server, at, later, HOSTS[rng.randrange(2)]))
            except Lost as lost:
                failed += 1
                print(f"kill {number} at call {at}, {1000 * later:.0f} ms later: {lost}")
    print(
        f"{machine()}: {options.kills} kills of one of two hosts that share {REQUESTS} answers, {failed} with a loss"
    )
    if rows:
        kept, twice = ([row[column] for row in rows] for column in range(2))
        print(f"shared at the kill: {min(kept)} to {max(kept)}, {sum(kept)} in all; none was asked for again")
        print(f"made twice: {min(twice)} to {max(twice)}, {sum(twice)} in all")
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
