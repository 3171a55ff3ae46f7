"""One headless Chromium for all tests of the page."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # handmade.py
from browsing import Browser

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser; skipped where there is none, unless BROWSER=1 insists on one."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    driver = shutil.which("chromedriver")
    missing = [name for name, found in (("chromium", program), ("chromedriver", driver)) if not found]
    try:
        import selenium  # noqa: F401
    except ImportError:
        missing.append("selenium")
    if missing:
        said = f"no {' and no '.join(missing)} on this machine"
        if os.environ.get("BROWSER") == "1":
            pytest.fail(f"BROWSER=1, but {said}")
        pytest.skip(said)
    browser = Browser(str(program), str(driver), tmp_path_factory.mktemp("chromium"))
    yield browser
    browser.close()


@pytest.fixture
def browser(chromium: Browser) -> Browser:
    """The same, without what the test before left: wide, light, nothing logged."""
    chromium.reset()
    return chromium
