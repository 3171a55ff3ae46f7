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
from pytest_promptfuzz.results.trials import Searched
from pytest_promptfuzz.stats.verdict import Judgement
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
    from pytest_promptfuzz.stats.verdict import Reason


_HOPELESS = {"target-failed", "cost-spent", "time-spent"}  # ends after which no other input would fare better


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
        if self.session.mode in {"record", "replay"} or not isinstance(
            self.search_settings.objective, Deviation
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
        said = [note for each in ([runner] if runner else self.runners) for note in each.said()]
        return replace(
            result,
            explanation=explained(judgement),
            notes=tuple(dict.fromkeys([*result.notes, *said, *self._left()])),
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
            return Judgement.stated("brittle", "counterexample-found", self._found(finder))
        known = self._known
        if known is not None and known.now is not None:
            on = self._on(known.now.case)
            said = f"A known counterexample still breaks the test{on}; nothing more was searched."
            return Judgement.stated("brittle", "counterexample-found", said)
        for runner in self.runners:
            undone = _undone(runner)
            if undone is not None:
                return Judgement.stated(
                    undone.verdict, undone.reason, f"{explained(undone)}{self._on(runner.case)}."
                )
        return Judgement.stated("pass", "none-found", self._none())

    def _found(self, runner: SearchRunner) -> str:
        assert self.search_settings is not None
        found = runner.counterexample()
        assert found is not None
        settings = self.search_settings
        said = f"A change of the prompt breaks the test{self._on(runner.case)}, found by query "
        said += f"{self._found_at(runner)} of {settings.queries:,} ({settings.name})"
        if runner.ending.why == "found":
            return (
                f"{said}." if found.minimal else f"{said}; the budget ended before it was as small as can be."
            )
        return f"{said}; before it was as small as can be, {runner.ending.explanation}."

    def _none(self) -> str:
        assert self.search_settings is not None
        over = f" over {self.inputs} inputs" if self.inputs > 1 else ""
        said = f"No counterexample in {self.asked:,} queries{over} ({self.search_settings.name})"
        ends = {runner.ending.why: runner for runner in self.runners}
        if set(ends) == {"exhausted"}:
            said += ", which had nothing more to ask"
        for why in ("cost-spent", "time-spent"):
            if why in ends:
                said += f", before {ends[why].ending.explanation}"
        errors = sum(runner.budget.errors for runner in self.runners)
        return f"{said}; {errors} of them got no answer." if errors else f"{said}."

    def _on(self, case: int) -> str:
        names = self.findings.names
        name = names[case] if case < len(names) else ""
        return f" on input {name}" if name else ""

    def _found_at(self, runner: SearchRunner) -> int:
        before = self.runners[: self.runners.index(runner)]
        return runner.found_at + sum(each.budget.queries for each in before) + self._replays

    def _left(self) -> list[str]:
        if not self.unsearched:
            return []
        count = len(self.unsearched)
        return [f"{count} more input{'s were' if count > 1 else ' was'} not searched: the search was over"]

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


def _undone(runner: SearchRunner) -> Judgement | None:
    """Why a search that found nothing proves nothing; ``None`` where it was done."""
    changed = sum(each.asked for each in runner.tried.known.values())
    if runner.ending.why == "noisy":
        return Judgement.stated(
            "noisy", "baseline-mixed", f"Nothing can be searched: {runner.ending.explanation}"
        )
    if runner.ending.why == "unconfirmed":
        return Judgement.stated(
            "inconclusive", "budget-spent", f"Nothing is certain: {runner.ending.explanation}"
        )
    if runner.ending.why == "interrupted":
        return Judgement.stated(
            "inconclusive", "interrupted", f"It was interrupted after {runner.budget.queries} queries"
        )
    lost = runner.budget.lost
    if lost is not None and lost.kind == "budget":
        why = f"The budget was spent after {runner.budget.queries} of {runner.settings.queries} queries: {lost.message}"
        return Judgement.stated("inconclusive", "budget-spent", why.rstrip("."))
    if lost is not None and (runner.ending.why == "target-failed" or runner.budget.errors > changed):
        reason: Reason = "not-exercised" if lost.kind == "not-exercised" else "errors-decide"
        why = f"{runner.budget.errors} of {runner.budget.queries} queries got no answer; the last: {lost.message}"
        return Judgement.stated("inconclusive", reason, f"Too little could be searched: {why}".rstrip("."))
    if not changed:
        why = runner.ending.explanation or "the budget holds no more than what the method first asks"
        return Judgement.stated("inconclusive", "budget-spent", f"No changed prompt was asked: {why}")
    return None
