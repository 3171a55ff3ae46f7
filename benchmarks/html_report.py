"""How large is the page of a large run, how long does it take to write, to open, to sort, and to open one test of it?

    python benchmarks/html_report.py [--tests 10000] [--trials 8] [--rounds 5]

A run is made up from a fixed seed: prompts of 1,500 characters, answers of 300 to 600, all drawn anew, so that nothing
is shared between tests. It is stored as a run leaves it. Another process reads it and writes the page: its time and its
peak memory are those of writing. The page is then opened from the disk in headless Chromium, anew each round. The
overview counts as opened when it says that it is ready and two frames after that are over, from where the browser was
told to open it; a sort, when two frames after the click are over; a test's page, when its heading has the focus. Exits
with 1 if a limit is passed: 3 s to open, 0.3 s to sort, 300 MB to write.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).parent.parent / "tests" / "reporting"
sys.path[:0] = [str(TESTS), str(TESTS / "html")]
import pages  # noqa: E402
from browsing import Browser, programs  # noqa: E402
from measuring import machine, run  # noqa: E402

from pytest_promptfuzz.reporting.report_files import Stored  # noqa: E402

MOST_OPEN, MOST_SORT, MOST_MEMORY = 3.0, 0.3, 300.0
READY = """
const done = arguments[arguments.length - 1];
const look = () => "ready" in document.documentElement.dataset
  ? requestAnimationFrame(() => requestAnimationFrame(() => done())) : setTimeout(look, 5);
look();
"""
SORT = """
const done = arguments[arguments.length - 1];
const start = performance.now();
document.querySelector(`[data-by=${arguments[0]}].sort`).click();
requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)));
"""
FIND = """
const done = arguments[arguments.length - 1];
const field = document.getElementById("find");
const start = performance.now();
field.value = arguments[0];
field.dispatchEvent(new Event("input", { bubbles: true }));
requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)));
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


def stored(folder: Path, tests: int, trials: int) -> Path:
    """The run as pytest leaves it, made up test by test."""
    made = pages.run()
    lines = Stored(folder, made)
    names = []
    for test in pages.drawn(tests, trials):
        lines.test(test)
        names.append(test["test"])
    lines.end(made, changes=None, trends=pages.trends(names), warnings=[])
    return lines.path


def written(source: Path, goal: Path) -> tuple[float, float]:
    """Write the page in a process of its own: seconds of the processor, and megabytes at its peak."""
    command = [
        sys.executable,
        "-m",
        "pytest_promptfuzz.cli",
        "report",
        "--from",
        str(source),
        "--to",
        f"html:{goal}",
    ]
    cost, _ = run(command, cwd=source.parent, env=os.environ)
    return cost.cpu, cost.peak / 1_024


def looked_at(browser: Browser, path: Path, rounds: int) -> dict[str, list[float]]:
    """Seconds of each step, of each round."""
    steps: dict[str, list[float]] = {
        "overview opens": [],
        "sort": [],
        "search": [],
        "a test's page opens": [],
    }
    browser.driver.set_script_timeout(120)
    for turn in range(rounds):
        browser.driver.get("about:blank")
        started = time.perf_counter()
        browser.driver.get(path.as_uri())
        browser.driver.execute_async_script(READY)
        steps["overview opens"].append(time.perf_counter() - started)
        for by in ("time", "test", "score"):
            steps["sort"].append(browser.driver.execute_async_script(SORT, by) / 1_000)
        for words in ("refund", "order 1", ""):
            steps["search"].append(browser.driver.execute_async_script(FIND, words) / 1_000)
        steps["a test's page opens"].append(browser.driver.execute_async_script(TEST, turn * 3) / 1_000)
    return steps


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tests", type=int, default=10_000)
    parser.add_argument("--trials", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    found = programs()
    if isinstance(found, str):
        print(found, file=sys.stderr)
        return 2
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        cpu, memory = written(stored(Path(folder), given.tests, given.trials), page)
        size = page.stat().st_size / 1e6
        print(f"{given.tests:,} tests x {given.trials} trials: {size:.1f} MB")
        print(f"written in {cpu:.1f} s of the processor; peak memory {memory:,.0f} MB")
        browser = Browser(*found, Path(folder) / "profile")
        try:
            steps = looked_at(browser, page, given.rounds)
        finally:
            browser.close()
    for what, times in steps.items():
        print(f"{what}: median {statistics.median(times):.3f} s ({min(times):.3f} to {max(times):.3f})")
    kept = (
        statistics.median(steps["overview opens"]) <= MOST_OPEN,
        statistics.median(steps["sort"]) <= MOST_SORT,
        memory <= MOST_MEMORY,
    )
    return int(not all(kept))


if __name__ == "__main__":
    sys.exit(main())
