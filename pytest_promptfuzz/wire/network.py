"""What a test may reach on the network beside its model calls, and what it reached that nobody follows."""

from __future__ import annotations

import re
import sys
import threading
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING, Literal

from pytest_promptfuzz.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

Kind = Literal["connection", "request", "process", "library"]

# Libraries whose connections no audit event and no patch of ours shows.
OWN_SOCKETS = ("grpc", "pycurl", "curl_cffi", "primp", "rnet", "httpr", "tls_client", "awscrt", "uvloop")
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

    >>> is_local("127.0.0.1"), is_local("api.localhost"), is_local("127.0.0.1.example.com")
    (True, True, False)
    """
    name = host.strip("[]").lower().removeprefix("::ffff:")
    digits = name.split(".")
    loopback = len(digits) == 4 and digits[0] == "127" and all(each.isdigit() for each in digits)
    return name in _LOCAL or name.endswith(".localhost") or loopback


def loaded(names: Iterable[str]) -> list[str]:
    """Which of these libraries the process has loaded."""
    return [name for name in names if name in sys.modules]


@dataclass(frozen=True, slots=True)
class AllowedHosts:
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
            fnmatchcase(name.lower(), glob) and (port is None or wanted in {None, port})
            for name in names
            for glob, wanted in self.globs
        )


def _host(written: str) -> tuple[str, int | None]:
    name, port = written.lower(), ""
    if name.count(":") == 1 or name.startswith("["):
        name, _, port = name.rpartition(":") if not name.endswith("]") else (name, "", "")
    name = name.strip("[]")
    wrong = not name or "/" in name or (port and not (port.isascii() and port.isdigit()))
    if wrong or written.endswith(":") or (port and not 0 < int(port) <= _MOST_PORT):
        raise UsageError(f"{written!r} is no host: write db.internal, db.internal:5432 or *.internal.")
    return name, int(port) if port else None


@dataclass(frozen=True, slots=True)
class Unseen:
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
        kind: ``connection``, ``request`` (over a connection that was open before), ``process``, or ``library``: one
            that is loaded, and does what cannot be seen.
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
    ) -> None:
        self.allowed = allowed if allowed is not None else AllowedHosts()
        self.confined = confined
        self.astray = astray if astray is not None else []
        self.begun: list[Unseen] = []
        self.barred = ""
        self.over = False
        self._connections: dict[str, Unfollowed] = {}
        self._astray_before = len(self.astray)
        self._lock = threading.RLock()

    def permits(self, names: Iterable[str], port: int | None) -> bool:
        """Whether a confined test may reach a host of these names and addresses at a port; ``None`` for any."""
        known = list(names)
        return any(is_local(each) or each == _own_name() for each in known) or self.allowed.has(known, port)

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

    def connect(self, to: str, at: str, by: str, *, permitted: bool, once: bool = False) -> None:
        """Note a connection.

        Args:
            to: Its other end.
            at: The calling code.
            by: The library.
            permitted: Whether a replay lets it through.
            once: Do not count another of the same kind, a datagram.
        """
        with self._lock:
            if self.over:
                self.astray.append(Unfollowed("connection", to, 1, at, by))
                return
            before = self._connections.get(to)
            count = 1 if before is None else before.count if once else before.count + 1
            first = before or Unfollowed("connection", to, 1, at, by)
            self._connections[to] = Unfollowed("connection", to, count, first.at, first.by)
            if not permitted:
                self.bar(f"a connection to {to}{place(at, by)} is not followed")

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
            simulated: Whether the answers are simulated; then the libraries that cannot be seen are named as well.
        """
        with self._lock:
            found = dict(self._connections)
            for each in self.begun:
                kind: Kind = "request" if each.to else "process"
                name = each.to or each.what
                if kind == "request" and name in self._connections:
                    continue
                before = found.get(f"{kind} {name}")
                count = 1 if before is None else before.count + 1
                found[f"{kind} {name}"] = Unfollowed(kind, name, count, by=each.by)
            for stray in self.astray[self._astray_before :]:
                key = stray.to if stray.kind == "connection" else f"{stray.kind} {stray.to}"
                found[key] = replace(stray, count=stray.count + (found[key].count if key in found else 0))
        hidden = [Unfollowed("library", each, 1) for each in loaded((*OWN_SOCKETS, *OWN_MODELS))]
        return (*found.values(), *(hidden if simulated else ()))


def place(at: str, by: str) -> str:
    """Where a connection was made, in brackets; empty where nothing is known of it."""
    said = ", ".join(filter(None, [at, f"by {by}" if by else ""]))
    return f" ({said})" if said else ""


@cache
def _own_name() -> str:
    import socket

    return socket.gethostname()
