"""``promptfuzz search``: look for the smallest harmless change of a prompt that changes its answer."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.cli.options import (
    NO_TARGET,
    add_answer_options,
    add_comparing_options,
    add_limit_options,
    add_output_options,
    add_setting,
    from_one,
    limits_of,
    named_profiles,
    operator_names,
)
from pytest_promptfuzz.cli.prompts import filled, inputs_reader, read_prompt_or_text, read_values
from pytest_promptfuzz.errors import ConfigurationError, UsageError, continued, not_among
from pytest_promptfuzz.evaluating.search_settings import BATCH, REPEATS
from pytest_promptfuzz.reporting.model import FORMAT
from pytest_promptfuzz.reporting.terminal.progress import Progress
from pytest_promptfuzz.reporting.terminal.searches import (
    metrics_lines,
    search_lines,
    search_report,
    searches_lines,
    transfer_lines,
    transfer_report,
)
from pytest_promptfuzz.searching.methods import DEFAULT, METHODS
from pytest_promptfuzz.searching.search_result import search_metrics
from pytest_promptfuzz.wording.verdicts import explained

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pytest_promptfuzz.cli.options import Output
    from pytest_promptfuzz.evaluating.search import Searching
    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.searching.search_result import Measure, Search, Transfer
    from pytest_promptfuzz.storage.disk_store import ResponseStore
    from pytest_promptfuzz.studies.searches import SearchInput, SearchRow


# The searches of one command, one a prompt and input: made, kept, left out, interrupted.


class SearchCase(NamedTuple):
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


def cases_of(options: argparse.Namespace) -> list[SearchCase]:
    """Each prompt with each input.

    Raises:
        UsageError: A prompt or the inputs cannot be read, or do not fit each other.
    """
    values = read_values(options.values)
    cases: list[SearchCase] = []
    inputs_of = None if options.inputs is None else inputs_reader(options.inputs, options.files, values)
    for file in options.files:
        prompt = read_prompt_or_text(file)
        called = (prompt.name if file == "-" else file) if prompt.name else "the prompt"
        if inputs_of is None:
            cases.append(SearchCase(called, filled(prompt, values)))
            continue
        for each in inputs_of(prompt):
            name = each.name if len(options.files) == 1 else f"{called}, input {each.name}"
            cases.append(SearchCase(name, each.put_into(prompt)))
    return cases


def search_all(cases: list[SearchCase], options: argparse.Namespace, output: Output) -> Made:
    """Search one after the other.

    Raises:
        PromptfuzzError: An option or the environment is wrong, or no prompt can be searched.
        KeyboardInterrupt: Before the first answer.
    """
    from pytest_promptfuzz.evaluating.search import Searching
    from pytest_promptfuzz.targets.resolution import resolve

    settings = {**_compared(options), **_settings(options), "measures": _measures(options)}
    for name in options.transfer:
        resolve(name)  # what is wrong is told before the first model is asked
    store, session = _session(options, output)
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
            if searching.runner.baseline is not None or searching.evaluation.findings.overruled is not None:
                _take(case.name, searching, made)
            if made.stopped:
                break
        else:
            _carry(made, options, session)
    finally:
        store.close()
    if not made.searches and not made.unasked and made.left_out:
        raise UsageError(f"no prompt can be searched: {made.left_out[0][0]}: {made.left_out[0][1]}")
    return made


def _session(options: argparse.Namespace, output: Output) -> tuple[ResponseStore, Session]:
    """The session of all searches, and its store, which whoever asked for it closes."""
    from pytest_promptfuzz.evaluating.session import Session, installed_embedder, installed_entailment
    from pytest_promptfuzz.storage.disk_store import ResponseStore
    from pytest_promptfuzz.targets.sdk_clients import embeddings

    if options.embedder is not None:
        embeddings(options.embedder)
    limits = limits_of(options)
    store = ResponseStore(options.cache_dir, warn=output.error)
    folder = Path(options.cache_dir)
    embedder = installed_embedder(folder=folder, warn=output.error, provider=options.embedder)
    entailment = installed_entailment(options.entailment, folder, output.error)
    return store, Session(
        store=store, mode=options.mode, embedder=embedder, entailment=entailment, gate=limits
    )


@dataclass(slots=True)
class _Told:
    """Shows how far a search has come."""

    progress: Progress
    name: str
    searching: Searching | None = None

    def __call__(self, queries: int, budget: int, best: float, reached: bool) -> None:
        cost = 0.0 if self.searching is None else self.searching.evaluation.spent.cost or 0.0
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
    overruled = searching.evaluation.findings.overruled
    if overruled is None:
        made.searches.append((name, searching.found()))
        return
    made.unasked = True
    made.left_out.append((name, explained(overruled)))


def _carry(made: Made, options: argparse.Namespace, session: Session) -> None:
    """Ask the other targets about the finds."""
    from pytest_promptfuzz.evaluating.search import atransfer

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
        except ConfigurationError as error:  # what was found is known, and stays
            made.left_out.append((f"the transfer to {target}", continued(error)))


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


# Several methods, models and runs, compared in tables.


def _names(given: str | None) -> list[str]:
    return [each.strip() for each in (given or "").split(",") if each.strip()]


def _compares(options: argparse.Namespace) -> bool:
    """Whether methods, models or runs are compared."""
    several = len(_names(options.target)) > 1 or len(_names(options.method)) > 1 or options.runs > 1
    return several or options.reference is not None or options.table is not None or bool(options.out)


def _compare(options: argparse.Namespace, output: Output) -> int:
    """Search with every method, on every model, in every run; print tables. Returns the exit code.

    Raises:
        PromptfuzzError: An option, a prompt or the environment is wrong.
    """
    from pytest_promptfuzz.reporting.study_tables import FORMS, render_table
    from pytest_promptfuzz.studies.searches import (
        LEFT_OUT,
        SEARCH_TABLES,
        SearchStudy,
        check_search_table,
        rows_text,
        run_searches,
    )

    tables = _names(options.table) or ["basfuzz-costs"]
    for name in tables:
        check_search_table(name)
    if options.format not in FORMS:
        raise UsageError(f"--format: {not_among(repr(options.format), options.format, FORMS)}")
    _check_comparison(options)
    settings = {**_settings(options), "measures": _measures(options)}
    settings.pop("method")
    study = SearchStudy(
        _search_inputs(options),
        _names(options.target),
        _names(options.method),
        options.runs,
        options.objective,
        transfers="basfuzz-transfer" in tables,
        options=settings,
        compared=_compared(options),
    )
    store, session = _session(options, output)
    total = len(study.inputs) * len(study.targets) * len(study.methods) * study.runs
    clock = _ComparedSearches(total, output)
    try:
        made = run_searches(study, session, clock.tell)
    finally:
        clock.end()
        store.close()
    for file in options.out:
        _write_rows(Path(file), rows_text(made.rows, Path(file).suffix.lower()))
    _tell_why(made.rows, output)
    if options.json:
        output.json([each._asdict() for each in made.rows])
    elif any(each.told for each in made.rows):
        shown = {name: SEARCH_TABLES[name](made) for name in tables}
        texts = [
            render_table(each, options.format).rstrip("\n") for found in shown.values() for each in found
        ]
        if texts:
            output.text("\n\n".join(texts))
        for name in (name for name, found in shown.items() if not found):
            output.error(
                f"promptfuzz search: table {name} is empty: no change was found on one target and tried on another"
            )
    else:
        output.error("promptfuzz search: no search tells anything, so there is no table")
    if made.stopped:
        output.error(f"promptfuzz search: interrupted; {len(made.rows)} of {total} searches were made")
    told = all(each.told for each in made.rows if each.ended != LEFT_OUT)
    return 0 if told and not made.stopped and any(each.told for each in made.rows) else 3


def _tell_why(rows: Sequence[SearchRow], output: Output) -> None:
    """Say of the first searches that count nowhere why that is."""
    from pytest_promptfuzz.studies.searches import LEFT_OUT

    untold = [each for each in rows if each.why]
    for each in untold[:_MOST_UNTOLD]:
        what = "was left out" if each.ended == LEFT_OUT else "tells nothing"
        name = each.input or each.data
        output.error(
            f"promptfuzz search: {name} on {each.target} ({each.method}, run {each.run + 1}) {what}: {each.why}"
        )
    if len(untold) > _MOST_UNTOLD:
        more = len(untold) - _MOST_UNTOLD
        output.error(
            f"promptfuzz search: and {more} more; --out FILE has the reason of each in its column why"
        )


def _check_comparison(options: argparse.Namespace) -> None:
    """See that options fit a comparison, and that its files can be written."""
    if options.transfer:
        raise UsageError("--transfer is for one search; with several targets write --table basfuzz-transfer.")
    if options.reference is not None and options.inputs is None:
        raise UsageError(f"--reference {options.reference}: a column of --inputs FILE; give both.")
    for each in map(Path, options.out):
        if each.suffix.lower() not in {".csv", ".jsonl"}:
            raise UsageError(f"--out {each}: searches are written as .csv or .jsonl.")
        if not each.parent.is_dir():
            raise UsageError(f"{each} cannot be written: there is no folder '{each.parent}'.")


def _search_inputs(options: argparse.Namespace) -> list[SearchInput]:
    """Each prompt with each input, and the reference of each."""
    from pytest_promptfuzz.studies.searches import SearchInput

    values = read_values(options.values)
    column = None if options.reference is None else f"column:{options.reference}"
    inputs_of = (
        None if options.inputs is None else inputs_reader(options.inputs, options.files, values, column)
    )
    found = []
    for file in options.files:
        prompt = read_prompt_or_text(file)
        called = prompt.name or "the prompt"
        if inputs_of is None:
            found.append(SearchInput(called, "", filled(prompt, values)))
            continue
        for each in inputs_of(prompt):
            if column is not None and each.expected is None:
                raise UsageError(
                    f"--inputs {options.inputs}: input {each.name} has no {options.reference!r}."
                )
            reference = None if column is None else each.expected
            found.append(SearchInput(called, each.name, each.put_into(prompt), reference))
    return found


def _write_rows(file: Path, text: str) -> None:
    try:
        file.write_bytes(text.encode("utf-8", "replace"))
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror or error}.") from None


_MOST_UNTOLD = 5


class _ComparedSearches:
    """A line on a terminal that says how many searches are done."""

    def __init__(self, total: int, output: Output) -> None:
        self._done, self._total, self._begun = 0, total, monotonic()
        self._progress = Progress(_to_stderr, enabled=sys.stderr.isatty(), width=lambda: output.width)

    def tell(self, row: SearchRow) -> None:
        """One more is done."""
        self._done += 1
        left = (monotonic() - self._begun) / self._done * (self._total - self._done)
        self._progress.study(f"{row.method} on {row.target}", self._done, self._total, left)

    def end(self) -> None:
        """Take the line away."""
        self._progress.clear()


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
    from pytest_promptfuzz.assistance import wordnet
    from pytest_promptfuzz.mutations.analysis.lexicon import KINDS
    from pytest_promptfuzz.mutations.operators.synonyms import synonyms_from

    lexicon = wordnet(options.lexicon)
    return [*(options.operators or ()), *(synonyms_from(lexicon, kind=kind) for kind in KINDS)]


def _to_stderr(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


_EPILOG = (
    "exit codes: 0: no change found, 1: a change that breaks the prompt was found, "
    "2: wrong usage or environment, 3: inconclusive (the target varies or fails, or the search ended too early: "
    "Ctrl-C, time, money, or fewer than 10 changed prompts). Comparing several: 0: done, 3: a search tells "
    "nothing, or Ctrl-C ended them"
)


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    """The command's arguments."""
    parser = commands.add_parser(
        "search",
        help="look for the smallest harmless change that breaks a prompt",
        description=(
            "promptfuzz search: look for the smallest harmless change of a prompt that changes its answer."
        ),
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE|TEXT",
        help="a file with a prompt, or with chat messages (.json); - is standard input; a text with spaces is the "
        "prompt itself",
    )
    parser.add_argument(
        "--target",
        metavar="T,…",
        help="the model to ask: openai:MODEL, anthropic:MODEL, compatible:MODEL@URL or simulated; several are compared",
    )
    parser.add_argument(
        "--set",
        metavar="SLOT=VALUE",
        action="append",
        default=[],
        dest="values",
        help="fill a slot of the prompt (SLOT=@FILE reads a file); values of --inputs replace it",
    )
    add_setting(
        parser,
        "inputs",
        help="a data file whose rows are searched one by one: CSV, TSV, JSON Lines, JSON or a folder of text files; - "
        "is standard input (JSON Lines)",
    )
    parser.add_argument(
        "--part",
        metavar="PART",
        help="what may change: template, input (the values of the slots) or both; in a chat also a role, such as "
        "system (template)",
    )
    _add_search(parser.add_argument_group("search"))
    _add_limits(parser.add_argument_group("which changes are allowed"))
    group = parser.add_argument_group("answers")
    add_comparing_options(group)
    add_answer_options(group)
    _add_measures(parser.add_argument_group("after the search"))
    _add_comparison(parser.add_argument_group("comparing methods, models and runs"))
    add_limit_options(parser)
    add_output_options(parser)
    parser.set_defaults(execute=execute)


