"""The report model: one JSON-able dictionary a test, made once; every renderer reads it and computes nothing.

It crosses processes (xdist) as it is, so it holds plain data only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pytest_promptfuzz.evaluating.contract import Acceptance
    from pytest_promptfuzz.results.counterexamples import Counterexample, Replayed
    from pytest_promptfuzz.results.robustness import Group, Robustness
    from pytest_promptfuzz.results.trials import Searched, Spent, Trial
    from pytest_promptfuzz.stats.agreement import Gold
    from pytest_promptfuzz.stats.intervals import Interval
    from pytest_promptfuzz.stats.regressions import Drift, Paired


# Gold answers in reports: how often answers are as expected.


class WrongReport(TypedDict):
    """The unmutated prompt's first wrong answer of an input, and the gold one."""

    case: int
    expected: Any
    answered: Any


class GoldReport(TypedDict):
    """How often answers are as expected: ``accuracy`` of the unmutated prompt, ``mutated`` under mutation, 0 to 1.

    ``inputs`` have a gold answer; of ``untold`` answers no installed comparison could tell.
    """

    accuracy: float | None
    mutated: float | None
    drop: float | None
    inputs: int
    untold: int
    wrong: list[WrongReport]


def gold_report(found: Gold | None) -> GoldReport | None:
    """As plain data; nothing where no gold answer was given."""
    if found is None:
        return None

    def rounded(share: float | None) -> float | None:
        return None if share is None else round(share, 4)

    return GoldReport(
        accuracy=rounded(found.accuracy),
        mutated=rounded(found.mutated),
        drop=rounded(found.drop),
        inputs=found.inputs,
        untold=found.untold,
        wrong=[
            WrongReport(case=each.case, expected=each.expected, answered=each.answered)
            for each in found.wrong
        ],
    )


# How a test differs from its snapshot, apart from robustness.


UPDATED = "updated"
"""The policy of drift that the run accepted with ``--promptfuzz-update``."""


class DriftReport(TypedDict):
    """One way in which a test is not what its snapshot says.

    ``kind`` is ``model`` (the same prompt has another answer), ``prompt`` (the prompt is another) or ``comparator``
    (answers are compared, or mutations made, by other versions); ``policy`` is ``fail``, ``warn`` or ``ignore``,
    or ``updated`` where the run wrote a new snapshot. ``message`` is a sentence. ``before`` and ``after`` are the
    answers to the unmutated prompt of input ``case``, or what else changed. ``p`` is the probability that noise alone
    makes answers differ so. ``undecided``: nothing tells whether the model changed. ``diff`` is the prompt's, word by
    word, as in trials: ``=``, ``-`` and ``+``. The last two are missing in what an older version wrote.
    """

    kind: str
    policy: str
    message: str
    before: Any
    after: Any
    case: int | None
    p: float | None
    undecided: bool
    diff: list[list[str]]


def drift_report(drift: Drift) -> DriftReport:
    """The report of one."""
    return DriftReport(
        kind=drift.kind,
        policy=drift.policy,
        message=drift.message,
        before=drift.before,
        after=drift.after,
        case=drift.case,
        p=drift.p,
        undecided=drift.undecided,
        diff=[list(each) for each in drift.diff],
    )


def fails(drift: Iterable[DriftReport]) -> bool:
    """Whether one of them fails the test."""
    return any(each["policy"] == "fail" for each in drift)


def undecided(drift: Iterable[DriftReport]) -> bool:
    """Whether nothing tells what would fail the test: an error, and no failure."""
    failing = [each for each in drift if each["policy"] == "fail"]
    return bool(failing) and all(each.get("undecided") for each in failing)


# Tests that are searches, in reports: what was asked, what was found, how near the search came.


