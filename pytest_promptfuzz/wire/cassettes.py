"""One test's recording during a run: what it holds, what is added to it, and what to say where it holds nothing."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pytest_promptfuzz.errors import StoreError
from pytest_promptfuzz.storage.answers import exchange_key
from pytest_promptfuzz.storage.recordings.cassette import Cassette
from pytest_promptfuzz.storage.recordings.entries import CallPlace, PlanEntry, to_time
from pytest_promptfuzz.storage.recordings.files import RecordedTest, RecordingFile, recording_of
from pytest_promptfuzz.wire.network import MEND, is_local, place

if TYPE_CHECKING:
    from collections.abc import Callable, Container
    from pathlib import Path

    from pytest_promptfuzz.storage.answers import AnswerStore
    from pytest_promptfuzz.storage.recordings.entries import Finished, Spool
    from pytest_promptfuzz.wire.watch import Watch


NOT_RECORDED = "not-recorded"
_NOT_HELD = (
    "A recording holds model calls and nothing else that a provider is asked: no polled background responses, files, "
    "batches, audio or lists of models (docs/recording.md)"
)
_SHOWN_PATHS = 6
_SHOWN_VALUE = 40  # characters of a value
_SHOWN_BEFORE = 12  # of them before the first that differs


@dataclass(slots=True)
class _Case:
    plan: dict[str, Any] | None = None
    done: bool = False
    failed: bool = False
    watches: list[Watch] = field(default_factory=list)


class Tape(Cassette):
    """A cassette in one test's hands: which runs were made with it, and whether all of the test is recorded then.

    Args:
        where: The test, for messages.
        recorded: As ``Cassette``.
        file: As ``Cassette``.
        spool: As ``Cassette``.
        strict: As ``Cassette``.
        cache: As ``Cassette``.
        replaces: Whether a plan is recorded of the test already, and this run would take its place.

    Attributes:
        where: As above.
        complete: The name of the spool that holds all of the test, once it does.
        barred: Whether what kept the test from being recorded stays until the test is changed.
    """

    def __init__(
        self,
        where: str,
        *,
        recorded: RecordedTest | None = None,
        file: str = "",
        spool: Spool | None = None,
        strict: bool = False,
        cache: AnswerStore | None = None,
        replaces: bool = False,
    ) -> None:
        super().__init__(recorded=recorded, file=file, spool=spool, strict=strict, cache=cache)
        self.where = where
        self.complete = ""
        self.barred = False
        self._replaces = replaces
        self._cases: list[_Case] = []

    def begin(self) -> int:
        """A case begins; its number, from 0."""
        with self._lock:
            self._cases.append(_Case())
            return len(self._cases) - 1

    def watched(self, case: int, watch: Watch) -> None:
        """A run of a case is about to be made."""
        with self._lock:
            self._cases[case].watches.append(watch)

    def forget(self, case: int) -> None:
        """The runs of a case are made again: what they were answered does not count."""
        with self._lock:
            self._cases[case].watches.clear()

    def done(self, case: int, plan: dict[str, Any] | None, *, failed: bool = False) -> None:
        """Every run of a case was made; ``plan`` is what its mutations are recorded as.

        ``failed`` is whether the unmutated prompt failed, so that no mutation was tried.
        """
        self._cases[case].done = True
        self._cases[case].failed = failed
        self._cases[case].plan = plan

    def end(self) -> str:
        """The test is over. A recording run closes its recording, if it is complete.

        Returns:
            Why it is not complete; nothing if it is, or if this run does not record.
        """
        if self._spool is None or not self._cases:
            return ""
        barred = next((watch.network.barred for watch in self._watches() if watch.network.barred), "")
        if barred:
            self.barred = True
            return f"{barred}, so that a replay of the test would fail. {MEND}"
        beside = self._beside()
        if beside:
            self.barred = True
            return f"{beside}, so that a replay of the test would fail. {_NOT_HELD}"
        faults = [
            fault.message
            for watch in self._watches()
            for fault in watch.unrecovered()
            if _leaves_gap(fault.kind) and not watch.settings.part.spare
        ]
        if faults:
            return faults[0]
        if not all(case.done for case in self._cases):
            refused = [text for watch in self._watches() for text in watch.refused]
            self.barred = bool(refused)
            return refused[0] if refused else "not all of its runs were made"
        places = self._places()
        if any(case.failed for case in self._cases) and (self._replaces or not places):
            was = "what was recorded of it before stays" if self._replaces else "nothing was answered"
            return f"its unmutated prompt already fails, and {was}"
        if any(self._spool.get(key) is None for key in places):
            return "an answer was not stored: it holds something like a key, or was left before its end"
        try:
            self._spool.end(self._plans(), places)
        except StoreError as error:
            self.unwritten = True
            return str(error)
        self.complete = self._spool.path.name
        return ""

    def _beside(self) -> str:
        """What was asked beside the followed calls where a model is asked; empty for nothing.

        On this machine all may be reached, since a database may be there. A model's own address is no database.
        """
        models = {_address(call.url) for watch in self._watches() for call in watch.calls}
        for network in {id(watch.network): watch.network for watch in self._watches()}.values():
            for each in network.unfollowed():
                if each.kind not in {"connection", "request"} or _address(f"http://{each.to}") not in models:
                    continue
                host, _, port = each.to.rpartition(":")
                if not network.allowed.has([host], int(port)):
                    what = f"a {each.kind} to {each.to}{place(each.at, each.by)}"
                    return f"{what} is not followed, and a model is asked at that address"
        return ""

    def said(self) -> list[str]:
        """What the person must know of where this test's answers came from and went."""
        return [*self.notes, *filter(None, [self._sources()])]

    def _sources(self) -> str:
        """Where the answers of this test came from, if not all from its recording; nothing where they did."""
        watches = [watch for watch in self._watches() if not watch.settings.part.spare]
        keys = {key: watch_hit for watch in watches for key, watch_hit in _keys(watch)}
        if self.strict or self.recording or not self.served or self.served >= keys.keys():
            return ""
        local = sum(hit and key not in self.served for key, hit in keys.items())
        asked = sum(not hit for hit in keys.values())
        parts = [f"{len(self.served & keys.keys())} from its recording of {self._age()}"]
        parts += [f"{local} from the local cache only (missing in CI)"] if local else []
        parts += [f"{asked} asked now"] if asked else []
        return f"the answers are of different times: {', '.join(parts)}; record the test again"

    def _age(self) -> str:
        return to_time(max(self._answers[key].created for key in self.served))[:10]

    def _watches(self) -> list[Watch]:
        return [watch for case in self._cases for watch in case.watches]

    def _plans(self) -> list[PlanEntry]:
        """The plan of each case; cases of one prompt share it."""
        plans: list[PlanEntry] = []
        for number, case in enumerate(self._cases):
            if case.plan is not None and case.plan["prompt"] not in [each.plan["prompt"] for each in plans]:
                plans.append(PlanEntry(self._spool.test if self._spool else "", number, case.plan))
        return plans

    def _places(self) -> dict[str, CallPlace]:
        """Where each answer of this run stands first."""
        places: dict[str, CallPlace] = {}
        for watch in self._watches():
            for number, (key, _) in enumerate(_keys(watch)):
                part = watch.settings.part
                if part.spare and self._spool is not None and self._spool.get(key) is None:
                    continue
                sample = (watch.settings.repeat or None) if part.trial else watch.settings.repeat
                places.setdefault(key, CallPlace(part.case, sample, part.trial, number))
        return places


