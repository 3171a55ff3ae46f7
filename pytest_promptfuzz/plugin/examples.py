"""Hypothesis on top: every example runs the whole plan, and all of them make one score."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.evaluating.searched import SearchedTest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pytest

    from pytest_promptfuzz.evaluating.job import Job

_SETTINGS = "_hypothesis_internal_use_settings"


@contextmanager
def inner_test(
    item: pytest.Function, job: Job, max_runs: int
) -> Iterator[tuple[Callable[..., Any] | None, Callable[[Callable[..., Any]], None]]]:
    """The body inside a hypothesis test, and how to put another in its place; ``None`` for other tests.

    Raises:
        UsageError: Examples times runs exceed ``max_runs``, or the test is a search.
    """
    handle: Any = getattr(item.obj, "hypothesis", None)
    inner = getattr(handle, "inner_test", None)
    if inner is None or not getattr(item.obj, "is_hypothesis_test", False):
        yield None, _nothing
        return
    if isinstance(job, SearchedTest):
        raise UsageError(
            f"{item.nodeid}: @given draws many examples, and each would be a search of its own. Parametrize the test "
            "with the examples worth a search, or leave search= out."
        )
    function = getattr(item.obj, "__func__", item.obj)
    settings = _relaxed(function, job, max_runs, item)
    before = getattr(function, _SETTINGS, None)

    def install(body: Callable[..., Any]) -> None:
        handle.inner_test = body

    setattr(function, _SETTINGS, settings)
    try:
        yield inner, install
    finally:
        handle.inner_test = inner
        setattr(function, _SETTINGS, before)


def _nothing(_: Callable[..., Any]) -> None:
    """Nothing to install."""


def _relaxed(function: Any, job: Job, max_runs: int, item: pytest.Function) -> Any:
    """The test's settings without the limits that count a plan of runs as one example."""
    import hypothesis

    own = getattr(function, _SETTINGS, None) or hypothesis.settings()
    runs = job.contract.mutations + 1
    product = own.max_examples * runs
    text = f"up to {own.max_examples} examples × {runs} runs = {product:,} runs"
    if product > max_runs:
        raise UsageError(
            f"{item.nodeid}: {text}, and promptfuzz_max_runs is {max_runs:,}. Lower @settings(max_examples=...) or "
            "mutations=, or raise promptfuzz_max_runs."
        )
    job.notes.append(f"hypothesis: {text}")
    checks = hypothesis.HealthCheck
    return hypothesis.settings(
        own,
        deadline=None,
        suppress_health_check=[*own.suppress_health_check, checks.function_scoped_fixture, checks.too_slow],
    )
