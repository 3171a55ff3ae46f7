"""``promptfuzz cache stats``: show what is stored: how much, how old, from which models."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.cache.common import add_paths, add_store, ago, counted, day, recordings_in, sized
from pytest_promptfuzz.cli.options import add_output_options, plain
from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.reporting.text import HANG, Line, named
from pytest_promptfuzz.wire.endpoints import host_of
from pytest_promptfuzz.wire.recordings.reading import RecordingFile
from pytest_promptfuzz.wire.recordings.spool import waiting
from pytest_promptfuzz.wire.shelf import kept

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable
    from pathlib import Path

    from pytest_promptfuzz.cli.output import Output
    from pytest_promptfuzz.wire.answers import StoredAnswer


def add_parser(actions: argparse._SubParsersAction[Any]) -> None:
    """The action's arguments."""
    parser = actions.add_parser(
        "stats", help="show what is stored: how much, how old", description=plain(__doc__), allow_abbrev=False
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
        for entry in kept(directory):
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
        those = counted(len(cache["damaged"]), "entry").replace("entrys", "entries")
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
