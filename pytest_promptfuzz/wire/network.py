"""`Network`: what a test may reach besides models (``promptfuzz_allow_hosts``), and what it reached unfollowed."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import sys
import threading
import weakref
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pytest_promptfuzz.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import FrameType


Kind = Literal["connection", "request", "earlier connection", "process", "earlier program", "library"]

# Libraries whose connections no audit event and no patch of ours shows.
OWN_SOCKETS = (
    *("grpc", "pycurl", "curl_cffi", "primp", "rnet", "wreq", "impit", "pyreqwest", "httpr", "hrequests"),
    *("tls_client", "noble_tls", "awscrt", "uvloop", "rloop", "zmq"),
)
# Libraries that run a model in this process.
OWN_MODELS = ("llama_cpp", "vllm", "gpt4all", "ctransformers", "mlx_lm", "onnxruntime_genai")

SETTING = "promptfuzz_allow_hosts"
MEND = (
    "Ask models through their SDK or promptfuzz_proxy; where no model is asked, name the host in "
    f"{SETTING} (docs/unchanged-applications.md)"
)

_LOCAL = frozenset({"localhost", "::1", "0.0.0.0", "::"})  # noqa: S104 - names to compare with, nothing is bound
_MOST_PORT = 65_535


def is_local(host: str) -> bool:
    """Whether a host name or address is this machine's own.

    >>> is_local("127.0.0.1"), is_local("api.localhost."), is_local("127.0.0.1.example.com")
    (True, True, False)
    """
    name = bare(host).removeprefix("::ffff:")
    digits = name.split(".")
    loopback = len(digits) == 4 and digits[0] == "127" and all(each.isdigit() for each in digits)
    return name in _LOCAL or name.endswith(".localhost") or loopback


def bare(host: str) -> str:
    """A host as it is compared: in lower case, an IPv6 address in its shortest form.

    >>> bare("DB.internal."), bare("[2001:DB8:0:0::1%eth0]")
    ('db.internal', '2001:db8::1')
    """
    name = host.lower().strip("[]").removesuffix(".").partition("%")[0]
    if ":" in name:
        try:
            return socket.inet_ntop(socket.AF_INET6, socket.inet_pton(socket.AF_INET6, name))
        except OSError:  # a pattern
            return name
    return name


def host_port(host: str, port: int | None) -> str:
    """A host and its port as they are written.

    >>> host_port("db.internal", 5432), host_port("::1", 80), host_port("db.internal", None)
    ('db.internal:5432', '[::1]:80', 'db.internal')
    """
    return host if not port else f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def loaded(names: Iterable[str]) -> list[str]:
    """Which of these libraries the process has loaded."""
    return [name for name in names if name in sys.modules]


class AllowedHosts(NamedTuple):
    """The hosts of ``promptfuzz_allow_hosts``: globs in lower case, each with its port or ``None`` for all."""

    globs: tuple[tuple[str, int | None], ...] = ()

    @classmethod
    def parse(cls, text: str) -> AllowedHosts:
        """Read hosts that are parted by commas or white space.

        >>> AllowedHosts.parse("db.internal:5432, *.corp").globs
        (('db.internal', 5432), ('*.corp', None))

        Raises:
            UsageError: One is neither ``host`` nor ``host:port``.
        """
        return cls(tuple(_host(each) for each in re.split(r"[\s,]+", text) if each))

    def has(self, names: Iterable[str], port: int | None) -> bool:
        """Whether one of the names of a host is allowed at a port; ``None`` for any."""
        return any(
            fnmatchcase(name, glob) and (port is None or wanted in {None, port})
            for name in map(bare, names)
            for glob, wanted in self.globs
        )


def _host(written: str) -> tuple[str, int | None]:
    name, port = written.lower(), ""
    if name.count(":") == 1 or name.startswith("["):
        name, _, port = name.rpartition(":") if not name.endswith("]") else (name, "", "")
    name = bare(name)
    wrong = not name or "/" in name or (port and not (port.isascii() and port.isdigit()))
    if wrong or written.endswith(":") or (port and not 0 < int(port) <= _MOST_PORT):
        raise UsageError(f"{written!r} is no host: write db.internal, db.internal:5432 or *.internal.")
    return name, int(port) if port else None


class Unseen(NamedTuple):
    """A request or a process that a run began, and of which nothing more is known.

    Attributes:
        by: The library, or ``subprocess``.
        what: ``POST host/path``, ``WebSocket host/path``, or the program's name.
        asks_model: Whether its address is that of a model.
        to: ``host:port``; empty of a process.
        endpoint: The line of ``promptfuzz_endpoints`` that would make it followed; empty where none would.
    """

    by: str
    what: str
    asks_model: bool
    to: str = ""
    endpoint: str = ""

    @property
    def is_websocket(self) -> bool:
        """Whether it is a connection and no request."""
        return self.what.startswith("WebSocket ")

    def __str__(self) -> str:
        return f"{self.by} ({self.what})"


@dataclass(frozen=True, slots=True)
class Unfollowed:
    """Something that a test began and that was not followed, added up for its report.

    Attributes:
        kind: ``connection``, ``request`` (over a connection that was open before, or is not counted), ``process``,
            either begun before the test (``earlier …``), or ``library``: one that is loaded, and does what cannot be
            seen.
        to: ``host:port`` or the path of a socket; the program's or the library's name.
        count: How many there were.
        at: Where the code stands that began it, ``app.py:12``; empty where that is not known.
        by: The library that it used; empty for none.
    """

    kind: Kind
    to: str
    count: int
    at: str = ""
    by: str = ""


class Network:
    """The network of one test. Safe to use from several threads.

    Args:
        allowed: What may be reached beside this machine.
        confined: Who may reach nothing else, as messages name it; empty where all may be reached.
        astray: Takes what belongs to no one test, or to one that is over.
        earlier: Tells what was begun before the test, by a module or a fixture, and may be used by it.

    Attributes:
        begun: Requests and processes that cannot be followed, in order.
        barred: Why the test cannot be recorded: a replay would refuse what it did. Empty where it can.
        over: Whether the test's report is made.
    """

    def __init__(
        self,
        allowed: AllowedHosts | None = None,
        *,
        confined: str = "",
        astray: list[Unfollowed] | None = None,
        earlier: Callable[[], Iterable[Unfollowed]] = tuple,
    ) -> None:
        self.allowed = allowed if allowed is not None else AllowedHosts()
        self.confined = confined
        self.astray = astray if astray is not None else []
        self.earlier = earlier
        self.begun: list[Unseen] = []
        self.barred = ""
        self.over = False
        self._reached: dict[tuple[Kind, str], Unfollowed] = {}
        self._astray_before = len(self.astray)
        self._lock = threading.RLock()

    def permits(self, names: Iterable[str], port: int | None) -> bool:
        """Whether a confined test may reach a host of these names and addresses at a port; ``None`` for any."""
        known = list(names)
        own = {_own_name(), *_named_here()}
        return any(is_local(each) or bare(each) in own for each in known) or self.allowed.has(known, port)

    def begin(self, unseen: Unseen, permitted: bool) -> None:
        """Note a request or a process, each time that it is begun."""
        with self._lock:
            if self.over:
                self.astray.append(
                    Unfollowed("request" if unseen.to else "process", unseen.to or unseen.what, 1)
                )
                return
            self.begun.append(unseen)
            if not permitted or unseen.asks_model:
                self.bar(f"{unseen} is not followed")

    def reach(
        self, to: str, at: str, by: str, *, permitted: bool, kind: Kind = "connection", once: bool = False
    ) -> None:
        """Note a connection, or a request of a library whose connections are followed.

        Args:
            to: Its other end.
            at: The calling code.
            by: The library.
            permitted: Whether a replay lets it through.
            kind: ``connection`` or ``request``.
            once: Do not count another of the same kind, a datagram.
        """
        with self._lock:
            if self.over:
                self.astray.append(Unfollowed(kind, to, 1, at, by))
                return
            before = self._reached.get((kind, to))
            count = 1 if before is None else before.count if once else before.count + 1
            first = before or Unfollowed(kind, to, 1, at, by)
            self._reached[kind, to] = replace(first, count=count)
            if not permitted:
                self.bar(f"a {kind} to {to}{place(at, by)} is not followed")

    def bar(self, what: str) -> None:
        """Let the test not be recorded."""
        with self._lock:
            self.barred = self.barred or what

    def nobodys(self) -> Network:
        """The network of what belongs to no one test of the session."""
        nobodys = Network(self.allowed, astray=self.astray)
        nobodys.over = True
        return nobodys

    def unfollowed(self, *, simulated: bool = False) -> tuple[Unfollowed, ...]:
        """What was not followed, added up: connections, requests beside them, processes.

        What belonged to no one test while this test ran may be this test's, and is counted with it.

        Args:
            simulated: Whether the answers are simulated; then what may have asked a model unseen is named as well:
                libraries, and what was begun before the test.
        """
        with self._lock:
            found = dict(self._reached)
            begun = [
                Unfollowed("request" if each.to else "process", each.to or each.what, 1, by=each.by)
                for each in self.begun
                if ("connection", each.to) not in found
            ]
            for each in (*begun, *self.astray[self._astray_before :]):
                before = found.get((each.kind, each.to))
                found[each.kind, each.to] = (
                    each if before is None else replace(before, count=before.count + each.count)
                )
        if not simulated:
            return (*found.values(),)
        hidden = [Unfollowed("library", each, 1) for each in loaded((*OWN_SOCKETS, *OWN_MODELS))]
        return (*found.values(), *self.earlier(), *hidden)


def place(at: str, by: str) -> str:
    """Where a connection was made, in brackets; empty where nothing is known of it."""
    said = ", ".join(filter(None, [at, f"by {by}" if by else ""]))
    return f" ({said})" if said else ""


@cache
def _own_name() -> str:
    return bare(socket.gethostname())


@cache
def _named_here() -> frozenset[str]:
    """The names that this machine's file of hosts gives to itself."""
    windows = Path(os.environ.get("SYSTEMROOT", "C:/Windows"), "System32/drivers/etc/hosts")
    try:
        text = (windows if os.name == "nt" else Path("/etc/hosts")).read_text(
            encoding="utf-8", errors="replace"
        )
    except OSError:
        return frozenset()
    lines = [line.partition("#")[0].split() for line in text.splitlines()]
    here = {bare(name) for number, *names in filter(None, lines) if is_local(number) for name in names}
    elsewhere = {
        bare(name) for number, *names in filter(None, lines) if not is_local(number) for name in names
    }
    return frozenset(here - elsewhere)


