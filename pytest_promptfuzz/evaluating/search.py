"""`search`, `asearch` and `transfer`: the worst that harmless changes do to a prompt, without pytest."""

from __future__ import annotations

import inspect
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.evaluating.evaluate import EvaluateOptions, TargetEvaluation, given_target, speculating
from pytest_promptfuzz.evaluating.evaluation import Evaluation
from pytest_promptfuzz.evaluating.search_runner import ReachedAlready, SearchRunner
from pytest_promptfuzz.evaluating.search_settings import BATCH, QUERIES, REPEATS, SearchSettings
from pytest_promptfuzz.mutations.engine.mutation import Mutation
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.results.counterexamples import Counterexample
from pytest_promptfuzz.running.run import adrive, drive
from pytest_promptfuzz.searching.methods import DEFAULT
from pytest_promptfuzz.searching.search_result import Search, Transfer, measured, measures_of
from pytest_promptfuzz.searching.space import Choice, SearchPlace, Space
from pytest_promptfuzz.targets.resolution import resolve
from pytest_promptfuzz.wire.transports import intercepting
from pytest_promptfuzz.wording.sentences import sentence
from pytest_promptfuzz.wording.verdicts import explained

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pytest_promptfuzz.evaluating.cases import CaseAnswers, Epoch, Steps
    from pytest_promptfuzz.evaluating.evaluate import AnyPrompt, AnyTarget
    from pytest_promptfuzz.evaluating.search_settings import Objective
    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.mutations.engine.operator import Operator
    from pytest_promptfuzz.mutations.engine.selection import Selection
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.searching.search_loop import Method, Seen
    from pytest_promptfuzz.searching.search_result import Measure
    from pytest_promptfuzz.searching.space import State

    AnyObjective = str | Objective | Callable[[Any, Any], object]
    Found = Search | Counterexample | Mutation


@dataclass(slots=True)
class SearchEvaluation(Evaluation):
    """An evaluation whose trials are what a search asks, in the place of a plan's.

    Attributes:
        runner: The search.
        changed: What may change.
    """

    runner: SearchRunner | None = None
    changed: Prompt | None = None

    def plan(self, prompt: Prompt) -> tuple[Mutation, ...]:
        """Nothing is planned: what is asked next follows from what was answered."""
        self.changed = prompt
        return ()

    def controls(self, prompt: Prompt) -> tuple[Mutation, ...]:
        """None: a search that finds something shows that the answer can change."""
        del prompt
        return ()

    def begin(self, asked: CaseAnswers) -> Epoch:
        """Search, once the baseline holds."""
        assert self.runner is not None
        assert self.changed is not None  # `plan` is asked before
        return (yield from self.runner.epoch(asked, self.changed, self.ledger))

    def again(self) -> Steps:
        """Nothing: what a search finds it confirms by itself."""
        yield from ()

    def found(self) -> Search:
        """What the search found, by now.

        Raises:
            UsageError: The baseline could not be had, or is not repeatable.
        """
        assert self.runner is not None
        settings, overruled = self.settings, self.findings.overruled
        if overruled is not None:
            raise UsageError(f"{settings.where}: nothing can be searched: {explained(overruled)}")
        return self.runner.result(settings.target, self.ledger)


