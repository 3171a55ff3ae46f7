"""Make the pictures in ``docs/screenshots``: a copy of ``example_project``, several runs of it, headless Chromium.

    python docs/screenshots.py [FOLDER]

The copy lies in a git repository of its own. Its first commits have an urgency prompt in which no two levels fit one
ticket; the last commit brings the prompt of the example, and the model starts to vary. Needs the extra ``test``,
chromium and chromedriver, and git; takes a few minutes.
"""

from __future__ import annotations

import base64
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests" / "reporting" / "html"))

from browsing import Browser, programs  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

XFAIL = re.compile(r"@pytest\.mark\.xfail\(.*?\n\)\n", re.DOTALL)
LEVELS = ("- medium: late parcels, broken products", "- medium: broken products")
VARYING = "simulated?noise=0.15&seed=2"
QUIET = ("-W", "ignore", "-m", "pytest", "-p", "no:cacheprovider", "--color=yes")
TABLE, ROWS = 15, 36  # of a terminal: the table with its total, and all of it; notes stand between
# What SGR codes look like on a dark terminal.
CLASSES = {"1": "b", "2": "d", "9": "s", "31": "r", "32": "g", "33": "y", "36": "c"}
TERMINAL = """<!DOCTYPE html><meta charset="utf-8"><style>
body {{ margin: 0; background: #14161a; }}
pre {{ font: 12px/1.35 "DejaVu Sans Mono", monospace; color: #d6d9de; padding: 14px 18px; margin: 0; width: {width}ch;
  box-sizing: content-box; display: inline-block; }}
.b {{ font-weight: 700; }} .d {{ opacity: 0.65; }} .s {{ text-decoration: line-through; }}
.r {{ color: #ff8178; }} .g {{ color: #6fd58f; }} .y {{ color: #f0bd58; }} .c {{ color: #67cfdc; }}
</style><pre>{rows}</pre>"""

SIZE = "const b = document.querySelector('pre').getBoundingClientRect(); return [b.width, b.height].map(Math.ceil)"


