"""Searches compared: methods × data × models × runs, what each found and took, and the tables of BASFuzz."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, field
from itertools import product
from math import inf
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_promptfuzz.errors import ConfigurationError, UsageError, not_among
from pytest_promptfuzz.evaluating.search import Searching, atransfer
from pytest_promptfuzz.evaluating.search_settings import objective_of, referenced
from pytest_promptfuzz.notes import Note
from pytest_promptfuzz.searching.methods import method_of
from pytest_promptfuzz.stats.significance import mann_whitney
from pytest_promptfuzz.stats.variance import holm
from pytest_promptfuzz.studies.answer_cells import RunSession
from pytest_promptfuzz.studies.tables.table_figures import (
    StudyTable,
    TableColumn,
    TableFigure,
    mean_figure,
    simulation_of,
    values_of,
)
from pytest_promptfuzz.targets.resolution import resolve
from pytest_promptfuzz.text.csv_rows import csv_text
from pytest_promptfuzz.wording.sentences import counted, sentence
from pytest_promptfuzz.wording.verdicts import explained

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_promptfuzz.evaluating.session import Session
    from pytest_promptfuzz.mutations.engine.mutation import Mutation
    from pytest_promptfuzz.prompts.prompt import Prompt
    from pytest_promptfuzz.searching.search_result import Ended, Search
    from pytest_promptfuzz.stats.verdict import Judgement
    from pytest_promptfuzz.studies.tables.table_figures import Entry


SIGNIFICANT = 0.05
LEFT_OUT = "left-out"
_PERPLEXITY, _GRAMMAR = "perplexity", "grammar errors"


class SearchInput(NamedTuple):
    """What one search changes: a filled prompt of some data, and the answer that it should have, if there is one."""

    data: str
    name: str
    prompt: Prompt
    reference: Any = None


@dataclass(frozen=True, slots=True)
class SearchStudy:
    """Searches that are compared: every method on every input of every model, in every run.

    Attributes:
        inputs: What is searched.
        targets: Models by name, or functions of the application.
        methods: By name.
        runs: How often everything is searched, each with a seed and answers of its own.
        objective: What is looked for, by name or as a function.
        transfers: Whether what breaks one model is asked of the others.
        options: Of every search: ``queries``, ``operators``, ``seed`` and the others of ``search``.
        compared: How answers are compared: ``task`` and others.

    Raises:
        UsageError: A name stands twice or is unknown, or there is nothing to search.
    """

    inputs: Sequence[SearchInput]
    targets: Sequence[Any]
    methods: Sequence[str]
    runs: int = 1
    objective: Any = "deviation"
    transfers: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    compared: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for noun, names in (("target", self.targets), ("method", self.methods)):
            twice = [each for each in names if list(names).count(each) > 1]
            if twice or not names:
                raise UsageError(
                    f"search: the {noun} {twice[0]!r} stands twice." if twice else f"search: no {noun}."
                )
        if self.transfers and len(self.targets) < 2:
            only = _name(self.targets[0])
            raise UsageError(
                f"search: the table basfuzz-transfer needs two targets, and there is only {only!r}. Write --target A,B."
            )
        for target in self.targets:
            resolve(target)
        for method in self.methods:
            method_of(method, "search")
        for each in self.inputs[:1]:
            referenced(self.objective, each.reference, "search")
        objective_of(self.objective, "search")


class SearchRow(NamedTuple):
    """What one search came to.

    Attributes:
        data: The prompt's name.
        input: The input's.
        target: The model that was searched.
        method: How.
        run: From 0.
        ended: Why it ended, in a word; ``left-out`` where it could not begin.
        found: Whether a change reaches the goal.
        told: Whether it tells anything.
        queries: How often a prompt was asked.
        seconds: How long it took; answers from the store take none.
        change_rate: Of a find: the share of words that it changes.
        words: Of a find: how many.
        quality: Of a find: what measures say of it.
        text: The changed prompt of a find.
        why: Why it was left out, or tells nothing; else empty.
    """

    data: str
    input: str
    target: str
    method: str
    run: int
    ended: str
    found: bool = False
    told: bool = False
    queries: int = 0
    seconds: float = 0.0
    change_rate: float | None = None
    words: int | None = None
    quality: Mapping[str, float] = {}
    text: str = ""
    why: str = ""


class TransferRow(NamedTuple):
    """What became of a find on another model: ``broke`` is ``None`` where nothing can be told there."""

    data: str
    method: str
    run: int
    source: str
    target: str
    broke: bool | None


@dataclass(slots=True)
class SearchRows:
    """What all searches came to.

    Attributes:
        rows: One for each search.
        transfers: One for each find and other model.
        stopped: Whether Ctrl-C ended it.
    """

    rows: list[SearchRow] = field(default_factory=list)
    transfers: list[TransferRow] = field(default_factory=list)
    stopped: bool = False


def run_searches(
    study: SearchStudy, session: Session, told: Callable[[SearchRow], object] | None = None
) -> SearchRows:
    """Search one after the other; what the store holds is not asked again.

    A target that cannot be asked, such as one without a key, fails in its rows; the other targets go on. After Ctrl-C
    there is what is known by then.

    Args:
        study: What is compared.
        session: Store, limits and mode.
        told: Called with what each search came to.

    Raises:
        ConfigurationError: The first search cannot begin: it lacks a key, an extra or a model.
        KeyboardInterrupt: Before the first answer.
    """
    made = SearchRows()
    # What has no key goes as far as stored answers go. It comes first, so that a missing key costs no calls elsewhere.
    targets = sorted(study.targets, key=_has_key)
    try:
        for run in range(study.runs):
            own = RunSession.of(session, run)
            for target, method, given in product(targets, study.methods, study.inputs):
                _add_search(made, study, given, (target, method, run), own, told)
    except KeyboardInterrupt:
        if not made.rows:
            raise
        made.stopped = True
    places = [*map(_name, study.targets)]
    made.rows.sort(key=lambda each: (each.run, places.index(each.target)))
    made.transfers.sort(key=lambda each: (each.run, places.index(each.source)))
    return made


def _has_key(target: Any) -> bool:
    """Whether a target can be asked, as far as its key tells."""
    bound = getattr(resolve(target), "bound", None)
    try:
        if bound is not None:
            bound()
    except ConfigurationError:
        return False
    return True


def _add_search(
    made: SearchRows,
    study: SearchStudy,
    given: SearchInput,
    place: tuple[Any, str, int],
    session: Session,
    told: Callable[[SearchRow], object] | None,
) -> None:
    """Make one search, and ask the other models about what it found.

    Raises:
        ConfigurationError: It is the first one, and cannot be made.
        KeyboardInterrupt: Ctrl-C; what is known of this search has been added.
    """
    target, method, run = place
    row = SearchRow(given.data, given.name, _name(target), method, run, ended="target-failed")
    mutation, stopped = None, False
    try:
        row, mutation, stopped = _search(study, given, target, row, session)
    except ConfigurationError as error:
        if not made.rows:
            raise
        row = row._replace(why=str(error))
    made.rows.append(row)
    if told is not None:
        told(row)
    if stopped:
        raise KeyboardInterrupt
    if study.transfers and mutation is not None:
        made.transfers += _transferred(study, given, row, mutation, session)


def _search(
    study: SearchStudy, given: SearchInput, target: Any, row: SearchRow, session: Session
) -> tuple[SearchRow, Mutation | None, bool]:
    """What a search came to, the change that it found, and whether Ctrl-C ended it."""
    options = {**study.options, "seed": study.options.get("seed", 0) + row.run, "method": row.method}
    stopped = False
    try:
        searching = Searching.of(
            given.prompt,
            target,
            referenced(study.objective, given.reference, "search"),
            session=session,
            **options,
            **study.compared,
        )
        try:
            asyncio.run(searching.arun())
        except KeyboardInterrupt:
            searching.interrupted()
            stopped = True
        overruled = searching.evaluation.findings.overruled
        if overruled is not None:
            return row._replace(ended=_overruled(overruled), why=explained(overruled)), None, stopped
        found = searching.found()
    except UsageError as error:
        return row._replace(ended=LEFT_OUT, why=str(error).removeprefix("search: ")), None, stopped
    return _row(row, found), found.mutation if found.found else None, stopped


def _name(target: Any) -> str:
    return target if isinstance(target, str) else str(getattr(target, "__name__", type(target).__name__))


def _row(row: SearchRow, found: Search) -> SearchRow:
    row = row._replace(
        ended=found.ended,
        found=found.found,
        told=found.conclusive,
        queries=found.queries,
        seconds=round(found.spent.seconds, 3),
    )
    if not found.conclusive:
        return row._replace(why=_why_untold(found))
    if not found.found or found.mutation is None:
        return row
    return row._replace(
        change_rate=found.change_rate,
        words=found.words_changed,
        quality=found.quality,
        text=found.mutation.text,
    )


def _overruled(judgement: Judgement) -> Ended:
    """How a search ended that could not begin, since the unmutated prompt has no answer to go by."""
    if judgement.verdict == "noisy":
        return "noisy"
    return "cost-spent" if judgement.reason == "budget-spent" else "target-failed"


def _why_untold(found: Search) -> str:
    """Why a search tells nothing; one that made its queries did so with too few answers."""
    if found.ended not in {"queries-spent", "exhausted"}:
        return found.explanation
    if 2 * found.errors > found.queries:
        answered = found.queries - found.errors
        return sentence(Note.of("searches:too-few-answers", answered=answered, queries=found.queries))
    return sentence(Note.of("searches:too-few-prompts", why=found.explanation, prompts=found.prompts))


def _transferred(
    study: SearchStudy, given: SearchInput, row: SearchRow, mutation: Mutation, session: Session
) -> list[TransferRow]:
    rows = []
    for other in study.targets:
        if _name(other) == row.target:
            continue
        asking = atransfer(
            [mutation],
            other,
            referenced(study.objective, given.reference, "search"),
            session=session,
            **study.compared,
        )
        try:
            found = asyncio.run(asking)
        except ConfigurationError:  # its own searches say why
            broke = None
        else:
            broke = bool(found.broke) if found.asked else None
        rows.append(TransferRow(row.data, row.method, row.run, row.target, _name(other), broke))
    return rows


def rows_text(rows: Sequence[SearchRow], suffix: str) -> str:
    """The rows as CSV, or as JSON Lines for the suffix ``.jsonl``."""
    if suffix == ".jsonl":
        return "".join(json.dumps(each._asdict(), ensure_ascii=False) + "\n" for each in rows)
    shown = (each._replace(quality=json.dumps(each.quality) if each.quality else "") for each in rows)  # type: ignore[arg-type]
    return csv_text([SearchRow._fields, *shown])


# The tables of BASFuzz.


class _Column(NamedTuple):
    """A figure of the searches of one run: what it is called, and whether more of it is better.

    What is spent for each find is counted over all runs together, since a run without a find has no such figure.
    """

    name: str
    figure: Callable[[Sequence[SearchRow]], float | None]
    best: str = "low"
    unit: str = ""
    digits: int = 1
    spent: bool = False


def _success_rate(rows: Sequence[SearchRow]) -> float | None:
    told = [each for each in rows if each.told]
    return sum(each.found for each in told) / len(told) if told else None


def _of_finds(read: Callable[[SearchRow], float | None]) -> Callable[[Sequence[SearchRow]], float | None]:
    def mean(rows: Sequence[SearchRow]) -> float | None:
        known = [value for each in rows if each.found and (value := read(each)) is not None]
        return fmean(known) if known else None

    return mean


def _per_find(read: Callable[[SearchRow], float]) -> Callable[[Sequence[SearchRow]], float | None]:
    def spent(rows: Sequence[SearchRow]) -> float | None:
        finds = sum(each.found for each in rows)
        return sum(read(each) for each in rows if each.told) / finds if finds else None

    return spent


_RATE = _Column("S-rate", _success_rate, "high", "%", 2)
_CHANGE = _Column("C-rate", _of_finds(lambda row: row.change_rate), unit="%", digits=2)
_FLUENCY = _Column("PPL", _of_finds(lambda row: row.quality.get(_PERPLEXITY)), digits=2)
_ERRORS = _Column("G-E", _of_finds(lambda row: row.quality.get(_GRAMMAR)), digits=2)
_TIME = _Column("T-O", _per_find(lambda row: row.seconds), digits=2, spent=True)
_QUERIES = _Column("Q-N", _per_find(lambda row: row.queries), digits=1, spent=True)
_RULES = (
    "S-rate: inputs for which a change was found. C-rate: words that it changes. ± is over runs. *: better than every "
    "other method on this model (Mann-Whitney over runs, p < 0.05 after Holm)."
)


def basfuzz(made: SearchRows) -> list[StudyTable]:
    """BASFuzz, Tables 2 and 6: method × model: success rate, change rate, and perplexity where it was measured."""
    return _method_tables(made.rows, (_RATE, _CHANGE, _FLUENCY), "Quality of what was found", _RULES)


def basfuzz_costs(made: SearchRows) -> list[StudyTable]:
    """BASFuzz, Tables 3 and 4: likewise, with grammar errors, seconds and queries for each find; ablations by name."""
    return _method_tables(
        made.rows,
        (_RATE, _CHANGE, _FLUENCY, _ERRORS, _TIME, _QUERIES),
        "Quality and cost of what was found",
        f"{_RULES} T-O and Q-N: seconds and queries of all runs for each find; stored answers take no time.",
    )


def basfuzz_transfer(made: SearchRows) -> list[StudyTable]:
    """BASFuzz, Table 5: from one model to another × method: the share of finds that break the other as well.

    There is none where no find was tried on another model.
    """
    tables = []
    for data in values_of(each.data for each in made.transfers):
        own = [each for each in made.transfers if each.data == data]
        methods = values_of(each.method for each in own)
        ways = list(dict.fromkeys((each.source, each.target) for each in own))
        rows = tuple(
            (
                f"{source} → {target}",
                tuple(
                    _transfer_rate(
                        [e for e in own if (e.source, e.target, e.method) == (source, target, method)]
                    )
                    for method in methods
                ),
            )
            for source, target in ways
        )
        tables.append(
            StudyTable(
                f"Success rate of transferred changes, {data}",
                "transfer",
                tuple(TableColumn(each, best="high", digits=2) for each in methods),
                rows,
                "Finds on the first model that break the second one, of those that can be told there.",
                best_of="row",
                simulated=_simulation(name for way in ways for name in way),
            )
        )
    return tables


def _transfer_rate(rows: Iterable[TransferRow]) -> TableFigure | None:
    runs: dict[int, list[bool]] = {}
    for each in rows:
        if each.broke is not None:
            runs.setdefault(each.run, []).append(each.broke)
    return mean_figure([TableFigure(sum(each) / len(each)) for _, each in sorted(runs.items())])


def _method_tables(
    rows: Sequence[SearchRow], columns: Sequence[_Column], title: str, note: str
) -> list[StudyTable]:
    """A table for each data set: a row for each method, the columns of each model side by side."""
    if not any(each.told for each in rows):
        raise UsageError("no search tells anything: all were left out, or failed.")
    measured = {name for each in rows for name in each.quality}
    columns = [
        each
        for each in columns
        if each not in {_FLUENCY, _ERRORS} or {_FLUENCY: _PERPLEXITY, _ERRORS: _GRAMMAR}[each] in measured
    ]
    tables = []
    for data in values_of(each.data for each in rows):
        own = [each for each in rows if each.data == data]
        methods, targets = values_of(each.method for each in own), values_of(each.target for each in own)
        grid: dict[str, list[Entry]] = {method: [] for method in methods}
        headings = []
        for target in targets:
            for column in columns:
                name = f"{target} {column.name}" if len(targets) > 1 else column.name
                headings.append(TableColumn(name, column.unit, column.best, column.digits))
                searched = {
                    method: [e for e in own if (e.target, e.method) == (target, method)] for method in methods
                }
                star = _starred({name: _by_run(each, column) for name, each in searched.items()}, column.best)
                for method in methods:
                    figure = _figure(searched[method], column)
                    grid[method].append(_marked(figure) if method == star else figure)
        tables.append(
            StudyTable(
                f"{title}, {data}",
                "method",
                tuple(headings),
                tuple((m, tuple(grid[m])) for m in methods),
                f"{note}{_untold(own)}",
                simulated=_simulation(targets),
            )
        )
    return tables


def _simulation(targets: Iterable[str]) -> str:
    return simulation_of((each, each.partition("?")[0] == "simulated") for each in targets)


def _untold(rows: Sequence[SearchRow]) -> str:
    """How many searches count nowhere, and how they ended."""
    ended = Counter(each.ended for each in rows if not each.told)
    if not ended:
        return ""
    which = ", ".join(f"{number} {name}" for name, number in sorted(ended.items()))
    return f" {sum(ended.values())} of {counted(len(rows), 'search')} count nowhere: {which}."


def _marked(figure: TableFigure | None) -> TableFigure | None:
    return None if figure is None else TableFigure(figure.value, figure.std, mark="*")


def _figure(rows: Sequence[SearchRow], column: _Column) -> TableFigure | None:
    values = _by_run(rows, column)
    if not column.spent:
        return mean_figure(list(map(TableFigure, values)))
    whole = column.figure(rows)
    spread = stdev(values) if len(values) > 1 and inf not in values else None
    return None if whole is None else TableFigure(whole, spread)


def _by_run(rows: Sequence[SearchRow], column: _Column) -> list[float]:
    """The figure of each run that has one; without a find a run has spent what it has for nothing."""
    runs = sorted({each.run for each in rows if each.told})
    figures = (column.figure([each for each in rows if each.run == run]) for run in runs)
    return [inf if each is None else each for each in figures if each is not None or column.spent]


def _starred(values: Mapping[str, Sequence[float]], best: str) -> str | None:
    """The method that is better than every other one, by Mann-Whitney over runs after Holm; ``None`` for none."""
    # Ranks decide: a run that spent what it did for nothing is the last of them.
    last = 1.0 + max((value for each in values.values() for value in each if value < inf), default=0.0)
    known = {name: [min(value, last) for value in each] for name, each in values.items() if each}
    if len(known) < 2:
        return None
    means = {name: fmean(each) for name, each in known.items()}
    first = (max if best == "high" else min)(means, key=lambda each: means[each])
    others = [name for name in known if name != first]
    if any(means[name] == means[first] for name in others):
        return None
    p = holm([mann_whitney(known[first], known[name]).p for name in others])
    return first if max(p) < SIGNIFICANT else None


SEARCH_TABLES: dict[str, Callable[[SearchRows], list[StudyTable]]] = {
    "basfuzz": basfuzz,
    "basfuzz-costs": basfuzz_costs,
    "basfuzz-transfer": basfuzz_transfer,
}
"""Tables of searches by name."""


def check_search_table(name: str) -> None:
    """See that there is such a table.

    Raises:
        UsageError: There is none.
    """
    if name not in SEARCH_TABLES:
        raise UsageError(not_among(f"the table {name!r} of searches", name, SEARCH_TABLES))
