"""The formats that hosts of code read, by name, and where in the repository a test's file is."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.reporting.words import count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_promptfuzz.reporting.document import Document

_ROOTS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR", "BUILD_SOURCESDIRECTORY")


def markdown(document: Document) -> str:
    """Markdown for a comment on GitHub or GitLab."""
    from pytest_promptfuzz.reporting.markdown import markdown_report

    return markdown_report(document)


def gitlab(document: Document) -> str:
    """GitLab's code quality report."""
    from pytest_promptfuzz.reporting.gitlab import gitlab_report

    return gitlab_report(placed(document, os.environ, Path.cwd()))


def sarif(document: Document) -> str:
    """SARIF 2.1.0."""
    from pytest_promptfuzz.reporting.sarif import sarif_report

    return sarif_report(placed(document, os.environ, Path.cwd()))


def github(document: Document, log: Callable[[str], object]) -> str:
    """Tell GitHub: annotations go to the log, a line each, the rest to the files that the environment names.

    Returns:
        A sentence on what was told.

    Raises:
        StoreError: A file cannot be written.
    """
    from pytest_promptfuzz.reporting.github import write_github

    lines: list[str] = []
    try:
        places = write_github(placed(document, os.environ, Path.cwd()), os.environ, lines.append)
    except OSError as error:
        raise StoreError(f"{error.filename} cannot be written: {error.strerror}.") from error
    for line in lines:
        log(line)
    told = [count(len(lines), "annotation"), *places]
    missing = "" if places else "; GITHUB_STEP_SUMMARY and GITHUB_OUTPUT name no files"
    return f"told GitHub: {', '.join(told)}{missing}"


HOSTS: dict[str, Callable[[Document], str]] = {"md": markdown, "gitlab": gitlab, "sarif": sarif}
"""Formats that are a file, which :func:`github` is not."""


def placed(document: Document, environment: Mapping[str, str], folder: Path) -> Document:
    """The document with paths of tests as the repository has them, where pytest ran in a folder of it.

    Args:
        document: Its paths are from pytest's root.
        environment: Of a host's job, which names the repository's folder.
        folder: Where the process was started: at pytest's root, or below it.
    """
    root = next((Path(environment[name]) for name in _ROOTS if environment.get(name)), None)
    above = [folder, *folder.parents]
    if root is None or root not in above:
        return document
    inside = above[: above.index(root) + 1]

    def moved(report: Any) -> Any:
        if report["location"] is None:
            return report
        path, line = report["location"]
        here = next((each for each in inside if (each / path).is_file()), root)
        found = PurePosixPath((here / path).relative_to(root)) if (here / path).is_relative_to(root) else path
        return {**report, "location": (str(found), line)}

    return {
        **document,
        "tests": list(map(moved, document["tests"])),
        "unjudged": list(map(moved, document["unjudged"])),
    }
