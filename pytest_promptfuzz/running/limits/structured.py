"""Limits and prices as they stand in ``[tool.promptfuzz]`` of pyproject.toml."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.running.limits.lane import Rule
from pytest_promptfuzz.running.limits.prices import Price

if TYPE_CHECKING:
    from collections.abc import Mapping

_RULE = ("rpm", "tpm", "concurrency")
_PRICE = ("input", "output")


def rules_from(value: Any, where: str) -> dict[str, Rule]:
    """``[tool.promptfuzz.limits]``: by a pattern of ``host/model``, any of ``rpm``, ``tpm`` and ``concurrency``.

    Raises:
        UsageError: An unknown key, or a value that is no whole number of 1 or more.
    """
    rules = {}
    for pattern, given in _table(value, where).items():
        place = f'{where}: "{pattern}"'
        for key, number in _keys(given, _RULE, place).items():
            if not isinstance(number, int) or number < 1:
                raise UsageError(f"{place}: {key} = {number!r} must be a whole number of 1 or more.")
        rules[pattern] = Rule(**given)
    return rules


def prices_from(value: Any, where: str) -> dict[str, Price]:
    """``[tool.promptfuzz.prices]``: by a pattern of the model, ``input`` and ``output``, dollars a million tokens.

    Raises:
        UsageError: An unknown key, a missing one, or a value that is no number of 0 or more.
    """
    prices = {}
    for pattern, given in _table(value, where).items():
        place = f'{where}: "{pattern}"'
        numbers = _keys(given, _PRICE, place)
        for key in _PRICE:
            number = numbers.get(key)
            if not isinstance(number, int | float) or not 0 <= number < float("inf"):
                raise UsageError(
                    f"{place}: {key} = {number!r} must be a number of 0 or more, US dollars for a million tokens."
                )
        prices[pattern] = Price(float(given["input"]), float(given["output"]))
    return prices


def _table(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"{where} must be a table.")
    return value


def _keys(given: Any, known: tuple[str, ...], place: str) -> Mapping[str, Any]:
    if not isinstance(given, dict):
        raise UsageError(f"{place} must be a table with {', '.join(known)}.")
    for key, number in given.items():
        if key not in known:
            raise UsageError(f"{place}: unknown key {key!r}. {nearest(key, known)}")
        if isinstance(number, bool):
            raise UsageError(f"{place}: {key} = {number!r} is not a number.")
    return given
