"""The network guard: connections and processes that nobody follows are noticed, and refused where none may be.

Connections and child processes are seen by an audit hook of Python's, which lasts as long as the process and so looks
at one variable first. Requests that use a connection that was open before are seen by patches of the libraries.
"""

from __future__ import annotations

import functools
import os
import socket
import sys
import threading
import weakref
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from pytest_promptfuzz.connections import followed, is_exempt
from pytest_promptfuzz.providers.custom_protocol import is_other_model_path
from pytest_promptfuzz.providers.formats import endpoint_of, is_model_path
from pytest_promptfuzz.wire import network
from pytest_promptfuzz.wire.network import SETTING, Network, Unfollowed, Unseen, host_port, is_local, place
from pytest_promptfuzz.wire.watch import current, likely, running

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator
    from types import ModuleType

    from pytest_promptfuzz.wire.network import Kind

FOLLOWED = ("httpx", "httpx2")

# Debuggers and runners of tests, which talk to their other halves.
_TOOLS = frozenset(
    {"pydevd", "_pydevd_bundle", "_pydev_bundle", "debugpy", "execnet", "xdist", "pytest_timeout"}
)
# What starts a program to learn of the machine.
_LOOKING = frozenset({"platform", "ctypes.util", "uuid", "distro"})
# What is no library to name: everybody's connections are made by it.
_NO_LIBRARIES = frozenset(
    {"socket", "threading", "concurrent", "contextlib", "functools", "runpy", "contextvars"}
)
_OURS = __name__.partition(".")[0]
_PAIRS = frozenset({"socketpair", "_fallback_socketpair"})
_FAMILIES = frozenset(getattr(socket, each, -1) for each in ("AF_INET", "AF_INET6", "AF_VSOCK"))


class ConnectionNotAllowedError(ConnectionRefusedError):
    """A connection was refused before anything was sent."""


_guarding = 0
_before: Any = None  # whom the hook told before: another copy of this module, or nobody
_lock = threading.Lock()
_looked_up: dict[str, dict[str, None]] = {}  # by address, the names that led to it
_vouched: list[str] = []  # names that are looked up in a thread for somebody who may
_begun_in: weakref.WeakKeyDictionary[threading.Thread, Network] = weakref.WeakKeyDictionary()


@contextmanager
def guarding() -> Iterator[None]:
    """Notice what is not followed, for the length of the block. Blocks may be nested and overlap."""
    global _guarding, _before  # noqa: PLW0603 - a hook is the process's, and so is the count of those who need it
    hook = network.audit_hook()
    with _lock:
        _guarding += 1
        if _guarding == 1:
            _before, hook["notice"] = hook["notice"], _audit
    try:
        yield
    finally:
        with _lock:
            _guarding -= 1
            if not _guarding:
                hook["notice"] = _before


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    notice = _NOTICES.get(event)
    if notice is None or followed.get():
        return
    if _owners():
        notice(*arguments)
    else:
        network.overhear(event, arguments)


def _connecting(end: Any, address: Any) -> None:
    _reach(end, address, once=False)


def _sending(end: Any, address: Any) -> None:
    if isinstance(address, tuple):  # what goes to a path is a log's
        _reach(end, address, once=True)


def _reach(own: Any, address: Any, *, once: bool) -> None:
    owners = _owners()
    end = _end_at(own.family, address) if owners else None
    if end is None:
        return
    host, port = end
    if port is not None and is_exempt(host, port):
        return
    caller = _caller()
    if caller.function in _PAIRS or caller.modules & _TOOLS:
        return
    names = [host, *_looked_up.get(host, ())]
    to = host_port(names[-1], port)
    permitted = port is None or owners[0].permits(names, port)
    if not permitted:
        _keep_in(owners, to, caller.at, caller.by)
    _charged(owners).reach(to, caller.at, caller.by, permitted=permitted, once=once)


def _end_at(family: int, address: Any) -> tuple[str, int | None] | None:
    """Host and port, or the path of a socket and ``None``; ``None`` for what leads to nobody, the kernel's sockets."""
    if isinstance(address, str | bytes):
        return os.fsdecode(address).lstrip("\0") or "a socket without a name", None
    if not (isinstance(address, tuple) and len(address) > 1 and isinstance(address[1], int)):
        return None
    if family not in _FAMILIES:
        return None
    host = address[0]
    host = host.decode("ascii", "replace") if isinstance(host, bytes | bytearray) else str(host)
    return host.partition("%")[0] or "0.0.0.0", address[1]  # noqa: S104 - what the empty name stands for


