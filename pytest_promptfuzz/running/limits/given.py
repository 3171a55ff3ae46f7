"""Limits and budget as a person writes them, for pytest and for the ``promptfuzz`` command alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_promptfuzz.running.limits.lane import Rule
    from pytest_promptfuzz.running.limits.prices import Price
    from pytest_promptfuzz.running.limits.settings import Settings


@dataclass(frozen=True, slots=True)
class Given:
    """One of them: its name, its reader, its default and its help."""

    name: str
    read: Callable[[str], Any]
    default: Any
    help: str
    metavar: str
    type: Literal["int", "float"] = "int"


def whole(low: int) -> Callable[[str], int]:
    """Reads a whole number of ``low`` or more."""

    def read(text: str) -> int:
        number = int(text)
        if number < low:
            raise ValueError(f"a whole number of {low} or more")
        return number

    read.__doc__ = "a whole number" if low < 0 else f"a whole number of {low} or more"
    return read


def amount(text: str) -> float:
    """A number of 0 or more."""
    number = float(text)
    if not 0 <= number < float("inf"):
        raise ValueError("a number of 0 or more")
    return number


GIVEN = (
    Given("attempts", whole(1), 4, "how often a failing call is tried in all, the first time included", "N"),
    Given(
        "max_wait",
        amount,
        60.0,
        "how many seconds to wait for a provider that refuses or fails every call",
        "S",
        "float",
    ),
    Given("rpm", whole(1), None, "most requests a minute to each host and model", "N"),
    Given("tpm", whole(1), None, "most tokens a minute to each host and model", "N"),
    Given(
        "max_calls",
        whole(0),
        None,
        "most model calls of the whole run; 0: no calls, stored answers only",
        "N",
    ),
    Given("max_tokens", whole(0), None, "most tokens of the whole run, input and output together", "N"),
    Given("max_cost", amount, None, "most that the whole run may cost, in US dollars", "X", "float"),
)


def settings_of(
    values: Mapping[str, Any],
    *,
    rules: Mapping[str, Rule],
    prices: Mapping[str, Price],
    prefix: str,
    dry: bool = False,
) -> Settings:
    """What a session's gate is made from.

    Args:
        values: By the names of ``GIVEN``.
        rules: Limits by a pattern of ``host/model``.
        prices: The user's own, by a pattern of the model.
        prefix: What the options' names begin with, for messages.
        dry: Nothing is asked at all.
    """
    from pytest_promptfuzz.running.limits.budget import Caps
    from pytest_promptfuzz.running.limits.lane import Rule
    from pytest_promptfuzz.running.limits.prices import Prices
    from pytest_promptfuzz.running.limits.settings import Settings

    return Settings(
        attempts=values["attempts"],
        rule=Rule(rpm=values["rpm"], tpm=values["tpm"]),
        rules=rules,
        caps=Caps(
            calls=values["max_calls"],
            tokens=values["max_tokens"],
            cost=values["max_cost"],
            dry=dry,
            prefix=prefix,
        ),
        prices=Prices(prices),
        max_wait=values["max_wait"],
    )
