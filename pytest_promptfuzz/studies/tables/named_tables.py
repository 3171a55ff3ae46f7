"""Tables of a study's cells, as figures: scores, gold accuracy and its drop, ranks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError, not_among
from pytest_promptfuzz.stats.scores import CREDITS
from pytest_promptfuzz.studies.cells import AGAIN
from pytest_promptfuzz.studies.judge_errors import judge_sentence
from pytest_promptfuzz.studies.tables.brittlebench_tables import BRITTLEBENCH_TABLES
from pytest_promptfuzz.studies.tables.enterprise_tables import ENTERPRISE_TABLES
from pytest_promptfuzz.studies.tables.factor_tables import factors
from pytest_promptfuzz.studies.tables.model_tables import (
    changes,
    mitigation,
    models,
    prompt_distribution,
    stability,
    turns,
    variance,
)
from pytest_promptfuzz.studies.tables.sentiment_tables import SENTIMENT_TABLES
from pytest_promptfuzz.studies.tables.table_figures import (
    StudyTable,
    TableColumn,
    TableFigure,
    accuracy_of,
    drop_of,
    grouped,
    has_gold,
    mutated,
    score_of,
    simulation_of,
    unmutated,
    values_of,
)
from pytest_promptfuzz.studies.tables.table_needs import NEEDS, StudyShape

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_promptfuzz.studies.cells import Cell
    from pytest_promptfuzz.studies.tables.table_figures import Entry


def table_of(name: str, cells: Sequence[Cell]) -> StudyTable:
    """A table by its name.

    Raises:
        UsageError: There is none of that name, or the cells cannot fill it.
    """
    if name not in TABLES:
        raise UsageError(not_among(f"the table {name!r}", name, TABLES))
    if not any(each.outcome in CREDITS for each in cells):
        raise UsageError(f"table {name!r}: no cell of this file has an outcome; were all calls refused?")
    check_table(name, StudyShape.of_cells(cells))
    if name not in _SHOW_AGAIN:
        cells = [each for each in cells if each.operator != AGAIN]
    simulated = simulation_of((each.model, each.simulated) for each in cells)
    table = replace(TABLES[name](cells), simulated=simulated)
    if name in _WITH_JUDGE_ERROR | _AT_JUDGE_WORD or (name in _OF_LOSSES and not has_gold(cells)):
        judged = judge_sentence(cells, carried=name not in _AT_JUDGE_WORD)
        tested = " p takes the judge's word." if judged and name in _TESTED else ""
        table = replace(table, note=f"{table.note} {judged}{tested}".strip())
    if name in _OF_PAPERS and not any(entry is not None for _, entries in table.rows for entry in entries):
        raise UsageError(f"table {name!r}: no cell fills it; its operators find no place in the prompts.")
    return table


def check_table(name: str, shape: StudyShape) -> None:
    """See that cells of a study can fill a table, before they are asked.

    Raises:
        UsageError: They cannot; the message says what the study lacks.
    """
    for need in NEEDS.get(name, ()):
        lacks = need.lacks(shape)
        if lacks:
            raise UsageError(f"table {name!r} needs {lacks}.")


def robustness(cells: Sequence[Cell]) -> StudyTable:
    """Model × dimension: the score (Quirx, Eq. 1) in percent."""
    return _by_dimension("Robustness by model and dimension", "model", grouped(cells, "model"))


def quirx_dimensions(cells: Sequence[Cell]) -> StudyTable:
    """Quirx, Eq. 2, with equal weights: model and task × dimension: the score in percent."""
    parts = [
        (f"{model}, {task}", part)
        for model, own in grouped(cells, "model")
        for task, part in grouped(own, "task")
    ]
    return _by_dimension("Robustness by model, task and dimension", "model and task", parts)


def _by_dimension(title: str, corner: str, parts: Sequence[tuple[str, Sequence[Cell]]]) -> StudyTable:
    dimensions = values_of(each.change.dimension for _, own in parts for each in own if each.change.dimension)
    columns = [*dimensions, *(["all"] if len(dimensions) > 1 else [])]
    return StudyTable(
        title,
        corner,
        tuple(TableColumn(each, best="high") for each in columns),
        tuple(
            (
                name,
                tuple(
                    score_of(each for each in own if column in {each.change.dimension, "all"})
                    for column in columns
                ),
            )
            for name, own in parts
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
            (model, (accuracy_of(unmutated(own)), accuracy_of(mutated(own)), drop_of(own)))
            for model, own in grouped(cells, "model")
        ),
        "The drop's interval (95 %) is over inputs, each with the same weight. Where all inputs lose the same, it has "
        "no width, and tells nothing of other inputs.",
    )


TABLES: dict[str, Callable[[Sequence[Cell]], StudyTable]] = {
    "robustness": robustness,
    "operators": operators,
    "gold": gold,
    "variance": variance,
    "prompt-distribution": prompt_distribution,
    "factors": factors,
    "turns": turns,
    "models": models,
    "stability": stability,
    "changes": changes,
    "mitigation": mitigation,
    "quirx": quirx,
    "quirx-dimensions": quirx_dimensions,
    **BRITTLEBENCH_TABLES,
    **ENTERPRISE_TABLES,
    **SENTIMENT_TABLES,
}
"""Every table by its name."""
_OF_PAPERS = {*BRITTLEBENCH_TABLES, *ENTERPRISE_TABLES, *SENTIMENT_TABLES}
"""Tables of which one without a figure is refused."""
_WITH_JUDGE_ERROR = {"robustness", "operators", "models", "quirx", "quirx-dimensions", "turns"}
"""Tables of scores, which a judge may have decided: its measured errors are in their intervals."""
_OF_LOSSES = {"intensity", "pairs", "mitigation"}
"""Likewise, where no answers are expected."""
_AT_JUDGE_WORD = {"variance", *ENTERPRISE_TABLES}
"""Tables whose figures take what a judge said as it is."""
_TESTED = {"models", "mitigation"}
"""Tables of scores with p."""
_SHOW_AGAIN = {"operators", *ENTERPRISE_TABLES}
"""Tables that show what the unmutated prompt was answered the second time; it is no change elsewhere."""


def _shares(cells: Sequence[Cell]) -> str | None:
    outcomes = [each.outcome for each in cells if each.outcome in CREDITS]
    if not outcomes:
        return None
    return "/".join(f"{outcomes.count(each) / len(outcomes):.0%}".rstrip("%") for each in CREDITS)
