"""From trials to a result: the score over the trials of one relation, its groups, the verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.evaluating.default_controls import insensitive_anyway, said_of
from pytest_promptfuzz.evaluating.sensitivity import insensitive, no_control
from pytest_promptfuzz.mutations.mutation import RELATIONS
from pytest_promptfuzz.scoring.gates import decide_at, tells
from pytest_promptfuzz.scoring.matrix import CREDITS
from pytest_promptfuzz.scoring.repeats import ALONE
from pytest_promptfuzz.scoring.robustness import Group, Robustness
from pytest_promptfuzz.scoring.sampled import Sampled
from pytest_promptfuzz.scoring.score import Counts, bounds, robustness
from pytest_promptfuzz.scoring.trial import cluster
from pytest_promptfuzz.scoring.verdict import Judgement

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from pytest_promptfuzz.evaluating.contract import Contract
    from pytest_promptfuzz.mutations.mutation import Relation
    from pytest_promptfuzz.scoring.paired import Paired
    from pytest_promptfuzz.scoring.repeats import Evidence
    from pytest_promptfuzz.scoring.trial import Spent, Trial


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
    evidence: Evidence = ALONE,
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
    trials: Sequence[Trial], credited: Mapping[str, tuple[str, float]], evidence: Evidence
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
    evidence: Evidence,
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
