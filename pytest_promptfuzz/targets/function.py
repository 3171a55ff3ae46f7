"""The application's own function as a target."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import TargetError, UsageError, unstopped
from pytest_promptfuzz.targets.model import Response

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_promptfuzz.prompts.prompt import Prompt

_SHOWN = 80


class CallableTarget:
    """A function of the application that takes a prompt and returns an answer.

    The function gets one argument (the one named ``prompt``, or else the only one without a default): a text
    prompt as ``str``, a chat prompt as a list of message dicts; or the ``Prompt`` itself if the parameter is
    annotated so. It may be a coroutine function, a bound method, a partial or an object with ``__call__``. It
    returns text, a ``Response`` or any value that is plain data (JSON, dataclass, pydantic model). What it
    raises is raised by ``call``: whether that is an error or a deviation, the caller decides. Nothing is
    cached here.

    Args:
        function: The function.
        name: How reports name it; by default where it is defined.

    Raises:
        UsageError: If the function cannot be called with one argument.
    """

    def __init__(self, function: Callable[..., Any], *, name: str | None = None) -> None:
        if not callable(function):
            msg = (
                f"The target {_short(function)} is not callable. Give a function of one argument, the prompt."
            )
            raise UsageError(msg)
        self.function = function
        self.name = name or "function:" + _where(function)
        self._keyword, self._wants_prompt = self._parameter()

    def __repr__(self) -> str:
        return f"CallableTarget({self.name!r})"

    @property
    def is_async(self) -> bool:
        """Whether the function is a coroutine function, so that only ``acall`` can call it."""
        inner: Any = self.function
        while hasattr(inner, "func") and not inspect.isfunction(inner):
            inner = inner.func
        # Of an object with __call__, that method is what tells.
        return inspect.iscoroutinefunction(inner) or inspect.iscoroutinefunction(type(inner).__call__)

    def call(self, prompt: str | Prompt | Sequence[Mapping[str, Any]]) -> Any:
        """Call the function and return its value as it is.

        Args:
            prompt: Text, chat messages, or a ``Prompt`` of either.

        Raises:
            UsageError: If the function is asynchronous.
            TargetError: ``not-text``, if it returns ``None`` or what is no plain data.
            Exception: Whatever the function raises.
        """
        if self.is_async:
            raise UsageError(self._asynchronous())
        value = self._invoke(prompt)
        if inspect.isawaitable(value):
            if inspect.iscoroutine(value):
                value.close()
            raise UsageError(self._asynchronous())
        return self._checked(value)

    async def acall(self, prompt: str | Prompt | Sequence[Mapping[str, Any]]) -> Any:
        """As ``call``, for functions of both kinds; a synchronous one runs in the event loop's thread."""
        value = self._invoke(prompt)
        if inspect.isawaitable(value):
            value = await value
        return self._checked(value)

    def _asynchronous(self) -> str:
        return f"The target {self.name!r} is asynchronous. Use it from an async test, or with aevaluate()."

    def _invoke(self, prompt: str | Prompt | Sequence[Mapping[str, Any]]) -> Any:
        given = self._argument(prompt)
        return self.function(given) if self._keyword is None else self.function(**{self._keyword: given})

    def _argument(self, prompt: Any) -> Any:
        if isinstance(prompt, str):
            plain: Any = prompt
        elif hasattr(prompt, "is_chat"):
            plain = [dict(each) for each in prompt.messages] if prompt.is_chat else str(prompt)
            return prompt if self._wants_prompt else plain
        else:
            plain = [dict(each) for each in prompt]
        if self._wants_prompt:
            from pytest_promptfuzz.prompts.prompt import as_prompt

            return as_prompt(plain)
        return plain

    def _parameter(self) -> tuple[str | None, bool]:
        """The name of the argument if it must be given by name, and whether it is to be a ``Prompt``."""
        try:
            parameters = list(inspect.signature(self.function).parameters.values())
        except (TypeError, ValueError):
            # Built-in callables may hide their signature; the call will tell.
            return None, False
        known = [each for each in parameters if each.kind is not each.VAR_KEYWORD]
        needed = [
            each for each in known if each.default is each.empty and each.kind is not each.VAR_POSITIONAL
        ]
        wanted = [each for each in known if each.name == "prompt"] or needed or known
        missing = [each.name for each in needed if each is not wanted[0]]
        if not wanted or missing:
            takes = f"also needs {', '.join(missing)}" if missing else "takes no argument"
            msg = (
                f"The target {self.name!r} {takes}, and a target is called with one argument, the prompt. "
                f"Its signature is {inspect.signature(self.function)}. Wrap it in a function of one argument."
            )
            raise UsageError(msg)
        found = wanted[0]
        by_name = found.kind is found.KEYWORD_ONLY or (found is not known[0] and found.name == "prompt")
        keyword = found.name if by_name else None
        annotation = found.annotation
        words = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
        return keyword, words.rpartition(".")[2] == "Prompt"

    def _checked(self, value: Any) -> Any:
        problem = _problem(value)
        if problem:
            msg = (
                f"The target {self.name!r} returned a response that is not text: {unstopped(problem)}. "
                f"Return text, a Response, or plain data (JSON, dataclass, pydantic model)."
            )
            raise TargetError(msg, kind="not-text")
        return value


def _where(function: Any) -> str:
    while hasattr(function, "func") and not inspect.isfunction(function):
        function = function.func
    if not hasattr(function, "__qualname__"):
        function = type(function)
    # A method of a built-in type names no module.
    return f"{getattr(function, '__module__', None) or 'builtins'}.{function.__qualname__}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _problem(value: Any) -> str:
    """Why a value is no plain data; empty if it is."""
    if isinstance(value, (str, Response)):
        return ""
    if value is None:
        return "None"
    try:
        json.dumps(value, default=_plain, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        return f"{_short(value)} of type {type(value).__name__} ({error})"
    return ""


def _plain(value: Any) -> Any:
    """One step towards JSON for the values that comparison knows how to read."""
    from datetime import date, time
    from decimal import Decimal
    from pathlib import PurePath
    from uuid import UUID

    if isinstance(value, Response):
        return value.text
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    if callable(getattr(value, "model_dump", None)) and not isinstance(value, type):
        return value.model_dump(mode="json")
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (date, time, Decimal, UUID, PurePath)):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return list(value)
    msg = f"a {type(value).__name__} is no plain data"
    raise TypeError(msg)
