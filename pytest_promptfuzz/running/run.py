"""One run of a body: what it returned or raised, and what was seen of it on the wire."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.clocks import monotonic
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.wire.watch import watching

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.wire.watch import Watch

    Body = Callable[[Prompt], Any]
    Ends = Callable[[BaseException], bool]


@dataclass(frozen=True, slots=True)
class Step:
    """A run to be made: the body with this prompt, seen by this watch, for the case of this number."""

    prompt: Prompt
    watch: Watch
    case: int = 0


@dataclass(frozen=True, slots=True)
class Run:
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


class _Rendered:
    """What a prompt's observer saw."""

    __slots__ = ("fillings", "seen")

    def __init__(self) -> None:
        self.seen = False
        self.fillings: list[Mapping[str, object]] = []

    def __call__(self, values: Mapping[str, object] | None) -> None:
        self.seen = True
        if values and values not in self.fillings:
            self.fillings.append(values)


def ends_everything(error: BaseException) -> bool:
    """Whether an exception is meant for the process or the event loop rather than for the body's caller."""
    if isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit):
        return True
    # asyncio loads ssl and much more, and no sync body needs it; where it is not loaded, nothing can raise its error.
    asyncio = sys.modules.get("asyncio.exceptions")
    return asyncio is not None and isinstance(error, asyncio.CancelledError)


def run_once(body: Body, step: Step, ends: Ends = ends_everything) -> Run:
    """Run a sync body. Exceptions are kept, but for those that ``ends`` says end everything."""
    rendered = _Rendered()
    returned, exception = None, None
    started = monotonic()
    with watching(step.watch):
        step.watch.begin_line()
        try:
            returned = body(step.prompt.observed(rendered))
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
    rendered = _Rendered()
    returned, exception = None, None
    started = monotonic()
    with watching(step.watch):
        step.watch.begin_line()
        try:
            returned = await body(step.prompt.observed(rendered))
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