def search(  # noqa: PLR0913 - public; the options are keywords
    prompt: AnyPrompt,
    target: AnyTarget | None = None,
    objective: AnyObjective = "deviation",
    *,
    method: str | Method = DEFAULT,
    queries: int = QUERIES,
    seed: int = 0,
    operators: Selection = None,
    part: str | Sequence[str] | None = None,
    max_change_rate: float = 1.0,
    max_words: int | None = None,
    min_cosine: float | None = None,
    allows: Callable[[Mutation], bool] | None = None,
    top: int = 10,
    any_sense: bool = False,
    prune: bool = True,
    repeats: int = REPEATS,
    baseline_runs: int = 2,
    batch: int = BATCH,
    max_cost: float | None = None,
    max_seconds: float | None = None,
    mutate: str | None = None,
    call: int | None = None,
    match: str | re.Pattern[str] | None = None,
    parameters: Mapping[str, Any] | None = None,
    session: Session | None = None,
    progress: Callable[[int, int, float, bool], object] | None = None,
    measures: Mapping[str, Measure] | None = None,
    **settings: Any,
) -> Search:
    """Look for the worst that harmless changes of a prompt can do.

    Nothing but answers is asked of the target. Every query goes through the session's store and recordings, so that a
    rerun is free. Ctrl-C ends the search, and what it knows by then is returned.

    Args:
        prompt: Text, a ``Prompt`` (``fill`` its slots to search a whole input), a path to a text file, or chat
            messages.
        target: As ``evaluate`` takes it.
        objective: What is looked for. ``"deviation"``: an answer that a test would call one; ``"minor"``: or a minor
            difference; ``"label"``: another label, told by labels alone; ``"confidence"``: another label, told by how
            sure the target is (its answers are mappings of label to confidence); ``"bleu"``: BLEU below 0.2;
            ``"rouge-l<0.5"`` and the like for any measure; ``"judge"``: what ``judge=`` calls another answer; or a
            function of the baseline's answer and the answer, which returns a bool, or how near it is, from 0 to 1.
        method: ``"sweep"``, ``"beam-annealing"``, ``"greedy"``, ``"deletion-greedy"``, ``"pwws"``, ``"textfooler"``,
            ``"beam"``, ``"random"``, a baseline of BASFuzz (``"morpheus"``, see docs/search.md), or a ``Method``.
        queries: How often a prompt may be asked, those of the unmutated prompt included, 1 to 1,000,000.
        seed: Of what is drawn. The same search asks the same.
        operators: What may be done to the prompt: as ``mutate`` takes it; by default what a plan draws on.
        part: Which text may change: ``"template"``, ``"input"``, ``"both"``, or messages of some roles.
        max_change_rate: The most words that may change, as a share above 0 and up to 1.
        max_words: The same as a number.
        min_cosine: How like the prompt the changed one must be, by the cosine of their embeddings, -1 to 1.
        allows: Called with a ``Mutation``: whether it may be asked about.
        top: How many choices a place of the prompt has at most, 1 to 1,000.
        any_sense: Take a word's substitutes whatever part of speech it is; by default only where its place tells.
        prune: Give up changes that the goal does not need, with what is left of ``queries``.
        repeats: How much more often than not what reaches the goal must reach it again before it is believed, 0 to 100;
            the unmutated prompt is then asked as often. Queries for both are held back.
        baseline_runs: How often the unmutated prompt is asked, 1 to 100.
        batch: How many queries are made before the next are chosen, 1 to 1,000: 1 asks least, more waits less.
        max_cost: US dollars that may be spent.
        max_seconds: After which nothing more is asked.
        mutate: As ``evaluate`` takes it.
        call: Likewise.
        match: Likewise.
        parameters: More for the request body, e.g. ``{"temperature": 0}``.
        session: Store, mode, embedder and concurrency; by default nothing is stored on disk.
        progress: Called after each batch with queries made, the budget, the best loss, and whether the goal is reached.
        measures: Functions of a text that return a number, by name, such as ``perplexity(FOLDER)``: what they say of
            the changed prompt and of the unmutated one is in ``result.quality``.
        settings: ``task=``, ``profile=``, ``schema=``, ``equivalent_at=``, ``minor_at=``, ``ignore=``, ``tiers=``,
            ``guards=``, ``judge=``, ``judge_when=``, ``judge_repeats=``: how answers are compared.

    Returns:
        What was found; ``result.counterexample`` is ``None`` where nothing was.

    Raises:
        UsageError: A setting, the prompt or the target is wrong; nothing can be changed; the unmutated prompt reaches
            the goal already, or its answers cannot be repeated.
        ConfigurationError: A key, an extra or a model name is missing.
        BaselineFailed: The application's function raises on the unmutated prompt.
    """
    searching = Searching(locals())
    asking = searching.asking
    with asking.watched(), intercepting(), speculating(searching.evaluation) as told:
        try:
            drive(asking.case(asking.cases.inputs[0]), asking.body, begin=told.begin, ran=told.ran)
        except KeyboardInterrupt:
            searching.interrupted()
    return searching.found()


async def asearch(
    prompt: AnyPrompt, target: AnyTarget | None = None, objective: AnyObjective = "deviation", **options: Any
) -> Search:
    """As ``search``, with the queries of a batch running concurrently in this event loop.

    Raises:
        UsageError: An unknown option, and what ``search`` raises.
    """
    searching = Searching.of(prompt, target, objective, **options)
    await searching.arun()
    return searching.found()


