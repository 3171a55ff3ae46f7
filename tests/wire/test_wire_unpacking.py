"""Small files and bodies that unpack to gigabytes are refused with a sentence, in little memory."""

from __future__ import annotations

import gzip
import json
import threading
import tracemalloc
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import httpx2
import pytest

from pytest_promptfuzz import files
from pytest_promptfuzz.cli.cache.transfer import read_answers
from pytest_promptfuzz.errors import StoreError, TargetError, UsageError
from pytest_promptfuzz.files import unpacked_body
from pytest_promptfuzz.mutations.engine.mutation import Mutation
from pytest_promptfuzz.reporting.report_files import read_document
from pytest_promptfuzz.server.proxy import Proxy
from pytest_promptfuzz.storage.answers import StoredAnswer
from pytest_promptfuzz.storage.recordings.checks import check
from pytest_promptfuzz.storage.recordings.entries import CallPlace, RecordedExchange, to_line
from pytest_promptfuzz.wire.streams import unpacked
from pytest_promptfuzz.wire.transports import intercepting
from pytest_promptfuzz.wire.watch import Watch, watching

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

MB = 1024 * 1024


def gzipped(size: int) -> bytes:
    """So many spaces, compressed."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([*(packer.compress(b" " * MB) for _ in range(size // MB)), packer.flush()])


def peak_of(work: Callable[[], object]) -> int:
    """The most bytes that Python had in use at once."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_compressed_recording_is_read_up_to_a_limit(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("pytest_promptfuzz.files.unpacked_file.__defaults__", (8 * MB,))
    path = tmp_path / "test_it.calls.jsonl.gz"
    path.write_bytes(gzipped(64 * MB))
    assert peak_of(lambda: check(path)) < 20 * MB
    (problem,) = check(path).problems
    assert str(path) in str(problem)
    assert "more than 8 MB once it is unpacked. Record fewer tests into one file" in str(problem)
    export = tmp_path / "answers.jsonl.gz"
    export.write_bytes(path.read_bytes())
    with pytest.raises(StoreError, match=r"answers\.jsonl\.gz cannot be read \(it holds more than 8 MB"):
        read_answers(export)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_a_body_is_unpacked_up_to_a_limit(encoding: str) -> None:
    if encoding not in httpx2._decoders.SUPPORTED_DECODERS:
        pytest.skip(f"this httpx2 does not read {encoding}")
    if encoding == "br":
        packed = pytest.importorskip("brotli").compress(b" " * 64 * MB)
    elif encoding == "zstd":
        packed = pytest.importorskip("zstandard").compress(b" " * 64 * MB)
    else:
        packed = gzipped(64 * MB) if encoding == "gzip" else zlib.compress(b" " * 64 * MB, 9)
    with pytest.raises(TargetError, match="more than 8 MB once it is unpacked"):
        unpacked_body(httpx2, encoding, packed, 8 * MB)

    def work() -> None:
        with pytest.raises(TargetError):
            unpacked_body(httpx2, encoding, packed, 8 * MB)

    assert peak_of(work) < 60 * MB
    small = gzip.compress(b"hello") if encoding == "gzip" else zlib.compress(b"hello")
    if encoding in {"gzip", "deflate"}:
        assert unpacked_body(httpx2, encoding, small) == b"hello"
    assert unpacked_body(httpx2, "identity", b"as it is") == b"as it is"
    with pytest.raises(TargetError, match="encoded 2 times"):
        unpacked_body(httpx2, "gzip, gzip", small)


def answer(request: object) -> StoredAnswer:
    """An answer to a request."""
    return StoredAnswer("http://h/v1/chat/completions", {"a": request}, 200, "application/json", "{}", 0.0)