class SearchedReport(TypedDict):
    """What a search asked: ``queries`` of its ``budget``, ``errors`` of them without an answer.

    ``loss`` is how near the best came to the goal, from 0 to 1, which is there. ``found`` is the trial of the
    counterexample; without one, ``nearest`` is the trial that came nearest, if any came nearer than the prompt itself.
    ``known``: the counterexample was known before and asked again, and its input was not searched.
    """

    method: str
    objective: str
    queries: int
    budget: int
    errors: int
    places: int
    found_at: int
    loss: float
    nearest: TrialReport | None
    found: TrialReport | None
    known: bool


def searched_report(found: Searched | None, trial: Callable[[Trial], TrialReport]) -> SearchedReport | None:
    """As plain data; ``None`` of a test that is no search.

    Args:
        found: What was searched.
        trial: Makes the report of a trial.
    """
    if found is None:
        return None
    return SearchedReport(
        method=found.method,
        objective=found.objective,
        queries=found.queries,
        budget=found.budget,
        errors=found.errors,
        places=found.places,
        found_at=found.found_at,
        loss=round(found.loss, 4),
        nearest=None if found.nearest is None else trial(found.nearest),
        found=None if found.found is None else trial(found.found),
        known=found.known,
    )


# Where the variance of a test with several inputs comes from.


class EffectReport(TypedDict):
    """An operator's mean score less that of the others on the same inputs, with its interval and adjusted p."""

    operator: str
    mean: float
    low: float
    high: float
    items: int
    p: float


class VarianceReport(TypedDict):
    """Where the credits' variance comes from: at least 0, ``None`` where it cannot be told.

    ``shares`` are the parts of inference, item and perturbation in the whole, which add up to 1; ``share`` is the last
    of them, with its 95 % interval. ``effects`` are the operators', the most harmful first; ``notes`` say what cannot
    be told.
    """

    inference: float | None
    item: float | None
    perturbation: float | None
    shares: tuple[float, float, float] | None
    share: float | None
    share_range: tuple[float, float] | None
    effects: list[EffectReport]
    notes: list[str]


