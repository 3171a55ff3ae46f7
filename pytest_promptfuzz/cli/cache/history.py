"""Recordings as a git commit has them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from pytest_promptfuzz.errors import UsageError, unstopped
from pytest_promptfuzz.wire.recordings.places import is_recording


def commits(named: str, folder: Path) -> tuple[str, str | None]:
    """What ``A``, ``A..B`` or ``A...B`` names: the commit before, and the one after (``None``: the files now).

    Raises:
        UsageError: There is no git, no repository, or no such commit.
    """
    before, dots, after = named.partition("...") if "..." in named else named.partition("..")
    if not dots:
        return named, None
    before, after = before or "HEAD", after or "HEAD"
    if dots == "...":
        while not folder.is_dir():
            folder = folder.parent
        before = _git(folder, "merge-base", "--end-of-options", before, after).decode("ascii").strip()
    return before, after


def recordings_at(ref: str, folder: Path) -> list[Path]:
    """The recordings in a folder and below, as a commit has them.

    Raises:
        UsageError: There is no git, no repository, or no such commit.
    """
    names = _git(folder, "ls-tree", "-r", "-z", "--name-only", ref, "--", ".").decode(
        "utf-8", "surrogateescape"
    )
    return [folder / name for name in names.split("\0") if is_recording(Path(name))]


def content_at(ref: str, path: Path) -> bytes | None:
    """A file as a commit has it; ``None`` where it has none of that name.

    Raises:
        UsageError: There is no git, no repository, or no such commit.
    """
    folder = path.parent
    while not folder.is_dir():  # the recording's own folder may be gone
        folder = folder.parent
    name = path.relative_to(folder).as_posix()
    if not _git(folder, "ls-tree", "-z", "--name-only", ref, "--", name):
        return None
    return _git(folder, "show", f"{ref}:./{name}")


def _git(folder: Path, *arguments: str) -> bytes:
    if arguments[1].startswith("-") and arguments[0] == "show":
        raise UsageError(f"{arguments[1]!r} is no commit.")
    try:
        done = subprocess.run(  # noqa: S603 - git itself, a commit and a path
            ["git", "-C", str(folder), *arguments],  # noqa: S607 - whichever git the person uses
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise UsageError(f"git cannot be run ({error.strerror or error}). Name two files instead.") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        if said and "not a git repository" in said[0]:
            raise UsageError(f"{folder} is in no git repository. Name two recordings instead: diff OLD NEW.")
        raise UsageError(
            f"git: {unstopped(said[0] if said else 'it failed')}. Name a commit of this repository."
        )
    return done.stdout