class Searching:
    """One call of ``search``, for whoever wants to know of it while it goes on, or drives it.

    Args:
        given: The arguments of ``search``, by name.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        where = "search"
        search_settings = SearchSettings.of(
            given["method"],
            given["objective"],
            where=where,
            queries=given["queries"],
            batch=given["batch"],
            repeats=given["repeats"],
            baseline_runs=given["baseline_runs"],
            prune=given["prune"],
            operators=given["operators"],
            top=given["top"],
            any_sense=given["any_sense"],
            change_rate=given["max_change_rate"],
            words=given["max_words"],
            cosine=given["min_cosine"],
            allows=given["allows"],
            seed=given["seed"],
            cost=given["max_cost"],
            seconds=given["max_seconds"],
        )
        settings = dict(given["settings"])
        if given["objective"] == "judge":
            if settings.get("judge") is None:
                raise UsageError("search: objective='judge' needs judge=, which names who rates the answers.")
            settings.setdefault("judge_when", "always")
        if given["part"] is not None:
            settings["part"] = given["part"]
        self._measures = measures_of(given["measures"], where)
        self.runner = SearchRunner(search_settings, where, progress=given["progress"])
        options = EvaluateOptions(
            mutate=given["mutate"],
            call=given["call"],
            match=given["match"],
            parameters=given["parameters"],
            session=given["session"],
        )
        self.asking = TargetEvaluation(
            given["prompt"],
            given["target"],
            {**settings, "seed": given["seed"]},
            options,
            make=partial(SearchEvaluation, runner=self.runner),
            where=where,
        )
        evaluation = self.asking.evaluation
        assert isinstance(evaluation, SearchEvaluation)
        self.evaluation = evaluation

    @classmethod
    def of(cls, *arguments: Any, **options: Any) -> Searching:
        """A search with the arguments of ``search``, left out ones included.

        Raises:
            UsageError: What ``search`` raises of its arguments.
        """
        bound = inspect.signature(search).bind(*arguments, **options)
        bound.apply_defaults()
        return cls(bound.arguments)

    async def arun(self) -> None:
        """Search, the queries of a batch running concurrently in this event loop."""
        asking, concurrency = self.asking, self.evaluation.session.concurrency
        self.evaluation.settings.order.concurrent = concurrency > 1
        with asking.watched(), intercepting():
            await adrive(asking.case(asking.cases.inputs[0]), asking.abody, concurrency=concurrency)

    def interrupted(self) -> None:
        """Whoever waits has had enough; what is known is kept.

        Raises:
            KeyboardInterrupt: Nothing is known.
        """
        if self.runner.baseline is None:
            raise KeyboardInterrupt

    def found(self) -> Search:
        """What was found, by now.

        Raises:
            UsageError: The baseline could not be had, or is not repeatable.
        """
        return measured(self.evaluation.found(), self._measures)


# ``transfer`` and ``atransfer``: whether what breaks one target's answers breaks another's.


_WHERE = "transfer"


def transfer(
    found: Found | Iterable[Found],
    target: AnyTarget | None = None,
    objective: AnyObjective = "deviation",
    *,
    repeats: int = 2,
    baseline_runs: int = 2,
    parameters: Mapping[str, Any] | None = None,
    session: Session | None = None,
    **settings: Any,
) -> Transfer:
    """Ask another target about changes that were found to break one.

    Each is asked once, and if it breaks the answer ``repeats`` times more, as the unmutated prompt then is. A prompt is
    left out, and said, if its unmutated form fails there, or reaches the goal by itself.

    Args:
        found: Searches, counterexamples or mutations, or one of them. A search that found nothing asks nothing.
        target: As ``search`` takes it.
        objective: Likewise: what a change must do there.
        repeats: How often more what breaks the answer is asked before it is believed, 0 to 100.
        baseline_runs: How often the unmutated prompt is asked, 1 to 100.
        parameters: More for the request body.
        session: Store, mode, embedder and concurrency; by default nothing is stored on disk.
        settings: ``task=`` and the others of ``search`` that say how answers are compared.

    Raises:
        UsageError: A setting or the target is wrong, or something else is given than what was found.
        ConfigurationError: A key, an extra or a model name is missing.
        BaselineFailed: The application's function raises on an unmutated prompt.
    """
    asking = _Asking(target, objective, (repeats, baseline_runs), parameters, session, settings)
    for mutation in _mutations(found):
        with asking.about(mutation) as one:
            drive(one.case(one.cases.inputs[0]), one.body)
    return asking.transfer()


async def atransfer(
    found: Found | Iterable[Found],
    target: AnyTarget | None = None,
    objective: AnyObjective = "deviation",
    *,
    repeats: int = 2,
    baseline_runs: int = 2,
    parameters: Mapping[str, Any] | None = None,
    session: Session | None = None,
    **settings: Any,
) -> Transfer:
    """As ``transfer``, with the repeats of a change running concurrently in this event loop."""
    asking = _Asking(target, objective, (repeats, baseline_runs), parameters, session, settings)
    for mutation in _mutations(found):
        with asking.about(mutation) as one:
            concurrency = one.evaluation.session.concurrency
            one.evaluation.settings.order.concurrent = concurrency > 1
            await adrive(one.case(one.cases.inputs[0]), one.abody, concurrency=concurrency)
    return asking.transfer()


def _mutations(found: Found | Iterable[Found]) -> Iterator[Mutation]:
    if isinstance(found, Search | Counterexample | Mutation):
        found = [found]
    for each in found:
        if isinstance(each, Mutation):
            yield each
        elif isinstance(each, Counterexample):
            yield each.mutation
        elif isinstance(each, Search):
            if each.counterexample is not None:
                yield each.counterexample.mutation
        else:
            raise UsageError(
                f"{_WHERE}: {each!r:.80} is neither a Search nor a Counterexample nor a Mutation; give what search() "
                "returned."
            )


class _Carried(Space):
    """The space of one change: it is made, or it is not."""

    def __init__(self, mutation: Mutation) -> None:
        # Whose operator made it matters only for what `mutation` says, which is known.
        place = SearchPlace((), (Choice(mutation.edits, cast("Operator", None)),))
        super().__init__(mutation.original, [place], source=mutation.source)
        self._carried = mutation

    def mutation(self, state: State) -> Mutation:  # noqa: ARG002 (there is but one)
        return self._carried


@dataclass(slots=True)
class _Carrying(SearchRunner):
    """A search that tries one change only."""

    carried: Mutation | None = None

    def _opened(self, asked: CaseAnswers, prompt: Prompt) -> Space:  # noqa: ARG002 (nothing is looked for)
        assert self.carried is not None
        return _Carried(self.carried)


def _it(space: Space, start: Seen, rng: object, at_once: int) -> Any:  # noqa: ARG001 (a method of search)
    yield [(1,) * len(space)]


class _Asking:
    """One target, asked about one change after the other."""

    def __init__(
        self,
        target: AnyTarget | None,
        objective: AnyObjective,
        times: tuple[int, int],
        parameters: Mapping[str, Any] | None,
        session: Session | None,
        settings: Mapping[str, Any],
    ) -> None:
        self._search_settings = SearchSettings.of(
            _it,
            objective,
            where=_WHERE,
            repeats=times[0],
            baseline_runs=times[1],
            prune=False,
            queries=4 * (1 + sum(times)),  # one change, and what makes sure of it, never need as many
        )
        self._target = target
        self._parameters = parameters
        self._session = session
        self._settings = settings
        self._name = resolve(given_target(target, _WHERE)).name
        self._searches: list[Search] = []
        self._left_out: list[tuple[str, str]] = []

    @contextmanager
    def about(self, mutation: Mutation) -> Iterator[TargetEvaluation]:
        """One change, to be asked about inside; what was answered is kept."""
        runner = _Carrying(self._search_settings, _WHERE, carried=mutation)
        asking = TargetEvaluation(
            mutation.original if mutation.source is None else mutation.source,
            self._target,
            self._settings,
            EvaluateOptions(parameters=self._parameters, session=self._session),
            make=partial(SearchEvaluation, runner=runner),
            where=_WHERE,
        )
        evaluation = asking.evaluation
        assert isinstance(evaluation, SearchEvaluation)
        why: Note | str = ""
        try:
            with asking.watched(), intercepting():
                yield asking
        except ReachedAlready:
            why = Note.of("searches:reached-there")
        if evaluation.findings.overruled is not None:
            why = explained(evaluation.findings.overruled)
        search = None if why else evaluation.found()
        if search is not None and not search.conclusive:
            unanswered = Note.of("searches:unanswered-there")
            why = search.explanation if search.ended == "noisy" else unanswered
        if why or search is None:
            self._left_out.append((mutation.id, sentence(why)))
        else:
            self._searches.append(search)

    def transfer(self) -> Transfer:
        """What all of it came to."""
        return Transfer(self._name, tuple(self._searches), tuple(self._left_out))
