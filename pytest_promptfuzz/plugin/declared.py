"""Declarative tests: the plugin asks the prompt of the target for every input, and the test's body only checks."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import ConfigurationError, TargetError, UsageError
from pytest_promptfuzz.evaluating.evaluate import Cases, Input, read_inputs
from pytest_promptfuzz.evaluating.settings import RUN_KEYS
from pytest_promptfuzz.plugin.marks import is_robust, laid_over, merged
from pytest_promptfuzz.plugin.state import State
from pytest_promptfuzz.prompts.messages import TEMPLATE
from pytest_promptfuzz.prompts.prompt import Prompt, as_prompt
from pytest_promptfuzz.targets.resolution import CallableTarget, as_request
from pytest_promptfuzz.wire.target_calls import aask, ask
from pytest_promptfuzz.wire.transports import intercepting, note_unattributed
from pytest_promptfuzz.wire.watch import attributed

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

    from pytest_promptfuzz.comparing.comparison import Comparison
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.prompts.messages import MutatedPart
    from pytest_promptfuzz.providers.requests import Response, Target
    from pytest_promptfuzz.results.robustness import Robustness
    from pytest_promptfuzz.wire.watch import Watch


# What the fixtures ``llm`` and ``promptfuzz`` are: the plain API, with this run's target, store and settings.


NO_TARGET = (
    "no target is configured. Write @robust(target='openai:gpt-5-mini'), --promptfuzz-target=…, or "
    "promptfuzz_target in the ini file; 'simulated' needs no key."
)


class _Caller:
    """Finds the target of a test, and the watch of the run that goes on."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._state = State.of(item.config)
        self._own: Watch | None = None

    @property
    def target(self) -> Target:
        """The target of this test.

        Raises:
            ConfigurationError: None is configured, or it is a function of the application.
        """
        keys = merged(self._item)[1] if is_robust(self._item) else {}
        target = self._state.target(keys.get("target"))
        if target is None:
            raise ConfigurationError(f"{self._item.nodeid}: `llm` was called, and {NO_TARGET}")
        if isinstance(target, CallableTarget):
            raise ConfigurationError(
                f"{self._item.nodeid}: `llm` calls models, and target={target.name} is a function of the application. "
                "Call it in the test's body."
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
            return ask(self.target, as_request(prompt, **parameters), self.watch())


class AsyncLlm(_Caller):
    """As ``Llm``, for ``async def`` tests: ``await llm(prompt)``."""

    async def __call__(self, prompt: Any, **parameters: Any) -> Response:
        """Ask, as ``Llm``."""
        with intercepting():
            return await aask(self.target, as_request(prompt, **parameters), self.watch())


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
        found = self._state.target(target)
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


_FILE_ENDINGS = (".txt", ".md", ".json", ".prompt", ".tmpl", ".jinja", ".jinja2", ".j2")
_OURS = "pytest_promptfuzz.plugin.fixtures"


class StandIn:
    """What ``response`` and ``input`` are until a run of the body puts the real thing in their place."""

    def __init__(self, name: str, where: str) -> None:
        self._name = name
        self._where = where

    def __getattr__(self, name: str) -> Any:
        raise UsageError(
            f"{self._where}: `{self._name}` is what the test's own body checks; a fixture cannot read it."
        )


def stand_in(node: pytest.Item, name: str) -> StandIn:
    """The value of a fixture that only declarative tests have.

    Raises:
        UsageError: The test is none.
    """
    if not is_robust(node) or not takes_response(node):
        marked = "takes the argument `response`" if is_robust(node) else "is marked @robust"
        raise UsageError(
            f"{node.nodeid} asks for `{name}`, which a declarative test has, one that {marked} (docs/declarative.md)."
        )
    return StandIn(name, node.nodeid)


def takes_response(item: pytest.Item) -> bool:
    """Whether a test takes the argument ``response``, and no fixture of the user's own has that name."""
    return _takes(item, "response") and _is_ours(item, "response")


def _takes(item: pytest.Item, name: str) -> bool:
    info = getattr(item, "_fixtureinfo", None)
    return info is not None and name in info.argnames


def _is_ours(item: pytest.Item, name: str) -> bool:
    return _made_by(item, name) == _OURS


def _made_by(item: pytest.Item, name: str) -> str:
    """The module of the fixture function that makes an argument."""
    found = item._fixtureinfo.name2fixturedefs.get(name)  # type: ignore[attr-defined]  # noqa: SLF001 - no public way
    return str(getattr(found[-1].func, "__module__", "")) if found else ""


def is_declarative(item: pytest.Item) -> bool:
    """Whether the plugin makes the calls of a test."""
    return is_robust(item) and takes_response(item)


def given_prompt(item: pytest.Item) -> Prompt:
    """The prompt given to ``@robust(PROMPT)``.

    Raises:
        UsageError: There is none, it cannot be read, or it looks like a file's name.
    """
    given, _ = merged(item)
    if given is None:
        asks = "is declarative" if is_declarative(item) else "asks for `prompt`"
        raise UsageError(
            f"{item.nodeid} {asks}, and no prompt is given. Write @robust(PROMPT), define a fixture "
            "named `prompt`, or parametrize `prompt`."
        )
    if isinstance(given, str) and given.endswith(_FILE_ENDINGS) and len(given.split()) == 1:
        raise UsageError(
            f"{item.nodeid}: the prompt {given!r} looks like a file's name. Write "
            f"@robust(Prompt.from_file({given!r})) to use what is in the file."
        )
    return as_prompt(given)


class Declared:
    """What a declarative test declares, apart from its prompt.

    Args:
        item: The test.
        keys: The keys of its marks.
        target: Who is asked; ``None`` where none is configured.

    Raises:
        UsageError: A key that only bodies that call the model themselves can have.
        ConfigurationError: There is no target.
    """

    def __init__(
        self, item: pytest.Function, keys: Mapping[str, Any], target: Target | CallableTarget | None
    ) -> None:
        self.where = item.nodeid
        if "mutate" in keys:
            raise UsageError(
                f"{self.where}: mutate= names what a test's body gives to the model, and here the plugin makes the "
                "calls. Give the prompt to the mark: @robust(PROMPT, inputs=[…])."
            )
        if hasattr(item.obj, "hypothesis"):
            raise UsageError(
                f"{self.where}: @given draws examples for a body that calls the model itself, and here the plugin "
                "makes the calls. Give the examples as inputs=, or call `llm` instead of taking `response`."
            )
        if target is None:
            raise ConfigurationError(f"{self.where}: {NO_TARGET}")
        self._item = item
        self._inputs, self._expected = keys.get("inputs"), keys.get("expected")
        self.target = target

    def known_prompt(self) -> Prompt | None:
        """The prompt, if it is known before fixtures are set up.

        Raises:
            UsageError: There is none, or it cannot be read.
        """
        parameters = getattr(getattr(self._item, "callspec", None), "params", {})
        if not _takes(self._item, "prompt") or _is_ours(self._item, "prompt"):
            return given_prompt(self._item)
        # A parameter that a fixture is made of is not yet the prompt.
        direct = "prompt" in parameters and _made_by(self._item, "prompt") == "_pytest.python"
        return as_prompt(parameters["prompt"]) if direct else None

    def cases(self, arguments: Mapping[str, Any], part: MutatedPart = TEMPLATE) -> Cases:
        """The prompt and its inputs.

        Args:
            arguments: The test's own, where a fixture or a parameter may be the prompt.
            part: The text that mutations may touch.

        Raises:
            UsageError: There is no prompt, or the inputs do not fit it.
        """
        given = arguments.get("prompt")
        prompt = as_prompt(given) if given is not None else given_prompt(self._item)
        return Cases(
            prompt,
            read_inputs(self._inputs, prompt, self.where, self._expected),
            same_mutations=not part.wants_input,
        )


def declaration(
    item: pytest.Function, keys: Mapping[str, Any], target: Target | CallableTarget | None
) -> Declared | None:
    """What a test declares; ``None`` for one that makes its calls itself.

    Raises:
        UsageError: It does, and has ``inputs=``; or as :class:`Declared`.
        ConfigurationError: As :class:`Declared`.
    """
    if is_declarative(item):
        return Declared(item, keys, target)
    if "inputs" in keys:
        raise UsageError(
            f"{item.nodeid}: inputs= is for tests whose calls the plugin makes; take the argument `response` and check "
            "it, or leave inputs= out and parametrize the test."
        )
    return None


def checked(arguments: Mapping[str, Any], *, prompt: Prompt, given: Input, response: Any) -> dict[str, Any]:
    """The arguments of one run of a declarative test's body.

    Args:
        arguments: As pytest made them.
        prompt: What was sent.
        given: The input.
        response: What was answered.
    """
    real = {"response": response, "input": given.value}
    found = {name: real[name] if isinstance(value, StandIn) else value for name, value in arguments.items()}
    return {**found, "prompt": prompt} if "prompt" in found else found
