"""As much of HTTP/1.1 as a model server needs, over asyncio streams; and which requests a local server refuses."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import unquote

from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


MAX_BODY = 64 * 1024 * 1024
_DIGITS = 15  # of a length; more are no number that a machine has room for
_LOCAL_NAME = expression(r"(?i)(127(?:\.\d{1,3}){3}|localhost|\[::1\])(?::(\d{1,5}))?")
_PRINTABLE = expression(r"[!-~]+")
_NAME = expression(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = expression(r"[\0-\x08\n-\x1f\x7f]")
# Headers that say whose a request is or where it ends; two of one kind could be read in two ways.
_ONCE = frozenset({"host", "origin", "sec-fetch-site", "content-type", "content-length", "transfer-encoding"})
_LONGEST_SHOWN = 300
# What a page may send anywhere without asking first (a "simple request" of the fetch standard).
_SIMPLE = frozenset({"text/plain", "application/x-www-form-urlencoded", "multipart/form-data"})
_NOT_SIMPLE = ("authorization", "x-api-key", "api-key", "x-goog-api-key", "anthropic-version")


def log_line(method: str, path: str, status: object) -> str:
    """A request in one line, with nothing in it that a terminal obeys, and no longer than can be read."""
    shown = "".join(each if each.isprintable() else "?" for each in f"{method} {path}"[:_LONGEST_SHOWN])
    return f"{shown} {status}"


def checked_headers(given: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The headers of a request, names in lower case.

    Raises:
        BadHttpError: One is no header, or there twice and no two may be, or the body's end is told in two ways.
    """
    found: dict[str, str] = {}
    for given_name, value in given:
        name = given_name.lower()
        if not _NAME.fullmatch(name) or _CONTROL.search(value):
            raise BadHttpError(400, f"The header {name!r:.60} is malformed.")
        if name in found and name in _ONCE:
            raise BadHttpError(400, f"The header {name} is there twice.")
        found[name] = value.strip(" \t")
    if "transfer-encoding" in found and "content-length" in found:
        raise BadHttpError(400, "The request has a Content-Length and a Transfer-Encoding.")
    return found


def length_of(headers: Mapping[str, str]) -> int:
    """How long a body is by its ``Content-Length``.

    Raises:
        BadHttpError: It is no number, or more than is taken.
    """
    length = headers.get("content-length", "0")
    if not length.isascii() or not length.isdigit():
        raise BadHttpError(400, f"The Content-Length is not a number: {length!r:.60}.")
    if len(length) > _DIGITS or int(length) > MAX_BODY:
        raise BadHttpError(413, f"The request's body is longer than {MAX_BODY} bytes.")
    return int(length)


def page_refusal(headers: Mapping[str, str], port: int, *, has_body: bool) -> str:
    """Why a request is refused that a web page may have sent, in a browser on this machine; nothing where it may pass.

    A page of another site can post to a local port, and one whose name was pointed here (DNS rebinding) can read the
    answers. No SDK sends what browsers send.

    Args:
        headers: Of the request, names in lower case.
        port: The server's own.
        has_body: Whether the request has one.
    """
    host = headers.get("host")
    if host is not None and not _LOCAL_NAME.fullmatch(host):
        return (
            f"the Host header is {host!r:.60}, which is no name of this machine; use http://127.0.0.1:{port}"
        )
    origin = headers.get("origin")
    if origin is not None:
        named = _LOCAL_NAME.fullmatch(origin.removeprefix("http://"))
        if named is None or named[2] != str(port):
            return f"it comes from a web page (Origin: {origin!r:.60}); only programs may ask here"
    site = headers.get("sec-fetch-site", "none").lower()
    if site not in {"none", "same-origin"}:
        return f"it comes from a web page (Sec-Fetch-Site: {site!r:.20}); only programs may ask here"
    if any(each in headers for each in _NOT_SIMPLE):
        return ""  # a page would have to ask first whether it may send these
    page = headers.get("referer")
    if page is not None and not _LOCAL_NAME.fullmatch(page.partition("//")[2].partition("/")[0]):
        return f"it comes from a web page (Referer: {page!r:.60}); only programs may ask here"
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if has_body and kind in _SIMPLE:
        return f"its content type is {kind}, as a web page could send it; send application/json"
    return ""


def path_refusal(target: str) -> str:
    """Why a request's target may not be passed on; nothing for a path that stays below where it is put.

    >>> path_refusal("/v1/models?a=b"), path_refusal("/%2e%2e/admin")
    ('', 'its path leads upwards (..)')
    """
    path = target.partition("?")[0]
    if not path.startswith("/"):
        return "its target is no path; send /v1/… with the address as the base URL, not as an HTTP proxy"
    if path.startswith("//"):
        return "its path begins with two slashes"
    if not _PRINTABLE.fullmatch(target):
        return "its path holds a space, a control character or one beyond ASCII; encode it (%20)"
    if "#" in target:
        return "its path holds a fragment (#)"
    for _ in range(4):  # as often as servers behind servers decode it
        if any(part.partition(";")[0] in {".", ".."} for part in re.split(r"[/\\]", path)):
            return "its path leads upwards (..)"
        if "\\" in path or (not _PRINTABLE.fullmatch(path.replace(" ", "+")) and path.isascii()):
            return "its path holds a backslash or a control character"
        decoded = unquote(path, errors="replace")
        if decoded == path:
            return ""
        path = decoded
    return "its path is encoded several times over"


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
    headers = checked_headers(
        (name if colon else "", value) for name, colon, value in (line.partition(":") for line in lines)
    )
    if "transfer-encoding" in headers:
        raise BadHttpError(411, "This server needs a Content-Length.")
    length = length_of(headers)
    if headers.get("expect", "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    try:
        body = await reader.readexactly(length)
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
