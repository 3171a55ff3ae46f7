"""Known counterexamples of a test, asked before its plan.

They are no part of the sample: they were chosen for failing, so that score, interval and tests leave them out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_promptfuzz.evaluating.phases.resampling import confirming
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.prompts.prompt import Prompt
from pytest_promptfuzz.results.counterexamples import Replayed, by_status, told
from pytest_promptfuzz.searching.failures import in_one_line, kind_of, reanchored
from pytest_promptfuzz.wire.calls import NOT_RECORDED
from pytest_promptfuzz.wording.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from pytest_promptfuzz.evaluating.cases import CaseAnswers, Epoch, KnownCounterexamples, RunLedger
    from pytest_promptfuzz.evaluating.contract import EvaluationSettings
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.results.counterexamples import KnownCounterexample
    from pytest_promptfuzz.results.robustness import Robustness
    from pytest_promptfuzz.results.trials import Trial
    from pytest_promptfuzz.running.run import Run, Step


def replaying(
    asked: CaseAnswers, pins: KnownCounterexamples, ledger: RunLedger, limited: Prompt | None = None
) -> Epoch:
    """The runs of the counterexamples that are known of a case; what became of them is kept with them.

    Where one alone is to be run, only that one is.

    Args:
        asked: What was asked of the case.
        pins: What is known.
        ledger: Takes what runs took.
        limited: The prompt, limited to what may change in it; by default that of the case's plan.

    Returns:
        Their trials.
    """
    case, only = asked.case, asked.case.settings.only
    known = [
        each for each in pins.known if each.found.case == case.number and (only is None or each.id == only)
    ]
    # A case may be asked anew.
    pins.replayed = [each for each in pins.replayed if each.known not in known]
    prompt = _limited(asked) if limited is None else limited
    placed: list[tuple[KnownCounterexample, Mutation]] = []
    for each in known:
        mutation = reanchored(each.found.mutation, prompt)
        if isinstance(mutation, Note):
            pins.replayed.append(Replayed(each, "gone", sentence(mutation)))
        else:
            placed.append((each, mutation))
    confirm = _confirms(asked, pins)
    trials = yield from _asked_until_told(asked, placed, ledger, confirm=confirm)
    asked.afresh()
    for (each, mutation), found in zip(placed, trials, strict=True):
        pins.replayed.append(_replayed(each, mutation, found, asked, confirm=confirm))
    return [replace(trial, sample=sample) for found in trials for sample, trial in enumerate(found)]


def with_replayed(result: Robustness, pins: KnownCounterexamples, settings: EvaluationSettings) -> Robustness:
    """The result with what became of known counterexamples; a pin that holds (``pinned="fail"``) decides it."""
    if not pins.replayed:
        return result
    breaking, whole = pins.breaking, settings.only is None
    result = replace(result, replayed=tuple(pins.replayed))
    if breaking and settings.contract.verdict.pinned == "fail" and result.verdict != "brittle" and whole:
        first, more = breaking[0], len(breaking) - 1
        why = Note.of("evaluations:pinned", name=first.id, failure=first.failure, more=more)
        result = replace(result, verdict="brittle", reason="pinned", explanation=sentence(why))
    if result.verdict == "brittle" and whole:
        result = replace(result, counterexamples=(*breaking, *result.counterexamples))
    # What still breaks a brittle test is shown first in its report.
    noted = [each for each in pins.replayed if each.now not in result.counterexamples]
    if noted:
        note = sentence(Note.of("evaluations:replayed", found=by_status(noted)))
        result = replace(result, notes=(note, *result.notes))
    return result


def _limited(asked: CaseAnswers) -> Prompt:
    """The prompt of a case, limited to what may change in it: that of its plan."""
    for each in asked.case.planned or ():
        return each.source if each.source is not None else Prompt(each.original)
    return asked.prompt


def _confirms(asked: CaseAnswers, pins: KnownCounterexamples) -> bool:
    """Whether a break counts only if it comes again: something rests on it, or answers are known to vary."""
    fails = asked.case.settings.contract.verdict.pinned == "fail"
    return pins.decide or fails or len(set(asked.answers.matrix.baseline)) > 1


def _asked_until_told(
    asked: CaseAnswers,
    placed: Sequence[tuple[KnownCounterexample, Mutation]],
    ledger: RunLedger,
    *,
    confirm: bool,
) -> Generator[list[Step], list[Run], list[list[Trial]]]:
    trials: list[list[Trial]] = [[] for _ in placed]
    while True:
        open_ = [
            place
            for place, (each, _) in enumerate(placed)
            if not any(trial.error is not None for trial in trials[place])
            and told(_broke(trials[place]), each.found.repeats, confirm=confirm) is None
        ]
        if not open_:
            return trials
        runs = yield [asked.apart(placed[place][1]) for place in open_]
        made = [(run, placed[place][1]) for place, run in zip(open_, runs, strict=True)]
        for run in runs:
            ledger.count(run, asked.case)
        yield from confirming(asked, [(mutation, run) for run, mutation in made], ledger)
        asked.judge.ahead(made, asked.baseline, caused=asked.refusals.caused)
        for place, (run, mutation) in zip(open_, made, strict=True):
            trial = asked.trial(mutation, run)
            ledger.failed(trial, run)
            trials[place].append(trial)


def _broke(trials: Sequence[Trial]) -> list[bool]:
    return [kind_of(trial) is not None for trial in trials]


def _replayed(
    known: KnownCounterexample,
    mutation: Mutation,
    trials: Sequence[Trial],
    asked: CaseAnswers,
    *,
    confirm: bool,
) -> Replayed:
    error = next((trial.error for trial in trials if trial.error is not None), None)
    if error is not None:
        unrecorded = Note.of("evaluations:replay-unrecorded")
        return Replayed(
            known, "unanswered", sentence(unrecorded if error.kind == NOT_RECORDED else error.message)
        )
    broke = [trial for trial in trials if kind_of(trial) is not None]
    why: Note | str = Note.of("evaluations:broke-of", broke=len(broke), asked=len(trials)) if broke else ""
    status = told(_broke(trials), known.found.repeats, confirm=confirm)
    assert status is not None
    if status == "passes" and known.target != asked.case.settings.target:
        status, why = "elsewhere", Note.of("evaluations:found-elsewhere", target=known.target)
    if any(trial.outcome == "undecided" for trial in trials) and not broke:
        return Replayed(known, "unanswered", sentence(Note.of("evaluations:replay-undecided")))
    shown = (broke or trials)[-1]
    found = known.found
    now = replace(
        found,
        mutation=mutation,
        baseline=asked.baseline.value,
        answer=shown.value,
        failure=in_one_line(shown) if broke else found.failure,
        repeats=(len(broke), len(trials)),
        calls=len(trials),
        minimal=found.minimal and mutation.text == found.mutation.text,
    )
    why = now.failure if status == "breaks" else why
    return Replayed(known, status, sentence(why), now, broke[-1] if broke else None)
