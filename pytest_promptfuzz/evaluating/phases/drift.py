"""What a test answers today beside its snapshot: the runs that tell drift from noise, and what is said of it.

It is no part of the verdict, which is over mutations.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.comparing.comparison import VERSION
from pytest_promptfuzz.comparing.profiles import TASKS, profile_for
from pytest_promptfuzz.errors import PromptfuzzError, UsageError
from pytest_promptfuzz.evaluating.contract import prompt_digest
from pytest_promptfuzz.history.entries import letters_of, outcomes_of
from pytest_promptfuzz.history.snapshots import Sample, Snapshot, SnapshotInput
from pytest_promptfuzz.results.robustness import Robustness
from pytest_promptfuzz.stats.regressions import Beside, Drift, Paired, RunEvidence, compared
from pytest_promptfuzz.stats.repeats import ALPHA
from pytest_promptfuzz.stats.verdict import tells
from pytest_promptfuzz.text.word_diffs import word_diff

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_promptfuzz.evaluating.contract import Contract
    from pytest_promptfuzz.evaluating.job import Case, Job, Steps
    from pytest_promptfuzz.evaluating.phases.resampling import Answers
    from pytest_promptfuzz.history.snapshots import SnapshotInput as Then
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.results.trials import Trial
    from pytest_promptfuzz.stats.scores import TrialOutcome

    Key = tuple[str, str, int]
    Outcomes = Mapping[Key, TrialOutcome]
    Hide = Callable[[Any], Any]


# A run beside the run before it (``gate="no-worse"``): which trials are the same, and what to say where none are.


_POINT = "so the gate is 'point'"


def keyed(trials: Iterable[Trial], names: Sequence[str]) -> dict[Key, TrialOutcome]:
    """The outcomes that score and gate are of, by input, trial and sample.

    Args:
        trials: Of all cases.
        names: How each case is called; empty names stand for its number.
    """
    return {
        (named(trial.case, names), trial.id, trial.sample): trial.outcome
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


@dataclass(frozen=True, slots=True)
class Before:
    """A run before, or that there is none.

    Attributes:
        outcomes: Its outcomes; ``None`` where none is stored.
        store: How to have one that is stored, for messages.
    """

    outcomes: Outcomes | None = None
    store: str = "keep a result and give it as before="


NOTHING = Before()
"""There is no run before."""


def paired_of(job: Job) -> Paired | None:
    """The trials of a test beside those of the run before; ``None`` where it is not to be held against one."""
    if job.contract.gate != "no-worse" or job.before.outcomes is None:
        return None
    return Paired.of(job.before.outcomes, keyed(job.trials, job.names), alpha=ALPHA / job.session.tests)


def said_of(job: Job) -> list[str]:
    """That the verdict is of one trial; why a test whose gate is ``no-worse`` is not held against the run before."""
    if job.only is not None:
        return [f"only trial {job.only} was run: the verdict covers it alone"]
    if job.contract.gate != "no-worse":
        return []
    found, store = paired_of(job), job.before.store
    if found is None:
        why = f"there is no stored run to compare with, {_POINT}; {store}"
    elif not found.pairs:
        why = f"the stored run made none of these trials (another prompt, plan or seed), {_POINT}; {store}"
    elif not tells(found):
        why = (
            f"{found.pairs} trials could not show that a run is worse (p is at least {found.least:.2g}, and the "
            f"significance level is {found.alpha:.2g}), {_POINT}; more mutations could"
        )
    else:
        return []
    return [f"gate='no-worse': {why}"]


# What a test's behaviour is now, in the words of its snapshot.


ANSWERS = 4
"""How often the unmutated prompt is asked before its answers are stored. Three others, as a recording has them, could
never prove that three have changed (p is 0.1 at least)."""
_DIGITS = 16


def inputs_of(job: Job, cases: Sequence[Case], hide: Hide) -> tuple[SnapshotInput, ...]:
    """The inputs of a test, and what was answered to them unmutated.

    Args:
        job: The test, before it is concluded: afterwards its answers are gone.
        cases: Those that have begun.
        hide: Takes what is not to be stored out of plain data.
    """
    found: list[SnapshotInput] = []
    first = None
    for case in cases:
        prompt = prompt_of(case)
        text = hide(prompt.text)
        first = text if first is None else first
        found.append(
            SnapshotInput(
                named(case.number, job.names),
                digest_of(prompt),
                sent_of(case, job.contract),
                _answers(case, hide),
                None if text == first else text,
            )
        )
    return tuple(found)


def prompt_of(case: Case) -> Prompt:
    """The whole prompt of a case, unmutated."""
    return case.prompt if case.shown is None else case.shown


def digest_of(prompt: Prompt) -> str:
    """16 hexadecimal digits over a prompt's messages."""
    return prompt_digest(prompt)[:_DIGITS]


