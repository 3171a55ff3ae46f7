"""One headless Chromium for all tests of the page."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # handmade.py
from browsing import Browser, programs

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser; skipped where there is none, unless BROWSER=1 insists on one."""
    found = programs()
    if isinstance(found, str):
        if os.environ.get("BROWSER") == "1":
            pytest.fail(f"BROWSER=1, but {found}")
        pytest.skip(found)
    browser = Browser(*found, tmp_path_factory.mktemp("chromium"))
    yield browser
    browser.close()


@pytest.fixture
def browser(chromium: Browser) -> Browser:
    """The same, without what the test before left: wide, light, nothing logged."""
    chromium.reset()
    return chromium
