"""Tables of the enterprise benchmark: ΔContent, ΔQuality and Overall by group, language and format; the baseline."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_promptfuzz.errors import UsageError
from pytest_promptfuzz.stats.agreement import content_delta, overall, quality_delta
from pytest_promptfuzz.studies.cells import AGAIN
from pytest_promptfuzz.studies.tables.table_figures import (
    StudyTable,
    TableColumn,
    TableFigure,
    grouped,
    mean_figure,
    mutated,
    values_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from fractions import Fraction

    from pytest_promptfuzz.studies.cells import Cell
    from pytest_promptfuzz.studies.tables.table_figures import Entry


BASE = "baseline"
_GROUPS = {"structural": "positional", "format": "format", "multilingual": "multilingual"}
"""The paper's groups by dimension; every other dimension is general."""
_RATINGS = {"equivalent": 3, "minor": 2, "deviation": 1}
_LANGUAGE, _FORMAT = "answer-in-", "format-"
_RULES = (
    "ΔContent: answers that say something else than the unmutated prompt's. ΔQuality: those of them in which a "
    "measure of quality changed, 100 where none says something else; answers that no measure graded have no part in "
    "it. Overall: 1 - ΔContent · ΔQuality."
)


def enterprise(cells: Sequence[Cell]) -> StudyTable:
    """Enterprise, Table 2: model: Overall, ΔContent, ΔQuality, and Overall of the baseline and by group of changes."""
    groups = [each for each in values_of(map(enterprise_group, mutated(cells))) if each not in {BASE, ""}]
    baseline = [BASE] if any(each.operator == AGAIN for each in cells) else []
    rows: list[tuple[str, tuple[TableFigure | None, ...]]] = []
    for model, own in grouped(cells, "model"):
        changed = [each for each in mutated(own) if each.operator != AGAIN]
        parts = [
            [each for each in mutated(own) if enterprise_group(each) == name] for name in (*baseline, *groups)
        ]
        entries = [_overall(changed), _content(changed), _quality(changed), *map(_overall, parts)]
        rows.append((model, tuple(entries)))
    rows.sort(key=lambda row: -(row[1][0].value if row[1][0] is not None else -1.0))
    average = tuple(map(_average, zip(*(entries for _, entries in rows), strict=True)))
    return StudyTable(
        "Overall score by model and group of changes",
        "model",
        (
            TableColumn("Overall", best="high", digits=2),
            TableColumn("ΔContent", best="low", digits=2),
            TableColumn("ΔQuality", best="low", digits=2),
            *(TableColumn(each, best="high", digits=2) for each in (*baseline, *groups)),
        ),
        (*rows, *([("average", average)] if len(rows) > 1 else [])),
        f"{_RULES} Baseline: the unmutated prompt, asked again. The average's ± is a mean over models.",
    )


def enterprise_groups(cells: Sequence[Cell]) -> StudyTable:
    """Enterprise, Table 3: group of changes: mean Overall over models, less the baseline's, mean ± over runs."""
    table = enterprise(cells)
    names = [each.name for each in table.headings[3:]]
    models = [entries for name, entries in table.rows if name != "average"]
    means = {
        name: _average(each for entries in models if not isinstance(each := entries[3 + at], str))
        for at, name in enumerate(names)
    }
    base = means.get(BASE)
    rows: list[tuple[str, tuple[Entry, ...]]] = []
    for name in sorted(names, key=lambda each: -_value(means[each])):
        mean = means[name]
        drop = None if mean is None or base is None or name == BASE else TableFigure(mean.value - base.value)
        std = None if mean is None or mean.std is None else TableFigure(mean.std)
        rows.append((name, (None if mean is None else TableFigure(mean.value), drop, std)))
    return StudyTable(
        "Difficulty of the groups of changes",
        "group",
        (
            TableColumn("mean Overall", digits=2),
            TableColumn("change from baseline", unit="points", digits=2),
            TableColumn("mean ±", unit="points", digits=2),
        ),
        tuple(rows),
        "Means over models; ± is over runs. The operator again gives the baseline.",
    )


def enterprise_languages(cells: Sequence[Cell]) -> StudyTable:
    """Enterprise, Table 4: model × language of the answer: ΔQuality; lower is better."""
    return _by_suffix(
        cells,
        _LANGUAGE,
        _quality,
        "ΔQuality by language of the answer",
        "low",
        "ΔQuality: of the answers whose content changed, those in which a measure of quality changed; 100 where no "
        "content changed.",
    )


def enterprise_crosslingual(cells: Sequence[Cell]) -> StudyTable:
    """Task, its inputs in one language, × language of the answer: Overall, for each model; n × n languages."""
    return _by_suffix(cells, _LANGUAGE, _overall, "Overall score by languages", "high", _RULES, by_task=True)


