"""The verdict: from trials to the `Robustness` of a test: score, groups, gates, notes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.comparing.formats import data_text
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.evaluating.call_matching import NOT_MATCHED, matching_notes
from pytest_promptfuzz.evaluating.judge import spent_on, told_undone
from pytest_promptfuzz.evaluating.phases.controls import (
    control_notes,
    insensitive,
    insensitive_anyway,
    no_control,
)
from pytest_promptfuzz.evaluating.phases.resampling import credited, lost_by, varying
from pytest_promptfuzz.mutations.engine.mutation import RELATIONS
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.results.robustness import Group, Robustness
from pytest_promptfuzz.results.trials import Spent, Trial, cluster
from pytest_promptfuzz.stats.repeats import ALONE, ALPHA
from pytest_promptfuzz.stats.scores import CREDITS, EQUIVALENT_CREDIT, Counts, bounds, robustness
from pytest_promptfuzz.stats.verdict import Judgement, Sampled, UnaskedGround, decide_at, tells
from pytest_promptfuzz.text.json_paths import without
from pytest_promptfuzz.wording.sentences import sentence
from pytest_promptfuzz.wording.verdicts import explained

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_promptfuzz.evaluating.cases import Case, Findings, RunLedger
    from pytest_promptfuzz.evaluating.contract import ComparisonSettings, EvaluationSettings, VerdictSettings
    from pytest_promptfuzz.evaluating.judge import Bench
    from pytest_promptfuzz.mutations.engine.mutation import Relation
    from pytest_promptfuzz.stats.repeats import RepeatEvidence
    from pytest_promptfuzz.stats.scores import TrialOutcome

    Key = tuple[str, str, int]
    Outcomes = Mapping[Key, TrialOutcome]
    from pytest_promptfuzz.judging.ratings import Rating
    from pytest_promptfuzz.stats.agreement import Agreement, Deltas, Graded
    from pytest_promptfuzz.stats.misclassification import JudgeCorrection
    from pytest_promptfuzz.stats.regressions import Paired


# A run beside the run before it (``gate="no-worse"``): which trials are the same, and what to say where none are.


def keyed(trials: Iterable[Trial], names: Sequence[str]) -> dict[Key, TrialOutcome]:
    """The outcomes that score and gate are of, by input, trial and sample.

    Args:
        trials: Of all cases.
        names: How each case is called; empty names stand for its number.
    """
    return {
        (named(trial.case, names), trial.mutation.id, trial.sample): trial.outcome
        for trial in trials
        if trial.mutation.relation == "invariance"
    }


def named(case: int, names: Sequence[str]) -> str:
    """How a case is called, run after run.

    >>> named(1, ["", ""]), named(1, [])
    ('1', '1')
    """
    return (names[case] if case < len(names) else "") or str(case)


def outcomes_before(before: Robustness | Mapping[str, Any], where: str) -> Outcomes:
    """The outcomes of a result, or of a report of one.

    Raises:
        UsageError: It is neither.
    """
    if isinstance(before, Robustness):
        return keyed(before.trials, before.cases)
    try:
        return {
            (named(each["case"], before["inputs"]), each["id"], each["sample"]): each["outcome"]
            for each in before["trials"]
            if each["relation"] == "invariance"
        }
    except (KeyError, TypeError, IndexError):
        raise UsageError(
            f"{where}: before= must be the result of a run, or its JSON report, not {before!r:.60}."
        ) from None


_KEEP_A_RESULT = Note.of("evaluations:keep-a-result")


class Before(NamedTuple):
    """A run before, or that there is none.

    Attributes:
        outcomes: Its outcomes; ``None`` where none is stored.
        store: How to have one that is stored, for messages.
    """

    outcomes: Outcomes | None = None
    store: Note | str = _KEEP_A_RESULT


NOTHING = Before()
"""There is no run before."""


def paired_of(findings: Findings, settings: EvaluationSettings, before: Before) -> Paired | None:
    """The trials of a test beside those of the run before; ``None`` where it is not to be held against one."""
    if settings.contract.verdict.gate != "no-worse" or before.outcomes is None:
        return None
    from pytest_promptfuzz.stats.regressions import Paired

    now = keyed(findings.trials, findings.names)
    return Paired.of(before.outcomes, now, alpha=ALPHA / settings.session.tests)


def gate_notes(findings: Findings, settings: EvaluationSettings, before: Before) -> list[Note]:
    """That the verdict is of one trial; why a test whose gate is ``no-worse`` is not held against the run before."""
    if settings.only is not None:
        return [Note.of("evaluations:only-one-trial", trial=settings.only)]
    if settings.contract.verdict.gate != "no-worse":
        return []
    found, store = paired_of(findings, settings, before), before.store
    if found is None:
        return [Note.of("evaluations:no-run-before", store=store)]
    if not found.pairs:
        return [Note.of("evaluations:no-trial-before", store=store)]
    if not tells(found):
        return [Note.of("evaluations:too-few-pairs", pairs=found.pairs)]
    return []


# What the trials say, and the result made of it.


class Ruling(NamedTuple):
    """What the trials of an evaluation say, and what follows.

    Attributes:
        judgement: What follows.
        trials: All of them, in the order of the plan, with those that were not needed.
        relation: The one that the score is of.
        scored: The trials under it.
        added: Those of the controls that the test does not name, which count for nothing else.
        by_relation: All trials by relation.
        by_own: The same without the added ones.
        sampled: What the score was made of.
        paired: The trials beside those of a run before, for the gate ``no-worse``.
    """

    judgement: Judgement
    trials: Sequence[Trial]
    relation: Relation
    scored: Sequence[Trial]
    added: Sequence[Trial]
    by_relation: Mapping[str, Group]
    by_own: Mapping[str, Group]
    sampled: Sampled
    paired: Paired | None


def ruled(findings: Findings, settings: EvaluationSettings, before: Before) -> Ruling:
    """What the trials that were made so far say, and what follows."""
    contract, gate, evidence = settings.contract, settings.contract.verdict, findings.evidence
    trials = in_order(findings.trials, findings.ended, contract.plan.samples)
    controls = {mutation.id for case in findings.ended for mutation in case.controls}
    by_relation = _groups(trials, lambda trial: (trial.mutation.relation,))
    own = [trial for trial in trials if trial.mutation.id not in controls]
    added = [trial for trial in trials if trial.mutation.id in controls]
    by_own = _groups(own, lambda trial: (trial.mutation.relation,)) if added else by_relation
    relation = _judged(by_own)
    scored = [trial for trial in own if trial.mutation.relation == relation]
    counts = Counts.of([trial.outcome for trial in scored])
    sampled = _sampled(scored, credited(findings.asked, evidence), evidence)
    sampled = sampled._replace(correction=judge_correction(scored, relation, contract.comparison))
    paired = paired_of(findings, settings, before)
    judgement = findings.overruled or _not_exercised(scored)
    if judgement is None:
        judgement = decide_at(
            gate.gate,
            counts if findings.certain else replace(counts, not_needed=0),
            gate.threshold,
            max_deviations=gate.max_deviations,
            evidence=evidence if relation == "invariance" else ALONE,
            sampled=sampled,
            paired=paired,
        )
        # A brittle prompt has shown that its test notices changes.
        if judgement.verdict == "pass" or relation == "must-change":
            judgement = insensitive(relation, own, gate.threshold, evidence.floor) or judgement
        if judgement.verdict == "pass" and "must-change" not in by_own and settings.only is None:
            judgement = no_control(contract.plan) or judgement
        if judgement.verdict == "pass":
            judgement = insensitive_anyway(added, own) or judgement
    judgement = _with_unasked(_for_the_budget(judgement, scored), counts)
    return Ruling(judgement, trials, relation, scored, added, by_relation, by_own, sampled, paired)


def concluded(
    ruling: Ruling, findings: Findings, settings: EvaluationSettings, ledger: RunLedger
) -> Robustness:
    """The result of an evaluation.

    Args:
        ruling: What its trials say.
        findings: What else it came to.
        settings: Its own.
        ledger: What its runs took, and what the reader must know of them.
    """
    contract, evidence, judgement = settings.contract, findings.evidence, ruling.judgement
    counts = Counts.of([trial.outcome for trial in ruling.scored])
    score = robustness(counts)
    low, high = bounds(counts)
    baselines = tuple(each.value for each in findings.cases)
    names = tuple(findings.names)
    spent = ledger.spent + _saved_by(ruling.trials, findings.ended)
    return Robustness(
        score=None if score is None else float(score),
        bounds=(float(low), float(high)),
        threshold=float(contract.verdict.threshold),
        adjusted_score=None if evidence.adjusted is None else float(evidence.adjusted),
        noise=evidence,
        interval=ruling.sampled.interval(),
        gate=contract.verdict.gate,
        paired=ruling.paired,
        outcomes=counts,
        by_dimension=_groups(ruling.scored, lambda trial: (trial.mutation.dimension,)),
        by_operator=_groups(ruling.scored, _operators),
        trials=tuple(ruling.trials),
        verdict=judgement.verdict,
        reason=judgement.reason,
        explanation=explained(judgement),
        relation=ruling.relation,
        by_relation=ruling.by_relation,
        baselines=baselines,
        cases=names if any(names) else (),
        spent=spent,
        cost=spent.cost,
        target=settings.target,
        model=ledger.model,
        task=findings.task,
        oracle_only=findings.oracle_only,
        seed=contract.plan.seed,
        planned=contract.plan.mutations,
        notes=_notes(ruling, findings, ledger.notes, contract.comparison.ignore),
    )


def _notes(
    ruling: Ruling, findings: Findings, notes: Iterable[Note | str], ignore: Sequence[str]
) -> tuple[str, ...]:
    """What the reader must know, each sentence once."""
    ended, values = findings.ended, [each.value for each in findings.cases]
    insensitive_ = ruling.judgement.reason == "insensitive"
    found: list[Note | str] = [
        *_excused(ruling.judgement, ruling.paired),
        *varying(ended, findings.names, findings.evidence),
        *_unmatched(ruling.trials),
        *notes,
        *lost_by(ended, proven=findings.evidence.significant),
        *_left_out(ignore, ended, ruling.trials),
        *_apart(ruling.relation, ruling.by_own),
        *([] if insensitive_ else control_notes(ruling.added, values)),
    ]
    return tuple(dict.fromkeys(map(sentence, found)))


def _unmatched(trials: Iterable[Trial]) -> list[Note]:
    """The note on trials whose answers could not be matched with the baseline's."""
    found = [trial.comparison for trial in trials if trial.comparison is not None]
    return matching_notes(found) if any(each.reason == NOT_MATCHED for each in found) else []


