"""`Recordings`: the recordings of a project, opened when a test needs them, written when a recording run is over."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.storage.recordings.places import recording_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container
    from pathlib import Path

    from pytest_promptfuzz.storage.answers import AnswerStore
    from pytest_promptfuzz.storage.recordings.entries import Finished
    from pytest_promptfuzz.storage.recordings.files import RecordingFile
    from pytest_promptfuzz.wire.cassettes import Tape


class Recordings:
    """Gives each test its tape.

    Args:
        mode: ``auto`` reads recordings, ``replay`` reads nothing else, ``record`` makes them.
        spools: The folder of what a recording run has been answered so far.
        cache: The local cache, only to say of what is not recorded that it is there.
        warn: Called with each sentence on what is wrong with a file.
    """

    def __init__(
        self, mode: str, spools: Path, *, cache: AnswerStore | None, warn: Callable[[str], None]
    ) -> None:
        self._mode = mode
        self._spools = spools
        self._cache = cache
        self._warn = warn
        self._files: dict[Path, RecordingFile] = {}
        self._said: set[str] = set()
        self._begun: set[tuple[Path, str]] = set()

    @property
    def records(self) -> bool:
        """Whether this run writes recordings."""
        return self._mode == "record"

    def tape(self, module: Path, test: str, where: str) -> Tape | None:
        """The tape of a test; ``None`` where nothing is recorded and nothing has to be.

        Args:
            module: The test module.
            test: The test, as pytest names it within the module.
            where: The test, for messages.

        Raises:
            StoreError: This run records, and its answers cannot be written.
        """
        path = recording_of(module)
        if self._mode == "record":
            return self._recording(path, test, where)
        there = os.path.lexists(path)
        if not there and self._mode == "auto":
            return None
        from pytest_promptfuzz.storage.recordings.files import RecordedTest, RecordingFile
        from pytest_promptfuzz.wire.cassettes import Tape

        recorded = RecordedTest()
        if there:
            file = self._files.get(path) or self._files.setdefault(path, RecordingFile(path))
            recorded = file.read(test)
            self._announce(file)
        strict = self._mode == "replay"
        name = f"{path.parent.name}/{path.name}"
        return Tape(where, recorded=recorded, file=name, strict=strict, cache=self._cache)

    def _recording(self, path: Path, test: str, where: str) -> Tape:
        from pytest_promptfuzz.storage.recordings.entries import Spool, to_time
        from pytest_promptfuzz.storage.recordings.files import RecordedTest, RecordingFile
        from pytest_promptfuzz.wire.cassettes import Tape

        spool = Spool(self._spools, path, test)
        before = RecordingFile(path).read(test) if os.path.lexists(path) else RecordedTest()
        tape = Tape(where, file=path.name, spool=spool, replaces=bool(before.plans))
        if spool.kept and (path, test) not in self._begun:
            kept = "1 answer of it is" if spool.kept == 1 else f"{spool.kept} answers of it are"
            tape.notes.append(
                f"an interrupted recording of {to_time(spool.since)[:10]} goes on: {kept} kept, and only the rest is "
                f"asked (to ask for everything anew, remove {spool.path})"
            )
        if spool.aside is not None:
            tape.notes.append(
                f"what an interrupted recording left cannot be read: it was set aside as {spool.aside.name} in "
                f"{self._spools}, and everything is asked anew"
            )
        self._begun.add((path, test))
        return tape

    def _announce(self, file: RecordingFile) -> None:
        for problem in file.problems:
            if str(problem) not in self._said:
                self._said.add(str(problem))
                self._warn(str(problem))


def write_finished(spools: Path, warn: Callable[[str], None], *, over: Container[str]) -> list[str]:
    """Put every complete recording into its file; what cannot be written stays in its spool.

    Args:
        spools: The folder of what recording runs have been answered.
        warn: Called with each sentence on what is wrong.
        over: The names of the spools that are not needed once they are written: of tests that a run recorded which came
            to its end. The answers of the others are kept beside the recordings, so that the next recording run, which
            goes on with an interrupted one, asks for none of them again.

    Returns:
        A sentence for each file written.
    """
    if not spools.is_dir():
        return []
    import sqlite3

    from pytest_promptfuzz.storage.disk_store import claim
    from pytest_promptfuzz.storage.recordings.entries import finished

    done: list[str] = []
    try:
        with claim(spools):  # another run that ends now must not write the same file
            files: dict[Path, list[Finished]] = {}
            for each in finished(spools):
                files.setdefault(each.recording, []).append(each)
            for path in sorted(files):
                done += _write(path, files[path], warn, over)
    except (StoreError, OSError, sqlite3.Error) as error:
        warn(f"The recordings could not be written ({error}); the next recording run does it.")
    return done


def _write(path: Path, tests: list[Finished], warn: Callable[[str], None], over: Container[str]) -> list[str]:
    from pytest_promptfuzz.storage.recordings.entries import written
    from pytest_promptfuzz.storage.recordings.files import merge, ordered

    try:
        note = merge(path, {each.test: ordered(each.plans, each.entries) for each in tests})
    except StoreError as error:
        warn(f"{error} What was recorded of it waits in {tests[0].path.parent}; record again to write it.")
        return []
    if note:
        warn(note)
    for each in tests:
        written(each.path, over=each.path.name in over)
    answers = sum(len(each.entries) for each in tests)
    one = len(tests) == 1
    return [
        f"recorded {len(tests)} test{'' if one else 's'}, {answers} answer{'' if answers == 1 else 's'}: {path}"
    ]
