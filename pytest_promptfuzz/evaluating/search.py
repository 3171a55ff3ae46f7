"""``search`` and ``asearch``: the worst that a harmless change does to a prompt, without pytest."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.evaluating.evaluate import Evaluation
from pytest_promptfuzz.evaluating.hunt import Hunt
from pytest_promptfuzz.evaluating.hunting import BATCH, QUERIES, REPEATS, Hunting
from pytest_promptfuzz.evaluating.job import Job
from pytest_promptfuzz.evaluating.speculating import speculating
from pytest_promptfuzz.running.drive import adrive, drive
from pytest_promptfuzz.searching.methods import DEFAULT
from pytest_promptfuzz.searching.quality import measured, measures_of
from pytest_promptfuzz.wire.intercept import intercepting

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Mapping, Sequence

    from pytest_promptfuzz.evaluating.evaluate import AnyPrompt, AnyTarget
    from pytest_promptfuzz.evaluating.job import Epoch, Steps
    from pytest_promptfuzz.evaluating.objectives import Objective
    from pytest_promptfuzz.evaluating.repeating import Asked
    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.mutations.mutation import Mutation
    from pytest_promptfuzz.mutations.strata import Selection
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.searching.quality import Measure
    from pytest_promptfuzz.searching.result import Search
    from pytest_promptfuzz.searching.searching import Method

    AnyObjective = str | Objective | Callable[[Any, Any], object]


@dataclass(slots=True)
class SearchJob(Job):
    """A job whose trials are what a search asks, in the place of a plan's.

    Attributes:
        hunt: The search.
        changed: What may change.
    """

    hunt: Hunt | None = None
    changed: Prompt | None = None

    def plan(self, prompt: Prompt) -> tuple[Mutation, ...]:
        """Nothing is planned: what is asked next follows from what was answered."""
        self.changed = prompt
        return ()

    def controls(self, prompt: Prompt) -> tuple[Mutation, ...]:
        """None: a search that finds something shows that the answer can change."""
        del prompt
        return ()

    def begin(self, asked: Asked) -> Epoch:
        """Search, once the baseline holds."""
        assert self.hunt is not None
        assert self.changed is not None  # `plan` is asked before
        return (yield from self.hunt.epoch(self, asked, self.changed))

    def again(self) -> Steps:
        """Nothing: what a search finds it confirms by itself."""
        yield from ()

    def found(self) -> Search:
        """What the search found, by now.

        Raises:
            UsageError: The baseline could not be had, or is not repeatable.
        """
        assert self.hunt is not None
        if self.overruled is not None:
            raise UsageError(f"{self.where}: nothing can be searched: {self.overruled.explanation}")
        return self.hunt.result(target=self.target, model=self._model, spent=self.spent, notes=self.notes)


def search(
    prompt: AnyPrompt,
    target: AnyTarget,
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
            ``"beam"``, ``"random"``, or a ``Method``.
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
    evaluation, job = searching.evaluation, searching.job
    with evaluation.watched(), intercepting(), speculating(job) as told:
        try:
            drive(
                evaluation.case(evaluation.cases.inputs[0]), evaluation.body, begin=told.begin, ran=told.ran
            )
        except KeyboardInterrupt:
            searching.interrupted()
    return searching.found()


async def asearch(
    prompt: AnyPrompt, target: AnyTarget, objective: AnyObjective = "deviation", **options: Any
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
        hunting = Hunting.of(
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
        self.hunt = Hunt(hunting, where, progress=given["progress"])
        self.evaluation = Evaluation(
            given["prompt"],
            given["target"],
            None,
            None,
            None,
            {**settings, "seed": given["seed"]},
            (given["mutate"], given["call"], given["match"]),
            given["parameters"],
            given["session"],
            None,
            None,
            job=lambda **job: SearchJob(hunt=self.hunt, **job),
            where=where,
        )
        job = self.evaluation.job
        assert isinstance(job, SearchJob)
        self.job = job

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
        evaluation, job = self.evaluation, self.job
        job.concurrent = job.session.concurrency > 1
        with evaluation.watched(), intercepting():
            steps = evaluation.case(evaluation.cases.inputs[0])
            await adrive(steps, evaluation.abody, concurrency=job.session.concurrency)

    def interrupted(self) -> None:
        """Whoever waits has had enough; what is known is kept.

        Raises:
            KeyboardInterrupt: Nothing is known.
        """
        if self.hunt.baseline is None:
            raise KeyboardInterrupt

    def found(self) -> Search:
        """What was found, by now.

        Raises:
            UsageError: The baseline could not be had, or is not repeatable.
        """
        return measured(self.job.found(), self._measures)
