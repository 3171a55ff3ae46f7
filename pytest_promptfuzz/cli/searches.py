"""The searches of one command, one a prompt and input: made, kept, left out, interrupted."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.cli.options import limits_of, named_profiles
from pytest_promptfuzz.cli.prompts import filled, filled_by_each, read_prompt_or_text, read_values
from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.reporting.progress import Progress

if TYPE_CHECKING:
    import argparse

    from pytest_promptfuzz.cli.output import Output
    from pytest_promptfuzz.evaluating.search import Searching
    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.mutations.mutation import Mutation
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.searching.quality import Measure
    from pytest_promptfuzz.searching.result import Search
    from pytest_promptfuzz.searching.transferred import Transfer


class Case(NamedTuple):
    """What one search is made of, and how it is named."""

    name: str
    prompt: Prompt


@dataclass(slots=True)
class Made:
    """What all searches came to, as far as they were made.

    Attributes:
        searches: With their names.
        left_out: Those that could not be made, and why.
        unasked: Whether one of these may be made another time: its target failed, or is not repeatable.
        stopped: Whether Ctrl-C ended it.
        transfers: What became of the finds on other targets.
    """

    searches: list[tuple[str, Search]] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    unasked: bool = False
    stopped: bool = False
    transfers: list[Transfer] = field(default_factory=list)

    @property
    def finds(self) -> list[tuple[str, Mutation]]:
        """The changes that were found, with the names of their searches."""
        return [
            (name, each.mutation) for name, each in self.searches if each.found and each.mutation is not None
        ]


def cases_of(options: argparse.Namespace) -> tuple[list[Case], list[tuple[str, str]]]:
    """Each prompt with each input, and the inputs that do not fit, by name, with the reason.

    Raises:
        UsageError: A prompt or the inputs cannot be read, or none fits.
    """
    values = read_values(options.values)
    cases: list[Case] = []
    unfit: list[tuple[str, str]] = []
    for file in options.files:
        prompt = read_prompt_or_text(file)
        called = (prompt.name if file == "-" else file) if prompt.name else "the prompt"
        if options.inputs is None:
            cases.append(Case(called, filled(prompt, values)))
            continue
        for number, each in filled_by_each(prompt, values, options.inputs):
            name = number if len(options.files) == 1 else f"{called}, input {number}"
            if isinstance(each, UsageError):
                unfit.append((name, str(each)))
            else:
                cases.append(Case(name, each))
    if not cases:
        raise UsageError(unfit[0][1])
    return cases, unfit


def search_all(cases: list[Case], options: argparse.Namespace, output: Output) -> Made:
    """Search one after the other.

    Raises:
        PromptfuzzError: An option or the environment is wrong, or no prompt can be searched.
        KeyboardInterrupt: Before the first answer.
    """
    from pytest_promptfuzz.evaluating.search import Searching
    from pytest_promptfuzz.evaluating.session import Session, installed_embedder, installed_entailment
    from pytest_promptfuzz.targets.embeddings import embeddings
    from pytest_promptfuzz.targets.resolve import resolve
    from pytest_promptfuzz.wire.store import ResponseStore

    if options.embedder is not None:
        embeddings(options.embedder)
    settings = {**_compared(options), **_settings(options), "measures": _measures(options)}
    for name in options.transfer:
        resolve(name)  # what is wrong is told before the first model is asked
    limits = limits_of(options)
    store = ResponseStore(options.cache_dir, warn=output.error)
    embedder = installed_embedder(
        folder=Path(options.cache_dir), warn=output.error, provider=options.embedder
    )
    entailment = installed_entailment(options.entailment, Path(options.cache_dir), output.error)
    session = Session(store=store, mode=options.mode, embedder=embedder, entailment=entailment, gate=limits)
    progress = Progress(_to_stderr, enabled=sys.stderr.isatty(), width=lambda: output.width)
    made = Made()
    try:
        for case in cases:
            told = _Told(progress, case.name)
            told.searching = searching = Searching.of(
                case.prompt, options.target, options.objective, session=session, progress=told, **settings
            )
            try:
                _run(searching, made)
            except UsageError as error:
                if len(cases) == 1:
                    raise
                made.left_out.append((case.name, str(error).removeprefix("search: ")))
                continue
            finally:
                progress.clear()
            if searching.hunt.baseline is not None or searching.job.overruled is not None:
                _take(case.name, searching, made)
            if made.stopped:
                break
        else:
            _carry(made, options, session)
    finally:
        store.close()
    if not made.searches and not made.unasked and made.left_out:
        raise UsageError(f"no prompt can be searched. {made.left_out[0][0]}: {made.left_out[0][1]}")
    return made


@dataclass(slots=True)
class _Told:
    """Shows how far a search has come."""

    progress: Progress
    name: str
    searching: Searching | None = None

    def __call__(self, queries: int, budget: int, best: float, reached: bool) -> None:
        cost = 0.0 if self.searching is None else self.searching.job.spent.cost or 0.0
        self.progress.search(self.name, queries, budget, best=best, reached=reached, cost=cost)


def _run(searching: Searching, made: Made) -> None:
    try:
        asyncio.run(searching.arun())
    except KeyboardInterrupt:
        made.stopped = True
        if not made.searches and not made.left_out:
            searching.interrupted()


def _take(name: str, searching: Searching, made: Made) -> None:
    """Keep a search; what could not begin, since the target failed or is not repeatable, says why."""
    overruled = searching.job.overruled
    if overruled is None:
        made.searches.append((name, searching.found()))
        return
    made.unasked = True
    made.left_out.append((name, overruled.explanation))


def _carry(made: Made, options: argparse.Namespace, session: Session) -> None:
    """Ask the other targets about the finds."""
    from pytest_promptfuzz.evaluating.transfer import atransfer

    for target in options.transfer if made.finds else ():
        asking = atransfer(
            [mutation for _, mutation in made.finds],
            target,
            options.objective,
            repeats=options.repeats,
            baseline_runs=options.baseline_runs,
            session=session,
            **_compared(options),
        )
        try:
            made.transfers.append(asyncio.run(asking))
        except KeyboardInterrupt:
            made.stopped = True
            return


def _compared(options: argparse.Namespace) -> dict[str, Any]:
    """How answers are compared.

    Raises:
        UsageError: A profile of pyproject.toml is wrong.
    """
    from pytest_promptfuzz.comparing.profiles import named

    settings = named({"task": options.task}, named_profiles(), options.files[0])
    if options.judge is not None:
        settings["judge"] = options.judge
        if options.objective == "judge":
            settings["judge_when"] = "always"
    return settings


def _measures(options: argparse.Namespace) -> dict[str, Measure]:
    """What says how fluent the changed prompts are.

    Raises:
        UsageError: There is no such folder, or the address is none.
        ConfigurationError: A library is missing.
    """
    from pytest_promptfuzz.evaluating.fluency import grammar_errors, perplexity

    measures: dict[str, Measure] = {}
    if options.perplexity is not None:
        measures["perplexity"] = perplexity(options.perplexity)
    if options.grammar is not None:
        measures["grammar errors"] = grammar_errors(options.grammar, options.grammar_language)
    for measure in measures.values():
        measure("Is it there?")  # what is wrong is told before the first model is asked
    return measures


def _settings(options: argparse.Namespace) -> dict[str, Any]:
    """How it is searched, and what a change must keep.

    Raises:
        PromptfuzzError: The lexicon is not installed.
    """
    return {
        "method": options.method,
        "queries": options.queries,
        "seed": options.seed,
        "operators": _operators(options),
        "part": options.part,
        "max_change_rate": options.max_change_rate,
        "max_words": options.max_words,
        "min_cosine": options.min_cosine,
        "top": options.top,
        "any_sense": options.any_sense,
        "prune": not options.no_prune,
        "repeats": options.repeats,
        "baseline_runs": options.baseline_runs,
        "batch": options.batch,
        "max_seconds": options.max_seconds,
    }


def _operators(options: argparse.Namespace) -> list[Any] | None:
    if options.lexicon is None:
        return options.operators  # type: ignore[no-any-return]  # a list of names, or None
    from pytest_promptfuzz.assisting import wordnet
    from pytest_promptfuzz.mutations.lexicon.lexicon import KINDS
    from pytest_promptfuzz.mutations.operators.synonyms import synonyms_from

    lexicon = wordnet(options.lexicon)
    return [*(options.operators or ()), *(synonyms_from(lexicon, kind=kind) for kind in KINDS)]


def _to_stderr(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
