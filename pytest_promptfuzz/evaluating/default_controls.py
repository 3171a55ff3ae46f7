"""The control of a plan that names none: whether the answer changes at all when the prompt asks for another one.

It is asked once, of the first input, after mutations were answered, and counts for nothing else. A second one of
another kind is asked only where the first changed nothing and every answer of the test is the same.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_promptfuzz.evaluating.behaviour import prompt_of
from pytest_promptfuzz.evaluating.judge import spent_by
from pytest_promptfuzz.mutations.planner import plan
from pytest_promptfuzz.mutations.selection import wanted
from pytest_promptfuzz.scoring.trial import Spent
from pytest_promptfuzz.scoring.verdict import Judgement
from pytest_promptfuzz.wire.recordings.tape import NOT_RECORDED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.evaluating.contract import Contract
    from pytest_promptfuzz.evaluating.job import Epoch, Job
    from pytest_promptfuzz.evaluating.repeating import Asked
    from pytest_promptfuzz.mutations.mutation import Mutation
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.scoring.trial import Trial

OPERATORS = ("answer-fixed", "answer-fixed-first")
"""Read right in at least 95 of 100 prompts that they were not written on (benchmarks/README.md), in this order."""
_NEEDED = 2  # different controls that change nothing, before a test that would pass is inconclusive
_OFF = "controls=0 asks for no control"


def default_controls(prompt: Prompt, contract: Contract, *, on_user: bool = False) -> tuple[Mutation, ...]:
    """The controls that may be asked, in order, one of each operator that finds a place.

    None where the test names its own, and none in a text that holds data alone: a model is right to take no orders from
    there.

    Args:
        prompt: Limited to what may change.
        contract: The test's settings.
        on_user: Whether the prompt is what the user's role says on the wire.
    """
    if not contract.controls or _named(contract) or on_user or _data_alone(prompt, contract):
        return ()
    made = (plan(prompt, {name: 1}, seed=contract.seed).mutations for name in OPERATORS)
    return tuple(each for mutations in made for each in mutations)


def parted(
    mutations: tuple[Mutation, ...], contract: Contract
) -> tuple[tuple[Mutation, ...], tuple[Mutation, ...]]:
    """A recorded plan without the controls that the test does not name, and these."""
    if _named(contract):
        return mutations, ()
    controls = tuple(each for each in mutations if _operator(each) in OPERATORS)
    rest = tuple(each for each in mutations if each not in controls)
    return rest, controls if contract.controls else ()


def controlling(job: Job, asked: Asked, trials: Sequence[Trial]) -> Epoch:
    """The trials of the controls that are asked of a case, after its mutations; which they are is kept in the case.

    Whichever model answers them, the others' answers stay those of one model.

    Args:
        job: The test.
        asked: What was asked of the case.
        trials: What came of its mutations. Where nothing was answered, or the budget is spent, no control is asked.
    """
    case = asked.case
    found: list[Trial] = []
    if asked.controlled or case.number or job.only is not None or job.overruled is not None:
        return found
    asked.controlled, case.controls = True, ()
    spent = any(trial.error is not None and trial.error.kind == "budget" for trial in trials)
    if spent or all(trial.outcome == "error" for trial in trials):
        return found
    # An answer that stays the same needs no model to see it.
    judge = replace(asked.judge, bench=None, embedder=None, entailment=None)
    for mutation in job.controls(prompt_of(case)):
        (run,) = yield [asked.control(mutation)]
        job.spent += spent_by(run, counts_runs=job.counts_runs) + Spent(controls=1)
        job.notes.extend(run.watch.notes)
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
    return Judgement(
        "inconclusive",
        "insensitive",
        f"{len(unchanged)} controls ({', '.join(kinds)}) should have changed the answer, and none did. Every answer of "
        "this test is the same, as if the application did not use its prompt. If it does, compare the answer itself, "
        f"or give an input that the answer depends on; {_OFF}.",
    )


def said_of(controls: Sequence[Trial], baselines: Sequence[object]) -> list[str]:
    """What a person must know of the controls that the test does not name; nothing where the answer changed.

    Args:
        controls: Their trials.
        baselines: The plain baseline value of each case.
    """
    unchanged = [each for each in controls if each.outcome == "deviation"]
    said = []
    if unchanged:
        names = ", ".join(dict.fromkeys(_operator(each.mutation) for each in unchanged))
        many = len(unchanged) > 1
        first = unchanged[0]
        if first.comparison is None and first.value not in (None, *baselines[first.case : first.case + 1]):
            what = "changed the answer, and no assertion of this test noticed"
        elif first.comparison is None and first.value is None:
            what = "should have changed the answer, and the assertions of this test passed all the same: they may be "
            what += "unable to fail"
        else:
            what = f"should have changed the answer and did not: {'they tell' if many else 'it tells'} the model to "
            what += "answer with another word"
        said.append(f"{len(unchanged)} control{'s' if many else ''} ({names}) {what}; {_OFF}")
    said += [
        f"1 control ({_operator(each.mutation)}) has no answer: {each.error.message}"
        for each in controls
        if each.error is not None
    ]
    return said


def _named(contract: Contract) -> bool:
    """Whether the test names a control itself."""
    want = wanted(contract.mutations, contract.operators)
    relations = [each for stratum in want.strata for each in stratum.relations]
    return "must-change" in (*relations, *(each.relation for each in want.ready))


def _data_alone(prompt: Prompt, contract: Contract) -> bool:
    """Whether what may change holds no instruction: an input, or what the user says below a system message."""
    part = contract.part
    whats = {part.everywhere} if part.everywhere else {what for _, what in part.roles}
    roles = {role for role, _ in part.roles}
    below = roles == {"user"} and prompt.is_chat and any(each["role"] == "system" for each in prompt.messages)
    return whats == {"input"} or below


def _operator(mutation: Mutation) -> str:
    return mutation.operators[0].partition("@")[0]
