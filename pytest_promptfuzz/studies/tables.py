"""Tables of a study's cells, as figures: scores, gold accuracy and its drop, ranks, variance."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.stats.intervals import t_quantile
from pytest_promptfuzz.stats.scores import CREDITS, EQUIVALENT_CREDIT
from pytest_promptfuzz.stats.variance import rank_stability, variance_of
from pytest_promptfuzz.studies.cells import BASELINE

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from pytest_promptfuzz.studies.cells import Cell


@dataclass(frozen=True, slots=True)
class TableFigure:
    """One figure of a table.

    Attributes:
        value: Its mean.
        std: The sample standard deviation over runs; ``None`` with one run.
        low: The lower end of its 95 % interval, where the table has intervals.
        high: The upper end.
    """

    value: float
    std: float | None = None
    low: float | None = None
    high: float | None = None


Entry = TableFigure | str | None
"""A figure, a text, or ``None``: not applicable."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of figures.

    Attributes:
        name: What stands above it.
        unit: ``%`` for shares, which are given in [0, 1]; ``points`` for differences of shares; else as it is.
        best: ``high`` or ``low`` where the best figure is to be marked.
        digits: After the decimal point.
    """

    name: str
    unit: str = "%"
    best: str = ""
    digits: int = 1


@dataclass(frozen=True, slots=True)
class StudyTable:
    """Figures of a study.

    Attributes:
        title: What it shows.
        corner: What the names of the rows are.
        headings: Of its columns.
        rows: Each with its name, and an entry for each column.
        note: What a reader has to know.
        best_of: Whether the best is marked in each ``column``, or in each ``row``.
    """

    title: str
    corner: str
    headings: tuple[TableColumn, ...]
    rows: tuple[tuple[str, tuple[Entry, ...]], ...]
    note: str = ""
    best_of: str = "column"


def table_of(name: str, cells: Sequence[Cell]) -> StudyTable:
    """A table by its name.

    Raises:
        UsageError: There is none of that name, or the cells cannot fill it.
    """
    if name not in TABLES:
        raise UsageError(f"unknown table {name!r}. {nearest(name, TABLES)}")
    if not any(each.outcome in CREDITS for each in cells):
        raise UsageError(f"table {name!r}: no cell of this file has an outcome; were all calls refused?")
    return TABLES[name](cells)


def robustness(cells: Sequence[Cell]) -> StudyTable:
    """Model × dimension: the score (Quirx, Eq. 1) in percent."""
    dimensions = _values(each.change.dimension for each in cells if each.change.dimension)
    columns = [*dimensions, *(["all"] if len(dimensions) > 1 else [])]
    return StudyTable(
        "Robustness by model and dimension",
        "model",
        tuple(TableColumn(each, best="high") for each in columns),
        tuple(
            (
                model,
                tuple(
                    _score(each for each in own if column in {each.change.dimension, "all"})
                    for column in columns
                ),
            )
            for model, own in _by(cells, "model")
        ),
        "Score: 1 for an equivalent answer, 0.7 for a minor difference, 0 for a deviation.",
    )


def operators(cells: Sequence[Cell]) -> StudyTable:
    """Operator × model: the score in percent."""
    models = _values(each.model for each in cells)
    return StudyTable(
        "Robustness by operator and model",
        "operator",
        tuple(TableColumn(each, best="high") for each in models),
        tuple(
            (operator, tuple(_score(each for each in own if each.model == model) for model in models))
            for operator, own in _by(cells, "operator")
            if operator
        ),
        best_of="row",
    )


def quirx(cells: Sequence[Cell]) -> StudyTable:
    """Quirx, Table I: model × task: score, shares of equivalent, minor and deviating answers, cost and seconds."""
    tasks = _values(each.task for each in cells)
    headings: list[TableColumn] = []
    for task in tasks:
        headings += [
            TableColumn(task, unit="", best="high", digits=2),
            TableColumn("E/M/D %", unit="text"),
            TableColumn("cost $", unit="", digits=4),
            TableColumn("time s", unit="", digits=2),
        ]
    rows = []
    for model, own in _by(cells, "model"):
        entries: list[Entry] = []
        for task in tasks:
            part = [each for each in own if each.task == task]
            costs = [each.spent.cost for each in part if each.outcome != "not-applicable"]
            times = [each.spent.latency for each in part if each.spent.latency is not None]
            entries += [
                _score(part),
                _shares(part),
                None if None in costs or not costs else TableFigure(sum(each or 0.0 for each in costs)),
                TableFigure(sum(times) / len(times)) if times else None,
            ]
        rows.append((model, tuple(entries)))
    return StudyTable("Robustness by model and task", "model", tuple(headings), tuple(rows))


def gold(cells: Sequence[Cell]) -> StudyTable:
    """Model: accuracy of the unmutated prompt and under changes, and the drop, with an interval over inputs."""
    return StudyTable(
        "Gold accuracy by model",
        "model",
        (
            TableColumn("unmutated", best="high"),
            TableColumn("mutated", best="high"),
            TableColumn("drop", unit="points", best="low"),
        ),
        tuple(
            (model, (_accuracy(_plain(own)), _accuracy(_mutated(own)), _drop(own)))
            for model, own in _by(cells, "model")
        ),
        "The drop's interval (95 %) is over inputs, each with the same weight. Where all inputs lose the same, it has "
        "no width, and tells nothing of other inputs.",
    )


def brittlebench(cells: Sequence[Cell]) -> StudyTable:
    """Brittlebench, Table 1: operator × model: by how much gold accuracy drops, in points; macro and micro means."""
    models = _values(each.model for each in cells)
    plain = [each for each in cells if not each.operator]
    rows: list[tuple[str, tuple[Entry, ...]]] = []
    for operator, own in _by(cells, "operator"):
        if operator:
            entries = tuple(
                _drop([each for each in (*plain, *own) if each.model == model]) for model in models
            )
            rows.append((operator, entries))
    columns = [[row[1][at] for row in rows] for at in range(len(models))]
    macro = tuple(_mean([each for each in column if isinstance(each, TableFigure)]) for column in columns)
    micro = tuple(_drop([each for each in cells if each.model == model]) for model in models)
    return StudyTable(
        "Drop of gold accuracy by operator and model",
        "operator",
        tuple(TableColumn(each, unit="points", best="low") for each in models),
        (*rows, ("mean over operators (macro)", macro), ("over all answers (micro)", micro)),
        best_of="row",
    )


def ranks(cells: Sequence[Cell]) -> StudyTable:
    """Operator: how the ranking of models by gold accuracy changes (Spearman), and how many models change rank."""
    models = _values(each.model for each in cells)
    if len(models) < 2:
        raise UsageError("table 'ranks' needs at least two models.")
    before = {model: _accuracy(_plain([each for each in cells if each.model == model])) for model in models}
    rows = []
    for operator, own in _by(cells, "operator"):
        if not operator:
            continue
        after = {model: _accuracy([each for each in own if each.model == model]) for model in models}
        known = [each for each in models if before[each] is not None and after[each] is not None]
        one = {each: _rounded(before[each]) for each in known}
        two = {each: _rounded(after[each]) for each in known}
        rho = rank_stability(one, two) if len(known) > 1 else None
        changed = [_place(each, one) != _place(each, two) for each in known]
        rows.append(
            (
                operator,
                (
                    None if rho is None else TableFigure(rho),
                    TableFigure(sum(changed) / len(changed)) if len(known) > 1 else None,
                ),
            )
        )
    return StudyTable(
        "Stability of the models' ranking",
        "operator",
        (TableColumn("Spearman", unit="", digits=2), TableColumn("models that change rank")),
        tuple(rows),
        "Models are ranked by gold accuracy; tied models share their mean rank.",
    )


def variance(cells: Sequence[Cell]) -> StudyTable:
    """Model: which part of the variance of scores is sampling, inputs and changes (Brittlebench)."""
    rows = []
    for model, own in _by(cells, "model"):
        trials = [
            (
                (each.task, each.input),
                (each.operator, each.change.variant),
                CREDITS[each.outcome] / EQUIVALENT_CREDIT,
            )
            for each in own
            if each.outcome in CREDITS
        ]
        shares = variance_of(trials).shares if trials else None
        rows.append((model, (None,) * 3 if shares is None else tuple(map(TableFigure, shares))))
    return StudyTable(
        "Where the variance of scores comes from",
        "model",
        (TableColumn("sampling"), TableColumn("inputs"), TableColumn("changes")),
        tuple(rows),
        "It takes two runs and two inputs to tell them apart; without, a share is not identifiable.",
    )


TABLES: dict[str, Callable[[Sequence[Cell]], StudyTable]] = {
    "robustness": robustness,
    "operators": operators,
    "quirx": quirx,
    "gold": gold,
    "brittlebench": brittlebench,
    "ranks": ranks,
    "variance": variance,
}


def _values(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _by(cells: Iterable[Cell], name: str) -> list[tuple[str, list[Cell]]]:
    found: dict[str, list[Cell]] = {}
    for cell in cells:
        found.setdefault(getattr(cell, name), []).append(cell)
    return list(found.items())


def _over_runs(cells: Iterable[tuple[int, float]]) -> TableFigure | None:
    """The mean over runs of each run's mean, and its standard deviation."""
    runs: dict[int, list[float]] = defaultdict(list)
    for run, number in cells:
        runs[run].append(number)
    return _mean([TableFigure(sum(each) / len(each)) for _, each in sorted(runs.items())])


