"""The report model: one JSON-able dictionary a test, made once; every renderer reads it and computes nothing.

It crosses processes (xdist) as it is, so it holds plain data only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from pytest_promptfuzz.reporting.counterexamples import (
    CounterexampleReport,
    ReplayedReport,
    counterexample_report,
    replayed_report,
)
from pytest_promptfuzz.reporting.drift import DriftReport, drift_report
from pytest_promptfuzz.reporting.gold import GoldReport, gold_report
from pytest_promptfuzz.reporting.searched import SearchedReport, searched_report
from pytest_promptfuzz.reporting.varying import VarianceReport, variance_report

if TYPE_CHECKING:
    from pytest_promptfuzz.scoring.intervals import Interval
    from pytest_promptfuzz.scoring.paired import Paired
    from pytest_promptfuzz.scoring.robustness import Group, Robustness
    from pytest_promptfuzz.scoring.trial import Spent, Trial

FORMAT = 1


class SpentReport(TypedDict):
    """Calls sent, some of them again, answers from the store, seconds, tokens, live calls of unknown price.

    ``speculated`` calls were made before a sync body asked, ``unused`` ones in vain. ``judge_calls`` and ``judge_hits``
    are those of a judge. ``saved`` calls were not made: their trials were not needed.
    ``controls`` were asked to see that the answer can change, and count for nothing else.
    """

    calls: int
    retries: int
    hits: int
    seconds: float
    input_tokens: int | None
    output_tokens: int | None
    unpriced: int
    speculated: int
    unused: int
    judge_calls: int
    judge_hits: int
    saved: int
    controls: int


class GroupReport(TypedDict):
    """Eq. 1 (``score``) and Eq. 2 (``weighted``) over a group of trials, with counts."""

    counts: dict[str, int]
    score: float | None
    weighted: float | None


class ErrorReport(TypedDict):
    """Why a trial does not count."""

    kind: str
    message: str


class FailureReport(TypedDict):
    """An oracle's failure."""

    type: str
    message: str
    traceback: str


class IntervalReport(TypedDict):
    """Where the score truly lies, at a ``level``; ``estimand`` says over what."""

    low: float
    high: float
    level: float
    estimand: str


class NoiseReport(TypedDict):
    """How far ``baselines`` answers to the unmutated prompt agree (``floor``), and the test over ``repeats``."""

    floor: float | None
    baselines: int
    repeats: int
    p: float | None
    alpha: float


class PairedReport(TypedDict):
    """How the trials compare with those of the run before, for the gate ``no-worse``, and the sign test's p."""

    worse: int
    better: int
    same: int
    unknown: int
    p: float
    alpha: float


class TrialReport(TypedDict):
    """One trial. ``diff`` is ``[["=", same], ["-", removed], ["+", added], ...]`` over the prompt."""

    id: str
    case: int
    sample: int
    again: list[str]
    baseline: Any
    operators: list[str]
    dimension: str
    severity: float
    change_rate: float
    preserves: str
    relation: str
    outcome: str
    similarity: float | None
    reason: str
    explanation: str
    tiers: list[list[Any]]
    diff: list[list[str]]
    prompt: str
    response: Any
    error: ErrorReport | None
    failure: FailureReport | None
    spent: SpentReport
    reproduce: str


class UnfollowedReport(TypedDict):
    """What a test began that was not followed: ``count`` of a ``kind`` (``connection|request|process|library``).

    ``to`` is ``host:port``, the path of a socket, or the name of a program or library; ``at`` the code that began it,
    ``by`` the library that it used.
    """

    kind: str
    to: str
    count: int
    at: str
    by: str


class TestSummary(TypedDict):
    """What the table at the end of a run needs to know of a robust test."""

    test: str
    verdict: str
    reason: str
    explanation: str
    gate: str
    score: float | None
    adjusted_score: float | None
    interval: IntervalReport | None
    variance: VarianceReport | None
    bounds: tuple[float, float]
    threshold: float
    gold: GoldReport | None
    counts: dict[str, int]
    target: str
    judge: str
    oracle_only: bool
    relation: str
    trials: list[TrialReport]
    spent: SpentReport
    cost: float | None
    notes: list[str]
    searched: SearchedReport | None
    drift: list[DriftReport]
    unfollowed: list[UnfollowedReport]
    paired: PairedReport | None
    noise: NoiseReport | None


class TestReport(TestSummary):
    """One robust test."""

    format: int
    location: tuple[str, int] | None
    planned: int
    seed: int
    task: str
    model: str
    by_dimension: dict[str, GroupReport]
    by_operator: dict[str, GroupReport]
    by_relation: dict[str, GroupReport]
    prompt: str
    baseline: Any
    baselines: list[Any]
    inputs: list[str]
    judging: dict[str, Any] | None
    counterexamples: list[CounterexampleReport]
    replayed: list[ReplayedReport]


