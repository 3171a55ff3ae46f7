"""From the name of a target, or anything that can be one, to the target."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import ConfigurationError, PromptfuzzError, UsageError, nearest, unstopped
from pytest_promptfuzz.targets.function import CallableTarget
from pytest_promptfuzz.targets.model import Target

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "promptfuzz.targets"
"""The group of entry points by which other packages add schemes.

The name is the scheme; the object is called with the whole name and the options,
``factory("scheme:rest", **options)``, and returns a ``Target`` or a ``CallableTarget``.
"""

# Written as entry points are, and loaded in the same way.
_OWN = {
    "openai": "pytest_promptfuzz.targets.openai:OpenAITarget.from_name",
    "openai-responses": "pytest_promptfuzz.targets.openai:OpenAIResponsesTarget.from_name",
    "anthropic": "pytest_promptfuzz.targets.anthropic:AnthropicTarget.from_name",
    "compatible": "pytest_promptfuzz.targets.compatible:CompatibleTarget.from_name",
    "simulated": "pytest_promptfuzz.targets.simulated:SimulatedTarget.parse_name",
}
_HOW = (
    "Write 'openai:MODEL', 'openai-responses:MODEL', 'anthropic:MODEL', 'compatible:MODEL@URL' or "
    "'simulated', or give a function of one argument, the prompt"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
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
        msg = f"No target is configured. {_HOW}."
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
    msg = f"The target is of type {type(target).__name__}. {_HOW}."
    raise UsageError(msg)


def schemes() -> tuple[str, ...]:
    """The schemes that can be named, our own and those of installed packages, sorted."""
    return tuple(sorted({*_OWN, *(each.name for each in _installed())}))


def _named(name: str, options: dict[str, Any]) -> Target | CallableTarget:
    found = _SCHEME.match(name)
    scheme = found[0] if found else ""
    if name[len(scheme) : len(scheme) + 1] not in {"", ":", "?"}:
        scheme = ""
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


def _unknown(name: str, scheme: str) -> str:
    for pattern, provider in _MODELS:
        if pattern.match(name):
            return f"Target {name!r} names no provider. Write '{provider}:{name}'."
    if scheme:
        close = nearest(scheme.lower(), schemes())
        return f"Target {name!r}: there is no kind of target {scheme!r}. {close} {_HOW}."
    return f"Target {name!r} is not known. {_HOW}."
