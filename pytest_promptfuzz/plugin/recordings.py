"""Recordings in a run: a session with a recording for each test, closed and written when the test is over."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import pytest

from pytest_promptfuzz.errors import ConfigurationError, StoreError, unstopped
from pytest_promptfuzz.plugin.former_tests import node_of
from pytest_promptfuzz.plugin.limits import RUN

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.wire.recordings import Recordings


SPOOLS = "recording"
"""The folder, in that of stored answers, of what a recording run has been answered so far."""


@dataclass(slots=True)
class ItemSessions:
    """Gives each item a session with a recording of its own.

    Attributes:
        session: What all items share.
        recordings: The project's; ``None`` where none are used.
    """

    session: Session
    recordings: Recordings | None

    def of(self, item: pytest.Item) -> Session:
        """The session of an item, the same until its test is over.

        Raises:
            ConfigurationError: This run records, and cannot write.
        """
        if self.recordings is None:
            return self.session
        found = item.stash.get(SESSION, None)
        if found is None:
            test = item.nodeid.partition("::")[2] or item.name
            try:
                if self.recordings.records:
                    from pytest_promptfuzz.files import check_inside
                    from pytest_promptfuzz.storage.recordings.places import recording_of

                    check_inside(recording_of(item.path), item.config.rootpath)
                tape = self.recordings.tape(item.path, test, item.nodeid)
            except StoreError as error:
                item.stash[UNWRITTEN] = True
                raise ConfigurationError(f"{item.nodeid}: the test cannot be recorded: {error}") from None
            found = item.stash[SESSION] = replace(self.session, tape=tape)
        return found


class RecordedAnswers(NamedTuple):
    """How many answers of a test are recorded.

    Attributes:
        size: All of them.
        already: Those that were recorded before.
        resumed: Those that an interrupted run left.
    """

    size: int
    already: int
    resumed: int

    @property
    def fresh(self) -> int:
        """Those that this run asked for."""
        return self.size - self.already - self.resumed


@dataclass(slots=True)
class RecordingSummary:
    """What a recording run has to say at its end.

    Attributes:
        done: A sentence for each recording that was written.
        incomplete: Why a test is not recorded, by test.
        used: The tests that were given an answer from their recording.
        made: How many calls each test made that the table has.
        kept: How many answers of each test are recorded, and where they are from.
        cut_short: Whether the run did not come to its end, or could not write all that was answered. The answers of
            the tests that it recorded are then kept for the next recording run, which goes on with it.
    """

    done: list[str] = field(default_factory=list)
    incomplete: dict[str, str] = field(default_factory=dict)
    cut_short: bool = False
    used: set[str] = field(default_factory=set)
    made: dict[str, int] = field(default_factory=dict)
    kept: dict[str, RecordedAnswers] = field(default_factory=dict)
    _ended: set[str] = field(default_factory=set)
    _seen: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, config: pytest.Config) -> RecordingSummary:
        """The run's."""
        return config.stash.setdefault(_SUMMARY, cls())

    def see(self, report: pytest.TestReport) -> None:
        """A phase of a test is over."""
        self._seen.add(report.nodeid)
        self._ended.update(filter(None, [getattr(report, "promptfuzz_recorded", "")]))
        if hasattr(report, "promptfuzz"):
            self.made[report.nodeid] = report.promptfuzz["spent"]["calls"]
        if getattr(report, "promptfuzz_recorded", ""):
            self.kept[report.nodeid] = RecordedAnswers(*report.promptfuzz_answers)
        if hasattr(report, "promptfuzz_replayed"):
            self.used.add(report.nodeid)
        if hasattr(report, "promptfuzz_unwritten"):
            self.cut_short = True
        if hasattr(report, "promptfuzz_unrecorded"):
            self.incomplete[report.nodeid] = report.promptfuzz_unrecorded
        elif report.when == "call":
            self.incomplete.pop(report.nodeid, None)

    def write(
        self, session: pytest.Session, folder: Path, warn: Callable[[str], None], *, whole: bool
    ) -> None:
        """The session of the process that prints is over: put what is recorded into its files.

        Args:
            session: The session.
            folder: That of stored answers.
            warn: Called with each sentence on what is wrong.
            whole: Whether pytest came to its end; one that was told to stop after its last test did.
        """
        from pytest_promptfuzz.wire.recordings import write_finished

        stopped = session.shouldfail or session.shouldstop
        items = getattr(session, "items", None) or []  # the process that starts workers has none
        left = bool(stopped) and not (items and all(each.nodeid in self._seen for each in items))
        over = set() if self.cut_short or left or not whole else self._ended
        root = f"{session.config.rootpath}{os.sep}"  # tests are named from there, too
        done = write_finished(
            folder / SPOOLS,
            lambda text: warn(text.replace(root, "")),
            over=over,
            run=session.config.stash.get(_RUN, ""),
        )
        self.done.extend(each.replace(root, "") for each in done)
        if self._ended and not over:
            self.done.append(
                "the recording run did not come to its end: record again to go on; what was answered is kept, and is "
                "not asked for again"
            )

    def lines(self) -> list[str]:
        """What the summary shows."""
        missing = [f"not recorded: {test}: {why}" for test, why in self.incomplete.items()]
        return [*self.done, *filter(None, [self._sum()]), *missing]

    def _sum(self) -> str:
        """How calls made and answers recorded go together; nothing where they are the same."""
        if not self.done:
            return ""
        from pytest_promptfuzz.notes import Note
        from pytest_promptfuzz.wording.sentences import sentence

        made, kept = self.made, self.kept
        both = made.keys() & kept.keys()
        lost = [made[test] for test in made if test not in kept and made[test]]
        alone = [kept[test].size for test in kept if test not in made and kept[test].size]
        in_vain = sum(max(0, made[test] - kept[test].fresh) for test in both)
        already, resumed = (
            sum(getattr(kept[test], each) for test in both) for each in ("already", "resumed")
        )
        why: list[Note | str] = [
            Note.of("calls:not-recorded", calls=sum(lost), tests=len(lost)) if lost else "",
            Note.of("calls:asked-in-vain", calls=in_vain) if in_vain else "",
            Note.of("calls:recorded-unmutated", answers=sum(alone), tests=len(alone)) if alone else "",
            Note.of("calls:recorded-already", answers=already) if already else "",
            Note.of("calls:recorded-before", answers=resumed) if resumed else "",
        ]
        said = "; ".join(sentence(each) for each in why if each)
        calls, answers = sum(made.values()), sum(each.size for each in kept.values())
        whole = Note.of("calls:recorded-in-all", calls=calls, answers=answers, why=said)
        return sentence(whole) if said else ""


