"""Declarative tests: the plugin asks the prompt of the target for every input, and the test's body only checks."""

from __future__ import annotations

import functools
import inspect
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import ConfigurationError, UsageError
from pytest_promptfuzz.evaluating.evaluate import Cases, TargetAsker, read_inputs, watch_of_the_run
from pytest_promptfuzz.plugin.execution.bodies import ends_test, subtests_stand_in
from pytest_promptfuzz.plugin.marks import is_robust, merged, parameters_of
from pytest_promptfuzz.plugin.state import NO_TARGET
from pytest_promptfuzz.prompts.messages import TEMPLATE
from pytest_promptfuzz.prompts.prompt import Prompt, as_prompt
from pytest_promptfuzz.running.run import adrive, drive
from pytest_promptfuzz.targets.resolution import CallableTarget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import pytest

    from pytest_promptfuzz.evaluating.background_calls import Calls
    from pytest_promptfuzz.evaluating.evaluate import Input
    from pytest_promptfuzz.evaluating.evaluation import Evaluation
    from pytest_promptfuzz.prompts.messages import MutatedPart
    from pytest_promptfuzz.providers.requests import Target


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
        missing = "take the argument `response` as well" if is_robust(node) else "mark the test @robust"
        raise UsageError(
            f"{node.nodeid}: only declarative tests have the fixture `{name}`. Leave it out, or {missing} "
            "(docs/declarative.md)."
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
        raise UsageError(
            f"{item.nodeid}: the test has no prompt. Write @robust(PROMPT), define a fixture named `prompt`, or "
            "parametrize `prompt`."
        )
    if isinstance(given, str) and given.endswith(_FILE_ENDINGS) and len(given.split()) == 1:
        raise UsageError(
            f"{item.nodeid}: the prompt {given!r} looks like a file's name. Write "
            f"@robust(Prompt.from_file({given!r})) to use what is in the file."
        )
    return as_prompt(given)


class DeclarativeTest:
    """What a declarative test declares, apart from its prompt.

    Args:
        item: The test.
        keys: The keys of its marks.
        target: Who is asked; ``None`` where none is configured.

    Attributes:
        asker: Asks it, with the parameters of the mark.

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
        self.asker = TargetAsker(target, parameters_of(keys, self.where))
        if self.asker.parameters and isinstance(target, CallableTarget):
            raise UsageError(
                f"{self.where}: parameters= are for models; a function of the application takes none."
            )

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
            read_inputs(self._inputs, prompt, self.where, self._expected, self._item.path.parent),
            same_mutations=not part.wants_input,
        )


def declarative_test(
    item: pytest.Function, keys: Mapping[str, Any], target: Target | CallableTarget | None
) -> DeclarativeTest | None:
    """What a test declares; ``None`` for one that makes its calls itself.

    Raises:
        UsageError: It does, and has ``inputs=``; or as :class:`DeclarativeTest`.
        ConfigurationError: As :class:`DeclarativeTest`.
    """
    if is_declarative(item):
        return DeclarativeTest(item, keys, target)
    if parameters_of(keys, item.nodeid) and "llm" not in item.fixturenames:
        raise UsageError(
            f"{item.nodeid}: parameters= is for requests that the plugin makes, and here the test's own code makes "
            "them. Give them there, or take the argument `response` or `llm`."
        )
    if "inputs" in keys:
        raise UsageError(
            f"{item.nodeid}: inputs= is for tests whose calls the plugin makes; take the argument `response` and check "
            "it, or leave inputs= out and parametrize the test."
        )
    return None


def _placed(arguments: Mapping[str, Any], *, prompt: Prompt, given: Input, response: Any) -> dict[str, Any]:
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


def check(
    evaluation: Evaluation,
    calls: Calls,
    original: Callable[..., Any],
    arguments: Callable[[], dict[str, Any]],
    ran: Callable[[], None],
) -> None:
    """Run a sync test: every input, the baseline and every mutation.

    Args:
        evaluation: That of the test.
        calls: Its calls, under way.
        original: Its body.
        arguments: Makes the arguments of the next run.
        ran: Called after each run.
    """

    def body(prompt: Prompt) -> Any:
        given, sent, response = calls.ask(prompt, watch_of_the_run())
        placed, own = subtests_stand_in(_placed(arguments(), prompt=sent, given=given, response=response))
        with _given(evaluation, response):
            returned = original(**placed)
            own.settle()
        ran()
        return response if returned is None else returned

    try:
        for given in calls.cases.inputs:
            steps = evaluation.case(calls.cases.prompt_of(given), given.name, given.expected)
            drive(steps, body, ends_test, begin=calls.begin)
        drive(evaluation.again(), body, ends_test, begin=calls.begin)
    finally:
        calls.close()


async def acheck(
    evaluation: Evaluation,
    calls: Calls,
    original: Callable[..., Any],
    arguments: dict[str, Any],
    ran: Callable[[], None],
) -> None:
    """As ``check``, for an async test, whose runs share their arguments."""

    async def body(prompt: Prompt) -> Any:
        given, sent, response = await calls.aask(prompt, watch_of_the_run())
        placed, own = subtests_stand_in(_placed(arguments, prompt=sent, given=given, response=response))
        with _given(evaluation, response):
            returned = await original(**placed)
            own.settle()
        ran()
        return response if returned is None else returned

    try:
        for given in calls.cases.inputs:
            steps = evaluation.case(calls.cases.prompt_of(given), given.name, given.expected)
            await adrive(steps, body, ends_test, concurrency=1, begin=calls.begin)
        await adrive(evaluation.again(), body, ends_test, concurrency=1, begin=calls.begin)
    finally:
        calls.close()


@contextmanager
def _given(evaluation: Evaluation, response: Any) -> Iterator[None]:
    """Keep what a body fails on: a function of the application leaves no trace of what it answered."""
    try:
        yield
    except BaseException:
        evaluation.settings.body.given[watch_of_the_run()] = response
        raise


def baselines_of(
    item: pytest.Item, keys: Mapping[str, Any], target: Target | CallableTarget | None
) -> Callable[..., Any]:
    """The body of a declarative test for the unmutated prompt alone, once for every input."""
    original: Callable[..., Any] = item.obj  # type: ignore[attr-defined]  # a test function has one
    declarative = DeclarativeTest(item, keys, target)  # type: ignore[arg-type]  # as above
    asker = declarative.asker

    @functools.wraps(original)
    def body(**arguments: Any) -> None:
        cases = declarative.cases(arguments)
        for given in cases.inputs:
            sent = cases.sent(cases.prompt, given)
            response = asker.ask(sent)
            original(**_placed(arguments, prompt=sent, given=given, response=response))

    @functools.wraps(original)
    async def abody(**arguments: Any) -> None:
        cases = declarative.cases(arguments)
        for given in cases.inputs:
            sent = cases.sent(cases.prompt, given)
            response = await asker.aask(sent)
            await original(**_placed(arguments, prompt=sent, given=given, response=response))

    return abody if inspect.iscoroutinefunction(original) else body