def _looking_up(host: Any, *_: Any) -> None:
    """A name is about to be asked for, of a server that may be anywhere."""
    name = host.decode("ascii", "replace") if isinstance(host, bytes | bytearray) else host
    if not isinstance(name, str) or not name or name in _vouched or _is_address(name):
        return
    owners = _owners()
    if not owners or owners[0].permits([name], None):
        return
    caller = _caller()
    if not caller.modules & _TOOLS:
        _keep_in(owners, name, caller.at, caller.by)
        # It may lead to this machine, and a replay cannot know that.
        for each in owners:
            each.bar(f"a connection to {name}{place(caller.at, caller.by)} is not followed")


def _is_address(name: str) -> bool:
    digits = name.rpartition(".")[2]
    return ":" in name or (digits.isascii() and digits.isdigit())


def _starting(program: Any, arguments: Any = (), *_: Any) -> None:
    """``subprocess.Popen`` and its like."""
    _process(_program(program, arguments))


def _program(program: Any, arguments: Any) -> str:
    """The name of a program alone: arguments may hold secrets."""
    words = [arguments] if isinstance(arguments, str | bytes | os.PathLike) else list(arguments or ())
    first = [os.fsdecode(each) for each in words[:3] if isinstance(each, str | bytes | os.PathLike)]
    if len(first) > 2 and first[1] == "-c" and Path(first[0]).name == "sh":
        first = first[2].split()
    elif isinstance(arguments, str | bytes) and first:
        first = first[0].split()
    return Path(first[0]).name if first else Path(os.fsdecode(program)).name if program else "?"


def _spawning(*arguments: Any) -> None:
    path = next((each for each in arguments if isinstance(each, str | bytes | os.PathLike)), "?")
    if "subprocess" not in _caller().modules:  # else it has been noticed
        _process(Path(os.fsdecode(path)).name)


def _forking(*_: Any) -> None:
    forks = any(each.startswith("multiprocessing") for each in _caller().modules)
    _process("multiprocessing" if forks else "a fork of this process")


def _process(name: str) -> None:
    owners = _owners()
    if owners and not _caller().modules & _LOOKING:
        _charged(owners).begin(Unseen("subprocess", name, asks_model=False), permitted=True)


_NOTICES: dict[str, Callable[..., None]] = {
    "socket.connect": _connecting,
    "socket.sendto": _sending,
    "socket.sendmsg": _sending,
    "socket.getaddrinfo": _looking_up,
    "socket.gethostbyname": _looking_up,
    "socket.gethostbyaddr": _looking_up,
    "subprocess.Popen": _starting,
    "os.posix_spawn": _spawning,
    "os.spawn": _spawning,
    "os.system": functools.partial(_starting, None),
    "os.fork": _forking,
    "os.forkpty": _forking,
}


def _owners() -> tuple[Network, ...]:
    """The networks that the running code may belong to; one where it is known, none where no test has to do with it."""
    watch = current.get()
    if watch is not None:
        return (watch.network,)
    networks = tuple({id(each.network): each.network for each in running()}.values())
    if len(networks) == 1:
        return networks
    begun_in = _begun_in.get(threading.current_thread())
    if begun_in is not None and (not networks or begun_in in networks):
        return (begun_in,)
    return networks


def _charged(owners: tuple[Network, ...]) -> Network:
    """Whose list it is put on: where it may be of several tests, that of none."""
    return owners[0] if len(owners) == 1 else owners[0].nobodys()


def _keep_in(owners: tuple[Network, ...], to: str, at: str, by: str) -> None:
    """Refuse to reach what is not this machine, where a test must not.

    Raises:
        ConnectionNotAllowedError: One that the running code may belong to must not.
    """
    who = next((each.confined for each in owners if each.confined), "")
    if who:
        raise ConnectionNotAllowedError(_refused(f"A connection to {to}{place(at, by)}", who, to))


def _refused(what: str, who: str, to: str) -> str:
    message = (
        f"{what} was refused: it is not followed, and {who} reaches this machine only. If a model is asked there, ask "
        f"it through its SDK or promptfuzz_proxy; if not, allow it: {SETTING} = {to}"
    )
    watch = likely()
    if watch is not None:
        watch.refuse(message)
    return message


class Caller(NamedTuple):
    """The running code.

    Attributes:
        at: The project's nearest line, ``app.py:12``; a library's where the project is not on the stack.
        by: The library that it uses, or the part of Python's; empty for none.
        modules: What lies between, and the library.
        function: The innermost function.
    """

    at: str
    by: str
    modules: frozenset[str]
    function: str