class Bombing(BaseHTTPRequestHandler):
    """Answers with spaces, compressed."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        body = gzipped(64 * MB)
        self.send_response(200)
        for name, value in (("content-type", "application/json"), ("content-encoding", "gzip")):
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def bombing() -> Iterator[str]:
    """The base URL of a server whose answers are bombs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Bombing)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_compressed_body_is_unpacked_on_the_wire_up_to_a_limit(bombing: str, monkeypatch) -> None:
    monkeypatch.setattr(files, "MAX_BODY", 8 * MB)
    watch = Watch()
    asked = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
    answers: list[httpx2.Response] = []

    def call() -> None:
        answers.append(httpx2.post(f"{bombing}/chat/completions", json=asked, timeout=120))

    with intercepting(), watching(watch):
        assert peak_of(call) < 30 * MB
    assert answers[0].status_code == 400
    said = answers[0].json()["error"]["message"]
    assert "more than 8 MB once it is unpacked (gzip)" in said
    assert bombing in said
    assert [each.kind for each in watch.faults] == ["malformed"]
    # A request that is a bomb goes through the proxy unread, and says so.
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    watch = Watch()
    with (
        intercepting(),
        Proxy(upstream=bombing, watch=watch) as proxy,
        watching(watch),
        httpx2.Client(timeout=120) as client,
    ):
        url = f"http://127.0.0.1:{proxy.port}/chat/completions"

        def post() -> None:
            with client.stream("POST", url, content=gzipped(64 * MB), headers=headers):
                """What is answered is the client's own to unpack."""

        assert peak_of(post) < 40 * MB
    assert any("cannot be undone here" in each for each in watch.notes)


@pytest.mark.parametrize("status", [200, 500])
def test_what_may_report_an_error_is_unpacked_up_to_a_limit(status: int, monkeypatch) -> None:
    monkeypatch.setattr(files, "MAX_BODY", 8 * MB)
    packed, said = gzipped(64 * MB), []
    response = httpx2.Response(status, headers={"content-encoding": "gzip"}, stream=httpx2.ByteStream(packed))
    assert peak_of(lambda: said.append(unpacked(response, packed))) < 30 * MB
    assert said == [b""]
    assert unpacked(response, gzip.compress(b"hello")) == b"hello"


def test_what_quotes_itself_does_not_grow_without_bound(tmp_path: Path) -> None:
    stored = {
        "original": "a" * 1000,
        "edits": [[0, 1000, [[0, 1000]] * 10_000]],
        "operators": ["x@1"],
        "dimension": "lexical",
        "severity": 0.1,
        "preserves": "yes",
        "relation": "invariance",
    }
    with pytest.raises(UsageError, match="makes 10,000,000 characters of 1,000, and was not read"):
        Mutation.from_json(stored)
    path = tmp_path / "r.json"
    deep = "[" * 100_000
    for text in (
        deep,
        '{"promptfuzz": ' + "9" * 5000 + "}",
        json.dumps({"promptfuzz": "report", "x": 1})[:-1] + deep,
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(StoreError, match=r"r\.json"):
            read_document(path)


@pytest.mark.parametrize(
    "inner", ["[" * 100_000, "9" * 5000, "[" * 700 + "]" * 700, '{"a":' * 400 + "1" + "}" * 400]
)
def test_deep_and_huge_values_in_a_recording_are_problems_with_a_line(tmp_path: Path, inner: str) -> None:
    path = tmp_path / "test_it.calls.jsonl"
    head = '{"promptfuzz": "calls", "version": 1}\n'
    line = '{"test": "test_x", "case": 0, "sample": 0, "call": 0, "url": "http://h", "request": {"a": %s}, "check": "0"}\n'
    path.write_text(head + line % inner, encoding="utf-8")
    found = check(path)
    assert found.problems
    for depth in (200, 300, 450, 700, 900):
        request: object = "x"
        for _ in range(depth):
            request = {"a": request}
        try:
            line = to_line(RecordedExchange("test_x", CallPlace(0, 0), "0" * 64 + "-0-0", answer(request)))
        except RecursionError:
            continue
        path.write_bytes(head.encode() + line)
        assert check(path).problems
    assert all(each.line == 2 for each in found.problems)
    assert not found.entries
