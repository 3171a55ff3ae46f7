"""`Recordings`: the recordings of a project, opened when a test needs them, written when a recording run is over."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.storage.recordings.places import recording_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence
    from pathlib import Path

    from pytest_promptfuzz.storage.answers import AnswerStore
    from pytest_promptfuzz.storage.recordings.entries import Finished
    from pytest_promptfuzz.storage.recordings.files import RecordedTest, RecordingFile
    from pytest_promptfuzz.storage.recordings.former_tests import FormerRecordings, FormerTest
    from pytest_promptfuzz.storage.redaction import Redaction
    from pytest_promptfuzz.wire.cassettes import Tape


class Recordings:
    """Gives each test its tape.

    Args:
        mode: ``auto`` reads recordings, ``replay`` reads nothing else, ``record`` makes them, and ``record-missing``
            completes them.
        spools: The folder of what a recording run has been answered so far.
        cache: The local cache, only to say of what is not recorded that it is there.
        warn: Called with each sentence on what is wrong with a file.
        redaction: What is hidden.
        run: The recording run, a word; its processes have the same. It is under way for as long as a ``RunClaim`` is.
        former: Where a test under its former name is looked for; ``None`` for nowhere.
    """

    def __init__(
        self,
        mode: str,
        spools: Path,
        *,
        cache: AnswerStore | None,
        warn: Callable[[str], None],
        redaction: Redaction,
        run: str,
        former: FormerRecordings | None = None,
    ) -> None:
        self._mode = mode
        self._spools = spools
        self._cache = cache
        self._warn = warn
        self._former = former
        self._redaction = redaction
        self._run = run
        self._files: dict[Path, RecordingFile] = {}
        self._said: set[str] = set()
        self._begun: set[tuple[Path, str]] = set()

    @property
    def records(self) -> bool:
        """Whether this run writes recordings."""
        return self._mode.startswith("record")

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
        if self.records:
            return self._recording(path, module, test, where)
        there = os.path.lexists(path)
        if not there and self._mode == "auto" and self._former is None:
            return None
        from pytest_promptfuzz.wire.cassettes import Tape

        return Tape(
            where,
            recorded=self._recorded(path, test),
            file=f"{path.parent.name}/{path.name}",
            strict=self._mode == "replay",
            cache=self._cache,
            former=self._finder(module, test),
        )

    def _recorded(self, path: Path, test: str) -> RecordedTest:
        """What a recording holds of a test; what is wrong with the file is said."""
        from pytest_promptfuzz.storage.recordings.files import RecordedTest, RecordingFile

        if not os.path.lexists(path):
            return RecordedTest()
        file = self._files.get(path) or self._files.setdefault(path, RecordingFile(path))
        recorded = file.read(test)
        self._announce(file)
        return recorded

    def _finder(self, module: Path, test: str) -> Callable[[str], Sequence[FormerTest]]:
        former = self._former
        if former is None:
            return lambda _: ()
        return lambda asked: former.find(asked, module, test)

    def _recording(self, path: Path, module: Path, test: str, where: str) -> Tape:
        from pytest_promptfuzz.storage.answers import is_hidden
        from pytest_promptfuzz.storage.recordings.entries import Spool, to_time
        from pytest_promptfuzz.storage.recordings.files import RecordedTest, RecordingFile
        from pytest_promptfuzz.wire.cassettes import Tape

        fits = functools.partial(is_hidden, redaction=self._redaction)
        spool, anew = Spool(self._spools, path, test, run=self._run, fits=fits), self._mode == "record"
        if not anew:
            before = self._recorded(path, test)
        else:
            before = RecordingFile(path).read(test) if os.path.lexists(path) else RecordedTest()
        tape = Tape(
            where,
            recorded=before,
            file=path.name,
            spool=spool,
            former=self._finder(module, test),
            anew=anew,
        )
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


def write_finished(
    spools: Path, warn: Callable[[str], None], *, over: Container[str], run: str = ""
) -> list[str]:
    """Put every complete recording into its file; what cannot be written stays in its spool.

    Args:
        spools: The folder of what recording runs have been answered.
        warn: Called with each sentence on what is wrong.
        over: The names of the spools that are not needed once they are written: of tests that a run recorded which came
            to its end. The answers of the others are kept beside the recordings, so that the next recording run, which
            goes on with an interrupted one, asks for none of them again.
        run: The run that writes. Other runs that are under way write what they recorded themselves.

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
            for each in finished(spools, run):
                files.setdefault(each.recording, []).append(each)
            for path in sorted(files):
                done += _write(path, files[path], warn, over)
    except (StoreError, OSError, sqlite3.Error) as error:
        warn(f"The recordings could not be written ({error}); the next recording run does it.")
    return done


def _write(path: Path, tests: list[Finished], warn: Callable[[str], None], over: Container[str]) -> list[str]:
    from pytest_promptfuzz.storage.recordings.entries import written
    from pytest_promptfuzz.storage.recordings.files import RecordingFile, merge, ordered, without_tests
    from pytest_promptfuzz.storage.recordings.unchanged_answers import with_kept

    lines: dict[Path, dict[str, list[bytes]]] = {path: {}}
    files: dict[Path, RecordingFile] = {}
    same = 0
    for each in tests:
        old = []
        for place, name in ((path, each.test), *each.former):
            if place not in files and os.path.lexists(place):
                files[place] = RecordingFile(place)
            if place in files and name in files[place].tests:
                lines_now = files[place].read(name).entries
                old += [line for line in lines_now if line.key not in each.outdated]
                lines.setdefault(place, {}).setdefault(name, [])
        entries = with_kept(old, each.entries)
        lines[path][each.test] = ordered(each.plans, entries)
        same += sum(
            one is not new and one.key not in each.recorded
            for one, new in zip(entries, each.entries, strict=True)
        )
    try:
        note = merge(path, lines.pop(path))
        for place, gone in lines.items():
            without_tests(place, set(gone))
    except StoreError as error:
        warn(f"{error} What was recorded of it waits in {tests[0].path.parent}; record again to write it.")
        return []
    if note:
        warn(note)
    for each in tests:
        written(each.path, over=each.path.name in over)
    answers = sum(len(each.entries) for each in tests)
    one = len(tests) == 1
    taken, unasked, dropped = (
        sum(amounts)
        for amounts in zip(*((len(each.recorded), each.unasked, each.dropped) for each in tests), strict=True)
    )
    parts = [f"{same} answered as before"] if same else []
    parts += (
        [f"{taken} recorded before" + (f", {unasked} of them not asked for now" if unasked else "")]
        if taken
        else []
    )
    parts += [f"{dropped} of a changed input removed"] if dropped else []
    kept = f" ({'; '.join(parts)})" if parts else ""
    return [
        f"recorded {len(tests)} test{'' if one else 's'}, {answers} answer{'' if answers == 1 else 's'}{kept}: {path}"
    ]
