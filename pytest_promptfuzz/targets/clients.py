"""The SDK clients of one target: shared while they serve, closed when they no longer do."""

from __future__ import annotations

import threading
import weakref
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

retried_below: ContextVar[bool] = ContextVar("promptfuzz_retried_below", default=False)
"""Whether failed calls are tried again below the SDK, which is then to leave it at that."""


@dataclass(slots=True)
class _Lease:
    client: Any
    settings: object
    users: int = 0


class Clients:
    """The clients of one target.

    One synchronous client serves all threads (the SDKs' clients are thread-safe) until ``close()``, or until
    the target is collected. An asynchronous client belongs to one event loop, and nothing tells a library
    when a loop is about to end; so calls of one loop that overlap share a client, and the last closes it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._current: _Lease | None = None
        self._finalizer: weakref.finalize[..., Any] | None = None
        self._leases: Any = None

    def sync(self, settings: object, make: Callable[[], Any]) -> Any:
        """The synchronous client made with these settings; one with others is closed.

        Args:
            settings: What the client depends on (key, URL); compared by value.
            make: Makes the client.
        """
        with self._lock:
            if self._current is None or self._current.settings != settings:
                self._drop()
                self._current = _Lease(make(), settings)
                self._finalizer = weakref.finalize(self, self._current.client.close)
            return self._current.client

    def close(self) -> None:
        """Close the synchronous client; the next call makes another."""
        with self._lock:
            self._drop()

    def _drop(self) -> None:
        if self._finalizer is not None:
            self._finalizer()
        self._current = self._finalizer = None

    @asynccontextmanager
    async def lease(self, settings: object, make: Callable[[], Any]) -> AsyncIterator[Any]:
        """An asynchronous client of the running loop, for one call.

        Args:
            settings: What the client depends on (key, URL); compared by value.
            make: Makes the client.
        """
        # Both SDKs stand on anyio; it is there whenever a client can be made.
        from anyio import CancelScope
        from anyio.lowlevel import RunVar

        with self._lock:
            if self._leases is None:
                self._leases = RunVar("promptfuzz-client", None)
        lease = self._leases.get()
        if lease is None or lease.settings != settings:
            lease = _Lease(make(), settings)
            self._leases.set(lease)
        lease.users += 1
        try:
            yield lease.client
        finally:
            lease.users -= 1
            if not lease.users:
                if self._leases.get() is lease:
                    self._leases.set(None)
                with CancelScope(shield=True):
                    await lease.client.close()
