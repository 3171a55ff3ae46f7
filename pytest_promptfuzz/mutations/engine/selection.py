"""``mutations=`` and ``operators=``: how many mutations and of what, in Python and as a command line writes it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

from pytest_promptfuzz.errors import PromptfuzzWarning, UsageError
from pytest_promptfuzz.mutations.engine import registry
from pytest_promptfuzz.mutations.engine.mutation import DIMENSIONS, Dimension, Mutation, Relation
from pytest_promptfuzz.mutations.engine.operator import Operator
from pytest_promptfuzz.mutations.engine.registry import find

# What a plan draws on: the ``operators=`` argument read into strata of operators with weights.


Selection: TypeAlias = "str | Operator | Sequence[str | Operator] | Mapping[str, float] | None"
Weighed: TypeAlias = "tuple[str | Operator, float]"

DEFAULT_WEIGHTS: dict[Dimension, int] = {"lexical": 40, "semantic": 30, "structural": 30}


class Stratum(NamedTuple):
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
            is written as in :func:`pytest_promptfuzz.mutations.engine.registry.find`. A dimension stands for its
            operators that are used by default, or for all that are built in where none of them is.

    Raises:
        UsageError: An unknown, repeated or missing name, or a weight that is no number from 0.
    """
    return _default() if selection is None else named(weights_of(selection))