def _sampled(
    trials: Sequence[Trial], credited: Mapping[str, tuple[str, float]], evidence: RepeatEvidence
) -> Sampled:
    """What the score was made of: with all unmutated answers where there are several, else with the first."""
    asked: dict[str, list[Trial]] = {}
    for trial in trials:
        asked.setdefault(trial.mutation.id, []).append(trial)
    tenths = {
        name: [CREDITS[trial.outcome] for trial in own if trial.outcome in CREDITS]
        for name, own in asked.items()
    }
    clusters = {name: cluster(own[0].mutation) for name, own in asked.items()}
    adjusted = len(credited) > 1 and bool(evidence.floor)
    credits_ = (
        dict(credited)
        if adjusted
        else {name: (clusters[name], sum(own) / len(own) / 10) for name, own in tenths.items() if own}
    )
    return Sampled(
        list(credits_.values()),
        tuple(1 - len(tenths[name]) / len(asked[name]) for name in credits_),
        tuple(clusters[name] for name in asked if name not in credits_),
        evidence.floor if adjusted else None,
        evidence.baselines,
        len({trial.case for trial in trials}),
    )


def _with_unasked(judgement: Judgement, counts: Counts) -> Judgement:
    if not counts.not_needed or judgement.verdict not in {"pass", "brittle"}:
        return judgement
    return judgement.besides(UnaskedGround(counts.not_needed, counts.total + counts.not_needed))


