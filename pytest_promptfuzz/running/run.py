"""`Step` and `Run`: one run of a body; its drivers, sync and async; whether the mutation reached the model."""

from __future__ import annotations

import contextlib
import inspect
import re
import sys
import threading
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from pytest_promptfuzz.clocks import monotonic
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.prompts.prompt import RenderingLog
from pytest_promptfuzz.text.expressions import expression
from pytest_promptfuzz.wire.watch import watching

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence

    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.wire.watch import Watch

    Body = Callable[[Prompt], Any]
    Ends = Callable[[BaseException], bool]


class Step(NamedTuple):
    """A run to be made: the body with this prompt, seen by this watch, for the case of this number."""

    prompt: Prompt
    watch: Watch
    case: int = 0


class Run(NamedTuple):
    """A run that was made.

    Attributes:
        returned: What the body returned.
        exception: What it raised instead, if anything.
        watch: What was seen on the wire meanwhile.
        rendered: Whether the ``Prompt`` given to it was rendered.
        fillings: The values that its slots were filled with, once for each different set of them.
        seconds: How long it took.
        prompt: What the body was given; ``None`` where nobody kept it.
    """

    returned: Any
    exception: BaseException | None
    watch: Watch
    rendered: bool
    seconds: float
    fillings: tuple[Mapping[str, object], ...] = ()
    prompt: Prompt | None = None


def ends_everything(error: BaseException) -> bool:
    """Whether an exception is meant for the process or the event loop rather than for the body's caller."""
    if isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit):
        return True
    # asyncio loads ssl and much more, and no sync body needs it; where it is not loaded, nothing can raise its error.
    asyncio = sys.modules.get("asyncio.exceptions")
    return asyncio is not None and isinstance(error, asyncio.CancelledError)


def run_once(body: Body, step: Step, ends: Ends = ends_everything) -> Run:
    """Run a sync body. Exceptions are kept, but for those that ``ends`` says end everything."""
    rendered = RenderingLog()
    prompt = step.prompt.observed(rendered)
    returned, exception = None, None
    started = monotonic()
    with watching(step.watch, line=True):
        try:
            returned = body(prompt)
        except BaseException as error:
            if ends(error):
                raise
            exception = error
    if inspect.isawaitable(returned):
        _close(returned)
        raise UsageError("The body returned a coroutine: await it, and let the test be `async def`.")
    return Run(
        returned,
        exception,
        step.watch,
        rendered.seen,
        monotonic() - started,
        tuple(rendered.fillings),
        step.prompt,
    )


async def arun_once(
    body: Callable[[Prompt], Awaitable[Any]], step: Step, ends: Ends = ends_everything
) -> Run:
    """Run an async body, as ``run_once``."""
    rendered = RenderingLog()
    prompt = step.prompt.observed(rendered)
    returned, exception = None, None
    started = monotonic()
    with watching(step.watch, line=True):
        try:
            returned = await body(prompt)
        except BaseException as error:
            if ends(error):
                raise
            exception = error
    return Run(
        returned,
        exception,
        step.watch,
        rendered.seen,
        monotonic() - started,
        tuple(rendered.fillings),
        step.prompt,
    )


def _close(awaitable: Any) -> None:
    close = getattr(awaitable, "close", None)
    if close is not None:
        close()


# Did the mutation arrive? A trial whose mutation reached no model says nothing about the prompt.


# Whatever rendering may replace, by any template engine; what is left must be found as it stands.
_SLOT = expression(
    r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|\$\{[^{}]*\}|\{[^{}]*\}|[{}]+|%\(\w+\)\w|<[^<>\n]{1,40}>|\$\w+",
    re.DOTALL,
)


def arrived(run: Run, baseline: Run, prompt: Prompt, *, repeatable: bool) -> bool:
    """Whether the prompt of a run was seen.

    Where the baseline's requests were seen, the run must have asked something that the baseline did not: the mutated
    text, or anything at all if the unmutated body asks nothing new when it is run again. Where none were seen, a
    rendered ``Prompt`` counts. What is mutated in flight has arrived where it was put into a request.

    Args:
        run: The run of the mutation.
        baseline: The run of the unmutated prompt.
        prompt: The mutated prompt.
        repeatable: Whether the repeat run asked nothing that the baseline had not asked.
    """
    if run.watch.route.in_flight is not None:
        return run.watch.route.in_flight.arrived
    if not baseline.watch.calls:
        return run.rendered or _seen(prompt, _texts(run))
    return bool(run.watch.asked() - baseline.watch.asked()) and (repeatable or _seen(prompt, _texts(run)))


def ignored(run: Run, prompt: Prompt) -> bool:
    """Whether the prompt of a run that did not arrive stands in its requests all the same, where it does not count."""
    return (
        run.watch.route.in_flight is None and bool(run.watch.settings.ignore) and _seen(prompt, _texts(run))
    )


def sent(run: Run, prompt: Prompt) -> bool:
    """Whether a prompt stands in the requests of a run."""
    return _seen(prompt, _texts(run))


def asks_more(run: Run, baseline: Run) -> bool:
    """Whether a run asked the models something, or more often, than the baseline did."""
    return bool(run.watch.asked() - baseline.watch.asked())


def asks_less(run: Run, baseline: Run) -> bool:
    """Whether the baseline asked the models something, or more often, than the run did."""
    return asks_more(baseline, run)


def _texts(run: Run) -> list[str]:
    return [text for call in run.watch.calls for text in call.texts]