def _caller(stack: Iterable[network.Frame] | None = None) -> Caller:
    """Who runs, or ran as a stack was kept."""
    modules: set[str] = set()
    at, by, library, function = "", "", "", ""
    here = sys._getframe(1)  # noqa: SLF001 - the only way to know who connects
    for frame in network.audit_frames(here) if stack is None else stack:
        top = frame.module.partition(".")[0]
        if top == _OURS:
            modules.add(top)
        else:
            function = function or frame.name
            if top in sys.stdlib_module_names:
                if not library:
                    modules.add(frame.module)
                    by = by if top in _NO_LIBRARIES else top
            elif "site-packages" in frame.file or "dist-packages" in frame.file:
                if top not in {"pluggy", "_pytest", "pytest"}:
                    library, at = top, at or f"{top}/{Path(frame.file).name}:{frame.line}"
                    modules.add(top)
            else:
                at = f"{_shown(frame.file)}:{frame.line}"
                break
    return Caller(at, library or by, frozenset(modules), function)


def earlier(begun: Iterable[network.Begun]) -> list[Unfollowed]:
    """Connections and programs that were begun before a test, those of ours and of tools left out."""
    found: dict[tuple[Kind, str], Unfollowed] = {}
    for each in begun:
        caller = _caller(each.stack)
        if caller.function in _PAIRS or caller.modules & {*_TOOLS, *_LOOKING, _OURS}:
            continue
        kind: Kind = "earlier program"
        if each.event.startswith("socket."):
            end = _end_at(each.family, each.arguments[-1] if each.arguments else None)
            if end is None or (end[1] is not None and is_exempt(*end)):
                continue
            kind, to = "earlier connection", host_port(*end)
        elif each.event == "subprocess.Popen":
            to = _program(*each.arguments[:2])
        else:
            to = "a fork of this process" if "fork" in each.event else "a program"
        before = found.get((kind, to))
        count = 1 if before is None else before.count + 1
        found[kind, to] = Unfollowed(kind, to, count, caller.at, caller.by)
    return [*found.values()]


def _shown(path: str) -> str:
    """A path from the working directory, or the file's name alone."""
    try:
        return Path(path).relative_to(Path.cwd()).as_posix()
    except (ValueError, OSError):
        return Path(path).name


def notice(by: str, method: str, host: str, port: int, path: str, endpoint: str = "") -> None:
    """Note a request that is not followed: of a followed library any, of others what a model may be asked by.

    Args:
        by: The library.
        method: ``WebSocket`` for a connection of that kind.
        host: Where it goes.
        port: Of the host.
        path: Its path; a query may follow.
        endpoint: The line of ``promptfuzz_endpoints`` that would make it followed.

    Raises:
        ConnectionNotAllowedError: It leaves the machine, and must not; the connection may have been open before.
    """
    owners = () if is_exempt(host, port) else _owners()
    if not owners:
        return
    to = host_port(host, port)
    permitted = owners[0].permits([host, *_looked_up.get(host, ())], port)
    if not permitted and by not in FOLLOWED:
        _keep_in(owners, to, _caller().at, by)
    method = method if method == "WebSocket" else method.upper()
    if method not in {"POST", "WebSocket"}:
        if by in FOLLOWED:  # their connections are not counted
            _charged(owners).reach(to, _caller().at, by, permitted=True, kind="request")
        return
    bare = "/" + urlsplit(path).path.strip("/")
    asks = is_model_path(bare) or is_other_model_path(bare) or endpoint_of(f"http://{host}{bare}") is not None
    _charged(owners).begin(Unseen(by, f"{method} {host}{bare}", asks, to, endpoint), permitted)


def keep_local(library: ModuleType, request: Any, transport: Any) -> None:
    """Refuse an HTTP request of a followed library to another machine, where a test must not leave this one.

    Raises:
        Exception: The library's ``ConnectError``, as where there is no network.
    """
    owners = _owners()
    url = request.url
    port = url.port or (443 if url.scheme == "https" else 80)
    through_path = getattr(getattr(transport, "_pool", None), "_uds", None) is not None
    if not owners or through_path or owners[0].permits([url.host], port):
        return
    at = _caller().at
    who = next((each.confined for each in owners if each.confined), "")
    if who:
        watch = likely()
        shown = str(url) if watch is None else watch.settings.redaction.url(str(url))
        message = _refused(
            f"{request.method} {shown}{place(at, library.__name__)}", who, host_port(url.host, port)
        )
        raise library.ConnectError(message, request=request)
    for each in owners:
        each.bar(
            f"{request.method} {url.host}{place(at, library.__name__)} is no model call that is followed"
        )


def patch_putrequest(_: ModuleType, original: Callable[..., Any]) -> Callable[..., Any]:
    """``http.client.HTTPConnection.putrequest``: under urllib, urllib3, requests and botocore."""

    @functools.wraps(original)
    def putrequest(self: Any, method: str, url: str, *args: Any, **arguments: Any) -> Any:
        library = type(self).__module__.partition(".")[0]
        if library == "urllib3" and "requests" in sys.modules:
            library = "requests"
        host, port = self.host, self.port
        if self._tunnel_host:
            host, port = self._tunnel_host, self._tunnel_port
        elif url.startswith("http://"):  # to a proxy
            parts = urlsplit(url)
            host, port = parts.hostname or host, parts.port or 80
        notice("urllib" if library == "http" else library, method, host, port, url)
        return original(self, method, url, *args, **arguments)

    return putrequest


