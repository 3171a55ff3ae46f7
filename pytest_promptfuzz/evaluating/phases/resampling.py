"""Resampling: a test that is about to fail is asked again, to tell noise from change."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.relay import relayed
from pytest_promptfuzz.results.trials import cluster
from pytest_promptfuzz.stats.repeats import LOOKS, RepeatEvidence, escalate, known
from pytest_promptfuzz.stats.scores import EQUIVALENT_CREDIT

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from pytest_promptfuzz.evaluating.cases import Case, CaseAnswers, RunLedger
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.results.trials import Trial
    from pytest_promptfuzz.running.run import Run, Step
    from pytest_promptfuzz.stats.repeats import RepeatRequest


_LOOKED_AT_BY_JUDGES = 8


def confirming(
    asked: CaseAnswers, made: Iterable[tuple[Mutation, Run]], ledger: RunLedger
) -> Generator[list[Step], list[Run], int]:
    """Ask again what a model refused, and the unmutated prompt: is the mutation what it refuses?

    Returns:
        How many runs that took.
    """
    doubts = asked.doubts(made)
    if not doubts:
        return 0
    runs = yield [step for step, _ in doubts]
    for run in runs:
        ledger.count(run, asked.case)
    asked.refusals.settle([(mutation, run) for (_, mutation), run in zip(doubts, runs, strict=True)])
    return len(runs)


def credited(cases: Sequence[CaseAnswers], evidence: RepeatEvidence) -> dict[str, tuple[str, float]]:
    """By mutation, its operators and mean credit with all unmutated answers; nothing where the floor is not known."""
    if not evidence.floor:
        return {}
    found: dict[str, list[float]] = {}
    operators: dict[str, str] = {}
    for case in cases:
        matrix = case.answers.matrix
        for mutation, answers in zip(case.mutations, matrix.mutated, strict=True):
            kept = matrix.agreement(answers)
            if kept is not None:
                found.setdefault(mutation.id, []).append(float(kept))
                operators[mutation.id] = cluster(mutation)
    return {name: (operators[name], sum(all_) / len(all_)) for name, all_ in found.items()}


def evidence_of(cases: Sequence[CaseAnswers]) -> RepeatEvidence:
    """What is known without asking again."""
    for each in cases:
        each.answers.ahead()
    return known([each.answers.matrix for each in cases])


def asking_again(
    cases: Sequence[CaseAnswers],
    proves: Callable[[RepeatEvidence], bool],
    *,
    alpha: float,
    steady: bool,
    seed: int,
    ledger: RunLedger,
) -> Generator[list[Step], list[Run], RepeatEvidence]:
    """The runs that tell noise from change, all that are wanted at once in a batch; returns what they showed.

    The arguments are those of ``escalate``, and where the runs are counted.
    """
    # A judge is asked about every pair that nothing cheaper can tell, and pairs grow with the square of answers.
    judged = any(each.judge.bench is not None and each.judge.bench.said for each in cases)
    most = _LOOKED_AT_BY_JUDGES if judged else LOOKS[-1]
    matrices = [each.answers.matrix for each in cases]
    looks = escalate(matrices, proves, alpha=alpha, most=most, steady=steady, seed=seed)

    def looked(wanted: list[RepeatRequest]) -> Generator[list[Step], list[Run], None]:
        steps = [(cases[each.case], *step) for each in wanted for step in cases[each.case].steps(each)]
        runs = yield [step for _, step, _ in steps]
        made = [(asked, mutation, run) for (asked, _, mutation), run in zip(steps, runs, strict=True)]
        for asked, _, run in made:
            ledger.count(run, asked.case)
        for each in cases:
            each.ahead([(mutation, run) for asked, mutation, run in made if asked is each])
        for asked, mutation, run in made:
            asked.ran(mutation, run)
        for each in cases:
            each.answers.ahead()

    return (yield from relayed(looks, looked))


def varying(cases: Iterable[Case], names: Sequence[str], evidence: RepeatEvidence) -> list[Note]:
    """How the answers to the unmutated prompt differ, where the first, which trials are shown against, is an odd one.

    Args:
        cases: Those that were asked.
        names: Of the inputs, by the cases' numbers; empty texts where inputs have none.
        evidence: Without a known floor, nothing was compared, and nothing is said.
    """
    if evidence.floor is None:
        return []
    notes: list[Note] = []
    for case in cases:
        if case.asked is None:
            continue
        matrix, name = case.asked.answers.matrix, names[case.number]
        every, usual = matrix.baseline, matrix.usual()
        alike = [each for each in every if each == usual or matrix.between(usual, each) == EQUIVALENT_CREDIT]
        if len(alike) > 1 and every[0] not in alike:
            notes.append(
                Note.of("evaluations:first-answer-odd", name=name, answers=len(every), alike=len(alike))
            )
        failed = case.asked.answers.failed(every)
        if failed:
            notes.append(Note.of("evaluations:check-noisy", name=name, answers=len(every), failed=failed))
    return notes


def lost_by(cases: Iterable[Case], *, proven: bool = False) -> list[Note]:
    """That runs which would have told noise from change came to nothing, if some did, and why the first one.

    Args:
        cases: Those that have begun.
        proven: Whether the others told it: what a recording does not have is then not missed.
    """
    lost = [why for case in cases if case.asked is not None for why in case.asked.lost]
    if proven:
        lost = [why for why in lost if why != Note.of("evaluations:not-recorded")]
    return [Note.of("evaluations:runs-lost", amount=len(lost), why=lost[0])] if lost else []


def with_repeats(trials: Sequence[Trial], cases: Sequence[CaseAnswers]) -> list[Trial]:
    """The trials, with the outcomes of those that were asked again."""
    again = {
        (each.case.number, name): tuple(trial.outcome for trial in found)
        for each in cases
        for name, found in each.trials.items()
    }
    return [replace(trial, again=again.get((trial.case, trial.id), ())) for trial in trials]
