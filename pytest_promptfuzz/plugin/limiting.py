"""From options and pyproject.toml to the limits of a session, shared between the workers of pytest-xdist."""

from __future__ import annotations

import importlib
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.errors import UsageError, nearest

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_promptfuzz.plugin.state import State
    from pytest_promptfuzz.running.limits.limits import Limits
    from pytest_promptfuzz.running.limits.prices import Prices

RUN = "testrunuid"  # what xdist calls the name that all workers of a run share
KEYS = ("limits", "mutations", "operators", "prices")
"""What ``[tool.promptfuzz]`` may hold."""
_TOOL = "[tool.promptfuzz.{}] in pyproject.toml"
_STALE = 24 * 3600.0


def read_tables(root: Path) -> dict[str, Any]:
    """``[tool.promptfuzz]`` of the project's pyproject.toml; empty where there is none.

    Raises:
        pytest.UsageError: The file cannot be read, or limits and prices in it are wrong.
    """
    file = root / "pyproject.toml"
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise pytest.UsageError(f"{file}: {error}") from None
    if "promptfuzz" not in text:
        return {}
    # pytest itself reads pyproject.toml by one or the other.
    tomllib: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        tool = tomllib.loads(text).get("tool", {}).get("promptfuzz", {})
    except tomllib.TOMLDecodeError as error:
        raise pytest.UsageError(f"{file}: {error}") from None
    if not isinstance(tool, dict):
        raise pytest.UsageError(
            f"{file}: tool.promptfuzz = {tool!r:.80} is no table; write [tool.promptfuzz]."
        )
    for key in tool:
        if key not in KEYS:
            raise pytest.UsageError(
                f"[tool.promptfuzz] in pyproject.toml: unknown key {key!r}. {nearest(key, KEYS)}"
            )
    try:
        _read(tool)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None
    return tool


def make_limits(state: State) -> Limits:
    """The gate of this process; the workers of one run share what they count."""
    from pytest_promptfuzz.running.limits.budget import Caps
    from pytest_promptfuzz.running.limits.lane import Rule
    from pytest_promptfuzz.running.limits.limits import Limits
    from pytest_promptfuzz.running.limits.prices import Prices
    from pytest_promptfuzz.running.limits.settings import Settings

    given = state.settings
    rules, prices = _read(state.tables)
    settings = Settings(
        attempts=given["attempts"],
        rule=Rule(rpm=given["rpm"], tpm=given["tpm"]),
        rules=rules,
        caps=Caps(
            calls=given["max_calls"], tokens=given["max_tokens"], cost=given["max_cost"], dry=state.dry
        ),
        prices=Prices(prices),
    )
    run = getattr(state.config, "workerinput", {}).get(RUN)
    if run is None:
        return Limits(settings)
    from pytest_promptfuzz.running.limits.shared import SharedLedger

    return Limits(settings, ledger=SharedLedger(shared_file(state, run), state.warnings.append))


def prices_of(state: State) -> Prices:
    """What calls cost, the user's own prices first."""
    from pytest_promptfuzz.running.limits.prices import Prices

    return Prices(_read(state.tables)[1])


def shared_file(state: State, run: str) -> Path:
    """Where the workers of a run keep their books together."""
    file: Path = state.config.rootpath / state.settings["cache_dir"] / "limits" / f"{run}.db"
    return file


def forget_run(state: State, run: str) -> None:
    """Delete the books of a run that has ended, and those that a killed one left a day ago."""
    file = shared_file(state, run)
    for each in file.parent.glob("*.db*"):
        try:
            if each.name.startswith(run) or time.time() - each.stat().st_mtime > _STALE:
                each.unlink()
        except OSError:  # another run is doing the same, or may do what this one may not
            continue


def _read(tables: dict[str, Any]) -> tuple[Any, Any]:
    if not tables:
        return {}, {}
    from pytest_promptfuzz.running.limits.structured import prices_from, rules_from

    return (
        rules_from(tables.get("limits", {}), _TOOL.format("limits")),
        prices_from(tables.get("prices", {}), _TOOL.format("prices")),
    )
