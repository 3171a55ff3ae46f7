"""What breaks a brittle test, made as small as it can be: one counterexample for each way in which it breaks.

The verdict is told by then, and stays what it is, whatever comes of this.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import NotRecordedError, PromptfuzzError
from pytest_promptfuzz.evaluating.phases.baseline import in_one_line as described
from pytest_promptfuzz.evaluating.phases.baseline import mixed_models
from pytest_promptfuzz.evaluating.phases.resampling import confirming
from pytest_promptfuzz.prompts.prompt import Prompt
from pytest_promptfuzz.results.counterexamples import Counterexample, Replayed, said_of, told
from pytest_promptfuzz.running.run import together
from pytest_promptfuzz.searching.failures import by_kind, in_one_line, kind_of, reanchored, same_failure
from pytest_promptfuzz.searching.shrinker import BudgetSpent, Smallest, shrunk
from pytest_promptfuzz.wire.calls import NOT_RECORDED

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from pytest_promptfuzz.evaluating.job import Case, Epoch, Job, Steps
    from pytest_promptfuzz.evaluating.phases.resampling import CaseAnswers
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.results.counterexamples import KnownCounterexample
    from pytest_promptfuzz.results.robustness import Robustness
    from pytest_promptfuzz.results.trials import Trial
    from pytest_promptfuzz.running.run import Run, Step

    Asking = Generator[list[Step], list[Run], Any]


# Counterexamples that are known of a test, asked before its plan.
#
# They are no part of the sample: they were chosen for failing, so that score, interval and tests leave them out.


_UNANSWERED = "the recording has no answer for it; record the test again"


@dataclass(slots=True)
class KnownCounterexamples:
    """The counterexamples of a test that were known before.

    Attributes:
        known: As they were kept.
        replayed: What became of those that were asked.
        decide: Whether one that still breaks is a find, so that it has to break twice.
    """

    known: Sequence[KnownCounterexample] = ()
    replayed: list[Replayed] = field(default_factory=list)
    decide: bool = False

    def has(self, name: str | None) -> bool:
        """Whether one has this ID."""
        return any(each.id == name for each in self.known)


def replaying(job: Job, asked: CaseAnswers, limited: Prompt | None = None) -> Epoch:
    """The runs of the counterexamples that are known of a case; what became of them is kept in ``job.pins``.

    Where one alone is to be run, only that one is.

    Args:
        job: The test.
        asked: What was asked of the case.
        limited: The prompt, limited to what may change in it; by default that of the case's plan.

    Returns:
        Their trials.
    """
    known = [
        each
        for each in job.pins.known
        if each.found.case == asked.case.number and (job.only is None or each.id == job.only)
    ]
    job.pins.replayed = [
        each for each in job.pins.replayed if each.known not in known
    ]  # a case may be asked anew
    prompt = _limited(asked) if limited is None else limited
    placed: list[tuple[KnownCounterexample, Mutation]] = []
    for each in known:
        mutation = reanchored(each.found.mutation, prompt)
        if isinstance(mutation, str):
            job.pins.replayed.append(Replayed(each, "gone", mutation))
        else:
            placed.append((each, mutation))
    trials = yield from _asked_until_told(job, asked, placed)
    for (each, mutation), found in zip(placed, trials, strict=True):
        job.pins.replayed.append(_replayed(each, mutation, found, job, asked))
    return [replace(trial, sample=sample) for found in trials for sample, trial in enumerate(found)]


def still_breaking(job: Job) -> list[Counterexample]:
    """Those that still break the answer, as they are today: a search for what breaks it needs no more."""
    return [each.now for each in job.pins.replayed if each.status == "breaks" and each.now is not None]


def known_to_fail(job: Job, trials: Sequence[Trial]) -> bool:
    """Whether a known counterexample breaks in the way of these trials, so that nothing is to be made smaller."""
    broke = [each.trial for each in job.pins.replayed if each.status == "breaks" and each.trial is not None]
    return any(same_failure(one, trials[0]) for one in broke)


def with_replayed(result: Robustness, job: Job) -> Robustness:
    """The result with what became of known counterexamples; a pin that holds (``pinned="fail"``) decides it."""
    if not job.pins.replayed:
        return result
    breaking = still_breaking(job)
    result = replace(
        result, replayed=tuple(job.pins.replayed), notes=(*said_of(job.pins.replayed), *result.notes)
    )
    if breaking and job.contract.pinned == "fail" and result.verdict != "brittle" and job.only is None:
        named = f"{breaking[0].id}: {breaking[0].failure}".rstrip(".")
        more = f", and {len(breaking) - 1} more" if len(breaking) > 1 else ""
        result = replace(
            result,
            verdict="brittle",
            reason="pinned",
            explanation=f"A known counterexample still breaks it ({named}{more}), and pinned='fail'.",
        )
    if result.verdict == "brittle" and job.only is None:
        result = replace(result, counterexamples=(*breaking, *result.counterexamples))
    return result


def _limited(asked: CaseAnswers) -> Prompt:
    """The prompt of a case, limited to what may change in it: that of its plan."""
    for each in asked.case.planned or ():
        return each.source if each.source is not None else Prompt(each.original)
    return asked.prompt


def _confirms(job: Job, asked: CaseAnswers) -> bool:
    """Whether a break counts only if it comes again: something rests on it, or answers are known to vary."""
    return job.pins.decide or job.contract.pinned == "fail" or len(set(asked.answers.matrix.baseline)) > 1


def _asked_until_told(
    job: Job, asked: CaseAnswers, placed: Sequence[tuple[KnownCounterexample, Mutation]]
) -> Generator[list[Step], list[Run], list[list[Trial]]]:
    confirm = _confirms(job, asked)
    trials: list[list[Trial]] = [[] for _ in placed]
    while True:
        open_ = [
            place
            for place, (each, _) in enumerate(placed)
            if not any(trial.error is not None for trial in trials[place])
            and told(_broke(trials[place]), each.found.repeats, confirm=confirm) is None
        ]
        if not open_:
            return trials
        runs = yield [asked.apart(placed[place][1]) for place in open_]
        made = [(run, placed[place][1]) for place, run in zip(open_, runs, strict=True)]
        for run in runs:
            job.count(run, asked.case)
        yield from confirming(job, asked, [(mutation, run) for run, mutation in made])
        asked.judge.ahead(made, asked.baseline, caused=asked.caused)
        for place, (run, mutation) in zip(open_, made, strict=True):
            trial = asked.trial(mutation, run)
            if trial.failure is not None and run.exception is not None:
                job.failures.setdefault(trial.id, run.exception)
            trials[place].append(trial)


def _broke(trials: Sequence[Trial]) -> list[bool]:
    return [kind_of(trial) is not None for trial in trials]


def _replayed(
    known: KnownCounterexample, mutation: Mutation, trials: Sequence[Trial], job: Job, asked: CaseAnswers
) -> Replayed:
    error = next((trial.error for trial in trials if trial.error is not None), None)
    if error is not None:
        return Replayed(known, "unanswered", _UNANSWERED if error.kind == NOT_RECORDED else error.message)
    broke = [trial for trial in trials if kind_of(trial) is not None]
    why = f"{len(broke)} of {len(trials)} times" if broke else ""
    status = told(_broke(trials), known.found.repeats, confirm=_confirms(job, asked))
    assert status is not None
    if status == "passes" and known.target != job.target:
        status, why = "elsewhere", f"it was found on {known.target or 'another target'}"
    if any(trial.outcome == "undecided" for trial in trials) and not broke:
        return Replayed(known, "unanswered", "nothing installed can tell whether its answer differs")
    shown = (broke or trials)[-1]
    found = known.found
    now = replace(
        found,
        mutation=mutation,
        baseline=asked.baseline.value,
        answer=shown.value,
        failure=in_one_line(shown) if broke else found.failure,
        repeats=(found.repeats[0] + len(broke), found.repeats[1] + len(trials)),
        calls=len(trials),
        minimal=found.minimal and mutation.text == found.mutation.text,
    )
    why = now.failure if status == "breaks" else why
    return Replayed(known, status, why, now, broke[-1] if broke else None)


MOST_KINDS = 3
_ANSWERS = 3  # to the smallest change at least, before it is shown
_FLIP = 0.4  # where answers mislead more often, no number of queries that anybody would pay for tells
_DOUBT = 0.1  # how often they mislead at least, once one was seen to
_PASSES = frozenset({"not-exercised", "skipped"})  # errors that say that a change breaks nothing
_UNRECORDED = "not shrunk: the recording has no answers for it; record the test again"


class _Broken(BudgetSpent):
    """Nothing more can be asked, however many queries are left."""


def counterexamples(job: Job, cases: Sequence[Case]) -> Steps:
    """The runs that make what breaks a test as small as it can be, if the test is about to fail as brittle.

    Args:
        job: The test, every trial of which was made. Its counterexamples and its notes are filled.
        cases: Those that have begun.
    """
    queries = job.contract.shrink
    if (
        not queries
        or job.only is not None
        or all(map(_kept, job.trials))
        or job.judged().verdict != "brittle"
    ):
        return
    job.told = True
    asked = {each.number: each.asked for each in cases if each.asked is not None}
    trials = [each for each in job.trials if each.mutation.relation == "invariance" and each.case in asked]
    kinds = by_kind([each for each in trials if each.outcome == "deviation"]) or by_kind(trials)
    kinds = [each for each in kinds if not known_to_fail(job, each)][:MOST_KINDS]
    share, rest = divmod(queries, len(kinds) or 1)
    purse = _Purse(rest)
    searches = [_Search(job, asked, kind, purse, share) for kind in kinds]
    try:
        yield from together([each.steps() for each in searches])
    except Exception as error:  # noqa: BLE001 - the verdict stands, whatever went wrong after it
        job.notes.append(f"what breaks the test was not made smaller: {described(error)}")
    finally:
        job.counterexamples += [each.found for each in searches if each.found is not None]
        job.notes += dict.fromkeys(each.why for each in searches if each.why)


def _kept(trial: Trial) -> bool:
    return trial.outcome not in {"deviation", "minor"}


@dataclass(slots=True)
class _Purse:
    """Queries that those who are done have left over."""

    spare: int


@dataclass(slots=True)
class _Search:
    """The search for the smallest change that breaks a test in one way.

    Attributes:
        job: The test.
        cases: What was asked of each of its cases.
        trials: Those that break in this way, the least severe first.
        purse: Queries left over by others.
        left: Queries that are its own.
        found: The smallest change, once the search is over; ``None`` where what broke does not break again.
        why: Why it was not searched to the end; empty where it was.
    """

    job: Job
    cases: Mapping[int, CaseAnswers]
    trials: Sequence[Trial]
    purse: _Purse
    left: int
    found: Counterexample | None = None
    why: str = ""
    _trial: Trial | None = None
    _smallest: Smallest | None = None
    _answers: dict[str, list[Trial]] = field(default_factory=dict)
    _calls: int = 0

    def steps(self) -> Steps:
        """The runs that it takes."""
        try:
            yield from self._chosen()
            if self._trial is not None:
                yield from self._searched(self._trial.mutation)
        except BudgetSpent as ended:
            self.why = str(ended)
        finally:
            self.found = self._counterexample()
            self.purse.spare += self.left
            self.left = 0

    def _chosen(self) -> Asking:
        """Choose the first change that breaks the answer again, more often than not; else the one that does most."""
        for trial in self.trials:
            asked = self.cases[trial.case]
            self._answers[trial.mutation.text] = [trial, *asked.trials.get(trial.id, ())]
        for trial in self.trials:
            self._trial = trial
            if len(self._answers[trial.mutation.text]) == 1:
                yield from self._ask([trial.mutation], anew=True)
            if self._again(trial) > 0.5:
                return
        often = max(self.trials, key=self._again)
        self._trial = often if self._again(often) else None

    def _searched(self, whole: Mutation) -> Asking:
        """Make it smaller; where what is left does not always break, ask everything more often."""
        flip = self._flip(whole)
        while self._share(whole) > 0.5:
            yield from self._shrunk(whole, flip)
            share = 1.0 if self._smallest is None else self._share(self._smallest.mutation)
            if flip or share == 1:
                return
            flip = min(_FLIP, max(_DOUBT, 1 - share))

    def _flip(self, whole: Mutation) -> float:
        """How often an answer misleads: the change that does not break, an unmutated prompt that disagrees."""
        floor = self.job.evidence.floor
        # Two answers agree if both are usual or both are odd: floor = e² + (1 - e)².
        odd = 0.0 if floor is None else (1 - math.sqrt(max(0.0, 2 * float(floor) - 1))) / 2
        return min(_FLIP, max(odd, 1 - self._share(whole)))

    def _shrunk(self, whole: Mutation, flip: float) -> Asking:
        answers = self._answers[whole.text]
        failed = sum(same_failure(self.trials[0], each) for each in answers)
        steps = shrunk(whole, flip=flip, known=(failed, len(answers)))
        ended: BaseException | None = None
        try:
            wanted = next(steps)
            while True:
                try:
                    told = yield from self._ask(wanted, anew=flip > 0, keep=_ANSWERS - 1)
                except (BudgetSpent, GeneratorExit) as spent:
                    ended = spent
                    wanted = steps.throw(BudgetSpent())  # it is over, and says what is smallest by now
                else:
                    wanted = steps.send(told)
        except StopIteration as stop:
            self._smallest = stop.value
        if isinstance(ended, _Broken | GeneratorExit):
            raise ended
        found = self._smallest.mutation if self._smallest is not None else whole
        missing = _ANSWERS - len(self._answers.get(found.text, ()))
        if missing > 0:
            yield from self._ask([found] * missing, anew=True)
        if ended is not None:
            raise ended

    def _ask(self, mutations: Sequence[Mutation], *, anew: bool = False, keep: int = 0) -> Asking:
        """Whether changes break the answer in this way.

        Args:
            mutations: The changes.
            anew: Whether each is asked, though it was answered before.
            keep: Queries that are not to be spent on it.

        Raises:
            BudgetSpent: There are too few queries left.
            _Broken: Something went wrong that more queries do not mend.
        """
        new = {each.text: each for each in mutations if each.text not in self._answers}
        wanted = list(mutations) if anew else list(new.values())
        if self.left + self.purse.spare - keep < len(wanted):
            queries = self.job.contract.shrink
            raise BudgetSpent(f"shrinking ended early: the {queries} queries of shrink={queries} are spent")
        own = min(self.left, len(wanted))
        self.left -= own
        self.purse.spare -= len(wanted) - own
        self._calls += len(wanted)
        try:
            trials = (yield from self._made(wanted)) if wanted else []
        except NotRecordedError as error:
            raise _Broken(_UNRECORDED) from error
        except PromptfuzzError as error:
            raise _Broken(f"shrinking ended early: {error}") from error
        if anew:
            return [same_failure(self.trials[0], each) for each in trials]
        return [self._share(each) > 0.5 for each in mutations]

    def _made(self, mutations: Sequence[Mutation]) -> Asking:
        """The trials of changes; those that went wrong end everything, once the others are kept."""
        assert self._trial is not None
        asked = self.cases[self._trial.case]
        runs = yield [asked.apart(each) for each in mutations]
        for run in runs:
            self.job.count(run, asked.case)
        if self._trial.id in asked.caused:  # a part of what a model refuses may be refused, too
            asked.caused.update(each.id for each in mutations)
        asked.judge.ahead(list(zip(runs, mutations, strict=True)), asked.baseline, caused=asked.caused)
        trials = [asked.trial(each, run) for run, each in zip(runs, mutations, strict=True)]
        for trial in trials:
            if trial.error is None or trial.error.kind in _PASSES:
                self._answers.setdefault(trial.mutation.text, []).append(trial)
        errors = [each.error for each in trials if each.error is not None and each.error.kind not in _PASSES]
        if any(each.kind == NOT_RECORDED for each in errors):
            raise _Broken(_UNRECORDED)
        mixed = mixed_models(asked.case.models)
        if errors or mixed:
            raise _Broken(f"shrinking ended early: {mixed or errors[0].message}")
        return trials

    def _share(self, mutation: Mutation) -> float:
        """How often a change broke the answer in this way, of the times that it was asked."""
        return self._of(self._answers.get(mutation.text, ()))

    def _again(self, trial: Trial) -> float:
        """The same of the times that a trial's change was asked again."""
        return self._of(self._answers[trial.mutation.text][1:])

    def _of(self, answers: Sequence[Trial]) -> float:
        return sum(same_failure(self.trials[0], each) for each in answers) / (len(answers) or 1)

    def _counterexample(self) -> Counterexample | None:
        trial, smallest = self._trial, self._smallest
        if trial is None:
            return None
        mutation, minimal = trial.mutation, False
        if smallest is not None and self._share(smallest.mutation) > 0.5:
            same = smallest.mutation.text == mutation.text
            mutation = mutation if same else smallest.mutation
            minimal = smallest.minimal and not self.why
        answers = self._answers[mutation.text]
        broke = [each for each in answers if same_failure(trial, each)]
        return Counterexample(
            mutation,
            trial.id,
            trial.case,
            self.cases[trial.case].baseline.value,
            broke[-1].value,
            in_one_line(broke[-1]),
            minimal,
            self._calls,
            (len(broke), len(answers)),
        )
