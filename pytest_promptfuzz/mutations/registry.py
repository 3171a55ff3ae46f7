"""Which operators there are: the built-in ones, those added by hand, and those of installed packages."""

from __future__ import annotations

from functools import cache
from importlib import import_module, metadata
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.mutations.mutation import DIMENSIONS, Dimension
from pytest_promptfuzz.mutations.operator import Operator

if TYPE_CHECKING:
    from collections.abc import Callable

ENTRY_POINTS = "promptfuzz.operators"
"""The entry-point group under which an installed package offers operators: each loads to an :class:`Operator`."""

_MODULES = (
    "case",
    "spacing",
    "punctuation",
    "typos",
    "noise",
    "wordforms",
    "spelling",
    "synonyms",
    "senses",
    "tone",
    "phrasing",
    "voice",
    "sentences",
    "lists",
    "blocks",
    "positions",
    "delimiters",
    "output_format",
    "augmentation",
    "few_shot",
    "padding",
    "translation",
    "numbers",
    "equations",
    "identifiers",
    "comments",
    "controls",
)
_added: dict[str, Operator] = {}


@cache
def builtin() -> dict[str, Operator]:
    """The built-in operators by name, in the order of their modules."""
    found: dict[str, Operator] = {}
    for module in _MODULES:
        for value in vars(import_module(f"pytest_promptfuzz.mutations.operators.{module}")).values():
            if isinstance(value, Operator):
                found[value.name] = value
    return found


@cache
def installed() -> dict[str, Operator]:
    """The operators of installed packages by name; loaded when a name is unknown or all are listed.

    Raises:
        UsageError: An entry point does not load, is no operator, or takes the name of another.
    """
    found: dict[str, Operator] = {}
    for point in sorted(metadata.entry_points(group=ENTRY_POINTS), key=lambda each: (each.name, each.value)):
        try:
            value = point.load()
        except Exception as error:
            raise UsageError(f"The operator {point.name!r} ({point.value}) does not load: {error}") from error
        if not isinstance(value, Operator):
            raise UsageError(
                f"The entry point {point.name!r} ({point.value}) is {type(value).__name__}, not an Operator."
            )
        if value.name in builtin() or value.name in found:
            raise UsageError(
                f"The operator {value.name!r} of {point.value} exists already; give it another name."
            )
        found[value.name] = value
    return found


def register(operator: Operator) -> Operator:
    """Make an operator known by its name in this process; the same one may be registered again.

    Raises:
        UsageError: Another operator has that name.
    """
    if not isinstance(operator, Operator):
        raise UsageError(
            f"register() takes an Operator, not {type(operator).__name__}; decorate the function first."
        )
    if operator.name in builtin() or _added.get(operator.name, operator) != operator:
        raise UsageError(f"An operator {operator.name!r} exists already; give this one another name.")
    _added[operator.name] = operator
    return operator


def lend(operator: Operator) -> Callable[[], None]:
    """Make an operator known as `register` does, until what is returned is called."""
    before = dict(_added)
    register(operator)

    def forget() -> None:
        _added.clear()
        _added.update(before)

    return forget


def get(name: str) -> Operator:
    """The operator of that name, with or without its version (``typo``, ``typo@1``).

    Raises:
        UsageError: There is none, or not in that version.
    """
    bare, _, version = name.partition("@")
    found = builtin().get(bare) or _added.get(bare) or installed().get(bare)
    if found is None:
        raise UsageError(f"There is no operator {name!r}. {nearest(bare, all_operators())}")
    if version and version != str(found.version):
        raise UsageError(f"Operator {bare!r} is at version {found.version} here, not {version}.")
    return found


def all_operators() -> dict[str, Operator]:
    """Every operator by name: built-in, added, installed."""
    return {**builtin(), **_added, **installed()}


@cache
def default_pool() -> dict[Dimension, tuple[Operator, ...]]:
    """The built-in operators a plan draws on unasked, by dimension.

    Others are used when they are named, so that installing a package changes no plan.
    """
    return {
        dimension: tuple(
            each for each in builtin().values() if each.dimension == dimension and each.by_default
        )
        for dimension in DIMENSIONS
    }
