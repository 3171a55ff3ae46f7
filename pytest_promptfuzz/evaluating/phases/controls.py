"""The controls: runs that must show the same, and mutations that must change the answer.

The repeat run is the unmutated body once more, given the same answers: what differs is not the prompt's doing.
"""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.evaluating.contract import described
from pytest_promptfuzz.evaluating.judge import shown, spent_by, subject_of
from pytest_promptfuzz.mutations.engine.planner import plan
from pytest_promptfuzz.mutations.engine.selection import wanted
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.providers.requests import Response
from pytest_promptfuzz.results.trials import Spent
from pytest_promptfuzz.running.run import Step, asks_less, asks_more
from pytest_promptfuzz.stats.verdict import ControlsGround, Judgement
from pytest_promptfuzz.text.json_paths import json_diff, without
from pytest_promptfuzz.wire.calls import NOT_RECORDED

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence

    from pytest_promptfuzz.evaluating.cases import Case, CaseAnswers, Epoch, RunLedger
    from pytest_promptfuzz.evaluating.contract import PlanSettings
    from pytest_promptfuzz.evaluating.judge import Baseline, TrialJudge
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.results.trials import Trial
    from pytest_promptfuzz.running.run import Run


class Control(NamedTuple):
    """What a repeat run showed.

    Attributes:
        overruled: Why trials would be in vain; ``None`` where they would not.
        note: What the person must know; ``None`` where there is nothing.
        repeatable: Whether the models were asked nothing that they were not asked before.
        again: The run, where it is one more answer: a function's own calls are not seen, and so not served.
    """

    overruled: Judgement | None = None
    note: Note | None = None
    repeatable: bool = True
    again: Run | None = None


def repeat_run(
    case: Case, baseline: Baseline, judge: TrialJudge
) -> Generator[list[Step], list[Run], Control]:
    """Run the unmutated body of a case once more, given the same answers.

    Args:
        case: It.
        baseline: What is repeated.
        judge: Compares.
    """
    run = baseline.run
    # A body that only asserts on a response it is given has nothing that could change.
    if judge.body.only_checks and isinstance(run.returned, Response) and len(run.watch.calls) == 1:
        return Control()
    (control,) = yield [Step(case.prompt, case.watch(control=True), case.number)]
    return _controlled(control, baseline, judge, case)


def _controlled(control: Run, baseline: Baseline, judge: TrialJudge, case: Case) -> Control:
    """Compare the run of a repeat run with the baseline."""
    on_wire, planned = case.settings.on_wire, case.planned or ()
    own = judge.body.counts_runs and not control.watch.calls
    overruled = None if on_wire is None else on_wire.unrepeated(planned, baseline.run, control)
    if asks_more(control, baseline.run):
        note = Note.of("evaluations:asks-otherwise", messages=[each.message for each in control.watch.faults])
        return Control(overruled, note, repeatable=False)
    known: Note | None = None
    kept = asks_less(control, baseline.run)
    if kept:
        made, before = len(control.watch.calls), len(baseline.run.watch.calls)
        known = Note.of("evaluations:asks-less", made=made, before=before)
    raised = control.exception
    if raised is not None:
        overruled = not_repeatable(Note.of("evaluations:body-raised", raised=described(raised)))
    elif not judge.oracle_only and (control.returned is not None or not kept):
        # Without a return value the last answer is compared, and an application that keeps it asks for none.
        subject = subject_of(control, judge.where, baseline.run)
        if judge.compare(baseline.subject, subject).outcome != "equivalent":
            ignore = judge.comparison.ignore
            before_, after = without(baseline.value, ignore), without(shown(subject), ignore)
            paths = json_diff(before_, after)
            what = Note.of("evaluations:result-differs", paths=paths)
            if not own and _sorted(before_) == _sorted(after):
                overruled = not_repeatable(Note.of("evaluations:result-in-another-order"), reordered=True)
            elif not own:
                overruled = not_repeatable(what, paths)
            elif paths not in ([], ["$"]):
                known = Note.of("evaluations:result-varies", what=what, paths=paths)
    return Control(overruled, known, again=control if own else None)


