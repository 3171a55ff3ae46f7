"""A hook of mkdocs: files outside ``docs/`` become pages, and links lead to the same place as in the repository."""

from __future__ import annotations

import logging
import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File, Files

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "benchmarks/README.md": "measurements.md",
    "benchmarks/search/README.md": "search-measurements.md",
    "example_project/README.md": "example-project.md",
}
SOURCES = {page: source for source, page in PAGES.items()}
# A fenced block or an inline span of code, which stays as it is, or a link to a file.
LINK = re.compile(
    r"^```.*?^```$|`[^`\n]*`(?!\])|(?P<start>\]\()(?!\w+:|#)(?P<file>[^)#\s]+)(?P<anchor>#[^)\s]*)?(?=\))",
    re.MULTILINE | re.DOTALL,
)
log = logging.getLogger("mkdocs.hooks.repository_pages")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files of the repository that are pages."""
    root = Path(config.config_file_path).parent
    for source, page in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(root / source)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links at pages of the site. A link to a file that is not on the site is a warning."""
    here = page.file.src_uri
    source = SOURCES.get(here, f"docs/{here}")
    root = Path(config.config_file_path).parent

    def pointed(found: re.Match[str]) -> str:
        if found["start"] is None:
            return found[0]
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), found["file"]))
        goal = PAGES.get(target, target.removeprefix("docs/"))
        if files.get_file_from_path(goal) is None:
            state = "is not on the site" if (root / target).exists() else "does not exist"
            log.warning("%s links to %s, which %s.", source, target, state)
        return f"{found['start']}{posixpath.relpath(goal, posixpath.dirname(here) or '.')}{found['anchor'] or ''}"

    return LINK.sub(pointed, markdown)
