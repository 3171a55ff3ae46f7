"""Processes that start in milliseconds: they are forked from one that has loaded pytest, the SDKs and our own code.

``Popen`` and ``run`` are those of ``subprocess`` for ``[sys.executable, …]``: a process of its own, with its own pid,
signals, memory, end and workers, which has not to load a second of modules anew. What is about loading, about options
of the interpreter or about the seed of hashes calls ``subprocess`` itself; so does this where it cannot fork.

Run as a program, this file is the process that the others are forked from. It has one thread, serves one socket in a
folder of its own, and ends with the process that started it.
"""

from __future__ import annotations

import array
import atexit
import contextlib
import functools
import gc
import importlib
import inspect
import io
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import types
import warnings
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT, TimeoutExpired
from typing import Any

__all__ = ["DEVNULL", "PIPE", "STDOUT", "Popen", "TimeoutExpired", "run"]

LOADED = ("anthropic", "hypothesis", "openai", "xdist.remote", "xdist.workermanage")
OWN = "pytest_promptfuzz"
_OPTIONS, _PROGRAMS = {"-u", "-B"}, {"-m", "-c"}
_GIVEN = [*inspect.signature(subprocess.Popen._execute_child).parameters][1:]  # type: ignore[attr-defined]
_FORKS = hasattr(os, "pidfd_open") and hasattr(socket, "SCM_RIGHTS")
_STDERR = 2
_Cold = subprocess.Popen
_MOST = 1 << 20  # bytes of arguments and environment


class Popen(subprocess.Popen[Any]):
    """``subprocess.Popen`` whose process is forked from the warm one; with ``children``, so are those that it starts."""

    address = ""
    """Where the process listens that this one was forked from; empty in any other."""
    _line: socket.socket | None = None

    def __init__(self, *given: Any, children: bool = False, **named: Any) -> None:
        self._children = children
        super().__init__(*given, **named)

    def _execute_child(self, *given: Any) -> None:
        names = dict(zip(_GIVEN, given, strict=True))
        arguments = [os.fspath(each) for each in names["args"]]
        if arguments[1:2] == ["-mpytest"]:
            arguments[1:2] = ["-m", "pytest"]
        first = next((each for each in arguments[1:] if each not in _OPTIONS), "")
        cold = not _FORKS or arguments[0] != sys.executable or names["preexec_fn"] is not None
        if cold or (first.startswith("-") and first not in _PROGRAMS):
            super()._execute_child(*given)  # type: ignore[misc]
            return
        ours = [names["p2cread"], names["c2pwrite"], names["errwrite"]]
        asked = {
            "arguments": arguments[1:],
            "folder": str(Path(names["cwd"] or ".").absolute()),
            "environment": dict(os.environ if names["env"] is None else names["env"]),
            "session": bool(names["start_new_session"]),
            "children": self._children,
        }
        self._line = socket.socket(socket.AF_UNIX)
        self._line.connect(self.address or _started())
        handles = array.array("i", [each if each >= 0 else n for n, each in enumerate(ours)])
        told = json.dumps(asked).encode()
        assert len(told) < _MOST
        self._line.sendmsg([len(told).to_bytes(4, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, handles)])
        self._line.sendall(told)
        self.pid = int.from_bytes(_received(self._line, 4), "big")
        self._child_created = True
        ends = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
        self._close_pipe_fds(*(names[each] for each in ends))  # type: ignore[attr-defined]

    def _internal_poll(self, *given: Any, **named: Any) -> int | None:
        if self._line is None:
            return super()._internal_poll(*given, **named)  # type: ignore[misc,no-any-return]
        if self.returncode is None and self._waitpid_lock.acquire(False):  # type: ignore[attr-defined]
            try:
                if self._try_wait(os.WNOHANG)[0]:
                    self._handle_exitstatus(self._status)  # type: ignore[attr-defined]
            finally:
                self._waitpid_lock.release()  # type: ignore[attr-defined]
        return self.returncode

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        if self._line is None:
            return super()._try_wait(wait_flags)  # type: ignore[misc,no-any-return]
        if wait_flags & os.WNOHANG and not _is_ready(self._line):
            return 0, 0
        self._status = int.from_bytes(_received(self._line, 4), "big")
        self._line.close()
        return self.pid, self._status


def run(
    arguments: list[str],
    *,
    input: Any = None,  # noqa: A002 - its name there
    check: bool = False,
    timeout: float | None = None,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """``subprocess.run`` with a process that is forked from the warm one."""
    if options.pop("capture_output", False):
        options |= {"stdout": PIPE, "stderr": PIPE}
    if input is not None:
        options["stdin"] = PIPE
    with Popen(arguments, **options) as process:
        try:
            out, err = process.communicate(input, timeout=timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(arguments, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


def launcher() -> list[str]:
    """The command in the place of ``sys.executable`` for what starts Python by itself, as a shell does."""
    return [sys.executable, "-I", "-S", __file__, "launch", Popen.address or _started()]


def _launch(place: str, arguments: list[str]) -> int:
    Popen.address = place
    with Popen([sys.executable, *arguments]) as process:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda each, _: process.send_signal(each))
        code = process.wait()
    return 128 - code if code < 0 else code


@functools.cache
def _started() -> str:
    """Start the process that others are forked from, which ends with this one."""
    folder = tempfile.TemporaryDirectory()
    place = str(Path(folder.name) / "socket")
    ours, theirs = socket.socketpair()
    command = [sys.executable, __file__, place, str(theirs.fileno())]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "PROMPTFUZZ_"))
    }
    process = _Cold(command, pass_fds=[theirs.fileno()], stdin=DEVNULL, env=environment)
    theirs.close()

    def end() -> None:
        ours.close()
        process.wait()
        folder.cleanup()

    atexit.register(end)
    assert _received(ours, 1) == b"+"
    return place


