"""`SearchRunner`: a search at work on one test: its queries become runs, and what runs show becomes losses."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from pytest_promptfuzz.clocks import monotonic
from pytest_promptfuzz.comparing.meaning import cosine
from pytest_promptfuzz.errors import ConfigurationError, UsageError
from pytest_promptfuzz.evaluating.contract import described
from pytest_promptfuzz.evaluating.judge import infrastructure_error, shown, subject_of
from pytest_promptfuzz.evaluating.phases.resampling import confirming
from pytest_promptfuzz.evaluating.search_settings import (
    NEAR,
    ObservedAnswer,
    Tried,
    answer_notes,
    answer_of,
    control_notes,
    ended_by,
    said,
)
from pytest_promptfuzz.evaluating.session import refuse_unrecorded
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.relay import relayed
from pytest_promptfuzz.results.counterexamples import Counterexample
from pytest_promptfuzz.running.run import Step
from pytest_promptfuzz.searching.failures import kind_of, same_failure
from pytest_promptfuzz.searching.search_loop import Seen, searching
from pytest_promptfuzz.searching.search_result import Search
from pytest_promptfuzz.searching.shrinker import BudgetSpent, shrunk
from pytest_promptfuzz.searching.space import SearchLimits, space_of
from pytest_promptfuzz.wording.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from pytest_promptfuzz.comparing.meaning import Embedder
    from pytest_promptfuzz.evaluating.cases import CaseAnswers, Epoch, RunLedger
    from pytest_promptfuzz.evaluating.search_settings import SearchSettings, TriedPrompt
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.results.trials import Spent, Trial, TrialError
    from pytest_promptfuzz.running.run import Run
    from pytest_promptfuzz.searching.search_loop import Found
    from pytest_promptfuzz.searching.search_result import Ended
    from pytest_promptfuzz.searching.space import Space

    Answering = Generator[list[Step], list[Run], list[bool]]
    Asking = Generator[list[Step], list[Run], list[Run]]


# What ends a search: money and time that are spent, a target that fails too often, a goal that is reached already.


MOST_FAILURES = 8
"""So many queries in a row without an answer end a search."""


class Ends(Exception):  # noqa: N818 (no error: the search is over)
    """Nothing more is asked."""

    def __init__(self, why: Ended, note: Note | str) -> None:
        super().__init__(why)
        self.why: Ended = why
        self.note = note


class ReachedAlready(UsageError):  # noqa: N818 (what happened, not what to do about it)
    """The unmutated prompt's own answer reaches the goal, so that no change could."""


@dataclass(slots=True)
class SearchBudget:
    """What one search may spend, and what it has spent.

    Attributes:
        settings: The search's.
        where: The test, for messages.
        clock: Seconds.
        spare: How many queries more may be made once something is found, to make it smaller.
        queries: How often a prompt was asked.
        errors: How many of these got no answer.
        lost: Why the last of these got none.
        times: How often each mutation was asked, by its ID; the unmutated prompt has none.
    """

    settings: SearchSettings
    where: str
    clock: Callable[[], float]
    spare: int = 0
    queries: int = 0
    errors: int = 0
    lost: TrialError | None = None
    times: Counter[str] = field(default_factory=lambda: Counter({"": 1}))  # the baseline's own run
    _began: float = 0.0
    _dearest: float = 0.0
    _failures: int = 0

    @property
    def left(self) -> int:
        """How many queries there may still be, with those that are for making a find smaller."""
        return self.settings.queries + self.spare - self.queries

    def begin(self) -> None:
        """The time runs."""
        self._began = self.clock()

    def hold(self, spent: Spent, count: int) -> None:
        """Let ``count`` queries be made.

        Raises:
            Ends: The queries, the time or the money do not hold them.
            ConfigurationError: What they cost is not known.
        """
        settings = self.settings
        if count > self.left:
            most = settings.queries + self.spare
            raise Ends("queries-spent", Note.of("searches:all-queries-made", made=self.queries, most=most))
        if settings.seconds is not None and self.clock() - self._began >= settings.seconds:
            raise Ends("time-spent", Note.of("searches:time-spent", seconds=settings.seconds))
        if settings.cost is None:
            return
        if spent.unpriced:
            raise ConfigurationError(
                f"{self.where}: max_cost={settings.cost:g} cannot be kept, since the price of the model is not known. "
                "Set it (see the page on limits), or give max_seconds= or queries= alone."
            )
        # No call is made that could pass the limit, were it as dear as the dearest so far.
        if (spent.cost or 0.0) + self._dearest * count > settings.cost:
            raise Ends("cost-spent", Note.of("searches:cost-spent", cost=settings.cost, more=count))

    def paid(self, before: Spent, after: Spent) -> None:
        """A query was made."""
        self._dearest = max(self._dearest, (after.cost or 0.0) - (before.cost or 0.0))

    def answered(self) -> None:
        """It was answered."""
        self._failures = 0

    def unanswered(self, error: TrialError) -> None:
        """It was not.

        Raises:
            Ends: The budget of the session is spent, or the target answers no more.
        """
        self.errors, self.lost = self.errors + 1, error
        if error.kind == "budget":
            raise Ends("cost-spent", error.message)
        self._failures += 1
        if self._failures >= MOST_FAILURES:
            note = Note.of("searches:target-failed", failures=self._failures, message=error.message)
            raise Ends("target-failed", note)