def _address(url: str) -> tuple[str, int]:
    """Host and port of a URL, one name for all of this machine's; of the path of a socket only the path."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return url, 0
    host = parts.hostname or url
    return "localhost" if is_local(host) else host, port


def _keys(watch: Watch) -> list[tuple[str, bool]]:
    """The keys of what was answered, and whether it was stored; of what the provider refused as well."""
    answered = [(call.digest, call.nth, call.hit) for call in list(watch.calls)]
    refused = [(each.digest, each.nth, False) for each in watch.unrecovered() if not _leaves_gap(each.kind)]
    return [
        (exchange_key(digest, watch.settings.repeat, nth), hit) for digest, nth, hit in answered + refused
    ]


def _leaves_gap(kind: str) -> bool:
    """Whether a fault leaves a request without an answer that a replay could give."""
    return kind != "bad-request"


# The recordings of a project: opened when a test needs them, and written when a recording run is over.


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
        recorded = RecordedTest()
        if os.path.lexists(path):
            file = self._files.get(path) or self._files.setdefault(path, RecordingFile(path))
            recorded = file.read(test)
            self._announce(file)
        elif self._mode == "auto":
            return None
        strict = self._mode == "replay"
        name = f"{path.parent.name}/{path.name}"
        return Tape(where, recorded=recorded, file=name, strict=strict, cache=self._cache)

    def _recording(self, path: Path, test: str, where: str) -> Tape:
        from pytest_promptfuzz.storage.recordings.entries import Spool

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
    from pytest_promptfuzz.storage.disk_store import claim
    from pytest_promptfuzz.storage.recordings.entries import finished

    if not spools.is_dir():
        return []
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
    calls = sum(len(each.entries) for each in tests)
    one = len(tests) == 1
    return [
        f"recorded {len(tests)} test{'' if one else 's'}, {calls} call{'' if calls == 1 else 's'}: {path}"
    ]
