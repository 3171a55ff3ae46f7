"""Shrinking: what breaks a brittle test, made as small as it can be, one counterexample for each way it breaks.

The verdict is told by then, and stays what it is, whatever comes of this.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import NotRecordedError, PromptfuzzError
from pytest_promptfuzz.evaluating.contract import described
from pytest_promptfuzz.evaluating.phases.batches import mixed_models
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.relay import relayed
from pytest_promptfuzz.results.counterexamples import Counterexample
from pytest_promptfuzz.running.run import together
from pytest_promptfuzz.searching.failures import by_kind, in_one_line, same_failure
from pytest_promptfuzz.searching.shrinker import BudgetSpent, Smallest, shrunk
from pytest_promptfuzz.wire.calls import NOT_RECORDED

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from pytest_promptfuzz.evaluating.cases import (
        CaseAnswers,
        Findings,
        KnownCounterexamples,
        RunLedger,
        Steps,
    )
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.results.trials import Trial
    from pytest_promptfuzz.running.run import Run, Step

    Asking = Generator[list[Step], list[Run], Any]


MOST_KINDS = 3
_ANSWERS = 3  # to the smallest change at least, before it is shown
_FLIP = 0.4  # where answers mislead more often, no number of queries that anybody would pay for tells
_DOUBT = 0.1  # how often they mislead at least, once one was seen to
_PASSES = frozenset({"not-exercised", "skipped"})  # errors that say that a change breaks nothing


class _Ended(BudgetSpent):
    """It ends early; ``note`` is why."""

    def __init__(self, note: Note) -> None:
        super().__init__(note.code)
        self.note = note


class _Broken(_Ended):
    """Nothing more can be asked, however many queries are left."""


def shrinking(
    findings: Findings,
    queries: int,
    pins: KnownCounterexamples,
    ledger: RunLedger,
    found: list[Counterexample],
) -> Steps:
    """The runs that make what breaks a brittle test as small as it can be.

    Args:
        findings: Every trial of the test.
        queries: How often the prompt may be asked in all.
        pins: Counterexamples that are known: what breaks in their way is not made smaller.
        ledger: Takes what runs took, and why the search ended early.
        found: Takes the smallest changes, as far as they are known when this ends, by whatever it ends.
    """
    asked = {each.case.number: each for each in findings.asked}
    trials = [
        each for each in findings.trials if each.mutation.relation == "invariance" and each.case in asked
    ]
    kinds = by_kind([each for each in trials if each.outcome == "deviation"]) or by_kind(trials)
    kinds = [each for each in kinds if not _explained(each, pins)][:MOST_KINDS]
    share, rest = divmod(queries, len(kinds) or 1)
    purse = _Purse(queries, rest)
    floor = None if findings.evidence.floor is None else float(findings.evidence.floor)
    searches = [_Search(asked, kind, purse, share, floor, ledger) for kind in kinds]
    try:
        yield from together([each.steps() for each in searches])
    except Exception as error:  # noqa: BLE001 - the verdict stands, whatever went wrong after it
        ledger.notes.append(Note.of("evaluations:not-shrunk", error=described(error)))
    finally:
        found += [each.found for each in searches if each.found is not None]
        ledger.notes += [each.why for each in searches if each.why is not None]


def _explained(trials: Sequence[Trial], pins: KnownCounterexamples) -> bool:
    """Whether a known counterexample breaks in the way of these trials, so that nothing is to be made smaller."""
    broke = [each.trial for each in pins.replayed if each.status == "breaks" and each.trial is not None]
    return any(same_failure(one, trials[0]) for one in broke)


@dataclass(slots=True)
class _Purse:
    """The queries of all searches, and those that the searches which are done have left over."""

    queries: int
    spare: int


@dataclass(slots=True)
class _Search:
    """The search for the smallest change that breaks a test in one way.

    Attributes:
        cases: What was asked of each case of the test.
        trials: Those that break in this way, the least severe first.
        purse: Queries left over by others.
        left: Queries that are its own.
        floor: How far the unmutated prompt agrees with itself; ``None`` where that is not known.
        ledger: Takes what runs took.
        found: The smallest change, once the search is over; ``None`` where what broke does not break again.
        why: Why it was not searched to the end; ``None`` where it was.
    """

    cases: Mapping[int, CaseAnswers]
    trials: Sequence[Trial]
    purse: _Purse
    left: int
    floor: float | None
    ledger: RunLedger
    found: Counterexample | None = None
    why: Note | None = None
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
        except _Ended as ended:
            self.why = ended.note
        except BudgetSpent:
            pass
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
        # Two answers agree if both are usual or both are odd: floor = e² + (1 - e)².
        odd = 0.0 if self.floor is None else (1 - math.sqrt(max(0.0, 2 * self.floor - 1))) / 2
        return min(_FLIP, max(odd, 1 - self._share(whole)))

    def _shrunk(self, whole: Mutation, flip: float) -> Asking:
        answers = self._answers[whole.text]
        failed = sum(same_failure(self.trials[0], each) for each in answers)
        ended: list[BudgetSpent] = []

        def kept() -> Generator[list[Mutation], list[bool], None]:
            self._smallest = yield from shrunk(whole, flip=flip, known=(failed, len(answers)))

        def told(wanted: list[Mutation]) -> Asking:
            try:
                return (yield from self._ask(wanted, anew=flip > 0, keep=_ANSWERS - 1))
            except BudgetSpent as spent:
                ended.append(spent)
                raise
            except GeneratorExit:  # it is over, too, and what is smallest by now is kept
                raise BudgetSpent from None

        yield from relayed(kept(), told)
        if ended and isinstance(ended[-1], _Broken):
            raise ended[-1]
        found = self._smallest.mutation if self._smallest is not None else whole
        missing = _ANSWERS - len(self._answers.get(found.text, ()))
        if missing > 0:
            yield from self._ask([found] * missing, anew=True)
        if ended:
            raise ended[-1]

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
            queries = self.purse.queries
            raise _Ended(Note.of("evaluations:shrinking-spent", queries=queries))
        own = min(self.left, len(wanted))
        self.left -= own
        self.purse.spare -= len(wanted) - own
        self._calls += len(wanted)
        try:
            trials = (yield from self._made(wanted)) if wanted else []
        except NotRecordedError as error:
            raise _Broken(Note.of("evaluations:shrinking-unrecorded")) from error
        except PromptfuzzError as error:
            raise _Broken(Note.of("evaluations:shrinking-ended", why=str(error))) from error
        if anew:
            return [same_failure(self.trials[0], each) for each in trials]
        return [self._share(each) > 0.5 for each in mutations]

    def _made(self, mutations: Sequence[Mutation]) -> Asking:
        """The trials of changes; those that went wrong end everything, once the others are kept."""
        assert self._trial is not None
        asked = self.cases[self._trial.case]
        runs = yield [asked.apart(each) for each in mutations]
        for run in runs:
            self.ledger.count(run, asked.case)
        caused = asked.refusals.caused
        if self._trial.id in caused:  # a part of what a model refuses may be refused, too
            caused.update(each.id for each in mutations)
        asked.judge.ahead(list(zip(runs, mutations, strict=True)), asked.baseline, caused=caused)
        trials = [asked.trial(each, run) for run, each in zip(runs, mutations, strict=True)]
        for trial in trials:
            if trial.error is None or trial.error.kind in _PASSES:
                self._answers.setdefault(trial.mutation.text, []).append(trial)
        errors = [each.error for each in trials if each.error is not None and each.error.kind not in _PASSES]
        if any(each.kind == NOT_RECORDED for each in errors):
            raise _Broken(Note.of("evaluations:shrinking-unrecorded"))
        mixed = mixed_models(asked.case.models)
        if errors or mixed:
            raise _Broken(Note.of("evaluations:shrinking-ended", why=mixed or errors[0].message))
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
            minimal = smallest.minimal and self.why is None
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
