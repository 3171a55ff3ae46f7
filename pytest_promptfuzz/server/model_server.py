"""`ModelServer`: a model server on this machine that speaks the protocols of OpenAI and Anthropic.

One event loop in a thread of its own, bound to 127.0.0.1: fifty open connections cost no fifty threads, and
latency is a timer. The model answers within that loop, so it should be quick; let ``latency`` be slow instead.
"""

from __future__ import annotations

import asyncio
import dataclasses
import gzip
import hashlib
import json
import re
import threading
from collections import Counter
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.errors import ConfigurationError, UsageError
from pytest_promptfuzz.providers.bodies import HttpAnswer, compact
from pytest_promptfuzz.providers.router import answer_http, error_answer, is_served, speaker
from pytest_promptfuzz.server.batches import Batches
from pytest_promptfuzz.server.faults import (
    ContentTypeHtml,
    Dropped,
    DroppedMidBody,
    Empty,
    Fault,
    Malformed,
    OtherForm,
    Overloaded,
    Slow,
    StatusFault,
    Truncated,
    TruncatedGzip,
    WrongCharset,
    WrongEncoding,
)
from pytest_promptfuzz.server.http import BadHttpError, HttpRequest, chunk, head, page_refusal, read_request
from pytest_promptfuzz.targets.simulated import SimulatedModel
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType

    from typing_extensions import Self

    from pytest_promptfuzz.providers.bodies import Model


# Putting an answer on a connection: whole, streamed, or broken off as a fault wants it.


GARBAGE = b'{"id": "garbage", "choices": [{"message": {"content": "this JSON never en'


async def send(answer: HttpAnswer, writer: asyncio.StreamWriter, *, keep_alive: bool) -> None:
    """Send an answer whole; an iterator's pieces as chunks, each as it comes."""
    if isinstance(answer.payload, bytes):
        length = len(answer.payload)
        writer.write(
            head(answer.status, answer.headers, length=length, keep_alive=keep_alive) + answer.payload
        )
    else:
        writer.write(head(answer.status, answer.headers, length=None, keep_alive=keep_alive))
        for each in answer.payload:
            writer.write(chunk(each))
            await writer.drain()
        writer.write(chunk(b""))
    await writer.drain()