def not_repeatable(what: Note, paths: Sequence[str] = (), *, reordered: bool = False) -> Judgement:
    """The repeat run differs from the baseline.

    Args:
        what: How.
        paths: The JSON paths at which its result differs.
        reordered: Whether its result is the same but for the order.
    """
    note = Note.of("evaluations:not-repeatable", what=what, paths=paths, reordered=reordered)
    return Judgement.noted("inconclusive", "not-repeatable", note)


def _sorted(value: Any) -> Any:
    """Plain data with all its lists sorted."""
    if isinstance(value, dict):
        return {name: _sorted(each) for name, each in value.items()}
    if isinstance(value, list):
        return sorted(map(_sorted, value), key=lambda each: json.dumps(each, sort_keys=True))
    return value


# The control of a plan that names none: whether the answer changes at all when the prompt asks for another one.
#
# It is asked once, of the first input, after mutations were answered, and counts for nothing else. A second one of
# another kind is asked only where the first changed nothing and every answer of the test is the same.


OPERATORS = ("answer-fixed", "answer-fixed-first")
"""Read right in at least 95 of 100 prompts that they were not written on (benchmarks/README.md), in this order."""
_NEEDED = 2  # different controls that change nothing, before a test that would pass is inconclusive


def default_controls(
    prompt: Prompt, settings: PlanSettings, *, on_user: bool = False
) -> tuple[Mutation, ...]:
    """The controls that may be asked, in order, one of each operator that finds a place.

    None where the test names its own, and none in a text that holds data alone: a model is right to take no orders from
    there.

    Args:
        prompt: Limited to what may change.
        settings: What the test asks.
        on_user: Whether the prompt is what the user's role says on the wire.
    """
    if not settings.controls or _named(settings) or on_user or _data_alone(prompt, settings):
        return ()
    made = (plan(prompt, {name: 1}, seed=settings.seed).mutations for name in OPERATORS)
    return tuple(each for mutations in made for each in mutations)


def parted(
    mutations: tuple[Mutation, ...], settings: PlanSettings
) -> tuple[tuple[Mutation, ...], tuple[Mutation, ...]]:
    """A recorded plan without the controls that the test does not name, and these."""
    if _named(settings):
        return mutations, ()
    controls = tuple(each for each in mutations if _operator(each) in OPERATORS)
    rest = tuple(each for each in mutations if each not in controls)
    return rest, controls if settings.controls else ()


def controlling(
    asked: CaseAnswers, trials: Sequence[Trial], controls: Sequence[Mutation], ledger: RunLedger
) -> Epoch:
    """The trials of the controls that are asked of a case, after its mutations; which they are is kept in the case.

    Whichever model answers them, the others' answers stay those of one model.

    Args:
        asked: What was asked of the case.
        trials: What came of its mutations. Where nothing was answered, or the budget is spent, no control is asked.
        controls: The controls that may be asked, in order.
        ledger: Takes what runs took.
    """
    case = asked.case
    found: list[Trial] = []
    asked.controlled, case.controls = True, ()
    spent = any(trial.error is not None and trial.error.kind == "budget" for trial in trials)
    if spent or all(trial.outcome == "error" for trial in trials):
        return found
    # An answer that stays the same needs no model to see it.
    judge = replace(asked.judge, bench=None, embedder=None, entailment=None)
    for mutation in controls:
        (run,) = yield [asked.control(mutation)]
        ledger.spent += spent_by(run, counts_runs=ledger.counts_runs) + Spent(controls=1)
        ledger.notes.extend(run.watch.notes)
        trial = judge.trial(run, mutation, mutation.prompt, asked.baseline, case=case.number)
        found.append(trial)
        if trial.error is None or trial.error.kind != NOT_RECORDED:
            case.controls += (mutation,)
        if trial.outcome != "deviation" or not one_constant([*trials, *found]):
            break
    return found


def one_constant(trials: Sequence[Trial]) -> bool:
    """Whether all answers are known, and one and the same."""
    answers = [each.value for each in trials if each.outcome not in {"error", "not-needed"}]
    return None not in answers and len({json.dumps(each, sort_keys=True) for each in answers}) == 1


def insensitive_anyway(controls: Sequence[Trial], trials: Sequence[Trial]) -> Judgement | None:
    """That a test would pass whatever its prompt says; ``None`` where too little shows it.

    Args:
        controls: The trials of controls that the test does not name.
        trials: All others.
    """
    unchanged = [each for each in controls if each.outcome == "deviation"]
    kinds = dict.fromkeys(_operator(each.mutation) for each in unchanged)
    if len(kinds) < _NEEDED or not one_constant([*trials, *unchanged]):
        return None
    return _insensitive(ControlsGround("constant", tuple(kinds), len(unchanged)))


