"""Drift: what a test answers today beside its snapshot, and the runs that tell drift from noise.

It is no part of the verdict, which is over mutations.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.comparing.comparison import VERSION
from pytest_promptfuzz.comparing.profiles import TASKS, profile_for
from pytest_promptfuzz.errors import PromptfuzzError
from pytest_promptfuzz.evaluating.phases.plan import prompt_digest
from pytest_promptfuzz.evaluating.phases.verdict import named
from pytest_promptfuzz.history.entries import letters_of
from pytest_promptfuzz.history.snapshots import Sample, Snapshot, SnapshotInput
from pytest_promptfuzz.history.trial_labels import labels_of
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.relay import relayed
from pytest_promptfuzz.stats.regressions import Beside, Drift, RunEvidence, compared
from pytest_promptfuzz.stats.scores import EQUIVALENT_CREDIT
from pytest_promptfuzz.text.word_diffs import word_diff
from pytest_promptfuzz.wording.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_promptfuzz.evaluating.cases import Accepted, Answers, Case, Findings, RunLedger, Steps
    from pytest_promptfuzz.evaluating.contract import Contract, EvaluationSettings
    from pytest_promptfuzz.history.snapshots import FormerSnapshot
    from pytest_promptfuzz.history.snapshots import SnapshotInput as Then
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.results.robustness import Robustness
    from pytest_promptfuzz.running.run import Run

    Hide = Callable[[Any], Any]
    Met = Sequence[tuple[Case, Then, Answers]]


# What a test's behaviour is now, in the words of its snapshot.


_DIGITS = 16


def inputs_of(findings: Findings, contract: Contract, hide: Hide) -> tuple[SnapshotInput, ...]:
    """The inputs of a test, and what was answered to them unmutated.

    Args:
        findings: What the test came to, before it is concluded: afterwards its answers are gone.
        contract: Its settings.
        hide: Takes what is not to be stored out of plain data.
    """
    found: list[SnapshotInput] = []
    first = None
    for case in findings.ended:
        prompt = case.unmutated
        text = hide(prompt.text)
        first = text if first is None else first
        found.append(
            SnapshotInput(
                named(case.number, findings.names),
                digest_of(prompt),
                sent_of(case, contract),
                _answers(case, hide),
                None if text == first else text,
            )
        )
    return tuple(found)


def digest_of(prompt: Prompt) -> str:
    """16 hexadecimal digits over a prompt's messages."""
    return prompt_digest(prompt)[:_DIGITS]


def snapshot_of(
    settings: EvaluationSettings,
    findings: Findings,
    result: Robustness,
    inputs: tuple[SnapshotInput, ...],
    hide: Hide,
) -> Snapshot | None:
    """The snapshot of a test that was judged; ``None`` where nothing was asked, or no verdict can be accepted.

    Args:
        settings: The evaluation's.
        findings: Its own.
        result: What it came to.
        inputs: Those of :func:`inputs_of`.
        hide: As there.
    """
    if not inputs or result.verdict not in {"pass", "brittle"}:
        return None
    scored = [each for each in result.trials if each.mutation.relation == result.relation]
    first = next(iter(findings.ended), None)
    return Snapshot(
        settings.where.partition("::")[2],
        result.verdict,
        None if result.score is None else round(result.score, 4),
        result.threshold,
        hide(result.target),
        hide(result.model),
        "" if first is None else hide(first.unmutated.text),
        inputs,
        compared_as(settings, findings.compared_calls, result),
        tuple(dict.fromkeys(name for each in scored for name in each.mutation.operators)),
        letters_of(
            ((named(each.case, result.cases), each.id, each.sample), each.outcome)
            for each in scored
            if each.mutation.relation == "invariance"
        ),
        labels_of(
            (
                (named(each.case, result.cases), each.id, each.mutation.operators, each.mutation.diff())
                for each in scored
            ),
            hide,
        ),
    )