def _add_search(group: argparse._ArgumentGroup) -> None:
    add_setting(group, "objective")
    group.add_argument(
        "--method",
        default=DEFAULT,
        metavar="NAME,…",
        help=f"how to choose the next change: {', '.join(METHODS)} ({DEFAULT}); several are compared",
    )
    add_setting(group, "queries", type=int)
    group.add_argument("--max-seconds", type=float, metavar="X", help="most seconds of each search")
    add_setting(
        group,
        "seed",
        type=int,
        help="number that chooses the changes: the same number gives the same queries (0)",
    )
    group.add_argument(
        "--batch",
        type=int,
        default=BATCH,
        metavar="N",
        help="how many queries are made at once: 1 needs the fewest queries, more is faster (8)",
    )
    group.add_argument(
        "--repeats",
        type=int,
        default=REPEATS,
        metavar="N",
        help=f"how many more times a change must break the answer than not break it ({REPEATS})",
    )
    group.add_argument(
        "--baseline-runs",
        type=int,
        default=2,
        metavar="N",
        help="how often the unmutated prompt is asked at the start (2)",
    )
    group.add_argument(
        "--no-prune",
        action="store_true",
        help="do not shrink the first change that breaks the answer",
    )


def _add_comparison(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--runs",
        type=from_one,
        default=1,
        metavar="N",
        help="search everything N times, each with another seed (1)",
    )
    group.add_argument(
        "--reference",
        metavar="COLUMN",
        help="the column of --inputs with the right answer, which the objective (bleu, rouge-l<0.5, label) measures by",
    )
    group.add_argument(
        "--table",
        metavar="NAME,…",
        help="tables to show: basfuzz, basfuzz-costs, basfuzz-transfer (basfuzz-costs)",
    )
    group.add_argument(
        "--format",
        default="markdown",
        metavar="FORMAT",
        help="of tables: markdown, csv, latex or html (markdown)",
    )
    group.add_argument(
        "--out",
        action="append",
        default=[],
        metavar="FILE",
        help="write a row for each search: .csv or .jsonl",
    )