def _excused(judgement: Judgement, paired: Paired | None) -> list[str]:
    """Why a test passes whose raw score is too low, or whose trials became worse: its table row would not say."""
    told = paired is not None and tells(paired) and paired.worse > paired.better
    excused = judgement.reason in {"adjusted-reached", "not-repeated"} or (
        told and judgement.verdict == "pass"
    )
    return [explained(judgement)] if excused else []


def says_brittle(
    trials: Sequence[Trial],
    settings: VerdictSettings,
    evidence: RepeatEvidence,
    *,
    waiting: int = 0,
    paired: Paired | None = None,
) -> bool:
    """Whether trials and evidence say "brittle", whatever ``waiting`` trials show; before it is said, more is asked."""
    scored = [trial for trial in trials if trial.mutation.relation == "invariance"]
    if not scored or _not_exercised(scored):
        return False
    counts = replace(Counts.of([trial.outcome for trial in scored]), not_needed=waiting)
    known = decide_at(
        settings.gate,
        counts,
        settings.threshold,
        max_deviations=settings.max_deviations,
        evidence=evidence,
        paired=paired,
    )
    return known.verdict == "brittle"


def _for_the_budget(judgement: Judgement, trials: Iterable[Trial]) -> Judgement:
    """The judgement, with the budget named where it is what kept it from being another."""
    said = next((t.error.message for t in trials if t.error is not None and t.error.kind == "budget"), None)
    if said is None or judgement.reason != "errors-decide":
        return judgement
    return judgement._replace(reason="budget-spent").besides(said)


