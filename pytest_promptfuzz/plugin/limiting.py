"""From options and pyproject.toml to the limits of a session, shared between the workers of pytest-xdist."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.reporting.safe import safe
from pytest_promptfuzz.running.tables import PROFILES, read_tool, rules_and_prices

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pytest_promptfuzz.comparing.profiles import Profile
    from pytest_promptfuzz.plugin.state import State
    from pytest_promptfuzz.running.limits.limits import Limits
    from pytest_promptfuzz.running.limits.prices import Prices

RUN = "testrunuid"  # what xdist calls the name that all workers of a run share
_STALE = 24 * 3600.0


def read_tables(root: Path) -> dict[str, Any]:
    """``[tool.promptfuzz]`` of the project's pyproject.toml; empty where there is none.

    Raises:
        pytest.UsageError: The file cannot be read, or limits and prices in it are wrong.
    """
    try:
        return read_tool(root)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None


def read_profiles(tables: Mapping[str, Any]) -> dict[str, Profile]:
    """The project's own profiles in ``[tool.promptfuzz]``, by name.

    Raises:
        pytest.UsageError: One of them is wrong.
    """
    if "profiles" not in tables:
        return {}
    from pytest_promptfuzz.comparing.profiles import profiles_from

    try:
        return profiles_from(tables["profiles"], PROFILES)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None


def make_limits(state: State) -> Limits:
    """The gate of this process; the workers of one run share what they count."""
    from pytest_promptfuzz.running.limits.given import settings_of
    from pytest_promptfuzz.running.limits.limits import Limits

    rules, prices = rules_and_prices(state.tables)
    settings = settings_of(state.settings, rules=rules, prices=prices, prefix="--promptfuzz-", dry=state.dry)
    run = getattr(state.config, "workerinput", {}).get(RUN)
    if run is None:
        return Limits(settings, told=_line(state))
    from pytest_promptfuzz.running.limits.shared import SharedLedger

    return Limits(settings, ledger=SharedLedger(shared_file(state, run), state.warnings.append))


def _line(state: State) -> Callable[[str], None] | None:
    """Writes a line to the terminal while a test runs; ``None`` where there is none, or it is to be quiet."""
    from pytest_promptfuzz.plugin.progress import Screen

    manager = state.config.pluginmanager
    reporter = manager.getplugin("terminalreporter")
    if reporter is None or state.config.get_verbosity() < 0:
        return None
    screen = Screen(reporter, manager.getplugin("capturemanager"))
    return lambda text: screen.write(f"\npromptfuzz: {safe(text)}\n")


def prices_of(state: State) -> Prices:
    """What calls cost, the user's own prices first."""
    from pytest_promptfuzz.running.limits.prices import Prices

    return Prices(rules_and_prices(state.tables)[1])


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