def report_test(
    robustness: Robustness, *, test: str, location: tuple[str, int] | None = None, reproduce: str = ""
) -> TestReport:
    """The report of one test.

    Args:
        robustness: What was found.
        test: How the test is named: a pytest node ID, or a prompt file.
        location: File and line (from 1) of the test.
        reproduce: A command with ``{id}`` in the place of a trial's ID.
    """
    first = robustness.trials[0].mutation.original if robustness.trials else ""
    return TestReport(
        format=FORMAT,
        test=test,
        location=location,
        verdict=robustness.verdict,
        reason=robustness.reason,
        explanation=robustness.explanation,
        gate=robustness.gate,
        paired=_paired(robustness.paired),
        score=robustness.score,
        bounds=robustness.bounds,
        threshold=robustness.threshold,
        gold=gold_report(robustness.gold),
        adjusted_score=robustness.adjusted_score,
        interval=_interval(robustness.interval),
        noise=_noise(robustness),
        variance=variance_report(robustness),
        counts=robustness.outcomes.as_dict(),
        planned=robustness.planned,
        seed=robustness.seed,
        task=robustness.task,
        target=robustness.target,
        judge=robustness.judging.judge if robustness.judging and robustness.judging.asked else "",
        model=robustness.model,
        oracle_only=robustness.oracle_only,
        relation=robustness.relation,
        by_dimension={name: _group(group) for name, group in robustness.by_dimension.items()},
        by_operator={name: _group(group) for name, group in robustness.by_operator.items()},
        by_relation={name: _group(group) for name, group in robustness.by_relation.items()},
        prompt=first,
        baseline=robustness.baseline,
        baselines=list(robustness.baselines),
        trials=[_trial(trial, robustness.baselines[trial.case], reproduce) for trial in robustness.trials],
        spent=_spent(robustness.spent),
        cost=robustness.cost,
        notes=list(robustness.notes),
        inputs=list(robustness.cases),
        judging=None if robustness.judging is None else robustness.judging.as_dict(),
        counterexamples=[counterexample_report(each) for each in robustness.counterexamples],
        searched=searched_report(
            robustness.searched, lambda trial: _trial(trial, robustness.baselines[trial.case], reproduce)
        ),
        replayed=[replayed_report(each) for each in robustness.replayed],
        drift=[drift_report(each) for each in robustness.drift],
        unfollowed=[
            UnfollowedReport(kind=each.kind, to=each.to, count=each.count, at=each.at, by=each.by)
            for each in robustness.unfollowed
        ],
    )


def summarised(report: TestReport) -> TestSummary:
    """What is kept of a test that passed: a long run has thousands. Of its trials, those that deviated."""
    kept: Any = {key: report.get(key) for key in TestSummary.__annotations__}
    kept["trials"] = [trial for trial in report["trials"] if trial["outcome"] == "deviation"]
    return kept  # type: ignore[no-any-return]  # it has the keys of the type


def scored(report: TestSummary) -> list[TrialReport]:
    """The trials that score, counts and verdict are of; those of other relations stand beside them."""
    return [trial for trial in report["trials"] if trial["relation"] == report["relation"]]


def _trial(trial: Trial, baseline: Any, reproduce: str) -> TrialReport:
    mutation, comparison = trial.mutation, trial.comparison
    return TrialReport(
        id=trial.id,
        case=trial.case,
        sample=trial.sample,
        again=list(trial.again),
        baseline=baseline,
        operators=list(mutation.operators),
        dimension=mutation.dimension,
        severity=mutation.severity,
        change_rate=mutation.change_rate,
        preserves=mutation.preserves,
        relation=mutation.relation,
        outcome=trial.outcome,
        similarity=trial.similarity,
        reason=comparison.reason if comparison else "oracle" if trial.failure else "",
        explanation=comparison.explanation if comparison else "",
        tiers=[[tier.name, tier.similarity, tier.note] for tier in comparison.tiers] if comparison else [],
        diff=[[kind, text] for kind, text in mutation.diff()],
        prompt=mutation.text,
        response=trial.value,
        error=ErrorReport(kind=trial.error.kind, message=trial.error.message) if trial.error else None,
        failure=(
            FailureReport(
                type=trial.failure.type, message=trial.failure.message, traceback=trial.failure.traceback
            )
            if trial.failure
            else None
        ),
        spent=_spent(trial.spent),
        reproduce=reproduce.replace("{id}", trial.id),
    )


def _interval(interval: Interval | None) -> IntervalReport | None:
    if interval is None:
        return None
    return IntervalReport(
        low=round(interval.low, 4),
        high=round(interval.high, 4),
        level=interval.level,
        estimand=interval.estimand,
    )


def _noise(robustness: Robustness) -> NoiseReport | None:
    """Nothing where every prompt was asked once."""
    found = robustness.noise
    if found.baselines < 2 and found.p is None:
        return None
    return NoiseReport(
        floor=robustness.floor,
        baselines=found.baselines,
        repeats=found.repeats,
        p=found.p,
        alpha=found.alpha,
    )


def _paired(found: Paired | None) -> PairedReport | None:
    if found is None:
        return None
    return PairedReport(
        worse=found.worse,
        better=found.better,
        same=found.same,
        unknown=found.unknown,
        p=found.p,
        alpha=found.alpha,
    )


def _group(group: Group) -> GroupReport:
    return GroupReport(counts=group.counts.as_dict(), score=group.score, weighted=group.weighted)


def _spent(spent: Spent) -> SpentReport:
    return SpentReport(
        calls=spent.calls,
        retries=spent.retries,
        hits=spent.hits,
        seconds=round(spent.seconds, 6),
        input_tokens=spent.usage.input_tokens,
        output_tokens=spent.usage.output_tokens,
        unpriced=spent.unpriced,
        speculated=spent.speculated,
        unused=spent.unused,
        judge_calls=spent.judge_calls,
        judge_hits=spent.judge_hits,
        saved=spent.saved,
        controls=spent.controls,
    )