def compared_as(settings: EvaluationSettings, compared_calls: int, result: Robustness) -> dict[str, Any]:
    """How the answers of a test are compared: names and versions."""
    comparison, session = settings.contract.comparison, settings.session
    if result.oracle_only:
        return {"by": "the test's own checks"}
    task = result.task.partition(" (")[0]
    profile = comparison.profile if not isinstance(comparison.profile, str | None) else None
    if profile is None and task in TASKS:
        profile = profile_for(task)
    found: dict[str, Any] = {"comparison": VERSION, "task": result.task}
    embedder = session.embedder
    if profile is not None:
        means = "semantic" in profile.tiers
        found["tiers"] = [each for each in profile.tiers if each != "semantic" or embedder is not None]
        if means and embedder is not None:
            found["meaning"] = embedder.name
        if means and session.entailment is not None:
            found["entailment"] = session.entailment.name
    for name in ("equivalent_at", "minor_at"):
        value = getattr(comparison, name)
        value = getattr(profile, name, None) if value is None else value
        if value is not None:
            found[name] = value
    if comparison.tiers or comparison.guards:
        found["own"] = [
            *(each.name for each in comparison.tiers),
            *(each.name for each in comparison.guards),
        ]
    if comparison.judge is not None:
        found["judge"] = comparison.judge.name
    if compared_calls > 1:
        found["calls"] = compared_calls
    if comparison.schema is not None:
        found["schema"] = hashlib.sha256(comparison.schema.text.encode()).hexdigest()[:_DIGITS]
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
    return "" if case.asked is None else _sent_by(case.asked.baseline.run, contract)


def _sent_by(run: Run, contract: Contract) -> str:
    calls = () if contract.comparison.ignore else run.watch.calls
    if len(calls) != 1:
        return ""
    content = json.dumps(list(calls[0].texts)).encode("ascii")
    return hashlib.sha256(content).hexdigest()[:_DIGITS]


_OF_THE_TASK = ("task", "tiers", "equivalent_at", "minor_at", "meaning")
_NOTHING_TELLS = "drift:nothing-tells"


def drifting(
    findings: Findings, settings: EvaluationSettings, accepted: Accepted, ledger: RunLedger
) -> Steps:
    """The runs of the unmutated prompt that tell whether it is answered otherwise than its snapshot has it.

    Args:
        findings: What the test came to.
        settings: The evaluation's.
        accepted: Its snapshot; takes what comes of it.
        ledger: Takes what runs took.
    """
    snapshot, contract = accepted.snapshot, settings.contract
    ignored = contract.verdict.model_drift == "ignore" and contract.verdict.prompt_drift == "ignore"
    if snapshot is None or settings.only is not None or findings.overruled is not None or ignored:
        return
    pairs = [
        (case, then, case.asked.answers.aside(accepted.hide))
        for case, then in _met(findings, snapshot)
        if case.asked is not None and then.answers and not case.asked.judge.oracle_only
    ]
    if not pairs:
        return
    try:
        accepted.told = yield from _told(
            pairs, findings, accepted, ledger, more=_may_ask(pairs, settings, accepted)
        )
    except PromptfuzzError as error:  # of what compares them; the verdict stands
        accepted.told = RunEvidence(None, undecided=True)
        accepted.untold = str(error)
        return
    told = accepted.told
    if told.undecided:
        judged, embedded = contract.comparison.judge is not None, settings.session.embedder is not None
        accepted.untold = Note.of(_NOTHING_TELLS, judged=judged, embedded=embedded)
    else:
        accepted.untold = Note.of("drift:too-few-answers") if told.changed is None else None


def _met(findings: Findings, snapshot: Snapshot) -> list[tuple[Case, Then]]:
    """The cases that the snapshot has, too."""
    then, names = {each.name: each for each in snapshot.inputs}, findings.names
    both = [(case, then.get(named(case.number, names))) for case in findings.ended]
    return [(case, each) for case, each in both if each is not None]


def _same_prompt(case: Case, then: Then) -> bool:
    return digest_of(case.unmutated) == then.prompt


def _same_sent(case: Case, then: Then) -> bool:
    now = sent_of(case, case.settings.contract)
    return not now or not then.sent or now == then.sent


def _may_ask(pairs: Met, settings: EvaluationSettings, accepted: Accepted) -> bool:
    """Whether more is asked: where calls may be made, none is stored in this run, and somebody wants to know."""
    if settings.session.mode == "replay" or accepted.updates:
        return False
    contract = settings.contract
    same = all(_same_prompt(case, then) and _same_sent(case, then) for case, then, _ in pairs)
    return (contract.verdict.model_drift if same else contract.verdict.prompt_drift) != "ignore"


