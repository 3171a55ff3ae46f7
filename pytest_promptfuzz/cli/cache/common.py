"""What the actions of ``promptfuzz cache`` share: which files they mean, and how sizes and ages are written."""

from __future__ import annotations

import argparse
import re
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.wire.recordings.places import is_recording, recordings_below

if TYPE_CHECKING:
    from collections.abc import Iterable

STORE = ".promptfuzz"
DAY = 86_400.0
_SKIP = ("*.egg", ".*", "_darcs", "build", "CVS", "dist", "node_modules", "venv", "{arch}")  # as pytest does
_AGE = re.compile(r"(?P<count>\d+)(?P<unit>[hdwy])")
_SECONDS = {"h": 3600.0, "d": DAY, "w": 7 * DAY, "y": 365 * DAY}
_SIZE = re.compile(r"(?P<count>\d+(?:\.\d+)?)(?P<unit>[KMG]?)B?", re.IGNORECASE)
_BYTES = {"": 1, "K": 1000, "M": 1000**2, "G": 1000**3}


def add_paths(parser: argparse.ArgumentParser) -> None:
    """``PATHS``: recordings, test modules or folders."""
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="recordings, test modules, or folders to look through (.)"
    )


def add_store(parser: argparse.ArgumentParser) -> None:
    """``--cache-dir``."""
    parser.add_argument(
        "--cache-dir", default=STORE, metavar="DIR", type=Path, help=f"folder of the local cache ({STORE})"
    )


def recordings_in(paths: Iterable[str]) -> list[Path]:
    """The recordings that paths name: themselves, of a module, or all of a folder; without any, of this folder.

    Raises:
        UsageError: A path does not exist, or a file has no recording.
    """
    found: dict[Path, None] = {}
    for each in list(paths) or ["."]:
        path = Path(each)
        if is_recording(path) and path.exists():
            found[path] = None
        elif path.is_dir():
            found.update(dict.fromkeys(recordings_below([path], _SKIP)))
        elif path.suffix == ".py" and (those := recordings_below([path])):
            found.update(dict.fromkeys(those))
        elif path.exists():
            raise UsageError(
                f"{path} is no recording, and has none. Name a recording (*.calls.jsonl), a recorded test module or a "
                "folder."
            )
        else:
            raise UsageError(f"{path} does not exist. Name a recording, a test module or a folder.")
    return list(found)


def age(text: str) -> float:
    """Seconds in ``36h``, ``90d``, ``8w`` or ``1y``; for argparse."""
    found = _AGE.fullmatch(text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no age; write 36h, 90d, 8w or 1y")
    return int(found["count"]) * _SECONDS[found["unit"]]


def size(text: str) -> int:
    """Bytes in ``500KB``, ``20MB`` or ``1.5GB``; for argparse."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no size; write 500KB, 20MB or 1.5GB")
    return int(float(found["count"]) * _BYTES[found["unit"].upper()])


def sized(count: int) -> str:
    """A number of bytes for people.

    >>> sized(999), sized(1_500_000)
    ('999 B', '1.5 MB')
    """
    for unit, many in (("GB", 1000**3), ("MB", 1000**2), ("kB", 1000)):
        if count >= many:
            return f"{count / many:.1f} {unit}"
    return f"{count} B"


def day(seconds: float) -> str:
    """The day of a time, UTC; what is no day of the calendar as ``?``."""
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d")
    except (ValueError, OverflowError, OSError):
        return "?"


def ago(seconds: float) -> str:
    """How long ago a time was, in whole days."""
    days = int((time.time() - seconds) // DAY)
    return (
        "today" if days == 0 else f"{days} day{'' if days == 1 else 's'} ago" if days > 0 else "in the future"
    )


def counted(count: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "answer"), counted(2, "answer")
    ('1 answer', '2 answers')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def agreed(question: str, *, yes: bool, stream: Any) -> bool:
    """Whether the person agrees: said beforehand with ``--yes``, or now.

    Raises:
        UsageError: There is nobody to ask.
    """
    if yes:
        return True
    if not stream.isatty():
        raise UsageError("nobody is there to be asked; write --yes to do it.")
    return input(f"{question} [y/N] ").strip().lower() in {"y", "yes"}
