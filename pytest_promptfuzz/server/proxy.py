"""`Proxy`: a recording proxy on this machine, for applications in any language or with any library.

It sends what it is sent to the provider through httpx2 or httpx, and so through the interceptor: stored answers,
mutations on the wire, faults and limits are those of calls made in the test's own process.
"""

from __future__ import annotations

import contextlib
import hmac
import importlib
import itertools
import json
import os
import re
import secrets
import sys
import threading
import urllib.error
import urllib.request
import weakref
from email.errors import (
    FirstHeaderLineIsContinuationDefect,
    InvalidHeaderDefect,
    MissingHeaderBodySeparatorDefect,
)
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from pytest_promptfuzz.connections import exempt
from pytest_promptfuzz.errors import ConfigurationError, UsageError
from pytest_promptfuzz.files import make_directory
from pytest_promptfuzz.server.http import (
    MAX_BODY,
    BadHttpError,
    checked_headers,
    length_of,
    page_refusal,
    path_refusal,
)
from pytest_promptfuzz.targets.sdk import Address, address
from pytest_promptfuzz.wire.network import is_local
from pytest_promptfuzz.wire.watch import current, is_running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from types import TracebackType

    from typing_extensions import Self

    from pytest_promptfuzz.wire.watch import Watch


# Attaching a test run to a recording proxy that was there before: what it is sent goes on through the run's own proxy.
#
# The one that was there writes a file with its address and a token into its folder, readable by its user alone. A run
# reads it, and asks at a path of the proxy's own for the requests. Only an address of this machine can be given them.


CONTROL = "/promptfuzz/attached"
TOKEN = "x-promptfuzz-token"  # noqa: S105 - a header's name
_ATTACH_SECONDS = 10


class ControlReply(NamedTuple):
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

    def asked(self, method: str, token: str, body: bytes) -> ControlReply:
        """A run asks for the requests (``PUT`` with ``{"to": URL}``), or gives them back (``DELETE``)."""
        if not hmac.compare_digest(token.encode(), self._token.encode()):
            return ControlReply(403, "The token is not that of this proxy.")
        to = _target(body)
        if to is None:
            return ControlReply(400, "The body is no {'to': 'http://127.0.0.1:PORT/…'}.")
        if method == "DELETE":
            self.lost(to)
            return ControlReply(200, "Detached.")
        if method != "PUT":
            return ControlReply(405, "Use PUT or DELETE.")
        with self._lock:
            if self.to not in {None, to}:
                return ControlReply(409, "Another test run has its requests.")
            self._seen_there.close()
            self._seen_there.enter_context(exempt(to.host, urlsplit(to.base).port or 0))
            self.to = to
        return ControlReply(200, "Attached.")

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
        opener.open(request, timeout=_ATTACH_SECONDS).close()
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


# AWS's signatures on their way through a proxy: made for its address, they are worth nothing at the provider's.


