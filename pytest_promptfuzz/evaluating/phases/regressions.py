"""A test beside its base, while it runs: what failed anew is asked again, to tell a drop from noise.

It changes no verdict. What the trials are answered is kept with them (``Trial.again``), so that whoever compares the
run with the base sees the same: this run, ``promptfuzz compare``, and a replay of its recording.

Trials can be compared with those of the base only where both were compared with the same answer to the unmutated
prompt. Where today's first one is another, the unmutated prompt is asked a few times more. If it mostly answers as in
the base, the first answer was an odd one, and today's trials are compared with the base's answer instead. Given that
answer, the trials of both runs are draws of the same distributions if nothing changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.evaluating.phases.batches import mixed_models
from pytest_promptfuzz.evaluating.phases.resampling import with_repeats
from pytest_promptfuzz.evaluating.phases.verdict import named
from pytest_promptfuzz.history.answer_changes import answers_of, found_between
from pytest_promptfuzz.history.entries import kept_answer, letter_of, letters_of, whole
from pytest_promptfuzz.history.run_comparison import changed_answers, flips_of
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.relay import relayed
from pytest_promptfuzz.stats.flips import FIRST_SHARE, FLIP_SHARE, MOST_FLIPS, asking
from pytest_promptfuzz.stats.regressions import ALPHA
from pytest_promptfuzz.stats.scores import CREDITS
from pytest_promptfuzz.text.safe_text import is_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_promptfuzz.comparing.meaning import Embedder
    from pytest_promptfuzz.evaluating.cases import Accepted, Answers, CaseAnswers, Findings, RunLedger, Steps
    from pytest_promptfuzz.evaluating.contract import EvaluationSettings
    from pytest_promptfuzz.history.entries import HistoryEntry
    from pytest_promptfuzz.history.run_comparison import Flips
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.running.run import Run
    from pytest_promptfuzz.stats.flips import FlipEnd, FlipRequest


UNMUTATED, MOSTLY = 3, 2
"""Answers to the unmutated prompt beside today's first, and how many of them have to be as in the base."""
_OUTCOMES = {credit: outcome for outcome, credit in CREDITS.items()}


@dataclass(slots=True)
class SessionCalls:
    """The calls that a session's tests may make to ask again: those that are ``left``."""

    left: int


@dataclass(slots=True)
class ComparedBase:
    """What a test is compared with while it runs.

    Attributes:
        entry: The test in the base.
        most: Calls that the test may make to ask again; 0 for none.
        session: Calls that all tests may make.
        semantic: Gives what tells whether two answers in other words mean the same.
        ended: Why no more was asked; empty where nothing flipped.
        against: Of each input whose first answer today is an odd one: the base's answer (``baseline``), and the
            outcomes of its trials as compared with that (``trials``, ``again``), as history keeps them.
        later: By input, what the unmutated prompt was answered when it was asked to tell an odd answer from a change.
        beside: By input, what the answers to the unmutated prompt are beside the base's.
    """

    entry: HistoryEntry
    most: int
    session: SessionCalls
    semantic: Callable[[], Embedder | None] | None = None
    ended: FlipEnd = ""
    against: dict[str, dict[str, Any]] = field(default_factory=dict)
    later: dict[str, list[Any]] = field(default_factory=dict)
    beside: dict[str, dict[str, Any]] = field(default_factory=dict)

    def takes(self, calls: int) -> None:
        """So many calls are made."""
        self.most -= calls
        self.session.left -= calls


@dataclass(slots=True)
class _BaseAnswer:
    """The answers of a case beside the base's answer to its unmutated prompt, by their numbers."""

    answers: Answers
    reference: int

    def letter(self, number: int) -> str:
        """What an answer is beside the base's."""
        credit = self.answers.between(self.reference, number)
        return letter_of("undecided" if credit is None else _OUTCOMES[credit])


@dataclass(slots=True)
class _Flip:
    """A trial that held in the base and failed now.

    Attributes:
        case: Its case.
        place: Of its mutation, among those of the case.
        mutation: It.
        name: Of the case.
        failed: Whether it failed each time that it was asked again.
        beside: The base's answer, where that is what it is compared with.
    """

    case: CaseAnswers
    place: int
    mutation: Mutation
    name: str
    failed: list[bool] = field(default_factory=list)
    beside: _BaseAnswer | None = None


