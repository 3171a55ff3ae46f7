"""Planning a suite for ``promptfuzz prefill``: pytest sets its tests up, and no body runs."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.plugin.marks import is_robust
from pytest_promptfuzz.running.batches.wanted import Wanted
from pytest_promptfuzz.targets.function import CallableTarget
from pytest_promptfuzz.targets.requests import as_request
from pytest_promptfuzz.wire.exchange import IN_PROCESS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.plugin.engine import Engine
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.targets.model import Target


@dataclass(slots=True, eq=False)
class Planned:
    """What the robust tests of a suite will ask.

    Attributes:
        wanted: The calls that the store does not answer, each once.
        stored: How many it answers.
        unknown: Tests whose calls show only when their bodies run.
        session: The store they are served from; ``None`` without a robust test.
        folder: The project's ``.promptfuzz``.
    """

    wanted: list[Wanted] = field(default_factory=list)
    stored: int = 0
    unknown: list[str] = field(default_factory=list)
    session: Session | None = None
    folder: Path | None = None
    _keys: set[str] = field(default_factory=set)

    def pytest_configure(self, config: pytest.Config) -> None:
        """Be found by what plans the tests."""
        config.stash[PLANNED] = self

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out every test that is not ours: it would run."""
        others = [item for item in items if not is_robust(item)]
        items[:] = [item for item in items if is_robust(item)]
        if others:
            config.hook.pytest_deselected(items=others)

    def add(self, engine: Engine, prompts: Sequence[Prompt], target: Target | CallableTarget | None) -> None:
        """A test's calls; ``target=None`` where only its own code knows them."""
        self.session, self.folder = engine.job.session, engine.state.folder
        if target is None or isinstance(target, CallableTarget) or self.session.store is None:
            self.unknown.append(engine.where)
            return
        for prompt in prompts:
            wire = target.prepare(as_request(prompt))
            if wire.url.startswith(IN_PROCESS):
                continue
            each = Wanted(wire, tuple(engine.job.contract.ignore), engine.where)
            key = each.key(self.session.redaction)
            if key in self._keys:
                continue
            self._keys.add(key)
            if each.is_stored(self.session.store, self.session.redaction):
                self.stored += 1
            else:
                self.wanted.append(each)


def plan_suite(arguments: Sequence[str]) -> Planned:
    """Collect a suite and set its robust tests up, with pytest in this process.

    Args:
        arguments: pytest's own.

    Raises:
        UsageError: pytest cannot collect or set up the suite; the message holds what it printed.
    """
    planned = Planned()
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
