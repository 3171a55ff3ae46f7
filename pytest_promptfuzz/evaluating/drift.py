"""What a test answers today beside its snapshot: the runs that tell drift from noise, and what is said of it.

It is no part of the verdict, which is over mutations.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import PromptfuzzError
from pytest_promptfuzz.evaluating.behaviour import compared_as, digest_of, prompt_of, sent_of
from pytest_promptfuzz.evaluating.compared import named
from pytest_promptfuzz.evaluating.rewritten import word_diff
from pytest_promptfuzz.scoring.drifting import Beside, Drift, Told, compared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_promptfuzz.evaluating.answers import Answers
    from pytest_promptfuzz.evaluating.case import Case
    from pytest_promptfuzz.evaluating.job import Job, Steps
    from pytest_promptfuzz.history.snapshot import Asked as Then
    from pytest_promptfuzz.history.snapshot import Snapshot
    from pytest_promptfuzz.scoring.robustness import Robustness

_OF_THE_TASK = ("task", "tiers", "equivalent_at", "minor_at", "meaning")
_TOO_FEW = "too few answers are known to tell a change from noise"
_NOTHING_TELLS = "no installed comparison can tell"
_UNDECIDED = f"{_NOTHING_TELLS} whether today's answer is that of the snapshot"
_MENDS = (
    "install 'pytest-promptfuzz[semantic]', or compare with tiers= of your own",
    "compare with tiers= of your own",
)


def drifting(job: Job, cases: Sequence[Case]) -> Steps:
    """The runs of the unmutated prompt that tell whether it is answered otherwise than its snapshot has it.

    Args:
        job: The test. What comes of it is kept in ``job.accepted``.
        cases: Those that have begun.
    """
    snapshot = job.accepted.snapshot
    if snapshot is None or job.only is not None or job.overruled is not None or _ignored(job):
        return
    pairs = [
        (case, then, case.asked.answers.aside(job.accepted.hide))
        for case, then in _met(cases, job, snapshot)
        if case.asked is not None and then.answers and not case.asked.judge.oracle_only
    ]
    if not pairs:
        return
    try:
        job.accepted.told = yield from _told(job, pairs, more=_may_ask(job, pairs))
    except PromptfuzzError as error:  # of what compares them; the verdict stands
        job.accepted.told = Told(None, undecided=True)
        job.accepted.untold = str(error)
        return
    told = job.accepted.told
    if told.undecided:
        mend = _MENDS[job.session.embedder is not None]
        but = " (a judge is not asked about it)" if job.contract.judge is not None else ""
        job.accepted.untold = f"{_UNDECIDED}{but}; {mend}"
    else:
        job.accepted.untold = _TOO_FEW if told.changed is None else ""


def with_drift(result: Robustness, job: Job) -> Robustness:
    """A result with the ways in which the test is not what its snapshot says."""
    snapshot = job.accepted.snapshot
    if snapshot is None or job.only is not None or not job.ended or job.overruled is not None:
        return result
    found = [
        *_prompt(job, snapshot, result),
        *_model(job, snapshot, result),
        *_comparator(job, snapshot, result),
    ]
    notes = [*result.notes, *_another_name(job, snapshot, result)]
    return replace(result, drift=tuple(found), notes=tuple(notes))


def _ignored(job: Job) -> bool:
    return job.contract.model_drift == "ignore" and job.contract.prompt_drift == "ignore"


def _met(cases: Sequence[Case], job: Job, snapshot: Snapshot) -> list[tuple[Case, Then]]:
    """The cases that the snapshot has, too."""
    then = {each.name: each for each in snapshot.inputs}
    both = [(case, then.get(named(case.number, job.names))) for case in cases]
    return [(case, each) for case, each in both if each is not None]


def _same_prompt(case: Case, then: Then) -> bool:
    return digest_of(prompt_of(case)) == then.prompt


def _same_sent(case: Case, then: Then, job: Job) -> bool:
    now = sent_of(case, job.contract)
    return not now or not then.sent or now == then.sent


def _may_ask(job: Job, pairs: Sequence[tuple[Case, Then, Answers]]) -> bool:
    """Whether more is asked: where calls may be made, none is stored in this run, and somebody wants to know."""
    if job.session.mode == "replay" or job.accepted.updates:
        return False
    same = all(_same_prompt(case, then) and _same_sent(case, then, job) for case, then, _ in pairs)
    return (job.contract.model_drift if same else job.contract.prompt_drift) != "ignore"


def _told(job: Job, pairs: Sequence[tuple[Case, Then, Answers]], *, more: bool) -> Any:
    beside: list[Beside] = []
    for case, then, answers in pairs:
        assert case.asked is not None
        now = list(case.asked.answers.matrix.baseline)
        stored = [
            answers.stored(each.answer, failed=each.failed)
            for each in then.answers
            for _ in range(each.times)
        ]
        beside.append(Beside(_Ordered(answers, frozenset(stored)), stored, now))
    asking = compared(beside, more=more, made=len(job.trials), seed=job.contract.seed)
    try:
        look = next(asking)
        while True:
            yield from _more(job, pairs, beside, look)
            look = next(asking)
    except StopIteration as stop:
        told: Told = stop.value
    case, then, answers = pairs[told.case]
    other = next(
        (n for n in beside[told.case].now if not _agrees(beside[told.case], n)), beside[told.case].now[0]
    )
    job.accepted.shown = (case.number, then.answers[0].answer, answers.value(other))
    return told


def _more(
    job: Job, pairs: Sequence[tuple[Case, Then, Answers]], beside: Sequence[Beside], look: int
) -> Steps:
    """Ask until each input has so many answers of today, where it gets them."""
    steps, places = [], []
    for place, (case, _, _) in enumerate(pairs):
        assert case.asked is not None
        more = case.asked.unmutated(max(0, look - len(beside[place].now)))
        steps += more
        places += [place] * len(more)
    if not steps:
        return
    runs = yield steps
    for place, run in zip(places, runs, strict=True):
        case, _, answers = pairs[place]
        job.count(run, case)
        assert case.asked is not None
        if case.asked.answered(run):
            beside[place].now.append(answers.add(run))


class _Ordered:
    """Credits by number, what was accepted compared first."""

    def __init__(self, answers: Answers, then: frozenset[int]) -> None:
        self._answers, self._then = answers, then
        self._known: dict[tuple[int, int], int | None] = {}

    def __call__(self, one: int, other: int) -> int | None:
        pair = (other, one) if other in self._then and one not in self._then else (one, other)
        if pair not in self._known:
            self._known[pair] = self._answers.between(*pair)
        return self._known[pair]


def _agrees(beside: Beside, now: int) -> bool:
    return any(beside.between(each, now) for each in beside.then)


def _prompt(job: Job, snapshot: Snapshot, result: Robustness) -> list[Drift]:
    """Another prompt, or other texts that are sent with it."""
    met = _met(job.ended, job, snapshot)
    other = [case for case, then in met if not _same_prompt(case, then)]
    told, policy = job.accepted.told, job.contract.prompt_drift
    model = _another_model(snapshot, result)
    if other:
        what = "the prompt changed"
    elif told is not None and told.changed is not False and _sent_otherwise(job, snapshot):
        if told.changed is None and not told.undecided:
            return []
        what = "what is sent with the prompt changed (an input, or other texts of the request)"
    else:
        return []
    if told is None:
        said, before, after, case, p = "", None, None, None, None
    else:
        case, before, after = job.accepted.shown or (None, None, None)
        p = told.p
        said = _of_answers(told, job.accepted.untold)
    undecided = not other and told is not None and told.undecided
    return [
        Drift(
            "prompt",
            policy,
            f"{what}{said}{model}",
            before,
            after,
            case,
            p,
            undecided,
            _rewritten(job, snapshot),
        )
    ]


def _of_answers(told: Told, untold: str) -> str:
    if told.undecided and untold.startswith(_UNDECIDED):
        return "; no installed comparison can tell whether the answer changed"
    if told.undecided:
        return f"; we cannot tell whether the answer changed: {untold}"
    if told.changed is None:
        return "; too few answers are known to tell whether the answer changed"
    return ", and so did the answer" if told.changed else "; the answer is the same"


def _rewritten(job: Job, snapshot: Snapshot) -> tuple[tuple[str, str], ...]:
    """The first prompt that is another one, word by word."""
    for case, then in _met(job.ended, job, snapshot):
        if not _same_prompt(case, then):
            before = snapshot.prompt if then.text is None else then.text
            return tuple(word_diff(before, job.accepted.hide(prompt_of(case).text)))
    return ()


def _model(job: Job, snapshot: Snapshot, result: Robustness) -> list[Drift]:
    told = job.accepted.told
    if told is None or not (told.changed or told.undecided):
        return []
    if _sent_otherwise(job, snapshot) or any(
        not _same_prompt(*each) for each in _met(job.ended, job, snapshot)
    ):
        return []
    number, before, after = job.accepted.shown or (0, None, None)
    name = job.names[number] if number < len(job.names) else ""
    on = f" on input {name}" if name else ""
    old, new = snapshot.model, result.model
    who = f" from {old} to {new}" if old and new and old != new else f" ({new})" if new else ""
    message = f"the model changed{who}: the same prompt has another answer{on}"
    if told.undecided:
        untold = job.accepted.untold
        message = f"we cannot tell whether the model changed{who}{on}: {untold}"
        if untold.startswith(_UNDECIDED):
            message = f"{_NOTHING_TELLS} whether the model changed{who}{on}{untold.removeprefix(_UNDECIDED)}"
    policy = job.contract.model_drift
    return [Drift("model", policy, message, before, after, number, told.p, told.undecided)]


def _sent_otherwise(job: Job, snapshot: Snapshot) -> bool:
    return any(not _same_sent(case, then, job) for case, then in _met(job.ended, job, snapshot))


def _another_model(snapshot: Snapshot, result: Robustness) -> str:
    old, new = snapshot.model, result.model
    return f"; the model is {new}, and was {old}" if old and new and old != new else ""


def _another_name(job: Job, snapshot: Snapshot, result: Robustness) -> list[str]:
    """That another model answers the same prompt in the same way: no drift."""
    told, other = job.accepted.told, _another_model(snapshot, result)
    if not other or (told is not None and told.changed):
        return []
    same = "; it answers as before" if told is not None and told.changed is False else ""
    return [f"the model is {result.model}; it was {snapshot.model} when the snapshot was stored{same}"]


def _comparator(job: Job, snapshot: Snapshot, result: Robustness) -> list[Drift]:
    now, then = compared_as(job, result), dict(snapshot.compared)
    before, after = dict(then), dict(now)
    tasks = [str(each.get("task", "")) for each in (now, then)]
    if tasks[0] != tasks[1] and all(each.endswith("(inferred)") for each in tasks):
        for name in _OF_THE_TASK:  # the answers decide it, and it all that follows from it
            now.pop(name, None)
            then.pop(name, None)
    changes = [
        f"{name} {_said(then.get(name))} → {_said(now.get(name))}"
        for name in sorted({*now, *then})
        if now.get(name) != then.get(name)
    ]
    changes += _operators(snapshot, result)
    if not changes:
        return []
    message = f"answers are compared in another way: {', '.join(changes)}"
    if now == then:
        message = f"mutations are made in another way: {', '.join(changes)}"
    return [Drift("comparator", job.contract.comparator_drift, message, before, after)]


def _operators(snapshot: Snapshot, result: Robustness) -> list[str]:
    """Operators of both plans that have another version."""
    then = dict(each.split("@", 1) for each in snapshot.operators if "@" in each)
    now = dict(
        each.split("@", 1) for trial in result.trials for each in trial.mutation.operators if "@" in each
    )
    return [
        f"operator {name} {then[name]} → {now[name]}"
        for name in sorted({*then} & {*now})
        if then[name] != now[name]
    ]


def _said(value: Any) -> str:
    if value is None:
        return "none"
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)
