"""Recordings and pytest's items: which session an item runs in, when its recording is complete, when it is written."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from pytest_promptfuzz.errors import ConfigurationError, StoreError, unstopped

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.wire.recordings.library import Recordings

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
                tape = self.recordings.tape(item.path, test, item.nodeid)
            except StoreError as error:
                raise ConfigurationError(f"{item.nodeid} cannot be recorded: {error}") from None
            found = item.stash[SESSION] = replace(self.session, tape=tape)
        return found


@dataclass(slots=True)
class Written:
    """What a recording run has to say at its end.

    Attributes:
        done: A sentence for each recording that was written.
        incomplete: Why a test is not recorded, by test.
    """

    done: list[str] = field(default_factory=list)
    incomplete: dict[str, str] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """What the summary shows."""
        missing = [
            f"not recorded: {test}: {unstopped(why)}. What was answered is kept; record again to go on."
            for test, why in self.incomplete.items()
        ]
        return [*self.done, *missing]


def ended(item: pytest.Item, report: pytest.TestReport) -> None:
    """An item's call is over: close its recording, or say on its report why it is not complete."""
    session = item.stash.get(SESSION, None)
    if session is None:
        return
    del item.stash[SESSION]
    tape = session.tape
    why = tape.end() if tape is not None else ""
    if why:
        report.promptfuzz_unrecorded = session.redaction.text(why)  # type: ignore[attr-defined]  # for the summary


def write(folder: Path, written: Written, warn: Callable[[str], None]) -> None:
    """The session of the process that prints is over: put what is recorded into its files."""
    from pytest_promptfuzz.wire.recordings.library import write_finished

    written.done.extend(write_finished(folder / SPOOLS, warn))


SESSION = pytest.StashKey["Session"]()