def _seen(prompt: Prompt, texts: Sequence[str]) -> bool:
    """Whether the prompt's literal pieces (what stands between its slots) occur in order in the requests."""
    contents = [message["content"] for message in prompt.messages]
    wanted = [content for content in contents if isinstance(content, str)]
    return all(any(_holds(text, _pieces(content)) for text in texts) for content in wanted)


def _pieces(content: str) -> list[str]:
    # Applications strip what they read from files; a mutation of nothing else then leaves the request as it was.
    return [piece for piece in _SLOT.split(content.strip()) if piece]


def _holds(text: str, pieces: Sequence[str]) -> bool:
    position = 0
    for piece in pieces:
        found = text.find(piece, position)
        if found < 0:
            return False
        position = found + len(piece)
    return True


# Driving a plan: a generator yields batches of steps and is sent their runs; here they are made, one way or another.
#
# The generator knows what is to be run and nothing of threads or loops; the drivers know nothing of prompts.


Result = TypeVar("Result")


def nothing(*_: object) -> None:
    """Nobody is told."""


def drive(
    steps: Generator[list[Step], list[Run], Result],
    body: Body,
    ends: Ends = ends_everything,
    *,
    begin: Callable[[list[Step]], None] = nothing,
    ran: Callable[[Step, Run, list[Step]], None] = nothing,
) -> Result:
    """Run every step of a sync body in sequence and return what the generator returns.

    Args:
        steps: What to run.
        body: The sync body.
        ends: Which exceptions end everything.
        begin: Told of each batch before its first run.
        ran: Told of each run that was made, with those of its batch that are still to be made.
    """
    try:
        batch = next(steps)
        while True:
            begin(batch)
            runs: list[Run] = []
            for number, step in enumerate(batch, 1):
                runs.append(run_once(body, step, ends))
                ran(step, runs[-1], batch[number:])
            batch = steps.send(runs)
    except StopIteration as stop:
        result: Result = stop.value
        return result
    finally:
        steps.close()


async def adrive(
    steps: Generator[list[Step], list[Run], Result],
    body: Callable[[Prompt], Awaitable[Any]],
    ends: Ends = ends_everything,
    *,
    concurrency: int,
    begin: Callable[[list[Step]], None] = nothing,
) -> Result:
    """Run the steps of an async body, those of a batch concurrently.

    Args:
        steps: What to run.
        body: The async body.
        ends: Which exceptions end everything.
        concurrency: The most runs at once; 1 runs in sequence, on any event loop.
        begin: Told of each batch before its first run.
    """
    try:
        batch = next(steps)
        while True:
            begin(batch)
            batch = steps.send(await _batch(batch, body, ends, concurrency))
    except StopIteration as stop:
        result: Result = stop.value
        return result
    finally:
        steps.close()


def together(
    cases: Sequence[Generator[list[Step], list[Run], None]],
) -> Generator[list[Step], list[Run], None]:
    """Several plans as one: what they want to run next is one batch, and each is sent its own runs."""
    try:
        batches = []
        for steps in cases:
            with contextlib.suppress(StopIteration):
                batches.append((steps, next(steps)))
        while batches:
            runs = iter((yield [step for _, batch in batches for step in batch]))
            going, batches = batches, []
            for steps, batch in going:
                with contextlib.suppress(StopIteration):
                    batches.append((steps, steps.send(list(islice(runs, len(batch))))))
    finally:
        for steps in cases:
            steps.close()


async def _batch(
    batch: list[Step], body: Callable[[Prompt], Awaitable[Any]], ends: Ends, concurrency: int
) -> list[Run]:
    # A run that needs the process-wide fallback of `watching` must not overlap another.
    if concurrency == 1 or len(batch) == 1 or not all(step.watch.settings.concurrent for step in batch):
        return [await arun_once(body, step, ends) for step in batch]

    import asyncio

    limit = asyncio.Semaphore(concurrency)

    async def one(step: Step) -> Run:
        async with limit:
            return await arun_once(body, step, ends)

    tasks = [asyncio.ensure_future(one(step)) for step in batch]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


# Threads that work while there is work, and end with it: what blocks cannot share one event loop.


GRACE = 0.3
"""Seconds that background work under way is given to come to its end when no more is begun."""


class Errand(Protocol):
    """Something to be done once, in a thread."""

    def make(self) -> None:
        """Do it; raises nothing."""
        ...

    def abandon(self) -> None:
        """Nobody waits any longer: whatever comes of it is to change nothing."""
        ...


class Crew:
    """Runs errands, the first that came first, each in one of a few daemon threads.

    No thread outlives the last errand, so there is nothing to close after an ordinary end.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queue: deque[Errand] = deque()
        self._under_way: dict[threading.Thread, Errand | None] = {}

    def add(self, errand: Errand, limit: int) -> None:
        """Have an errand run, as soon as fewer than ``limit`` are under way."""
        with self._lock:
            self._queue.append(errand)
            if len(self._under_way) >= limit:
                return
            thread = threading.Thread(target=self._work, name="promptfuzz-speculation", daemon=True)
            self._under_way[thread] = None
            thread.start()

    def stop(self) -> None:
        """Begin nothing more, give what is under way a moment, and abandon the rest."""
        with self._lock:
            self._queue.clear()
            threads = [*self._under_way]
        end = monotonic() + GRACE
        for thread in threads:
            thread.join(max(0.0, end - monotonic()))
        with self._lock:
            for errand in filter(None, self._under_way.values()):
                errand.abandon()

    def _work(self) -> None:
        thread = threading.current_thread()
        while True:
            with self._lock:
                if not self._queue:
                    del self._under_way[thread]
                    return
                errand = self._under_way[thread] = self._queue.popleft()
            errand.make()
