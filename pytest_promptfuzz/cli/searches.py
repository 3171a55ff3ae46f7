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
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.searching.result import Search


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
    """

    searches: list[tuple[str, Search]] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    unasked: bool = False
    stopped: bool = False


def cases_of(options: argparse.Namespace) -> list[Case]:
    """Each prompt with each input.

    Raises:
        UsageError: A prompt or an input cannot be read, or does not fit.
    """
    values = read_values(options.values)
    cases: list[Case] = []
    for file in options.files:
        prompt = read_prompt_or_text(file)
        called = (prompt.name if file == "-" else file) if prompt.name else "the prompt"
        if options.inputs is None:
            cases.append(Case(called, filled(prompt, values)))
            continue
        for name, each in filled_by_each(prompt, values, options.inputs):
            cases.append(Case(name if len(options.files) == 1 else f"{called}, input {name}", each))
    return cases


def search_all(cases: list[Case], options: argparse.Namespace, output: Output) -> Made:
    """Search one after the other.

    Raises:
        PromptfuzzError: An option or the environment is wrong, or no prompt can be searched.
        KeyboardInterrupt: Before the first answer.
    """
    from pytest_promptfuzz.evaluating.search import Searching
    from pytest_promptfuzz.evaluating.session import Session, installed_embedder
    from pytest_promptfuzz.targets.embeddings import embeddings
    from pytest_promptfuzz.wire.store import ResponseStore

    if options.embedder is not None:
        embeddings(options.embedder)
    settings = _settings(options)
    limits = limits_of(options)
    store = ResponseStore(options.cache_dir, warn=output.error)
    embedder = installed_embedder(
        folder=Path(options.cache_dir), warn=output.error, provider=options.embedder
    )
    session = Session(store=store, mode=options.mode, embedder=embedder, gate=limits)
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


def _settings(options: argparse.Namespace) -> dict[str, Any]:
    """What ``search`` is told, prompt, target and objective apart.

    Raises:
        PromptfuzzError: The lexicon is not installed, or a profile of pyproject.toml is wrong.
    """
    from pytest_promptfuzz.comparing.named import named

    settings = named({"task": options.task}, named_profiles(), options.files[0])
    if options.judge is not None:
        settings["judge"] = options.judge
    return {
        **settings,
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
