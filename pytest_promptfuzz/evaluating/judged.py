"""What models did to compare a whole test's answers: judges' benches and all they said put together, embeddings."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from pytest_promptfuzz.evaluating.call_matching import calls_of
from pytest_promptfuzz.evaluating.judge import spent_on
from pytest_promptfuzz.judging.model import Grader, Rating
from pytest_promptfuzz.scoring.agreement import Agreement
from pytest_promptfuzz.scoring.deltas import Deltas, Graded
from pytest_promptfuzz.scoring.judging import Judging
from pytest_promptfuzz.scoring.trial import Spent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_promptfuzz.evaluating.bench import Bench
    from pytest_promptfuzz.evaluating.case import Case
    from pytest_promptfuzz.evaluating.contract import Contract
    from pytest_promptfuzz.evaluating.session import TestWatches
    from pytest_promptfuzz.running.run import Run
    from pytest_promptfuzz.scoring.robustness import Robustness
    from pytest_promptfuzz.scoring.trial import Trial

_RATINGS = {"equivalent": 3, "minor": 2, "deviation": 1}


def bench_of(contract: Contract, watches: TestWatches, baseline: Run, prompt: str) -> Bench | None:
    """The bench of one case; ``None`` where the test has no judge.

    Args:
        contract: The test's settings.
        watches: Make the watches of the judge's calls.
        baseline: Its requests show what was asked.
        prompt: What was asked, where no request shows it.
    """
    if contract.judge is None:
        return None
    from pytest_promptfuzz.evaluating.bench import Bench

    texts = [text for call in calls_of(baseline) for text in call.texts]
    return Bench(
        contract.judge,
        contract.judge_when == "always",
        watches,
        prompt="\n\n".join(texts) or prompt,
        ignore=contract.ignore,
    )


def spent_embedding(cases: Iterable[Case], notes: list[str]) -> Spent:
    """What the calls for embeddings of a test took; what they have to say is added to the notes."""
    spent = Spent()
    for case in cases:
        if case.watches.embedding is not None:
            spent += spent_on(case.watches.embedding)
            notes.extend(case.watches.embedding.notes)
    return spent


def with_judging(
    result: Robustness, benches: Mapping[int, Bench], contract: Contract, subjects: Sequence[object]
) -> Robustness:
    """A result with what its judge did, and what that took.

    Args:
        result: Without.
        benches: By number of the case.
        contract: The test's settings.
        subjects: The baseline's value of each case.
    """
    if contract.judge is None or not benches:
        return result
    quality, ungraded = (
        _quality(result.trials, benches, contract.quality, subjects) if contract.quality else (None, 0)
    )
    said = [each for bench in benches.values() for each in bench.said.values()]
    ratings = [each for each in said if isinstance(each, Rating)]
    judging = Judging(
        judge=contract.judge.name,
        ratings=dict(Counter(each.rating for each in ratings)),
        failed=len(said) - len(ratings),
        orders=_between_orders(ratings),
        repeats=_between_repeats(ratings),
        quality=quality,
        ungraded=ungraded,
    )
    spent = sum((bench.spent for bench in benches.values()), Spent())
    notes = dict.fromkeys(note for bench in benches.values() for note in bench.notes)
    close = getattr(contract.judge, "close", None)
    if close is not None:
        close()
    both = result.spent + spent
    return replace(
        result,
        judging=judging,
        spent=both,
        cost=both.cost,
        notes=tuple(dict.fromkeys([*result.notes, *notes, *judging.said()])),
    )


def _quality(
    trials: Iterable[Trial],
    benches: Mapping[int, Bench],
    measures: Sequence[str],
    subjects: Sequence[object],
) -> tuple[Deltas | None, int]:
    """The aggregates over the trials that must leave the answer as it is, and how many had to be left out."""
    compared = [
        each for each in trials if each.mutation.relation != "must-change" and each.outcome != "not-needed"
    ]
    rated = [
        (each, _RATINGS[each.outcome])
        for each in compared
        if each.comparison is not None and each.outcome in _RATINGS
    ]
    shifted = [each for each, rating in rated if rating < 3]
    for number, bench in benches.items():
        values = [each.value for each in shifted if each.case == number]
        if values and isinstance(bench.judge, Grader):
            bench.grades(bench.judge, measures, [subjects[number], *values])
    graded: list[Graded] = []
    for trial, rating in rated:
        changed = {}
        if rating < 3:
            bench = benches[trial.case]
            grades = {
                measure: (bench.grade(measure, subjects[trial.case]), bench.grade(measure, trial.value))
                for measure in measures
            }
            if any(None in pair for pair in grades.values()):
                continue
            changed = {measure: one != two for measure, (one, two) in grades.items()}
        graded.append(Graded(rating, changed))
    return Deltas.of(graded), len(compared) - len(graded)


def _between_orders(ratings: Iterable[Rating]) -> Agreement | None:
    pairs = [
        (one, two)
        for each in ratings
        if len(each.orders) == 2
        for one, two in zip(*each.orders, strict=False)
    ]
    return Agreement.of(pairs) if pairs else None


def _between_repeats(ratings: Iterable[Rating]) -> Agreement | None:
    pairs = [pair for each in ratings for order in each.orders for pair in combinations(order, 2)]
    return Agreement.of(pairs) if pairs else None
