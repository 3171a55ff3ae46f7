"""pytest's call phase of a robust test: the engine runs, then what the verdict means is raised."""

from __future__ import annotations

import functools
import inspect
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.errors import UnknownTrialError, UsageError, without_test
from pytest_promptfuzz.evaluating.phases.baseline import BaselineFailed
from pytest_promptfuzz.evaluating.session import simulated_backend, simulated_of
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.plugin.execution.declarative_tests import baselines_of, is_declarative
from pytest_promptfuzz.plugin.execution.engine import Engine
from pytest_promptfuzz.plugin.marks import merged
from pytest_promptfuzz.plugin.output.outcome import UNMUTATED, WITHOUT_TRIAL
from pytest_promptfuzz.plugin.output.progress import ItemProgress
from pytest_promptfuzz.plugin.state import State
from pytest_promptfuzz.wire.transports import intercepting
from pytest_promptfuzz.wire.watch import RunRoute, watching

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def robust_call(item: pytest.Item) -> Iterator[None]:
    """Have the body run under the engine while the block lasts, then raise what its verdict means.

    Raises:
        UsageError: The item is not a Python test function.
        BrittlePrompt: The verdict is brittle.
        UntrustedVerdict: It is noisy or inconclusive.
    """
    if not isinstance(item, pytest.Function):
        raise UsageError(
            f"{item.nodeid}: @robust is for Python test functions, not for {type(item).__name__}."
        )
    engine = _engine_of(item)
    try:
        with engine.installed():
            yield
    except BaselineFailed as failed:
        item.stash[UNMUTATED] = True
        on = f" on input {failed.case}" if failed.case else ""
        noise = (
            " The two answers differ: the model is noisy, and the next run may pass." if failed.varied else ""
        )
        item.add_report_section(
            "call", "promptfuzz", f"The unmutated prompt fails{on} (asked twice): nothing was mutated.{noise}"
        )
        raise failed.exception from None
    except UnknownTrialError as unknown:
        item.stash[WITHOUT_TRIAL] = True
        pytest.skip(without_test(str(unknown), item.nodeid))
    except (KeyboardInterrupt, pytest.fail.Exception) as ended:  # Ctrl-C, or the test's own timeout
        if not engine.knows_verdict():
            raise
        # What the test came to is known: it is said first, and the run ends after it.
        interrupted = isinstance(ended, KeyboardInterrupt)
        why = "it was interrupted" if interrupted else "the test's time is up"
        engine.evaluation.notes.append(Note.of("evaluations:shrinking-ended", why=why))
        if interrupted:
            item.session.shouldstop = "Ctrl-C, while the smallest change that breaks a test was sought"
    finally:
        engine.progress.clear()
    engine.finish()


def _engine_of(item: pytest.Function) -> Engine:
    if not is_declarative(item):
        return Engine(item, ItemProgress(item))
    from pytest_promptfuzz.plugin.execution.lookahead import LookAhead

    return LookAhead.of(item.config).engine(item)


@contextmanager
def unmutated_call(item: pytest.Item) -> Iterator[None]:
    """Have the body run once as it is, its calls served as in any robust test.

    Its return value is dropped: pytest warns of tests that return something.
    """
    original = getattr(item, "obj", None)
    state = State.of(item.config)
    keys = merged(item)[1]
    target = state.target_of(item, keys.get("target"))
    session, simulated = state.session_of(item), simulated_of(target)
    watches = session.test(session.network(simulated=simulated is not None))
    watches.done()
    watch = watches.watch(RunRoute(simulated=simulated_backend(simulated)))
    if original is None or hasattr(original, "hypothesis"):
        with intercepting(), watching(watch):
            yield
        return
    if is_declarative(item):
        original = baselines_of(item, keys, target)

    @functools.wraps(original)
    def body(**arguments: Any) -> None:
        original(**arguments)

    @functools.wraps(original)
    async def abody(**arguments: Any) -> None:
        await original(**arguments)

    item.obj = abody if inspect.iscoroutinefunction(original) else body  # type: ignore[attr-defined]  # it has one
    try:
        with intercepting(), watching(watch):
            yield
    finally:
        item.obj = original  # type: ignore[attr-defined]  # as above