def _told(pairs: Met, findings: Findings, accepted: Accepted, ledger: RunLedger, *, more: bool) -> Any:
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
    seed = pairs[0][0].settings.contract.plan.seed
    asking = compared(beside, more=more, made=len(findings.trials), seed=seed)
    told = yield from relayed(asking, partial(_more, pairs, beside, ledger))
    place = told.case
    if told.changed is False and (minor := [at for at, each in enumerate(beside) if _is_minor(each)]):
        accepted.minor, place = True, minor[0]
    case, then, answers = pairs[place]
    other = next((n for n in beside[place].now if not _agrees(beside[place], n)), beside[place].now[0])
    accepted.shown = (case.number, then.answers[0].answer, answers.value(other))
    return told


def _more(pairs: Met, beside: Sequence[Beside], ledger: RunLedger, look: int) -> Steps:
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
        ledger.count(run, case)
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


def _is_minor(beside: Beside) -> bool:
    """Whether today's first answer is like one that was accepted, and equivalent to none."""
    credits_ = [beside.between(each, beside.now[0]) for each in beside.then]
    return any(credits_) and EQUIVALENT_CREDIT not in credits_


def with_drift(
    result: Robustness, findings: Findings, settings: EvaluationSettings, accepted: Accepted
) -> Robustness:
    """A result with the ways in which the test is not what its snapshot says."""
    snapshot = accepted.snapshot
    if snapshot is None or settings.only is not None or not findings.ended or findings.overruled is not None:
        return result
    ways = _Drifted(settings, findings, accepted, snapshot, result)
    notes = (*result.notes, *map(sentence, ways.another_name()))
    return replace(result, drift=(*ways.prompt(), *ways.model(), *ways.comparator()), notes=notes)


@dataclass(frozen=True, slots=True)
class _Drifted:
    """The ways in which a test may not be what its snapshot says."""

    settings: EvaluationSettings
    findings: Findings
    accepted: Accepted
    snapshot: Snapshot
    result: Robustness

    def prompt(self) -> list[Drift]:
        """Another prompt, or other texts that are sent with it."""
        told, accepted = self.accepted.told, self.accepted
        other = self._other_prompt()
        if other:
            code = "drift:prompt-changed"
        elif told is not None and told.changed is not False and self._sent_otherwise():
            if told.changed is None and not told.undecided:
                return []
            code = "drift:request-changed"
        else:
            return []
        answers: Note | str = ""
        before = after = case = p = None
        if told is not None:
            case, before, after = accepted.shown or (None, None, None)
            p = told.p
            answers = _of_answers(told, accepted)
        undecided = not other and told is not None and told.undecided
        message = sentence(Note.of(code, answers=answers, old=self.snapshot.model, new=self.result.model))
        policy = self.settings.contract.verdict.prompt_drift
        return [Drift("prompt", policy, message, before, after, case, p, undecided, self._rewritten())]

    def model(self) -> list[Drift]:
        """Another answer to the same prompt."""
        told, accepted = self.accepted.told, self.accepted
        if told is None or not (told.changed or told.undecided):
            return []
        if self._sent_otherwise() or self._other_prompt():
            return []
        number, before, after = accepted.shown or (0, None, None)
        names = self.findings.names
        about = {
            "old": self.snapshot.model,
            "new": self.result.model,
            "name": names[number] if number < len(names) else "",
        }
        untold = accepted.untold
        note = Note.of("drift:model-changed", **about)
        if told.undecided and isinstance(untold, Note) and untold.code == _NOTHING_TELLS:
            note = Note.of("drift:model-untold", **about, **untold.values)
        elif told.undecided:
            note = Note.of("drift:model-unknown", **about, why=untold)
        policy = self.settings.contract.verdict.model_drift
        return [Drift("model", policy, sentence(note), before, after, number, told.p, told.undecided)]

    def comparator(self) -> list[Drift]:
        """Another way to compare answers, or to make mutations."""
        now = compared_as(self.settings, self.findings.compared_calls, self.result)
        then = dict(self.snapshot.compared)
        before, after = dict(then), dict(now)
        tasks = [str(each.get("task", "")) for each in (now, then)]
        if tasks[0] != tasks[1] and all(each.endswith("(inferred)") for each in tasks):
            for name in _OF_THE_TASK:  # the answers decide it, and it all that follows from it
                now.pop(name, None)
                then.pop(name, None)
        changes = [
            (name, then.get(name), now.get(name))
            for name in sorted({*now, *then})
            if now.get(name) != then.get(name)
        ]
        operators = _operators(self.snapshot, self.result)
        if not changes and not operators:
            return []
        note = Note.of("drift:operators-changed", operators=operators)
        if now != then:
            note = Note.of("drift:comparison-changed", changes=changes, operators=operators)
        policy = self.settings.contract.verdict.comparator_drift
        return [Drift("comparator", policy, sentence(note), before, after)]

    def another_name(self) -> list[Note]:
        """That another model answers the same prompt in the same way: no drift."""
        told, old, new = self.accepted.told, self.snapshot.model, self.result.model
        if not old or not new or old == new or (told is not None and told.changed):
            return []
        same = told is not None and told.changed is False and not self.accepted.minor
        return [Note.of("drift:another-model", old=old, new=new, same=same)]

    def _other_prompt(self) -> bool:
        return any(not _same_prompt(*each) for each in _met(self.findings, self.snapshot))

    def _sent_otherwise(self) -> bool:
        return any(not _same_sent(*each) for each in _met(self.findings, self.snapshot))

    def _rewritten(self) -> tuple[tuple[str, str], ...]:
        """The first prompt that is another one, word by word."""
        for case, then in _met(self.findings, self.snapshot):
            if not _same_prompt(case, then):
                before = self.snapshot.prompt if then.text is None else then.text
                return tuple(word_diff(before, self.accepted.hide(case.unmutated.text)))
        return ()


