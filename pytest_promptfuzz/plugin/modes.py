"""Which mode a run is in, and why; what cannot be asked for together."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_promptfuzz.plugin.options import given, place_of

if TYPE_CHECKING:
    from collections.abc import Mapping

# Handed by the process that runs the workers to each of them: they need not find out for themselves.
WORKER_KEY = "promptfuzz_mode"
CI_WITH_RECORDINGS = "CI is set and there are recordings"


def chosen_mode(config: pytest.Config, settings: Mapping[str, Any]) -> tuple[str, str]:
    """The mode of a run, and why where nobody named it.

    An explicit mode wins. In CI, recordings are replayed where there are any, so that no test needs a key; a dry run,
    which tells what would be asked, is never a replay by itself.
    """
    worker = getattr(config, "workerinput", {}).get(WORKER_KEY)
    if worker is not None:
        return worker, ""
    dry = config.getoption("promptfuzz_dry_run")
    if not given("mode", config) and not dry and in_ci() and _has_recordings(config):
        return "replay", CI_WITH_RECORDINGS
    return settings["mode"], ""


def in_ci() -> bool:
    """Whether the environment says that this is continuous integration: ``CI`` is set, and not to no."""
    return os.environ.get("CI", "").strip().lower() not in {"", "0", "false", "no", "off"}


def check_mode(config: pytest.Config, mode: str, overrides: Mapping[str, Any]) -> None:
    """Refuse what contradicts the mode.

    Raises:
        pytest.UsageError: A recording of less than the tests ask for, or a forecast of a replay.
    """
    if mode == "replay" and config.getoption("promptfuzz_dry_run"):
        raise pytest.UsageError(
            "promptfuzz mode 'replay': it asks nothing, so --promptfuzz-dry-run has nothing to tell; leave it out, or "
            "add --promptfuzz-mode=auto."
        )
    if mode != "record":
        return
    reason = ""
    if config.getoption("promptfuzz") == "off":
        reason = "--promptfuzz=off runs no mutations; leave it out"
    elif config.getoption("promptfuzz_trial"):
        reason = "--promptfuzz-trial runs one trial of a test, and a recording holds them all; leave it out"
    elif changed := [key for key in ("mutations", "operators", "seed") if key in overrides]:
        reason = (
            f"--promptfuzz-override {changed[0]}={overrides[changed[0]]} makes another plan than the test's own, which "
            "a replay asks for; change the test, or leave it out"
        )
    if reason:
        raise pytest.UsageError(f"promptfuzz mode 'record': {reason}.")


def check_shared(config: pytest.Config, store: str | None) -> None:
    """Refuse a shared store that cannot be had, naming where it was set; nothing is connected.

    Raises:
        pytest.UsageError: A URL that cannot be read, or a package that is missing.
    """
    if not store:
        return
    from pytest_promptfuzz.errors import PromptfuzzError
    from pytest_promptfuzz.wire.stores import check_store

    try:
        check_store(store)
    except PromptfuzzError as error:
        raise pytest.UsageError(f"{place_of('store', config)}: {error}") from None


def _has_recordings(config: pytest.Config) -> bool:
    from pytest_promptfuzz.wire.recordings.places import recordings_below

    roots = [config.invocation_params.dir / argument.partition("::")[0] for argument in config.args]
    return bool(recordings_below(map(Path, roots), config.getini("norecursedirs")))
