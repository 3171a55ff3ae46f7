"""Attaching a test run to a recording proxy that was there before: what it is sent goes on through the run's own proxy.

The one that was there writes a file with its address and a token into its folder, readable by its user alone. A run
reads it, and asks at a path of the proxy's own for the requests. Only an address of this machine can be given them.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import secrets
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from pytest_promptfuzz.errors import ConfigurationError, UsageError
from pytest_promptfuzz.targets.addresses import address
from pytest_promptfuzz.wire.endpoints import exempt
from pytest_promptfuzz.wire.folder import make_directory
from pytest_promptfuzz.wire.network import is_local

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_promptfuzz.targets.addresses import Address

CONTROL = "/promptfuzz/attached"
TOKEN = "x-promptfuzz-token"  # noqa: S105 - a header's name
_SECONDS = 10


class Answer(NamedTuple):
    """What a run is told: a status, and a sentence for a person."""

    status: int
    message: str


class Attachment:
    """Who has the requests of a proxy: nobody, or one run.

    Args:
        token: What a run must know.

    Attributes:
        to: The base URL that has them; ``None`` for the proxy's own upstream.
    """

    def __init__(self, token: str) -> None:
        self.to: Address | None = None
        self._token = token
        self._lock = threading.Lock()
        self._seen_there = contextlib.ExitStack()

    def asked(self, method: str, token: str, body: bytes) -> Answer:
        """A run asks for the requests (``PUT`` with ``{"to": URL}``), or gives them back (``DELETE``)."""
        if not hmac.compare_digest(token.encode(), self._token.encode()):
            return Answer(403, "The token is not that of this proxy.")
        to = _target(body)
        if to is None:
            return Answer(400, "The body is no {'to': 'http://127.0.0.1:PORT/…'}.")
        if method == "DELETE":
            self.lost(to)
            return Answer(200, "Detached.")
        if method != "PUT":
            return Answer(405, "Use PUT or DELETE.")
        with self._lock:
            if self.to not in {None, to}:
                return Answer(409, "Another test run has its requests.")
            self._seen_there.close()
            self._seen_there.enter_context(exempt(to.host, urlsplit(to.base).port or 0))
            self.to = to
        return Answer(200, "Attached.")

    def lost(self, to: Address) -> None:
        """Who had the requests does not any more; another who has them keeps them."""
        with self._lock:
            if self.to == to:
                self._seen_there.close()
                self.to = None


def _target(body: bytes) -> Address | None:
    try:
        to = address(json.loads(body)["to"], "the attached run")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, UsageError):
        return None
    return to if to.base.startswith("http://127.0.0.1:") else None


@contextlib.contextmanager
def announced(folder: Path, port: int, upstream: str, token: str) -> Iterator[None]:
    """Let runs on this machine find a proxy, for the length of the block.

    Raises:
        ConfigurationError: The folder cannot be written.
    """
    file = _file(folder, port)
    try:
        make_directory(folder)
        file.unlink(missing_ok=True)
        descriptor = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with open(descriptor, "w", encoding="utf-8") as opened:  # noqa: PTH123 - of a descriptor
            json.dump({"upstream": upstream, "token": token}, opened)
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be written: {error.strerror or error}.") from None
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            file.unlink()


def new_token() -> str:
    """A token that nobody can guess."""
    return secrets.token_urlsafe(24)


@contextlib.contextmanager
def attached(url: str, folder: str | Path, base: Callable[[str], str]) -> Iterator[None]:
    """Have a running proxy's requests for the length of the block.

    Args:
        url: The proxy's address, ``http://127.0.0.1:8080``.
        folder: Its ``--cache-dir``.
        base: From its upstream to the base URL that is to have them.

    Raises:
        UsageError: The address is none of this machine's.
        ConfigurationError: No such proxy runs, or another run has its requests.
    """
    parts = urlsplit(url)
    if parts.scheme != "http" or not is_local(parts.hostname or "") or not parts.port:
        raise UsageError(f"attach({url!r}): write the address that `promptfuzz serve --proxy` printed.")
    try:
        known = json.loads(_file(Path(folder), parts.port).read_text(encoding="utf-8"))
        upstream, token = known["upstream"], known["token"]
    except (OSError, ValueError, KeyError, TypeError):
        raise ConfigurationError(
            f"No recording proxy on port {parts.port} is known in {folder}: start `promptfuzz serve --proxy URL --port "
            f"{parts.port} --cache-dir {folder}`, or name its --cache-dir, attach({url!r}, folder=…)."
        ) from None
    body = json.dumps({"to": base(upstream)}).encode()
    _ask("PUT", parts.port, token, body)
    try:
        yield
    finally:
        with contextlib.suppress(ConfigurationError):  # it may have ended before
            _ask("DELETE", parts.port, token, body)


def _ask(method: str, port: int, token: str, body: bytes) -> None:
    headers = {TOKEN: token, "content-type": "application/json"}  # urllib would call it a form
    request = urllib.request.Request(f"http://127.0.0.1:{port}{CONTROL}", body, headers, method=method)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        opener.open(request, timeout=_SECONDS).close()
    except urllib.error.HTTPError as error:
        with error:
            said = error.read(300).decode("utf-8", "replace")
        raise ConfigurationError(
            f"The recording proxy on port {port} cannot be attached to: {said}"
        ) from None
    except OSError as error:
        raise ConfigurationError(f"The recording proxy on port {port} does not answer: {error}.") from None


def _file(folder: Path, port: int) -> Path:
    return folder / f"proxy-{port}.json"
