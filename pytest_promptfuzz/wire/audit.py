"""The audit hook of the process, and what it hears while no robust test runs.

A test may use a connection or a program that a module, a conftest.py or a fixture began before it. So the plugin
listens from the moment at which it is loaded; this module is loaded with it, and imports nothing of ours.
"""

from __future__ import annotations

import contextlib
import sys
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

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
            self._begun.append(Begun(event, tuple(rest), own.family, tuple(frames(frame)), _open(own)))
        elif event in _STARTS:
            self._begun.append(Begun(event, arguments, 0, tuple(frames(frame)), _runs(frame)))

    def reach(self) -> None:
        """A test begins, with its fixtures; forget what no test can use any more."""
        self._begun = [each for each in self._begun if each.still()]
        self._before = len(self._begun)

    def known(self) -> list[Begun]:
        """What the test may use, and what its fixtures began."""
        return [each for n, each in enumerate(self._begun) if n >= self._before or each.still()]


_running: list[Beforehand] = []  # runs of pytest, one within another


def begin() -> None:
    """Listen; a run of pytest begins."""
    _running.append(Beforehand())
    hook()


def end(run: Beforehand) -> None:
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


def hook() -> dict[str, Any]:
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


def frames(frame: FrameType | None) -> Iterator[Frame]:
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