def variance_report(robustness: Robustness) -> VarianceReport | None:
    """What a test with several inputs says of its variance; ``None`` of any other."""
    found = robustness.variance
    if found is None:
        return None
    shares = found.shares
    return VarianceReport(
        inference=_rounded(found.inference),
        item=_rounded(found.item),
        perturbation=_rounded(found.perturbation),
        shares=shares and (round(shares[0], 4), round(shares[1], 4), round(shares[2], 4)),
        share=_rounded(found.share),
        share_range=found.share_range and (round(found.share_range.low, 4), round(found.share_range.high, 4)),
        effects=[
            EffectReport(
                operator=each.operator,
                mean=round(each.mean, 4),
                low=round(each.low, 4),
                high=round(each.high, 4),
                items=each.items,
                p=each.p,
            )
            for each in robustness.effects
        ],
        notes=list(found.notes),
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


# Counterexamples: the smallest change that breaks an answer.


class CounterexampleReport(TypedDict):
    """A counterexample as it is stored (``mutation`` to ``repeats``), with what its mutation comes to.

    ``diff`` is ``[["=", same], ["-", removed], ["+", added], ...]`` over the prompt, ``prompt`` the changed one.
    """

    id: str
    mutation: dict[str, Any]
    trial: str
    case: int
    baseline: Any
    answer: Any
    failure: str
    minimal: bool
    calls: int
    repeats: list[int]
    diff: list[list[str]]
    prompt: str


class ReplayedReport(TypedDict):
    """A counterexample that was known before, asked once more: what became of it, and it as it is today.

    ``status`` is ``breaks``, ``passes``, ``gone``, ``elsewhere``, ``varies`` or ``unanswered``; ``target`` the one that
    it was last seen to break.
    """

    id: str
    status: str
    why: str
    target: str
    now: CounterexampleReport | None


def replayed_report(found: Replayed) -> ReplayedReport:
    """As plain data."""
    now = None if found.now is None else counterexample_report(found.now)
    return ReplayedReport(
        id=found.known.id, status=found.status, why=found.why, target=found.known.target, now=now
    )


def counterexample_report(found: Counterexample) -> CounterexampleReport:
    """As plain data; ``Counterexample.from_json`` reads it."""
    mutation = found.mutation
    made: Any = {
        **found.to_json(),
        "id": found.id,
        "diff": [[kind, text] for kind, text in mutation.diff()],
        "prompt": mutation.text,
    }
    return made  # type: ignore[no-any-return]  # it has the keys of the type


# Trials and tests.


FORMAT = 1


class SpentReport(TypedDict):
    """Calls sent, some of them again, stored answers, seconds, tokens, live calls of unknown price.

    ``speculated`` calls were made before a sync body asked, ``unused`` ones in vain. ``judge_calls`` and ``judge_hits``
    are those of a judge. ``saved`` calls were not made: their trials were not needed.
    ``controls`` were asked to see that the answer can change, and count for nothing else. ``recorded`` of the ``hits``
    came from a recording.
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
    recorded: int


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


class TriedReport(TypedDict):
    """Which change a trial tried, on which input."""

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


class TrialReport(TriedReport):
    """One trial. ``diff`` is ``[["=", same], ["-", removed], ["+", added], ...]`` over the prompt."""

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


class AcceptedReport(TypedDict):
    """That a test is accepted as brittle: why, and the last day (``2027-03-01``) on which it is.

    ``status`` is ``accepted`` (brittle), ``expired`` (brittle, and the day is past), ``passes`` (no longer brittle) or
    ``open`` (neither is known).
    """

    reason: str
    until: str
    status: str


def accepted_report(found: Acceptance | None) -> AcceptedReport | None:
    """As plain data."""
    return None if found is None else {"reason": found.reason, "until": found.until, "status": found.status}


class VerdictReport(TypedDict):
    """What a robust test came to, and the figures behind it."""

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
    accepted: AcceptedReport | None


class TestSummary(VerdictReport):
    """What the table at the end of a run needs to know of a robust test."""

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


class PlanReport(TypedDict):
    """Where a robust test stands, and what was asked of which model."""

    format: int
    location: tuple[str, int] | None
    planned: int
    seed: int
    task: str
    model: str


class TestReport(TestSummary, PlanReport):
    """One robust test.

    ``reasked`` says why no more was asked of trials that failed anew since the base: ``proven``, ``noise``,
    ``too-few``, ``calls``, ``session``, ``unanswered``, ``unrecorded``, ``off`` or ``new`` (no test of the base was
    known to be this one); empty where none did, or no base was given. ``against_base`` has, of each input whose first
    answer to the unmutated prompt was a rare one, the base's answer (``baseline``) and the outcomes of its trials
    beside that (``trials`` and ``again``, a letter each). ``answers`` has, of each input whose unmutated prompt was
    asked more than once, each answer and how often it came, the first one first. ``beside_base`` has, by input, what
    these are beside the answers of the base. ``compared`` are settings by which answers are compared, apart from the
    task's.
    """

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
    reasked: str
    against_base: dict[str, Any]
    answers: dict[str, list[tuple[Any, int]]]
    beside_base: dict[str, Any]
    compared: dict[str, Any]


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
        accepted=None,
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
        reasked=robustness.reasked,
        against_base={name: dict(each) for name, each in robustness.against_base.items()},
        answers={name: [*found] for name, found in robustness.answers.items()},
        beside_base={name: dict(each) for name, each in robustness.beside_base.items()},
        compared=dict(robustness.compared),
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
        recorded=spent.recorded,
    )


# Kinds of error of trials that never ran: the verdict has said why, and their names would tell nothing.
_NEVER_RAN = {"baseline-error", "baseline-mixed", "not-repeatable"}


def never_ran(report: TestSummary) -> list[TrialReport]:
    """The trials that were left out because of the unmutated prompt."""
    return [trial for trial in report["trials"] if trial["error"] and trial["error"]["kind"] in _NEVER_RAN]


def untried(report: TestSummary) -> bool:
    """Whether no mutation was tried, so that neither score nor counts say anything."""
    if report["verdict"] not in {"inconclusive", "noisy"} or report.get("searched"):
        return False
    return never_ran(report) == report["trials"]
