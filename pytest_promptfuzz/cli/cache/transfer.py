"""``promptfuzz cache export`` and ``import``: carry answers of the local cache from one machine to another."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.cli.cache.stats import add_store, age
from pytest_promptfuzz.cli.options import add_output_options
from pytest_promptfuzz.errors import StoreError, UsageError
from pytest_promptfuzz.files import UNREADABLE, read_bytes, unpacked_file
from pytest_promptfuzz.providers.formats import host_of
from pytest_promptfuzz.storage.disk_store import ResponseStore, kept_answers
from pytest_promptfuzz.storage.recordings.checks import check, secrets_of, why_not
from pytest_promptfuzz.storage.recordings.entries import answer_of_json, answer_to_json, sealed, unsealed
from pytest_promptfuzz.storage.recordings.files import Problem, RecordingFile, write_whole
from pytest_promptfuzz.storage.recordings.places import is_recording
from pytest_promptfuzz.wording.sentences import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from pytest_promptfuzz.cli.options import Output
    from pytest_promptfuzz.storage.answers import StoredAnswer


# Answers of a local store as a file that another machine can take in: JSON Lines, sealed like recordings.


KIND = "answers"
VERSION = 1


def write_answers(path: Path, answers: Mapping[str, StoredAnswer]) -> None:
    """Write answers by key, in the order of their keys; compressed if the name ends in ``.gz``.

    Raises:
        StoreError: The file cannot be written; one that was there is as it was.
    """
    header = json.dumps({"promptfuzz": KIND, "version": VERSION}).encode("ascii") + b"\n"
    write_whole(
        path, b"".join([header, *(sealed(answer_to_json(key, answers[key])) for key in sorted(answers))])
    )


def read_answers(path: Path) -> tuple[dict[str, StoredAnswer], list[Problem]]:
    """The answers in a file that was exported, or in a recording, and what is wrong with it.

    Raises:
        StoreError: The file cannot be read, or is neither.
    """
    if is_recording(path):
        checked = check(path)
        return {each.key: each.answer for each in checked.entries}, checked.problems
    try:
        content = unpacked_file(path) if path.name.endswith(".gz") else read_bytes(path)
    except UNREADABLE as error:
        raise StoreError(f"{path} cannot be read ({getattr(error, 'strerror', None) or error}).") from None
    header, _, rest = content.partition(b"\n")
    _check_header(path, header)
    answers: dict[str, StoredAnswer] = {}
    problems: list[Problem] = []
    for number, line in enumerate(rest.splitlines(keepends=True), 2):
        if not line.strip():
            continue
        try:
            key, answer = answer_of_json(unsealed(line))
        except StoreError as error:
            problems.append(Problem(path, number, f"{error}."))
            continue
        if why := why_not(key, answer):
            problems.append(Problem(path, number, f"{why}."))
        if key in answers:
            problems.append(Problem(path, number, "its key stands above already."))
        problems += [Problem(path, number, f"{each.path} holds {each.kind}.") for each in secrets_of(answer)]
        answers[key] = answer
    return answers, problems


def _check_header(path: Path, line: bytes) -> None:
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or header.get("promptfuzz") != KIND:
        raise StoreError(
            f"{path}:1: this is not a file of answers. Name a file that `promptfuzz cache export` wrote, or a "
            "recording (.calls.jsonl)."
        )
    if header.get("version") != VERSION:
        raise StoreError(
            f"{path}:1: the file has format version {header.get('version')!r:.20}; this release reads {VERSION}. "
            "Export it again with this release."
        )


_NONE = 3
_SHOWN = 5  # of what was left out, where nothing else is


def add_parser(actions: argparse._SubParsersAction[Any]) -> None:
    """The arguments of both."""
    export = actions.add_parser(
        "export",
        help="write answers of the local cache to a file",
        description="promptfuzz cache export: write answers of the local cache to a file of JSON Lines (.gz compresses "
        "it).",
        epilog="exit codes: 0: done, 1: some answers were left out, 2: wrong usage or environment, 3: no "
        "answer to export",
        allow_abbrev=False,
    )
    export.add_argument(
        "file", metavar="FILE", type=Path, help="the file to write; an existing one is replaced"
    )
    export.add_argument(
        "--test",
        action="append",
        metavar="FILE::TEST",
        help="only answers that this test uses (its body runs; no model is called)",
    )
    export.add_argument("--model", action="append", metavar="M", help="only answers of this model")
    export.add_argument("--host", action="append", metavar="H", help="only answers of this host")
    export.add_argument(
        "--newer-than", type=age, metavar="AGE", help="only answers newer than AGE: 36h, 90d, 8w or 1y"
    )
    add_store(export)
    add_output_options(export)
    export.set_defaults(execute=execute_export)
    load = actions.add_parser(
        "import",
        help="read answers from a file into the local cache",
        description="promptfuzz cache import: read answers from an exported file or a recording into the local cache. "
        "From a damaged file nothing is read.",
        epilog="exit codes: 0: done, 1: the file is damaged, 2: wrong usage or environment",
        allow_abbrev=False,
    )
    load.add_argument("file", metavar="FILE", type=Path, help="an exported file, or a recording")
    add_store(load)
    add_output_options(load)
    load.set_defaults(execute=execute_import)


def execute_export(options: argparse.Namespace, output: Output) -> int:
    """Write what is asked for; returns the exit code.

    Raises:
        PromptfuzzError: The cache cannot be read, or the file not be written.
    """
    if is_recording(options.file):
        raise UsageError(
            f"{options.file} has the name of a recording, which only tests write. Choose another name, such as "
            "answers.jsonl."
        )
    asked, left = _asked_by(options) if options.test else (None, [])
    answers: dict[str, StoredAnswer] = {}
    for entry in kept_answers(options.cache_dir):
        if asked is not None and entry.key not in asked:
            continue
        why = entry.why
        if entry.answer is not None:
            if not _wanted(entry.answer, options):
                continue
            why = why_not(entry.key, entry.answer) or next(
                (f"{each.path} holds {each.kind}" for each in secrets_of(entry.answer)), ""
            )
        if entry.answer is None or why:
            left.append(f"left out: entry {entry.key[:16]}: {why}.")
        else:
            answers[entry.key] = entry.answer
    if not answers:
        said = f"{options.cache_dir} holds no answer to export, so {options.file} was not written."
        if left:
            raise StoreError(" ".join([said, *left[:_SHOWN]]))
        output.error(f"promptfuzz cache export: {said}")
        if options.json:
            output.json({"error": said, "exit_code": _NONE})
        return _NONE
    write_answers(options.file, answers)
    _show(output, options, {"exported": len(answers), "file": str(options.file), "left_out": left}, left)
    if not options.json:
        output.lines([[(f"Exported {counted(len(answers), 'answer')}: {options.file}", "plain")]])
    return 1 if left else 0


def execute_import(options: argparse.Namespace, output: Output) -> int:
    """Take in; returns the exit code.

    Raises:
        PromptfuzzError: The file cannot be read, or the cache not be written.
    """
    if is_recording(options.file):
        file = RecordingFile(options.file)
        if file.refused:
            raise StoreError(str(file.problems[0]))
    answers, problems = read_answers(options.file)
    said = [str(each) for each in problems]
    taken = known = 0
    if not problems:
        store = ResponseStore(options.cache_dir)
        try:
            have = {each.key for each in kept_answers(options.cache_dir) if each.answer is not None}
            for key, answer in answers.items():
                if key not in have:
                    store.put(key, answer)
            known = len(have & answers.keys())
            taken = store.stats().writes
        finally:
            store.close()
        if taken + known < len(answers):
            raise StoreError(" ".join(store.notes) or f"{options.cache_dir} took only {taken} answers.")
    _show(output, options, {"imported": taken, "known": known, "problems": said}, said)
    if not options.json:
        verdict = (
            f"Nothing was imported: {counted(len(problems), 'problem')} in {options.file}."
            if problems
            else f"Imported {counted(taken, 'answer')} into {options.cache_dir}; {known:,} were there already."
        )
        output.lines([[(verdict, "bad" if problems else "plain")]])
    return 1 if problems else 0


def _show(output: Output, options: argparse.Namespace, value: dict[str, Any], said: list[str]) -> None:
    if options.json:
        output.json(value)
    else:
        for each in said:
            output.say(each)


def _asked_by(options: argparse.Namespace) -> tuple[set[str], list[str]]:
    """The keys of what some tests ask, and what is missing of it."""
    from pytest_promptfuzz.plugin.dry_run import plan_suite

    planned = plan_suite([*options.test, f"--promptfuzz-cache-dir={options.cache_dir.absolute()}"])
    said = [f"left out: {test}: {why}." for test, why in planned.unknown]
    if planned.wanted:
        said.append(f"left out: {counted(len(planned.wanted), 'call')} without a stored answer.")
    return set(planned.answers), said


def _wanted(answer: StoredAnswer, options: argparse.Namespace) -> bool:
    return (
        (not options.model or answer.request.get("model") in options.model)
        and (not options.host or host_of(answer.url) in options.host)
        and (options.newer_than is None or answer.created >= time.time() - options.newer_than)
    )