KEY_VARIABLE = "PROMPTFUZZ_BEDROCK_KEY"
_PARTS = ("authorization", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token")


def unsigned(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Headers without an AWS signature, which would not fit the provider's address, or a mutated body.

    The API key of Amazon Bedrock in ``PROMPTFUZZ_BEDROCK_KEY`` takes its place; boto3 itself sends none without https.
    """
    given = list(headers)
    if not any(name.lower() == "authorization" and value.startswith("AWS4-") for name, value in given):
        return given
    kept = [(name, value) for name, value in given if name.lower() not in _PARTS]
    key = os.environ.get(KEY_VARIABLE)
    return [*kept, ("authorization", f"Bearer {key}")] if key else kept


LIBRARIES = ("httpx2", "httpx")
_SECONDS = 600.0  # the application's own timeout is the one that counts
# Of one connection, not of the message (RFC 9110, section 7.6.1); the lengths are written anew.
_HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "host",
        "content-length",
        "expect",
    }
)
_OF_BROWSERS = (
    "origin",
    "referer",
    "sec-fetch-",
)  # of the page that asks here, which the provider does not know
_BODILESS = (204, 304)
# Lines that are no header, or a header without a name, which the parser skips, some with all that follow; it also looks
# for the parts of forms.
_BROKEN = (MissingHeaderBodySeparatorDefect, FirstHeaderLineIsContinuationDefect, InvalidHeaderDefect)
_SIZE = re.compile(rb"[0-9A-Fa-f]{1,8}")  # of a chunk
_LONGEST_LINE = 8192
_MOST_TRAILERS = 100


class Route(NamedTuple):
    """Where the requests under one base URL go, and whose they are (``None``: whoever runs)."""

    upstream: Address
    watch: weakref.ref[Watch] | None


class Proxy:
    """A recording proxy on 127.0.0.1, started and stopped by a ``with`` statement.

    Args:
        port: The TCP port; 0 for any that is free.
        upstream: Where requests go that are under no base URL given by :meth:`url`; ``None`` refuses them.
        watch: Whose those are.
        on_request: Called with method, path and status after each request, in a thread of its own.
        attachment: Lets a test run in another process have those requests.

    Raises:
        ConfigurationError: Neither httpx2 nor httpx is installed, or the port is taken.
        UsageError: ``upstream`` is no base URL.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        upstream: str | None = None,
        watch: Watch | None = None,
        on_request: Callable[[str, str, int], None] | None = None,
        attachment: Attachment | None = None,
    ) -> None:
        self._library = _library()
        self._asked_port = port
        owner = None if watch is None else weakref.ref(watch)
        self._default = None if upstream is None else Route(address(upstream, "the proxy"), owner)
        self.on_request = on_request
        self.attachment = attachment
        self._routes: dict[str, Route] = {}
        # A run's base URLs are its own; a program that outlives the run is told to be the next one's.
        self._names: weakref.WeakKeyDictionary[Watch, dict[Address, str]] = weakref.WeakKeyDictionary()
        self._shared: dict[Address, str] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._server: ThreadingHTTPServer | None = None
        self._end = contextlib.ExitStack()
        self.client: Any = None

    @property
    def port(self) -> int:
        """The port it listens on."""
        if self._server is None:
            raise RuntimeError("the proxy is not running; use it in a with statement")
        return int(self._server.server_address[1])

    def url(self, upstream: str) -> str:
        """The base URL to give to the application instead of ``upstream``.

        Asked for in the body of a robust test it belongs to the run that goes on, whoever uses it and from whichever
        process. Asked for elsewhere (in a fixture) its requests belong to the only run there is, and the trials of the
        test run in sequence.

        Raises:
            UsageError: ``upstream`` is no base URL.
        """
        place, watch = address(upstream, "the proxy"), current.get()
        with self._lock:
            names = self._shared if watch is None else self._names.setdefault(watch, {})
            if place not in names:
                names[place] = f"via{next(self._numbers)}"
                self._routes[names[place]] = Route(place, None if watch is None else weakref.ref(watch))
        return f"{self._base}/{names[place]}"

    def attach(
        self, url: str, folder: str | os.PathLike[str] = ".promptfuzz"
    ) -> AbstractContextManager[None]:
        """Have what an application asks of a proxy that was there before, ``promptfuzz serve --proxy``.

        Like a base URL of :meth:`url`, what is attached in the body of a robust test belongs to that run.

        Args:
            url: The address that it printed.
            folder: Its ``--cache-dir``.

        Raises:
            UsageError: The address is none of this machine's.
            ConfigurationError: No such proxy runs, or another test run has its requests.
        """
        return attached(url, Path(folder), self.url)

    @property
    def openai(self) -> str:
        """The base URL for OpenAI, or for what ``OPENAI_BASE_URL`` names."""
        return self.url(os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1")

    @property
    def anthropic(self) -> str:
        """The base URL for Anthropic, or for what ``ANTHROPIC_BASE_URL`` names."""
        return self.url(os.environ.get("ANTHROPIC_BASE_URL") or "https://api.anthropic.com")

    @property
    def environment(self) -> dict[str, str]:
        """The variables that the SDKs of all languages read, for a process to be started."""
        return {"OPENAI_BASE_URL": self.openai, "ANTHROPIC_BASE_URL": self.anthropic}

    @property
    def _base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        handler = type("Handler", (_Handler,), {"proxy": self})
        try:
            server = _Server(("127.0.0.1", self._asked_port), handler)
        except (OSError, OverflowError) as error:
            raise ConfigurationError(
                f"Cannot listen on 127.0.0.1:{self._asked_port}: {error}. Choose another port, or 0 for a free one."
            ) from None
        self._server = server
        self.client = self._library.Client(timeout=_SECONDS, follow_redirects=False)
        self._end.callback(self.client.close)
        self._end.enter_context(exempt("127.0.0.1", self.port))
        thread = threading.Thread(
            target=server.serve_forever, args=(0.05,), name="promptfuzz-proxy", daemon=True
        )
        thread.start()
        self._end.callback(thread.join)
        self._end.callback(server.server_close)
        self._end.callback(server.shutdown)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end.close()
        self._server = None

    def route(self, target: str) -> tuple[Route, str] | None:
        """Where a request target (path and query) goes, and what of it stays."""
        name, slash, rest = target.removeprefix("/").partition("/")
        with self._lock:
            route = self._routes.get(name)
        if route is not None:
            return route, slash + rest
        to = self.attachment.to if self.attachment is not None else None
        if to is not None:
            return Route(to, None), target
        return None if self._default is None else (self._default, target)

    @contextlib.contextmanager
    def belonging(self, route: Route) -> Iterator[None]:
        """Let what is sent inside the block be the route's run's."""
        watch = route.watch() if route.watch is not None else None
        if watch is None or not is_running(watch):
            yield
            return
        token = current.set(watch)
        try:
            yield
        finally:
            current.reset(token)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # a connection that is kept open must not keep the proxy from stopping
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing where the application left in the middle of a request."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """One connection of the application."""

    proxy: Proxy
    protocol_version = "HTTP/1.1"
    default_request_version = "HTTP/1.0"  # 0.9 has no status line
    disable_nagle_algorithm = True
    timeout = _SECONDS  # for each piece of a request

    def _forward(self) -> None:
        try:
            content = self._checked()
        except BadHttpError as error:
            self.close_connection = True
            why = str(error)
            self._refuse(error.status, f"The proxy refused the request: {why[0].lower()}{why[1:]}")
            return
        attachment = self.proxy.attachment
        if attachment is not None and self.path == CONTROL:
            answer = attachment.asked(self.command, self.headers.get(TOKEN, ""), content)
            self._say(answer.status, answer.message)
            return
        found = self.proxy.route(self.path)
        if found is None:
            self._refuse(404, "The proxy has no such base URL; take it from promptfuzz_proxy.url(...).")
            return
        route, rest = found
        url = self._below(route.upstream, rest)
        if url is None:
            self._refuse(403, f"The proxy refused the request: its address is not below {route.upstream}.")
            return
        request = self.proxy.client.build_request(
            self.command,
            url,
            # As bytes: a value may hold more than ASCII.
            headers=[
                (name.encode("latin-1"), value.strip(" \t").encode("latin-1"))
                for name, value in unsigned(self.headers.items())
                if name.lower() not in _HOP_BY_HOP and not name.lower().startswith(_OF_BROWSERS)
            ],
            content=content or None,
        )
        begun = False
        try:
            with self.proxy.belonging(route):
                response = self.proxy.client.send(request, stream=True)
                try:
                    begun = True
                    self._pass_on(response)
                finally:
                    response.close()
        except (ConnectionError, TimeoutError):
            self.close_connection = True  # the application left
        except Exception as error:  # noqa: BLE001 - whatever the library raises, the application is to hear of it
            self.close_connection = True
            if attachment is not None and type(error).__name__ == "ConnectError":
                attachment.lost(route.upstream)  # a test run that ended without a word
            if not begun:
                self._refuse(502, f"The provider could not be reached: {type(error).__name__}: {error}")

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _forward  # noqa: N815 - http.server's names

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What http.server itself refuses, in the form that everything else has."""
        del explain
        self.close_connection = True
        self._say(code, f"The proxy cannot read the request: {message or HTTPStatus(code).phrase:.200}.")

    def _checked(self) -> bytes:
        """The body of a request that may be passed on.

        Raises:
            BadHttpError: It may not be.
        """
        broken = any(isinstance(each, _BROKEN) for each in self.headers.defects)
        if broken or self.request_version == "HTTP/0.9":
            self.request_version = "HTTP/1.0"
            raise BadHttpError(400, "it is not HTTP/1.1, or a header is malformed.")
        headers = checked_headers(self.headers.items())
        content = self._content(headers)
        # The request line as it came: http.server joins slashes at its beginning.
        words = self.requestline.split(" ")
        target = words[1] if len(words) == 3 else self.path
        why = path_refusal(target) or page_refusal(headers, self.proxy.port, has_body=bool(content))
        if why:
            raise BadHttpError(403, f"{why}.")
        return content

    def _below(self, upstream: Address, rest: str) -> Any:
        """The address of what is asked for, as the HTTP library reads it; ``None`` if not below its upstream."""
        library = self.proxy.client
        base, url = (
            library.build_request("GET", each).url for each in (upstream.base, _joined(upstream, rest))
        )
        same = (base.scheme, base.host, base.port, b"") == (url.scheme, url.host, url.port, url.userinfo)
        prefix = base.raw_path.partition(b"?")[0].rstrip(b"/") + b"/"
        path = url.raw_path.partition(b"?")[0]
        return url if same and (path + b"/").startswith(prefix) else None

    def _content(self, headers: Mapping[str, str]) -> bytes:
        coding = headers.get("transfer-encoding")
        if coding is not None and coding.lower() != "chunked":
            raise BadHttpError(501, f"its Transfer-Encoding is {coding!r:.60}; send it chunked.")
        return self._exactly(length_of(headers)) if coding is None else self._chunks()

    def _exactly(self, length: int) -> bytes:
        content = self.rfile.read(length)
        if len(content) < length:
            raise BadHttpError(400, "its body ends too early.")
        return content

    def _chunks(self) -> bytes:
        content = bytearray()
        while True:
            size = self.rfile.readline(_LONGEST_LINE).partition(b";")[0].strip()
            if not _SIZE.fullmatch(size):
                raise BadHttpError(400, f"its body is not chunked as it should be: {size!r:.60}.")
            length = int(size, 16)
            if len(content) + length > MAX_BODY:
                raise BadHttpError(413, f"its body is longer than {MAX_BODY} bytes.")
            if not length:
                break
            content += self._exactly(length)
            if self.rfile.readline(_LONGEST_LINE).strip():
                raise BadHttpError(400, "its body is not chunked as it should be.")
        for _ in range(_MOST_TRAILERS):
            if not self.rfile.readline(_LONGEST_LINE).strip():
                return bytes(content)
        raise BadHttpError(400, "its body has too many trailers.")

    def _pass_on(self, response: Any) -> None:
        status = int(response.status_code)
        self.send_response_only(status)
        for name, value in response.headers.raw:
            if name.decode("latin-1").lower() not in _HOP_BY_HOP:
                self.send_header(name.decode("latin-1"), value.decode("latin-1"))
        bodiless = self.command == "HEAD" or status in _BODILESS
        if not bodiless:
            self.send_header("transfer-encoding", "chunked")
        else:
            self._told(status)
        self.end_headers()
        if not bodiless:
            for piece in response.iter_raw():
                if piece:
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            self._told(status)  # before the application can go on and look
            self.wfile.write(b"0\r\n\r\n")

    def _refuse(self, status: int, message: str) -> None:
        self._say(status, message)
        self._told(status)

    def _say(self, status: int, message: str) -> None:
        body = json.dumps({"error": {"message": message, "type": "promptfuzz_proxy"}}).encode()
        self.send_response_only(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _told(self, status: int) -> None:
        if self.proxy.on_request is not None:
            self.proxy.on_request(self.command, self.path.partition("?")[0], status)

    def log_message(self, *_: Any) -> None:
        """Nothing: lines in the middle of pytest's output help nobody."""


def _joined(upstream: Address, rest: str) -> str:
    path, _, query = rest.partition("?")
    url = upstream.url(path)
    return url + ("&" if "?" in url else "?") + query if query else url


def _library() -> Any:
    for name in LIBRARIES:
        with contextlib.suppress(ModuleNotFoundError):
            return importlib.import_module(name)
    raise ConfigurationError(
        "The proxy sends requests through httpx, which is not installed: pip install 'pytest-promptfuzz[openai]'."
    )