def _add_limits(group: argparse._ArgumentGroup) -> None:
    add_setting(
        group,
        "operators",
        type=operator_names,
        help="use only these operators or dimensions, such as synonym or lexical (by default those of a test)",
    )
    group.add_argument(
        "--lexicon",
        metavar="NAME",
        help="also use synonyms of an installed WordNet, such as oewn:2024 (see `promptfuzz lexicon`); without "
        "--operators, use only these",
    )
    group.add_argument(
        "--top",
        type=int,
        default=10,
        metavar="N",
        help="most replacements to try at each place (10)",
    )
    group.add_argument(
        "--any-sense", action="store_true", help="use synonyms of all meanings and parts of speech of a word"
    )
    add_setting(group, "max_words", type=int)
    add_setting(group, "max_change_rate", type=float)
    group.add_argument(
        "--min-cosine",
        type=float,
        metavar="X",
        help="least similarity of the changed prompt to the original: cosine of their embeddings, -1 to 1",
    )


def _add_measures(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--transfer",
        metavar="T",
        action="append",
        default=[],
        help="also try the changes that were found on this target; repeat the option for more targets",
    )
    group.add_argument(
        "--perplexity",
        metavar="MODEL",
        help="measure how fluent the changed prompts are, with a causal language model: the folder of one that "
        "transformers saved, or a served one, compatible:MODEL@URL (vLLM, llama.cpp)",
    )
    group.add_argument(
        "--grammar",
        metavar="CHECKER",
        help="count grammar errors of the changed prompts, with a LanguageTool server such as http://127.0.0.1:8081, "
        "or with harper (the package harper-py; English)",
    )
    group.add_argument(
        "--grammar-language",
        default="en-US",
        metavar="CODE",
        help="language of the prompts, for --grammar (en-US)",
    )


