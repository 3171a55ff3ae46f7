"""Whether the calls of a job's sync body may be made before it asks, and what that took."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.evaluating.judge import spent_on
from pytest_promptfuzz.running.drive import nothing
from pytest_promptfuzz.scoring.trial import Spent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_promptfuzz.evaluating.job import Job
    from pytest_promptfuzz.running.run import Run, Step
    from pytest_promptfuzz.running.speculation.speculation import Speculation


class Told(NamedTuple):
    """What ``running.drive.drive`` tells of a job: of each batch before it is made, and of each run after it."""

    begin: Callable[[list[Step]], None] = nothing
    ran: Callable[[Step, Run, list[Step]], None] = nothing


@contextmanager
def speculating(job: Job) -> Iterator[Told]:
    """Have the calls of a sync body made early for the length of a job, where that is wanted and can help.

    One trial alone, a replay and the simulated model have nothing to gain; a job that was mistaken once stops.
    """
    session = job.session
    useful = session.mode != "replay" and job.simulated is None and job.only is None
    if not (useful and session.speculate and session.concurrency > 1 and not job.mistaken):
        yield Told()
        return
    speculations: dict[int, Speculation] = {}
    try:
        yield _told(job, speculations)
    finally:
        for speculation in speculations.values():
            speculation.close()
            job.mistaken = job.mistaken or speculation.wrong
            for watch in speculation.unused:
                job.spent += spent_on(watch)
            job.spent += Spent(speculated=speculation.made, unused=len(speculation.unused))


def _told(job: Job, speculations: dict[int, Speculation]) -> Told:
    """Each case is told of its own runs: what follows from its prompt is learned from them."""
    from pytest_promptfuzz.running.speculation.speculation import Speculation

    session = job.session
    apart = partial(session.apart, job.network)

    def of(case: int) -> Speculation | None:
        if case not in speculations and not any(each.wrong for each in speculations.values()):
            # One call at a time may be the body's own.
            speculations[case] = Speculation(session.crew, session.concurrency - 1, apart)
        return speculations.get(case)

    def begin(batch: list[Step]) -> None:
        for case in dict.fromkeys(step.case for step in batch):
            speculation = of(case)
            if speculation is not None:
                speculation.begin([step for step in batch if step.case == case])

    def ran(step: Step, run: Run, rest: list[Step]) -> None:
        speculation = speculations.get(step.case)
        if speculation is not None:
            speculation.ran(step, run, [each for each in rest if each.case == step.case])

    return Told(begin, ran)