def run_of(config: pytest.Config, folder: Path, run: str = "") -> str:
    """The word for this recording run, which other runs take for under way until pytest ends.

    Args:
        config: Pytest's.
        folder: That of stored answers.
        run: Of a process that starts workers, the run that they know; any other makes one up.
    """
    from hashlib import sha256
    from secrets import token_hex

    from pytest_promptfuzz.storage.recordings.entries import RunClaim

    workers = getattr(config, "workerinput", {}).get(RUN)  # the process that started them holds the claim
    known = run or workers
    word = sha256(known.encode("utf-8", "replace")).hexdigest()[:12] if known else token_hex(6)
    if _RUN not in config.stash:
        config.stash[_RUN] = word
        if workers is None:
            with suppress(OSError):  # said once a test is recorded
                claim = RunClaim(folder / SPOOLS, word)
                claim.begin()
                config.add_cleanup(claim.end)
    return config.stash[_RUN]


def end_recording(item: pytest.Item, report: pytest.TestReport) -> None:
    """An item's call is over: close its recording, or say on its report why it is not complete."""
    if item.stash.get(UNWRITTEN, False):
        report.promptfuzz_unwritten = True  # type: ignore[attr-defined]  # plain data survives xdist
    session = item.stash.get(SESSION, None)
    if session is None:
        return
    del item.stash[SESSION]
    tape = session.tape
    if tape is None:
        return
    if tape.served:
        report.promptfuzz_replayed = True  # type: ignore[attr-defined]  # plain data survives xdist
    if tape.former:
        first = tape.former[0]
        former = node_of(item.config.rootpath, first.module, first.test)
        report.promptfuzz_former = session.redaction.text(former)  # type: ignore[attr-defined]  # as above
    why = tape.end()
    if why:
        rest = "" if tape.barred else " What was answered is kept; record again to go on."
        report.promptfuzz_unrecorded = session.redaction.text(f"{unstopped(why)}.{rest}")  # type: ignore[attr-defined]  # for the summary
    if tape.unwritten:
        report.promptfuzz_unwritten = True  # type: ignore[attr-defined]  # as above
    report.promptfuzz_recorded = tape.complete  # type: ignore[attr-defined]  # as above
    # as above
    report.promptfuzz_answers = tape.size, tape.already, tape.resumed  # type: ignore[attr-defined]


SESSION = pytest.StashKey["Session"]()
"""The session of an item, until its test is over."""


UNWRITTEN = pytest.StashKey[bool]()
"""Whether the recording of an item could not be begun."""
_RUN = pytest.StashKey[str]()
_SUMMARY = pytest.StashKey[RecordingSummary]()
