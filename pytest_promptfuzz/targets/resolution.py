"""``target=``: from a name such as ``openai:gpt-5-mini``, or from a function or object, to a target."""

from __future__ import annotations

import contextlib
import inspect
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import (
    ConfigurationError,
    PromptfuzzError,
    TargetError,
    UsageError,
    close_names,
    nearest,
    unstopped,
)
from pytest_promptfuzz.providers.requests import Request, Response, Target
from pytest_promptfuzz.text.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager
    from importlib.metadata import EntryPoint

    from pytest_promptfuzz.prompts.prompt import Prompt


# The application's own function as a target.


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


ENTRY_POINTS = "promptfuzz.targets"
"""The group of entry points by which other packages add schemes.

The name is the scheme; the object is called with the whole name and the options,
``factory("scheme:rest", **options)``, and returns a ``Target`` or a ``CallableTarget``.
"""

# Written as entry points are, and loaded in the same way.
_OWN = {
    "openai": "pytest_promptfuzz.targets.sdk_clients:OpenAITarget.from_name",
    "openai-responses": "pytest_promptfuzz.targets.sdk_clients:OpenAIResponsesTarget.from_name",
    "anthropic": "pytest_promptfuzz.targets.sdk_clients:AnthropicTarget.from_name",
    "compatible": "pytest_promptfuzz.targets.sdk_clients:CompatibleTarget.from_name",
    "simulated": "pytest_promptfuzz.targets.simulated:SimulatedTarget.parse_name",
}
_NAMES = "'openai:MODEL', 'openai-responses:MODEL', 'anthropic:MODEL', 'compatible:MODEL@URL' or 'simulated'"
_HOW = f"Write {_NAMES}, or give a function of one argument, the prompt"
_SCHEME = expression(r"[A-Za-z][A-Za-z0-9_.-]*")
_MODELS = (
    (re.compile(r"(?:chatgpt|gpt|o\d)(?:[-.\d]|$)", re.IGNORECASE), "openai"),
    (re.compile(r"claude", re.IGNORECASE), "anthropic"),
)


def resolve(target: str | Target | Callable[..., Any] | None, **options: Any) -> Target | CallableTarget:
    """The target that is meant.

    Args:
        target: A name (``openai:gpt-5-mini``, ``simulated?noise=0.2&seed=3``), a target, or a function.
        options: For names only: ``timeout``, ``max_retries``, ``base_url``, ``api_key``, ``parameters``, or
            what the named kind of target takes.

    Returns:
        A model's target, or a ``CallableTarget`` for a function.

    Raises:
        ConfigurationError: If there is no target, or an installed package's target cannot be loaded.
        UsageError: For an unknown scheme, a missing model name, or an option that the target does not take.
    """
    if target is None or (isinstance(target, str) and not target.strip()):
        msg = f"No target. {_HOW}."
        raise ConfigurationError(msg)
    if isinstance(target, str):
        return _named(target.strip(), options)
    if options:
        what = ", ".join(sorted(options))
        msg = f"Options ({what}) go with a target's name, and {target!r} is none. Set them where it is made."
        raise UsageError(msg)
    if isinstance(target, CallableTarget):
        return target
    if not isinstance(target, type) and isinstance(target, Target):
        return target
    if callable(target):
        return CallableTarget(target)
    msg = f"target={target!r:.60} is neither the name of a model nor a function. {_HOW}."
    raise UsageError(msg)


def connected(target: object) -> AbstractAsyncContextManager[None]:
    """Keep a model's connections between the calls of one event loop, until the block ends."""
    held: Callable[[], AbstractAsyncContextManager[None]] = getattr(
        target, "held_connections", contextlib.nullcontext
    )
    return held()


def schemes() -> tuple[str, ...]:
    """The schemes that can be named, our own and those of installed packages, sorted."""
    return tuple(sorted({*_OWN, *(each.name for each in _installed())}))


def _named(name: str, options: dict[str, Any]) -> Target | CallableTarget:
    scheme = _scheme(name)
    factory = _factory(scheme)
    if factory is None:
        raise UsageError(_unknown(name, scheme))
    try:
        inspect.signature(factory).bind(name, **options)
    except TypeError as error:
        msg = f"Target {scheme!r} does not take these options: {unstopped(error)}."
        raise UsageError(msg) from None
    made = factory(name, **options)
    if not isinstance(made, (Target, CallableTarget)):
        msg = f"The scheme {scheme!r} made a {type(made).__name__} of {name!r}, which is not a target."
        raise ConfigurationError(msg)
    return made


def _scheme(name: str) -> str:
    """What stands before the colon of a target's name; empty where nothing can."""
    found = _SCHEME.match(name)
    scheme = found[0] if found else ""
    return scheme if name[len(scheme) : len(scheme) + 1] in {"", ":", "?"} else ""


