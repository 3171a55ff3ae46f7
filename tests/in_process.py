"""Runs of pytest, of ``promptfuzz`` and of small programs in this process, each as if it had one of its own.

Python and the SDKs take two seconds to start, most tests a tenth of that. What needs a process of its own (workers,
signals, terminals) is forked from a warm one (``tests/warm.py``); only what is about loading starts Python anew.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import gc
import importlib
import linecache
import logging
import os
import random
import runpy
import signal
import site
import sys
import sysconfig
import tempfile
import threading
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.capture import FDCapture, MultiCapture
from _pytest.unraisableexception import gc_collect_iterations_key

from tests.warm import load_package

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

TESTS = Path(__file__).parent
# What stays loaded from run to run; everything else that a run imports is the project's own, and goes with it.
_KEPT = tuple(
    dict.fromkeys(
        f"{Path(each).resolve()}{os.sep}"
        for each in (
            TESTS.parent / "pytest_promptfuzz",
            *sysconfig.get_paths().values(),
            *site.getsitepackages(),
        )
    )
)
_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGALRM", "SIGHUP") if hasattr(signal, name)
]
# Python's own, which pytest's stand in front of.
_FILTERS = [
    ("ignore", None, kind, None, 0)
    for kind in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
]


@dataclass(frozen=True)
class Done:
    """What a program printed, and its exit code; named as ``subprocess`` names them."""

    returncode: int
    stdout: str
    stderr: str


def run_pytest(
    *arguments: str | os.PathLike[str],
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    together: bool = False,
) -> Done:
    """``python -m pytest`` in a folder, the current one if none is named."""

    def run() -> int:
        return int(pytest.main([os.fspath(each) for each in arguments], plugins=[_Nested()]))

    return isolated(run, folder=folder, environment=environment, together=together)


def promptfuzz(
    *arguments: str,
    folder: Path | None = None,
    stdin: str | bytes = "",
    environment: Mapping[str, str] | None = None,
    together: bool = False,
) -> Done:
    """The command line ``promptfuzz`` in a folder, the current one if none is named."""

    def run() -> int:
        from pytest_promptfuzz.cli.main import main

        return main([*arguments])

    return isolated(run, folder=folder, stdin=stdin, environment=environment, together=together)


def run_python(
    *arguments: str,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    together: bool = False,
) -> Done:
    """``python FILE ARGUMENTS`` or ``python -c CODE ARGUMENTS`` in a folder."""

    def run() -> int:
        if arguments[0] == "-c":
            sys.argv = ["-c", *arguments[2:]]
            exec(arguments[1], {"__name__": "__main__"})
            return 0
        sys.argv = [*arguments]
        sys.path.insert(0, str((folder / arguments[0]).parent))
        runpy.run_path(str(folder / arguments[0]), run_name="__main__")
        return 0

    return isolated(run, folder=folder, environment=environment, together=together)


def isolated(
    run: Callable[[], int],
    *,
    folder: Path | None = None,
    stdin: str | bytes = "",
    environment: Mapping[str, str] | None = None,
    together: bool = False,
) -> Done:
    """Call a function as if it were a process of its own, in a folder.

    Args:
        run: What to call; it returns an exit code, or raises as a program may.
        folder: Where, the current one if none is named; modules are found there first.
        stdin: What it reads.
        environment: All environment variables that it sees; ``None`` leaves them.
        together: Whether standard output and error are one, as in a terminal.
    """
    load_package()  # once: a run here writes no bytecode, and would translate our modules anew
    given = stdin.encode() if isinstance(stdin, str) else stdin
    with _restored(), _standard_streams(given, together=together) as read:
        if environment is not None:
            os.environ.clear()
            os.environ.update(environment)
        if encoding := os.environ.get("PYTHONIOENCODING"):
            for stream in {sys.stdin, sys.stdout, sys.stderr}:
                stream.reconfigure(encoding=encoding)
        os.chdir(folder or Path.cwd())
        sys.path[:0] = [str(Path.cwd()), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        importlib.invalidate_caches()
        try:
            code = contextvars.copy_context().run(run)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1 if end.code else 0
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
        except KeyboardInterrupt:
            traceback.print_exc()
            code = 130
        except BaseException:
            traceback.print_exc()
            code = 1
        out, err = read()
    return Done(code, out, err)


class _Nested:
    """What pytest within pytest does otherwise than alone."""

    def pytest_configure(self, config: pytest.Config) -> None:
        # Looks through all objects of the process, ours among them; what the run leaves is collected after it.
        config.stash[gc_collect_iterations_key] = 0


@contextlib.contextmanager
def _standard_streams(stdin: bytes, *, together: bool) -> Iterator[Callable[[], tuple[str, str]]]:
    """What is written meanwhile, by children too; ``stdin`` is what can be read."""
    before, kept = sys.stdin, os.dup(0)
    with tempfile.TemporaryFile() as file:
        file.write(stdin)
        file.seek(0)
        os.dup2(file.fileno(), 0)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - closed below
    capture = MultiCapture(in_=None, out=FDCapture(1), err=None if together else FDCapture(2))
    capture.start_capturing()
    error, stderr = sys.stderr, os.dup(2)
    if together:
        os.dup2(1, 2)
        sys.stderr = sys.stdout
    try:

        def read() -> tuple[str, str]:
            sys.stdout.flush()
            sys.stderr.flush()
            out, err = capture.readouterr()
            return out, err or ""

        yield read
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        sys.stderr = error
        capture.stop_capturing()
        sys.stdin.close()
        os.dup2(kept, 0)
        os.close(kept)
        sys.stdin = before


@contextlib.contextmanager
def _restored() -> Iterator[None]:
    """Put everything back that a program may change in its process."""
    root, main = logging.getLogger(), threading.current_thread() is threading.main_thread()
    cwd, environment, argv = Path.cwd(), dict(os.environ), sys.argv
    path, hooks, writes = [*sys.path], [*sys.meta_path], sys.dont_write_bytecode
    handlers, level, disabled = [*root.handlers], root.level, root.manager.disable
    caught = {each: signal.getsignal(each) for each in _SIGNALS} if main else {}
    thread = threading.Thread  # which some projects replace, to see that none is started
    excepthooks = sys.excepthook, threading.excepthook, sys.unraisablehook
    state, umask, limit = random.getstate(), os.umask(0o022), sys.getrecursionlimit()
    os.umask(umask)
    sys.argv = ["pytest"]
    with warnings.catch_warnings(), _loop_policy(), _loaded_modules():
        # A process of its own sees no filters of the test that runs it; files change within their second.
        warnings.filters[:] = _FILTERS
        warnings.showwarning = _write_warning
        sys.dont_write_bytecode = True
        sys.path[:] = [each for each in path if not each.startswith(str(TESTS))]
        gc.freeze()
        try:
            yield
        finally:
            sys.argv, sys.path[:], sys.meta_path[:] = argv, path, hooks
            sys.dont_write_bytecode = writes
            os.chdir(cwd)
            os.environ.clear()
            os.environ.update(environment)
            os.umask(umask)
            sys.setrecursionlimit(limit)
            root.handlers[:] = handlers
            root.setLevel(level)
            logging.disable(disabled)
            for each, handler in caught.items():
                signal.signal(each, handler)
            random.setstate(state)
            threading.Thread = thread  # type: ignore[misc]
            sys.excepthook, threading.excepthook, sys.unraisablehook = excepthooks
    # What a process leaves open is closed when it ends, and nobody is warned.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()
    gc.unfreeze()


def _write_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    line: int,
    file: Any = None,
    text: Any = None,
) -> None:
    (file or sys.stderr).write(warnings.formatwarning(message, category, filename, line, text))


@contextlib.contextmanager
def _loop_policy() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        policy = asyncio.get_event_loop_policy()
    try:
        yield
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            asyncio.set_event_loop_policy(policy)


@contextlib.contextmanager
def _loaded_modules() -> Iterator[None]:
    """Hide the modules of these tests meanwhile; drop those of the project afterwards."""
    from pytest_promptfuzz.mutations.engine import registry

    before, added = dict(sys.modules), dict(registry._added)
    own = {name for name, module in before.items() if any(map(_is_ours, _places(module)))}
    for name in own:
        del sys.modules[name]
    try:
        yield
    finally:
        changed = {
            name.partition(".")[0] for name, module in before.items() if sys.modules.get(name) is not module
        }
        for name in {*sys.modules} - {*before}:
            top = name.partition(".")[0]
            if top in changed or not _is_kept(sys.modules.get(top)):
                del sys.modules[name]
        sys.modules.update(before)
        registry._added.clear()
        registry._added.update(added)
        registry.installed.cache_clear()
        linecache.clearcache()
        sys.path_importer_cache.clear()
        importlib.invalidate_caches()


def _is_ours(place: str) -> bool:
    return f"{place}{os.sep}".startswith(f"{TESTS}{os.sep}")


def _is_kept(module: Any) -> bool:
    """Whether a module is Python's, ours, or an installed package's."""
    spec = getattr(module, "__spec__", None)
    if spec is not None and spec.origin in {"built-in", "frozen"}:
        return True
    places = _places(module)
    return bool(places) and all(f"{Path(each).resolve()}".startswith(_KEPT) for each in places)


def _places(module: Any) -> list[str]:
    """The file of a module, or the folders of a namespace."""
    file = getattr(module, "__file__", None)
    return [str(file)] if file else [str(each) for each in getattr(module, "__path__", ())]
