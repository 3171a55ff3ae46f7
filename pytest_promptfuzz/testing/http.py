"""As much of HTTP/1.1 as a model server needs, over asyncio streams."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_BODY = 64 * 1024 * 1024


class BadHttpError(Exception):
    """A request that cannot be read; ``status`` is what to answer before the connection is closed."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request as read from a connection; header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    keep_alive: bool


async def read_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> HttpRequest | None:
    """The next request of a connection; ``None`` once the client has closed it.

    Raises:
        BadHttpError: For a request line, header or length that is not HTTP/1.1 as this server speaks it.
    """
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    except asyncio.LimitOverrunError:
        raise BadHttpError(431, "The request's headers are too long.") from None
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        raise BadHttpError(400, "The request line is not HTTP/1.1.")
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    if "transfer-encoding" in headers:
        raise BadHttpError(411, "This server needs a Content-Length.")
    length = headers.get("content-length", "0")
    if not length.isascii() or not length.isdigit():
        raise BadHttpError(400, "The Content-Length is not a number.")
    if int(length) > MAX_BODY:
        raise BadHttpError(413, f"The request's body is longer than {MAX_BODY} bytes.")
    if headers.get("expect", "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    try:
        body = await reader.readexactly(int(length))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    connection = headers.get("connection", "").lower()
    keep_alive = connection != "close" if parts[2] != "HTTP/1.0" else connection == "keep-alive"
    return HttpRequest(parts[0], parts[1], headers, body, keep_alive)


def head(status: int, headers: Mapping[str, str], *, length: int | None, keep_alive: bool) -> bytes:
    """Status line and headers; ``length=None`` announces a chunked body."""
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Overloaded" if status == 529 else "Unknown"
    lines = [f"HTTP/1.1 {status} {phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    lines.append("transfer-encoding: chunked" if length is None else f"content-length: {length}")
    lines.append(f"connection: {'keep-alive' if keep_alive else 'close'}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def chunk(data: bytes) -> bytes:
    """One chunk of a chunked body; ``b""`` makes the last."""
    return b"%x\r\n%b\r\n" % (len(data), data)
