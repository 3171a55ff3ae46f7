"""What was accepted of a test before: its snapshot, or that of a test that is gone and asked the same."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.evaluating.behaviour import digest_of, prompt_of
from pytest_promptfuzz.evaluating.compared import named
from pytest_promptfuzz.history.outcomes import outcomes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_promptfuzz.evaluating.case import Case
    from pytest_promptfuzz.evaluating.job import Job
    from pytest_promptfuzz.history.snapshot import Snapshot
    from pytest_promptfuzz.scoring.drifting import Told


def _as_it_is(value: Any) -> Any:
    return value


@dataclass(slots=True)
class Accepted:
    """What was accepted of a test.

    Attributes:
        snapshot: It; ``None`` where there is none, or none was found yet.
        gone: Snapshots of tests that are not there any more: first those of the same function, then of its module. One
            that asks the same prompt is this test's under its former name, if there is no other.
        moved: The name that the test had, where its snapshot is one of those.
        unread: Whether there is one that cannot be used.
        updates: Whether this run writes snapshots: it asks no more than it stores.
        hide: Takes what is not stored out of an answer.
        told: What today's answers are beside those that were accepted; ``None`` where they were not compared.
        untold: Why nothing can be told of them; empty where it can.
        shown: The input that differs most, what was accepted of it, and what it is answered today.
    """

    snapshot: Snapshot | None = None
    gone: Sequence[Sequence[Snapshot]] = field(default=())
    moved: str = ""
    unread: bool = False
    updates: bool = False
    hide: Callable[[Any], Any] = _as_it_is
    told: Told | None = None
    untold: str = ""
    shown: tuple[int, Any, Any] | None = None

    @property
    def too_few(self) -> bool:
        """Whether nothing is claimed since so few answers are known; what nobody can compare is said as drift is."""
        return bool(self.untold) and self.told is not None and not self.told.undecided


def met(job: Job, case: Case) -> None:
    """A test's prompt is known: find the snapshot that it had under another name, and have it used like its own."""
    accepted = job.accepted
    if accepted.snapshot is not None or not accepted.gone or case.number:
        return
    digest, name = digest_of(prompt_of(case)), named(case.number, job.names)
    for group in accepted.gone:
        alike = [
            each
            for each in group
            if each.inputs and (each.inputs[0].name, each.inputs[0].prompt) == (name, digest)
        ]
        if len(alike) == 1:
            take(job, alike[0])
            accepted.moved = alike[0].test
            job.notes.append(
                f"its snapshot is that of {alike[0].test}, which asked the same prompt and is not collected any more"
            )
        if alike:
            break
    accepted.gone = ()


def take(job: Job, snapshot: Snapshot) -> None:
    """Hold a test against this snapshot: trials for the gate ``no-worse``, pinned counterexamples, and the answers."""
    job.accepted.snapshot = snapshot
    if job.contract.gate == "no-worse":
        job.before = replace(job.before, outcomes=outcomes_of(snapshot.trials))
    known = {each.id: each for each in (*snapshot.counterexamples, *job.pins.known)}
    job.pins.known = tuple(known.values())
