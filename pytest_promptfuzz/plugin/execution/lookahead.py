"""Calls of declarative tests made before their turn: those of the next few tests of the run."""

from __future__ import annotations

import functools
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.errors import PromptfuzzError
from pytest_promptfuzz.evaluating.background_calls import BASELINES, MUTATIONS, NOW, BackgroundCaller, Calls
from pytest_promptfuzz.plugin.execution.declarative_tests import is_declarative
from pytest_promptfuzz.plugin.execution.engine import Engine
from pytest_promptfuzz.plugin.marks import merged
from pytest_promptfuzz.plugin.output.outcome import SessionResults
from pytest_promptfuzz.plugin.output.progress import ItemProgress
from pytest_promptfuzz.plugin.state import State

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.plugin.execution.declarative_tests import DeclarativeTest
    from pytest_promptfuzz.providers.requests import Target
    from pytest_promptfuzz.targets.resolution import CallableTarget


_PLUGIN = "promptfuzz-lookahead"


class LookAhead:
    """Makes the calls of declarative tests, in the background.

    Calls are begun while a declarative test runs only: what other tests do to the process (patches, forks, a clock that
    stands still) is not to meet them.

    Args:
        window: How many tests after the running one may have their calls made.
        session: How many calls at once, and where answers are stored.
    """

    def __init__(self, window: int, session: Session) -> None:
        self._window = window
        self._engines: dict[pytest.Item, Engine | None] = {}
        self._places: dict[pytest.Item, int] = {}
        self.line = BackgroundCaller(session.concurrency, store=session.store)

    @classmethod
    def of(cls, config: pytest.Config) -> LookAhead:
        """The run's, made for its first declarative test; pytest tells it of every item that follows."""
        found = config.stash.get(_LOOKAHEAD, None)
        if found is None:
            state = State.of(config)
            found = config.stash[_LOOKAHEAD] = cls(state.settings["lookahead"], state.session)
            config.pluginmanager.register(found, _PLUGIN)
            state.when_over(functools.partial(found.end, config))
        return found

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """The run has come to an item, which may be of any kind."""
        if is_declarative(item):
            self.line.resume()
        else:
            self.line.pause()

    def engine(self, item: pytest.Function) -> Engine:
        """The engine of the item that runs: the one whose calls were made ahead, if its marks are still the same.

        Raises:
            PromptfuzzError: As the engine.
        """
        engine = self._engines.get(item)
        self._engines[item] = None  # a rerun asks anew
        if engine is None or engine.marks != merged(item):
            if engine is not None and engine.calls is not None:
                engine.calls.close()
            engine = Engine(item, ItemProgress(item))
        engine.begin_calls = self.calls
        return engine

    def calls(self, engine: Engine, declarative: DeclarativeTest, arguments: Mapping[str, Any]) -> Calls:
        """The calls of the test that runs, under way; those of the next ones behind them.

        Raises:
            UsageError: There is no prompt, or the inputs do not fit it or the test.
        """
        place = self._place(engine.item)
        cases = declarative.cases(arguments, engine.evaluation.contract.plan.part)
        engine.evaluation.check_expected((each.name, each.expected) for each in cases.inputs)
        target = _now(declarative.asker.target)
        calls = engine.calls
        if calls is not None and (calls.cases != cases or not _same(calls.asker.target, target)):
            calls.close()
            calls = None
        if calls is None:
            line = None if target is None else self.line
            calls = engine.calls = Calls(
                engine.evaluation,
                cases,
                replace(declarative.asker, target=target or declarative.asker.target),
                line,
                in_turn=engine.searches,
            )
            if self._window and engine.evaluation.settings.only is None:
                # Before the first call: to load all operators takes the processor that calls under way need.
                with suppress(PromptfuzzError):  # said when its turn comes
                    calls.plan()
            calls.ask_baselines(NOW, place)
        if self._window and engine.evaluation.settings.only is None:
            coming = [*self._coming(engine.item, place)]
            _ask_mutations(calls, place)
            for number, each in coming:
                _ask_mutations(each, number)
        return calls

    def end(self, config: pytest.Config) -> None:
        """No further test will run: stop, keep what was answered, and count the calls that no test took."""
        self.line.close()
        SessionResults.of(config).unused_calls += self.line.unused
        config.pluginmanager.unregister(self)
        del config.stash[_LOOKAHEAD]

    def _place(self, item: pytest.Item) -> int:
        if not self._places:
            self._places = {each: number for number, each in enumerate(item.session.items)}
        return self._places.get(item, 0)

    def _coming(self, item: pytest.Item, place: int) -> Iterator[tuple[int, Calls]]:
        """The calls of the next declarative tests, their baselines under way."""
        if hasattr(item.config, "workerinput"):
            # A worker of xdist has every test collected, and knows of its own no more than the next.
            following = State.of(item.config).following
            coming = [following] if following is not None else []
        else:
            coming = item.session.items[place + 1 :]
        found = 0
        for each in coming:
            if not isinstance(each, pytest.Function) or not is_declarative(each):
                continue
            number = self._place(each)
            calls = self._prepared(each, number)
            if calls is not None:
                yield number, calls
            found += 1
            if found == self._window:
                return

    def _prepared(self, item: pytest.Function, place: int) -> Calls | None:
        """The calls of a test to come, its baselines under way; ``None`` where they cannot be known yet."""
        if item in self._engines:
            engine = self._engines[item]
            return None if engine is None else engine.calls
        self._engines[item] = None
        if any(item.iter_markers("skip")) or any(item.iter_markers("skipif")):
            return None
        try:
            engine = Engine(item, ItemProgress(item))
            declarative = engine.declarative
            prompt = None if declarative is None else declarative.known_prompt()
            # What another target does may depend on what the test sets up before it.
            if declarative is None or prompt is None or not hasattr(declarative.asker.target, "bound"):
                return None
            cases = declarative.cases({"prompt": prompt}, engine.evaluation.contract.plan.part)
            engine.evaluation.check_expected((each.name, each.expected) for each in cases.inputs)
            own = _now(declarative.asker.target)
        except PromptfuzzError:
            return None  # said when its turn comes
        if own is None:
            return None
        engine.calls = Calls(
            engine.evaluation,
            cases,
            replace(declarative.asker, target=own),
            self.line,
            in_turn=engine.searches,
        )
        self._engines[item] = engine
        engine.calls.ask_baselines(BASELINES, place)
        return engine.calls


def _ask_mutations(calls: Calls, place: int) -> None:
    if calls.mutations_asked:
        return
    try:
        calls.ask_mutations(MUTATIONS, place)
    except PromptfuzzError:
        return  # said when its turn comes


def _now(target: Target | CallableTarget) -> Target | CallableTarget | None:
    """The target as the environment has it now; ``None`` where it lacks what a call needs."""
    bound = getattr(target, "bound", None)
    try:
        found: Target | CallableTarget = target if bound is None else bound()
    except PromptfuzzError:
        return None  # a missing key matters to who has to ask, and is said there
    return found


def _same(one: Any, other: Any) -> bool:
    return one is other or (hasattr(one, "bound_like") and bool(one.bound_like(other)))


_LOOKAHEAD = pytest.StashKey[LookAhead]()
