"""A model that keeps calls waiting for as long as a test needs: what is under way is so whatever the machine does."""

from __future__ import annotations

import threading
import time
import urllib.request
from typing import TYPE_CHECKING

from pytest_promptfuzz.providers.requests import Request, Response

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_promptfuzz.server.model_server import ModelServer


class Stalling:
    """Answers so many calls, and no further one until it is told to."""

    version = "stalling-1"

    def __init__(self, answers: int) -> None:
        self.go_on = threading.Event()
        self._left = answers
        self._lock = threading.Lock()

    def answer(self, request: Request, *, sample: int = 0) -> Response:
        del request, sample
        with self._lock:
            self._left -= 1
            waits = self._left < 0
        if waits:
            self.go_on.wait()
        return Response("BILLING", finish_reason="stop")

    def begin_anew(self, server: ModelServer) -> None:
        """Answer every call from now on, and forget those of a run that has ended."""
        self.go_on.set()
        # Answered after all that came before it, from whoever has gone.
        with urllib.request.urlopen(f"{server.openai_url}/models"):
            server.reset()


def until(seen: Callable[[], object]) -> None:
    """Wait for an event; nothing here is about speed."""
    limit = time.monotonic() + 1800
    while not seen():
        assert time.monotonic() < limit
        time.sleep(0.02)