def patch_tunnel(_: ModuleType, original: Callable[..., Any]) -> Callable[..., Any]:
    """``http.client.HTTPConnection.set_tunnel``: a proxy on this machine leads to others."""

    @functools.wraps(original)
    def set_tunnel(self: Any, host: str, port: int | None = None, *args: Any, **arguments: Any) -> Any:
        owners = _owners()
        if owners and not owners[0].permits([host], port):
            caller = _caller()
            _keep_in(owners, host_port(host, port), caller.at, caller.by)
        return original(self, host, port, *args, **arguments)

    return set_tunnel


def patch_by_address(_: ModuleType, original: Callable[..., Any]) -> Callable[..., Any]:
    """``socket.socket.connect`` and its like: a name in an address is asked for before any audit event tells of it."""

    @functools.wraps(original)
    def reach(self: Any, *arguments: Any) -> Any:
        address = arguments[-1] if arguments else None
        if isinstance(address, tuple) and address and not followed.get():
            _looking_up(address[0])
        return original(self, *arguments)

    return reach


def patch_aiohttp(_: ModuleType, original: Callable[..., Any]) -> Callable[..., Any]:
    """``aiohttp.ClientSession._request``."""

    @functools.wraps(original)
    def request(self: Any, method: str, url: Any, **arguments: Any) -> Any:
        base = getattr(self, "_base_url", None)
        parts = urlsplit(str(url))
        host = parts.hostname or getattr(base, "host", None) or ""
        secure = (parts.scheme or getattr(base, "scheme", "")) in {"https", "wss"}
        port = parts.port or getattr(base, "port", None) or (443 if secure else 80)
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


def patch_thread(_: ModuleType, original: Callable[..., Any]) -> Callable[..., Any]:
    """``threading.Thread.start``: what a thread does that has lost its context is its test's."""

    @functools.wraps(original)
    def start(self: Any) -> Any:
        watch = likely()
        if watch is not None:
            _begun_in[self] = watch.network
        return original(self)

    return start


def patch_process(_: ModuleType, original: Callable[..., Any]) -> Callable[..., Any]:
    """``multiprocessing.process.BaseProcess.start``: of its ways to start a process, one alone can be heard."""

    @functools.wraps(original)
    def start(self: Any) -> Any:
        if getattr(self, "_start_method", None) != "fork":
            _process("multiprocessing")
        return original(self)

    return start


def patch_getaddrinfo(_: ModuleType, original: Callable[..., Any]) -> Callable[..., Any]:
    """``socket.getaddrinfo``: an address that a name led to counts as the name."""

    @functools.wraps(original)
    def getaddrinfo(host: Any, *args: Any, **arguments: Any) -> Any:
        found = original(host, *args, **arguments)
        for *_, address in found:
            _leads_to(host, address[0])
        return found

    return getaddrinfo


def patch_gethostbyname(_: ModuleType, original: Callable[..., Any]) -> Callable[..., Any]:
    """``socket.gethostbyname``, likewise."""

    @functools.wraps(original)
    def gethostbyname(host: Any) -> Any:
        found = original(host)
        _leads_to(host, found)
        return found

    return gethostbyname


def _leads_to(host: Any, address: Any) -> None:
    if isinstance(host, str) and isinstance(address, str) and host != address and not is_local(address):
        _looked_up.setdefault(address.partition("%")[0], {})[host] = None


def patch_loop_lookup(
    _: ModuleType, original: Callable[..., Awaitable[Any]]
) -> Callable[..., Awaitable[Any]]:
    """``asyncio``'s ``getaddrinfo``, which asks in a thread that does not know whose the question is."""

    @functools.wraps(original)
    async def getaddrinfo(self: Any, host: Any, *args: Any, **arguments: Any) -> Any:
        if not followed.get():
            _looking_up(host)
        _vouched.append(host)
        try:
            return await original(self, host, *args, **arguments)
        finally:
            _vouched.remove(host)

    return getaddrinfo


def patch_loop_connect(
    _: ModuleType, original: Callable[..., Awaitable[Any]]
) -> Callable[..., Awaitable[Any]]:
    """``sock_connect`` of asyncio's loop on Windows, which no audit event tells of."""

    @functools.wraps(original)
    async def sock_connect(self: Any, sock: Any, address: Any) -> Any:
        if not followed.get():
            _connecting(sock, address)
        return await original(self, sock, address)

    return sock_connect
