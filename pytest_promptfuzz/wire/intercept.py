"""Patching and unpatching the HTTP transports under the SDKs."""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import sys
import threading
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_promptfuzz.wire.network_guard import (
    guarding,
    patch_aiohttp,
    patch_by_address,
    patch_getaddrinfo,
    patch_gethostbyname,
    patch_loop_connect,
    patch_loop_lookup,
    patch_process,
    patch_putrequest,
    patch_thread,
    patch_tunnel,
    patch_websocket,
)
from pytest_promptfuzz.wire.transports import patch_async, patch_sync

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import ModuleType

_Methods: TypeAlias = tuple[tuple[str, str, "Callable[..., Any]"], ...]
_TRANSPORTS: _Methods = (
    ("HTTPTransport", "handle_request", patch_sync),
    ("AsyncHTTPTransport", "handle_async_request", patch_async),
)
# Class (none: a function of the module), method and patch by module: transports that are followed, and what is noticed.
_METHODS: dict[str, _Methods] = {
    "httpx2": _TRANSPORTS,
    "httpx": _TRANSPORTS,
    "http.client": (
        ("HTTPConnection", "putrequest", patch_putrequest),
        ("HTTPConnection", "set_tunnel", patch_tunnel),
    ),
    "aiohttp.client": (("ClientSession", "_request", patch_aiohttp),),
    "websockets.client": (("ClientProtocol", "__init__", patch_websocket),),
    "threading": (("Thread", "start", patch_thread),),
    "multiprocessing.process": (("BaseProcess", "start", patch_process),),
    "socket": (
        ("", "getaddrinfo", patch_getaddrinfo),
        ("", "gethostbyname", patch_gethostbyname),
        *(("socket", method, patch_by_address) for method in ("connect", "connect_ex", "sendto")),
    ),
    "asyncio.base_events": (("BaseEventLoop", "getaddrinfo", patch_loop_lookup),),
    "asyncio.proactor_events": (("BaseProactorEventLoop", "sock_connect", patch_loop_connect),),
}

_lock = threading.RLock()
_depth = 0
_patched: list[tuple[Any, str, Any, Any]] = []


@contextlib.contextmanager
def intercepting() -> Iterator[None]:
    """Watch model calls for the length of the block, whatever client makes them.

    The transports of httpx2 and httpx are patched on their classes, so clients made before the block are
    seen as well as later ones; a library not yet loaded is patched when somebody imports it. What cannot be
    followed is noticed by the network guard. Blocks may be nested and overlap; the last one to end restores
    everything. Outside ``watching(watch)`` all requests pass through.
    """
    global _depth  # noqa: PLW0603 - the transports are process-wide, so is the count of their patchers
    with _lock:
        _depth += 1
        if _depth == 1:
            for name in _METHODS:
                if name in sys.modules:
                    _patch(name, sys.modules[name])
            sys.meta_path.insert(0, _finder)
    try:
        with guarding():
            yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                sys.meta_path.remove(_finder)
                _restore()


def _patch(name: str, library: ModuleType) -> None:
    for class_name, method, patch in _METHODS[name]:
        holder: Any = getattr(library, class_name, None) if class_name else library
        # Another tool may have put a class of its own there (vcrpy does), which inherits the method.
        homes = holder.__mro__ if isinstance(holder, type) else [holder]
        owner = next((each for each in homes if method in vars(each)), None) if holder is not None else None
        # httpx may be an alias of httpx2: the same class under two names.
        if owner is None or any(each is owner and name == method for each, name, *_ in _patched):
            continue
        original = vars(owner)[method]
        replacement = patch(library, original)
        try:
            setattr(owner, method, replacement)
        except TypeError:  # a class that is written in C: what inherits from it is patched
            owner, original = holder, None
            setattr(owner, method, replacement)
        _patched.append((owner, method, original, replacement))


def _restore() -> None:
    while _patched:
        transport, method, original, replacement = _patched.pop()
        # Somebody who patched over us holds our function, which is inert outside a watch: leave both.
        if transport.__dict__.get(method) is replacement:
            if original is None:
                delattr(transport, method)
            else:
                setattr(transport, method, original)


class _LateImport:
    """Finds nothing itself: lets the others find the library, and patches it once it is loaded."""

    def __init__(self) -> None:
        self._searching = threading.local()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        del path, target
        if name not in _METHODS or getattr(self._searching, "name", None) == name:
            return None
        self._searching.name = name
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._searching.name = None
        if spec is not None and spec.loader is not None:
            spec.loader = _PatchingLoader(spec.loader)  # type: ignore[assignment]  # it delegates
        return spec


class _PatchingLoader:
    """A loader that patches the module it has loaded, and leaves no trace on it."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        with _lock:
            if _depth:
                _patch(module.__name__, module)


_finder: Any = _LateImport()