async def deliver(
    answer: HttpAnswer, fault: Fault | None, writer: asyncio.StreamWriter, *, path: str, keep_alive: bool
) -> bool:
    """Send an answer as the fault leaves it; returns whether the connection can go on."""
    if isinstance(fault, Dropped):
        return False
    if isinstance(fault, WrongEncoding | TruncatedGzip | WrongCharset | Empty):
        await send(_spoiled(answer, fault), writer, keep_alive=keep_alive)
        return True
    if not isinstance(fault, DroppedMidBody | Malformed | Truncated | Overloaded):
        await send(answer, writer, keep_alive=keep_alive)
        return True
    streamed = not isinstance(answer.payload, bytes)
    events = [answer.payload] if isinstance(answer.payload, bytes) else list(answer.payload)
    if isinstance(fault, Malformed):
        payload = b"data: " + GARBAGE + b"\n\n" if streamed else GARBAGE
        await send(answer._replace(payload=payload), writer, keep_alive=keep_alive)
        return True
    part = events[: max(1, len(events) - 2) if fault.after is None else fault.after]
    if isinstance(fault, Overloaded):
        error = _error(fault, path, streamed=streamed)
        await send(
            answer._replace(payload=iter([*part, error]) if streamed else error),
            writer,
            keep_alive=keep_alive,
        )
        return True
    if not streamed:
        part = [events[0][: len(events[0]) // 2]]
    if streamed and isinstance(fault, Truncated):
        await send(answer._replace(payload=iter(part)), writer, keep_alive=keep_alive)
        return True
    length = None if streamed else len(events[0])
    writer.write(head(answer.status, answer.headers, length=length, keep_alive=False))
    for each in part:
        writer.write(chunk(each) if streamed else each)
    await writer.drain()
    if isinstance(fault, DroppedMidBody):
        writer.transport.abort()
    return False


def _spoiled(answer: HttpAnswer, fault: Fault) -> HttpAnswer:
    """An answer whose bytes are not what its headers or its format promise."""
    streamed = not isinstance(answer.payload, bytes)
    pieces = [answer.payload] if isinstance(answer.payload, bytes) else list(answer.payload)
    headers = dict(answer.headers)
    if isinstance(fault, WrongEncoding):
        headers["content-encoding"] = fault.encoding
    elif isinstance(fault, TruncatedGzip):
        headers["content-encoding"] = "gzip"
        packed = gzip.compress(b"".join(pieces), mtime=0)
        pieces = [packed[: len(packed) // 2]]
    elif isinstance(fault, WrongCharset):
        pieces = [each[: len(each) // 2] + b"\xff\xfe\x80" + each[len(each) // 2 :] for each in pieces]
    else:
        pieces = [] if streamed else [b""]
    return answer._replace(headers=headers, payload=iter(pieces) if streamed else pieces[0])


def _error(fault: Overloaded, path: str, *, streamed: bool) -> bytes:
    """The error in the words of the path's protocol, as an event or a whole body."""
    form = speaker(path, {})
    if streamed:
        return form.fault_event(fault.label, fault.message)
    return compact(form.fault_body(fault.label, fault.message)).encode()


# What a model server was asked, without the secrets.


SECRET_HEADER = expression(r"authorization|cookie|api-?key|token|secret|password", re.IGNORECASE)
SECRET_QUERY = expression(
    r"(?<=[?&])([^=&]*(?:key|token|secret|sig|code|password)[^=&]*)=[^&]*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """One request to a model endpoint.

    Attributes:
        method: ``POST`` or ``GET``.
        path: With its query; values of query keys that look like credentials are replaced by ``***``.
        body: The JSON object sent; ``None`` if it was none.
        headers: Names in lower case, without those that carry credentials.
        text: The body as text.
    """

    method: str
    path: str
    body: dict[str, Any] | None
    headers: dict[str, str]
    text: str

    @classmethod
    def of(cls, request: HttpRequest) -> RecordedRequest:
        """The record of a request."""
        text = request.body.decode("utf-8", "replace")
        try:
            parsed = json.loads(text)
        except (ValueError, RecursionError):
            parsed = None
        return cls(
            method=request.method,
            path=SECRET_QUERY.sub(r"\1=***", request.path),
            body=parsed if isinstance(parsed, dict) else None,
            headers={
                name: value for name, value in request.headers.items() if not SECRET_HEADER.search(name)
            },
            text=text,
        )


HTML = {"content-type": "text/html; charset=utf-8"}


class _Serving(NamedTuple):
    """A server that runs: its event loop, what stops it, and its port."""

    loop: asyncio.AbstractEventLoop
    stop: asyncio.Event
    port: int


class ModelServer:
    """A local model server, started and stopped by a ``with`` statement.

    Args:
        model: Who answers; a ``SimulatedModel()`` by default.
        latency: Seconds from the whole request to the first byte of its answer.
        faults: What goes wrong, tried in order; the first that matches a request applies to it.
        port: The TCP port; 0 for any that is free.
        key: The only API key let in; ``None`` lets everyone in.
        on_request: Called with each record and the status answered (0 for none), in the server's thread.

    Attributes:
        requests: What was asked of the model endpoints, in order of arrival, credentials left out.
        batches: The batch interfaces of both providers.

    Raises:
        ConfigurationError: On entering, when the port is taken.

    >>> with ModelServer() as server:
    ...     server.openai_url.startswith("http://127.0.0.1:")
    True
    """

    def __init__(
        self,
        model: Model | None = None,
        *,
        latency: float = 0.0,
        faults: Iterable[Fault] = (),
        port: int = 0,
        key: str | None = None,
        on_request: Callable[[RecordedRequest, int], None] | None = None,
    ) -> None:
        if (
            isinstance(latency, bool)
            or not isinstance(latency, int | float)
            or not 0 <= latency < float("inf")
        ):
            raise UsageError(f"ModelServer(latency={latency!r}): give seconds, 0 or more.")
        if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65535:
            raise UsageError(f"ModelServer(port={port!r}): give a TCP port, 0 to 65535.")
        self.requests: list[RecordedRequest] = []
        self._model: Model = model if model is not None else SimulatedModel()
        self.batches = Batches(lambda path, body: answer_http("POST", path, body, self._model))
        self._latency = float(latency)
        self._asked_port = port
        self._key = key
        self._on_request = on_request
        self._lock = threading.Lock()
        self._faults: list[list[Fault | int]] = []
        self._samples: Counter[str] = Counter()
        self._answered = self._now = self._peak = 0
        self._thread: threading.Thread | None = None
        self._serving: _Serving | None = None
        for fault in faults:
            self.fail(fault)

    # What a test asks of it

    @property
    def port(self) -> int:
        """The TCP port that it listens on."""
        if self._serving is None:
            raise UsageError("The server is not running: use it in a with statement, or call start().")
        return self._serving.port

    @property
    def url(self) -> str:
        """``http://127.0.0.1:PORT``."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def openai_url(self) -> str:
        """The base URL for the OpenAI SDK, ``OPENAI_BASE_URL``."""
        return f"{self.url}/v1"

    @property
    def anthropic_url(self) -> str:
        """The base URL for the Anthropic SDK, ``ANTHROPIC_BASE_URL``."""
        return self.url

    @property
    def calls(self) -> int:
        """Requests to model endpoints so far, those a fault hit included."""
        with self._lock:
            return sum(each.method == "POST" for each in self.requests)

    @property
    def answered(self) -> int:
        """Requests answered with status 200 and as they should be, faults aside."""
        return self._answered

    @property
    def peak(self) -> int:
        """The most requests that were in work at once."""
        return self._peak

    def fail(
        self,
        fault: Fault,
        *,
        next: int | None = None,  # noqa: A002 - it reads as English at the call: fail(..., next=2)
        when: str | Callable[[str], bool] | None = None,
        every: int | None = None,
    ) -> None:
        """Let a fault happen from now on; ``next``, ``when`` and ``every`` override the fault's own settings.

        Args:
            fault: What happens.
            next: To how many of the coming requests that match; the fault's ``times``.
            when: A text in the request's body, or a predicate on that text.
            every: Only to each ``every``-th matching request.
        """
        if not isinstance(fault, Fault):
            raise UsageError(
                f"{fault!r} is no fault: give one of pytest_promptfuzz.server.faults, RateLimited(...)."
            )
        changes = {"times": next, "when": when, "every": every}
        changed = dataclasses.replace(fault, **{k: v for k, v in changes.items() if v is not None})  # type: ignore[arg-type]
        with self._lock:
            self._faults.append([changed, 0, 0])

    def reset(self) -> None:
        """Forget requests, counts, samples and faults; the server goes on."""
        with self._lock:
            self.requests.clear()
            self._faults.clear()
            self._samples.clear()
            self._answered = self._peak = 0

    # Its life

    def start(self) -> Self:
        """Start serving; returns the server itself."""
        if self._thread is not None:
            raise UsageError("This server is already running.")
        ready: Future[None] = Future()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve(ready)), name="promptfuzz-server", daemon=True
        )
        self._thread.start()
        try:
            ready.result()
        except OSError as error:
            self._thread.join()
            self._thread = None
            raise ConfigurationError(
                f"Cannot listen on 127.0.0.1:{self._asked_port}: {error.strerror}. "
                "Choose another port, or 0 for any that is free."
            ) from None
        return self

    def stop(self) -> None:
        """Stop serving, close all connections and end the thread; nothing happens if it is not running."""
        thread, serving = self._thread, self._serving
        if thread is None or serving is None:
            return
        serving.loop.call_soon_threadsafe(serving.stop.set)
        thread.join()
        self._thread = self._serving = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    async def _serve(self, ready: Future[None]) -> None:
        connections: set[asyncio.Task[None]] = set()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            if task is not None:
                connections.add(task)
                task.add_done_callback(connections.discard)
            await self._converse(reader, writer)

        try:
            server = await asyncio.start_server(connected, "127.0.0.1", self._asked_port, backlog=256)
        except OSError as error:
            ready.set_exception(error)
            return
        stop = asyncio.Event()
        self._serving = _Serving(asyncio.get_running_loop(), stop, server.sockets[0].getsockname()[1])
        ready.set_result(None)
        await stop.wait()
        server.close()
        for task in list(connections):
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        port = writer.get_extra_info("sockname")[1]
        try:
            while (request := await read_request(reader, writer)) is not None:
                _check(request, port)
                if not await self._exchange(request, writer) or not request.keep_alive:
                    break
        except BadHttpError as error:
            answer = error_answer(speaker("", {}), error.status, str(error))
            await send(answer, writer, keep_alive=False)
        except (ConnectionError, asyncio.CancelledError):
            writer.transport.abort()
        finally:
            writer.close()

    async def _exchange(self, request: HttpRequest, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; returns whether the connection is still good."""
        arrived = asyncio.get_running_loop().time()
        record = RecordedRequest.of(request)
        with self._lock:
            if is_served(request.path):
                self.requests.append(record)
            self._now += 1
            self._peak = max(self._peak, self._now)
        try:
            fault = self._fault(record)
            answer = self._answer(request, fault)
            late = self._latency + (fault.seconds if isinstance(fault, Slow) else 0.0)
            if late:
                await asyncio.sleep(arrived + late - asyncio.get_running_loop().time())
        finally:
            # Counted out before the client can see the answer and look at the counts.
            self._now -= 1
        self._answered += answer.status == 200 and (fault is None or isinstance(fault, Slow))
        if self._on_request is not None:
            self._on_request(record, 0 if isinstance(fault, Dropped) else answer.status)
        return await deliver(answer, fault, writer, path=request.path, keep_alive=request.keep_alive)

    # What it answers

    def _fault(self, record: RecordedRequest) -> Fault | None:
        with self._lock:
            for entry in self._faults:
                fault, seen, hits = entry
                if not isinstance(fault, Fault) or not isinstance(seen, int) or not isinstance(hits, int):
                    continue
                if (fault.times is not None and hits >= fault.times) or not fault.matches(record.text):
                    continue
                entry[1] = seen + 1
                if seen % fault.every == 0:
                    entry[2] = hits + 1
                    return fault
        return None

    def _answer(self, request: HttpRequest, fault: Fault | None) -> HttpAnswer:
        form = speaker(request.path, request.headers)
        if isinstance(fault, StatusFault):
            answer = error_answer(form, fault.status, fault.message)
            return answer._replace(headers={**answer.headers, **fault.headers()})
        if isinstance(fault, ContentTypeHtml):
            return HttpAnswer(200, HTML, fault.page.encode())
        batched = self.batches.answer(request)
        if batched is not None:
            return batched
        identity = hashlib.sha256(request.path.encode() + b"\n" + request.body).hexdigest()
        sample = self._samples[identity]
        if fault is None or isinstance(fault, Slow):
            self._samples[identity] += 1
        try:
            return answer_http(
                request.method,
                request.path,
                _other_form(request.body) if isinstance(fault, OtherForm) else request.body,
                self._model,
                headers=request.headers,
                key=self._key,
                sample=sample,
            )
        except Exception as error:  # noqa: BLE001 - a model of the user's may raise anything; the client must hear of it
            message = f"The model behind this server raised {type(error).__name__}: {error}"
            answer = error_answer(form, 500, message)
            return answer._replace(headers={**answer.headers, "x-should-retry": "false"})


def _check(request: HttpRequest, port: int) -> None:
    why = page_refusal(request.headers, port, has_body=bool(request.body))
    if why:
        raise BadHttpError(403, f"The request was refused: {why}.")


def _other_form(body: bytes) -> bytes:
    """A request that asks for a stream instead of a whole answer, and the other way round."""
    asked = json.loads(body)
    return json.dumps({**asked, "stream": not asked.get("stream")}).encode()