class Project:
    """A copy of the example, in git, with its runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        kept = ("PATH", "HOME", "PYTHONPATH", "HF_HUB_OFFLINE", "LANG")
        self.environment = {name: os.environ[name] for name in kept if name in os.environ}
        for who in ("AUTHOR", "COMMITTER"):
            self.environment |= {f"GIT_{who}_NAME": "Kim", f"GIT_{who}_EMAIL": "kim@example.com"}
        shutil.copytree(
            ROOT / "example_project", folder, ignore=shutil.ignore_patterns("__pycache__", ".promptfuzz")
        )
        (folder / ".gitignore").write_text(".promptfuzz/\n__pycache__/\n", encoding="utf-8")
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *words: str) -> None:
        """Run git in it."""
        subprocess.run(["git", *words], cwd=self.folder, env=self.environment, check=True)  # noqa: S603, S607

    def edit(self, file: str, old: str | re.Pattern[str], new: str) -> None:
        """Replace a text that has to be there."""
        path = self.folder / file
        text = path.read_text(encoding="utf-8")
        changed = text.replace(old, new) if isinstance(old, str) else old.sub(new, text)
        if changed == text:
            raise SystemExit(f"{file} does not hold {old}: the pictures' story has to be told anew.")
        path.write_text(changed, encoding="utf-8")

    def commit(self, message: str) -> None:
        """Commit all of it."""
        self.git("add", "--all")
        self.git("commit", "--quiet", f"--message={message}")

    def run(self, *options: str, width: int = 100) -> str:
        """What pytest writes to a terminal of so many columns."""
        environment = {**self.environment, "COLUMNS": str(width)}
        command = [sys.executable, *QUIET, *options]
        return subprocess.run(  # noqa: S603
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        ).stdout


def told(folder: Path) -> tuple[Path, dict[int, str]]:
    """The story: the page of the last run, and what terminals show of it, by width."""
    project = Project(folder / "support-desk")
    project.edit("tests/test_triage.py", XFAIL, "")
    project.edit("support_app/prompts/urgency.txt", *LEVELS)
    project.commit("Sort tickets by urgency")
    project.run("--promptfuzz-update")
    for number in range(1, 4):
        (project.folder / "NEWS.md").write_text(f"Release 0.{number}\n", encoding="utf-8")
        project.commit(f"Release 0.{number}")
        project.run(f"--promptfuzz-target=simulated?noise=0.04&seed={number}")
    project.run("--promptfuzz-save=release-1")
    project.git("switch", "--quiet", "--create", "late-parcels")
    project.edit("support_app/prompts/urgency.txt", *LEVELS[::-1])
    project.commit("Call late parcels medium")
    page = folder / "report.html"
    options = (
        f"--promptfuzz-target={VARYING}",
        "--promptfuzz-compare=release-1",
        "--promptfuzz-fail-on=score drop > 0.05",
    )
    said = project.run(*options, f"--promptfuzz-report=html:{page}")
    if not page.exists():
        raise SystemExit(f"pytest wrote no report, but:\n{said}")
    return page, {width: project.run(*options, "--tb=no", width=width) for width in (80, 120)}


def terminal(text: str, width: int) -> str:
    """What a terminal shows, from the summary on, as a page."""
    rows = text.splitlines()
    start = next((at for at, row in enumerate(rows) if "prompt robustness" in row), 0)
    changed = next(
        (at for at, row in enumerate(rows) if row.removeprefix("\x1b[1m").startswith("Since")), start
    )
    table = rows[start : start + TABLE]
    shown = "\n".join([*table, "…", *rows[changed : changed + ROWS - TABLE]])
    return TERMINAL.format(width=width, rows="".join(_coloured(shown)))


def _coloured(text: str) -> Iterator[str]:
    classes: list[str] = []
    for place, piece in enumerate(re.split(r"\x1b\[([\d;]*)m", text)):
        if place % 2:
            codes = piece.split(";")
            classes = [] if codes[0] in {"", "0"} else [*classes, *(CLASSES.get(code, "") for code in codes)]
        elif piece:
            yield f'<span class="{" ".join(classes)}">{html.escape(piece)}</span>'


def shoot(browser: Browser, path: Path, width: int, height: int) -> None:
    """A picture of what is shown."""
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    browser.driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
    found = browser.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
    path.write_bytes(base64.b64decode(found["data"]))
    print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB")


def main() -> int:
    """Make them all."""
    goal = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs" / "screenshots")
    goal.mkdir(exist_ok=True)
    found = programs()
    if isinstance(found, str):
        print(found, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        page, terminals = told(folder)
        profile = folder / "profile"
        browser = Browser(*found, profile)
        try:
            text = page.read_text(encoding="utf-8")
            for picture, width, height, dark, view in (
                ("overview", 1280, 1180, False, ""),
                ("overview-dark", 1280, 1180, True, ""),
                ("overview-phone", 390, 1400, False, ""),
                ("heat-map", 1280, 700, False, "heat"),
                ("test", 1280, 1300, False, "test"),
                ("test-dark", 1280, 1300, True, "test"),
                ("test-phone", 390, 1400, False, "test"),
            ):
                browser.look(width, dark=dark)
                browser.open(text)
                if view == "test":
                    browser.go(
                        browser.run("return document.querySelector('#tests th a').getAttribute('href')")
                    )
                browser.look(width, dark=dark)
                if view == "heat":
                    browser.run("document.querySelector('#heat-title').scrollIntoView()")
                shoot(browser, goal / f"{picture}.png", width, height)
            for width, output in terminals.items():
                path = profile / f"page-terminal-{width}.html"
                path.write_text(terminal(output, width), encoding="utf-8")
                browser.driver.get(path.as_uri())
                shoot(browser, goal / f"terminal-{width}.png", *browser.run(SIZE))
        finally:
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