# Whether a changed prompt still means about the same, by its embedding.


def alike(
    embedder: Embedder | None,
    original: str,
    least: float,
    allows: Callable[[Mutation], bool] | None,
    where: str,
) -> Callable[[Mutation], bool]:
    """A predicate: the changed prompt's embedding is as like the original's as is wanted.

    Args:
        embedder: What embeds both.
        original: The prompt.
        least: The cosine that is enough.
        allows: A predicate that must hold as well, and is asked first.
        where: Who wants it, for messages.

    Raises:
        ConfigurationError: There is no embedder.
    """
    if embedder is None:
        raise ConfigurationError(
            f"{where}: min_cosine= needs an embedder, and none is installed: pip install 'pytest-promptfuzz[onnx]', "
            "then promptfuzz model install."
        )
    (vector,) = embedder.embed([original])

    def holds(mutation: Mutation) -> bool:
        if allows is not None and not allows(mutation):
            return False
        (other,) = embedder.embed([mutation.text])
        return cosine(vector, other) >= least

    return holds


# A search's find made smaller within its edits: fewer characters of a word, a move of fewer segments.


def smaller(
    known: TriedPrompt,
    ask: Callable[[Sequence[Mutation]], Answering],
    *,
    allows: Callable[[Mutation], bool],
    queries: int,
    repeats: int,
) -> Generator[list[Step], list[Run], tuple[str, bool]]:
    """Shrink what a search found, and ask what is left as often as the find was before it is believed.

    Args:
        known: The find.
        ask: Makes runs, and tells of each whether it reaches the goal in the same way.
        allows: Whether a change may be asked about.
        queries: How many runs may be made.
        repeats: How often more what is left is asked.

    Returns:
        The text of the smallest change, the find's own where nothing smaller holds, and whether no smaller one does.
    """
    whole = known.mutation
    told = {whole.text: True}
    left = queries - repeats

    def answered(mutations: Sequence[Mutation]) -> Answering:
        nonlocal left
        new = list({each.text: each for each in mutations if each.text not in told and allows(each)}.values())
        if len(new) > left:
            raise BudgetSpent
        left -= len(new)
        for each, reached in zip(new, (yield from ask(new)) if new else [], strict=True):
            told[each.text] = reached
        return [told.get(each.text, False) for each in mutations]

    found = yield from relayed(shrunk(whole, known=(known.reached, known.asked)), answered)
    if found.mutation.text == whole.text:
        return whole.text, found.minimal
    again = (yield from ask([found.mutation] * repeats)) if repeats else []
    holds = 2 * (1 + sum(again)) > 1 + len(again)
    return (found.mutation.text, found.minimal) if holds else (whole.text, False)


# The unmutated prompt asked once more: whether it reaches the goal by itself.


def steady(
    asked: CaseAnswers, runs: Iterable[Run], where: str, reached: Callable[[ObservedAnswer], bool]
) -> int:
    """How many of the runs were answered; none may reach the goal.

    Args:
        asked: The case.
        runs: Of the unmutated prompt, not the first.
        where: The test, for messages.
        reached: Whether an answer reaches the goal.

    Raises:
        Ends: One does.
        UsageError: The body returned something that cannot be compared.
    """
    told = 0
    for run in runs:
        answer = _answer(asked, run, where)
        if answer is None:
            continue
        told += 1
        if reached(answer):
            raise _varies(asked, answer, run)
    return told


def _varies(asked: CaseAnswers, answer: ObservedAnswer, run: Run) -> Ends:
    """The unmutated prompt was answered in two ways, one of which reaches the goal."""
    failure = "" if run.exception is None else answer.why.partition("\n")[0]
    return Ends(
        "noisy", Note.of("searches:noisy", first=asked.baseline.value, other=answer.value, failure=failure)
    )


