"""What the tests of models share."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def run_python() -> Callable[[str], list[str]]:
    """Run a script in a process of its own; returns the lines that it prints."""

    def run(script: str) -> list[str]:
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run


@pytest.fixture
def needs_onnx() -> None:
    """Skip where models in ONNX cannot be loaded."""
    for package in ("onnxruntime", "tokenizers"):
        pytest.importorskip(package)
