"""Answers of a local store as a file that another machine can take in: JSON Lines, sealed like recordings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.files import read_bytes
from pytest_promptfuzz.wire.recordings.checking import check, secrets_of, why_not
from pytest_promptfuzz.wire.recordings.entry import answer_of_json, answer_to_json, sealed, unsealed
from pytest_promptfuzz.wire.recordings.places import is_recording
from pytest_promptfuzz.wire.recordings.reading import Problem
from pytest_promptfuzz.wire.recordings.writing import write_whole
from pytest_promptfuzz.wire.unpacking import UNREADABLE, unpacked_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_promptfuzz.wire.answers import StoredAnswer

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
            f"{path}:1: this is no file of answers. Give one that `promptfuzz cache export` wrote, or a recording "
            "(.calls.jsonl)."
        )
    if header.get("version") != VERSION:
        raise StoreError(
            f"{path}:1: the file has format version {header.get('version')!r:.20}; this release reads {VERSION}. "
            "Export it again with this release."
        )
