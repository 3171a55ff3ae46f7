"""HTTP and processes that the interceptor cannot follow: noticed where they begin, so that a test is told of them."""

from __future__ import annotations

import functools
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pytest_promptfuzz.wire.custom import endpoint_of
from pytest_promptfuzz.wire.endpoints import is_exempt, is_model_path, is_other_model_path
from pytest_promptfuzz.wire.watch import likely

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

# What may ask a model without being noticed at all; named where nothing was seen. A library of which each request is
# noticed is none of them: it asked nothing, whoever loaded it.
SUSPECTS = ("websocket", "grpc", "pycurl", "curl_cffi", "niquests", "tornado")
FOLLOWED = ("httpx", "httpx2")


@dataclass(frozen=True, slots=True)
class Unseen:
    """A request or a process that a run began, and of which nothing more is known.

    Attributes:
        by: The library, or ``subprocess``.
        what: ``POST host/path``, ``WebSocket host/path``, or the program's name.
        asks_model: Whether its address is that of a model.
    """

    by: str
    what: str
    asks_model: bool

    @property
    def is_websocket(self) -> bool:
        """Whether it is a connection and no request."""
        return self.what.startswith("WebSocket ")

    def __str__(self) -> str:
        return f"{self.by} ({self.what})"


def suspects() -> list[str]:
    """The libraries that are loaded and may have asked a model without being noticed."""
    return [name for name in SUSPECTS if name in sys.modules]


def notice(by: str, method: str, host: str, port: int, path: str) -> None:
    """Note a request that is not followed: a POST, or a connection that a model may be asked over.

    Args:
        by: The library.
        method: ``WebSocket`` for a connection of that kind.
        host: Where it goes.
        port: Of the host.
        path: Its path; a query may follow.
    """
    method = method if method == "WebSocket" else method.upper()
    if method not in {"POST", "WebSocket"} or is_exempt(host, port):
        return
    watch = likely()
    if watch is not None:
        bare = "/" + urlsplit(path).path.strip("/")
        asks = (
            is_model_path(bare)
            or is_other_model_path(bare)
            or endpoint_of(f"http://{host}{bare}") is not None
        )
        watch.unseen.append(Unseen(by, f"{method} {host}{bare}", asks))


def patch_putrequest(_: ModuleType, original: Callable[..., Any]) -> Callable[..., Any]:
    """``http.client.HTTPConnection.putrequest``: under urllib, urllib3, requests and botocore."""

    @functools.wraps(original)
    def putrequest(self: Any, method: str, url: str, *args: Any, **arguments: Any) -> Any:
        library = type(self).__module__.partition(".")[0]
        if library == "urllib3" and "requests" in sys.modules:
            library = "requests"
        notice("urllib" if library == "http" else library, method, self.host, self.port, url)
        return original(self, method, url, *args, **arguments)

    return putrequest


def patch_aiohttp(_: ModuleType, original: Callable[..., Any]) -> Callable[..., Any]:
    """``aiohttp.ClientSession._request``."""

    @functools.wraps(original)
    def request(self: Any, method: str, url: Any, **arguments: Any) -> Any:
        base = getattr(self, "_base_url", None)
        parts = urlsplit(str(url))
        host = parts.hostname or getattr(base, "host", None) or ""
        port = parts.port or getattr(base, "port", None) or 0
        path = (
            parts.path
            if parts.hostname
            else f"{getattr(base, 'path', '').rstrip('/')}/{parts.path.lstrip('/')}"
        )
        upgraded = "upgrade" in {name.lower() for name in arguments.get("headers") or {}}
        notice("aiohttp", "WebSocket" if upgraded else method, host, port, path)
        return original(self, method, url, **arguments)

    return request


def patch_websocket(_: ModuleType, original: Callable[..., Any]) -> Callable[..., Any]:
    """``websockets.client.ClientProtocol``: under its sync and async connections, and so under realtime APIs."""

    @functools.wraps(original)
    def init(self: Any, uri: Any, *args: Any, **arguments: Any) -> None:
        notice("websockets", "WebSocket", uri.host, uri.port, uri.path)
        original(self, uri, *args, **arguments)

    return init


def patch_popen(_: ModuleType, original: Callable[..., Any]) -> Callable[..., Any]:
    """``subprocess.Popen``: a program that may ask a model by itself."""

    @functools.wraps(original)
    def init(self: Any, args: Any, *more: Any, **arguments: Any) -> None:
        watch = likely()
        if watch is not None:
            first = args[0] if isinstance(args, list | tuple) and args else args
            # Its name only: arguments may hold secrets.
            name = os.fsdecode(first).split() if isinstance(first, str | bytes | os.PathLike) else []
            watch.unseen.append(Unseen("subprocess", Path(name[0]).name if name else "?", asks_model=False))
        original(self, args, *more, **arguments)

    return init
