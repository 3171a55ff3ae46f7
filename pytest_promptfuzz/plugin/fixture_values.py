"""What the fixtures ``llm`` and ``promptfuzz`` give: the plain API with this run's target, store and settings."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import ConfigurationError, TargetError
from pytest_promptfuzz.evaluating.settings import RUN_KEYS
from pytest_promptfuzz.plugin.marks import is_robust, laid_over, merged, parameters_of
from pytest_promptfuzz.plugin.state import NO_TARGET, State
from pytest_promptfuzz.targets.resolution import CallableTarget, as_request
from pytest_promptfuzz.wire.target_calls import aask, ask
from pytest_promptfuzz.wire.transports import intercepting, note_unattributed
from pytest_promptfuzz.wire.watch import attributed

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

    from pytest_promptfuzz.comparing.comparison import Comparison
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.providers.requests import Request, Response, Target
    from pytest_promptfuzz.results.robustness import Robustness
    from pytest_promptfuzz.wire.watch import Watch


class _Caller:
    """Finds the target of a test, and the watch of the run that goes on."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._state = State.of(item.config)
        self._own: Watch | None = None

    def __repr__(self) -> str:
        """Without an address, so that two failures of the same kind look the same."""
        return "<llm>"

    @property
    def _keys(self) -> dict[str, Any]:
        return merged(self._item)[1] if is_robust(self._item) else {}

    def request(self, prompt: Any, parameters: dict[str, Any]) -> Request:
        """What a call asks: with the parameters of the mark, where the call has none of the same name.

        Raises:
            UsageError: The prompt or the parameters of the mark are wrong.
        """
        return as_request(prompt, **{**parameters_of(self._keys, self._item.nodeid), **parameters})

    @property
    def target(self) -> Target:
        """The target of this test.

        Raises:
            ConfigurationError: None is configured, or it is a function of the application.
        """
        target = self._state.target_of(self._item, self._keys.get("target"))
        if target is None:
            raise ConfigurationError(f"{self._item.nodeid}: {NO_TARGET}")
        if isinstance(target, CallableTarget):
            raise ConfigurationError(
                f"{self._item.nodeid}: `llm` cannot call target={target.name}, a function of the application. Call the "
                "function in the test's body."
            )
        return target

    def watch(self) -> Watch:
        """The watch of the run that goes on, in any thread; one of the test's own outside a robust test.

        Raises:
            TargetError: Several runs go on, and this thread does not carry the context of one.
        """
        watch, running = attributed()
        if watch is not None:
            return watch
        if running:
            raise TargetError(note_unattributed(running, self.target.name), kind="unattributed")
        if self._own is None:
            watches = self._state.session_of(self._item).test()
            watches.done()
            self._own = watches.watch()
        return self._own


class Llm(_Caller):
    """``llm(prompt, **parameters) -> Response``: one call of the configured model, through the store."""

    def __call__(self, prompt: Any, **parameters: Any) -> Response:
        """Ask.

        Args:
            prompt: Text, a ``Prompt``, or chat messages.
            parameters: More for the request body, e.g. ``temperature=0``.

        Raises:
            ConfigurationError: No target, key or extra.
            TargetError: The call failed.
        """
        with intercepting():
            return ask(self.target, self.request(prompt, parameters), self.watch())


class AsyncLlm(_Caller):
    """As ``Llm``, for ``async def`` tests: ``await llm(prompt)``."""

    async def __call__(self, prompt: Any, **parameters: Any) -> Response:
        """Ask, as ``Llm``."""
        with intercepting():
            return await aask(self.target, self.request(prompt, parameters), self.watch())


def make_llm(item: pytest.Item) -> Llm | AsyncLlm:
    """The ``llm`` of a test: awaitable in an ``async def`` test."""
    function = inspect.unwrap(getattr(item, "obj", lambda: None))
    return AsyncLlm(item) if inspect.iscoroutinefunction(function) else Llm(item)


class Promptfuzz:
    """The plain API with this run's target, store, seed and embedder."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._state = State.of(item.config)

    def mutate(
        self, prompt: Any, n: Any = None, *, seed: int | None = None, **settings: Any
    ) -> list[Mutation]:
        """``n`` mutations of a prompt, or the run's; ``settings`` are ``operators`` and ``part``."""
        from pytest_promptfuzz.mutations.engine.planner import mutate

        given = settings if n is None else {"mutations": n, **settings}
        chosen = laid_over(self._state.choice.contract, given)
        return mutate(prompt, chosen.pop("mutations"), seed=self._seed(seed), **chosen)

    def compare(self, baseline: Any, response: Any, **settings: Any) -> Comparison:
        """Compare a response with its baseline."""
        from pytest_promptfuzz.comparing.profiles import named
        from pytest_promptfuzz.judging.compare import compare

        settings = named(settings, self._state.profiles, "promptfuzz.compare")
        session = self._state.session
        models = {"semantic": session.embedder or False, "entailment": session.entailment or False}
        return compare(baseline, response, **(models | settings))

    def evaluate(self, prompt: Any, target: Any = None, **settings: Any) -> Robustness:
        """The robustness of a prompt on the configured target, or another.

        Raises:
            ConfigurationError: No target.
        """
        from pytest_promptfuzz.evaluating.evaluate import evaluate

        return evaluate(
            prompt,
            self._target(target),
            session=self._state.session_of(self._item),
            **self._settings(settings),
        )

    async def aevaluate(self, prompt: Any, target: Any = None, **settings: Any) -> Robustness:
        """As ``evaluate``, with the mutations' calls concurrent."""
        from pytest_promptfuzz.evaluating.evaluate import aevaluate

        return await aevaluate(
            prompt,
            self._target(target),
            session=self._state.session_of(self._item),
            **self._settings(settings),
        )

    def _target(self, target: Any) -> Any:
        found = self._state.target_of(self._item, target)
        if found is None:
            raise ConfigurationError(f"{self._item.nodeid}: {NO_TARGET}")
        return found

    def _settings(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        run = self._state.settings
        defaults = {key: run[key] for key in RUN_KEYS if run[key] is not None}
        if settings.get("profile") is not None:
            defaults.pop("task", None)
        given = laid_over({**self._state.choice.contract, **defaults}, settings)
        if not self._state.profiles:
            return given
        from pytest_promptfuzz.comparing.profiles import named

        return named(given, self._state.profiles, "promptfuzz.evaluate")

    def _seed(self, seed: int | None) -> int:
        chosen: int = self._state.settings["seed"] if seed is None else seed
        return chosen
