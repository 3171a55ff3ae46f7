"""Shared by the tests of the support desk."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Let the SDKs' clients be made without a key, where the simulated model answers in the providers' place.

    The clients refuse to be made without one. A key of your own is left alone, and none is made up for a real target.
    """
    target = (
        config.getoption("promptfuzz_target")
        or os.environ.get("PROMPTFUZZ_TARGET")
        or config.getini("promptfuzz_target")
    )
    if target and target.startswith("simulated"):
        for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
            os.environ.setdefault(name, "placeholder-no-key-needed")