def _mean(numbers: Sequence[TableFigure]) -> TableFigure | None:
    if not numbers:
        return None
    mean = sum(each.value for each in numbers) / len(numbers)
    if len(numbers) == 1:
        return TableFigure(mean)
    return TableFigure(mean, sqrt(sum((each.value - mean) ** 2 for each in numbers) / (len(numbers) - 1)))


def _score(cells: Iterable[Cell]) -> TableFigure | None:
    return _over_runs(
        (each.run, CREDITS[each.outcome] / EQUIVALENT_CREDIT) for each in cells if each.outcome in CREDITS
    )


def _shares(cells: Sequence[Cell]) -> str | None:
    outcomes = [each.outcome for each in cells if each.outcome in CREDITS]
    if not outcomes:
        return None
    return "/".join(f"{outcomes.count(each) / len(outcomes):.0%}".rstrip("%") for each in CREDITS)


def _plain(cells: Iterable[Cell]) -> list[Cell]:
    return [each for each in cells if each.outcome == BASELINE]


def _mutated(cells: Iterable[Cell]) -> list[Cell]:
    return [each for each in cells if each.operator]


def _accuracy(cells: Iterable[Cell]) -> TableFigure | None:
    return _over_runs((each.run, float(each.gold)) for each in cells if each.gold is not None)


