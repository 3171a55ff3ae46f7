"""A model asked to judge: through the watch that goes on, once more if its answer cannot be used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pytest_promptfuzz.errors import ConfigurationError, PartError, TargetError, UsageError, unstopped
from pytest_promptfuzz.judging.replies import UnusableAnswerError
from pytest_promptfuzz.judging.wording import again
from pytest_promptfuzz.targets.function import CallableTarget
from pytest_promptfuzz.targets.model import Request, Response
from pytest_promptfuzz.targets.resolve import resolve
from pytest_promptfuzz.wire.ask import ask
from pytest_promptfuzz.wire.intercept import intercepting
from pytest_promptfuzz.wire.watch import Watch, current, watching

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_promptfuzz.judging.wording import Question
    from pytest_promptfuzz.targets.model import Target

Read = TypeVar("Read")
_CUT_OFF = frozenset({"length", "max_tokens", "max_output_tokens", "incomplete"})
_MENDS = {
    "authentication": "Check the API key and what it may do.",
    "not-found": "Check the model name and the base URL.",
}


class Asker:
    """Asks a model, or a function that stands for one.

    Args:
        target: A target's name, a ``Target``, or a function that takes the question as text and returns text.
        parameters: More for the request body; for models only.

    Raises:
        UsageError: A target or parameters of the wrong kind.
        ConfigurationError: No target, or one that cannot be loaded.
    """

    def __init__(
        self, target: str | Target | Callable[..., Any], parameters: Mapping[str, Any] | None
    ) -> None:
        self._named = isinstance(target, str)
        self._target = resolve(target)
        self._parameters = dict(parameters or {})
        if self._parameters and isinstance(self._target, CallableTarget):
            raise UsageError("a judge's parameters= are for models; a function takes none.")

    @property
    def name(self) -> str:
        """The target's name."""
        return self._target.name

    def ask(self, question: Question, read: Callable[[str], Read]) -> Read:
        """What is read of the answer to a question.

        The call is seen by the watch that goes on, so that store, recordings, limits and budget serve it; without one
        it is just made.

        Raises:
            PartError: Neither the first answer nor the second can be used.
            TargetError: The call failed.
            ConfigurationError: The model lacks a key, an extra or a name, or refuses the key.
        """
        messages = [
            {"role": "system", "content": question.orders},
            {"role": "user", "content": question.material},
        ]
        problems: list[str] = []
        for _ in range(2):
            answer = self._answer(messages)
            try:
                return read(_text(answer))
            except UnusableAnswerError as problem:
                problems.append(str(problem))
                said = answer.text if isinstance(answer, Response) else str(answer)
                messages += [
                    {"role": "assistant", "content": said or "(nothing)"},
                    {"role": "user", "content": again(str(problem))},
                ]
        told = "; then, asked again: ".join(problems)
        raise PartError(
            f"the judge {self.name!r} gave no answer that can be used: {told}", part="judge-answer"
        )

    def close(self) -> None:
        """Close the target's clients, if the target was made here; it can be asked again."""
        close = getattr(self._target, "close", None)
        if self._named and close is not None:
            close()

    def _answer(self, messages: list[dict[str, Any]]) -> Any:
        watch = current.get() or Watch()
        try:
            if not isinstance(self._target, CallableTarget):
                return ask(self._target, Request(tuple(messages), self._parameters), watch)
            text = "\n\n".join(each["content"] for each in messages)
            # Its own calls of a model are seen as any others.
            with intercepting(), watching(watch):
                return _called(self._target, text)
        except TargetError as error:
            if error.kind not in _MENDS:
                raise
            raise ConfigurationError(f"the judge {self.name!r}: {error} {_MENDS[error.kind]}") from error


def _called(function: CallableTarget, text: str) -> Any:
    try:
        if function.is_async:
            import asyncio

            return asyncio.run(function.acall(text))
        return function.call(text)
    except (TargetError, ConfigurationError, UsageError):
        raise
    except Exception as error:
        raise PartError(
            f"the judge {function.name!r} raised {type(error).__name__}: {unstopped(error)}", part="judge"
        ) from error


def _text(answer: Any) -> str:
    if isinstance(answer, Response):
        if answer.finish_reason in _CUT_OFF:
            raise UnusableAnswerError("it was cut off at its token limit")
        return answer.text
    if not isinstance(answer, str):
        raise UnusableAnswerError(f"it is {type(answer).__name__}, not text")
    return answer
