"""``promptfuzz cache stats``: what is stored, how much, how old; what all ``cache`` commands share."""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.options import add_output_options
from pytest_promptfuzz.errors import StoreError, UsageError
from pytest_promptfuzz.providers.formats import host_of
from pytest_promptfuzz.reporting.terminal.styled_text import HANG, Line, named
from pytest_promptfuzz.storage.disk_store import kept_answers
from pytest_promptfuzz.storage.recordings.entries import waiting
from pytest_promptfuzz.storage.recordings.files import RecordingFile
from pytest_promptfuzz.storage.recordings.places import is_recording, recordings_below
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_promptfuzz.cli.options import Output
    from pytest_promptfuzz.storage.answers import StoredAnswer


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
                f"{path} is not a recording and has none. Name a recording (*.calls.jsonl), a recorded test module or "
                "a folder."
            )
        else:
            raise UsageError(f"{path} does not exist. Name a recording, a test module or a folder.")
    return list(found)


def age(text: str) -> float:
    """Seconds in ``36h``, ``90d``, ``8w`` or ``1y``; for argparse."""
    found = _AGE.fullmatch(text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not an age. Write 36h, 90d, 8w or 1y")
    return int(found["count"]) * _SECONDS[found["unit"]]


def size(text: str) -> int:
    """Bytes in ``500KB``, ``20MB`` or ``1.5GB``; for argparse."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size. Write 500KB, 20MB or 1.5GB")
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
    return "today" if days == 0 else f"{counted(days, 'day')} ago" if days > 0 else "in the future"


def agreed(question: str, *, yes: bool, stream: Any) -> bool:
    """Whether the person agrees: said beforehand with ``--yes``, or now.

    Raises:
        UsageError: There is nobody to ask.
    """
    if yes:
        return True
    if not stream.isatty():
        raise UsageError("this needs a terminal to ask you. Add --yes to delete without asking.")
    return input(f"{question} [y/N] ").strip().lower() in {"y", "yes"}


# ``promptfuzz cache stats``: show what is stored: how much, how old, from which models.


def add_parser(actions: argparse._SubParsersAction[Any]) -> None:
    """The action's arguments."""
    parser = actions.add_parser(
        "stats",
        help="show what is stored: how much, how old",
        description="promptfuzz cache stats: show what is stored: how much, how old, from which models.",
        allow_abbrev=False,
    )
    add_paths(parser)
    add_store(parser)
    add_output_options(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace, output: Output) -> int:
    """Show; returns the exit code.

    Raises:
        UsageError: A path is wrong.
    """
    cache = _cache(options.cache_dir)
    recordings = [_recording(path) for path in recordings_in(options.paths)]
    if options.json:
        output.json({"cache": cache, "recordings": recordings})
    else:
        output.lines([*_cache_lines(cache), [], *_recording_lines(recordings)])
    return 0


def _cache(directory: Path) -> dict[str, Any]:
    answers: list[StoredAnswer] = []
    size, damaged, problem = 0, [], ""
    try:
        for entry in kept_answers(directory):
            size += entry.size
            if entry.answer is None:
                damaged.append({"key": entry.key, "why": entry.why})
            else:
                answers.append(entry.answer)
    except StoreError as error:
        problem = str(error)
    return {
        "directory": str(directory),
        **_described(answers),
        "bytes": size,
        "damaged": damaged,
        "problem": problem,
        "waiting": waiting(directory / "recording"),
    }


def _recording(path: Path) -> dict[str, Any]:
    file = RecordingFile(path)
    tests = []
    everything: list[StoredAnswer] = []
    for test in file.tests:
        answers = [each.answer for each in file.read(test).entries]
        everything += answers
        tests.append({"test": test, **_times(answers), "answers": len(answers)})
    return {
        "path": str(path),
        **_described(everything),
        "bytes": path.stat().st_size if path.is_file() else 0,
        "tests": tests,
        "problems": [str(each) for each in file.problems],
    }


def _described(answers: list[StoredAnswer]) -> dict[str, Any]:
    return {
        "answers": len(answers),
        **_times(answers),
        "models": _most(str(each.request.get("model", "?")) for each in answers),
        "hosts": _most(host_of(each.url) for each in answers),
    }


def _times(answers: list[StoredAnswer]) -> dict[str, Any]:
    times = [each.created for each in answers]
    return {"oldest": min(times, default=None), "newest": max(times, default=None)}


def _most(names: Iterable[str]) -> dict[str, int]:
    counts = Counter(names)
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def _cache_lines(cache: dict[str, Any]) -> list[Line]:
    lines = [_head(f"Local cache {cache['directory']}", cache), *_by(cache)]
    if cache["problem"]:
        lines.append([("  ", "plain"), HANG, (cache["problem"], "bad")])
    if cache["damaged"]:
        first = cache["damaged"][0]
        those = counted(len(cache["damaged"]), "entry")
        lines.append(
            [("  ", "plain"), HANG, (f"damaged: {those} ({first['key'][:16]}: {first['why']})", "bad")]
        )
    if cache["waiting"]:
        lines.append(
            [
                ("  ", "plain"),
                HANG,
                (
                    f"{counted(cache['waiting'], 'test')} of an unfinished recording; record again to go on",
                    "warn",
                ),
            ]
        )
    return lines


def _recording_lines(recordings: list[dict[str, Any]]) -> list[Line]:
    if not recordings:
        return [[("No recordings.", "plain")]]
    lines: list[Line] = []
    for each in recordings:
        lines += [_head(each["path"], each), *_by(each)]
        lines += [[("  ", "plain"), HANG, (problem, "bad")] for problem in each["problems"]]
        lines += [
            [("  ", "plain"), HANG, (f"{test['test']}: {_amount(test)}", "plain")] for test in each["tests"]
        ]
    return lines


def _head(name: str, value: dict[str, Any]) -> Line:
    return named(name, f"{_amount(value)}, {sized(value['bytes'])}")


def _amount(value: dict[str, Any]) -> str:
    said = counted(value["answers"], "answer")
    if value["oldest"] is None:
        return said
    oldest, newest = day(value["oldest"]), day(value["newest"])
    span = oldest if oldest == newest else f"{oldest} to {newest}"
    return f"{said} of {span} ({ago(value['oldest'])})"


def _by(value: dict[str, Any]) -> list[Line]:
    return [
        [
            (f"  {name} ", "label"),
            HANG,
            (", ".join(f"{each} {count:,}" for each, count in counts.items()), "plain"),
        ]
        for name, counts in (("models", value["models"]), ("hosts ", value["hosts"]))
        if counts
    ]