def _drop(cells: Sequence[Cell]) -> TableFigure | None:
    """The mean over inputs of how much accuracy changes make lose, with its 95 % interval (t over inputs)."""
    before, after = _by_input(_plain(cells)), _by_input(_mutated(cells))
    drops = [before[each] - after[each] for each in before if each in after]
    if not drops:
        return None
    mean = sum(drops) / len(drops)
    if len(drops) == 1:
        return TableFigure(mean)
    error = sqrt(sum((each - mean) ** 2 for each in drops) / (len(drops) - 1) / len(drops))
    half = t_quantile(0.975, len(drops) - 1) * error
    return TableFigure(mean, low=max(-1.0, mean - half), high=min(1.0, mean + half))


def _by_input(cells: Iterable[Cell]) -> dict[Hashable, float]:
    found: dict[Hashable, list[bool]] = defaultdict(list)
    for cell in cells:
        if cell.gold is not None:
            found[cell.task, cell.input].append(cell.gold)
    return {name: sum(golds) / len(golds) for name, golds in found.items()}


def _rounded(estimate: TableFigure | None) -> float:
    return round(estimate.value, 9) if estimate is not None else 0.0


def _place(model: str, scores: dict[str, float]) -> int:
    """How many models are better: tied models stand in the same place."""
    return sum(other > scores[model] for other in scores.values())