def asking_flips(
    findings: Findings,
    settings: EvaluationSettings,
    base: ComparedBase,
    accepted: Accepted,
    ledger: RunLedger,
) -> Steps:
    """The runs that tell whether a test which is lower than its base is worse.

    Args:
        findings: What the test came to; its trials take what came of it.
        settings: The evaluation's.
        base: What the test is compared with; takes why no more was asked.
        accepted: Tells what is not stored of answers.
        ledger: Takes what runs took.
    """
    if settings.only is not None or findings.overruled is not None:
        return
    entry = _entry(findings, settings, accepted, base.entry)
    besides = yield from _odd_answers(findings, entry, base, accepted, ledger)
    _compare_answers(findings, settings, base, accepted)
    alpha = ALPHA / settings.session.tests
    found = flips_of(base.entry, entry, base.semantic)
    if found is not None and found.places and found.first > FIRST_SHARE * alpha:
        if base.most > 0:
            yield from _asking(_flips(findings, found, besides), found, base, ledger, alpha)
        else:
            base.ended = "off"
    if base.ended == "unanswered" and settings.session.mode == "replay":
        base.ended = "unrecorded"
    if any(mixed_models(each.models) for each in findings.ended):
        base.ended, base.against = "unanswered", {}  # by the model that is compared
        return
    findings.trials = with_repeats(findings.trials, findings.asked)


def _asking(
    flips: Sequence[_Flip], found: Flips, base: ComparedBase, ledger: RunLedger, alpha: float
) -> Steps:
    again = [each.failed for each in flips]
    steps = asking(again, found.shape, FLIP_SHARE * alpha, most=base.most, session=max(0, base.session.left))
    base.ended = yield from relayed(steps, partial(_asked, flips, found, base, ledger))


def _entry(
    findings: Findings, settings: EvaluationSettings, accepted: Accepted, before: HistoryEntry
) -> HistoryEntry:
    """The test as far as it is compared with its base."""
    names = findings.names
    outcomes = [
        ((named(each.case, names), each.id, each.sample), each.outcome)
        for each in sorted(findings.trials, key=lambda each: each.sample)
        if each.mutation.relation == "invariance"
    ]
    answers = {named(each.number, names): kept_answer(accepted.hide(each.value)) for each in findings.cases}
    return whole(
        {
            "test": before["test"],
            "target": settings.target,
            "task": findings.task,
            "oracle_only": findings.oracle_only,
            "baselines": answers,
            "trials": letters_of(outcomes),
        }
    )


def _odd_answers(
    findings: Findings, entry: HistoryEntry, base: ComparedBase, accepted: Accepted, ledger: RunLedger
) -> Any:
    """Compare trials with the base's answer where today's first one is an odd one; ``entry`` takes what came of it.

    Returns:
        By the name of such a case, its answers beside the base's.
    """
    found: dict[str, _BaseAnswer] = {}
    changed = changed_answers(base.entry, entry, base.semantic)
    for asked in findings.asked:
        name = named(asked.case.number, findings.names)
        if name not in changed:
            continue
        aside = asked.answers.aside(accepted.hide)
        beside = _BaseAnswer(aside, aside.stored(base.entry["baselines"][name], failed=False))
        if not (yield from _is_odd(asked, beside, base, ledger, accepted.hide, findings.names)):
            continue
        letters = {
            mutation.id: "".join(map(beside.letter, numbers))
            for mutation, numbers in zip(asked.mutations, asked.answers.matrix.mutated, strict=True)
        }
        told = entry["trials"].get(name, {})
        trials = {
            trial: letters[trial] if len(letters.get(trial, "")) == len(was) else "?" * len(was)
            for trial, was in told.items()
        }
        again = {
            mutation.id: "".join(map(beside.letter, numbers))
            for place, mutation in enumerate(asked.mutations)
            if (numbers := asked.answers.matrix.repeated.get(place))
        }
        answer = base.entry["baselines"][name]
        entry["trials"][name], entry["baselines"][name], entry["again"][name] = trials, answer, again
        base.against[name] = {"baseline": answer, "trials": trials, "again": again}
        found[name] = beside
    return found


