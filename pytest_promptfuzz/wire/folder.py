"""The folder of stored answers: ours alone, and out of git."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def make_directory(directory: Path) -> None:
    """Make the directory; one that is not ours alone (a project's root) keeps its mode and contents."""
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