# The audit hook of the process, and what it hears while no robust test runs.
#
# A test may use a connection or a program that a module, a conftest.py or a fixture began before it. So the plugin
# listens from the moment at which it is loaded; this module is loaded with it, and imports nothing of ours.


_HOOK = "_promptfuzz_audit"
_WIRE = __name__.rpartition(".")[0]  # whose functions stand between what happens and the hook
_CONNECTS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_STARTS = frozenset({"subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty"})


class Frame(NamedTuple):
    """A function that runs: its module, file, line and name."""

    module: str
    file: str
    line: int
    name: str


class Begun(NamedTuple):
    """A connection or a program.

    Attributes:
        event: The audit event that told of it.
        arguments: The event's, without the socket.
        family: Of the socket.
        stack: Who began it, the innermost first.
        still: Whether it may still be used.
    """

    event: str
    arguments: tuple[Any, ...]
    family: int
    stack: tuple[Frame, ...]
    still: Callable[[], bool]


class Beforehand:
    """What was begun while no robust test ran, in one run of pytest."""

    def __init__(self) -> None:
        self._begun: list[Begun] = []
        self._before = 0

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Keep what an audit event tells of."""
        frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 - the only way to know who connects
        while frame is not None and str(frame.f_globals.get("__name__")).startswith(_WIRE):
            frame = frame.f_back
        if event in _CONNECTS:
            own, *rest = arguments
            self._begun.append(Begun(event, tuple(rest), own.family, tuple(audit_frames(frame)), _open(own)))
        elif event in _STARTS:
            self._begun.append(Begun(event, arguments, 0, tuple(audit_frames(frame)), _runs(frame)))

    def reach(self) -> None:
        """A test begins, with its fixtures; forget what no test can use any more."""
        self._begun = [each for each in self._begun if each.still()]
        self._before = len(self._begun)

    def known(self) -> list[Begun]:
        """What the test may use, and what its fixtures began."""
        return [each for n, each in enumerate(self._begun) if n >= self._before or each.still()]


_running: list[Beforehand] = []  # runs of pytest, one within another


def begin_audit() -> None:
    """Listen; a run of pytest begins."""
    _running.append(Beforehand())
    audit_hook()


def end_audit(run: Beforehand) -> None:
    """Listen no longer for a run."""
    if run in _running:
        del _running[_running.index(run) :]


def innermost() -> Beforehand:
    """What the run of pytest that goes on heard."""
    return _running[-1] if _running else Beforehand()


def overhear(event: str, arguments: tuple[Any, ...]) -> None:
    """Something happens that belongs to no robust test."""
    if _running and (event in _CONNECTS or event in _STARTS):
        _running[-1].hear(event, arguments)


def audit_hook() -> dict[str, Any]:
    """What the process's hook looks at. It is kept by Python itself, for this module may be loaded anew."""
    found: dict[str, Any] | None = getattr(sys, _HOOK, None)
    if found is None:
        looked_at = found = {"notice": None}

        def listen(event: str, arguments: tuple[Any, ...]) -> None:
            notice = looked_at["notice"]
            if notice is not None:
                notice(event, arguments)

        setattr(sys, _HOOK, found)
        sys.addaudithook(listen)
    if found["notice"] is None:
        found["notice"] = overhear
    return found


def audit_frames(frame: FrameType | None) -> Iterator[Frame]:
    """The functions that run, from a frame outwards."""
    while frame is not None:
        yield Frame(
            str(frame.f_globals.get("__name__")),
            frame.f_code.co_filename,
            frame.f_lineno,
            frame.f_code.co_name,
        )
        frame = frame.f_back


def _open(own: Any) -> Callable[[], bool]:
    try:
        known = weakref.ref(own)
    except TypeError:  # a socket that is none of Python's own class
        return lambda: True

    def still() -> bool:
        found = known()
        return found is not None and found.fileno() >= 0

    return still


def _runs(frame: FrameType | None) -> Callable[[], bool]:
    """Whether the program runs that ``subprocess.Popen`` starts here; what is started otherwise may."""
    while frame is not None and frame.f_globals.get("__name__") != "subprocess":
        frame = frame.f_back
    with contextlib.suppress(KeyError, TypeError):
        known = weakref.ref(frame.f_locals["self"] if frame is not None else None)
        return lambda: (found := known()) is not None and found.returncode is None
    return lambda: False