def _factory(scheme: str) -> Callable[..., Any] | None:
    from importlib.metadata import EntryPoint

    if scheme in _OWN:
        factory: Callable[..., Any] = EntryPoint(scheme, _OWN[scheme], ENTRY_POINTS).load()
        return factory
    for entry in _installed():
        if entry.name == scheme:
            try:
                factory = entry.load()
            except PromptfuzzError:
                raise
            except Exception as error:
                package = entry.dist.name if entry.dist else entry.value
                msg = f"The target {scheme!r} of package {package!r} cannot be loaded: {unstopped(error)}."
                raise ConfigurationError(msg) from error
            return factory
    return None


def _installed() -> list[EntryPoint]:
    from importlib.metadata import entry_points

    return sorted(entry_points(group=ENTRY_POINTS), key=lambda each: (each.name, each.value))


def is_unknown(name: str) -> bool:
    """Whether a name is no target's, though it might be something else's."""
    return _factory(_scheme(name.strip())) is None and not any(each.match(name) for each, _ in _MODELS)


def check_name(name: str) -> None:
    """Refuse the name of a target that no scheme begins, and wrong settings of the simulated model; no SDK is loaded.

    Raises:
        UsageError: As :func:`resolve`.
    """
    scheme = _scheme(name.strip())
    if scheme not in _OWN and scheme not in schemes():
        raise UsageError(_unknown(name.strip(), scheme))
    if scheme == "simulated":
        resolve(name)


def how_to_name(*more: str) -> str:
    """How models are named, our own and those of installed packages; ``more`` may be named as well."""
    others = [*(f"'{each}:…'" for each in schemes() if each not in _OWN), *map(repr, more)]
    return f"Write {_NAMES}" + (f", or {', '.join(others)}." if others else ".")


def _unknown(name: str, scheme: str) -> str:
    for pattern, provider in _MODELS:
        if pattern.match(name):
            return f"target={name!r} names no provider. Did you mean '{provider}:{name}'?"
    close = close_names(scheme.lower(), schemes())
    hint = f"Did you mean '{close[0]}{name[len(scheme) :]}'?" if close else how_to_name()
    return f"target={name!r} is no model. {hint}"


# From whatever a caller has as a prompt to a ``Request``.


_ROLES = ("system", "developer", "user", "assistant", "tool", "function")


def as_request(prompt: str | Prompt | Sequence[Mapping[str, Any]], **parameters: Any) -> Request:
    """The request that asks a prompt of a model.

    Args:
        prompt: Text (one user message), a ``Prompt``, or chat messages in the OpenAI style.
        parameters: Anything else for the request body, ``temperature=0`` ...

    Raises:
        UsageError: For an empty prompt, another type, or a message that is none; names the message.

    >>> as_request("Hi", temperature=0).messages
    ({'role': 'user', 'content': 'Hi'},)
    """
    if isinstance(prompt, str):
        if not prompt.strip():
            msg = "The prompt is empty. Give it some text."
            raise UsageError(msg)
        return Request(({"role": "user", "content": prompt},), parameters)
    messages: Any = getattr(prompt, "messages", prompt)
    if not isinstance(messages, Sequence) or isinstance(messages, (bytes, bytearray)):
        msg = (
            f"The prompt is of type {type(prompt).__name__}. "
            'Give text, a Prompt, or messages such as [{"role": "user", "content": "..."}].'
        )
        raise UsageError(msg)
    if not messages:
        msg = "The prompt holds no messages. Give at least one."
        raise UsageError(msg)
    return Request(tuple(_message(each, index) for index, each in enumerate(messages)), parameters)


def _message(message: object, index: int) -> dict[str, Any]:
    if not isinstance(message, Mapping):
        msg = (
            f"Message {index} of the prompt is of type {type(message).__name__}. "
            'Write {"role": "user", "content": "..."}.'
        )
        raise UsageError(msg)
    found = dict(message)
    role, content = found.get("role"), found.get("content")
    if not isinstance(role, str) or role not in _ROLES:
        hint = nearest(role, _ROLES) if isinstance(role, str) else "Known: " + ", ".join(_ROLES) + "."
        msg = f"Message {index} of the prompt has the role {role!r}. {hint}"
        raise UsageError(msg)
    if content is None and role == "assistant" and found.get("tool_calls"):
        return found
    if not isinstance(content, str) and not (
        isinstance(content, Sequence) and not isinstance(content, bytes)
    ):
        msg = (
            f"Message {index} of the prompt has content of type {type(content).__name__}. "
            "Use text, or a list of parts."
        )
        raise UsageError(msg)
    return found