@cache
def _default() -> tuple[Stratum, ...]:
    return tuple(
        Stratum(name, weight, registry.default_pool(name), capped=True)
        for name, weight in DEFAULT_WEIGHTS.items()
    )


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
                raise UsageError(
                    f"operators: the weight of {key!r} is {weight!r}. Write a number of 0 or more."
                )
        items: list[Weighed] = [(key, weight) for key, weight in selection.items() if weight > 0]
    elif isinstance(selection, Sequence):
        items = [(each, 1) for each in selection]
    else:
        raise UsageError(
            f"operators={selection!r:.80} is not a list of names. Write names in a list, a mapping of names to "
            "weights, or None."
        )
    if not items:
        raise UsageError(
            "operators: nothing is selected. Name at least one operator, or leave operators= out for the default mix."
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
            raise UsageError(f"operators: {str(one)!r} is named twice. Name it once.")
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
    known = registry.builtin_named(one.name)
    if known is not None and one.propose is not known.propose:
        warnings.warn(
            f"Your operator {one.name!r} has the name of a built-in one, so reports cannot tell them apart. Give it "
            "another name.",
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
        raise UsageError(f"operators: {each!r:.80} is not a name. Write names of operators or dimensions.")
    return next((known for known in DIMENSIONS if known == each), None) or find(each)


def _drawn_on(dimension: Dimension, taken: set[str]) -> tuple[Operator, ...]:
    """The operators that a dimension stands for, without those that are named beside it."""
    pool = registry.default_pool(dimension) or registry.of_dimension(dimension)
    return tuple(each for each in pool if each.name not in taken)


Mutations: TypeAlias = (
    "int | Mapping[str, float] | Mapping[Operator, float] | Sequence[str | Operator | Mutation]"
)

MOST = 10_000
"""The most mutations one plan may have."""
DEFAULT = 8
"""How many a plan has where nobody says."""


class PlanRequest(NamedTuple):
    """What a plan is to hold.

    Attributes:
        n: How many mutations, ready ones included.
        strata: What the others are drawn from; empty when all are ready.
        ready: Mutations that were made elsewhere.
    """

    n: int
    strata: tuple[Stratum, ...]
    ready: tuple[Mutation, ...] = ()

    @property
    def controls(self) -> tuple[str, ...]:
        """The names of the controls asked for; ready ones are there anyway."""
        return tuple(each.name for each in self.strata if each.control)


def wanted(mutations: Mutations, operators: Selection | PlanRequest = None) -> PlanRequest:
    """Read what a plan is to hold.

    Args:
        mutations: A count; a mapping of dimensions or operators to counts (ints: the plan holds their sum) or to
            weights (floats: they share 8); or a list of names, operators and ready mutations, one mutation each.
        operators: What a count draws on; see :func:`pytest_promptfuzz.mutations.engine.selection.strata_of`. With a
            mapping or a list it must be left out. What this function has read before is given back.

    Raises:
        UsageError: A count out of range, ints among floats, an unknown name, or both arguments naming operators.
    """
    if isinstance(operators, PlanRequest):
        return operators
    if not isinstance(mutations, Mapping | Sequence) or isinstance(mutations, str | bytes):
        return PlanRequest(count_of(mutations), strata_of(operators))
    if operators is not None:
        raise UsageError(f"mutations={mutations!r:.80} and operators= both name operators. Keep one of them.")
    return _of_mapping(mutations) if isinstance(mutations, Mapping) else _of_list(mutations)


def count_of(mutations: Mutations) -> int:
    """How many mutations ``mutations=`` asks for, whatever they are drawn from; names are not looked up.

    Raises:
        UsageError: As :func:`wanted`, but for names.
    """
    if isinstance(mutations, Mapping):
        return _counted(mutations)[0]
    if isinstance(mutations, Sequence) and not isinstance(mutations, str | bytes):
        return _listed(mutations)
    if type(mutations) is int and 1 <= mutations <= MOST:
        return mutations
    raise UsageError(
        f"mutations={mutations!r:.80} is {'out of range' if type(mutations) is int else 'not a whole number'}. Write a "
        f"number from 1 to {MOST:,}, or counts such as lexical=3,synonym=1."
    )


def _of_mapping(mapping: Mapping[str, float] | Mapping[Operator, float]) -> PlanRequest:
    n, items = _counted(mapping)
    return PlanRequest(n, named(items))


def _counted(
    mapping: Mapping[str, float] | Mapping[Operator, float],
) -> tuple[int, list[tuple[str | Operator, float]]]:
    """How many mutations a mapping asks for, and what has a part in it."""
    kinds = set()
    for key, value in mapping.items():
        shown = str(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise UsageError(
                f"mutations: {shown!r} has {value!r}. Write a count (an int from 0) or a weight (a float from 0)."
            )
        kinds.add(type(value))
    if len(kinds) > 1:
        raise UsageError(
            f"mutations={dict(mapping)!r:.120} mixes counts and weights. Write only ints (counts) or only floats"
            " (weights)."
        )
    items = [(key, value) for key, value in mapping.items() if value]
    if not items:
        raise UsageError("mutations: all counts are 0. Give at least one operator a count or a weight.")
    n = DEFAULT if float in kinds else _within(sum(int(value) for _, value in items))
    return n, list(items)


def _listed(items: Sequence[object]) -> int:
    if not items:
        raise UsageError("mutations=[] is empty. Name at least one operator.")
    return _within(len(items))


def _of_list(items: Sequence[object]) -> PlanRequest:
    n = _listed(items)
    ready = tuple(each for each in items if isinstance(each, Mutation))
    counts: dict[str, tuple[Operator | str, int]] = {}
    for each in items:
        if not isinstance(each, Mutation):
            one = as_operator(each)
            counts[str(one)] = one, counts.get(str(one), (one, 0))[1] + 1
    return PlanRequest(n, named(list(counts.values())), ready)


def _within(count: int) -> int:
    if count > MOST:
        raise UsageError(f"mutations: {count:,} mutations are too many. Write 1 to {MOST:,}.")
    return count


def read_mutations(text: str) -> int | dict[str, float] | list[str]:
    """What a command line writes: ``8``; ``lexical=3,synonym=2``; ``lexical=0.6,semantic=0.4``; ``synonym,tone``.

    Raises:
        UsageError: A number that is none, an empty name, or one that is given twice.
    """
    stripped = text.strip()
    if not stripped or stripped.lstrip("+-").isdigit():
        return _int(stripped, text)
    if _is_number(stripped):
        raise UsageError(f"{text!r} is not a whole number. Write a count such as 8.")
    return _read_names(text, "count")


def read_operators(text: str) -> dict[str, float] | list[str]:
    """What a command line writes of what to draw on: ``lexical,synonym:2``, or with weights, ``lexical=3,synonym=1``.

    Raises:
        UsageError: A number alone, an empty name, or one that is given twice.
    """
    if _is_number(text):
        raise UsageError(f"{text!r} is not a name. Write A,B.")
    return _read_names(text, "weight")


def _read_names(text: str, noun: str) -> dict[str, float] | list[str]:
    names = [each.strip() for each in text.split(",")]
    if not all(names):
        raise UsageError(f"{text!r}: a name is missing. Write A=2,B=1 or A,B.")
    if "=" not in text:
        return names
    counts: dict[str, float] = {}
    for each in names:
        name, equals, number = (part.strip() for part in each.rpartition("="))
        if not equals or not name:
            raise UsageError(f"{text!r}: {each!r} has no {noun}. Write {each.strip('=')}=2.")
        if name in counts:
            raise UsageError(f"{text!r}: {name!r} stands there twice. Write it once.")
        counts[name] = _number(number, f"{text!r}: {number!r} is not a {noun}. Write {name}=2.")
    return counts


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _int(digits: str, text: str) -> int:
    try:
        return int(digits)
    except ValueError:
        raise UsageError(
            f"{text!r} is not a count. Write a number such as 8, or counts such as lexical=3,synonym=2."
        ) from None


def _number(number: str, wrong: str) -> float:
    try:
        return float(number) if "." in number else int(number)
    except ValueError:
        raise UsageError(wrong) from None