def snapshot_of(
    test: str, job: Job, result: Robustness, inputs: tuple[SnapshotInput, ...], hide: Hide
) -> Snapshot | None:
    """The snapshot of a test that was judged; ``None`` where nothing was asked, or no verdict can be accepted.

    Args:
        test: Its name in its module.
        job: The test.
        result: What it came to.
        inputs: Those of :func:`inputs_of`.
        hide: As there.
    """
    if not inputs or result.verdict not in {"pass", "brittle"}:
        return None
    scored = [each for each in result.trials if each.mutation.relation == result.relation]
    first = next(iter(job.ended), None)
    interval = result.interval
    return Snapshot(
        test,
        result.verdict,
        None if result.score is None else round(result.score, 4),
        None if interval is None else (round(interval.low, 4), round(interval.high, 4)),
        result.threshold,
        hide(result.target),
        hide(result.model),
        "" if first is None else hide(prompt_of(first).text),
        inputs,
        compared_as(job, result),
        _by_operator(scored),
        letters_of(
            ((named(each.case, result.cases), each.id, each.sample), each.outcome)
            for each in scored
            if each.mutation.relation == "invariance"
        ),
    )


def compared_as(job: Job, result: Robustness) -> dict[str, Any]:
    """How the answers of a test are compared: names and versions."""
    contract = job.contract
    if result.oracle_only:
        return {"by": "the test's own checks"}
    task = result.task.partition(" (")[0]
    profile = contract.profile if not isinstance(contract.profile, str | None) else None
    if profile is None and task in TASKS:
        profile = profile_for(task)
    found: dict[str, Any] = {"comparison": VERSION, "task": result.task}
    embedder = job.session.embedder
    if profile is not None:
        means = "semantic" in profile.tiers
        found["tiers"] = [each for each in profile.tiers if each != "semantic" or embedder is not None]
        if means and embedder is not None:
            found["meaning"] = embedder.name
        if means and job.session.entailment is not None:
            found["entailment"] = job.session.entailment.name
    for name in ("equivalent_at", "minor_at"):
        value = getattr(contract, name)
        value = getattr(profile, name, None) if value is None else value
        if value is not None:
            found[name] = value
    if contract.tiers or contract.guards:
        found["own"] = [*(each.name for each in contract.tiers), *(each.name for each in contract.guards)]
    if contract.judge is not None:
        found["judge"] = contract.judge.name
    if job.compared_calls > 1:
        found["calls"] = job.compared_calls
    if contract.schema is not None:
        found["schema"] = hashlib.sha256(contract.schema.text.encode()).hexdigest()[:_DIGITS]
    return found


def _answers(case: Case, hide: Hide) -> tuple[Sample, ...]:
    asked = case.asked
    if asked is None or asked.judge.oracle_only:
        return ()
    answers = asked.answers
    found: dict[str, Sample] = {}
    for number in answers.matrix.baseline:
        value, failed = hide(answers.value(number)), bool(answers.failed([number]))
        key = json.dumps([failed, value], sort_keys=True)
        times = found[key].times if key in found else 0
        found[key] = Sample(value, times + 1, failed)
    return tuple(found.values())