def _is_ready(line: socket.socket) -> bool:
    waiting = select.poll()
    waiting.register(line, select.POLLIN)
    return bool(waiting.poll(0))


def _received(line: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        more = line.recv(size - len(found))
        if not more:
            raise EOFError("the process that others are forked from has ended")
        found += more
    return found


def _serve(place: str, owner: socket.socket) -> dict[str, Any]:
    """Fork a process for each that is asked for; returns in these, with what was asked."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(place)
    listening.listen(64)
    owner.sendall(b"+")
    children: dict[int, tuple[int, socket.socket]] = {}
    while True:
        ready, _, _ = select.select([listening, owner, *children], [], [])
        for handle in ready:
            if handle is owner:
                os._exit(0)
            if handle is not listening:
                pid, line = children.pop(handle)
                _, status = os.waitpid(pid, 0)
                os.close(handle)
                with contextlib.suppress(OSError), line:
                    line.sendall(status.to_bytes(4, "big"))
                continue
            line, _ = listening.accept()
            handles = array.array("i")
            start, extra, _, _ = line.recvmsg(4, socket.CMSG_SPACE(3 * handles.itemsize))
            handles.frombytes(extra[0][2])
            asked: dict[str, Any] = json.loads(_received(line, int.from_bytes(start, "big")))
            pid = os.fork()
            if not pid:
                for each in (listening, owner, line, *(other for _, other in children.values())):
                    each.close()
                for each in children:
                    os.close(each)
                for standard, each in enumerate(handles):
                    os.dup2(each, standard)
                for each in handles:
                    os.close(each)
                return asked
            for each in handles:
                os.close(each)
            children[os.pidfd_open(pid)] = (pid, line)
            line.sendall(pid.to_bytes(4, "big"))


def _become(asked: dict[str, Any]) -> tuple[str, str]:
    """Be what ``python`` with these arguments is in its first moment; what it is to run, and with which arguments."""
    arguments, flags = asked["arguments"], set()
    while arguments[0] in _OPTIONS:
        flags.add(arguments.pop(0))
    sys.dont_write_bytecode = "-B" in flags
    option, program, *rest = arguments if arguments[0] in _PROGRAMS else ["", *arguments]
    if asked["session"]:
        os.setsid()
    if asked["children"]:
        subprocess.Popen = Popen  # type: ignore[misc]
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    encoding = os.environ.get("PYTHONIOENCODING") or sys.stdout.encoding
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = io.TextIOWrapper(
            open(number, "wb" if number else "rb", closefd=False),  # noqa: SIM115 - open as long as the process
            encoding=encoding,
            errors="backslashreplace" if number == _STDERR else "strict",
            line_buffering=number == _STDERR or os.isatty(number),
            write_through="-u" in flags,
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.argv = [option or program, *rest]
    start = {"-c": "", "-m": asked["folder"]}
    sys.path[:0] = [start[option] if option else str(Path(program).resolve().parent)]
    sys.path[1:1] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    sys.path_importer_cache.clear()
    importlib.invalidate_caches()
    return option, program


def _start_worker(self: Any, arguments: list[str], execmodel: Any) -> None:
    """As ``execnet`` has it, with a process that is forked."""
    self.popen = Popen(arguments, stdin=PIPE, stdout=PIPE)
    super(type(self), self).__init__(self.popen.stdin, self.popen.stdout, execmodel=execmodel)


@functools.cache
def load_package() -> None:
    """Load all of our own modules, but for what is run as a program or loaded by ``-p``."""
    package = importlib.import_module(OWN)
    for each in pkgutil.walk_packages(package.__path__, f"{OWN}."):
        if not each.name.endswith((".__main__", ".plugin.collection")):
            importlib.import_module(each.name)


def _is_own(finder: Any) -> bool:
    named = finder if isinstance(finder, type) else type(finder)
    return named.__module__.startswith(f"{OWN}.")


def _load() -> None:
    from _pytest.config import get_config

    hooks = [*sys.meta_path]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        config = get_config([])  # which loads plugins as pytest does, with its assertions
        config.parse(["-c", os.devnull, "--rootdir", str(Path(sys.argv[1]).parent)])
        for name in LOADED:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        load_package()
        config._ensure_unconfigure()
    with contextlib.suppress(ImportError):
        from execnet import gateway_io

        gateway_io.Popen2IOMaster.__init__ = _start_worker  # type: ignore[method-assign]
    # Without what pytest put there. Our own finders stay: modules that are loaded do not put them there again.
    sys.meta_path[:] = [each for each in sys.meta_path if each in hooks or _is_own(each)]
    gc.collect()
    gc.freeze()


def _main() -> None:
    if sys.argv[1] == "launch":
        sys.exit(_launch(sys.argv[2], sys.argv[3:]))
    place, owner = sys.argv[1], socket.socket(fileno=int(sys.argv[2]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.path.pop(0)
    _load()
    asked = _serve(place, owner)
    Popen.address = place
    option, program = _become(asked)
    warm, main = sys.modules["__main__"], types.ModuleType("__main__")
    sys.modules["__main__"] = main
    main.__dict__["__warm__"] = warm  # which is to outlive it
    if option == "-c":
        exec(program, main.__dict__)
    elif not option:
        runpy.run_path(program, run_name="__main__")
    else:
        runpy._run_module_as_main(program)  # type: ignore[attr-defined]


if __name__ == "__main__":
    _main()
