"""Running a declarative test: each response is had first, then the test's body checks it."""

from __future__ import annotations

import functools
import inspect
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.evaluating.asking import Asker, watch_of_the_run
from pytest_promptfuzz.plugin import freshness, subtests
from pytest_promptfuzz.plugin.bodies import ends_test
from pytest_promptfuzz.plugin.declared import Declared, checked
from pytest_promptfuzz.plugin.searching import shared_over
from pytest_promptfuzz.running.drive import adrive, drive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import pytest

    from pytest_promptfuzz.plugin.engine import Engine
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.targets.function import CallableTarget
    from pytest_promptfuzz.targets.model import Target


def check(
    engine: Engine, declared: Declared, original: Callable[..., Any], arguments: dict[str, Any]
) -> None:
    """Run a sync test: every input, the baseline and every mutation."""
    calls = engine.state.lookahead.calls(engine, declared, arguments)
    fixtures = freshness.of(engine.item, fresh=engine.fixtures == "fresh")

    def body(prompt: Prompt) -> Any:
        given, sent, response = calls.ask(prompt, watch_of_the_run())
        placed, own = subtests.stand_in(
            checked(fixtures.arguments(arguments), prompt=sent, given=given, response=response)
        )
        with _given(engine, response):
            returned = original(**placed)
            own.settle()
        engine.progress.ran(engine.job)
        return response if returned is None else returned

    try:
        shared_over(engine.job, calls.cases)
        for given in calls.cases.inputs:
            steps = engine.job.case(calls.cases.prompt_of(given), given.name, given.expected)
            drive(steps, body, ends_test, begin=calls.begin)
        drive(engine.job.again(), body, ends_test, begin=calls.begin)
    finally:
        calls.close()


async def acheck(
    engine: Engine, declared: Declared, original: Callable[..., Any], arguments: dict[str, Any]
) -> None:
    """As ``check``, for an async test."""
    calls = engine.state.lookahead.calls(engine, declared, arguments)

    async def body(prompt: Prompt) -> Any:
        given, sent, response = await calls.aask(prompt, watch_of_the_run())
        placed, own = subtests.stand_in(checked(arguments, prompt=sent, given=given, response=response))
        with _given(engine, response):
            returned = await original(**placed)
            own.settle()
        engine.progress.ran(engine.job)
        return response if returned is None else returned

    try:
        shared_over(engine.job, calls.cases)
        for given in calls.cases.inputs:
            steps = engine.job.case(calls.cases.prompt_of(given), given.name, given.expected)
            await adrive(steps, body, ends_test, concurrency=1, begin=calls.begin)
        await adrive(engine.job.again(), body, ends_test, concurrency=1, begin=calls.begin)
    finally:
        calls.close()


@contextmanager
def _given(engine: Engine, response: Any) -> Iterator[None]:
    """Keep what a body fails on: a function of the application leaves no trace of what it answered."""
    try:
        yield
    except BaseException:
        engine.job.given[watch_of_the_run()] = response
        raise


def baselines_of(
    item: pytest.Item, keys: Mapping[str, Any], target: Target | CallableTarget | None
) -> Callable[..., Any]:
    """The body of a declarative test for the unmutated prompt alone, once for every input."""
    original: Callable[..., Any] = item.obj  # type: ignore[attr-defined]  # a test function has one
    declared = Declared(item, keys, target)  # type: ignore[arg-type]  # as above
    asker = Asker(declared.target)

    @functools.wraps(original)
    def body(**arguments: Any) -> None:
        cases = declared.cases(arguments)
        for given in cases.inputs:
            sent = cases.sent(cases.prompt, given)
            response = asker.ask(sent)
            original(**checked(arguments, prompt=sent, given=given, response=response))

    @functools.wraps(original)
    async def abody(**arguments: Any) -> None:
        cases = declared.cases(arguments)
        for given in cases.inputs:
            sent = cases.sent(cases.prompt, given)
            response = await asker.aask(sent)
            await original(**checked(arguments, prompt=sent, given=given, response=response))

    return abody if inspect.iscoroutinefunction(original) else body