def control_notes(controls: Sequence[Trial], baselines: Sequence[object]) -> list[Note]:
    """What a person must know of the controls that the test does not name; nothing where the answer changed.

    Args:
        controls: Their trials.
        baselines: The plain baseline value of each case.
    """
    notes = []
    unchanged = [each for each in controls if each.outcome == "deviation"]
    if unchanged:
        first, code = unchanged[0], "evaluations:controls-unchanged"
        if first.comparison is None and first.value is None:
            code = "evaluations:controls-passed"
        elif first.comparison is None and first.value not in baselines[first.case : first.case + 1]:
            code = "evaluations:controls-unnoticed"
        operators = [*dict.fromkeys(_operator(each.mutation) for each in unchanged)]
        notes.append(Note.of(code, operators=operators, amount=len(unchanged)))
    notes += [
        Note.of(
            "evaluations:control-unanswered", operator=_operator(each.mutation), message=each.error.message
        )
        for each in controls
        if each.error is not None
    ]
    return notes


def _named(settings: PlanSettings) -> bool:
    """Whether the test names a control itself."""
    want = wanted(settings.mutations, settings.operators)
    relations = [each for stratum in want.strata for each in stratum.relations]
    return "must-change" in (*relations, *(each.relation for each in want.ready))


def _data_alone(prompt: Prompt, settings: PlanSettings) -> bool:
    """Whether what may change holds no instruction: an input, or what the user says below a system message."""
    part = settings.part
    whats = {part.everywhere} if part.everywhere else {what for _, what in part.roles}
    roles = {role for role, _ in part.roles}
    below = roles == {"user"} and prompt.is_chat and any(each["role"] == "system" for each in prompt.messages)
    return whats == {"input"} or below


def _operator(mutation: Mutation) -> str:
    return mutation.operators[0].partition("@")[0]


# Whether a test can fail: controls change what the answer depends on, and the answers must show it.


def insensitive(
    relation: str, trials: Iterable[Trial], threshold: Fraction, floor: Fraction | None
) -> Judgement | None:
    """That a test would pass although the prompt says something else; ``None`` where it would not, or nothing shows it.

    A control that changes the answer proves that the test can fail. Over several inputs, or answers, it must change so
    many that the rest do not reach the threshold; what the model itself changes from answer to answer is no change.

    Args:
        relation: The one that the score is of.
        trials: All of them.
        threshold: What the score must reach.
        floor: How far the unmutated prompt agrees with itself; ``None`` where that is not known.
    """
    changed: dict[str, list[bool]] = {}
    for trial in trials:
        if trial.mutation.relation == "must-change" and trial.outcome in {"equivalent", "deviation"}:
            changed.setdefault(trial.id, []).append(trial.outcome == "equivalent")
    every = [each for one in changed.values() for each in one]
    if all(every):
        return None
    if not any(every):
        return _insensitive(ControlsGround("none-changed", asked=len(every)))
    if relation == "must-change":
        if Fraction(sum(every), len(every)) >= threshold:
            return None
        return _insensitive(ControlsGround("few-changed", asked=len(every), changed=sum(every)))
    # What a control leaves unchanged is the score that it would have, were it an ordinary mutation.
    score, best = min(
        (min(Fraction(1), Fraction(one.count(False), len(one)) / (floor or 1)), one)
        for one in changed.values()
    )
    if not threshold or score < threshold:
        return None
    noisy = floor is not None and floor < 1
    return _insensitive(
        ControlsGround(
            "too-few-changed", asked=len(best), changed=sum(best), threshold=threshold, noisy=noisy
        )
    )


def _insensitive(ground: ControlsGround) -> Judgement:
    return Judgement("inconclusive", "insensitive", (ground,))


def no_control(settings: PlanSettings) -> Judgement | None:
    """Controls were asked for and none found a place: whether the test can fail is as open as before."""
    names = wanted(settings.mutations, settings.operators).controls
    if not names:
        return None
    return Judgement("inconclusive", "no-control", (ControlsGround("no-place", tuple(names)),))
