"""``[tool.promptfuzz]`` of a project's pyproject.toml."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.evaluating.settings import PYPROJECT_KEYS
from pytest_promptfuzz.files import read_text

if TYPE_CHECKING:
    from pathlib import Path


PROJECT_TABLES = ("limits", "prices", "profiles")
"""What it may hold beside settings."""
PROFILES = "[tool.promptfuzz.profiles]"
"""How messages name the table of profiles."""


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
    known = (*PYPROJECT_KEYS, *PROJECT_TABLES)
    for key in tool:
        if key not in known:
            raise UsageError(
                f"[tool.promptfuzz] in pyproject.toml: unknown key {key!r}. {nearest(key, known)}"
            )
    if tool.keys() & {"limits", "prices"}:
        from pytest_promptfuzz.running.limits.limits import rules_and_prices

        rules_and_prices(tool)
    return tool