def execute(options: argparse.Namespace, output: Output) -> int:
    """Search and report; returns the exit code.

    Raises:
        PromptfuzzError: An option, a prompt or the environment is wrong.
        KeyboardInterrupt: Before the first answer.
    """
    if not options.target:
        raise ConfigurationError(NO_TARGET)
    if _compares(options):
        return _compare(options, output)
    cases = cases_of(options)
    found = search_all(cases, options, output)
    reports = [search_report(each, name) for name, each in found.searches]
    left_out = [{"name": name, "why": why} for name, why in found.left_out]
    metrics = search_metrics(each for _, each in found.searches).to_json() if found.searches else None
    transfers = [
        transfer_report(each, {find.id: name for name, find in found.finds}) for each in found.transfers
    ]
    if options.json:
        found_all = {"searches": reports, "left_out": left_out, "metrics": metrics, "transfers": transfers}
        output.json({"format": FORMAT, **found_all})
    elif len(cases) == 1:
        output.lines([line for report in reports for line in search_lines(report, width=output.width)])
    else:
        output.lines(searches_lines(reports, width=output.width))
        if metrics is not None:
            output.lines([[], *metrics_lines(metrics)])
    if transfers and not options.json:
        output.lines([[], *transfer_lines(transfers)])
    for each in left_out:
        output.error(f"promptfuzz search: {each['name']} was left out: {each['why']}")
    if found.stopped and len(cases) > 1:
        output.error(f"promptfuzz search: interrupted; {len(reports)} of {len(cases)} searches were made")
    if any(each.found for _, each in found.searches):
        return 1
    told = not found.stopped and not found.unasked and all(each.conclusive for _, each in found.searches)
    return 0 if told else 3
