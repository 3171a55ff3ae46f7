"""Limits and budget as a person writes them, for pytest and for the ``promptfuzz`` command alike."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.files import read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pytest_promptfuzz.running.limits.budget import Price
    from pytest_promptfuzz.running.limits.lanes import LaneRule
    from pytest_promptfuzz.running.limits.limits import Settings


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
    rules: Mapping[str, LaneRule],
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
    from pytest_promptfuzz.running.limits.budget import Caps, Prices
    from pytest_promptfuzz.running.limits.lanes import LaneRule
    from pytest_promptfuzz.running.limits.limits import Settings

    return Settings(
        attempts=values["attempts"],
        rule=LaneRule(rpm=values["rpm"], tpm=values["tpm"]),
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


# ``[tool.promptfuzz]`` of a project's pyproject.toml.


KEYS = ("gate", "limits", "mutations", "operators", "prices", "profiles", "queries", "shrink")
"""What it may hold."""
PROFILES = "[tool.promptfuzz.profiles]"
"""How messages name the table of profiles."""
_TOOL = "[tool.promptfuzz.{}] in pyproject.toml"


def read_tool(root: Path) -> dict[str, Any]:
    """What stands there; empty where nothing does.

    Raises:
        UsageError: The file cannot be read, a key is unknown, or limits and prices are wrong.
    """
    file = root / "pyproject.toml"
    try:
        text = read_text(file)
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: {error}") from None
    if "promptfuzz" not in text:
        return {}
    # pytest itself reads pyproject.toml by one or the other.
    tomllib: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        tool = tomllib.loads(text).get("tool", {}).get("promptfuzz", {})
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{file}: {error}") from None
    if not isinstance(tool, dict):
        raise UsageError(f"{file}: tool.promptfuzz = {tool!r:.80} is no table; write [tool.promptfuzz].")
    for key in tool:
        if key not in KEYS:
            raise UsageError(
                f"[tool.promptfuzz] in pyproject.toml: unknown key {key!r}. {nearest(key, KEYS)}"
            )
    rules_and_prices(tool)
    return tool


def rules_and_prices(tables: Mapping[str, Any]) -> tuple[dict[str, LaneRule], dict[str, Price]]:
    """Limits by a pattern of ``host/model``, and prices by one of the model.

    Raises:
        UsageError: They are wrong.
    """
    if not tables.keys() & {"limits", "prices"}:
        return {}, {}
    from pytest_promptfuzz.running.limits.limits import prices_from, rules_from

    return (
        rules_from(tables.get("limits", {}), _TOOL.format("limits")),
        prices_from(tables.get("prices", {}), _TOOL.format("prices")),
    )