def _answer(asked: CaseAnswers, run: Run, where: str) -> ObservedAnswer | None:
    """What the unmutated prompt was answered this time; ``None`` where nothing can be told of it."""
    error, judge = run.exception, asked.judge
    if infrastructure_error(run) or (error is not None and judge.body.skips(error)):
        return None
    subject = subject_of(run, where, asked.baseline.run)
    if error is not None:  # the test's own check fails on the unmutated prompt
        return ObservedAnswer(shown(subject), "deviation", 0.0, described(error))
    if subject is None or judge.oracle_only:  # its own checks passed, and that is all there is to see
        return ObservedAnswer(shown(subject))
    found = judge.compare(asked.baseline.subject, subject)
    return ObservedAnswer(shown(subject), found.outcome, found.similarity, found.explanation)


class SearchEnding(NamedTuple):
    """Why a search ended, by name and as a note."""

    why: Ended
    note: Note | str


_INTERRUPTED = SearchEnding("interrupted", Note.of("searches:interrupted"))


@dataclass(frozen=True, slots=True)
class _Find:
    """What a method came to.

    Attributes:
        found: As the method has it.
        text: The changed prompt, as small as it is by now.
        minimal: Whether no smaller change reaches the goal.
        before: How many queries were made before the method's.
    """

    found: Found
    text: str
    minimal: bool
    before: int


@dataclass(frozen=True, slots=True)
class _Queries:
    """The queries of a search about one case.

    Attributes:
        asked: The case, whose baseline holds.
        ledger: Takes what runs took.
        budget: Of the search.
    """

    asked: CaseAnswers
    ledger: RunLedger
    budget: SearchBudget

    def runs(self, mutations: Sequence[Mutation | None]) -> Asking:
        """Make runs, if the budget holds them; what a model refuses is asked again, out of the same budget.

        Args:
            mutations: What is asked about; ``None`` is the unmutated prompt.
        """
        asked, ledger, budget = self.asked, self.ledger, self.budget
        budget.hold(ledger.spent, len(mutations))
        steps = []
        for mutation in mutations:
            key = "" if mutation is None else mutation.id
            watch = asked.case.watch(repeat=budget.times[key], concurrent=asked.concurrent, mutation=mutation)
            budget.times[key] += 1
            prompt = asked.prompt if mutation is None else mutation.prompt
            steps.append(Step(prompt, watch, asked.case.number))
        if not steps:
            return []
        budget.queries += len(steps)
        runs = yield steps
        for run in runs:
            before = ledger.spent
            ledger.count(run, asked.case)
            budget.paid(before, ledger.spent)
        refuse_unrecorded(asked.case.settings.session.tape, runs)
        changed = [(each, run) for each, run in zip(mutations, runs, strict=True) if each is not None]
        budget.queries += yield from confirming(asked, changed, ledger)
        return runs

    def unmutated(self, times: int) -> Asking:
        """Runs of the unmutated prompt, so many where the budget holds them."""
        budget, again = self.budget, self.asked.baseline.again
        had = []
        if again is not None and budget.queries == 1:  # a function's second run is an answer
            had = [again]
            budget.queries += 1
            budget.times[""] += 1
        return had + (yield from self.runs([None] * max(0, min(times - len(had), budget.left))))


