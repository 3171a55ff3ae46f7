"""A test that is lower than its base: the trials that flipped are asked again, to tell a drop from noise.

It changes no verdict. What the trials are answered is kept with them (``Trial.again``), so that whoever compares the
run with the base sees the same: this run, ``promptfuzz compare``, and a replay of its recording.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from pytest_promptfuzz.evaluating.phases.batches import mixed_models
from pytest_promptfuzz.evaluating.phases.resampling import with_repeats
from pytest_promptfuzz.evaluating.phases.verdict import named
from pytest_promptfuzz.history.entries import kept_answer, letters_of, whole
from pytest_promptfuzz.history.run_comparison import flips_of
from pytest_promptfuzz.relay import relayed
from pytest_promptfuzz.stats.flips import FIRST_SHARE, FLIP_SHARE, MOST_FLIPS, asking
from pytest_promptfuzz.stats.regressions import ALPHA

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_promptfuzz.comparing.meaning import Embedder
    from pytest_promptfuzz.evaluating.cases import Accepted, CaseAnswers, Findings, RunLedger, Steps
    from pytest_promptfuzz.evaluating.contract import EvaluationSettings
    from pytest_promptfuzz.history.entries import HistoryEntry
    from pytest_promptfuzz.history.run_comparison import Flips
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.stats.flips import FlipEnd, FlipRequest


@dataclass(slots=True)
class SessionCalls:
    """The calls that a session's tests may make to ask again: those that are ``left``."""

    left: int


@dataclass(slots=True)
class ComparedBase:
    """What a test is compared with while it runs.

    Attributes:
        entry: The test in the base.
        most: Calls that the test may make to ask again; 0 for none.
        session: Calls that all tests may make.
        semantic: Gives what tells whether two answers in other words mean the same.
        ended: Why no more was asked; empty where nothing flipped.
    """

    entry: HistoryEntry
    most: int
    session: SessionCalls
    semantic: Callable[[], Embedder | None] | None = None
    ended: FlipEnd = ""


@dataclass(slots=True)
class _Flip:
    """A trial that held in the base and failed now, and whether it failed each time that it was asked again."""

    case: CaseAnswers
    place: int
    mutation: Mutation
    name: str
    failed: list[bool] = field(default_factory=list)


def asking_flips(
    findings: Findings,
    settings: EvaluationSettings,
    base: ComparedBase,
    accepted: Accepted,
    ledger: RunLedger,
) -> Steps:
    """The runs that tell whether a test which is lower than its base is worse.

    Args:
        findings: What the test came to; its trials take what came of it.
        settings: The evaluation's.
        base: What the test is compared with; takes why no more was asked.
        accepted: Tells what is not stored of answers.
        ledger: Takes what runs took.
    """
    if settings.only is not None or findings.overruled is not None:
        return
    found = flips_of(base.entry, _entry(findings, settings, accepted, base.entry), base.semantic)
    alpha = ALPHA / settings.session.tests
    if found is None or not found.places or found.first <= FIRST_SHARE * alpha:
        return
    flips = _flips(findings, found)
    if base.most <= 0:
        base.ended = "off"
        return
    again = [each.failed for each in flips]
    steps = asking(again, found.shape, FLIP_SHARE * alpha, most=base.most, session=max(0, base.session.left))
    base.ended = yield from relayed(steps, partial(_asked, flips, found, base, ledger))
    if base.ended == "unanswered" and settings.session.mode == "replay":
        base.ended = "unrecorded"
    if any(mixed_models(each.models) for each in findings.ended):
        base.ended = "unanswered"  # by the model that is compared
        return
    findings.trials = with_repeats(findings.trials, findings.asked)


def _entry(
    findings: Findings, settings: EvaluationSettings, accepted: Accepted, before: HistoryEntry
) -> HistoryEntry:
    """The test as far as it is compared with its base."""
    names = findings.names
    outcomes = [
        ((named(each.case, names), each.id, each.sample), each.outcome)
        for each in sorted(findings.trials, key=lambda each: each.sample)
        if each.mutation.relation == "invariance"
    ]
    answers = {named(each.number, names): kept_answer(accepted.hide(each.value)) for each in findings.cases}
    return whole(
        {
            "test": before["test"],
            "target": settings.target,
            "task": findings.task,
            "oracle_only": findings.oracle_only,
            "baselines": answers,
            "trials": letters_of(outcomes),
        }
    )


def _flips(findings: Findings, found: Flips) -> list[_Flip]:
    """The trials that flipped, with what they were answered when they were asked again for the verdict."""
    names = findings.names
    flips: list[_Flip] = []
    wanted = set(found.places)
    for asked in findings.asked:
        name = named(asked.case.number, names)
        for place, mutation in enumerate(asked.mutations):
            if (name, mutation.id) not in wanted or len(flips) == MOST_FLIPS:
                continue
            again = [found.failed(name, each.outcome) for each in asked.trials.get(mutation.id, ())]
            flips.append(_Flip(asked, place, mutation, name, again))
    return flips


def _asked(
    flips: Sequence[_Flip], found: Flips, base: ComparedBase, ledger: RunLedger, wanted: list[FlipRequest]
) -> Steps:
    """One look: all that is wanted, at once."""
    steps = [
        (flips[each.flip], step)
        for each in wanted
        for step in flips[each.flip].case.once_more(flips[each.flip].place, each.times)
    ]
    base.session.left -= len(steps)
    runs = yield [step for _, step in steps]
    for (flip, _), run in zip(steps, runs, strict=True):
        ledger.count(run, flip.case.case)
    by_case: Mapping[int, CaseAnswers] = {flip.case.case.number: flip.case for flip, _ in steps}
    for number, asked in by_case.items():
        asked.ahead(
            [
                (flip.mutation, run)
                for (flip, _), run in zip(steps, runs, strict=True)
                if flip.case.case.number == number
            ]
        )
    for (flip, _), run in zip(steps, runs, strict=True):
        trial = flip.case.answered_again(flip.mutation, run)
        if trial is not None:
            flip.failed.append(found.failed(flip.name, trial.outcome))
