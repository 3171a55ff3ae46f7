"""Tables of a study's cells, as figures: scores, gold accuracy and its drop, ranks."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError, nearest
from pytest_promptfuzz.stats.scores import CREDITS
from pytest_promptfuzz.stats.variance import rank_stability
from pytest_promptfuzz.studies.model_tables import changes, models, stability, variance
from pytest_promptfuzz.studies.table_figures import (
    StudyTable,
    TableColumn,
    TableFigure,
    accuracy_of,
    grouped,
    mean_figure,
    mean_over_inputs,
    mutated,
    score_of,
    unmutated,
    values_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from pytest_promptfuzz.studies.cells import Cell
    from pytest_promptfuzz.studies.table_figures import Entry


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
    dimensions = values_of(each.change.dimension for each in cells if each.change.dimension)
    columns = [*dimensions, *(["all"] if len(dimensions) > 1 else [])]
    return StudyTable(
        "Robustness by model and dimension",
        "model",
        tuple(TableColumn(each, best="high") for each in columns),
        tuple(
            (
                model,
                tuple(
                    score_of(each for each in own if column in {each.change.dimension, "all"})
                    for column in columns
                ),
            )
            for model, own in grouped(cells, "model")
        ),
        "Score: 1 for an equivalent answer, 0.7 for a minor difference, 0 for a deviation.",
    )


def operators(cells: Sequence[Cell]) -> StudyTable:
    """Operator × model: the score in percent."""
    models = values_of(each.model for each in cells)
    return StudyTable(
        "Robustness by operator and model",
        "operator",
        tuple(TableColumn(each, best="high") for each in models),
        tuple(
            (operator, tuple(score_of(each for each in own if each.model == model) for model in models))
            for operator, own in grouped(cells, "operator")
            if operator
        ),
        best_of="row",
    )


def quirx(cells: Sequence[Cell]) -> StudyTable:
    """Quirx, Table I: model × task: score, shares of equivalent, minor and deviating answers, cost and seconds."""
    tasks = values_of(each.task for each in cells)
    headings: list[TableColumn] = []
    for task in tasks:
        headings += [
            TableColumn(task, unit="", best="high", digits=2),
            TableColumn("E/M/D %", unit="text"),
            TableColumn("cost $", unit="", digits=4),
            TableColumn("time s", unit="", digits=2),
        ]
    rows = []
    for model, own in grouped(cells, "model"):
        entries: list[Entry] = []
        for task in tasks:
            part = [each for each in own if each.task == task]
            costs = [each.spent.cost for each in part if each.outcome != "not-applicable"]
            times = [each.spent.latency for each in part if each.spent.latency is not None]
            entries += [
                score_of(part),
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
            (model, (accuracy_of(unmutated(own)), accuracy_of(mutated(own)), _drop(own)))
            for model, own in grouped(cells, "model")
        ),
        "The drop's interval (95 %) is over inputs, each with the same weight. Where all inputs lose the same, it has "
        "no width, and tells nothing of other inputs.",
    )


def brittlebench(cells: Sequence[Cell]) -> StudyTable:
    """Brittlebench, Table 1: operator × model: by how much gold accuracy drops, in points; macro and micro means."""
    models = values_of(each.model for each in cells)
    plain = [each for each in cells if not each.operator]
    rows: list[tuple[str, tuple[Entry, ...]]] = []
    for operator, own in grouped(cells, "operator"):
        if operator:
            entries = tuple(
                _drop([each for each in (*plain, *own) if each.model == model]) for model in models
            )
            rows.append((operator, entries))
    columns = [[row[1][at] for row in rows] for at in range(len(models))]
    macro = tuple(
        mean_figure([each for each in column if isinstance(each, TableFigure)]) for column in columns
    )
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
    models = values_of(each.model for each in cells)
    if len(models) < 2:
        raise UsageError("table 'ranks' needs at least two models.")
    before = {
        model: accuracy_of(unmutated([each for each in cells if each.model == model])) for model in models
    }
    rows = []
    for operator, own in grouped(cells, "operator"):
        if not operator:
            continue
        after = {model: accuracy_of([each for each in own if each.model == model]) for model in models}
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


TABLES: dict[str, Callable[[Sequence[Cell]], StudyTable]] = {
    "robustness": robustness,
    "operators": operators,
    "quirx": quirx,
    "gold": gold,
    "brittlebench": brittlebench,
    "ranks": ranks,
    "variance": variance,
    "models": models,
    "stability": stability,
    "changes": changes,
}


def _shares(cells: Sequence[Cell]) -> str | None:
    outcomes = [each.outcome for each in cells if each.outcome in CREDITS]
    if not outcomes:
        return None
    return "/".join(f"{outcomes.count(each) / len(outcomes):.0%}".rstrip("%") for each in CREDITS)


def _drop(cells: Sequence[Cell]) -> TableFigure | None:
    """The mean over inputs of how much accuracy changes make lose, with its 95 % interval (t over inputs)."""
    before, after = _by_input(unmutated(cells)), _by_input(mutated(cells))
    drops = [before[each] - after[each] for each in before if each in after]
    return mean_over_inputs(drops, low=-1.0)


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
