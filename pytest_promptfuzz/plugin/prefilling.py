"""Planning a suite for ``promptfuzz prefill``: pytest sets its tests up; nothing is asked."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.plugin.declared import is_declarative
from pytest_promptfuzz.plugin.limiting import prices_of
from pytest_promptfuzz.plugin.marks import is_robust
from pytest_promptfuzz.running.batches.wanted import Wanted
from pytest_promptfuzz.targets.function import CallableTarget
from pytest_promptfuzz.targets.requests import as_request
from pytest_promptfuzz.wire.exchange import IN_PROCESS
from pytest_promptfuzz.wire.key import exchange_key

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_promptfuzz.evaluating.rehearsal import Rehearsal
    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.plugin.engine import Engine
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.running.limits.prices import Prices
    from pytest_promptfuzz.targets.model import Target
    from pytest_promptfuzz.wire.answers import AnswerStore
    from pytest_promptfuzz.wire.redact import Redaction

A_SEARCH = "it is a search, and what that asks next follows from what was answered"


@dataclass(slots=True, eq=False)
class Planned:
    """What the robust tests of a suite will ask.

    Attributes:
        unknown: Tests that could not be planned, and why.
        answers: The keys of the answers that the store has, each once.
        going_on: Whether a test may ask more when what is wanted is answered.
        prices: What calls cost.
        bodies: Whether the bodies of tests that call the model themselves may run.
        session: The store they are served from; ``None`` without a robust test.
        folder: The project's ``.promptfuzz``.
    """

    unknown: list[tuple[str, str]] = field(default_factory=list)
    answers: dict[str, None] = field(default_factory=dict)
    going_on: bool = False
    bodies: bool = True
    prices: Prices | None = None
    session: Session | None = None
    folder: Path | None = None
    _wanted: dict[str, Wanted] = field(default_factory=dict)

    @property
    def wanted(self) -> list[Wanted]:
        """The calls that the store does not answer, each once."""
        return list(self._wanted.values())

    def pytest_configure(self, config: pytest.Config) -> None:
        """Be found by what plans the tests."""
        config.stash[PLANNED] = self

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out every test that is not ours: it would run."""
        others = [item for item in items if not is_robust(item)]
        items[:] = [item for item in items if is_robust(item)]
        if others:
            config.hook.pytest_deselected(items=others)

    @property
    def shared(self) -> tuple[AnswerStore, Redaction, Path]:
        """The project's store, what is hidden, and the folder of what is stored.

        Raises:
            UsageError: There is no robust test.
        """
        if self.session is None or self.folder is None or self.session.store is None:
            raise UsageError("No robust test was found. Name the tests as for pytest.")
        return self.session.store, self.session.redaction, self.folder

    @property
    def stored(self) -> int:
        """How many calls the store answers."""
        return len(self.answers)

    def add(self, engine: Engine, prompts: Sequence[Prompt], target: Target | CallableTarget | None) -> None:
        """The calls of a declarative test; ``target=None`` for another, whose body does not run."""
        session = self._of(engine)
        if target is None or isinstance(target, CallableTarget):
            own = (
                "its target is a function" if target is not None else "its calls show only when its body runs"
            )
            self.unplanned(engine.where, own)
            return
        for prompt in prompts:
            wire = target.prepare(as_request(prompt))
            if wire.url.startswith(IN_PROCESS):
                continue
            each = Wanted(wire, tuple(engine.job.contract.ignore), engine.where)
            if session.store is not None and each.is_stored(session.store, session.redaction):
                self.answers[each.key(session.redaction)] = None
            else:
                self._want(each)

    def add_rehearsal(self, engine: Engine, rehearsal: Rehearsal) -> None:
        """The calls of a test whose body was rehearsed."""
        self._of(engine)
        if rehearsal.unknown:
            self.unplanned(engine.where, rehearsal.unknown)
            return
        for digest, nth in rehearsal.found:
            self.answers[exchange_key(digest, 0, nth)] = None
        for each in rehearsal.missing:
            self._want(Wanted(each.wire, tuple(engine.job.contract.ignore), engine.where, each.nth))
            self.going_on = True

    def unplanned(self, test: str, why: str) -> None:
        """A test could not be planned."""
        self.unknown.append((test, why))

    def _of(self, engine: Engine) -> Session:
        self.session, self.folder = engine.job.session, engine.state.folder
        self.prices = prices_of(engine.state)
        return self.session

    def _want(self, wanted: Wanted) -> None:
        if self.session is not None:
            self._wanted.setdefault(wanted.key(self.session.redaction), wanted)


def rehearses(item: pytest.Item) -> Planned | None:
    """The plan that a test is to be rehearsed for; ``None`` for a test whose calls are known without its body."""
    planned = item.config.stash.get(PLANNED, None)
    return planned if planned is not None and planned.bodies and not is_declarative(item) else None


def plan_suite(arguments: Sequence[str], *, bodies: bool = True) -> Planned:
    """Collect a suite and set its robust tests up, with pytest in this process.

    Args:
        arguments: pytest's own.
        bodies: Whether tests that call the model themselves are rehearsed: their bodies run, each up to a call that has
            no answer yet.

    Raises:
        UsageError: pytest cannot collect or set up the suite; the message holds what it printed.
    """
    planned = Planned(bodies=bodies)
    printed = io.StringIO()
    workers = ["-n0"] if find_spec("xdist") is not None else []
    ours = [
        *workers,
        "--promptfuzz-dry-run",
        "--promptfuzz-mode=auto",
        "--no-header",
        "-q",
        "-Wignore::pytest.PytestAssertRewriteWarning",  # the command has loaded the plugin before pytest does
    ]
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        status = pytest.main([*arguments, *ours], plugins=[planned])
    if status not in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
        raise UsageError(f"pytest could not plan the suite:\n{printed.getvalue().rstrip()}")
    return planned


PLANNED = pytest.StashKey[Planned]()