@dataclass(slots=True)
class SearchRunner:
    """One search. What it knows outlives whatever interrupts it.

    Attributes:
        settings: How it goes about it.
        where: The test, for messages.
        progress: Told after each batch: queries made, the budget, the best loss, whether the goal is reached.
        clock: Seconds.
        spare: How many queries more may be made once something is found, to make it smaller.
        budget: What it may spend, and has spent.
        ending: Why it ended.
        case: Which example or input is searched, from 0.
        places: How many places of the prompt can change.
        baseline: The unmutated prompt's answer.
        find: What the method came to, once it did.
        notes: What the person must know.
        tried: The changes that were asked about.
    """

    settings: SearchSettings
    where: str
    progress: Callable[[int, int, float, bool], object] | None = None
    clock: Callable[[], float] = monotonic
    spare: int = 0
    budget: SearchBudget = field(init=False)
    ending: SearchEnding = _INTERRUPTED
    case: int = 0
    places: int = 0
    baseline: ObservedAnswer | None = None
    find: _Find | None = None
    notes: list[Note] = field(default_factory=list)
    tried: Tried = field(default_factory=Tried)
    _failure: Trial | None = None

    def __post_init__(self) -> None:
        self.budget = SearchBudget(self.settings, self.where, self.clock, self.spare)

    def epoch(self, asked: CaseAnswers, prompt: Prompt, ledger: RunLedger) -> Epoch:
        """Ask what the search wants to know; what reached the goal, if anything did, is a trial in the end.

        Args:
            asked: The case, whose baseline holds.
            prompt: What may change.
            ledger: Takes what runs took.

        Raises:
            ReachedAlready: The unmutated prompt reaches the goal.
            UsageError: There is nothing to change.
            ConfigurationError: A budget in money is set, and a call has no known price.
        """
        settings, budget = self.settings, self.budget
        budget.begin()
        self.baseline = ObservedAnswer(asked.baseline.value)
        self.tried.start = start = settings.objective(self.baseline, self.baseline)
        budget.queries, self.case = 1, asked.case.number
        queries = _Queries(asked, ledger, budget)
        try:
            if start.reached:
                yield from self._reached_already(queries)
            yield from self._unmutated(queries, settings.baseline_runs - 1)
            space = self._opened(asked, prompt)
            self.places = len(space)
            self.notes += settings.budget_notes(space, budget.queries)
            before = budget.queries - 1
            found = yield from self._searched(queries, space)
            self.find = _Find(found, space.text(found.state), bool(found.minimal), before)
            if found.reached:
                told = yield from self._unmutated(queries, settings.repeats)
                self.notes += control_notes(told, settings.repeats)
                self.ending = SearchEnding("found", "")
                if settings.prune:
                    yield from self._made_smaller(queries, space, self.find)
            else:
                self.ending = SearchEnding(*ended_by(found, budget.queries, settings))
        except Ends as end:
            self.ending = SearchEnding(end.why, end.note)
        smallest = self.smallest()
        return [] if smallest is None else [smallest.trial]

    def _unmutated(self, queries: _Queries, times: int) -> Generator[list[Step], list[Run], int]:
        """Ask the unmutated prompt again: where it reaches the goal by itself, no change can be blamed.

        Returns:
            How often it was answered.
        """
        runs = yield from queries.unmutated(times)
        told = steady(queries.asked, runs, self.where, lambda answer: self._rated(answer).reached)
        self.budget.errors += len(runs) - told
        return told

    def _reached_already(self, queries: _Queries) -> Generator[list[Step], list[Run], None]:
        """Ask the unmutated prompt once more, whose first answer reaches the goal: a noisy model does so by chance.

        Raises:
            Ends: The second answer does not.
            ReachedAlready: It does, or there is none.
        """
        asked, objective = queries.asked, self.settings.objective
        for run in (yield from queries.unmutated(min(1, self.settings.baseline_runs - 1))):
            answer = _answer(asked, run, self.where)
            if answer is not None and not (seen := self._rated(answer)).reached:
                self.tried.start = seen
                raise _varies(asked, answer, run)
        raise ReachedAlready(
            f"{self.where}: the unmutated prompt's answer reaches the goal ({objective.name}) already, so that no "
            f"change could: {asked.baseline.value!r:.120}. Choose another objective, bound or reference."
        )

    def _opened(self, asked: CaseAnswers, prompt: Prompt) -> Space:
        changes, evaluation = self.settings.changes, asked.case.settings
        allows = changes.allows
        if changes.cosine is not None:
            embedder = evaluation.session.embedder
            allows = alike(embedder, prompt.text, changes.cosine, allows, self.where)
        return space_of(
            prompt,
            operators=changes.operators,
            part=evaluation.contract.plan.part,
            limits=SearchLimits(changes.change_rate, changes.words, allows),
            top=changes.top,
            any_sense=changes.any_sense,
            seed=self.settings.seed,
            where=self.where,
        )

    def _searched(self, queries: _Queries, space: Space) -> Generator[list[Step], list[Run], Found]:
        settings = self.settings
        steps = searching(
            space,
            settings.method,
            queries=settings.left_to_search(self.budget.queries)
            + 1,  # the unmutated prompt is known, and counted
            seed=settings.seed,
            at_once=settings.batch,
            prune=settings.prune,
            confirm=settings.repeats,
            spare=self.spare,
        )
        known = [self.tried.start]  # what is asked first is the unmutated prompt

        def answered(texts: list[str]) -> Generator[list[Step], list[Run], list[Seen]]:
            if known:
                return [known.pop()]
            mutations = [space.mutation(space.state_of(text)) for text in texts]
            seen = yield from self._asked(queries, mutations)
            self._tell()
            return seen

        return (yield from relayed(steps, answered))

    def _made_smaller(
        self, queries: _Queries, space: Space, find: _Find
    ) -> Generator[list[Step], list[Run], None]:
        known = self.smallest()
        assert known is not None
        left = self.budget.left
        repeats = min(self.settings.repeats, left)

        def ask(mutations: Sequence[Mutation]) -> Answering:
            return [each.reached for each in (yield from self._asked(queries, mutations))]

        errors = self.budget.errors
        text, minimal = yield from smaller(known, ask, allows=space.allows, queries=left, repeats=repeats)
        minimal = find.minimal and minimal and self.budget.errors == errors
        self.find = replace(find, text=text, minimal=minimal)

    def _asked(
        self, queries: _Queries, mutations: Sequence[Mutation]
    ) -> Generator[list[Step], list[Run], list[Seen]]:
        """What the runs of changed prompts show."""
        runs = yield from queries.runs(mutations)
        return [self._seen(queries, mutation, run) for mutation, run in zip(mutations, runs, strict=True)]

    def _seen(self, queries: _Queries, mutation: Mutation, run: Run) -> Seen:
        """What a run shows; a query without an answer shows nothing."""
        trial = queries.asked.trial(mutation, run)
        if trial.error is not None:
            self.budget.unanswered(trial.error)
            return self.tried.start._replace(answered=False)
        self.budget.answered()
        seen = self._rated(answer_of(trial))
        if seen.reached and self._failure is not None and not same_failure(self._failure, trial):
            seen = Seen(NEAR, reached=False)  # what is made smaller must stay the same failure
        known = self.tried.take(mutation, trial, seen, self.budget.queries)
        if (
            self._failure is None
            and known is not None
            and 2 * known.reached - known.asked > self.settings.repeats
        ):
            self._failure = known.trial if kind_of(known.trial) is not None else None
        if seen.reached and run.exception is not None:
            queries.ledger.failures[trial.id] = run.exception
        return seen

    def _rated(self, answer: ObservedAnswer) -> Seen:
        assert self.baseline is not None
        return self.settings.objective(self.baseline, answer)

    def _tell(self) -> None:
        if self.progress is not None:
            reached = self.smallest() is not None
            self.progress(self.budget.queries, self.settings.queries, self.tried.best_loss, reached)

    def smallest(self) -> TriedPrompt | None:
        """What reached the goal with the fewest words changed, as far as is known."""
        if self.ending.why == "noisy":
            return None
        if self.find is None:
            return self.tried.smallest(self.settings.repeats)
        return self.tried.known[self.find.text] if self.find.found.reached else None

    def result(self, target: str, ledger: RunLedger) -> Search:
        """What is known by now.

        Args:
            target: The target's name.
            ledger: What all calls took, and what else the person must see.
        """
        smallest = self.smallest()
        nearest = self.tried.nearest() if smallest is None else None
        best = smallest or nearest
        return Search(
            counterexample=self.counterexample(),
            first=None if smallest is None else self.tried.first,
            nearest=None if nearest is None else nearest.mutation,
            loss=self.tried.start.loss if best is None else best.loss,
            baseline=None if self.baseline is None else self.baseline.value,
            answer=None if best is None else best.trial.value,
            ended=self.ending.why,
            explanation=sentence(self._why(smallest)),
            queries=self.budget.queries,
            found_at=self.found_at,
            budget=self.settings.queries,
            places=self.places,
            method=self.settings.name,
            objective=self.settings.objective.name,
            target=target,
            model=ledger.model,
            seed=self.settings.seed,
            trace=tuple(self.tried.trace),
            errors=self.budget.errors,
            notes=tuple(dict.fromkeys(map(sentence, [*self.said(), *ledger.notes]))),
            spent=ledger.spent,
            prompts=len(self.tried.known),
        )

    @property
    def found_at(self) -> int:
        """By how many queries the goal was reached first; 0 where it was not."""
        if self.find is not None and self.find.found.found_at:
            return self.find.found.found_at + self.find.before
        return self.tried.first_at if self.smallest() else 0

    def counterexample(self) -> Counterexample | None:
        """The smallest change that reached the goal, as far as is known; ``None`` where none did."""
        known = self.smallest()
        if known is None or self.baseline is None:
            return None
        return Counterexample(
            mutation=known.mutation,
            trial=known.mutation.id,
            case=known.trial.case,
            baseline=self.baseline.value,
            answer=known.trial.value,
            failure=said(self.settings.objective, self.baseline, answer_of(known.trial)),
            minimal=self.find is not None and self.find.minimal,
            calls=self.budget.queries,
            repeats=(known.reached, known.asked),
        )

    def _why(self, smallest: TriedPrompt | None) -> Note | str:
        """Why the search ended."""
        if smallest is not None:
            return Note.of("searches:found", query=self.found_at, ending=self.ending.note)
        return self.ending.note

    def said(self) -> list[Note]:
        """What the person must know."""
        return [*self.notes, *answer_notes(self.settings, self.tried)]
