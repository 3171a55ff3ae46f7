"""Tests that call the model themselves, rehearsed for ``promptfuzz prefill``: their bodies run, and ask nothing."""

from __future__ import annotations

import functools
import inspect
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.errors import PromptfuzzError, UsageError
from pytest_promptfuzz.evaluating.rehearsal import Rehearsal
from pytest_promptfuzz.evaluating.searched import SearchedTest
from pytest_promptfuzz.plugin.engine import Engine
from pytest_promptfuzz.plugin.prefilling import A_SEARCH
from pytest_promptfuzz.plugin.progress import ItemProgress

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterator

    from pytest_promptfuzz.plugin.prefilling import Planned

_SECONDS = 5.0  # for calls made at once; what a body leaves running for longer is left alone


class _RehearsingEngine(Engine):
    """Lets calls that an async body makes at once all be noted, though the first of them ends it."""

    def _wrap(self, original: Callable[..., Any]) -> Callable[..., Any]:
        if not inspect.iscoroutinefunction(original):
            return super()._wrap(original)

        @functools.wraps(original)
        async def waiting(*args: Any, **arguments: Any) -> Any:
            before = _tasks()
            try:
                return await original(*args, **arguments)
            finally:
                begun = _tasks() - before
                if begun:
                    import asyncio

                    await asyncio.wait(begun, timeout=_SECONDS)

        return super()._wrap(waiting)


def _tasks() -> set[asyncio.Task[Any]]:
    import asyncio

    try:
        return asyncio.all_tasks()
    except RuntimeError:  # a loop of trio
        return set()


@contextmanager
def rehearsed(item: pytest.Item, planned: Planned) -> Iterator[None]:
    """Have the body run while the block lasts, each run up to a call without an answer; what it asks is planned."""
    try:
        if not isinstance(item, pytest.Function):
            raise UsageError("it is no Python test function")
        engine = _RehearsingEngine(item, ItemProgress(item))
        if isinstance(engine.job, SearchedTest):
            raise UsageError(A_SEARCH)
        engine.job = rehearsal = Rehearsal.of(engine.job)
        with engine.installed():
            yield
        if not rehearsal.cases:
            raise UsageError("its body never ran; an async test needs pytest-asyncio or anyio")
    except PromptfuzzError as error:
        planned.unplanned(item.nodeid, str(error).removeprefix(f"{item.nodeid}: "))
    else:
        planned.add_rehearsal(engine, rehearsal)
    pytest.skip("dry run")
