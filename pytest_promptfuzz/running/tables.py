"""``[tool.promptfuzz]`` of a project's pyproject.toml."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.files import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_promptfuzz.running.limits.lane import Rule
    from pytest_promptfuzz.running.limits.prices import Price

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


def rules_and_prices(tables: Mapping[str, Any]) -> tuple[dict[str, Rule], dict[str, Price]]:
    """Limits by a pattern of ``host/model``, and prices by one of the model.

    Raises:
        UsageError: They are wrong.
    """
    if not tables.keys() & {"limits", "prices"}:
        return {}, {}
    from pytest_promptfuzz.running.limits.structured import prices_from, rules_from

    return (
        rules_from(tables.get("limits", {}), _TOOL.format("limits")),
        prices_from(tables.get("prices", {}), _TOOL.format("prices")),
    )
