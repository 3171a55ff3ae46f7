"""Make the pictures in ``docs/screenshots``: a copy of ``example_project``, several runs of it, headless Chromium.

    python docs/screenshots.py [FOLDER]        all of them
    python docs/screenshots.py --first-page    ``failing-test.svg`` alone, which needs pytest and nothing else

``failing-test.svg`` is the test of the README as pytest shows it; ``tests/docs/test_site.py`` compares it with a run of
today. For the others, the copy lies in a git repository. Its first commits have an urgency prompt in which no two
levels fit one ticket; the last commit brings the prompt of the example, and the model starts to vary. They need the
extra ``test``, chromium and chromedriver, and git, and take a few minutes.
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

if TYPE_CHECKING:
    from collections.abc import Iterator

    from browsing import Browser

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


FIRST_TEST = re.compile(r'^```python title="(test_\w+\.py)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
COMMAND = "pytest test_urgency.py --promptfuzz-target=simulated"
LINE, LETTER, MARGIN, COLUMNS = 18, 8.4, 20, 80  # of the SVG, in pixels and letters
NO_BREAK = "\N{NO-BREAK SPACE}"  # a run of other spaces would be drawn as one
COLOURS = {"r": "#ff8178", "g": "#6fd58f", "y": "#f0bd58", "c": "#67cfdc"}
# It is a dark terminal with a border, so that it stands out from a light and from a dark page.
DRAWING = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" \
height="{height}" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">
<rect x="0.5" y="0.5" width="{inner_width:.0f}" height="{inner_height}" rx="8" fill="#14161a" stroke="#444c56"/>
<g fill="#d6d9de">
{rows}
</g>
</svg>
"""


def first_page(folder: Path) -> list[str]:
    """What a terminal shows of the README's first test: why it fails, and its row of the table, with colours."""
    found = FIRST_TEST.search((ROOT / "README.md").read_text(encoding="utf-8"))
    if found is None:
        raise SystemExit("README.md has no test.")
    (folder / found[1]).write_text(found[2], encoding="utf-8")
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ}
    shown = subprocess.run(  # noqa: S603
        [sys.executable, *QUIET, *COMMAND.split()[1:]],
        cwd=folder,
        env={**kept, "COLUMNS": str(COLUMNS), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    ).stdout.splitlines()
    bare = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in shown]
    starts = [at for at, line in enumerate(bare) if re.match(r"_+ test_\w+ _+$", line)]
    details = [at for at, line in enumerate(bare) if line.startswith("1. ")]
    tables = [at for at, line in enumerate(bare) if " prompt robustness " in line]
    if not (starts and details and tables):
        raise SystemExit("pytest shows something else:\n" + "\n".join(bare))
    return [
        f"$ \x1b[1m{COMMAND}\x1b[0m",
        *shown[starts[0] : details[0] - 1],
        "\x1b[2m…\x1b[0m",
        *shown[tables[0] : tables[0] + 3],
        shown[-1],
    ]


def drawn(lines: list[str]) -> str:
    """Lines of a terminal as an SVG. Each piece has its place and its width, so that any font of a machine fits."""
    rows = []
    for number, line in enumerate(lines):
        column = 0
        for classes, piece in _styled(line):
            if piece.strip():
                ahead = len(piece) - len(piece.lstrip())
                text = piece.strip()
                x, y = MARGIN + (column + ahead) * LETTER, MARGIN + 14 + number * LINE
                rows.append(
                    f'<text x="{x:.1f}" y="{y}" textLength="{len(text) * LETTER:.1f}"{_attributes(classes)}>'
                    f"{html.escape(text, quote=False).replace('  ', NO_BREAK * 2)}</text>"
                )
            column += len(piece)
    width, height = COLUMNS * LETTER + 2 * MARGIN, len(lines) * LINE + 2 * MARGIN
    return DRAWING.format(
        width=width, height=height, inner_width=width - 1, inner_height=height - 1, rows="\n".join(rows)
    )


def _attributes(classes: list[str]) -> str:
    colour = next((f' fill="{COLOURS[each]}"' for each in classes if each in COLOURS), "")
    weight = ' font-weight="700"' if "b" in classes else ""
    faint = ' opacity="0.65"' if "d" in classes else ""
    struck = ' text-decoration="line-through"' if "s" in classes else ""
    return colour + weight + faint + struck


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
    for classes, piece in _styled(text):
        yield f'<span class="{" ".join(classes)}">{html.escape(piece)}</span>'


def _styled(text: str) -> Iterator[tuple[list[str], str]]:
    classes: list[str] = []
    for place, piece in enumerate(re.split(r"\x1b\[([\d;]*)m", text)):
        if place % 2:
            codes = piece.split(";")
            classes = [] if codes[0] in {"", "0"} else [*classes, *(CLASSES.get(code, "") for code in codes)]
        elif piece:
            yield classes, piece


def shoot(browser: Browser, path: Path, width: int, height: int) -> None:
    """A picture of what is shown."""
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    browser.driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
    found = browser.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
    path.write_bytes(base64.b64decode(found["data"]))
    print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB")


def main() -> int:
    """Make them all, or that of the first page."""
    words = [word for word in sys.argv[1:] if word != "--first-page"]
    goal = Path(words[0] if words else ROOT / "docs" / "screenshots")
    goal.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        picture = drawn(first_page(Path(name)))
        (goal / "failing-test.svg").write_text(picture, encoding="utf-8", newline="\n")
    if "--first-page" in sys.argv:
        return 0
    sys.path.insert(0, str(ROOT / "tests" / "reporting" / "html"))
    from browsing import Browser, programs

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
