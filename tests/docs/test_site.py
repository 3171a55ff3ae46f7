"""The site that is built of docs/ and of the files beside it."""

from __future__ import annotations

import html
import re
import runpy
import subprocess
from pathlib import Path

import pytest
from documents import plain

ROOT = Path(__file__).parents[2]
MARKERS = re.compile(rb"^(?:<{7}|>{7}|\|{7})(?: |$)", re.MULTILINE)


def test_no_file_holds_conflict_markers() -> None:
    done = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if done.returncode:  # an unpacked sdist, or the copy that .ci/run tests
        folders = ("docs", "tests", "benchmarks", "example_project", "pytest_promptfuzz")
        files = [
            path for name in folders for path in (ROOT / name).rglob("*") if "__pycache__" not in path.parts
        ]
        files += ROOT.glob("*.*")
    else:
        files = [ROOT / name for name in done.stdout.decode().split("\0") if name]
    marked = [
        str(path.relative_to(ROOT)) for path in files if path.is_file() and MARKERS.search(path.read_bytes())
    ]
    assert not marked


@pytest.mark.parametrize("text", [b"a\n<<<<<<< HEAD\nb\n", b">>>>>>> df8aebc (Show it)\n", b"||||||| base\n"])
def test_conflict_markers_are_known(text: bytes) -> None:
    assert MARKERS.search(text)
    assert not MARKERS.search(b"  " + text.replace(b"\n", b"\n  "))


def test_the_site_builds_strictly_and_asks_the_network_for_nothing(tmp_path: Path) -> None:
    pytest.importorskip("material", reason="needs the extra docs")
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path), strict=True))
    pages = {
        str(path.parent.relative_to(tmp_path)): path.read_text(encoding="utf-8")
        for path in tmp_path.glob("**/index.html")
    }
    assert len(pages) > 30
    unparsed = [name for name, html in pages.items() if re.search(r"<p>```|<code>\w+ title=", html)]
    assert not unparsed
    fetched = {
        found
        for html in pages.values()
        for found in re.findall(
            r"""<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=["']?((?:https?:)?//[^"' >]+)""", html
        )
    }
    assert not fetched
    listed = set(re.findall(r'<li><a href="../([\w/-]+)/"', pages["pages"])) | {
        "search-measurements",
        "contributing",
    }
    assert listed == pages.keys() - {".", "pages"}
    assert '<span class="filename">test_triage.py</span>' in pages["tutorial"]


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 900


def test_the_first_picture_is_a_run_of_today(tmp_path: Path) -> None:
    script = runpy.run_path(str(ROOT / "docs" / "screenshots.py"))
    today = script["drawn"](script["first_page"](tmp_path))
    kept = (ROOT / "docs" / "screenshots" / "failing-test.svg").read_text(encoding="utf-8")
    assert words(kept) == words(today), "run: python docs/screenshots.py --first-page"


def words(picture: str) -> list[str]:
    """What stands in a picture above the table: how wide its columns are depends on how long the run took."""
    picture = picture.partition("prompt robustness")[0]
    return [plain(html.unescape(each)) for each in re.findall(r"<text[^>]*>(.*?)</text>", picture)]
