"""Work done in the background: one event loop in a thread of its own, so much at once, the most urgent first."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import threading
from concurrent.futures import Future, wait
from contextlib import nullcontext
from contextvars import Context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pytest_promptfuzz.running.run import GRACE

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from contextlib import AbstractContextManager


T = TypeVar("T")


_LOOK = 0.5


@dataclass(slots=True, eq=False)
class Work(Generic[T]):
    """Something to be done.

    Attributes:
        order: What is done first: the lowest.
        do: Does it, in the pipeline's loop.
        done: Its result, or what it raised; cancelled if it was never begun.
    """

    order: tuple[int, ...]
    do: Callable[[], Awaitable[T]]
    done: Future[T] = field(default_factory=Future)


class Pipeline:
    """Does work in the background.

    The thread is started by the first work that is handed in, and ended by ``stop``.

    Args:
        limit: The most at once, 1 or more.
        inside: What the thread is to hold while it lives.
    """

    def __init__(
        self,
        limit: int,
        inside: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._limit = limit
        self._inside = inside
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._queue: list[tuple[tuple[int, ...], int, Work[Any]]] = []
        self._count = itertools.count()
        self._tasks: set[asyncio.Task[None]] = set()
        self._paused = False
        self._ending: asyncio.Event | None = None

    def add(self, works: Iterable[Work[Any]]) -> None:
        """Hand in work; what waits for the same order is done first come, first served."""
        with self._lock:
            for work in works:
                heapq.heappush(self._queue, (work.order, next(self._count), work))
            if self._loop is None:
                self._start()
        self._wake()

    def pause(self) -> None:
        """Begin nothing more; what is under way goes on."""
        self._paused = True

    def resume(self) -> None:
        """Go on after ``pause``."""
        if self._paused:
            self._paused = False
            self._wake()

    def result(self, work: Work[T]) -> T:
        """The result of a work, waited for; for another thread than the loop's.

        Raises:
            CancelledError: It was never begun.
            Exception: What it raised.
        """
        # In slices: a lock held by nobody can be waited for for ever, and not every system interrupts that.
        while not wait([work.done], timeout=_LOOK).done:
            if self._thread is None or not self._thread.is_alive():
                raise RuntimeError("the thread that makes calls in the background has ended")
        return work.done.result()

    def stop(self) -> None:
        """Begin nothing more, give what is under way a moment, cancel the rest, and end the thread."""
        with self._lock:
            left = [work for _, _, work in self._queue]
            self._queue.clear()
        for work in left:
            work.done.cancel()
        thread, loop, ending = self._thread, self._loop, self._ending
        if thread is None or loop is None or ending is None:
            return
        loop.call_soon_threadsafe(ending.set)
        thread.join()
        self._thread = self._loop = self._ending = None

    def _start(self) -> None:
        ready = threading.Event()

        def run() -> None:
            with self._inside():
                asyncio.run(self._serve(ready))

        self._thread = threading.Thread(target=run, name="promptfuzz-calls", daemon=True)
        self._thread.start()
        ready.wait()

    async def _serve(self, ready: threading.Event) -> None:
        self._loop, self._ending = asyncio.get_running_loop(), asyncio.Event()
        ready.set()
        await self._ending.wait()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=GRACE)
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _wake(self) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._pump)

    def _pump(self) -> None:
        while len(self._tasks) < self._limit and not self._paused:
            with self._lock:
                if not self._queue:
                    return
                _, _, work = heapq.heappop(self._queue)
            if work.done.set_running_or_notify_cancel():
                # A context of its own: what runs where the work was handed in is none of its business.
                self._tasks.add(Context().run(asyncio.ensure_future, self._do(work)))

    async def _do(self, work: Work[Any]) -> None:
        try:
            result = await work.do()
        except BaseException as error:
            work.done.set_exception(error)
            if not isinstance(error, Exception):
                raise
        else:
            work.done.set_result(result)
        finally:
            task = asyncio.current_task()
            if task is not None:
                self._tasks.discard(task)
            self._pump()