def enterprise_formats(cells: Sequence[Cell]) -> StudyTable:
    """Enterprise, Table 5: model × format of the answer: Overall; N/A where no answer has the format."""
    return _by_suffix(
        cells,
        _FORMAT,
        lambda own: None if failed_format(own) else _overall(own),
        "Overall score by format of the answer",
        "high",
        f"{_RULES} N/A: no answer has the format.",
    )


def _by_suffix(
    cells: Sequence[Cell],
    prefix: str,
    figure: Callable[[Sequence[Cell]], TableFigure | None],
    title: str,
    best: str,
    note: str,
    *,
    by_task: bool = False,
) -> StudyTable:
    """Model × what an operator's name says behind a prefix, with a row of means."""
    names = [each for each in values_of(each.operator for each in mutated(cells)) if each.startswith(prefix)]
    if not names:
        raise UsageError(
            f"this table needs operators such as {prefix}{'fr' if prefix == _LANGUAGE else 'xml'}."
        )
    rows: list[tuple[str, tuple[TableFigure | None, ...]]] = []
    for model, of_model in grouped(cells, "model"):
        parts = grouped(of_model, "task") if by_task else [("", of_model)]
        for task, own in parts:
            entries = tuple(figure([each for each in own if each.operator == name]) for name in names)
            rows.append((f"{model}, {task}" if task else model, entries))
    means = tuple(_average(row[1][at] for row in rows) for at in range(len(names)))
    return StudyTable(
        title,
        "model",
        tuple(TableColumn(each.removeprefix(prefix), best=best, digits=2) for each in names),
        (*rows, *([("mean", tuple(m and TableFigure(m.value) for m in means))] if len(rows) > 1 else [])),
        note,
    )


def enterprise_group(cell: Cell) -> str:
    """The paper's group of a change: the task's own, else by dimension; empty where an operator found no place."""
    if cell.operator == AGAIN:
        return BASE
    if not cell.change.dimension:
        return ""
    return cell.change.group or _GROUPS.get(cell.change.dimension, "general")


def failed_format(cells: Sequence[Cell]) -> bool:
    """Whether a model gave answers, and none of them has the format that was asked for."""
    answered = [each for each in cells if each.outcome in _RATINGS]
    return bool(answered) and all(each.reason == "format:not-conforming" for each in answered)


@lru_cache(maxsize=4096)
def _changed(quality: str) -> bool:
    """Whether any measure gave two answers different grades."""
    pairs: Mapping[str, Sequence[float]] = json.loads(quality)
    return any(one != two for one, two in pairs.values())


def _by_run(cells: Iterable[Cell]) -> Iterator[tuple[Fraction, Fraction | None]]:
    """ΔContent and ΔQuality of each run; no ΔQuality where answers say something else, and none was measured."""
    runs: dict[int, list[Cell]] = {}
    for cell in cells:
        if cell.outcome in _RATINGS:
            runs.setdefault(cell.run, []).append(cell)
    for _, own in sorted(runs.items()):
        content = content_delta([_RATINGS[each.outcome] for each in own])
        assert content is not None
        measured = [_changed(each.grades.quality) for each in own if each.grades.quality]
        yield content, quality_delta(measured) if measured or not content else None


def _content(cells: Sequence[Cell]) -> TableFigure | None:
    return mean_figure([TableFigure(float(content)) for content, _ in _by_run(cells)])


def _quality(cells: Sequence[Cell]) -> TableFigure | None:
    return mean_figure([TableFigure(float(quality)) for _, quality in _by_run(cells) if quality is not None])


def _overall(cells: Sequence[Cell]) -> TableFigure | None:
    return mean_figure(
        [
            TableFigure(float(overall(content, quality)))
            for content, quality in _by_run(cells)
            if quality is not None
        ]
    )


def _average(entries: Iterable[TableFigure | None]) -> TableFigure | None:
    """The mean of figures, and the mean of their deviations, as the paper's rows have it."""
    known = [each for each in entries if each is not None]
    if not known:
        return None
    deviations = [each.std for each in known if each.std is not None]
    return TableFigure(
        sum(each.value for each in known) / len(known),
        sum(deviations) / len(deviations) if deviations else None,
    )


def _value(figure: TableFigure | None) -> float:
    return -1.0 if figure is None else figure.value


ENTERPRISE_TABLES: dict[str, Callable[[Sequence[Cell]], StudyTable]] = {
    "enterprise": enterprise,
    "enterprise-groups": enterprise_groups,
    "enterprise-languages": enterprise_languages,
    "enterprise-crosslingual": enterprise_crosslingual,
    "enterprise-formats": enterprise_formats,
}
