"""Driving a plan: a generator yields batches of steps and is sent their runs; here they are made, one way or another.

The generator knows what is to be run and nothing of threads or loops; the drivers know nothing of prompts.
"""

from __future__ import annotations

import contextlib
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from pytest_promptfuzz.running.run import arun_once, ends_everything, run_once

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Sequence
    from typing import Any

    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.running.run import Body, Ends, Run, Step

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
    if concurrency == 1 or len(batch) == 1 or not all(step.watch.concurrent for step in batch):
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
