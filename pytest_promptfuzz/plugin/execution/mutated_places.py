"""``mutate=``: what is mutated, and how a mutation gets there: an argument, a dotted path, a role's text."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.errors import UsageError, nearest, unstopped
from pytest_promptfuzz.evaluating.role_prompts import PREFIX
from pytest_promptfuzz.prompts.prompt import Prompt, as_prompt

if TYPE_CHECKING:
    from collections.abc import Iterator


_MISSING = object()


class Argument(NamedTuple):
    """An argument of the test: a fixture or a parametrized value."""

    name: str

    def prompt(self, arguments: Mapping[str, Any], where: str) -> Prompt:
        """The prompt that the argument holds."""
        return _as_prompt(arguments[self.name], f"{where}: the argument {self.name!r}")

    @contextmanager
    def placed(self, prompt: Prompt, arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The arguments with the prompt in place, in the type the test knows."""
        yield {**arguments, self.name: _like(prompt, arguments[self.name])}


class Wire(NamedTuple):
    """A role in the requests of the body, which runs as it is: the watch of each run puts mutations in their place."""

    name: str

    def prompt(self, _: Mapping[str, Any], where: str) -> Prompt:
        """Stands for the prompt, which the baseline's requests will show."""
        del where
        return Prompt(self.name)

    @contextmanager
    def placed(self, _: Prompt, arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The arguments as they are."""
        yield arguments


class Path(NamedTuple):
    """A dotted path, patched while a run lasts: an attribute of a module, class or object, or a key of a mapping."""

    name: str
    owner: Any
    attribute: str

    def prompt(self, _: Mapping[str, Any], where: str) -> Prompt:
        """The prompt at the path."""
        value = _read(self.owner, self.attribute)
        what = f"{where}: mutate={self.name!r}"
        if isinstance(value, Mapping):
            close = f" such as mutate='{self.name}.{next(iter(value))}'" if value else ""
            raise UsageError(f"{what} is a mapping. Name one of its values{close}.")
        if callable(value):
            raise UsageError(
                f"{what} is callable, and its text is not known before it is called. Name the text that it reads, or "
                "give the test the prompt as an argument."
            )
        return _as_prompt(value, what)

    @contextmanager
    def placed(self, prompt: Prompt, arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Patch the path; restored whatever happens.

        Raises:
            UsageError: What the path names cannot be replaced.
        """
        owner, name = self.owner, self.attribute
        restored = _stored(owner, name)
        try:
            _put(owner, name, _like(prompt, _read(owner, name)))
        except (AttributeError, TypeError, ValueError) as error:
            raise UsageError(
                f"mutate={self.name!r} names what cannot be replaced: {unstopped(error)}."
            ) from error
        try:
            yield arguments
        finally:
            if restored is _MISSING:
                delattr(owner, name)
            else:
                _put(owner, name, restored)


def _read(owner: Any, name: str) -> Any:
    return owner[name] if isinstance(owner, Mapping) and name in owner else getattr(owner, name)


def _stored(owner: Any, name: str) -> Any:
    """What the owner itself holds under a name; ``_MISSING`` for what it has from its class or makes on demand."""
    if isinstance(owner, Mapping) and name in owner:
        return owner[name]
    own = getattr(owner, "__dict__", {})
    if name in own:
        return own[name]
    slot = getattr(type(owner), name, None)
    return getattr(owner, name) if hasattr(type(slot), "__set__") else _MISSING


def _put(owner: Any, name: str, value: Any) -> None:
    if isinstance(owner, Mapping) and name in owner:
        owner[name] = value  # type: ignore[index]  # one that cannot be changed raises TypeError
        return
    try:
        setattr(owner, name, value)
    except (AttributeError, ValueError):
        # Frozen dataclasses and models refuse their own __setattr__ only.
        object.__setattr__(owner, name, value)


def find(mutate: Any, arguments: Mapping[str, Any], where: str) -> Argument | Path | Wire:
    """What ``mutate=`` names.

    Raises:
        UsageError: It names no argument, or a path that cannot be imported.
    """
    if not isinstance(mutate, str) or not mutate:
        raise UsageError(f"{where}: mutate={mutate!r} must name an argument of the test or a dotted path.")
    if mutate in arguments:
        return Argument(mutate)
    if mutate.startswith(PREFIX):
        return Wire(mutate)
    first, *rest = mutate.split(".")
    if rest and first.isidentifier() and all(rest):
        return _path(mutate, where)
    names = sorted(arguments)
    has = f"Its arguments: {', '.join(names)}." if names else "It has no arguments."
    close = f" {nearest(mutate, names)}" if names and nearest(mutate, names).startswith("Did") else ""
    raise UsageError(
        f"{where}: mutate={mutate!r} names no argument of the test. {has}{close} Add {mutate!r} to its arguments, or "
        "write a dotted path such as mutate='app.prompts.TRIAGE'."
    )


def _path(dotted: str, where: str) -> Path:
    parts = dotted.split(".")
    owner: Any = None
    index = 0
    for index in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:index])
        try:
            owner = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name is None or not module.startswith(error.name):
                raise UsageError(f"{where}: mutate={dotted!r}: importing {module} failed: {error}") from error
            continue
        except Exception as error:
            raise UsageError(f"{where}: mutate={dotted!r}: importing {module} failed: {error!r}") from error
        break
    if owner is None:
        raise UsageError(f"{where}: mutate={dotted!r}: there is no module {parts[0]!r} to import.")
    reached = parts[:index]
    for name in parts[index:-1]:
        owner = _attribute(owner, name, dotted, ".".join(reached), where)
        reached.append(name)
    _attribute(owner, parts[-1], dotted, ".".join(reached), where)
    return Path(dotted, owner, parts[-1])


def _attribute(owner: Any, name: str, dotted: str, reached: str, where: str) -> Any:
    try:
        return _read(owner, name)
    except AttributeError:
        names = [*owner] if isinstance(owner, Mapping) else dir(owner)
        hint = nearest(name, [str(each) for each in names if not str(each).startswith("_")])
        hint = f" {hint}" if hint.startswith("Did") else ""
        raise UsageError(f"{where}: mutate={dotted!r}: {reached} has no {name!r}.{hint}") from None


def _as_prompt(value: Any, what: str) -> Prompt:
    try:
        return as_prompt(value)
    except UsageError as error:
        raise UsageError(f"{what}: {error}") from None


def _like(prompt: Prompt, original: Any) -> Any:
    """The prompt in the type of the original: a ``Prompt``, chat messages, or a string."""
    if isinstance(original, Prompt):
        return prompt
    if isinstance(original, str):
        return prompt.text
    messages = prompt.observed(_unobserved).messages
    return messages if isinstance(original, tuple) else list(messages)


def _unobserved(_: object) -> None:
    """Handing a test its argument is not rendering it."""
