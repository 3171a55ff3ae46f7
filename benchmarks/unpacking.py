"""How much memory reading a small compressed bomb takes: a recording, an answer, a request through the proxy.

python benchmarks/unpacking.py
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MB = 1024 * 1024


def bomb(size: int) -> bytes:
    """So many bytes of spaces, compressed with gzip."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([*(packer.compress(b" " * MB) for _ in range(size // MB)), packer.flush()])


def recording(packed: bytes) -> str:
    """A compressed recording, as ``promptfuzz cache verify`` reads it."""
    from pytest_promptfuzz.storage.recordings.checks import check

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "test_it.calls.jsonl.gz"
        path.write_bytes(packed)
        return str(check(path).problems[0].why)


def body(packed: bytes) -> str:
    """A body on the wire."""
    import httpx2

    from pytest_promptfuzz.errors import TargetError
    from pytest_promptfuzz.files import unpacked_body

    try:
        unpacked_body(httpx2, "gzip", packed)
    except TargetError as error:
        return str(error)
    return "read"


def proxied(packed: bytes) -> str:
    """A request through the recording proxy."""
    import httpx2

    from pytest_promptfuzz.server.model_server import ModelServer
    from pytest_promptfuzz.server.proxy import Proxy
    from pytest_promptfuzz.wire.transports import intercepting
    from pytest_promptfuzz.wire.watch import Watch, watching

    watch = Watch()
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    with (
        ModelServer() as server,
        intercepting(),
        Proxy(upstream=f"{server.url}/v1", watch=watch) as proxy,
        watching(watch),
    ):
        httpx2.post(
            f"http://127.0.0.1:{proxy.port}/chat/completions", content=packed, headers=headers, timeout=120
        )
    return watch.notes[0]


CASES: dict[str, Callable[[bytes], str]] = {"recording": recording, "body": body, "proxied": proxied}


def _measure(name: str, packed: bytes, answers: multiprocessing.Queue[tuple[str, float, float]]) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    said = CASES[name](packed)
    spent = time.process_time() - started
    answers.put((said, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, spent))


def main() -> None:
    """Print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1536, help="MB that the bomb unpacks to (default: 1536)")
    packed = bomb(parser.parse_args().size * MB)
    print(f"{len(packed) / MB:.1f} MB compressed")
    context = multiprocessing.get_context("spawn")
    for name in CASES:
        answers: multiprocessing.Queue[tuple[str, float, float]] = context.Queue()
        process = context.Process(target=_measure, args=(name, packed, answers))
        process.start()
        said, grown, seconds = answers.get()
        process.join()
        print(f"{name:10} {grown:7.0f} MB more at the peak, {seconds:5.1f} s of processor time: {said}")


if __name__ == "__main__":
    main()
