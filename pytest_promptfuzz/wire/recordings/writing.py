"""Writing recordings: whole files, at once, in a stable order; what is not replaced stays as it stands."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.wire.recordings.entry import HEADER, Entry, PlanEntry, to_line
from pytest_promptfuzz.wire.recordings.reading import RecordingFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Two branches that record neighbouring tests touch neighbouring lines: `union` keeps both.
ATTRIBUTES = "*.calls.jsonl text eol=lf merge=union\n*.calls.jsonl.gz binary\n"


def ordered(plans: Iterable[PlanEntry], entries: Iterable[Entry]) -> list[bytes]:
    """The lines of one test: case by case the plan, the baseline's samples, then the trials as the plan has them."""
    ranks: dict[str, int] = {}
    rows: list[tuple[tuple[int, int, int, int, int, str], bytes]] = []
    for plan in plans:
        rows.append(((plan.case, -1, 0, 0, 0, ""), to_line(plan)))
        ranks.update({each.get("id", ""): rank for rank, each in enumerate(plan.plan["mutations"])})
    for entry in entries:
        place = entry.place
        rank = ranks.get(place.trial, len(ranks)) if place.trial else 0
        order = (place.case, int(bool(place.trial)), rank, place.sample or 0, place.call, entry.key)
        rows.append((order, to_line(entry)))
    return [line for _, line in sorted(rows)]


def merge(path: Path, tests: Mapping[str, list[bytes]]) -> str:
    """Put the lines of some tests into a recording, in the place of what it held of them; the other tests' stay.

    Args:
        path: The recording; made if it does not exist, compressed if its name ends in ``.gz``.
        tests: The whole lines of each test; none removes it.

    Returns:
        A sentence on what had to be set aside, or nothing.

    Raises:
        StoreError: The file cannot be read, is of another format version, or cannot be written. It is as it was.
    """
    kept: dict[str, list[bytes]] = {}
    note = ""
    if os.path.lexists(path):
        old = RecordingFile(path)
        if old.refused:
            raise StoreError(f"{old.problems[0]} It was left as it is.")
        kept = {test: [_ended(line) for line in old.lines(test)] for test in old.tests if test not in tests}
        if not old.whole:
            aside = _set_aside(path)
            lines = ", ".join(str(each.line) for each in old.problems)
            note = f"{path} was damaged in line {lines}: kept as {aside.name}, and what can be read was written anew."
    merged = {**kept, **{test: lines for test, lines in tests.items() if lines}}
    header = json.dumps(HEADER).encode("ascii") + b"\n"
    write_whole(path, b"".join([header, *(line for test in sorted(merged) for line in merged[test])]))
    return note


def write_whole(path: Path, content: bytes, *, attributes: bool = True) -> None:
    """Write a recording at once: what reads it finds the old file or the new one.

    Args:
        path: Of the file; of a symbolic link, the file that it leads to is written, and the link stays.
        content: All of it; compressed where the name says so.
        attributes: Whether git is told how to treat the files of its folder.

    Raises:
        StoreError: It cannot be written, or what stands there is no file (a folder, a device, a pipe); it is as it was.
    """
    data = _compressed(content) if path.name.endswith(".gz") else content
    try:
        place = Path(os.path.realpath(path))
        if os.path.lexists(place) and not place.is_file():
            what = "a folder" if place.is_dir() else "no regular file (a device, a pipe or a link to itself)"
            raise StoreError(f"{path} is {what}, and was left as it is; name a file.")
        if place.is_file() and place.read_bytes() == data:
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        if attributes:
            _attributes(path.parent)
        _replace(place, data)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written ({error.strerror or error}). It is as it was; mend its permissions or free some "
            "space."
        ) from None


def _replace(path: Path, data: bytes) -> None:
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _compressed(content: bytes) -> bytes:
    """The same content gives the same bytes: no name, no time."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as file:
        file.write(content)
    return buffer.getvalue()


def _attributes(folder: Path) -> None:
    path = folder / ".gitattributes"
    if not os.path.lexists(path):
        path.write_text(ATTRIBUTES, encoding="utf-8", newline="\n")


def _set_aside(path: Path) -> Path:
    """A copy of a damaged file, under a name of its own."""
    number = 1
    while os.path.lexists(aside := path.with_name(f"{path.name}.damaged-{number}")):
        number += 1
    try:
        aside.write_bytes(path.read_bytes())
    except OSError as error:
        raise StoreError(
            f"{aside} cannot be written ({error.strerror or error}); {path} is as it was."
        ) from None
    return aside


def _ended(line: bytes) -> bytes:
    return line if line.endswith(b"\n") else line + b"\n"
