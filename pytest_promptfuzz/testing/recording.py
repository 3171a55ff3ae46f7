"""The recording proxy outside pytest: one upstream, the store of answers, and what was asked so far."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_promptfuzz.testing.attaching import Attachment, announced, new_token
from pytest_promptfuzz.testing.proxy import Proxy
from pytest_promptfuzz.wire.intercept import intercepting
from pytest_promptfuzz.wire.redact import DEFAULT, Redaction
from pytest_promptfuzz.wire.store import ResponseStore
from pytest_promptfuzz.wire.watch import Watch, watching

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from typing_extensions import Self


class Recorder:
    """Passes requests on to a provider and stores the answers, under the keys that a test's own calls have.

    The n-th identical request is the n-th sample, as within a trial; a new recorder counts anew, so that an application
    that is run again is answered from the store. While a test run is attached, the requests are its own.

    Args:
        upstream: The provider's base URL.
        port: The TCP port; 0 for any that is free.
        directory: Of the store.
        on_request: Called with method, path and status after each request.
        redaction: What is hidden before anything is stored.

    Attributes:
        calls: Model calls so far.
        hits: Those answered from the store.

    Raises:
        UsageError: ``upstream`` is no base URL.
        ConfigurationError: Neither httpx2 nor httpx is installed, or the port is taken.
    """

    def __init__(
        self,
        upstream: str,
        port: int,
        directory: str,
        on_request: Callable[[str, str, int], None] | None = None,
        redaction: Redaction = DEFAULT,
    ) -> None:
        self.upstream = upstream
        self.calls = self.hits = 0
        self._on_request = on_request
        self._folder = Path(directory)
        self._store = ResponseStore(self._folder)
        self._watch = Watch(store=self._store, redaction=redaction)
        self._token = new_token()
        self._proxy = Proxy(
            port=port,
            upstream=upstream,
            watch=self._watch,
            on_request=self._asked,
            attachment=Attachment(self._token),
        )
        self._lock = threading.Lock()
        self._end = contextlib.ExitStack()

    @property
    def url(self) -> str:
        """The base URL for the application."""
        return f"http://127.0.0.1:{self._proxy.port}"

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as opened:
            opened.callback(self._store.close)
            opened.enter_context(intercepting())
            opened.enter_context(watching(self._watch))
            opened.enter_context(self._proxy)
            opened.enter_context(announced(self._folder, self._proxy.port, self.upstream, self._token))
            self._end = opened.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end.close()

    def _asked(self, method: str, path: str, status: int) -> None:
        with self._lock:
            self.calls, self.hits = len(self._watch.calls), self._watch.hits
        if self._on_request is not None:
            self._on_request(method, path, status)
