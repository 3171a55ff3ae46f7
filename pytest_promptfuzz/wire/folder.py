"""The folder of stored answers: ours alone, and out of git."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from pytest_promptfuzz.files import check_inside

if TYPE_CHECKING:
    from pathlib import Path


def make_directory(directory: Path) -> None:
    """Make the directory; one that is not ours alone (a project's root) keeps its mode and contents.

    Raises:
        OSError: It cannot be made.
        StoreError: It, or a folder in it, is a symbolic link that leads out of the folder around it.
    """
    project = directory.parent
    check_inside(directory, project)
    if directory.is_dir():
        with os.scandir(directory) as found:
            for entry in found:
                if entry.is_symlink():
                    check_inside(directory / entry.name, project)
    ours = directory.name == ".promptfuzz" or not directory.exists()
    responses = directory / "responses"
    responses.mkdir(parents=True, exist_ok=True)
    for each in (directory, responses) if ours else (responses,):
        with contextlib.suppress(OSError):
            if each.stat().st_mode & 0o077:
                each.chmod(0o700)
    ignore = (directory if ours else responses) / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")
