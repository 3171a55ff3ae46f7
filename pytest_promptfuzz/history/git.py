"""What git says of a project: the commit and branch of a run, and what an earlier commit held."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.errors import UsageError, unstopped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_SECONDS = 2.0
_BRANCHES = ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME", "BRANCH_NAME")
"""Where CI, which checks out no branch, says which it is."""


class Commit(NamedTuple):
    """Where a run was made; empty, and ``None``, where there is no git.

    Attributes:
        commit: The full hash.
        branch: Its name; empty on a detached head that no variable of CI names.
        dirty: Whether files that git knows were changed since.
    """

    commit: str = ""
    branch: str = ""
    dirty: bool | None = None


def commit_of(folder: Path, environment: Mapping[str, str] = os.environ) -> Commit:
    """The commit of a folder, in one call of git that takes two seconds at most; nothing where it cannot be told."""
    said = _run(
        folder,
        "status",
        "--porcelain=v2",
        "--branch",
        "--untracked-files=no",
        "--no-ahead-behind",
        wait=_SECONDS,
    )
    if said is None or said.returncode:
        return Commit()
    commit = branch = ""
    dirty = False
    for line in said.stdout.decode("utf-8", "replace").splitlines():
        if line.startswith("# branch.oid "):
            commit = line.removeprefix("# branch.oid ")
        elif line.startswith("# branch.head "):
            branch = line.removeprefix("# branch.head ")
        elif not line.startswith("#"):
            dirty = True
    if branch == "(detached)":
        branch = next((environment[name] for name in _BRANCHES if environment.get(name)), "")
    return Commit("" if commit.startswith("(") else commit, branch, dirty)


def resolved(ref: str, folder: Path) -> str:
    """The full hash of the commit that a ref names.

    Raises:
        UsageError: There is no git, no repository, no such commit, or it was left out of a shallow clone.
    """
    if ref.startswith("-"):
        raise UsageError(f"{ref!r} is no name of a commit.")
    said = _run(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    if said is None:
        raise UsageError("git cannot be run.")
    if said.returncode == 0:
        return said.stdout.decode("ascii", "replace").strip()
    inside = _run(folder, "rev-parse", "--is-shallow-repository")
    if inside is None or inside.returncode:
        raise UsageError(f"{folder} is in no git repository.")
    if inside.stdout.strip() == b"true":
        name = ref.removeprefix("origin/")
        one = f"git fetch --depth=1 origin {name} && git tag -f promptfuzz-base FETCH_HEAD, and compare with "
        how = (
            ""
            if {"~", "^", "@"} & set(ref) or ref.startswith("HEAD")
            else f"{one}promptfuzz-base; or all of it: "
        )
        raise UsageError(
            f"this clone is shallow, and {ref!r} is not in it. Fetch it: {how}git fetch --unshallow."
        )
    raise UsageError(f"git knows no commit {ref!r}.")


def names_at(commit: str, folder: Path) -> list[str]:
    """The files in a folder and below, as a commit has them, by their paths from the folder.

    Raises:
        UsageError: Git cannot tell.
    """
    said = _output(folder, "ls-tree", "-r", "-z", "--name-only", commit, "--", ".")
    return [each for each in said.decode("utf-8", "surrogateescape").split("\0") if each]


def contents_at(commit: str, names: Sequence[str], folder: Path) -> list[bytes]:
    """Files as a commit has them, in one call of git.

    Raises:
        UsageError: Git cannot tell.
    """
    asked = "".join(f"{commit}:./{name}\n" for name in names).encode("utf-8", "surrogateescape")
    said = _output(folder, "cat-file", "--batch", text=asked)
    found: list[bytes] = []
    at = 0
    for _ in names:
        end = said.index(b"\n", at)
        size = int(said[at:end].rpartition(b" ")[2])
        found.append(said[end + 1 : end + 1 + size])
        at = end + 2 + size
    return found


def _output(folder: Path, *arguments: str, text: bytes = b"") -> bytes:
    said = _run(folder, *arguments, text=text)
    if said is None:
        raise UsageError("git cannot be run.")
    if said.returncode:
        lines = said.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UsageError(f"git: {unstopped(lines[0] if lines else 'it failed')}.")
    return said.stdout


def _run(
    folder: Path, *arguments: str, text: bytes = b"", wait: float | None = None
) -> subprocess.CompletedProcess[bytes] | None:
    try:
        return subprocess.run(  # noqa: S603 - git itself, and what was asked for as a ref
            ["git", "-C", str(folder), *arguments],  # noqa: S607 - whichever git the person uses
            input=text,
            capture_output=True,
            check=False,
            timeout=wait,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
        )
    except (OSError, subprocess.SubprocessError):
        return None