def sent_of(case: Case, contract: Contract) -> str:
    """The digest of what was sent with the prompt; empty of several calls, whose texts may hold answers.

    Where parts of requests are left out of their keys, so are they here: nothing is told.
    """
    if contract.ignore:
        return ""
    calls = () if case.asked is None else case.asked.baseline.run.watch.calls
    if len(calls) != 1:
        return ""
    content = json.dumps(list(calls[0].texts)).encode("ascii")
    return hashlib.sha256(content).hexdigest()[:_DIGITS]


def _by_operator(trials: Iterable[Trial]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for trial in trials:
        for name in trial.mutation.operators:
            counts = found.setdefault(name, {})
            counts[trial.outcome] = counts.get(trial.outcome, 0) + 1
    return {name: dict(sorted(counts.items())) for name, counts in found.items()}


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
        job.accepted.told = RunEvidence(None, undecided=True)
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
        told: RunEvidence = stop.value
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


def _of_answers(told: RunEvidence, untold: str) -> str:
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


# What was accepted of a test before: its snapshot, or that of a test that is gone and asked the same.


def _as_it_is(value: Any) -> Any:
    return value


@dataclass(slots=True)
class Accepted:
    """What was accepted of a test.

    Attributes:
        snapshot: It; ``None`` where there is none, or none was found yet.
        gone: Snapshots of tests that are not there any more: first those of the same function, then of its module. One
            that asks the same prompt is this test's under its former name, if there is no other.
        moved: The name that the test had, where its snapshot is one of those.
        unread: Whether there is one that cannot be used.
        updates: Whether this run writes snapshots: it asks no more than it stores.
        hide: Takes what is not stored out of an answer.
        told: What today's answers are beside those that were accepted; ``None`` where they were not compared.
        untold: Why nothing can be told of them; empty where it can.
        shown: The input that differs most, what was accepted of it, and what it is answered today.
    """

    snapshot: Snapshot | None = None
    gone: Sequence[Sequence[Snapshot]] = field(default=())
    moved: str = ""
    unread: bool = False
    updates: bool = False
    hide: Callable[[Any], Any] = _as_it_is
    told: RunEvidence | None = None
    untold: str = ""
    shown: tuple[int, Any, Any] | None = None

    @property
    def too_few(self) -> bool:
        """Whether nothing is claimed since so few answers are known; what nobody can compare is said as drift is."""
        return bool(self.untold) and self.told is not None and not self.told.undecided


def met(job: Job, case: Case) -> None:
    """A test's prompt is known: find the snapshot that it had under another name, and have it used like its own."""
    accepted = job.accepted
    if accepted.snapshot is not None or not accepted.gone or case.number:
        return
    digest, name = digest_of(prompt_of(case)), named(case.number, job.names)
    for group in accepted.gone:
        alike = [
            each
            for each in group
            if each.inputs and (each.inputs[0].name, each.inputs[0].prompt) == (name, digest)
        ]
        if len(alike) == 1:
            take(job, alike[0])
            accepted.moved = alike[0].test
            job.notes.append(
                f"its snapshot is that of {alike[0].test}, which asked the same prompt and is not collected any more"
            )
        if alike:
            break
    accepted.gone = ()


def take(job: Job, snapshot: Snapshot) -> None:
    """Hold a test against this snapshot: trials for the gate ``no-worse``, pinned counterexamples, and the answers."""
    job.accepted.snapshot = snapshot
    if job.contract.gate == "no-worse":
        job.before = replace(job.before, outcomes=outcomes_of(snapshot.trials))
    known = {each.id: each for each in (*snapshot.counterexamples, *job.pins.known)}
    job.pins.known = tuple(known.values())
