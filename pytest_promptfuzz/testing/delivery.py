"""Putting an answer on a connection: whole, streamed, or broken off as a fault wants it."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

from pytest_promptfuzz.targets.serving import endpoint
from pytest_promptfuzz.targets.serving.contract import compact, event
from pytest_promptfuzz.testing.faults import (
    Dropped,
    DroppedMidBody,
    Empty,
    Fault,
    Malformed,
    Overloaded,
    Truncated,
    TruncatedGzip,
    WrongCharset,
    WrongEncoding,
)
from pytest_promptfuzz.testing.http import chunk, head

if TYPE_CHECKING:
    import asyncio

    from pytest_promptfuzz.targets.serving import Answer

GARBAGE = b'{"id": "garbage", "choices": [{"message": {"content": "this JSON never en'


async def send(answer: Answer, writer: asyncio.StreamWriter, *, keep_alive: bool) -> None:
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
    answer: Answer, fault: Fault | None, writer: asyncio.StreamWriter, *, path: str, keep_alive: bool
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


def _spoiled(answer: Answer, fault: Fault) -> Answer:
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
    said = {"type": fault.label, "message": fault.message}
    kind = endpoint(path)
    if streamed and kind == "responses":
        return event({"type": "error", "code": fault.label, "message": fault.message, "param": None}, "error")
    body = {"type": "error", "error": said} if kind == "messages" else {"error": said}
    return event(body, "error" if kind == "messages" else None) if streamed else compact(body).encode()
