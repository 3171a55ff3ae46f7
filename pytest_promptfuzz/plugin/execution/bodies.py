"""A test's body, seen from outside: what it checks, what ends it, hypothesis, fixtures, subtests."""

from __future__ import annotations

import inspect
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.tmpdir import tmppath_result_key

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.running.run import ends_everything

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType

    from pytest_promptfuzz.evaluating.evaluation import Evaluation


def checks_something(body: Any) -> bool:
    """Whether a body asserts, raises, or calls something named like a check, in its own code.

    Reads the compiled code: pytest has rewritten the source's assertions already.
    """
    function = inspect.unwrap(body)
    hypothesis = getattr(function, "hypothesis", None)
    function = getattr(hypothesis, "inner_test", function)
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return code is not None and any(_checks(each) for each in _nested(code))


_NAMES = ("AssertionError", "@pytest_ar", "raises", "fail", "warns")
_PREFIXES = ("assert", "check", "expect", "verify", "validate")


def _checks(code: CodeType) -> bool:
    if any(name in _NAMES or name.lower().startswith(_PREFIXES) for name in code.co_names):
        return True
    import dis

    return any(
        instruction.opname in {"LOAD_ASSERTION_ERROR", "RAISE_VARARGS", "LOAD_COMMON_CONSTANT"}
        for instruction in dis.get_instructions(code)
    )


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if inspect.iscode(constant):
            yield from _nested(constant)


def ends_test(error: BaseException) -> bool:
    """Whether an exception of a run ends the whole test: pytest's exit, the test's own timeout, an interrupt."""
    if ends_everything(error) or isinstance(error, pytest.exit.Exception):
        return True
    traceback = error.__traceback__
    while traceback is not None:
        # pytest-timeout interrupts the body with pytest.fail from its own signal handler.
        if traceback.tb_frame.f_globals.get("__name__") == "pytest_timeout":
            return True
        traceback = traceback.tb_next
    return False


# ``fixtures="fresh"``: function-scoped fixtures set up anew for every run of the body.


class SharedFixtures:
    """All runs of the body share the fixtures, as pytest set them up."""

    def arguments(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments of the next run."""
        return arguments


class FreshFixtures:
    """Tears the item's own fixtures down and sets them up again before every run but the first."""

    def __init__(self, item: pytest.Function) -> None:
        self._item = item
        self._first = True

    def arguments(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments of the next run."""
        if self._first:
            self._first = False
            return arguments
        item = self._item
        # The item alone leaves the stack of what is set up; modules and sessions above it stay.
        state = item.session._setupstate  # noqa: SLF001 - pytest has no public way to set an item up again
        state.teardown_exact(item.parent)  # type: ignore[arg-type]  # it uses no more of it than its chain
        # tmp_path takes away what the report of its set-up left, and there is one report for all set-ups.
        item.stash.setdefault(tmppath_result_key, {})
        item._initrequest()  # noqa: SLF001 - as above
        state.setup(item)
        return {name: item.funcargs[name] for name in arguments}


def fixtures_of(item: pytest.Function, *, fresh: bool) -> SharedFixtures | FreshFixtures:
    """How the runs of an item get their fixtures."""
    return FreshFixtures(item) if fresh else SharedFixtures()


# pytest's ``subtests`` in a robust test: a failed subtest is a failure of its run, and judged as one.
#
# pytest's own fixture reports a failure at once and hides it from the body: a mutation's failed oracle would fail the
# test whatever its threshold, and count as equivalent all the same.


class RunSubtests:
    """Stands in for the ``subtests`` fixture during one run of a body: goes on after a failure, and keeps it."""

    def __init__(self) -> None:
        self._failures: list[BaseException] = []

    @contextmanager
    def test(self, msg: str | None = None, **kwargs: Any) -> Iterator[None]:
        """A subtest, as of pytest's own fixture."""
        try:
            yield
        except BaseException as error:
            if ends_test(error):
                raise
            if not isinstance(error, pytest.skip.Exception):
                _note(error, _label(msg, kwargs))
                self._failures.append(error)

    def settle(self) -> None:
        """Raise the first failure, if there was one."""
        __tracebackhide__ = True
        if self._failures:
            raise self._failures[0]


def subtests_stand_in(arguments: dict[str, Any]) -> tuple[dict[str, Any], RunSubtests]:
    """The arguments of a run with its own subtests in the place of pytest's."""
    own = RunSubtests()
    return {
        name: own if isinstance(value, pytest.Subtests) else value for name, value in arguments.items()
    }, own


def _label(msg: str | None, kwargs: dict[str, Any]) -> str:
    values = ", ".join(f"{name}={value!r}" for name, value in kwargs.items())
    return (
        " ".join(filter(None, (f"[{msg}]" if msg else "", f"({values})" if values else ""))) or "(<subtest>)"
    )


def _note(error: BaseException, label: str) -> None:
    add_note = getattr(error, "add_note", None)  # Python 3.11
    if add_note is not None:
        add_note(f"in subtest {label}")


# Hypothesis on top: every example runs the whole plan, and all of them make one score.


_SETTINGS = "_hypothesis_internal_use_settings"


@contextmanager
def inner_test(
    item: pytest.Function, evaluation: Evaluation, max_runs: int, *, searches: bool
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
    if searches:
        raise UsageError(
            f"{item.nodeid}: @given draws many examples, and each would be a search of its own. Parametrize the test "
            "with the examples worth a search, or leave search= out."
        )
    function = getattr(item.obj, "__func__", item.obj)
    settings = _relaxed(function, evaluation, max_runs, item)
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


def _relaxed(function: Any, evaluation: Evaluation, max_runs: int, item: pytest.Function) -> Any:
    """The test's settings without the limits that count a plan of runs as one example."""
    import hypothesis

    own = getattr(function, _SETTINGS, None) or hypothesis.settings()
    runs = evaluation.contract.plan.mutations + 1
    product = own.max_examples * runs
    text = f"up to {own.max_examples} examples × {runs} runs = {product:,} runs"
    if product > max_runs:
        raise UsageError(
            f"{item.nodeid}: {text}, and promptfuzz_max_runs is {max_runs:,}. Lower @settings(max_examples=...) or "
            "mutations=, or raise promptfuzz_max_runs."
        )
    evaluation.notes.append(f"hypothesis: {text}")
    checks = hypothesis.HealthCheck
    return hypothesis.settings(
        own,
        deadline=None,
        suppress_health_check=[*own.suppress_health_check, checks.function_scoped_fixture, checks.too_slow],
    )
