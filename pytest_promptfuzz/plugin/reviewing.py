"""What a run's summary says of the recordings that it used: how old they are, and which differ from the last commit."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
from datetime import date, datetime, timezone
from typing import TYPE_CHECKING

from pytest_promptfuzz.wire.unpacking import UNREADABLE, unpacked_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

# Inside a text of JSON the quotes would be escaped.
_ANSWERED = re.compile(rb'"answered": "(\d{4}-\d{2}-\d{2})T')
_SECONDS = 5.0  # for git


def recording_lines(root: Path, tests: Iterable[str]) -> list[str]:
    """What to say, in sentences; nothing where the tests have no recordings.

    Args:
        root: pytest's root.
        tests: Node IDs of the robust tests that ran, judged or not.
    """
    from pytest_promptfuzz.wire.recordings.places import recording_of

    modules = {test.partition("::")[0]: None for test in tests}
    places = [recording_of(root / module) for module in modules]
    paths = [path for path in places if path.is_file()]
    lines: list[str] = []
    if days := sorted({day for path in paths for day in _days(path)}):
        count = "1 recording" if len(paths) == 1 else f"{len(paths)} recordings"
        first, last = days[0], days[-1]
        span = first if first == last else f"{first} to {last}"
        lines.append(f"{count}, answered {span} ({_ago(first)})")
    # One that was removed is a change too, and so is one that can no longer be read.
    packed = [path.with_name(f"{path.name}.gz") for path in places if path not in paths]
    try:
        changed = _changed(root, [*places, *packed]) if places else []
    except _UntoldError as error:
        changed = []
        if paths:
            lines.append(f"git does not tell whether the recordings are as in the last commit: {error}")
    if changed:
        lines.append(
            f"not as in the last commit: {', '.join(changed)}; `promptfuzz cache diff` shows what changed"
        )
    return lines


def _days(path: Path) -> set[date]:
    found: set[bytes] = set()
    try:
        packed = path.name.endswith(".gz")
        with io.BytesIO(unpacked_file(path)) if packed else path.open("rb") as lines:
            for line in lines:
                found.update(_ANSWERED.findall(line))
    except UNREADABLE:
        return set()  # said where the recording was read
    days: set[date] = set()
    for each in found:
        with contextlib.suppress(ValueError):  # no day of the calendar: the line is refused where it is read
            days.add(date.fromisoformat(each.decode("ascii")))
    return days


def _ago(day: date) -> str:
    days = (datetime.now(timezone.utc).date() - day).days
    return "today" if days == 0 else f"the oldest {days} day{'' if days == 1 else 's'} ago"


class _UntoldError(Exception):
    """Why git does not tell what changed."""


def _changed(root: Path, paths: list[Path]) -> list[str]:
    """The recordings that differ from the last commit, as git names them; none without git or a repository.

    Raises:
        _UntoldError: There is one, and git refuses or takes too long.
    """
    try:
        done = subprocess.run(  # noqa: S603 - git itself, and paths
            ["git", "status", "--porcelain", "-z", "--no-renames", "--", *map(str, paths)],  # noqa: S607 - the person's git
            cwd=root,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        return []
    except subprocess.TimeoutExpired:
        raise _UntoldError(f"it took longer than {_SECONDS:g} seconds") from None
    except OSError as error:
        raise _UntoldError(str(error)) from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        if "not a git repository" in said:
            return []
        raise _UntoldError(
            said.partition("\n")[0].removeprefix("fatal: ") or f"exit status {done.returncode}"
        )
    return [each[3:] for each in done.stdout.decode("utf-8", "replace").split("\0") if each]
