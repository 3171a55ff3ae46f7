"""A small plugin for commands (``-p pytest_promptfuzz.plugin.collection``): writes down which tests pytest collects.

Deselected tests are among them: ``-m`` or ``-k`` in ``addopts`` does not make a test vanish.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

VARIABLE = "PROMPTFUZZ_COLLECTED"
"""The environment variable that names the file: JSON, a list of path, test, and whether it may have a snapshot."""

_FOUND = pytest.StashKey[list[tuple[str, str, bool]]]()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Note a test, by the names that its recording would have."""
    keeps = item.get_closest_marker("robust") is not None and not hasattr(
        getattr(item, "obj", None), "hypothesis"
    )
    found = item.config.stash.setdefault(_FOUND, [])
    found.append((str(item.path), item.nodeid.partition("::")[2] or item.name, keeps))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Write them."""
    found = session.config.stash.get(_FOUND, [])
    Path(os.environ[VARIABLE]).write_text(json.dumps(found), encoding="utf-8")
