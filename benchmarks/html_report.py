"""How large is the page of a large run, and how long does it take to write, to open, and to open one test of it?

    python benchmarks/html_report.py [--tests 1000] [--trials 16] [--rounds 5]

A run is made up from a fixed seed: prompts of 1,500 characters, answers of 300 to 600, all drawn anew, so that nothing
is shared between tests. It is rendered, then opened from the disk in headless Chromium, anew each round. The overview
counts as opened when its load event and two frames after it are over, from where the browser was told to open it; a
test's page, when its heading has the focus, from the click. Exits with 1 if the file reaches 15 MB, or its overview
takes two seconds or more.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).parent.parent / "tests" / "reporting"
sys.path[:0] = [str(TESTS), str(TESTS / "html")]
import pages  # noqa: E402
from browsing import Browser, programs  # noqa: E402
from measuring import machine  # noqa: E402

from pytest_promptfuzz.reporting.html.page import html_report  # noqa: E402

MOST_BYTES, MOST_SECONDS = 15_000_000, 2.0
FRAMES = """
const done = arguments[arguments.length - 1];
requestAnimationFrame(() => requestAnimationFrame(() => done()));
"""
TEST = """
const done = arguments[arguments.length - 1];
const link = [...document.querySelectorAll("#tests th a")][arguments[0]];
const start = performance.now();
const look = () => document.activeElement.tagName === "H1" && location.hash === link.getAttribute("href")
  ? done(performance.now() - start) : requestAnimationFrame(look);
link.click();
look();
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tests", type=int, default=1_000)
    parser.add_argument("--trials", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    found = programs()
    if isinstance(found, str):
        print(found, file=sys.stderr)
        return 2
    print(machine())
    made = pages.many(given.tests, given.trials)
    started, busy = time.perf_counter(), time.process_time()
    page = html_report(made)
    wall, cpu = time.perf_counter() - started, time.process_time() - busy
    size = len(page.encode())
    print(f"{given.tests:,} tests x {given.trials} trials: {size / 1e6:.2f} MB")
    print(
        f"rendered in {wall:.2f} s by the clock, {cpu:.2f} s of the processor; peak memory {peak():,.0f} MB"
    )
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(*found, Path(folder))
        try:
            path = Path(folder) / "report.html"
            path.write_text(page, encoding="utf-8")
            browser.driver.set_script_timeout(60)
            opened, shown = [], []
            for turn in range(given.rounds):
                browser.driver.get("about:blank")
                started = time.perf_counter()
                browser.driver.get(path.as_uri())
                browser.driver.execute_async_script(FRAMES)
                opened.append(time.perf_counter() - started)
                assert browser.run("return 'ready' in document.documentElement.dataset")
                shown.append(browser.driver.execute_async_script(TEST, turn * 7) / 1_000)
        finally:
            browser.close()
    for what, seconds in (("overview, to where it can be used", opened), ("one test's page", shown)):
        print(f"{what}: median {statistics.median(seconds):.3f} s ({min(seconds):.3f} to {max(seconds):.3f})")
    return int(size >= MOST_BYTES or statistics.median(opened) >= MOST_SECONDS)


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024


if __name__ == "__main__":
    sys.exit(main())