def _judged(by_relation: Mapping[str, Group]) -> Relation:
    """The relation that the score is of: invariance; in a plan without it, the worst kept of those there are."""
    if "invariance" in by_relation or not by_relation:
        return "invariance"
    there: list[Relation] = [each for each in RELATIONS if each in by_relation]
    return min(there, key=lambda each: (by_relation[each].score or 0.0, each == "must-change"))


def _apart(relation: str, by_relation: Mapping[str, Group]) -> list[Note]:
    """What the other relations came to, which is not in the score."""
    return [
        Note.of("evaluations:not-in-the-score", relation=name, outcomes=group.counts.as_dict())
        for name, group in by_relation.items()
        if name != relation
    ]


def _not_exercised(trials: Sequence[Trial]) -> Judgement | None:
    trials = [trial for trial in trials if trial.outcome != "not-needed"]
    missed = [trial for trial in trials if trial.error is not None and trial.error.kind == "not-exercised"]
    if not trials or len(missed) < len(trials):
        return None
    message = missed[0].error.message if missed[0].error else ""
    note = Note.of("evaluations:nothing-reached", message=message)
    return Judgement.noted("inconclusive", "not-exercised", note)


def _operators(trial: Trial) -> list[str]:
    """Names without versions: one plan holds one version of each."""
    return [each.partition("@")[0] for each in trial.mutation.operators]


def _groups(trials: Sequence[Trial], names: Callable[[Trial], Iterable[str]]) -> dict[str, Group]:
    members: dict[str, list[Trial]] = {}
    for trial in trials:
        for name in names(trial):
            members.setdefault(name, []).append(trial)
    return Group.each({name: members[name] for name in sorted(members)})


def in_order(trials: Sequence[Trial], cases: Sequence[Case], samples: int) -> list[Trial]:
    """Trials in the order of the plan, with those that were not needed in their places."""
    skipped = [
        Trial(mutation, "not-needed", case=case.number, sample=sample)
        for case in cases
        if case.asked is not None
        for mutation in case.asked.waiting
        for sample in range(samples)
    ]
    places = {
        (case.number, mutation.id): place
        for case in cases
        for place, mutation in enumerate((*(case.planned or ()), *case.controls))
    }
    made: list[Trial] = []
    for case in cases:
        made += told_undone([trial for trial in trials if trial.case == case.number])
    return sorted(
        [*made, *skipped],
        key=lambda trial: (trial.case, places.get((trial.case, trial.mutation.id), 0), trial.sample),
    )


def _saved_by(trials: Sequence[Trial], cases: Sequence[Case]) -> Spent:
    """The calls of the trials that were not needed, if each had made as many as its baseline."""
    calls = {case.number: case.calls for case in cases}
    return Spent(saved=sum(calls.get(trial.case, 0) for trial in trials if trial.outcome == "not-needed"))


# Paths of ``ignore=`` that leave nothing out: written wrongly, they would be believed to do their work.


def _left_out(paths: Sequence[str], cases: Iterable[Case], trials: Sequence[Trial]) -> list[Note]:
    """The note on the paths that led nowhere, in a request or in a value that is compared.

    None where all did, or where nothing was there to look at.
    """
    nowhere, looked = list(paths), False
    for case in cases:
        if not nowhere:
            return []
        places: list[Any] = [each.request for each in case.watches.fresh.answers()]
        for value in (case.value, *(trial.value for trial in trials if trial.case == case.number)):
            if value is not None:
                places += [value, *_json_in(value)]
        looked = looked or bool(places)
        nowhere = [path for path in nowhere if all(without(each, path) == each for each in places)]
    return [Note.of("evaluations:ignored-nothing", paths=nowhere)] if nowhere and looked else []


def _json_in(value: Any) -> list[Any]:
    """The JSON that a text is or holds, read as for comparison."""
    text = value["text"] if isinstance(value, dict) and value.keys() == {"text", "tool_calls"} else value
    if not isinstance(text, str):
        return []
    read = data_text.parse(text)
    if read is data_text.MISSING:
        read = data_text.embedded(text)
    return [] if read is data_text.MISSING else [read]


