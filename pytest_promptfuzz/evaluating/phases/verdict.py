"""From trials to a result: the score over the trials of one relation, its groups, the verdict."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.comparing.formats.data_text import plain
from pytest_promptfuzz.errors import PartError, TargetError, UsageError, nearest, quoted
from pytest_promptfuzz.evaluating.call_matching import ParallelAnswers, calls_of
from pytest_promptfuzz.evaluating.judge import spent_on
from pytest_promptfuzz.evaluating.phases.controls import insensitive, insensitive_anyway, no_control, said_of
from pytest_promptfuzz.judging.ratings import Grader, Rating
from pytest_promptfuzz.mutations.engine.mutation import RELATIONS
from pytest_promptfuzz.results.robustness import Group, Robustness
from pytest_promptfuzz.results.trials import Spent, cluster
from pytest_promptfuzz.stats.agreement import (
    ROBUST_BUT_WRONG,
    Agreement,
    Deltas,
    Gold,
    GoldMarks,
    Graded,
    Judging,
)
from pytest_promptfuzz.stats.repeats import ALONE
from pytest_promptfuzz.stats.scores import CREDITS, Counts, bounds, robustness
from pytest_promptfuzz.stats.verdict import Judgement, Sampled, decide_at, tells

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from pytest_promptfuzz.evaluating.contract import Contract
    from pytest_promptfuzz.evaluating.job import Case
    from pytest_promptfuzz.evaluating.judge import Bench, TrialJudge
    from pytest_promptfuzz.evaluating.session import TestWatches
    from pytest_promptfuzz.mutations.engine.mutation import Relation
    from pytest_promptfuzz.results.trials import Trial
    from pytest_promptfuzz.running.run import Run
    from pytest_promptfuzz.stats.regressions import Paired
    from pytest_promptfuzz.stats.repeats import RepeatEvidence


_KEPT = {
    "deviation": "broken",
    "equivalent": "kept",
    "minor": "kept but for minor differences",
    "error": "in error",
}
_CHANGED = {"equivalent": "changed as it must", "deviation": "unchanged", "error": "in error"}


def conclude(
    trials: Sequence[Trial],
    contract: Contract,
    *,
    overruled: Judgement | None = None,
    evidence: RepeatEvidence = ALONE,
    credited: Mapping[str, tuple[str, float]] | None = None,
    controls: Collection[str] = (),
    baselines: Iterable[Any] = (),
    cases: Iterable[str] = (),
    spent: Spent,
    target: str = "",
    model: str = "",
    task: str = "",
    oracle_only: bool = False,
    alone: bool = False,
    certain: bool = True,
    paired: Paired | None = None,
    notes: Iterable[str] = (),
) -> Robustness:
    """The result of one evaluation.

    Args:
        trials: Every trial of the plan.
        contract: The settings.
        overruled: A judgement that stands whatever the trials say (a baseline that did not hold).
        evidence: What repeated answers show.
        credited: By mutation, its operators and mean credit with all unmutated answers, where the floor is known.
        controls: IDs of the controls that the test does not name, which count for nothing else.
        baselines: The plain baseline value of each case.
        cases: The name of each case, where inputs have names.
        spent: Of all runs, baseline and control included.
        target: The target's name.
        model: The model as answered.
        task: The profile used.
        oracle_only: Whether nothing was compared.
        certain: Whether trials that were not needed could not have changed the outcomes' verdict.
        alone: Whether one trial of the plan was picked out, and the others, controls included, left out.
        paired: The trials beside those of a run before, for the gate ``no-worse``.
        notes: For the reader.
    """
    by_relation = _groups(trials, lambda trial: (trial.mutation.relation,))
    own = [trial for trial in trials if trial.id not in controls]
    added = [trial for trial in trials if trial.id in controls]
    by_own = _groups(own, lambda trial: (trial.mutation.relation,)) if added else by_relation
    relation = _judged(by_own)
    scored = [trial for trial in own if trial.mutation.relation == relation]
    baselines = tuple(baselines)
    counts = Counts.of(trial.outcome for trial in scored)
    score = robustness(counts)
    low, high = bounds(counts)
    judgement = overruled or _not_exercised(scored)
    sampled = _sampled(scored, credited or {}, evidence)
    if judgement is None:
        judgement = decide_at(
            contract.gate,
            counts if certain else replace(counts, not_needed=0),
            contract.threshold,
            max_deviations=contract.max_deviations,
            evidence=evidence if relation == "invariance" else ALONE,
            sampled=sampled,
            paired=paired,
        )
        # A brittle prompt has shown that its test notices changes.
        if judgement.verdict == "pass" or relation == "must-change":
            judgement = insensitive(relation, own, contract.threshold, evidence.floor) or judgement
        if judgement.verdict == "pass" and "must-change" not in by_own and not alone:
            judgement = no_control(contract) or judgement
        if judgement.verdict == "pass":
            judgement = insensitive_anyway(added, own) or judgement
    judgement = _with_unasked(_for_the_budget(judgement, scored), counts)
    return Robustness(
        score=None if score is None else float(score),
        bounds=(float(low), float(high)),
        threshold=float(contract.threshold),
        adjusted_score=None if evidence.adjusted is None else float(evidence.adjusted),
        noise=evidence,
        interval=sampled.interval(),
        gate=contract.gate,
        paired=paired,
        outcomes=counts,
        by_dimension=_groups(scored, lambda trial: (trial.mutation.dimension,)),
        by_operator=_groups(scored, _operators),
        trials=tuple(trials),
        verdict=judgement.verdict,
        reason=judgement.reason,
        explanation=judgement.explanation,
        relation=relation,
        by_relation=by_relation,
        baselines=baselines,
        cases=tuple(cases),
        spent=spent,
        cost=spent.cost,
        target=target,
        model=model,
        task=task,
        oracle_only=oracle_only,
        seed=contract.seed,
        planned=contract.mutations,
        notes=tuple(
            dict.fromkeys(
                [
                    *_excused(judgement, paired),
                    *notes,
                    *_apart(relation, by_own),
                    *([] if judgement.reason == "insensitive" else said_of(added, baselines)),
                ]
            )
        ),
    )


def _sampled(
    trials: Sequence[Trial], credited: Mapping[str, tuple[str, float]], evidence: RepeatEvidence
) -> Sampled:
    """What the score was made of: with all unmutated answers where there are several, else with the first."""
    asked: dict[str, list[Trial]] = {}
    for trial in trials:
        asked.setdefault(trial.id, []).append(trial)
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
    trials = counts.total + counts.not_needed
    said = f"The verdict was certain without {counts.not_needed} of {trials} trials."
    return replace(judgement, explanation=f"{judgement.explanation} {said}")


def _excused(judgement: Judgement, paired: Paired | None) -> list[str]:
    """Why a test passes whose raw score is too low, or whose trials became worse: its table row would not say."""
    told = paired is not None and tells(paired) and paired.worse > paired.better
    excused = judgement.reason in {"adjusted-reached", "not-repeated"} or (
        told and judgement.verdict == "pass"
    )
    return [judgement.explanation] if excused else []


def says_brittle(
    trials: Sequence[Trial],
    contract: Contract,
    evidence: RepeatEvidence,
    *,
    waiting: int = 0,
    paired: Paired | None = None,
) -> bool:
    """Whether trials and evidence say "brittle", whatever ``waiting`` trials show; before it is said, more is asked."""
    scored = [trial for trial in trials if trial.mutation.relation == "invariance"]
    if not scored or _not_exercised(scored):
        return False
    counts = replace(Counts.of(trial.outcome for trial in scored), not_needed=waiting)
    known = decide_at(
        contract.gate,
        counts,
        contract.threshold,
        max_deviations=contract.max_deviations,
        evidence=evidence,
        paired=paired,
    )
    return known.verdict == "brittle"


def _for_the_budget(judgement: Judgement, trials: Iterable[Trial]) -> Judgement:
    """The judgement, with the budget named where it is what kept it from being another."""
    said = next((t.error.message for t in trials if t.error is not None and t.error.kind == "budget"), None)
    if said is None or judgement.reason != "errors-decide":
        return judgement
    return Judgement("inconclusive", "budget-spent", f"{judgement.explanation} {said}")


def _judged(by_relation: Mapping[str, Group]) -> Relation:
    """The relation that the score is of: invariance; in a plan without it, the worst kept of those there are."""
    if "invariance" in by_relation or not by_relation:
        return "invariance"
    there: list[Relation] = [each for each in RELATIONS if each in by_relation]
    return min(there, key=lambda each: (by_relation[each].score or 0.0, each == "must-change"))


def _apart(relation: str, by_relation: Mapping[str, Group]) -> list[str]:
    """What the other relations came to, which is not in the score."""
    notes = []
    for name, group in by_relation.items():
        if name == relation:
            continue
        words = _CHANGED if name == "must-change" else _KEPT
        counts = ", ".join(
            f"{amount} {words.get(outcome, outcome)}"
            for outcome, amount in group.counts.as_dict().items()
            if amount
        )
        notes.append(f"not in the score: {counts} under the relation {name!r}")
    return notes


def _not_exercised(trials: Sequence[Trial]) -> Judgement | None:
    trials = [trial for trial in trials if trial.outcome != "not-needed"]
    missed = [trial for trial in trials if trial.error is not None and trial.error.kind == "not-exercised"]
    if not trials or len(missed) < len(trials):
        return None
    message = missed[0].error.message if missed[0].error else ""
    return Judgement("inconclusive", "not-exercised", f"No mutation reached a model. {message}")


def _operators(trial: Trial) -> list[str]:
    """Names without versions: one plan holds one version of each."""
    return [each.partition("@")[0] for each in trial.mutation.operators]


def _groups(trials: Sequence[Trial], names: Callable[[Trial], Iterable[str]]) -> dict[str, Group]:
    members: dict[str, list[Trial]] = {}
    for trial in trials:
        for name in names(trial):
            members.setdefault(name, []).append(trial)
    return {name: Group.of(members[name]) for name in sorted(members)}


# What models did to compare a whole test's answers: judges' benches and all they said put together, embeddings.


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
    from pytest_promptfuzz.evaluating.judge import Bench

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


# Gold answers (``expected=``): read for each input, and held against what was answered.


_PARALLEL = (
    "expected= is one answer, and the test returns nothing and makes several calls at once, so nothing was compared "
    "with it. Return the answer that is expected"
)


def read_expected(expected: Any, inputs: Any, where: str) -> tuple[Any, ...]:
    """The gold answer of each input, as plain data; ``None`` for those without.

    Args:
        expected: One answer, for a test without inputs or for all of them; else a list, or a mapping by ID, as the
            inputs are given.
        inputs: As given: a list, a mapping, or ``None`` for none.
        where: The test, for messages.

    Raises:
        UsageError: It does not fit the inputs, or cannot be compared.
    """
    count = 1 if inputs is None else len(inputs)
    if inputs is not None and isinstance(expected, Mapping):
        return tuple(_of_mapping(expected, inputs, where))
    if inputs is not None and isinstance(expected, list | tuple):
        if len(expected) != count:
            raise UsageError(
                f"{where}: expected= holds {_counted(len(expected), 'gold answer')} for {_counted(count, 'input')}; "
                "give one for each, None where there is none."
            )
        return tuple(_plain(each, where) for each in expected)
    return (_plain(expected, where),) * count


def _counted(amount: int, noun: str) -> str:
    return f"{amount} {noun}" if amount == 1 else f"{amount} {noun}s"


def _of_mapping(expected: Mapping[Any, Any], inputs: Any, where: str) -> list[Any]:
    if not isinstance(inputs, Mapping):
        raise UsageError(
            f"{where}: expected= is a mapping, and inputs= a list; give a list of answers, one for each input."
        )
    for name in expected:
        if name not in inputs:
            raise UsageError(
                f"{where}: expected= has no input {name!r}. {nearest(str(name), map(str, inputs))}"
            )
    return [_plain(expected.get(name), where) for name in inputs]


def _plain(value: Any, where: str) -> Any:
    try:
        return plain(value)
    except UsageError as error:
        raise UsageError(f"{where}: expected= cannot be compared: {error}") from None


def with_gold(result: Robustness, cases: Iterable[Case]) -> Robustness:
    """A result with how often its answers are as expected, and a note where a test that passes is not right.

    Args:
        result: Without.
        cases: Those that have begun; only some may have a gold answer.
    """
    known = [each for each in cases if each.expected is not None]
    if not known:
        return result
    marked = [found for each in known if (found := _marked(each, result.trials, result.relation)) is not None]
    gold = Gold.of(marked)
    said = [_said(result, gold)] if result.verdict == "pass" else []
    if any(_is_parallel(each) for each in known):
        said = [_PARALLEL]
    return replace(result, gold=gold, notes=(*filter(None, said), *result.notes))


def _is_parallel(case: Case) -> bool:
    return case.asked is not None and isinstance(case.asked.baseline.subject, ParallelAnswers)


def _marked(case: Case, trials: Iterable[Trial], relation: str) -> GoldMarks | None:
    """The answers of a case, each held against its gold answer; ``None`` where nothing was answered."""
    asked = case.asked
    if asked is None:
        return None
    answers = asked.answers
    first = asked.baseline.value  # known even where nothing is compared
    values = [first, *(answers.value(number) for number in answers.matrix.baseline[1:])]
    mutated = [
        each.value
        for each in trials
        if each.case == case.number
        and each.mutation.relation == relation == "invariance"
        and each.outcome not in {"error", "not-needed"}
    ]
    told: dict[str, bool | None] = {}

    def right(value: Any) -> bool | None:
        if _is_parallel(case):
            return None
        key = json.dumps(value, sort_keys=True)
        if key not in told:
            told[key] = _right(asked.judge, case.expected, value)
        return told[key]

    return GoldMarks(
        case.number,
        case.expected,
        [(right(value), value) for value in values if value is not None],
        [right(value) for value in mutated if value is not None],
    )


def _right(judge: TrialJudge, expected: Any, value: Any) -> bool | None:
    """Whether an answer is equivalent to the gold one, as answers are compared with the baseline's."""
    if isinstance(value, str) and not isinstance(expected, str):
        expected = json.dumps(expected, ensure_ascii=False)
    try:
        outcome = judge.without_schema().compare(expected, value).outcome
    except (PartError, TargetError):
        return None
    return None if outcome == "undecided" else outcome == "equivalent"


def _said(result: Robustness, gold: Gold) -> str:
    """What the reader of a test that passes should know; empty where all is right."""
    if gold.accuracy is None:
        return "expected= is given, and no installed comparison can tell whether the answers are as expected"
    if gold.accuracy == 1 and gold.mutated in {1, None}:
        return ""
    shares = f"of the answers to the unmutated prompt {gold.accuracy:.2f} are as expected"
    if gold.mutated is not None:
        shares += f", under mutation {gold.mutated:.2f}"
    if gold.accuracy >= result.threshold:
        return shares
    return f"{ROBUST_BUT_WRONG}: {shares}{wrong_of(gold, result.cases)}"


def wrong_of(gold: Gold, cases: Sequence[str]) -> str:
    """The first wrong answer, and how many more there are."""
    if not gold.wrong:
        return ""
    first, more = gold.wrong[0], len(gold.wrong) - 1
    name = f"input {cases[first.case]}: " if cases and cases[first.case] else ""
    rest = f" and {more} more" if more else ""
    return f" ({name}{_short(first.answered)} instead of {_short(first.expected)}{rest})"


def _short(value: Any) -> str:
    return quoted(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
