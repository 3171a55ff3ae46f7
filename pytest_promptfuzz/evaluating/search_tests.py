"""A test that is a search: every input in turn, on one budget, until a change is found that breaks the test."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.clocks import monotonic
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.evaluating.evaluation import Evaluation
from pytest_promptfuzz.evaluating.phases.replays import replaying
from pytest_promptfuzz.evaluating.search import SearchEvaluation
from pytest_promptfuzz.evaluating.search_runner import ReachedAlready, SearchRunner
from pytest_promptfuzz.evaluating.search_settings import Deviation
from pytest_promptfuzz.mutations.engine.edits import Tokens, touched_words
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.results.trials import Searched
from pytest_promptfuzz.stats.verdict import Judgement
from pytest_promptfuzz.wording.sentences import sentence
from pytest_promptfuzz.wording.verdicts import explained

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from pytest_promptfuzz.evaluating.cases import CaseAnswers, Epoch, Steps
    from pytest_promptfuzz.evaluating.search_settings import SearchSettings
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.results.counterexamples import Replayed
    from pytest_promptfuzz.results.robustness import Robustness
    from pytest_promptfuzz.running.run import Run, Step
    from pytest_promptfuzz.searching.search_result import Ended
    from pytest_promptfuzz.stats.verdict import Reason, Verdict


_SPENT: tuple[Ended, ...] = ("cost-spent", "time-spent")
_HOPELESS = {"target-failed", *_SPENT}  # ends after which no other input would fare better


@dataclass(slots=True)
class SearchedTest(SearchEvaluation):
    """An evaluation that is brittle if its search finds something, and passes if it does not.

    Attributes:
        search_settings: How it goes about it; the budget is the whole test's.
        inputs: How many inputs share the budget: each has an equal part of what is left when its turn comes.
        runners: What was searched, in order; an input that was asked anew has two.
        unsearched: The names of inputs that were left out, since the search was over.
        clock: Seconds.
    """

    search_settings: SearchSettings | None = None
    inputs: int = 1
    runners: list[SearchRunner] = field(default_factory=list)
    unsearched: list[str] = field(default_factory=list)
    clock: Callable[[], float] = monotonic
    _began: float | None = None
    _replays: int = 0

    def case(self, prompt: Prompt, name: str = "", expected: Any = None) -> Steps:
        """As ``Evaluation.case``; nothing once the search is over."""
        if self._over:
            self.unsearched.append(name)
            return
        yield from Evaluation.case(self, prompt, name, expected)

    def begin(self, asked: CaseAnswers) -> Epoch:
        """Search this input; what it finds is no trial of a plan.

        Raises:
            UsageError: As ``SearchRunner.epoch``.
        """
        assert self.changed is not None  # `plan` is asked before
        if (yield from self._known_breaks(asked, self.changed)):
            return []
        share = self._share()
        self.runner = SearchRunner(
            share,
            self.settings.where,
            clock=self.clock,
            spare=max(0, self.budget - self.asked - share.queries),
        )
        self.runners.append(self.runner)
        try:
            yield from self.runner.epoch(asked, self.changed, self.ledger)
        except ReachedAlready as error:  # whose name says nothing to who reads it in a report
            raise UsageError(str(error)) from None
        return []

    def _known_breaks(self, asked: CaseAnswers, prompt: Prompt) -> Generator[list[Step], list[Run], bool]:
        """Ask what is known to break the test, in its own sense; a recording holds a whole search, which needs none."""
        assert self.search_settings is not None
        if (
            self.session.records
            or self.session.mode == "replay"
            or not isinstance(self.search_settings.objective, Deviation)
        ):
            return False
        self.pins.known = [each for each in self.pins.known if self._within(each.found.mutation)]
        self.pins.decide = True
        limited = prompt.limited(self.contract.plan.part)
        self._replays += len((yield from replaying(asked, self.pins, self.ledger, limited)))
        if self._known is None or not self._known.known.found.minimal:
            return False  # what is not as small as can be is searched for anew: there may be a smaller one
        self._replays += 1  # the unmutated prompt, which a search would count
        return True

    def _within(self, mutation: Mutation) -> bool:
        """Whether a change that is known keeps what this search is to keep: its limits may be tighter by now."""
        assert self.search_settings is not None
        limits, words = self.search_settings.changes, touched_words(mutation.edits, Tokens(mutation.original))
        if mutation.change_rate > limits.change_rate or (limits.words is not None and words > limits.words):
            return False
        return limits.cosine is None and (limits.allows is None or limits.allows(mutation))

    def conclude(self) -> Robustness:
        """The result; there is no score, for what a search asks is chosen to break the prompt."""
        judgement = self.findings.overruled = self.findings.overruled or self._judgement()
        searched = self._searched()
        found = searched.found
        failures = self.ledger.failures.items()
        self.ledger.failures = {name: each for name, each in failures if found and name == found.id}
        runner = self._finder
        self.counterexamples = [] if runner is None else [*filter(None, [runner.counterexample()])]
        result = Evaluation.conclude(self)
        known = [note for each in ([runner] if runner else self.runners) for note in each.said()]
        said = map(sentence, [*known, *self._left()])
        return replace(
            result,
            explanation=explained(judgement),
            notes=tuple(dict.fromkeys([*result.notes, *said])),
            searched=searched,
        )

    @property
    def asked(self) -> int:
        """Queries so far."""
        return sum(runner.budget.queries for runner in self.runners) + self._replays

    @property
    def budget(self) -> int:
        """How many there may be."""
        return 0 if self.search_settings is None else self.search_settings.queries

    @property
    def best(self) -> float:
        """How near the goal the best of them came, in [0, 1]."""
        return max((runner.tried.best_loss for runner in self.runners), default=0.0)

    @property
    def has_found(self) -> bool:
        """Whether a change was found that breaks the test, or is known to."""
        return self._finder is not None or self._known is not None

    @property
    def _known(self) -> Replayed | None:
        """A counterexample that was known before, and still breaks the test."""
        return next((each for each in self.pins.replayed if each.status == "breaks"), None)

    @property
    def _finder(self) -> SearchRunner | None:
        """The search that found something."""
        return next((runner for runner in self.runners if runner.smallest() is not None), None)

    @property
    def _over(self) -> bool:
        if self.findings.overruled is not None or self.has_found:
            return True  # what is known and not minimal was searched for once more, on its own input
        return any(runner.ending.why in _HOPELESS for runner in self.runners)

    def _share(self) -> SearchSettings:
        """What is left, over the inputs whose turn is still to come, this one counted."""
        assert self.search_settings is not None
        whole, now, paid = self.search_settings, self.clock(), self.spent.cost or 0.0
        if self._began is None:
            self._began = now
        waiting = max(1, self.inputs - self.cases + 1)
        left = None if whole.seconds is None else whole.seconds - (now - self._began)
        return replace(
            whole,
            queries=max(1, (whole.queries - self.asked) // waiting),
            seconds=None if left is None else max(0.0, left) / waiting,
            cost=None if whole.cost is None else paid + max(0.0, whole.cost - paid) / waiting,
        )

    def _judgement(self) -> Judgement:
        finder = self._finder
        if finder is not None:
            return Judgement.noted("brittle", "counterexample-found", self._found(finder))
        known = self._known
        if known is not None and known.now is not None:
            note = Note.of("searches:known-breaks", name=self._name(known.now.case))
            return Judgement.noted("brittle", "counterexample-found", note)
        for runner in self.runners:
            undone = _undone(runner)
            if undone is not None:
                verdict, reason, why = undone
                note = Note.of("searches:undone", why=why, name=self._name(runner.case))
                return Judgement.noted(verdict, reason, note)
        return Judgement.noted("pass", "none-found", self._none())

    def _found(self, runner: SearchRunner) -> Note:
        assert self.search_settings is not None
        found = runner.counterexample()
        assert found is not None
        ending: Note | str = ""
        if runner.ending.why != "found":
            ending = Note.of("searches:ended-before", why=runner.ending.note)
        elif not found.minimal:
            ending = Note.of("searches:budget-ended")
        return Note.of(
            "searches:change-breaks",
            name=self._name(runner.case),
            query=self._found_at(runner),
            queries=self.search_settings.queries,
            method=self.search_settings.name,
            more=self.asked - self._found_at(runner),
            places=sum(each.places for each in self.runners),
            ending=ending,
        )

    def _none(self) -> Note:
        assert self.search_settings is not None
        ends = {runner.ending.why: runner.ending.note for runner in self.runners}
        return Note.of(
            "searches:none-found",
            queries=self.asked,
            inputs=self.inputs,
            method=self.search_settings.name,
            endings=[sentence(ends[why]) for why in _SPENT if why in ends],
            errors=sum(runner.budget.errors for runner in self.runners),
            exhausted=set(ends) == {"exhausted"},
        )

    def _name(self, case: int) -> str:
        names = self.findings.names
        return names[case] if case < len(names) else ""

    def _found_at(self, runner: SearchRunner) -> int:
        before = self.runners[: self.runners.index(runner)]
        return runner.found_at + sum(each.budget.queries for each in before) + self._replays

    def _left(self) -> list[Note]:
        left = len(self.unsearched)
        return [Note.of("searches:unsearched", inputs=left)] if left else []

    def _searched(self) -> Searched:
        assert self.search_settings is not None
        finder, again = self._finder, self._known
        smallest = None if finder is None else finder.smallest()
        trial = smallest.trial if smallest is not None else again.trial if again is not None else None
        known = [each for each in (runner.tried.nearest() for runner in self.runners) if each is not None]
        nearest = max(known, key=lambda each: each.loss, default=None)
        return Searched(
            method=self.search_settings.name,
            objective=self.search_settings.objective.name,
            queries=self.asked,
            budget=self.search_settings.queries,
            errors=sum(runner.budget.errors for runner in self.runners),
            places=sum(runner.places for runner in self.runners),
            found_at=self._found_at(finder) if finder is not None else self.asked if again is not None else 0,
            loss=smallest.loss if smallest is not None else 1.0 if again is not None else self.best,
            nearest=nearest.trial if nearest is not None and trial is None else None,
            found=trial,
            known=smallest is None and trial is not None,
        )


def _undone(runner: SearchRunner) -> tuple[Verdict, Reason, Note] | None:
    """Why a search that found nothing proves nothing; ``None`` where it was done."""
    budget, ending = runner.budget, runner.ending
    changed = sum(each.asked for each in runner.tried.known.values())
    if ending.why == "noisy":
        return "noisy", "baseline-mixed", Note.of("searches:nothing-searchable", why=ending.note)
    if ending.why == "unconfirmed":
        return "inconclusive", "budget-spent", Note.of("searches:nothing-certain", why=ending.note)
    if ending.why == "interrupted":
        return "inconclusive", "interrupted", Note.of("searches:interrupted-after", queries=budget.queries)
    lost = budget.lost
    if lost is not None and lost.kind == "budget":
        made, queries = budget.queries, runner.settings.queries
        note = Note.of("searches:budget-spent", made=made, queries=queries, message=lost.message)
        return "inconclusive", "budget-spent", note
    if lost is not None and (ending.why == "target-failed" or budget.errors > changed):
        reason: Reason = "not-exercised" if lost.kind == "not-exercised" else "errors-decide"
        note = Note.of(
            "searches:too-little", errors=budget.errors, queries=budget.queries, message=lost.message
        )
        return "inconclusive", reason, note
    if not changed:
        why = ending.note or Note.of("searches:budget-too-small")
        return "inconclusive", "budget-spent", Note.of("searches:nothing-asked", why=why)
    return None
