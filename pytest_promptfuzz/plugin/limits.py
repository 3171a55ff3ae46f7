"""Rate limits, budget and prices of a run, from options and pyproject.toml, shared by the workers of xdist."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.text.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pytest_promptfuzz.running.limits.budget import Prices
    from pytest_promptfuzz.running.limits.limits import SessionLimits


RUN = "testrunuid"
"""What xdist calls the name that all workers of a run share."""
RUN_OF_WORKERS = pytest.StashKey[str]()
"""That name, on the process that has started them."""
_STALE = 24 * 3600.0


def make_limits(
    config: pytest.Config,
    settings: Mapping[str, Any],
    tables: Mapping[str, Any],
    folder: Path,
    warn: Callable[[str], None],
) -> SessionLimits:
    """The gate of this process; the workers of one run share what they count.

    Args:
        config: Pytest's.
        settings: The run's.
        tables: Those of pyproject.toml, where rules and prices stand.
        folder: That of stored answers.
        warn: Called with each sentence on what is wrong.
    """
    from pytest_promptfuzz.running.limits.limits import SessionLimits, Settings, rules_and_prices

    rules, prices = rules_and_prices(tables)
    dry = bool(config.getoption("promptfuzz_dry_run"))
    limits = Settings.of(settings, rules=rules, prices=prices, prefix="--promptfuzz-", dry=dry)
    run = getattr(config, "workerinput", {}).get(RUN)
    if run is None:
        return SessionLimits(limits, told=_line(config))
    from pytest_promptfuzz.running.limits.budget import SharedLedger

    return SessionLimits(limits, ledger=SharedLedger(_books(folder, run), warn))


def _line(config: pytest.Config) -> Callable[[str], None] | None:
    """Writes a line to the terminal while a test runs; ``None`` where there is none, or it is to be quiet."""
    from pytest_promptfuzz.plugin.output.progress import Screen

    reporter = config.pluginmanager.getplugin("terminalreporter")
    if reporter is None or config.get_verbosity() < 0:
        return None
    screen = Screen(reporter, config.pluginmanager.getplugin("capturemanager"))
    return lambda text: screen.write(f"\npromptfuzz: {safe(text)}\n")


def prices_of(tables: Mapping[str, Any]) -> Prices:
    """What calls cost, the user's own prices first."""
    from pytest_promptfuzz.running.limits.budget import Prices
    from pytest_promptfuzz.running.limits.limits import rules_and_prices

    return Prices(rules_and_prices(tables)[1])


def _books(folder: Path, run: str) -> Path:
    """Where the workers of a run keep their books together."""
    return folder / "limits" / f"{run}.db"


def forget_run(folder: Path, run: str) -> None:
    """Delete the books of a run that has ended, and those that a killed one left a day ago."""
    for each in _books(folder, run).parent.glob("*.db*"):
        try:
            if each.name.startswith(run) or time.time() - each.stat().st_mtime > _STALE:
                each.unlink()
        except OSError:  # another run is doing the same, or may do what this one may not
            continue
