"""Whether the calls of a job's sync body may be made before it asks, and what that took."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.evaluating.judge import spent_on
from pytest_promptfuzz.running.drive import nothing
from pytest_promptfuzz.scoring.trial import Spent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_promptfuzz.evaluating.job import Job
    from pytest_promptfuzz.running.run import Run, Step


class Told(NamedTuple):
    """What ``running.drive.drive`` tells of a case: of each batch before it is made, and of each run after it."""

    begin: Callable[[list[Step]], None] = nothing
    ran: Callable[[Step, Run, list[Step]], None] = nothing


@contextmanager
def speculating(job: Job) -> Iterator[Told]:
    """Have the calls of a sync body made early for the length of a case, where that is wanted and can help.

    One trial alone, a replay and the simulated model have nothing to gain; a job that was mistaken once stops.
    """
    session = job.session
    useful = session.mode != "replay" and job.simulated is None and job.only is None
    if not (useful and session.speculate and session.concurrency > 1 and not job.mistaken):
        yield Told()
        return
    from pytest_promptfuzz.running.speculation.speculation import Speculation

    # One call at a time may be the body's own.
    speculation = Speculation(session.crew, session.concurrency - 1, session.apart)
    try:
        yield Told(speculation.begin, speculation.ran)
    finally:
        speculation.close()
        job.mistaken = speculation.wrong
        for watch in speculation.unused:
            job.spent += spent_on(watch)
        job.spent += Spent(speculated=speculation.made, unused=len(speculation.unused))