def _is_odd(
    asked: CaseAnswers,
    beside: _BaseAnswer,
    base: ComparedBase,
    ledger: RunLedger,
    hide: Callable[[Any], Any],
    names: Sequence[str],
) -> Any:
    """Whether the unmutated prompt mostly answers as in the base, although its first answer today is another."""
    later = list(asked.answers.matrix.baseline[1:][:UNMUTATED])
    missing = UNMUTATED - len(later)
    if missing > min(base.most, base.session.left):
        return False
    if missing > 0:
        base.takes(missing)
        name = named(asked.case.number, names)
        for run in (yield asked.unmutated(missing)):
            ledger.count(run, asked.case)
            if asked.answered(run):
                later.append(beside.answers.add(run))
                base.later.setdefault(name, []).append(hide(beside.answers.value(later[-1])))
    return sum(beside.letter(number) == "E" for number in later) >= MOSTLY


def _compare_answers(
    findings: Findings, settings: EvaluationSettings, base: ComparedBase, accepted: Accepted
) -> None:
    """Say what the answers to unmutated prompts are beside the base's, with the test's own comparison."""
    comparison = settings.contract.comparison
    for asked in findings.asked:
        name = named(asked.case.number, findings.names)
        then = answers_of(base.entry, name)
        now = asked.unmutated_answers(accepted.hide, base.later.get(name, ()))
        if not then or not now or any(is_digest(each) for each, _ in then):
            continue
        answers = asked.answers.aside(accepted.hide)
        numbers = [answers.stored(each, failed=False) for each, _ in (*then, *now)]
        found = found_between(then, now, _Numbered(answers, numbers))
        why = found.why
        if (
            found.finding in {"changed", "minor"}
            and comparison.judge is not None
            and comparison.judge_when == "always"
        ):
            found = found._replace(finding="cannot tell")
            why = Note.of("history:answers-own-comparison", names=["judge"])
        base.beside[name] = {
            "answers": [list(each) for each in then],
            "finding": found.finding,
            "why": None if why is None else {"code": why.code, "values": dict(why.values)},
        }


@dataclass(frozen=True, slots=True)
class _Numbered:
    """The credits of some answers of a case, by their places among these."""

    answers: Answers
    numbers: Sequence[int]

    def __call__(self, one: int, other: int) -> int | None:
        return self.answers.between(self.numbers[one], self.numbers[other])


def _flips(findings: Findings, found: Flips, besides: dict[str, _BaseAnswer]) -> list[_Flip]:
    """The trials that flipped, with what they were answered when they were asked again for the verdict."""
    flips: list[_Flip] = []
    wanted = set(found.places)
    for asked in findings.asked:
        name = named(asked.case.number, findings.names)
        beside = besides.get(name)
        for place, mutation in enumerate(asked.mutations):
            if (name, mutation.id) not in wanted or len(flips) == MOST_FLIPS:
                continue
            if beside is None:
                again = [letter_of(each.outcome) for each in asked.trials.get(mutation.id, ())]
            else:
                again = [*map(beside.letter, asked.answers.matrix.repeated.get(place, ()))]
            failed = [found.failed(name, each) for each in again]
            flips.append(_Flip(asked, place, mutation, name, failed, beside))
    return flips


def _asked(
    flips: Sequence[_Flip], found: Flips, base: ComparedBase, ledger: RunLedger, wanted: list[FlipRequest]
) -> Steps:
    """One look: all that is wanted, at once."""
    steps = [
        (flip, step)
        for flip, times in ((flips[each.flip], each.times) for each in wanted)
        for step in flip.case.once_more(flip.place, times)
    ]
    base.takes(len(steps))
    runs = yield [step for _, step in steps]
    made = [(flip, run) for (flip, _), run in zip(steps, runs, strict=True)]
    for flip, run in made:
        ledger.count(run, flip.case.case)
    for asked in {flip.case.case.number: flip.case for flip, _ in made}.values():
        asked.ahead([(flip.mutation, run) for flip, run in made if flip.case is asked])
    for flip, run in made:
        letter = _answered(flip, run, base)
        if letter:
            flip.failed.append(found.failed(flip.name, letter))


def _answered(flip: _Flip, run: Run, base: ComparedBase) -> str:
    """What a flipped trial was answered once more, as a letter; empty where it has no answer."""
    trial = flip.case.answered_again(flip.mutation, run)
    if trial is None:
        return ""
    if flip.beside is None:
        return letter_of(trial.outcome)
    letter = flip.beside.letter(flip.beside.answers.add(run, trial))
    again = base.against[flip.name]["again"]
    again[flip.mutation.id] = again.get(flip.mutation.id, "") + letter
    return letter
