"""Which recorded tests pytest still collects: asked of pytest itself, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.wire.recordings.pruning import module_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_PLUGIN = "pytest_promptfuzz.plugin.collected"
_VARIABLE = "PROMPTFUZZ_COLLECTED"
_NO_TESTS = 5  # pytest's exit code
_SHOWN = 12


def collected(recordings: Iterable[Path]) -> dict[Path, dict[str, bool]]:
    """The tests that exist, by recording, as :func:`existing` has them; of a module that is gone, none.

    Raises:
        UsageError: pytest cannot collect them, so that nothing is known of what exists.
    """
    return existing({path: module_of(path) for path in recordings})


def existing(modules: Mapping[Path, Path]) -> dict[Path, dict[str, bool]]:
    """The tests that exist, by what is kept of them, each with whether it may have a snapshot.

    Args:
        modules: The test module of each.

    Raises:
        UsageError: As :func:`collected`.
    """
    there = sorted({module for module in modules.values() if module.is_file()})
    found: dict[Path, dict[str, bool]] = {}
    for name, test, keeps in _ask(there) if there else ():
        found.setdefault(Path(name).resolve(), {})[test] = keeps
    return {path: found.get(module.resolve(), {}) for path, module in modules.items()}


def _ask(modules: list[Path]) -> list[tuple[str, str, bool]]:
    with tempfile.TemporaryDirectory(prefix="promptfuzz-") as folder:
        answer = Path(folder) / "collected.json"
        done = subprocess.run(  # noqa: S603 - our own interpreter, and files that exist
            [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", _PLUGIN, "-p", "no:cacheprovider"]
            + [str(each) for each in modules],
            env={**os.environ, _VARIABLE: str(answer)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if done.returncode not in {0, _NO_TESTS} or not answer.exists():
            said = "\n".join(done.stdout.decode("utf-8", "replace").strip().splitlines()[-_SHOWN:])
            raise UsageError(
                "pytest cannot collect the recorded tests, so nothing is known of which still exist (name those to be "
                f"removed with --test). It said:\n{said}"
            )
        found: list[tuple[str, str, bool]] = json.loads(answer.read_text(encoding="utf-8"))
        return found