# What models did to compare a whole test's answers: judges' benches and all they said put together, embeddings.


_RATINGS = {"equivalent": 3, "minor": 2, "deviation": 1}


def spent_embedding(cases: Iterable[Case], notes: list[Note | str]) -> Spent:
    """What the calls for embeddings of a test took; what they have to say is added to the notes."""
    spent = Spent()
    for case in cases:
        if case.watches.embedding is not None:
            spent += spent_on(case.watches.embedding)
            notes.extend(case.watches.embedding.notes)
    return spent


def judge_correction(
    scored: Sequence[Trial], relation: Relation, settings: ComparisonSettings
) -> JudgeCorrection | None:
    """What the judge's measured errors do to a score; ``None`` where it was not measured, or decided none of it."""
    measured = settings.judge_agreement
    if (
        measured is None or relation != "invariance"
    ):  # people rate whether answers say the same, and nothing else
        return None
    from pytest_promptfuzz.stats.misclassification import correction_of

    ratings: Counter[int] = Counter()
    others: list[float] = []
    for trial in scored:
        if trial.outcome not in CREDITS:
            continue
        if trial.comparison is not None and trial.comparison.reason == "judge":
            ratings[_RATINGS[trial.outcome]] += 1
        else:
            others.append(CREDITS[trial.outcome] / EQUIVALENT_CREDIT)
    return correction_of(ratings, others, measured.errors)


def with_judging(result: Robustness, cases: Sequence[Case], settings: ComparisonSettings) -> Robustness:
    """A result with what its judge did, and what that took.

    Args:
        result: Without.
        cases: Those that have begun.
        settings: How answers are compared.
    """
    benches = {each.number: each.bench for each in cases if each.bench is not None}
    if settings.judge is None or not benches:
        return result
    from pytest_promptfuzz.judging.ratings import Rating
    from pytest_promptfuzz.stats.agreement import Judging

    subjects = [each.value for each in cases]
    quality, ungraded = (
        _quality(result.trials, benches, settings.quality, subjects) if settings.quality else (None, 0)
    )
    said = [each for bench in benches.values() for each in bench.said.values()]
    ratings = [each for each in said if isinstance(each, Rating)]
    judging = Judging(
        judge=settings.judge.name,
        ratings=dict(Counter(each.rating for each in ratings)),
        failed=len(said) - len(ratings),
        orders=_between_orders(ratings),
        repeats=_between_repeats(ratings),
        quality=quality,
        ungraded=ungraded,
        correction=judge_correction(
            [each for each in result.trials if each.mutation.relation == result.relation],
            result.relation,
            settings,
        ),
    )
    spent = sum((bench.spent for bench in benches.values()), Spent())
    notes = [sentence(note) for bench in benches.values() for note in bench.notes]
    if judging.pairs or judging.failed:
        notes.append(sentence(Note.of("judges:rated", judging=judging)))
    if judging.correction is not None:
        corrected = Note.of(
            "judges:corrected",
            judge=judging.judge,
            found=judging.correction,
            interval=result.interval and (result.interval.low, result.interval.high),
        )
        notes.append(sentence(corrected))
    if judging.quality is not None:
        notes.append(sentence(Note.of("judges:graded", found=judging.quality, ungraded=judging.ungraded)))
    close = getattr(settings.judge, "close", None)
    if close is not None:
        close()
    both = result.spent + spent
    return replace(
        result,
        judging=judging,
        spent=both,
        cost=both.cost,
        notes=tuple(dict.fromkeys([*result.notes, *notes])),
    )


def _quality(
    trials: Iterable[Trial],
    benches: Mapping[int, Bench],
    measures: Sequence[str],
    subjects: Sequence[object],
) -> tuple[Deltas | None, int]:
    """The aggregates over the trials that must leave the answer as it is, and how many had to be left out."""
    from pytest_promptfuzz.judging.ratings import Grader
    from pytest_promptfuzz.stats.agreement import Deltas, Graded

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
    from pytest_promptfuzz.stats.agreement import Agreement

    pairs = [
        (one, two)
        for each in ratings
        if len(each.orders) == 2
        for one, two in zip(*each.orders, strict=False)
    ]
    return Agreement.of(pairs) if pairs else None


def _between_repeats(ratings: Iterable[Rating]) -> Agreement | None:
    from pytest_promptfuzz.stats.agreement import Agreement

    pairs = [pair for each in ratings for order in each.orders for pair in combinations(order, 2)]
    return Agreement.of(pairs) if pairs else None
