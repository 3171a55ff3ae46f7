"""What a plan draws on: the ``operators=`` argument read into strata of operators with weights."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from pytest_promptfuzz.errors import PromptfuzzWarning, UsageError
from pytest_promptfuzz.mutations import registry
from pytest_promptfuzz.mutations.mutation import DIMENSIONS, Dimension, Relation
from pytest_promptfuzz.mutations.operator import Operator
from pytest_promptfuzz.mutations.specs import find

Selection: TypeAlias = "str | Operator | Sequence[str | Operator] | Mapping[str, float] | None"
Weighed: TypeAlias = "tuple[str | Operator, float]"

DEFAULT_WEIGHTS: dict[Dimension, int] = {"lexical": 40, "semantic": 30, "structural": 30}


@dataclass(frozen=True, slots=True)
class Stratum:
    """Operators that share one part of a plan.

    Attributes:
        name: The dimension's, or the operator's.
        weight: Its part, in proportion to the other strata's.
        operators: What may fill it.
        capped: Whether no operator of it may give more than a quarter of the plan; a named one may.
    """

    name: str
    weight: float
    operators: tuple[Operator, ...]
    capped: bool

    @property
    def relations(self) -> frozenset[Relation]:
        """What its mutations may be judged by."""
        return frozenset(each.relation for each in self.operators)

    @property
    def control(self) -> bool:
        """Whether it holds nothing but controls."""
        return self.relations == {"must-change"}


def strata_of(selection: Selection) -> tuple[Stratum, ...]:
    """The strata that ``operators=`` asks for.

    Args:
        selection: None for 40 % lexical, 30 % semantic, 30 % structural; one or several names of operators or
            dimensions (or operators themselves), which weigh the same; or a mapping of names to weights. An operator
            is written as in :func:`pytest_promptfuzz.mutations.specs.find`. A dimension stands for its operators
            that are used by default, or for all that are built in where none of them is.

    Raises:
        UsageError: An unknown, repeated or missing name, or a weight that is no number from 0.
    """
    return _default() if selection is None else named(weights_of(selection))


@cache
def _default() -> tuple[Stratum, ...]:
    pool = registry.default_pool()
    return tuple(Stratum(name, weight, pool[name], capped=True) for name, weight in DEFAULT_WEIGHTS.items())


def weights_of(selection: str | Operator | Sequence[str | Operator] | Mapping[str, float]) -> list[Weighed]:
    """What ``operators=`` selects, with weights; names are not looked up.

    Raises:
        UsageError: It selects nothing, is no selection, or a weight is no number from 0.
    """
    if isinstance(selection, str | Operator):
        return [(selection, 1)]
    if isinstance(selection, Mapping):
        for key, weight in selection.items():
            if (
                isinstance(weight, bool)
                or not isinstance(weight, int | float)
                or not (0 <= weight < math.inf)
            ):
                raise UsageError(f"operators: the weight of {key!r} is {weight!r}; give a number from 0.")
        items: list[Weighed] = [(key, weight) for key, weight in selection.items() if weight > 0]
    elif isinstance(selection, Sequence):
        items = [(each, 1) for each in selection]
    else:
        raise UsageError(
            f"operators: {type(selection).__name__} is not accepted; give names in a list, a mapping of names to"
            " weights, or None."
        )
    if not items:
        raise UsageError(
            "operators: nothing is selected; name at least one operator, or leave it out for all."
        )
    return items


def named(items: Sequence[Weighed]) -> tuple[Stratum, ...]:
    """A stratum for each name of an operator or dimension, or operator, in that order.

    Raises:
        UsageError: A name that is unknown or given twice, or something that is no name.
    """
    found: dict[str, tuple[Operator | Dimension, float]] = {}
    for each, weight in items:
        one = as_operator(each)
        if str(one) in found:
            raise UsageError(f"operators: {str(one)!r} is named twice.")
        if isinstance(one, Operator):
            _warn_of_namesake(one)
        found[str(one)] = one, weight
    taken = {one.name for one, _ in found.values() if isinstance(one, Operator)}
    return tuple(
        Stratum(name, weight, (one,), capped=False)
        if isinstance(one, Operator)
        else Stratum(name, weight, _drawn_on(one, taken), capped=True)
        for name, (one, weight) in found.items()
    )


def _warn_of_namesake(one: Operator) -> None:
    known = registry.builtin().get(one.name)
    if known is not None and one.propose is not known.propose:
        warnings.warn(
            f"The operator {one.name!r} of one's own is named like a built-in one, and reports cannot tell them apart;"
            " give it another name.",
            PromptfuzzWarning,
            stacklevel=2,
        )


def as_operator(each: object) -> Operator | Dimension:
    """What a name stands for; an operator is given back.

    Raises:
        UsageError: It is unknown, or no name at all.
    """
    if isinstance(each, Operator):
        return each
    if not isinstance(each, str):
        raise UsageError(
            f"operators: {each!r:.80} is {type(each).__name__}; give names of operators or dimensions."
        )
    return next((known for known in DIMENSIONS if known == each), None) or find(each)


def _drawn_on(dimension: Dimension, taken: set[str]) -> tuple[Operator, ...]:
    """The operators that a dimension stands for, without those that are named beside it."""
    pool = registry.default_pool()[dimension] or tuple(
        each for each in registry.builtin().values() if each.dimension == dimension
    )
    return tuple(each for each in pool if each.name not in taken)