def _of_answers(told: RunEvidence, accepted: Accepted) -> Note:
    untold = accepted.untold
    if told.undecided and isinstance(untold, Note) and untold.code == _NOTHING_TELLS:
        return Note.of("drift:answers-untold")
    if told.undecided:
        return Note.of("drift:answers-unknown", why=untold)
    if told.changed is None:
        return Note.of("drift:answers-few")
    if accepted.minor:
        return Note.of("drift:answers-minor")
    return Note.of("drift:answers-changed" if told.changed else "drift:answers-same")


def _operators(snapshot: Snapshot, result: Robustness) -> list[tuple[str, str, str]]:
    """Operators of both plans that have another version: name, version then, version now."""
    then = dict(each.split("@", 1) for each in snapshot.operators if "@" in each)
    now = dict(
        each.split("@", 1) for trial in result.trials for each in trial.mutation.operators if "@" in each
    )
    return [(name, then[name], now[name]) for name in sorted({*then} & {*now}) if then[name] != now[name]]


# What was accepted of a test before: its snapshot, or that of a test with another name that asked the same.


def renamed(accepted: Accepted, case: Case, run: Run) -> FormerSnapshot | None:
    """The snapshot that a test had under another name, once it is known what it asks; ``None`` where there is none.

    A snapshot of its own is kept, unless it asks something else and another asks just this: IDs of parameters shift.
    That of a test which is still there is taken if that test was seen to ask something else, or by a test whose own
    snapshot shows a shift.

    Args:
        accepted: What is known; those of other names are looked for once.
        case: The test's first.
        run: Of the unmutated prompt.
    """
    if case.number:
        return None
    look, accepted.former = accepted.former, tuple
    asked = _Asked(named(0, [case.name]), digest_of(case.unmutated), _sent_by(run, case.settings.contract))
    own = accepted.snapshot
    if own is not None:
        keeps = asked.alike(own) and not asked.apart(own)
        accepted.asks(keeps)
        if keeps or not asked.sent:
            return None
    groups = (
        [
            each
            for each in group
            if asked.alike(each.snapshot)
            and not asked.apart(each.snapshot)
            and (own is not None or not each.sibling or each.left)
        ]
        for group in look()
    )
    return next(filter(None, (_only(group, case.settings.where) for group in groups)), None)


class _Asked(NamedTuple):
    """What a test asks: the name of its first input, the digest of its prompt, and that of all that is sent."""

    name: str
    prompt: str
    sent: str

    def alike(self, snapshot: Snapshot) -> bool:
        """Whether a snapshot is of the same prompt."""
        first = snapshot.inputs[0] if snapshot.inputs else None
        return first is not None and (first.name, first.prompt) == (self.name, self.prompt)

    def apart(self, snapshot: Snapshot) -> bool:
        """Whether something else was sent with it, as far as both are known."""
        sent = snapshot.inputs[0].sent
        return bool(self.sent and sent) and self.sent != sent


def _only(found: Sequence[FormerSnapshot], test: str) -> FormerSnapshot | None:
    """The only one of some snapshots; of several that with the parameters of the test, if there is one."""
    if len(found) > 1:
        found = [each for each in found if each.test.partition("[")[2] == test.partition("[")[2]]
    return found[0] if len(found) == 1 else None
