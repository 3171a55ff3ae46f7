"""A page in headless Chromium: what it shows, what it logs, what it asks the network for."""

from __future__ import annotations

import json
import shutil
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--no-first-run",
)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 60.0
TAB, ENTER, ESCAPE = "\ue004", "\ue007", "\ue00c"  # as WebDriver names keys


def programs() -> tuple[str, str] | str:
    """Where Chromium and its driver are; or what is missing, in words."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    driver = shutil.which("chromedriver")
    if program and driver and find_spec("selenium"):
        return program, driver
    there = {"chromium": program, "chromedriver": driver, "selenium": find_spec("selenium")}
    return f"no {' and no '.join(name for name, found in there.items() if not found)} on this machine"


class Browser:
    """Chromium, driven by selenium."""

    def __init__(self, program: str, driver: str, folder: Path) -> None:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = program
        for flag in (*FLAGS, f"--user-data-dir={folder}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.folder = folder
        self.driver = webdriver.Chrome(options=options, service=Service(driver))
        self.pages = 0

    def close(self) -> None:
        self.driver.quit()

    def reset(self) -> None:
        self.driver.get("about:blank")
        self.look(1280)
        self.logged()
        self.requests()

    def look(self, width: int, *, dark: bool = False, still: bool = True) -> None:
        """The width of the window in CSS pixels, and what the system prefers."""
        screen = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if still else "no-preference"},
        ]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def open(self, page: str, hash_: str = "") -> None:
        """A page, from the disk."""
        self.pages += 1
        path = self.folder / f"page-{self.pages}.html"
        path.write_text(page, encoding="utf-8")
        self.driver.get(f"{path.as_uri()}{hash_}")
        self.until("return 'ready' in document.documentElement.dataset")
        self.settled()

    def run(self, script: str, *given: Any) -> Any:
        return self.driver.execute_script(script, *given)

    def until(self, script: str, *given: Any) -> Any:
        """What a script returns, as soon as it is true."""
        return waited(lambda: self.run(script, *given), script)

    def go(self, hash_: str) -> None:
        self.run("location.hash = arguments[0]", hash_)
        self.settled()

    def settled(self) -> None:
        """A view of a test is unpacked first."""
        self.until("return document.documentElement.dataset.shown === (location.hash || '#/')")

    def text(self, selector: str) -> str:
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def texts(self, selector: str) -> list[str]:
        """Of the elements that can be seen."""
        return self.run(
            "return [...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility()).map(e => e.innerText)",
            selector,
        )

    def click(self, selector: str) -> None:
        from selenium.webdriver.common.by import By

        self.driver.find_element(By.CSS_SELECTOR, selector).click()

    def keys(self, *keys: str) -> None:
        """To whatever has the focus."""
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def barriers(self) -> list[tuple[str, str, str]]:
        """What axe-core finds on the page that is serious or critical: the rule, the first element, what to mend."""
        from axe_core_python.selenium import Axe

        return [
            (each["id"], each["nodes"][0]["html"], each["nodes"][0].get("failureSummary", ""))
            for each in Axe().run(self.driver)["violations"]
            if each["impact"] in {"serious", "critical"}
        ]

    def logged(self) -> list[str]:
        """What the console said since it was last asked."""
        return [each["message"] for each in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """What the page asked for since, apart from itself and data."""
        asked = []
        for each in self.driver.get_log("performance"):
            message = json.loads(each["message"])["message"]
            if message["method"] in {"Network.requestWillBeSent", "Network.webSocketCreated"}:
                params = message["params"]
                asked.append(params["request"]["url"] if "request" in params else params["url"])
        own = self.folder.as_uri()
        return [each for each in asked if not each.startswith((f"{own}/page-", "data:", "about:", "blob:"))]


def waited(condition: Callable[[], Any], said: str) -> Any:
    """What a condition gives, as soon as it is true."""
    end = time.monotonic() + PATIENCE
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < end, f"never true: {said}"
        time.sleep(0.02)
